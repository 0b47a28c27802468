"""Figures 12 to 14: verification and identification in a growing crowd."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sottovoce.attack import ATTACKERS, Attacker
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.findings import CurvePoint, Reidentification
from sottovoce.measure import ReidentificationSettings, reidentify
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Compared, ItemOutput, paper_table
from sottovoce.papers.speech import ORIGINALS, SpeechStudy, open_study
from sottovoce.report.reidentification import population_axis
from sottovoce.report.svg import Axis, Figure, Line, arrange, line_chart
from sottovoce.speaker.embeddings import Embeddings

ANONYMISERS = (AnonymiserSpec("xvector"), AnonymiserSpec("mcadams"))
"""The document's anonymiser, and a second that hides less."""
ATTACKER_NAMES = ("ignorant", "lazy-informed", "semi-informed")
TOP = 20
CORE, CORE_TRIALS = 20, 60
"""Test speakers of the document, and the fewest trials; with fewer there is no D_sys."""

Curves = Mapping[str, Reidentification]

_REIDENTIFIED = Step("reidentified", records_of(Reidentification))


def crowd_curves(data: PaperData) -> tuple[SpeechStudy, Curves]:
    """Attack originals and two anonymisers in populations of every size.

    Parameters
    ----------
    data : PaperData
        The crowd is attacked, or the corpus where no crowd is named.
    """
    study = open_study(data, crowd=True)
    steps = StepCache(data.work / "steps")
    runs: list[tuple[str, AnonymiserSpec | None, Attacker]] = [("baseline", None, ORIGINALS)]
    runs += [
        (f"{spec.label}, {name}", spec, ATTACKERS[name])
        for spec in ANONYMISERS
        for name in ATTACKER_NAMES
    ]
    curves = {}
    for name, spec, attacker in (run for run in runs if run[0] not in data.skip):
        key = [study.attacked.key, study.division.train.key, name, data.seed, "crowd", CORE]
        curves[name] = steps.get(
            _REIDENTIFIED,
            key,
            lambda s=spec, a=attacker: _attack(study, s, a),  # type: ignore[misc]
        )
    return study, curves


def _attack(
    study: SpeechStudy, spec: AnonymiserSpec | None, attacker: Attacker
) -> Reidentification:
    sets = study.sets(spec, [attacker])
    trained = study.trained(sets, attacker, "best")
    enrol, trial = sets["enrol", attacker.enrolment], sets["trial", "released"]
    settings = ReidentificationSettings(
        lengths=(1,),
        populations=_sizes(len(enrol.names)),
        k=TOP,
        confidence=0.95,
        draws=1,  # Singling Out is not drawn here
        enrolled=1,
        seed=study.seed,
    )
    result = reidentify(enrol, trial, trained.linkage, settings=settings)
    core = core_of(trial)
    if len(core.names) < len(enrol.names):  # some test speakers, who are in every population
        known = replace(settings, core=True, confidence=None)
        result = replace(
            result, open_set=reidentify(enrol, core, trained.linkage, settings=known).open_set
        )
    return result


def core_of(trial: Embeddings) -> Embeddings:
    """Take the trials of so many speakers, evenly spread, that there are at least 60.

    Parameters
    ----------
    trial : Embeddings
        Trials of all speakers.
    """
    count = max(CORE, -(-CORE_TRIALS * len(trial.names) // len(trial)))
    places = np.arange(count) * len(trial.names) // count
    return trial.of_speakers(np.unique(places)) if count < len(trial.names) else trial


def _sizes(everybody: int) -> tuple[int, ...]:
    """Populations that double from 20, as in the document, and everybody."""
    sizes = [min(20, everybody)]
    while 2 * sizes[-1] < everybody:
        sizes.append(2 * sizes[-1])
    return (*sizes, everybody) if sizes[-1] < everybody else tuple(sizes)


def _figure_12(data: PaperData) -> ItemOutput:
    study, curves = crowd_curves(data)
    sizes = [point.population for point in curves["baseline"].open_set]
    panels = [
        _chart(
            label,
            curves,
            lambda result, n=name: [(p.population, getattr(p, n)) for p in result.open_set],  # type: ignore[misc]
            Axis.nice(label, 0, high),
        )
        for label, name, high in (("EER", "eer", 0.6), ("D_sys", "d_sys", 1.0))
    ]
    rows = [
        (name, point.population, point.eer, point.d_sys)
        for name, result in curves.items()
        for point in result.open_set
    ]
    first, last = curves["baseline"].open_set[0], curves["baseline"].open_set[-1]
    semi = curves.get("xvector, semi-informed")
    why = _why(study, sizes[-1])
    return ItemOutput(
        study.described,
        tables=[
            paper_table(
                "Open-set verification", ("speech and attacker", "speakers", "EER", "D_sys"), rows
            )
        ],
        drawings={
            "figure-12": arrange(
                "Open-set verification in a growing crowd",
                "Left the EER, right D_sys.",
                panels,
                columns=2,
            )
        },
        compared=[
            Compared(f"EER of originals, 20 speakers (here {sizes[0]})", 0.07, first.eer, why),
            Compared("EER of originals, everybody", 0.12, last.eer, why),
            Compared(
                "EER, xvector, semi-informed, any crowd",
                0.47,
                None if semi is None else semi.open_set[-1].eer,
                why,
            ),
        ],
        remarks=[_ROC, _DEVICES],
    )


_ROC = (
    "As in the document, some test speakers are in every population, 20 of them or so many that "
    "there are 60 trials; the others are drawn. Were everybody drawn, the expected EER would not "
    "depend on the crowd at all."
)
_DEVICES = (
    "In Speech Commands each speaker has one session and device, so a link may be one to a "
    "microphone; words of one second are short."
)


def _why(study: SpeechStudy, everybody: int) -> str:
    return (
        f"{everybody:,} speakers of {study.attacked.corpus.name} instead of 24,616 of Common "
        "Voice; another encoder and anonymiser; the linkage function, not the encoder, is trained "
        "on anonymised speech"
    )


def _figure_13(data: PaperData) -> ItemOutput:
    study, curves = crowd_curves(data)
    first = curves["baseline"].rank
    ranks = _chart(
        "rank of the true speaker",
        curves,
        lambda result: [(point.population, math.log10(point.value)) for point in result.rank],
        _log_axis("rank of the true speaker", max(point.chance for point in first)),
        chance=[(point.population, math.log10(point.chance)) for point in first],
    )
    normalised = _chart(
        "normalised rank",
        curves,
        lambda result: [(point.population, point.value) for point in result.normalised_rank],
        Axis.nice("rank / speakers", 0, 0.6),
        chance=[(point.population, point.chance) for point in curves["baseline"].normalised_rank],
    )
    rows = [
        (name, point.population, point.value, point.low, point.high, point.chance)
        for name, result in curves.items()
        for point in result.rank
    ]
    headings = ("speech and attacker", "speakers", "mean rank", "low", "high", "chance")
    everybody = first[-1].population
    why = _why(study, everybody)
    return ItemOutput(
        study.described,
        tables=[paper_table("Rank of the true speaker", headings, rows, decimals=1)],
        drawings={
            "figure-13": arrange(
                "Closed-set identification in a growing crowd",
                "Left the rank, right the rank divided by the number of speakers.",
                [ranks, normalised],
                columns=2,
            )
        },
        compared=[
            Compared(
                f"normalised rank, xvector, {name}, everybody",
                seen,
                curves[f"xvector, {name}"].normalised_rank[-1].value
                if f"xvector, {name}" in curves
                else None,
                why,
            )
            for name, seen in (
                ("ignorant", "worse than chance (0.5)"),
                ("lazy-informed", "worse than chance (0.5)"),
                ("semi-informed", "a little better than chance"),
            )
        ],
        remarks=[_DEVICES],
    )


def _figure_14(data: PaperData) -> ItemOutput:
    study, curves = crowd_curves(data)
    top = _chart(
        f"top-{TOP} precision",
        curves,
        lambda result: [(point.population, point.value) for point in result.top_k],
        Axis.nice(f"top-{TOP} precision", 0, 1.02),
        chance=[(point.population, point.chance) for point in curves["baseline"].top_k],
    )
    linked = _chart(
        "Linkability (first of all)",
        curves,
        lambda result: [(point.population, point.value) for point in result.linkability],
        Axis.nice("Linkability", 0, 1.02),
        chance=[(point.population, point.chance) for point in curves["baseline"].linkability],
    )
    rows = [
        (name, point.population, point.value, point.low, point.high, link.value, link.chance)
        for name, result in curves.items()
        for point, link in zip(result.top_k, result.linkability, strict=True)
    ]
    headings = (
        "speech and attacker",
        "speakers",
        f"top-{TOP}",
        "low",
        "high",
        "Linkability",
        "chance",
    )
    return ItemOutput(
        study.described,
        tables=[
            paper_table(f"Top-{TOP} precision and Linkability", headings, rows),
            paper_table(
                "Crowds that hide alike: n speakers after anonymisation, N before",
                ("anonymiser and attacker", "n", f"top-{TOP} there", "N for the same"),
                equivalent_crowds(curves),
            ),
        ],
        drawings={
            "figure-14": arrange(
                "Speakers found in a growing crowd",
                f"Left among the first {TOP}, right as the first.",
                [top, linked],
                columns=2,
            )
        },
        compared=[
            Compared(
                "top-20 precision falls faster after anonymisation",
                "yes",
                "yes" if _falls_faster(curves) else "no",
            )
        ],
        remarks=[
            "N is interpolated on the curve of originals; beyond everybody there is none, and the "
            "table says so.",
            _DEVICES,
        ],
    )


def equivalent_crowds(curves: Curves) -> list[tuple[str, int, float, str]]:
    """Find how many original speakers hide somebody as well as n anonymised ones.

    Parameters
    ----------
    curves : mapping of str to Reidentification
        ``baseline`` and attacks on anonymised speech, with top-k over population.

    Returns
    -------
    list of tuple
        Attack, n, top-k precision in that population, and N in words.
    """
    before = curves["baseline"].top_k
    rows = []
    for name, result in curves.items():
        if name != "baseline":
            for point in result.top_k:
                if point.value < 1:
                    found = _crowd_with(before, point.value)
                    rows.append((name, point.population, point.value, found))
                    break
    return rows


def _crowd_with(points: Sequence[CurvePoint], value: float) -> str:
    """The population in which the curve has fallen to a value, by log-linear interpolation."""
    values = np.array([point.value for point in points])
    sizes = np.log([point.population for point in points])
    if value < values[-1]:
        return f"more than {points[-1].population:,} ({values[-1]:.3f} there)"
    crossing = np.interp(-value, -values, sizes)  # the curve falls
    return f"{math.exp(float(crossing)):,.0f}"


def _falls_faster(curves: Curves) -> bool:
    drop = {name: result.top_k[0].value - result.top_k[-1].value for name, result in curves.items()}
    return all(drop[name] > drop["baseline"] for name in drop if name.startswith("xvector"))


Points = Sequence[tuple[int, float | None]]


def _chart(
    label: str,
    curves: Curves,
    points_of: Callable[[Reidentification], Points],
    axis: Axis,
    *,
    chance: Points = (),
) -> Figure:
    """One line per attack over the size of the crowd."""
    lines, sizes = [], []
    for style, (name, result) in enumerate(curves.items(), start=1):
        points = [(size, value) for size, value in points_of(result) if value is not None]
        x = [math.log10(size) for size, _ in points]
        lines.append(Line(name, x, [value for _, value in points], style))
        sizes += [size for size, _ in points]
    if chance:
        x = [math.log10(size) for size, _ in chance]
        lines.append(Line("chance", x, [value or 0.0 for _, value in chance], 0))
    return line_chart(
        label, f"{label} over the size of the crowd.", population_axis(sizes), axis, lines
    )


def _log_axis(label: str, most: float) -> Axis:
    marks = [m * 10**e for e in range(6) for m in (1, 2, 5) if m * 10**e <= most]
    ticks = tuple((math.log10(mark), f"{mark:,}") for mark in marks)
    return Axis(label, 0, math.log10(most), ticks)


ITEMS = (
    PaperItem("004-figure-12", "Open-set verification over the number of speakers", _figure_12),
    PaperItem("004-figure-13", "Rank of the true speaker over the number of speakers", _figure_13),
    PaperItem("004-figure-14", "Top-20 precision over the number of speakers", _figure_14),
)
