"""Measures of scores and of embeddings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Json
from sottovoce.serve.exchange import (
    describe_answers,
    describe_body,
    describe_form,
    is_form,
    read_body,
    read_form,
    refuse_unknown_parameters,
    run_job,
)
from sottovoce.serve.messages import MeasureJob, PageFormat, ReidentifyJob, SimilarityJob

router = APIRouter(tags=["measure"], dependencies=[Depends(refuse_unknown_parameters)])

Interval = Annotated[
    float, Query(ge=0, lt=1, description="Confidence of the intervals; 0 leaves them out.")
]
Resamples = Query(ge=20, le=10_000, description="Number of resamples behind an interval.")
Seed = Annotated[int, Query(ge=0, le=2**32 - 1, description="Seed of resamples and draws.")]
LinkageName = Annotated[
    str,
    Query(
        description="Linkage function, which turns two vectors into a score: cosine or euclidean; "
        "with a part train also whitening, projection or plda. See /v1/choices.",
        examples=["cosine", "plda"],
    ),
]
Dimensions = Annotated[
    int | None, Query(ge=1, description="Dimensions that plda keeps. Default: all.")
]
Shrinkage = Annotated[
    float | None,
    Query(
        ge=0,
        lt=1,
        description="How far plda, whitening and projection pull the variation within speakers to "
        "an even one; needed where training vectors are few.",
    ),
]
Numbers = Annotated[
    str | None, Query(description="Whole numbers separated by commas.", examples=["1,3"])
]
Format = Annotated[
    PageFormat, Query(description="Format of the answer; html is a page with figures.")
]
_MEDIA_TYPES = "application/json text/html"
_EMBEDDINGS = ".npz (arrays vectors and speakers) or .parquet"
_TRAIN = f"Embeddings of other speakers to train on: {_EMBEDDINGS}"
_DEFAULT_LENGTHS = "1,3,30"


def _describe_scores() -> dict[str, Json]:
    """A body of scores, or a form with lists in Kaldi's or VoxCeleb's form."""
    body = describe_body(
        "application/octet-stream",
        "Scores: .npz, .csv, .tsv or .parquet, recognised by the content.",
    )
    form = describe_form(
        scores="Scores as above; with trials, lines: enrol trial score, or score enrol trial.",
        trials="Lines: enrol trial target|nontarget, or 1|0 enrol trial.",
        utt2spk="Lines: utterance speaker.",
        optional=["trials", "utt2spk"],
    )
    match body["requestBody"], form["requestBody"]:
        case {"content": dict(content)}, {"content": dict(form_content)}:
            content.update(form_content)
    return body


@router.post(
    "/v1/measure",
    summary="All score measures of a set of scores",
    response_class=Response,
    responses=describe_answers(_MEDIA_TYPES, "As of `sottovoce measure --json`, or a page."),
    openapi_extra=_describe_scores(),
)
async def measure(
    request: Request,
    only: Annotated[
        str | None,
        Query(
            description="Names of measures, separated by commas; some take numbers, such as "
            "min_dcf_0.001 or fmr_at_0.5."
        ),
    ] = None,
    interval: Interval = 0.95,
    resamples: Annotated[int | None, Resamples] = None,
    seed: Seed = 0,
    format: Format = "json",  # noqa: A002
) -> Response:
    """Each measure with interval, chance level and direction."""
    names = tuple(name.strip() for name in only.split(",") if name.strip()) if only else None
    job = MeasureJob(
        only=names, interval=interval or None, replicates=resamples, seed=seed, format=format
    )
    if is_form(request):
        files = await read_form(request, "scores", optional=["trials", "utt2spk"])
    else:
        files = [await read_body(request)]
    return await run_job(request, job, files)


@router.post(
    "/v1/similarity",
    summary="Voices before and after anonymisation",
    response_class=Response,
    responses=describe_answers(_MEDIA_TYPES, "As of `sottovoce similarity --json`, or a page."),
    openapi_extra=describe_form(
        original=_EMBEDDINGS, anonymised=_EMBEDDINGS, train=_TRAIN, optional=["train"]
    ),
)
async def similarity(
    request: Request,
    linkage: LinkageName = "cosine",
    lda: Dimensions = None,
    shrinkage: Shrinkage = None,
    interval: Interval = 0.95,
    resamples: Annotated[int, Resamples] = 1000,
    seed: Seed = 0,
    format: Format = "json",  # noqa: A002
) -> Response:
    """Similarity matrices, de-identification and voice distinctiveness."""
    job = SimilarityJob(
        linkage=linkage,
        lda=lda,
        shrinkage=shrinkage,
        interval=interval or None,
        replicates=resamples,
        seed=seed,
        format=format,
    )
    files = await read_form(request, "original", "anonymised", optional=["train"])
    return await run_job(request, job, files)


@router.post(
    "/v1/reidentify",
    summary="How likely speakers are re-identified among others",
    response_class=Response,
    responses=describe_answers(_MEDIA_TYPES, "As of `sottovoce reidentify --json`, or a page."),
    openapi_extra=describe_form(
        enrol=_EMBEDDINGS, trial=_EMBEDDINGS, train=_TRAIN, optional=["train"]
    ),
)
async def reidentify(
    request: Request,
    linkage: LinkageName = "cosine",
    lda: Dimensions = None,
    shrinkage: Shrinkage = None,
    lengths: Numbers = _DEFAULT_LENGTHS,
    populations: Numbers = None,
    top: Annotated[int, Query(ge=1, le=1_000_000, description="k of top-k.")] = 20,
    interval: Interval = 0.95,
    seed: Seed = 0,
    format: Format = "json",  # noqa: A002
) -> Response:
    """Singling Out, Linkability, rank and top-k over population size."""
    job = ReidentifyJob(
        linkage=linkage,
        lda=lda,
        shrinkage=shrinkage,
        lengths=_numbers("lengths", lengths or _DEFAULT_LENGTHS),
        populations=_numbers("populations", populations) if populations else None,
        top=top,
        interval=interval or None,
        seed=seed,
        format=format,
    )
    files = await read_form(request, "enrol", "trial", optional=["train"])
    return await run_job(request, job, files)


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"{name}: whole numbers separated by commas, such as 20,100", code="wrong-type"
        ) from None
