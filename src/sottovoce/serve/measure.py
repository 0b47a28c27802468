"""Measures: of scores, and of embeddings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.core.errors import UsageError
from sottovoce.serve.exchange import (
    answered,
    answers,
    binary,
    body_of,
    form_of,
    parts,
    problems,
)

router = APIRouter(tags=["measure"])

Interval = Annotated[
    float, Query(ge=0, lt=1, description="Confidence of the intervals; 0 leaves them out.")
]
Resamples = Annotated[int | None, Query(ge=20, le=10_000, description="Behind an interval.")]
Draws = Annotated[int, Query(ge=0, le=2**32 - 1, description="Seed of resamples and draws.")]
Linkage = Annotated[
    str,
    Query(
        description="What turns two vectors into a score: cosine or euclidean; with a part train "
        "also whitening, projection or plda.",
        examples=["cosine", "plda"],
    ),
]
Dimensions = Annotated[int | None, Query(ge=1, description="That plda keeps. Default: all.")]
Numbers = Annotated[
    str | None, Query(description="Whole numbers with commas between.", examples=["1,3"])
]
Shown = Annotated[
    Literal["json", "html"], Query(description="Of the answer; html is a page with figures.")
]
_KINDS = "application/json text/html"
_EMBEDDINGS = ".npz (arrays vectors and speakers) or .parquet"
_SCORES = binary(
    "application/octet-stream", "Scores: .npz, .csv, .tsv or .parquet, told by the content."
)
_SCORES["requestBody"]["content"] |= parts(
    scores="Scores as above; with trials, lines of Kaldi: enrol trial score.",
    trials="Lines of Kaldi: enrol trial target, or nontarget.",
    utt2spk="Lines of Kaldi: utterance speaker.",
    optional=["trials", "utt2spk"],
)["requestBody"]["content"]
_TRAIN = f"Embeddings of other speakers, to learn from: {_EMBEDDINGS}"


@router.get(
    "/v1/measures",
    summary="Score measures: their labels and units",
    responses=problems(401, 403),
)
async def measures() -> dict[str, Any]:
    """Label and unit by name."""
    from sottovoce.measure.catalogue import MEASURES

    found = [MEASURES[name] for name in MEASURES]
    return {one.name: {"label": one.label, "unit": one.unit} for one in found}


@router.post(
    "/v1/measure",
    summary="All score measures of a set of scores",
    response_class=Response,
    responses=answers(_KINDS, "As of `sottovoce measure --json`, or a page."),
    openapi_extra=_SCORES,
)
async def measure(
    request: Request,
    only: Annotated[str | None, Query(description="Measures, with commas between.")] = None,
    interval: Interval = 0.95,
    resamples: Resamples = None,
    seed: Draws = 0,
    format: Shown = "json",  # noqa: A002
) -> Response:
    """Each measure with interval, chance level and direction."""
    names = [name.strip() for name in only.split(",") if name.strip()] if only else None
    parameters: dict[str, Any] = {
        "only": names,
        "interval": interval or None,
        "replicates": resamples,
        "seed": seed,
        "format": format,
    }
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        files = await form_of(request, "scores", optional=["trials", "utt2spk"])
    else:
        files = [await body_of(request)]
    return await answered(request, "measure", files, parameters)


@router.post(
    "/v1/similarity",
    summary="Voices before and after anonymisation",
    response_class=Response,
    responses=answers(_KINDS, "As of `sottovoce similarity --json`, or a page."),
    openapi_extra=parts(
        original=_EMBEDDINGS, anonymised=_EMBEDDINGS, train=_TRAIN, optional=["train"]
    ),
)
async def similarity(
    request: Request,
    linkage: Linkage = "cosine",
    lda: Dimensions = None,
    interval: Interval = 0.95,
    resamples: Resamples = 1000,
    seed: Draws = 0,
    format: Shown = "json",  # noqa: A002
) -> Response:
    """Similarity matrices, de-identification and voice distinctiveness."""
    parameters = {
        "linkage": linkage,
        "lda": lda,
        "interval": interval or None,
        "replicates": resamples,
        "seed": seed,
        "format": format,
    }
    files = await form_of(request, "original", "anonymised", optional=["train"])
    return await answered(request, "similarity", files, parameters)


@router.post(
    "/v1/reidentify",
    summary="How likely speakers are found again among others",
    response_class=Response,
    responses=answers(_KINDS, "As of `sottovoce reidentify --json`, or a page."),
    openapi_extra=parts(enrol=_EMBEDDINGS, trial=_EMBEDDINGS, train=_TRAIN, optional=["train"]),
)
async def reidentify(
    request: Request,
    linkage: Linkage = "cosine",
    lda: Dimensions = None,
    lengths: Numbers = "1,3,30",
    populations: Numbers = None,
    top: Annotated[int, Query(ge=1, le=1_000_000, description="k of top-k.")] = 20,
    interval: Interval = 0.95,
    seed: Draws = 0,
    format: Shown = "json",  # noqa: A002
) -> Response:
    """Singling Out, Linkability, rank and top-k over population size."""
    parameters = {
        "linkage": linkage,
        "lda": lda,
        "lengths": _numbers("lengths", lengths or "1,3,30"),
        "populations": _numbers("populations", populations) if populations else None,
        "k": top,
        "confidence": interval or None,
        "seed": seed,
        "format": format,
    }
    files = await form_of(request, "enrol", "trial", optional=["train"])
    return await answered(request, "reidentify", files, parameters)


def _numbers(name: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{name}: whole numbers with commas between, such as 20,100") from None
