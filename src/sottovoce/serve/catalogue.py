"""Lists of what a request can choose: methods, strategies, taggers, measures and so on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel

from sottovoce.serve.exchange import describe_errors, refuse_unknown_parameters
from sottovoce.serve.method_results import MethodResult, read_method_results, recommendations

if TYPE_CHECKING:
    from sottovoce.anonymise.voice import MethodCard

router = APIRouter(tags=["catalogue"], dependencies=[Depends(refuse_unknown_parameters)])
_ERRORS = describe_errors(400, 401, 403)


class SettingDescription(BaseModel):
    """One setting of a voice method."""

    name: str
    help: str
    default: int | float | str | None
    low: float | None
    """Smallest number; null if it is not a number."""
    high: float | None
    words: list[str]
    """Words that are allowed beside or instead of a number."""


class MeasuredStrength(BaseModel):
    """How often people were found behind a method, and the words that it cost."""

    found: float
    """Share of recordings that the strongest attack linked, without knowing the draws."""
    found_high: float
    """Upper end of its interval."""
    found_with_draws: float | None
    """The same for an attacker who knows the draws; null if not measured."""
    words_wrong: float
    """Word error rate of a speech recogniser."""


class MethodRecommendation(BaseModel):
    """A method for a purpose, with what speaks against it."""

    purpose: str
    method: str
    reason: str


class MethodDescription(BaseModel):
    """One voice method."""

    name: str
    summary: str
    keeps: list[str]
    leaks: str
    reversible: str
    reference: str
    settings: list[SettingDescription]
    """Settings that name files are left out: a client cannot set them."""
    measured: MeasuredStrength | None
    """With default settings; null for a method that was not measured."""


class Methods(BaseModel):
    """All voice methods."""

    methods: list[MethodDescription]
    measured_on: str
    """Where the measured figures come from."""
    measured_people: int
    """Among how many people the attacks looked for somebody."""
    words_wrong_before: float
    """Word error rate of the recordings before they were changed."""
    recommendations: list[MethodRecommendation]


class Strategies(BaseModel):
    """Languages and replacement strategies of texts."""

    languages: list[str]
    strategies: dict[str, str]
    """Description by name."""
    kinds: dict[str, list[str]]
    """Kinds of text that were measured, by language: those that have a leak bound."""


class MeasureDescription(BaseModel):
    """One score measure."""

    label: str
    unit: str


class LinkageDescription(BaseModel):
    """One linkage function."""

    name: str
    summary: str
    needs_training: bool
    """Whether embeddings of other speakers must be sent as the part ``train``."""


class Choices(BaseModel):
    """Every name that a parameter of a service can have, installed packages included."""

    methods: list[str]
    """Parameter ``method`` of ``/v1/anonymise/voice`` and ``/v1/anonymise/recording``."""
    languages: list[str]
    """Parameter ``lang``."""
    strategies: list[str]
    """Parameter ``strategy`` of ``/v1/anonymise/text``."""
    taggers: list[str]
    """Parameter ``tagger`` of ``/v1/anonymise/text``: those that need no file."""
    recognisers: list[str]
    """Parameter ``recogniser`` of ``/v1/recognise``."""
    linkages: list[LinkageDescription]
    """Parameter ``linkage`` of ``/v1/similarity`` and ``/v1/reidentify``."""
    measures: list[str]
    """Parameter ``only`` of ``/v1/measure``."""
    pools: list[str]
    """Parameter ``pool`` of ``/v1/anonymise/voice`` and ``/v1/anonymise/batch``: pools of voices
    that the service was started with."""


@router.get("/v1/methods", summary="Voice methods and their settings", responses=_ERRORS)
async def methods() -> Methods:
    """What each voice method does, what it keeps and what it still leaks."""
    from sottovoce.anonymise.voice import METHODS

    results = read_method_results()
    return Methods(
        methods=[_describe(METHODS[name].card, results.of(name)) for name in METHODS],
        measured_on=results.origin,
        measured_people=results.people,
        words_wrong_before=results.words_wrong_before,
        recommendations=[
            MethodRecommendation(purpose=advice.purpose, method=advice.method, reason=advice.reason)
            for advice in recommendations(results)
        ],
    )


def _describe(card: MethodCard, result: MethodResult | None) -> MethodDescription:
    measured = None
    if result is not None:
        measured = MeasuredStrength(
            found=result.found,
            found_high=result.found_high,
            found_with_draws=result.found_with_draws,
            words_wrong=result.words_wrong,
        )
    return MethodDescription(
        name=card.name,
        summary=card.summary,
        keeps=list(card.keeps),
        leaks=card.leaks,
        reversible=card.reversible,
        reference=card.reference,
        settings=[
            SettingDescription(
                name=setting.name,
                help=setting.help,
                default=None if isinstance(setting.default, Path) else setting.default,
                low=setting.low,
                high=setting.high,
                words=list(setting.words),
            )
            for setting in card.settings
            if not setting.path
        ],
        measured=measured,
    )


@router.get("/v1/strategies", summary="Languages and replacement strategies", responses=_ERRORS)
async def strategies() -> Strategies:
    """What each strategy puts in the place of a private word."""
    from sottovoce.anonymise.text import STRATEGIES
    from sottovoce.anonymise.text.known_leaks import measured_kinds
    from sottovoce.anonymise.text.lexicon import LANGUAGES
    from sottovoce.anonymise.text.multilingual_detector import MIXED_LANGUAGES

    described = {name: STRATEGIES[name].description for name in STRATEGIES}
    kinds = {lang: list(measured_kinds(lang)) for lang in LANGUAGES}
    languages = [*LANGUAGES, *MIXED_LANGUAGES]
    return Strategies(languages=languages, strategies=described, kinds=kinds)


@router.get("/v1/measures", summary="Score measures: labels and units", responses=_ERRORS)
async def measures() -> dict[str, MeasureDescription]:
    """Label and unit of each score measure, by name."""
    from sottovoce.measure.catalogue import MEASURES

    catalogue = (MEASURES[name] for name in MEASURES)
    return {
        measure.name: MeasureDescription(label=measure.label, unit=measure.unit)
        for measure in catalogue
    }


@router.get("/v1/choices", summary="Names that parameters can have", responses=_ERRORS)
async def choices(request: Request) -> Choices:
    """Everything that is registered, by the package itself or by an installed plug-in."""
    from sottovoce.anonymise.text import STRATEGIES, TAGGERS
    from sottovoce.anonymise.text.lexicon import LANGUAGES
    from sottovoce.anonymise.text.multilingual_detector import MIXED_LANGUAGES
    from sottovoce.anonymise.voice import METHODS
    from sottovoce.asr.recogniser import RECOGNISERS
    from sottovoce.measure.catalogue import MEASURES

    return Choices(
        methods=list(METHODS),
        languages=[*LANGUAGES, *MIXED_LANGUAGES],
        strategies=list(STRATEGIES),
        taggers=[name for name in TAGGERS if not TAGGERS[name].argument],
        recognisers=list(RECOGNISERS),
        linkages=list(_linkages()),
        measures=list(MEASURES),
        pools=list(request.app.state.settings.pools),
    )


def _linkages() -> Iterable[LinkageDescription]:
    from sottovoce.speaker.linkage import LINKAGES

    for name in LINKAGES:
        linkage = LINKAGES[name]
        yield LinkageDescription(
            name=name, summary=linkage.summary, needs_training=linkage.needs_training
        )
