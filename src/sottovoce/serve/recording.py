"""Whole recordings: when words were said, and a recording without its private words."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.serve.exchange import answered, answers, form_of, parts
from sottovoce.serve.text import Language
from sottovoce.serve.voice import Seed

router = APIRouter(tags=["recording"])
_PARTS = parts(audio="Audio of any format libsndfile reads.", text="What is said, in UTF-8.")


@router.post(
    "/v1/align",
    summary="When each word was said",
    response_class=Response,
    responses=answers("application/json", "Words with start, end and confidence."),
    openapi_extra=_PARTS,
)
async def align(request: Request, lang: Language = "en") -> Response:
    """Find the words of a text in a recording."""
    return await answered(request, "align", await form_of(request, "audio", "text"), {"lang": lang})


@router.post(
    "/v1/anonymise/recording",
    summary="A recording in another voice, without its private words",
    response_class=Response,
    responses=answers("application/json", "The text, and the audio as a data URL of WAV."),
    openapi_extra=_PARTS,
)
async def anonymise_recording(
    request: Request,
    method: Annotated[str, Query(description="See /v1/methods; none keeps the voice.")] = "mcadams",
    lang: Language = "en",
    how: Annotated[
        Literal["silence", "noise", "beep", "cut"], Query(description="What is heard instead.")
    ] = "silence",
    typed: Annotated[bool, Query(description="Whether the text says what was masked.")] = False,
    words: Annotated[
        str, Query(max_length=10_000, description="Further words to mask, with commas between.")
    ] = "",
    seed: Seed = None,
) -> Response:
    """Change the voice, find the words, mask the private ones.

    A recording whose words cannot be found with confidence is refused.
    """
    parameters = {
        "method": method,
        "lang": lang,
        "how": how,
        "typed": typed,
        "words": [one.strip() for one in words.split(",") if one.strip()],
        "seed": seed,
    }
    files = await form_of(request, "audio", "text")
    return await answered(request, "recording", files, parameters)
