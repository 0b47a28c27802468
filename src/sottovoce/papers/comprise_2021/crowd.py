"""Figures 12 to 14: verification and identification in a growing crowd."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.findings import CurvePoint, Reidentification
from sottovoce.papers.comprise_2021.crowd_attacks import (
    ANONYMISERS,
    ATTACKS,
    BASELINE,
    TOP,
    Curves,
    crowd_curves,
    left_out,
)
from sottovoce.papers.data import PaperData, corpus_remarks
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import (
    Compared,
    ItemOutput,
    knowledge_remarks,
    paper_table,
    reidentification_cautions,
)
from sottovoce.papers.speech import SpeechStudy
from sottovoce.report.reidentification import population_axis
from sottovoce.report.svg import Axis, Figure, Line, arrange, line_chart


def _figure_12(data: PaperData) -> ItemOutput:
    study, curves = crowd_curves(data)
    sizes = [point.population for point in curves[BASELINE].open_set]
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
    first, last = curves[BASELINE].open_set[0], curves[BASELINE].open_set[-1]
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
            *_compared_eer(curves, why),
        ],
        remarks=[
            *_knowledge_remarks(
                "EER",
                curves,
                lambda result: [(point.population, point.eer) for point in result.open_set],
                lower_links_more=True,
            ),
            _ROC,
            *_remarks(study, curves),
        ],
        skipped=left_out(data),
    )


def _compared_eer(curves: Curves, why: str) -> list[Compared]:
    """The EER in the largest crowd: of the strongest attacker, and of the one that links most."""
    rates = {
        name: result.open_set[-1].eer
        for name, result in curves.items()
        if name.startswith("xvector")
    }
    published = 0.47
    strongest = "xvector, semi-informed"
    rows = [Compared(f"EER, {strongest}, any crowd", published, rates.get(strongest), why)]
    if rates:
        most = min(rates, key=lambda name: rates[name])
        quantity = f"EER, xvector, the attacker that links most (here {most.partition(', ')[2]})"
        rows.append(Compared(quantity, f"{published} (semi-informed)", rates[most], why))
    return rows


_ROC = (
    "As in the document, some test speakers are in every population, 20 of them or so many that "
    "there are 60 trials; the others are drawn. Were everybody drawn, the expected EER would not "
    "depend on the crowd at all."
)


def _knowledge_remarks(
    quantity: str,
    curves: Curves,
    points_of: Callable[[Reidentification], Points],
    *,
    lower_links_more: bool = False,
) -> list[str]:
    """Attackers on each anonymiser that link less than those that know less."""
    remarks = []
    for spec in ANONYMISERS:
        values = {
            name: {
                f"{size:,} speakers": value
                for size, value in points_of(curves[name])
                if value is not None
            }
            for name in ATTACKS
            if name in curves and ATTACKS[name][0] == spec
        }
        remarks += knowledge_remarks(quantity, values, lower_links_more=lower_links_more)
    return remarks


def _remarks(study: SpeechStudy, curves: Curves) -> list[str]:
    """What has to be known to read any of the figures."""
    return [*corpus_remarks(study.attacked.corpus), *reidentification_cautions(curves.values())]


def _why(study: SpeechStudy, everybody: int) -> str:
    return (
        f"{everybody:,} speakers of {study.attacked.corpus.name} instead of 24,616 of Common "
        "Voice; another encoder and anonymiser; the linkage function, not the encoder, is trained "
        "on anonymised speech"
    )


def _figure_13(data: PaperData) -> ItemOutput:
    study, curves = crowd_curves(data)
    first = curves[BASELINE].rank
    ranks = _chart(
        "rank of the true speaker",
        curves,
        lambda result: [(point.population, math.log10(point.value)) for point in result.rank],
        _log_axis("rank of the true speaker", first[-1].population),
        chance=[(point.population, math.log10(point.chance)) for point in first],
    )
    normalised = _chart(
        "normalised rank",
        curves,
        lambda result: [(point.population, point.value) for point in result.normalised_rank],
        Axis.nice("rank / speakers", 0, 1),
        chance=[(point.population, point.chance) for point in curves[BASELINE].normalised_rank],
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
        remarks=[
            *_knowledge_remarks(
                "Normalised rank",
                curves,
                lambda result: [
                    (point.population, point.value) for point in result.normalised_rank
                ],
                lower_links_more=True,
            ),
            *_remarks(study, curves),
        ],
        skipped=left_out(data),
    )


def _figure_14(data: PaperData) -> ItemOutput:
    study, curves = crowd_curves(data)
    top = _chart(
        f"top-{TOP} precision",
        curves,
        lambda result: [(point.population, point.value) for point in result.top_k],
        Axis.nice(f"top-{TOP} precision", 0, 1.02),
        chance=[(point.population, point.chance) for point in curves[BASELINE].top_k],
    )
    linked = _chart(
        "Linkability (first of all)",
        curves,
        lambda result: [(point.population, point.value) for point in result.linkability],
        Axis.nice("Linkability", 0, 1.02),
        chance=[(point.population, point.chance) for point in curves[BASELINE].linkability],
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
                _falls_faster(curves),
            )
        ],
        remarks=[
            *_knowledge_remarks(
                f"Top-{TOP} precision",
                curves,
                lambda result: [(point.population, point.value) for point in result.top_k],
            ),
            "N is interpolated on the curve of originals; beyond everybody there is none, and the "
            "table says so.",
            *_remarks(study, curves),
        ],
        skipped=left_out(data),
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
        Attack, n, top-k precision in that population, and N in words: a row for each n with such an
        N, and one for all others; an n in which everybody is found compares nothing.
    """
    before = curves[BASELINE].top_k
    rows = []
    for name, result in curves.items():
        if name != BASELINE:
            points = [point for point in result.top_k if point.value < 1]
            beyond = [point for point in points if point.value < before[-1].value]
            rows += [
                (name, point.population, point.value, _crowd_with(before, point.value))
                for point in points
                if point not in beyond
            ]
            if beyond:
                found = _more_than(before[-1], [point.population for point in beyond[1:]])
                rows.append((name, beyond[0].population, beyond[0].value, found))
    return rows


def _crowd_with(points: Sequence[CurvePoint], value: float) -> str:
    """The population in which the curve has fallen to a value, by log-linear interpolation."""
    values = np.array([point.value for point in points])
    sizes = np.log([point.population for point in points])
    crossing = np.interp(-value, -values, sizes)  # the curve falls
    return f"{math.exp(float(crossing)):,.0f}"


def _more_than(last: CurvePoint, others: Sequence[int]) -> str:
    """That no population is large enough, for one n and perhaps others."""
    likewise = f"; also for n = {', '.join(f'{size:,}' for size in others)}" if others else ""
    return f"more than {last.population:,} ({last.value:.3f} there){likewise}"


def _falls_faster(curves: Curves) -> str | None:
    """Whether all curves of the document's anonymiser fall faster; None if there are none."""
    drop = {name: result.top_k[0].value - result.top_k[-1].value for name, result in curves.items()}
    after = [drop[name] for name in drop if name.startswith("xvector")]
    if not after:
        return None
    return "yes" if min(after) > drop[BASELINE] else "no"


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
        points = points_of(result)
        x = [math.log10(size) for size, value in points if value is not None]
        lines.append(Line(name, x, [value for _, value in points if value is not None], style))
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
