"""What workers do: files and parameters in, a media type and bytes out.

Parameters are plain values that a router has checked for their type; what they may be is checked by
the library, whose errors go back to the client as they are.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import soundfile

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.voice import METHODS, make_method
from sottovoce.core.errors import InputError, SottovoceError, UsageError
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import FORMATS, audio_info, load_native
from sottovoce.measure import measure_scores
from sottovoce.measure.readers import READERS, read_scores
from sottovoce.measure.scores import ScoreSource
from sottovoce.report import measure_pages as pages
from sottovoce.serve.uploads import as_path, refuse_swelling, table_kind, with_commas

Files = list[bytes]
Parameters = dict[str, Any]
Job = Callable[[Files, Parameters], tuple[str, bytes]]

MOST_FRAMES = 30_000_000
"""Frames of a recording: ten minutes at 48 kHz."""
MOST_CHANNELS = 32
MOST_TEXT = 1 << 20
"""Bytes of a text."""
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


def answer(job: str, files: Files, parameters: Parameters) -> tuple[str, str, bytes]:
    """Do a job: ``done``, ``refused`` or ``fault``, the media type, and the answer or one line."""
    try:
        kind, body = JOBS[job](files, parameters)
    except SottovoceError as error:
        return "refused", TEXT, str(error).encode()
    except MemoryError:
        return "refused", TEXT, b"too large to be computed here; send less at a time"
    except Exception as error:  # a traceback would hold the client's data
        return "fault", TEXT, type(error).__name__.encode()
    return "done", kind, body


def warm(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """Nothing; tells that the worker is there."""
    return TEXT, b""


def voice(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """A recording in another voice, as WAV or FLAC of its own rate and length."""
    settings = parameters["settings"]
    name = parameters["method"]
    refuse_paths(name, settings)
    secret = secret_of(parameters)
    audio, rate = recording(files[0])
    if (wanted := parameters.get("rate")) is not None and wanted != rate:
        raise UsageError(f"sample-frequency {wanted}: the file has {rate} Hz; leave it out")
    speaker = parameters.get("speaker") or "speaker"
    changed = make_method(name, secret, **settings).transform(
        audio, rate, speaker=speaker, utterance=parameters.get("utterance") or "utterance"
    )
    return encoded(changed, rate, parameters.get("format", "wav"))


def text(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """A text with its private words replaced; as JSON with what was found, or plain."""
    from sottovoce.anonymise.text.account import guarantee_of, is_written

    anonymiser = TextAnonymiser(secret=secret_of(parameters), **parameters["settings"])
    source = words_of(files[0])
    changed = anonymiser.transform(source)
    if parameters.get("plain"):
        return TEXT, changed.text.encode()
    promised = guarantee_of(anonymiser, written=is_written([source]))
    told = None if promised is None else promised.to_dict()
    return as_json({**changed.to_dict(), "guarantee": told})


def measure(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """All score measures of a file of scores."""
    html = parameters.pop("format", "json") == "html"
    with scores_of(files) as scores:
        found = measure_scores(scores, **parameters)
        return as_html(pages.scores_page(found, scores)) if html else as_json(found.to_dict())


def similarity(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """Voices before and after anonymisation."""
    from sottovoce.measure.similarity import similarity as compare

    before, after = embeddings(files[0], "original"), embeddings(files[1], "anonymised")
    linkage = linkage_of(files[2:], parameters, before)
    html = parameters.pop("format", "json") == "html"
    found = compare(before, after, linkage, **parameters)
    return as_html(pages.similarity_page(found)) if html else as_json(found.to_dict())


def reidentify(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """How likely speakers are found again among others."""
    from sottovoce.measure.reidentification import reidentify as study
    from sottovoce.measure.risk import Settings

    known, unknown = embeddings(files[0], "enrol"), embeddings(files[1], "trial")
    linkage = linkage_of(files[2:], parameters, known)
    for name in ("lengths", "populations"):
        if parameters.get(name) is not None:
            parameters[name] = tuple(parameters[name])
    html = parameters.pop("format", "json") == "html"
    found = study(known, unknown, linkage, settings=Settings(**parameters))
    return as_html(pages.reidentification_page(found)) if html else as_json(found.to_dict())


def align(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """When each word was said."""
    from sottovoce.anonymise.recording.align import align as find_times

    audio, rate = recording(files[0])
    found = find_times(audio, rate, words_of(files[1]), lang=parameters["lang"])
    return as_json(found.to_dict())


def masked(files: Files, parameters: Parameters) -> tuple[str, bytes]:
    """A recording in another voice with its private words masked, and its text without them."""
    from sottovoce.anonymise.recording.mask import Masking
    from sottovoce.anonymise.recording.secure import Settings, WithheldError, secure
    from sottovoce.anonymise.recording.sensitive import find_targets, private_words
    from sottovoce.corpus.utterance import Utterance

    said, lang = " ".join(words_of(files[1]).split()), parameters["lang"]
    settings = Settings(masking=Masking(how=parameters["how"]), typed=parameters["typed"])
    secret = secret_of(parameters)
    name = parameters["method"]
    method = None if name == "none" else make_method(name, secret)
    targets = find_targets([said], [lang], finder=private_words, listed=parameters["words"])[0]
    recording(files[0])  # refused by its size before any work
    with as_path(files[0], "the audio") as path:
        one = Utterance("utterance", path, "speaker", transcript=said)
        try:
            done = secure(one, targets, settings, secret=secret, method=method, lang=lang)
        except WithheldError as error:
            raise InputError(f"withheld: {error}; check the text, or keep the voice") from None
        rate = audio_info(path).rate
    spans = [
        {
            "kinds": [label for label in span.labels if label],
            "before": [at / rate for at in span.before],
            "after": [at / rate for at in span.after],
        }
        for span in done.masked.spans
    ]
    kind, sound = encoded(done.masked.audio, rate, "wav")
    return as_json(
        {
            "text": done.text,
            "masked_words": sum(word is None for word in done.masked.words),
            "spans": spans,
            "audio": f"data:{kind};base64,{base64.b64encode(sound).decode()}",
        }
    )


JOBS: dict[str, Job] = {
    "warm": warm,
    "voice": voice,
    "text": text,
    "measure": measure,
    "similarity": similarity,
    "reidentify": reidentify,
    "align": align,
    "recording": masked,
}

# ============================================================================ what jobs share


def secret_of(parameters: Parameters) -> Secret:
    """A new secret, or draws that who knows the seed can repeat."""
    seed = parameters.get("seed")
    return Secret.generate() if seed is None else Secret.reproducible(seed)


def refuse_paths(method: str, settings: dict[str, Any]) -> None:
    """A client must not name files of this machine."""
    for one in METHODS[method].card.settings:
        if one.path and one.name in settings:
            raise UsageError(f"{method}: {one.name} names a file; it cannot be set from outside")


def recording(data: bytes) -> tuple[Audio, int]:
    """Samples and rate of an upload, told by its content."""
    with as_path(data, "the audio") as path:
        info = audio_info(path)
        if info.frames > MOST_FRAMES or info.channels > MOST_CHANNELS:
            raise InputError(
                f"the audio: {info.frames:,} frames in {info.channels} channels; at most "
                f"{MOST_FRAMES:,} in {MOST_CHANNELS} are taken: cut it"
            )
        return load_native(path)


def encoded(audio: Audio, rate: int, kind: str) -> tuple[str, bytes]:
    """Audio of 16 bits as a file."""
    if f".{kind}" not in FORMATS:
        raise UsageError(f"format {kind!r}; use wav or flac")
    steps = np.rint(np.asarray(audio, np.float64) * 32768)
    whole = np.clip(steps, -32768, 32767).astype(np.int16)
    buffer = io.BytesIO()
    soundfile.write(buffer, whole, rate, format=FORMATS[f".{kind}"], subtype="PCM_16")
    return f"audio/{kind}", buffer.getvalue()


def words_of(data: bytes) -> str:
    """A text in UTF-8."""
    if len(data) > MOST_TEXT:
        raise InputError(f"the text: {len(data):,} bytes; at most {MOST_TEXT:,} are taken: cut it")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError("the text: not UTF-8; encode it so") from None


@contextmanager
def scores_of(files: Files) -> Iterator[ScoreSource]:
    """Scores of an upload told by its content; or Kaldi's, with their trials and maybe utt2spk."""
    if len(files) > 1:
        with ExitStack() as stack:
            named = zip(files, ("the scores", "the trials", "utt2spk"), strict=False)
            paths = [stack.enter_context(as_path(*one)) for one in named]
            yield read_scores(paths[0], trials=paths[1], utt2spk=next(iter(paths[2:]), None))
    else:
        refuse_swelling(files[0], "the scores")
        kind = table_kind(files[0])
        data = with_commas(files[0]) if kind == ".csv" else files[0]
        with as_path(data, "the scores") as path:
            yield READERS[kind](path)


def embeddings(data: bytes, what: str) -> Any:
    """Embeddings of an upload."""
    from sottovoce.speaker.readers import READERS as EMBEDDINGS

    kind = table_kind(data)
    if kind not in EMBEDDINGS:
        raise InputError(f"{what}: neither .npz nor .parquet; write it as one of them")
    refuse_swelling(data, what)
    with as_path(data, what) as path:
        return replace(EMBEDDINGS[kind](path), origin=what)


def linkage_of(training: Files, parameters: Parameters, like: Any) -> Any:
    """The linkage function asked for, learnt from other speakers where these were sent."""
    from sottovoce.speaker.linkage import LINKAGES, make_linkage

    name, lda = parameters.pop("linkage"), parameters.pop("lda", None)
    if LINKAGES[name].needs_training and not training:
        raise UsageError(
            f"linkage function {name} is trained on other speakers; send their embeddings as the "
            "part train"
        )
    if lda is not None and "lda" not in LINKAGES[name].options:
        raise UsageError(f"the linkage function {name} has no setting lda")
    voices = embeddings(training[0], "train") if training else None
    return make_linkage(name, voices, like=like, **({} if lda is None else {"lda": lda}))


def as_json(data: dict[str, Any]) -> tuple[str, bytes]:
    """Data as a JSON document."""
    return JSON, json.dumps(data, ensure_ascii=False, allow_nan=False).encode()


def as_html(page: str) -> tuple[str, bytes]:
    """A page that shows what was found."""
    return pages.HTML, page.encode()
