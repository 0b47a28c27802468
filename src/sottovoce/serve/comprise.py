"""The services of COMPRISE's Voice and Text Transformers, for clients written for them.

Parameters are a JSON object that is the whole query string; the body is audio or text. COMPRISE
deliverable D2.3 (2021), sections 3.1 and 3.2. What the parameters mean here:

    wgender            source_gender of xvector (required)
    cross_gender       its gender: same, other or random
    distance           its distance: plda or cosine
    proximity          its proximity: dense, farthest or random
    sample-frequency   checked against the file, which tells it anyway
    r                  strategy: REDACT, WORD or FULL
    m                  language of the tagger: a code such as de, or a name such as de-ner
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sottovoce.core.errors import UsageError
from sottovoce.serve.exchange import answered, answers, binary, body_of, parameters_of

router = APIRouter(tags=["COMPRISE"])

GENDERS = {"f": "f", "m": "m"}
TARGETS = {"same": "same", "other": "opposite", "random": "random"}
DISTANCES = {"plda": "plda", "cosine": "cosine"}
PROXIMITIES = {"dense": "dense", "farthest": "far", "random": "random"}
STRATEGIES = {"REDACT": "redact", "WORD": "word", "FULL": "full"}
_CHOICES = {
    "wgender": ("source_gender", GENDERS),
    "cross_gender": ("gender", TARGETS),
    "distance": ("distance", DISTANCES),
    "proximity": ("proximity", PROXIMITIES),
}
_JSON = [
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
    responses=answers("audio/wav text/plain", "The transformed recording or text."),
    openapi_extra={**binary("application/octet-stream", "Audio or text."), "parameters": _JSON},
)
async def vpc(request: Request) -> Response:
    """A recording in the voice of a pseudo-speaker; parameters r or m say that it is a text."""
    given = parameters_of(request)
    if "r" in given or "m" in given:
        return await _text(request, given)
    parameters = {**voice_parameters(given), "format": "wav"}
    return await answered(request, "voice", [await body_of(request)], parameters)


@router.post(
    "/transform",
    summary="COMPRISE's Text Transformer",
    response_class=Response,
    responses=answers("text/plain", "The transformed text."),
    openapi_extra={**binary("text/plain", "The text in UTF-8."), "parameters": _JSON},
)
async def transform(request: Request) -> Response:
    """A text with its private words replaced."""
    return await _text(request, parameters_of(request))


async def _text(request: Request, given: dict[str, Any]) -> Response:
    parameters = {"settings": text_settings(given), "plain": True}
    return await answered(request, "text", [await body_of(request)], parameters)


def voice_parameters(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of COMPRISE's Voice Transformer as ours; - and _ in names are the same.

    >>> asked = {"wgender": "f", "proximity": "farthest", "sample-frequency": 16000}
    >>> voice_parameters(asked)["settings"]
    {'source_gender': 'f', 'proximity': 'far'}
    """
    named = {name.replace("-", "_"): value for name, value in given.items()}
    rate = named.pop("sample_frequency", None)
    if "anon_pool" in named:
        raise UsageError("anon-pool names a file; the pool of voices cannot be set from outside")
    if "wgender" not in named:
        raise UsageError("no wgender: say f or m, the gender of the speaker")
    settings = {}
    for name, value in named.items():
        if name not in _CHOICES:
            known = ", ".join((*_CHOICES, "sample-frequency"))
            raise UsageError(f"no parameter is called {name!r}; known: {known}")
        ours, choices = _CHOICES[name]
        settings[ours] = _chosen(name, value, choices)
    return {"method": "xvector", "settings": settings, "rate": _whole(rate)}


def text_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of COMPRISE's Text Transformer as ours.

    >>> text_settings({"r": "WORD", "m": "de-ner-large"})
    {'strategy': 'word', 'lang': 'de'}
    """
    for name in given:
        if name not in ("r", "m"):
            raise UsageError(f"no parameter is called {name!r}; known: r, m")
    return {
        "strategy": _chosen("r", given.get("r", "FULL"), STRATEGIES),
        "lang": _language(given.get("m", "en")),
    }


def _chosen(name: str, value: Any, choices: dict[str, str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise UsageError(f"{name} {value!r}; use {', '.join(choices)}")
    return choices[value]


def _whole(rate: Any) -> int | None:
    try:
        return None if rate is None else int(rate)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"sample-frequency {rate!r}; use a whole number of Hz") from None


def _language(model: Any) -> str:
    """The language of a tagger by its name: a code, or such as ``de-ner``; ``ner`` is English."""
    from sottovoce.anonymise.text.lexicon import LANGUAGES

    first = str(model).partition("-")[0]
    lang = "en" if first == "ner" else first
    if lang not in LANGUAGES:
        raise UsageError(f"m {model!r}: no tagger of that name; use {', '.join(LANGUAGES)}")
    return lang
