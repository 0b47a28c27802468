"""Anonymise voices, texts and recordings; align and recognise the words of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.serve.batch_names import check_names
from sottovoce.serve.exchange import (
    Part,
    describe_answers,
    describe_body,
    describe_form,
    read_body,
    read_form,
    read_parts,
    refuse_repeated_parameters,
    refuse_unknown_parameters,
    run_job,
)
from sottovoce.serve.messages import (
    AlignJob,
    AudioFormat,
    BatchJob,
    RecogniseJob,
    RecordingJob,
    TextJob,
    VoiceJob,
)
from sottovoce.serve.settings import Settings

router = APIRouter()
_AUDIO = "Audio in any format that libsndfile reads."
_FORM = describe_form(audio=_AUDIO, text="What is said, in UTF-8.")
_KNOWN_PARAMETERS = [Depends(refuse_unknown_parameters)]
_DECISIONS = "Decisions of a review in JSON, such as `decisions` of an earlier answer."
_REVIEWED_FORM = describe_form(
    audio=_AUDIO,
    text="What is said, in UTF-8.",
    decisions=_DECISIONS,
    optional=("decisions",),
)
_VOICE_PARAMETERS = ("method", "format", "seed", "speaker", "utterance", "pool")
"""Query parameters of the service itself; all others are settings of the method."""
_BATCH_PARAMETERS = ("method", "same_speaker", "seed", "pool")
MAX_RECORDINGS = 200
"""Recordings of a batch."""

Seed = Annotated[
    int | None,
    Query(
        ge=0,
        le=2**63,
        description="Public seed: whoever knows it can repeat the draws. Default: a new secret.",
    ),
]
Name = Annotated[
    str, Query(max_length=200, description="Name that the draws depend on, together with a seed.")
]
PoolName = Annotated[
    str | None,
    Query(max_length=200, description="Pool of voices; see pools in /v1/choices."),
]
Language = Annotated[
    str,
    Query(
        description="en, de, es, fr, it, lv, nl, pt; auto to decide it sentence by sentence; multi "
        "for the taggers of all languages."
    ),
]
PrivateTypes = Annotated[
    str | None,
    Query(
        max_length=200,
        description="Private types, separated by commas, such as PER,LOC,SENSITIVE. Default: all "
        "but MISC and SENSITIVE (health, religion and other special categories).",
    ),
]
Strategy = Annotated[str, Query(description="See /v1/strategies.")]
Caution = Annotated[
    float, Query(gt=0, lt=1, description="A word is private if P(not private) is below this.")
]
Scope = Annotated[
    Literal["none", "utterance", "document"],
    Query(description="Where the same value gets the same replacement."),
]
Probability = Annotated[
    float, Query(ge=0, le=1, description="Probability that a private value is replaced.")
]
TaggerName = Annotated[
    str | None, Query(description="A tagger of a plug-in; see taggers in /v1/choices.")
]
TextKind = Annotated[
    str | None,
    Query(
        max_length=200,
        description="Kind of text, if it is one of `kinds` in /v1/strategies; only then is there a "
        "leak bound.",
    ),
]


@router.post(
    "/v1/anonymise/voice",
    dependencies=[Depends(refuse_repeated_parameters)],
    summary="A recording in another voice",
    tags=["voice"],
    response_class=Response,
    responses=describe_answers(
        "audio/wav audio/flac", "The recording: same rate, length and loudness."
    ),
    openapi_extra=describe_body("application/octet-stream", _AUDIO),
)
async def anonymise_voice(
    request: Request,
    method: Annotated[str, Query(description="See /v1/methods.")] = "mcadams",
    format: Annotated[AudioFormat, Query(description="Format of the answer.")] = "wav",  # noqa: A002
    seed: Seed = None,
    speaker: Name = "",
    utterance: Name = "",
    pool: PoolName = None,
) -> Response:
    """Change the voice; all other query parameters are settings of the method."""
    job = VoiceJob(
        method=method,
        settings=_other_parameters(request, _VOICE_PARAMETERS),
        format=format,
        seed=seed,
        speaker=speaker,
        utterance=utterance,
        pool=_pool_path(request, pool),
    )
    return await run_job(request, job, [await read_body(request)])


@router.post(
    "/v1/anonymise/batch",
    dependencies=[Depends(refuse_repeated_parameters)],
    summary="Several recordings in other voices, as one archive",
    tags=["voice"],
    response_class=Response,
    responses=describe_answers(
        "application/zip", "The recordings under their names, and manifest.json."
    ),
    openapi_extra=describe_form(audio=f"Any number of files with names. {_AUDIO}"),
)
async def anonymise_batch(
    request: Request,
    method: Annotated[str, Query(description="See /v1/methods.")] = "mcadams",
    same_speaker: Annotated[
        bool, Query(description="Whether all are of one speaker; else each is of another one.")
    ] = False,
    seed: Seed = None,
    pool: PoolName = None,
) -> Response:
    """Change the voices; all other query parameters are settings of the method.

    A recording that cannot be changed is named in the manifest with the reason.
    """
    recordings = [part for _, part in await read_recordings(request)]
    job = BatchJob(
        method=method,
        names=tuple(part.file_name for part in recordings),
        settings=_other_parameters(request, _BATCH_PARAMETERS),
        same_speaker=same_speaker,
        seed=seed,
        pool=_pool_path(request, pool),
    )
    return await run_job(request, job, [part.content for part in recordings])


async def read_recordings(request: Request) -> list[tuple[str, Part]]:
    """Read the form of a batch, all of whose parts are called ``audio``.

    Parameters
    ----------
    request : Request
        The request.

    Raises
    ------
    UsageError
        If there is no recording (``missing-part``), or a part has another name (``unknown-name``)
        or a file name that cannot be used (``bad-name``, ``repeated``).
    """
    parts = await read_parts(request, MAX_RECORDINGS)
    for name, _ in parts:
        if name != "audio":
            raise UsageError(did_you_mean("part", name, ["audio"]), code="unknown-name")
    if not parts:
        raise UsageError("no part 'audio' in the form; send recordings", code="missing-part")
    check_names([part.file_name for _, part in parts])
    return parts


def _other_parameters(request: Request, known: Sequence[str]) -> dict[str, str]:
    return {name: value for name, value in request.query_params.items() if name not in known}


def _pool_path(request: Request, name: str | None) -> str | None:
    settings: Settings = request.app.state.settings
    return None if name is None else settings.pool(name)


def _text_job(
    lang: Language = "en",
    strategy: Strategy = "full",
    tau: Caution = 0.95,
    scope: Scope = "document",
    p: Probability = 1.0,
    types: PrivateTypes = None,
    tagger: TaggerName = None,
    kind: TextKind = None,
    seed: Seed = None,
) -> TextJob:
    """The parameters of the routes that anonymise texts."""
    return TextJob(
        lang=lang,
        strategy=strategy,
        tau=tau,
        scope=scope,
        p=p,
        types=types,
        tagger=tagger,
        kind=kind,
        seed=seed,
    )


@router.post(
    "/v1/anonymise/text",
    dependencies=_KNOWN_PARAMETERS,
    summary="A text with its private words replaced",
    tags=["text"],
    response_class=Response,
    responses=describe_answers(
        "application/json", "The new text, and each private span in both texts."
    ),
    openapi_extra=describe_body("text/plain", "The text in UTF-8."),
)
async def anonymise_text(request: Request, job: Annotated[TextJob, Depends(_text_job)]) -> Response:
    """Find private words and replace them."""
    return await run_job(request, job, [await read_body(request)])


@router.post(
    "/v1/anonymise/text/reviewed",
    dependencies=_KNOWN_PARAMETERS,
    summary="A text with its private words replaced as a person decided",
    tags=["text"],
    response_class=Response,
    responses=describe_answers("application/json", "As /v1/anonymise/text."),
    openapi_extra=describe_form(text="The text in UTF-8.", decisions=_DECISIONS),
)
async def anonymise_reviewed_text(
    request: Request, job: Annotated[TextJob, Depends(_text_job)]
) -> Response:
    """Find private words, apply the decisions of a review, and replace what is left."""
    return await run_job(request, job, await read_form(request, "text", "decisions"))


@router.post(
    "/v1/align",
    dependencies=_KNOWN_PARAMETERS,
    summary="When each word was said",
    tags=["recording"],
    response_class=Response,
    responses=describe_answers("application/json", "Words with start, end and confidence."),
    openapi_extra=_FORM,
)
async def align(request: Request, lang: Language = "en") -> Response:
    """Find the words of a text in a recording."""
    return await run_job(request, AlignJob(lang), await read_form(request, "audio", "text"))


@router.post(
    "/v1/recognise",
    dependencies=_KNOWN_PARAMETERS,
    summary="What is said in a recording",
    tags=["recording"],
    response_class=Response,
    responses=describe_answers("application/json", "The text."),
    openapi_extra=describe_body("application/octet-stream", _AUDIO),
)
async def recognise(
    request: Request,
    recogniser: Annotated[
        str | None, Query(description="See /v1/choices. Default: that of `sottovoce audit`.")
    ] = None,
) -> Response:
    """Transcribe a recording with a registered recogniser."""
    return await run_job(request, RecogniseJob(recogniser), [await read_body(request)])


@router.post(
    "/v1/anonymise/recording",
    dependencies=_KNOWN_PARAMETERS,
    summary="A recording in another voice, without its private words",
    tags=["recording"],
    response_class=Response,
    responses=describe_answers("application/json", "The text, and the audio as a data URL of WAV."),
    openapi_extra=_REVIEWED_FORM,
)
async def anonymise_recording(
    request: Request,
    method: Annotated[str, Query(description="See /v1/methods; none keeps the voice.")] = "mcadams",
    lang: Language = "en",
    mask: Annotated[
        Literal["silence", "noise", "beep", "cut"],
        Query(description="What is heard in place of a masked word."),
    ] = "silence",
    typed: Annotated[bool, Query(description="Whether the text says what was masked.")] = False,
    words: Annotated[
        str, Query(max_length=10_000, description="Further words to mask, separated by commas.")
    ] = "",
    kind: TextKind = None,
    seed: Seed = None,
) -> Response:
    """Change the voice, find the words, mask the private ones.

    What is not surely what the text says is masked too; a recording with too much of it is refused.
    """
    job = RecordingJob(
        method=method,
        lang=lang,
        mask=mask,
        typed=typed,
        words=tuple(word.strip() for word in words.split(",") if word.strip()),
        kind=kind,
        seed=seed,
    )
    files = await read_form(request, "audio", "text", optional=("decisions",))
    return await run_job(request, job, files)
