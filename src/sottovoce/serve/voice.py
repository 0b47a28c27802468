"""Voices: the methods there are, and a recording in another voice."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.serve.exchange import answered, answers, binary, body_of, problems

router = APIRouter(tags=["voice"])
_OWN = ("method", "format", "seed", "speaker", "utterance")

Seed = Annotated[
    int | None,
    Query(
        ge=0, le=2**63, description="Public seed: who knows it knows the draws. Default: secret."
    ),
]
Name = Annotated[str, Query(max_length=200, description="Whose draws to repeat, with a seed.")]


@router.get(
    "/v1/methods",
    summary="Voice anonymisers, their settings and what still leaks",
    responses=problems(401, 403),
)
async def methods() -> dict[str, Any]:
    """The card of each method; settings that name files are left out."""
    from sottovoce.anonymise.voice import METHODS

    return {"methods": [_card(METHODS[name].card) for name in METHODS]}


def _card(card: Any) -> dict[str, Any]:
    described: dict[str, Any] = card.to_dict()
    described["settings"] = [
        {
            "name": one.name,
            "help": one.help,
            "default": one.default,
            "low": one.low,
            "high": one.high,
            "words": list(one.words),
        }
        for one in card.settings
        if not one.path
    ]
    return described


@router.post(
    "/v1/anonymise/voice",
    summary="A recording in another voice",
    response_class=Response,
    responses=answers("audio/wav audio/flac", "The recording: same rate, length and loudness."),
    openapi_extra=binary("application/octet-stream", "Audio of any format libsndfile reads."),
)
async def anonymise_voice(
    request: Request,
    method: Annotated[str, Query(description="See /v1/methods.")] = "mcadams",
    format: Annotated[Literal["wav", "flac"], Query(description="Of the answer.")] = "wav",  # noqa: A002
    seed: Seed = None,
    speaker: Name = "",
    utterance: Name = "",
) -> Response:
    """Change the voice; all other query parameters are settings of the method."""
    settings = {name: value for name, value in request.query_params.items() if name not in _OWN}
    parameters = {
        "method": method,
        "settings": settings,
        "format": format,
        "seed": seed,
        "speaker": speaker,
        "utterance": utterance,
    }
    return await answered(request, "voice", [await body_of(request)], parameters)
