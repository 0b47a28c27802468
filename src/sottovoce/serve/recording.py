"""Recordings and their words: alignment, recognition, and both without private words."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.serve.exchange import (
    describe_answers,
    describe_body,
    describe_form,
    read_body,
    read_form,
    run_job,
)
from sottovoce.serve.messages import AlignJob, RecogniseJob, RecordingJob
from sottovoce.serve.text import Language
from sottovoce.serve.voice import Seed

router = APIRouter(tags=["recording"])
_AUDIO = "Audio in any format that libsndfile reads."
_FORM = describe_form(audio=_AUDIO, text="What is said, in UTF-8.")


@router.post(
    "/v1/align",
    summary="When each word was said",
    response_class=Response,
    responses=describe_answers("application/json", "Words with start, end and confidence."),
    openapi_extra=_FORM,
)
async def align(request: Request, lang: Language = "en") -> Response:
    """Find the words of a text in a recording."""
    return await run_job(request, AlignJob(lang), await read_form(request, "audio", "text"))


@router.post(
    "/v1/recognise",
    summary="What is said in a recording",
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
    summary="A recording in another voice, without its private words",
    response_class=Response,
    responses=describe_answers("application/json", "The text, and the audio as a data URL of WAV."),
    openapi_extra=_FORM,
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
    seed: Seed = None,
) -> Response:
    """Change the voice, find the words, mask the private ones.

    A recording whose words cannot be found with confidence is refused.
    """
    job = RecordingJob(
        method=method,
        lang=lang,
        mask=mask,
        typed=typed,
        words=tuple(word.strip() for word in words.split(",") if word.strip()),
        seed=seed,
    )
    return await run_job(request, job, await read_form(request, "audio", "text"))
