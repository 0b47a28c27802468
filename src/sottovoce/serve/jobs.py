"""The jobs that workers do: parameters and uploads in, a document out.

The web process has checked the types of the parameters; the library checks their values, and its
errors go back to the client as they are.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.anonymise.decisions import DocumentDecisions, text_digest
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.entities import PRIVATE_TYPES, parse_types
from sottovoce.anonymise.voice import METHODS, make_method
from sottovoce.anonymise.voice.card import SettingValue
from sottovoce.anonymise.voice.method import fit_recording
from sottovoce.core.errors import InputError, SottovoceError, UsageError
from sottovoce.core.records import JsonObject, dump_json
from sottovoce.core.registry import did_you_mean
from sottovoce.corpus.audio import audio_info
from sottovoce.corpus.utterance import Utterance
from sottovoce.measure import measure_scores, score_curves
from sottovoce.report import pages
from sottovoce.serve.batch import anonymise_batch
from sottovoce.serve.messages import (
    AlignJob,
    BatchJob,
    Job,
    MeasureJob,
    RecogniseJob,
    RecordingJob,
    ReidentifyJob,
    Reply,
    ReplyHeader,
    SimilarityJob,
    TextJob,
    VoiceJob,
    WarmUp,
)
from sottovoce.serve.review import read_review, review_fields
from sottovoce.serve.sound import encode_audio, raw_as_wav
from sottovoce.serve.uploads import as_path, load_audio, open_scores, read_embeddings, read_text

if TYPE_CHECKING:
    from sottovoce.speaker import Embeddings, LinkageFunction

Files = Sequence[bytes]
Document = tuple[str, bytes]
"""Media type and content."""

JSON = "application/json"
ZIP = "application/zip"
TEXT = "text/plain; charset=utf-8"
SERVICE_PARAMETERS = ("method", "format", "seed", "speaker", "utterance", "pool")
"""Query parameters of the voice service besides the settings of the method."""
KEEP_VOICE = "none"
"""In place of a method's name: the voice is not changed."""


def answer(job: Job, files: Files) -> Reply:
    """Do a job; errors become replies.

    Parameters
    ----------
    job : Job
        What to do.
    files : sequence of bytes
        The uploads, in the order that the job expects.

    Returns
    -------
    Reply
        The document; or for an error of the input one line and its code; or for a failure of the
        program the name of the exception's class only, because its message may hold the
        client's data.
    """
    try:
        media_type, body = run_job(job, files)
    except SottovoceError as error:
        return Reply(ReplyHeader("refused", TEXT, error.code), str(error).encode())
    except MemoryError:
        line = b"too large to be computed here; send less at a time"
        return Reply(ReplyHeader("refused", TEXT, "too-large"), line)
    except Exception as error:
        return Reply(ReplyHeader("fault", TEXT), type(error).__name__.encode())
    return Reply(ReplyHeader("done", media_type), body)


@singledispatch
def run_job(job: Job, files: Files) -> Document:
    """Do a job; the function is chosen by the type of ``job``.

    Parameters
    ----------
    job : Job
        What to do.
    files : sequence of bytes
        The uploads, in the order that the job expects.
    """
    raise TypeError(f"no function does a {type(job).__name__}")


@run_job.register
def _warm_up(job: WarmUp, files: Files) -> Document:
    return TEXT, b""


@run_job.register
def _voice(job: VoiceJob, files: Files) -> Document:
    """Change the voice; the answer has the rate and length of the recording."""
    settings = _settings(job)
    secret = _secret(job.seed)
    data = files[0] if job.rate is None else raw_as_wav(files[0], job.rate)
    with as_path(data, "the audio") as path:
        audio, rate = load_audio(path)
        if job.rate is not None and job.rate != rate:
            raise UsageError(
                f"sample-frequency {job.rate}: the file has {rate} Hz; leave it out",
                code="mismatch",
            )
        utterance = Utterance(job.utterance or "utterance", path, job.speaker or "speaker")
        method = make_method(job.method, secret, **settings)
        fit_recording(method, utterance)
    anonymised = method.transform(audio, rate, speaker=utterance.speaker, utterance=utterance.id)
    return encode_audio(anonymised, rate, job.format)


@run_job.register
def _batch(job: BatchJob, files: Files) -> Document:
    """Change the voices of several recordings; the answer is an archive."""
    method = make_method(job.method, _secret(job.seed), **_settings(job))
    return ZIP, anonymise_batch(method, job.names, files, same_speaker=job.same_speaker)


@run_job.register
def _text(job: TextJob, files: Files) -> Document:
    """Replace private words; the answer is JSON with the spans, or the text alone."""
    from sottovoce.anonymise.text.language_check import check_languages
    from sottovoce.anonymise.text.run_summary import is_written_text, leak_fields, leak_of_run

    if job.tagger is not None:
        _check_tagger(job.tagger)
    anonymiser = TextAnonymiser(
        job.lang,
        strategy=job.strategy,
        tau=job.tau,
        scope=job.scope,
        p=job.p,
        types=PRIVATE_TYPES if job.types is None else parse_types(job.types),
        tagger=job.tagger,
        secret=_secret(job.seed),
    )
    text = read_text(files[0])
    anonymised = anonymiser.transform(text, decisions=read_review(files[1:]))
    if job.plain:
        return TEXT, anonymised.text.encode()
    leak = leak_of_run(anonymiser, written=is_written_text([text]), kind=job.kind)
    fields = {**leak_fields(*leak), **check_languages(text, job.lang).to_dict()}
    review = review_fields(DocumentDecisions("text", text_digest(text), anonymised.decisions))
    return _json({**anonymised.to_dict(), **fields, **review})


@run_job.register
def _recording(job: RecordingJob, files: Files) -> Document:
    """Change the voice and mask private words, in the recording and in its text."""
    from sottovoce.anonymise.recording.languages import transcript_languages
    from sottovoce.anonymise.recording.mask import MaskSettings
    from sottovoce.anonymise.recording.private_words import detect_private
    from sottovoce.anonymise.recording.review import decide_recordings
    from sottovoce.anonymise.recording.secure import Settings, WithheldError, secure
    from sottovoce.anonymise.text.language_check import check_languages
    from sottovoce.anonymise.text.run_summary import is_written_text, leak_fields, leak_of_run

    transcript = " ".join(read_text(files[1]).split())
    settings = Settings(masking=MaskSettings(how=job.mask), typed=job.typed)
    secret = _secret(job.seed)
    method = None if job.method == KEEP_VOICE else make_method(job.method, secret)
    (lang,) = transcript_languages([transcript], [job.lang])
    (recording,) = decide_recordings(
        ["recording"],
        [transcript],
        [job.lang],
        finder=detect_private,
        listed=job.words,
        decisions=read_review(files[2:]),
    )
    with as_path(files[0], "the audio") as path:
        load_audio(path)  # refuse what is too long before any work
        utterance = Utterance("utterance", path, "speaker", transcript=transcript)
        if method is not None:
            fit_recording(method, utterance)
        try:
            secured = secure(
                utterance,
                recording.targets,
                settings,
                secret=secret,
                method=method,
                lang=lang,
                stretches=recording.stretches,
            )
        except WithheldError as error:
            raise InputError(
                f"withheld: {error}; check the text, or keep the voice", code="withheld"
            ) from None
        rate = audio_info(path).rate
    masked = secured.masked
    media_type, sound = encode_audio(masked.audio, rate, "wav")
    written = is_written_text([transcript])
    leak = leak_of_run(TextAnonymiser(job.lang), written=written, kind=job.kind)
    return _json(
        {
            "text": secured.text,
            "masked_words": sum(word is None for word in masked.words),
            **leak_fields(*leak),
            **check_languages(transcript, job.lang).to_dict(),
            "language": lang,
            "spans": [
                {
                    "kinds": [label for label in span.labels if label],
                    "before": [sample / rate for sample in span.before],
                    "after": [sample / rate for sample in span.after],
                }
                for span in masked.spans
            ],
            "transcript": transcript,
            **review_fields(recording.decided),
            "audio": f"data:{media_type};base64,{base64.b64encode(sound).decode()}",
        }
    )


@run_job.register
def _align(job: AlignJob, files: Files) -> Document:
    from sottovoce.anonymise.recording.align import align

    with as_path(files[0], "the audio") as path:
        audio, rate = load_audio(path)
    return _json(align(audio, rate, read_text(files[1]), lang=job.lang).to_dict())


@run_job.register
def _recognise(job: RecogniseJob, files: Files) -> Document:
    from sottovoce.asr.recogniser import make_recogniser

    recogniser = make_recogniser() if job.recogniser is None else make_recogniser(job.recogniser)
    with as_path(files[0], "the audio") as path:
        audio, rate = load_audio(path)
    return _json({"text": recogniser.transcribe(audio, rate)})


@run_job.register
def _measure(job: MeasureJob, files: Files) -> Document:
    with open_scores(files) as scores:
        summary = measure_scores(
            scores,
            only=job.only,
            interval=job.interval,
            replicates=job.replicates,
            seed=job.seed,
        )
        summary = replace(summary, name="scores")  # the uploaded file has no name of its own
        if job.format == "html":
            return _html(pages.scores_page(summary, score_curves(scores)))
    return _json(summary.to_dict())


@run_job.register
def _similarity(job: SimilarityJob, files: Files) -> Document:
    from sottovoce.measure.similarity import similarity

    original = read_embeddings(files[0], "original")
    anonymised = read_embeddings(files[1], "anonymised")
    result = similarity(
        original,
        anonymised,
        _linkage(job, files[2:], (original, anonymised)),
        interval=job.interval,
        replicates=job.replicates,
        seed=job.seed,
    )
    if job.format == "html":
        return _html(pages.similarity_page(result))
    return _json(result.to_dict())


@run_job.register
def _reidentify(job: ReidentifyJob, files: Files) -> Document:
    from sottovoce.measure.reidentification import reidentify
    from sottovoce.measure.reidentification_settings import ReidentificationSettings

    enrolment = read_embeddings(files[0], "enrol")
    trials = read_embeddings(files[1], "trial")
    settings = ReidentificationSettings(
        lengths=job.lengths,
        populations=job.populations,
        k=job.top,
        confidence=job.interval,
        seed=job.seed,
    )
    linkage = _linkage(job, files[2:], (enrolment, trials))
    result = reidentify(enrolment, trials, linkage, settings=settings)
    if job.format == "html":
        return _html(pages.reidentification_page(result))
    return _json(result.to_dict())


# ============================================================================ what jobs share


def _secret(seed: int | None) -> Secret:
    """A new secret; or, with a public seed, draws that anybody who knows the seed can repeat."""
    return Secret.generate() if seed is None else Secret.reproducible(seed)


def _settings(job: VoiceJob | BatchJob) -> dict[str, SettingValue]:
    """Settings of the method, with the pool that the service was started with.

    Unknown settings are refused, and settings that name files of this machine.
    """
    method = job.method
    known = {setting.name: setting for setting in METHODS[method].card.settings}
    for name in job.settings:
        if name not in known:
            line = did_you_mean("setting", name, [*known, *SERVICE_PARAMETERS])
            raise UsageError(f"{method}: {line}", code="unknown-name")
        if known[name].path:
            raise UsageError(
                f"{method}: {name} names a file; a client cannot set it", code="not-allowed"
            )
    if job.pool is None:
        return dict(job.settings)
    if "pool" not in known:
        raise UsageError(f"{method}: this method has no pool of voices", code="unknown-name")
    return {**job.settings, "pool": Path(job.pool)}


def _check_tagger(name: str) -> None:
    """Refuse unknown taggers, and taggers that are loaded from files of this machine."""
    from sottovoce.anonymise.text import TAGGERS

    if TAGGERS[name].argument:
        raise UsageError(
            f"tagger {name} is loaded from a file; a client cannot choose it", code="not-allowed"
        )


def _linkage(
    job: SimilarityJob | ReidentifyJob, training: Files, evaluated: Sequence[Embeddings]
) -> LinkageFunction:
    """A linkage function, trained on other speakers if their embeddings were sent."""
    from sottovoce.speaker.leakage import make_evaluation_linkage
    from sottovoce.speaker.linkage import LINKAGES, given_settings

    name = job.linkage
    if LINKAGES[name].needs_training and not training:
        raise UsageError(
            f"linkage {name} is trained on other speakers; send their embeddings as the part train",
            code="missing-part",
        )
    settings = given_settings(name, lda=job.lda, shrinkage=job.shrinkage)
    train = read_embeddings(training[0], "train") if training else None
    return make_evaluation_linkage(name, train, evaluated, **settings)


def _json(content: JsonObject) -> Document:
    return JSON, dump_json(content, indent=None).encode()


def _html(page: str) -> Document:
    return pages.MEDIA_TYPE, page.encode()
