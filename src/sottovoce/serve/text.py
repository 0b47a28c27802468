"""Texts: private words found and replaced."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.serve.exchange import answered, answers, binary, body_of, problems
from sottovoce.serve.voice import Seed

router = APIRouter(tags=["text"])

Language = Annotated[str, Query(description="en, de, es, fr, it, lv, nl or pt.")]


@router.get(
    "/v1/strategies",
    summary="Languages, and what can stand for private words",
    responses=problems(401, 403),
)
async def strategies() -> dict[str, Any]:
    """Each strategy in a few words."""
    from sottovoce.anonymise.text.lexicon import LANGUAGES
    from sottovoce.anonymise.text.replace import STRATEGIES

    return {"languages": list(LANGUAGES), "strategies": STRATEGIES}


@router.post(
    "/v1/anonymise/text",
    summary="A text with its private words replaced",
    response_class=Response,
    responses=answers("application/json", "The new text, and each private span in both texts."),
    openapi_extra=binary("text/plain", "The text in UTF-8."),
)
async def anonymise_text(
    request: Request,
    lang: Language = "en",
    strategy: Annotated[str, Query(description="See /v1/strategies.")] = "full",
    tau: Annotated[
        float, Query(gt=0, lt=1, description="A word is private if P(not private) is below.")
    ] = 0.95,
    scope: Annotated[
        Literal["none", "utterance", "document"],
        Query(description="Where the same value gets the same replacement."),
    ] = "document",
    p: Annotated[float, Query(ge=0, le=1, description="Probability of a replacement.")] = 1.0,
    seed: Seed = None,
) -> Response:
    """Find and replace."""
    settings = {"lang": lang, "strategy": strategy, "tau": tau, "scope": scope, "p": p}
    parameters = {"settings": settings, "seed": seed}
    return await answered(request, "text", [await body_of(request)], parameters)
