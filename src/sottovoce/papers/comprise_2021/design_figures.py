"""Figures 5 to 11: what each design choice of x-vector anonymisation costs and hides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sottovoce.audit.retrained import RecogniserComparison
from sottovoce.papers.comprise_2021.design_choices import (
    ATTACKER_NAMES,
    PITCHES,
    Choice,
    ChoiceResult,
    DesignStudy,
    by_value,
    compared_choices,
    dense_choices,
)
from sottovoce.papers.comprise_2021.recognisers import described, recogniser_comparison
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Compared, ItemOutput, PaperTable, paper_table
from sottovoce.report.points import Spread, whisker_chart
from sottovoce.report.retrained import CASES
from sottovoce.report.svg import Figure, arrange


def _spreads(groups: dict[str, list[ChoiceResult]], measure: str) -> dict[str, Spread]:
    values = {
        name: [value for result in results if (value := getattr(result, measure)) is not None]
        for name, results in groups.items()
    }
    return {name: Spread.of(numbers) for name, numbers in values.items() if numbers}


def _panels(title: str, groups: dict[str, list[ChoiceResult]]) -> Figure:
    """Privacy on the left, utility on the right, as in the document."""
    privacy, words = _spreads(groups, "d_sys"), _spreads(groups, "wer")
    panels = [
        whisker_chart("Privacy", "Lower is better.", "D_sys", privacy, high=1.0),
    ]
    if words:
        top = max(spread.mean + spread.deviation for spread in words.values())
        percent = {
            name: Spread(100 * spread.mean, 100 * spread.deviation, spread.count)
            for name, spread in words.items()
        }
        panels.append(
            whisker_chart("Utility", "Lower is better.", "WER in %", percent, high=110 * top)
        )
    return arrange(title, "Mean and standard deviation over the other choices.", panels, columns=2)


def _rows(groups: dict[str, list[ChoiceResult]]) -> list[tuple[str | int | float | None, ...]]:
    privacy, words = _spreads(groups, "d_sys"), _spreads(groups, "wer")
    rows: list[tuple[str | int | float | None, ...]] = []
    for name, spread in privacy.items():
        utility = words.get(name)
        rows.append(
            (
                name,
                spread.count,
                spread.mean,
                spread.deviation,
                utility.mean if utility else None,
                utility.deviation if utility else None,
            )
        )
    return rows


_HEADINGS = ("value", "combinations", "D_sys mean", "sd", "WER mean", "sd")

AS_PUBLISHED = "lazy-informed"
"""The attacker of Figures 5 to 8."""
STRONGEST = "semi-informed"
"""The attacker of Figures 9 to 11 that links most."""
QUICK_RECOGNISERS = 1
"""Combinations that a quick run of Figures 9 and 10 trains recognisers for."""
_WHY = "Other network, pool, encoder and recogniser; the document's WER is that of Kaldi's"


_TRAINED = (
    "a small recogniser on features that were learnt from originals, trained on minutes of speech"
)


def trained_rates(
    comparisons: Sequence[RecogniserComparison],
) -> dict[str, Spread]:
    """Summarise word error rates in % of recognisers trained for each combination.

    Parameters
    ----------
    comparisons : sequence of RecogniserComparison
        The recognisers of each combination.

    Returns
    -------
    dict of str to Spread
        By case, such as ``A-O``; that of originals alone is the same for all combinations.
    """
    results = [comparison.result() for comparison in comparisons]
    return {
        case: Spread.of([100 * rate.value for r in results if (rate := r.rate(case)) is not None])
        for case in CASES
    }


def _least_linked(privacy: dict[str, Spread]) -> str:
    """The value with the least D_sys on average, and how far the next one is."""
    first, second, *_ = sorted(privacy, key=lambda name: privacy[name].mean)
    return (
        f"least D_sys: {first} ({privacy[first].mean:.3f}; next {second}, "
        f"{privacy[second].mean:.3f})"
    )


def _factor(
    number: int, field: str, recommended: Sequence[str]
) -> Callable[[PaperData], ItemOutput]:
    """The item of one design choice (Figures 5 to 8)."""

    def run(data: PaperData) -> ItemOutput:
        design = DesignStudy(data)
        choices = compared_choices(field, data.quick)
        by_attacker = by_value(design.results(choices, ATTACKER_NAMES), "attacker")
        groups = {name: by_value(results, field) for name, results in by_attacker.items()}
        privacy = {name: _spreads(values, "d_sys") for name, values in groups.items()}
        published = privacy[AS_PUBLISHED]
        agree = min(published, key=lambda name: published[name].mean) in recommended
        return ItemOutput(
            design.study.described,
            tables=[
                paper_table(f"By {field}, {name} attacker", _HEADINGS, _rows(values))
                for name, values in groups.items()
            ],
            drawings={f"figure-{number}": _panels(f"Design choice: {field}", groups[AS_PUBLISHED])},
            compared=[
                Compared(
                    f"recommended {field}",
                    " or ".join(recommended),
                    _least_linked(published),
                    "" if agree else _WHY,
                )
            ],
            remarks=[
                f"The figure is that of the {AS_PUBLISHED} attacker, as in the document. Against "
                f"the {STRONGEST} one: {_least_linked(privacy[STRONGEST])}.",
                *_part_remark(data, len(choices)),
            ],
        )

    return run


def _part_remark(data: PaperData, count: int) -> list[str]:
    if not data.quick:
        return []
    return [
        f"A quick run: {count} of all combinations, on a part of the corpus. The whole grid runs "
        "without --quick, for hours, and can be stopped and continued."
    ]


def _attackers(number: int, proximity: str) -> Callable[[PaperData], ItemOutput]:
    """Figures 9 and 10: all attackers against one proximity."""

    def run(data: PaperData) -> ItemOutput:
        design = DesignStudy(data)
        choices = dense_choices(proximity, data.quick)
        groups = by_value(design.results(choices, ATTACKER_NAMES), "attacker")
        originals = Spread(design.original_linkability(), 0.0, 1)
        privacy = _spreads(groups, "d_sys")
        trained = choices[:QUICK_RECOGNISERS] if data.quick else choices
        recognisers = [recogniser_comparison(data, choice.spec) for choice in trained]
        utility = trained_rates(recognisers)
        limit = "below 0.4" if proximity == "random" else "below 0.2"
        return ItemOutput(
            f"{design.study.described}; utility: {described(recognisers[0])}",
            tables=[
                _summary("D_sys by attacker", "attacker", {"originals": originals, **privacy}, 3),
                _summary(
                    "WER in %: speech and recogniser trained on originals (O) or not (A)",
                    "speech-recogniser",
                    utility,
                    1,
                ),
            ],
            drawings={
                f"figure-{number}": arrange(
                    f"Attackers against proximity {proximity}",
                    "Mean ± standard deviation.",
                    _attacker_panels({"originals": originals, **privacy}, utility),
                    columns=2,
                )
            },
            compared=[
                Compared(
                    "mean D_sys, any attacker",
                    limit,
                    max(spread.mean for spread in privacy.values()),
                    _WHY,
                ),
                _order(privacy),
                *_closing_the_gap(utility),
            ],
            remarks=[
                *_part_remark(data, len(choices)),
                "Recognisers are small and trained on features that stay as they are (Table 1). "
                f"Each combination has its own: {len(recognisers)} of {len(choices)} here.",
            ],
        )

    return run


def _attacker_panels(privacy: dict[str, Spread], utility: dict[str, Spread]) -> list[Figure]:
    top = 1.1 * max(spread.mean + spread.deviation for spread in utility.values())
    return [
        whisker_chart("Privacy", "Lower is better.", "D_sys", privacy, high=1.0),
        whisker_chart("Utility", "Lower is better.", "WER in %", utility, high=top),
    ]


def _summary(caption: str, heading: str, spreads: dict[str, Spread], decimals: int) -> PaperTable:
    rows = [(name, s.count, s.mean, s.deviation) for name, s in spreads.items()]
    headings = (heading, "combinations", "mean", "sd")
    return paper_table(caption, headings, rows, decimals=decimals)


def _order(privacy: dict[str, Spread]) -> Compared:
    """Whether attackers that know more link more."""
    ours = sorted(privacy, key=lambda name: privacy[name].mean)
    return Compared(
        "order of attackers",
        ", ".join(ATTACKER_NAMES),
        ", ".join(ours),
        "" if ours == list(ATTACKER_NAMES) else _WHY,
    )


def _closing_the_gap(utility: dict[str, Spread]) -> list[Compared]:
    """What the document says of recognisers that are trained on anonymised speech."""
    both = f"{utility['A-A'].mean:.1f} and {utility['O-O'].mean:.1f} %"
    highest = max(utility, key=lambda name: utility[name].mean)
    return [
        Compared("A-A and O-O", "very similar", both, _TRAINED),
        Compared("highest WER", "O-A", highest, "" if highest == "O-A" else _TRAINED),
    ]


def _figure_11(data: PaperData) -> ItemOutput:
    design = DesignStudy(data)
    choices = [
        Choice(c.distance, c.proximity, c.gender, c.assignment, pitch)
        for c in dense_choices("dense", data.quick)
        for pitch in PITCHES
    ]
    results = design.results(choices, ATTACKER_NAMES)
    rows = []
    panels = []
    for attacker, group in by_value(results, "attacker").items():
        by_pitch = by_value(group, "pitch")
        spreads = _spreads(by_pitch, "d_sys")
        panels.append(
            whisker_chart(f"Privacy, {attacker}", "Lower is better.", "D_sys", spreads, high=1.0)
        )
        rows += [(attacker, *row) for row in _rows(by_pitch)]
    words = {
        name: Spread(100 * s.mean, 100 * s.deviation, s.count)
        for name, s in _spreads(by_value(results, "pitch"), "wer").items()
    }
    if words:
        top = 1.1 * max(s.mean + s.deviation for s in words.values())
        panels.append(whisker_chart("Utility", "Lower is better.", "WER in %", words, high=top))
    semi = _spreads(by_value(by_value(results, "attacker")[STRONGEST], "pitch"), "d_sys")
    lower = all(semi[name].mean < semi["none"].mean for name in PITCHES[1:])
    return ItemOutput(
        design.study.described,
        tables=[paper_table("By change of pitch", ("attacker", *_HEADINGS), rows)],
        drawings={
            "figure-11": arrange("Change of pitch", "Mean ± standard deviation.", panels, columns=2)
        },
        compared=[
            Compared(
                "both changes of pitch lower D_sys of the semi-informed attacker",
                "yes",
                "yes" if lower else "no",
                "" if lower else _WHY,
            )
        ],
        remarks=_part_remark(data, len(choices)),
    )


ITEMS = (
    PaperItem("004-figure-5", "Design choice: distance", _factor(5, "distance", ["plda"])),
    PaperItem(
        "004-figure-6",
        "Design choice: proximity",
        _factor(6, "proximity", ["random", "dense"]),
    ),
    PaperItem("004-figure-7", "Design choice: gender", _factor(7, "gender", ["random"])),
    PaperItem("004-figure-8", "Design choice: assignment", _factor(8, "assignment", ["speaker"])),
    PaperItem(
        "004-figure-9",
        "Attackers and utility, random proximity",
        _attackers(9, "random"),
        ("transcripts", "training"),
    ),
    PaperItem(
        "004-figure-10",
        "Attackers and utility, dense proximity",
        _attackers(10, "dense"),
        ("transcripts", "training"),
    ),
    PaperItem("004-figure-11", "Change of pitch", _figure_11),
)
