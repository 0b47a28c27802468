"""Figures 5 to 11: what each design choice of x-vector anonymisation costs and hides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.papers.comprise_2021.design_choices import (
    ATTACKER_NAMES,
    PITCHES,
    Choice,
    ChoiceResult,
    DesignStudy,
    all_choices,
    by_value,
    dense_choices,
)
from sottovoce.papers.comprise_2021.recognisers import recogniser_comparison
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Compared, ItemOutput, paper_table
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
_WHY = "Other network, pool, encoder and recogniser; the document's WER is that of Kaldi's"


_TRAINED = (
    "a small recogniser on features that were learnt from originals, trained on minutes of speech"
)


def trained_rates(data: PaperData, specs: Sequence[AnonymiserSpec]) -> dict[str, Spread]:
    """Summarise word error rates in % of recognisers trained for each combination.

    Parameters
    ----------
    data : PaperData
        The corpora.
    specs : sequence of AnonymiserSpec
        The combinations.

    Returns
    -------
    dict of str to Spread
        By case, such as ``A-O``; that of originals alone is the same for all combinations.
    """
    results = [recogniser_comparison(data, spec).result() for spec in specs]
    return {
        case: Spread.of([100 * rate.value for r in results if (rate := r.rate(case)) is not None])
        for case in CASES
    }


def _least_linked(groups: dict[str, list[ChoiceResult]]) -> str:
    privacy = _spreads(groups, "d_sys")
    return f"least D_sys: {min(privacy, key=lambda name: privacy[name].mean)}"


def _factor(number: int, field: str, claim: str) -> Callable[[PaperData], ItemOutput]:
    """The item of one design choice (Figures 5 to 8)."""

    def run(data: PaperData) -> ItemOutput:
        design = DesignStudy(data)
        choices = all_choices(data.quick)
        if field != "distance":
            choices = [choice for choice in choices if choice.distance == "plda"]
        by_attacker = by_value(design.results(choices, ATTACKER_NAMES), "attacker")
        groups = {name: by_value(results, field) for name, results in by_attacker.items()}
        return ItemOutput(
            design.study.described,
            tables=[
                paper_table(f"By {field}, {name} attacker", _HEADINGS, _rows(values))
                for name, values in groups.items()
            ],
            drawings={f"figure-{number}": _panels(f"Design choice: {field}", groups[AS_PUBLISHED])},
            compared=[
                Compared(f"recommended {field}", claim, _least_linked(groups[AS_PUBLISHED]), _WHY)
            ],
            remarks=[
                f"The figure is that of the {AS_PUBLISHED} attacker, as in the document. Against "
                f"the {STRONGEST} one: {_least_linked(groups[STRONGEST])}.",
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
        results = design.results(choices, ATTACKER_NAMES)
        groups = by_value(results, "attacker")
        d_sys = design.original_linkability()
        privacy = {"originals": Spread(d_sys, 0.0, 1), **_spreads(groups, "d_sys")}
        panels = [whisker_chart("Privacy", "Lower is better.", "D_sys", privacy, high=1.0)]
        utility = trained_rates(data, [choice.spec for choice in choices])
        top = 1.1 * max(spread.mean + spread.deviation for spread in utility.values())
        panels.append(whisker_chart("Utility", "Lower is better.", "WER in %", utility, high=top))
        rows = [(name, s.count, s.mean, s.deviation) for name, s in privacy.items()]
        words_rows = [(name, s.count, s.mean, s.deviation) for name, s in utility.items()]
        limit = "below 0.4" if proximity == "random" else "below 0.2"
        title = f"Attackers against proximity {proximity}"
        return ItemOutput(
            design.study.described,
            tables=[
                paper_table("D_sys by attacker", ("attacker", "combinations", "mean", "sd"), rows),
                paper_table(
                    "WER in %: speech and recogniser trained on originals (O) or not (A)",
                    ("speech-recogniser", "combinations", "mean", "sd"),
                    words_rows,
                    decimals=1,
                ),
            ],
            drawings={
                f"figure-{number}": arrange(title, "Mean ± standard deviation.", panels, columns=2)
            },
            compared=[
                Compared(
                    "mean D_sys, any attacker",
                    limit,
                    max(s.mean for s in list(privacy.values())[1:]),
                    _WHY,
                ),
                Compared(
                    "order of attackers",
                    "ignorant, lazy-informed, semi-informed",
                    " ≤ ".join(sorted(groups, key=lambda name: privacy[name].mean)),
                ),
                Compared(
                    "A-A and O-O",
                    "very similar",
                    f"{utility['A-A'].mean:.1f} and {utility['O-O'].mean:.1f} %",
                    _TRAINED,
                ),
                Compared(
                    "highest WER",
                    "O-A",
                    max(utility, key=lambda name: utility[name].mean),
                    _TRAINED,
                ),
            ],
            remarks=[
                *_part_remark(data, len(choices)),
                "Recognisers are small and trained on features that stay as they are (Table 1); "
                "means are over the combinations, each with its own recogniser.",
            ],
        )

    return run


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
    semi = {row[1]: row[3] for row in rows if row[0] == STRONGEST}
    lower = all(float(semi[name] or 0) < float(semi["none"] or 0) for name in PITCHES[1:])
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
    PaperItem("004-figure-5", "Design choice: distance", _factor(5, "distance", "plda")),
    PaperItem(
        "004-figure-6",
        "Design choice: proximity",
        _factor(6, "proximity", "random or dense"),
    ),
    PaperItem("004-figure-7", "Design choice: gender", _factor(7, "gender", "random")),
    PaperItem("004-figure-8", "Design choice: assignment", _factor(8, "assignment", "speaker")),
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
