"""Voices: a recording in another voice."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.serve.exchange import describe_answers, describe_body, read_body, run_job
from sottovoce.serve.messages import AudioFormat, VoiceJob

router = APIRouter(tags=["voice"])
_PARAMETERS = ("method", "format", "seed", "speaker", "utterance")
"""Query parameters of the service itself; all others are settings of the method."""

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


@router.post(
    "/v1/anonymise/voice",
    summary="A recording in another voice",
    response_class=Response,
    responses=describe_answers(
        "audio/wav audio/flac", "The recording: same rate, length and loudness."
    ),
    openapi_extra=describe_body(
        "application/octet-stream", "Audio in any format that libsndfile reads."
    ),
)
async def anonymise_voice(
    request: Request,
    method: Annotated[str, Query(description="See /v1/methods.")] = "mcadams",
    format: Annotated[AudioFormat, Query(description="Format of the answer.")] = "wav",  # noqa: A002
    seed: Seed = None,
    speaker: Name = "",
    utterance: Name = "",
) -> Response:
    """Change the voice; all other query parameters are settings of the method."""
    settings = {
        name: value for name, value in request.query_params.items() if name not in _PARAMETERS
    }
    job = VoiceJob(
        method=method,
        settings=settings,
        format=format,
        seed=seed,
        speaker=speaker,
        utterance=utterance,
    )
    return await run_job(request, job, [await read_body(request)])
