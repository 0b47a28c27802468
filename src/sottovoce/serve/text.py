"""Texts: private words found and replaced."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.serve.exchange import describe_answers, describe_body, read_body, run_job
from sottovoce.serve.messages import TextJob
from sottovoce.serve.voice import Seed

router = APIRouter(tags=["text"])

Language = Annotated[str, Query(description="en, de, es, fr, it, lv, nl or pt.")]


@router.post(
    "/v1/anonymise/text",
    summary="A text with its private words replaced",
    response_class=Response,
    responses=describe_answers(
        "application/json", "The new text, and each private span in both texts."
    ),
    openapi_extra=describe_body("text/plain", "The text in UTF-8."),
)
async def anonymise_text(
    request: Request,
    lang: Language = "en",
    strategy: Annotated[str, Query(description="See /v1/strategies.")] = "full",
    tau: Annotated[
        float,
        Query(gt=0, lt=1, description="A word is private if P(not private) is below this."),
    ] = 0.95,
    scope: Annotated[
        Literal["none", "utterance", "document"],
        Query(description="Where the same value gets the same replacement."),
    ] = "document",
    p: Annotated[
        float, Query(ge=0, le=1, description="Probability that a private value is replaced.")
    ] = 1.0,
    tagger: Annotated[
        str | None, Query(description="A tagger of a plug-in; see taggers in /v1/choices.")
    ] = None,
    seed: Seed = None,
) -> Response:
    """Find private words and replace them."""
    job = TextJob(lang=lang, strategy=strategy, tau=tau, scope=scope, p=p, tagger=tagger, seed=seed)
    return await run_job(request, job, [await read_body(request)])
