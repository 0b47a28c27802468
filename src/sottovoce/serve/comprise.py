"""The services of COMPRISE's Voice and Text Transformers, for clients written for them.

The query string is one JSON object with the parameters; the body is audio or text. COMPRISE
deliverable D2.3 (2021), sections 3.1 and 3.2. Their parameters are translated to ours:

    wgender            source_gender of xvector (required)
    cross_gender       its gender: same, other or random
    distance           its distance: plda or cosine
    proximity          its proximity: dense, farthest or random
    anon-pool          a pool of voices that the service was started with, by its name
    sample-frequency   rate of raw samples; compared with a file, which states it anyway
    r                  strategy: REDACT, WORD or FULL
    m                  tagger by the name of a model of Flair, such as de-ner or ner-multi
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
from sottovoce.serve.settings import Settings
from sottovoce.serve.text_bytes import is_text

router = APIRouter(tags=["COMPRISE"])

STRATEGIES = {"REDACT": "redact", "WORD": "word", "FULL": "full"}
_VOICE_PARAMETERS = {
    "wgender": ("source_gender", {"f": "f", "m": "m"}),
    "cross_gender": ("gender", {"same": "same", "other": "opposite", "random": "random"}),
    "distance": ("distance", {"plda": "plda", "cosine": "cosine"}),
    "proximity": ("proximity", {"dense": "dense", "farthest": "far", "random": "random"}),
}
"""COMPRISE's parameter: our setting, and our value for each of theirs."""
_FLAIR_LANGUAGES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "dutch": "nl",
    "spanish": "es",
    "multi": "multi",
    "danish": "da",
}
"""Languages by the word after ``ner`` in the name of a model; other words mean English."""
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
    """A recording in another voice; for a text, or with a parameter r or m, the text without names.

    Both services of COMPRISE had this path, on ports of their own.
    """
    parameters = query_parameters(request)
    body = await read_body(request)
    if {"r", "m"} & set(parameters) or (not parameters and is_text(body)):
        return await run_job(request, text_job(parameters), [body])
    job = voice_job(parameters, request.app.state.settings)
    return await run_job(request, job, [body])


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


def voice_job(parameters: JsonObject, service: Settings) -> VoiceJob:
    """Translate the parameters of COMPRISE's Voice Transformer.

    Parameters
    ----------
    parameters : dict
        As the client sent them; ``-`` and ``_`` in names are equivalent.
    service : Settings
        Has the pools of voices.

    >>> sent = {"wgender": "f", "proximity": "farthest", "sample-frequency": 16000}
    >>> job = voice_job(sent, Settings())
    >>> job.settings, job.rate
    ({'source_gender': 'f', 'proximity': 'far'}, 16000)
    """
    values = {name.replace("-", "_"): value for name, value in parameters.items()}
    rate = values.pop("sample_frequency", None)
    pool = values.pop("anon_pool", None)
    if "wgender" not in values:
        raise UsageError("no wgender: send f or m, the gender of the speaker", code="missing-part")
    settings = {}
    for name, value in values.items():
        if name not in _VOICE_PARAMETERS:
            raise _unknown_parameter(name, (*_VOICE_PARAMETERS, "sample-frequency", "anon-pool"))
        setting, choices = _VOICE_PARAMETERS[name]
        settings[setting] = _translate(name, value, choices)
    path = None if pool is None else service.pool(str(pool))
    return VoiceJob("xvector", settings, rate=_whole_number(rate), pool=path)


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
    """Language of a model of Flair by its name: ``ner`` is English, ``de-ner-large`` German,
    ``ner-multi`` all languages.

    A code such as ``de`` is a name as well, and so are the long names such as
    ``flair/ner-german-large``.
    """
    from sottovoce.anonymise.text.lexicon import LANGUAGES, MULTILINGUAL

    known = (*LANGUAGES, MULTILINGUAL)
    name = str(model)
    words = name.removeprefix("flair/").split("-")
    if words[0] == "ner":
        lang = _FLAIR_LANGUAGES.get(words[1] if len(words) > 1 else "", "en")
    else:
        lang = words[0]
    if "/" in name.removeprefix("flair/") or name.endswith(".pt"):
        raise UsageError(
            f"m {model!r} is a file; a client cannot name files of the service", code="not-allowed"
        )
    if lang not in known:
        raise UsageError(
            f"m {model!r}: no tagger for it here; use {', '.join(known)}", code="unknown-name"
        )
    return lang
