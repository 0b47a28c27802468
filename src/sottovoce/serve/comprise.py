"""The services of COMPRISE's Voice and Text Transformers, for clients written for them.

The query string is one JSON object with the parameters; the body is audio or text. COMPRISE
deliverable D2.3 (2021), sections 3.1 and 3.2. Their parameters are translated to ours:

    wgender            source_gender of xvector (required)
    cross_gender       its gender: same, other or random
    distance           its distance: plda or cosine
    proximity          its proximity: dense, farthest or random
    sample-frequency   compared with the file, which states it anyway
    r                  strategy: REDACT, WORD or FULL
    m                  language of the tagger: a code such as de, or a name such as de-ner
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Json, JsonObject
from sottovoce.serve.exchange import (
    describe_answers,
    describe_body,
    query_parameters,
    read_body,
    run_job,
)
from sottovoce.serve.messages import TextJob, VoiceJob

router = APIRouter(tags=["COMPRISE"])

STRATEGIES = {"REDACT": "redact", "WORD": "word", "FULL": "full"}
_VOICE_PARAMETERS = {
    "wgender": ("source_gender", {"f": "f", "m": "m"}),
    "cross_gender": ("gender", {"same": "same", "other": "opposite", "random": "random"}),
    "distance": ("distance", {"plda": "plda", "cosine": "cosine"}),
    "proximity": ("proximity", {"dense": "dense", "farthest": "far", "random": "random"}),
}
"""COMPRISE's parameter: our setting, and our value for each of theirs."""
_QUERY: list[Json] = [
    {
        "name": "parameters",
        "in": "query",
        "description": "The whole query string is one JSON object.",
        "schema": {"type": "object", "additionalProperties": True},
        "style": "form",
        "explode": True,
    }
]


@router.post(
    "/vpc",
    summary="COMPRISE's Voice Transformer; with a text as body, its Text Transformer",
    response_class=Response,
    responses=describe_answers("audio/wav text/plain", "The transformed recording or text."),
    openapi_extra={
        **describe_body("application/octet-stream", "Audio or text."),
        "parameters": _QUERY,
    },
)
async def vpc(request: Request) -> Response:
    """A recording in another voice; with a parameter r or m, a text without private words."""
    parameters = query_parameters(request)
    job = text_job(parameters) if {"r", "m"} & set(parameters) else voice_job(parameters)
    return await run_job(request, job, [await read_body(request)])


@router.post(
    "/transform",
    summary="COMPRISE's Text Transformer",
    response_class=Response,
    responses=describe_answers("text/plain", "The transformed text."),
    openapi_extra={**describe_body("text/plain", "The text in UTF-8."), "parameters": _QUERY},
)
async def transform(request: Request) -> Response:
    """A text with its private words replaced."""
    job = text_job(query_parameters(request))
    return await run_job(request, job, [await read_body(request)])


def voice_job(parameters: JsonObject) -> VoiceJob:
    """Translate the parameters of COMPRISE's Voice Transformer.

    Parameters
    ----------
    parameters : dict
        As the client sent them; ``-`` and ``_`` in names are equivalent.

    >>> job = voice_job({"wgender": "f", "proximity": "farthest", "sample-frequency": 16000})
    >>> job.settings, job.rate
    ({'source_gender': 'f', 'proximity': 'far'}, 16000)
    """
    values = {name.replace("-", "_"): value for name, value in parameters.items()}
    rate = values.pop("sample_frequency", None)
    if "anon_pool" in values:
        raise UsageError(
            "anon-pool names a file; a client cannot set the pool of voices", code="not-allowed"
        )
    if "wgender" not in values:
        raise UsageError("no wgender: send f or m, the gender of the speaker", code="missing-part")
    settings = {}
    for name, value in values.items():
        if name not in _VOICE_PARAMETERS:
            raise _unknown_parameter(name, (*_VOICE_PARAMETERS, "sample-frequency"))
        setting, choices = _VOICE_PARAMETERS[name]
        settings[setting] = _translate(name, value, choices)
    return VoiceJob("xvector", settings, rate=_whole_number(rate))


def text_job(parameters: JsonObject) -> TextJob:
    """Translate the parameters of COMPRISE's Text Transformer.

    Parameters
    ----------
    parameters : dict
        As the client sent them.

    >>> job = text_job({"r": "WORD", "m": "de-ner-large"})
    >>> job.strategy, job.lang
    ('word', 'de')
    """
    for name in parameters:
        if name not in ("r", "m"):
            raise _unknown_parameter(name, ("r", "m"))
    return TextJob(
        lang=_language(parameters.get("m", "en")),
        strategy=_translate("r", parameters.get("r", "FULL"), STRATEGIES),
        plain=True,
    )


def _unknown_parameter(name: str, known: tuple[str, ...]) -> UsageError:
    return UsageError(
        f"no parameter is called {name!r}; known: {', '.join(known)}", code="unknown-name"
    )


def _translate(name: str, value: Json, choices: dict[str, str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise UsageError(f"{name} {value!r}; use {', '.join(choices)}", code="out-of-range")
    return choices[value]


def _whole_number(rate: Json) -> int | None:
    if rate is None:
        return None
    try:
        if isinstance(rate, int | float | str):
            return int(rate)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"sample-frequency {rate!r}; use a whole number of Hz", code="wrong-type")


def _language(model: Json) -> str:
    """Language of a tagger by its name: a code or such as ``de-ner``; ``ner`` is English."""
    from sottovoce.anonymise.text.lexicon import LANGUAGES

    prefix = str(model).partition("-")[0]
    lang = "en" if prefix == "ner" else prefix
    if lang not in LANGUAGES:
        raise UsageError(
            f"m {model!r}: no tagger has that name; use {', '.join(LANGUAGES)}",
            code="unknown-name",
        )
    return lang
