"""How often 95 % intervals hold the true value, on simulated sets whose true values are known.

    uv run python benchmarks/interval_coverage.py                    # all rows, resumable
    uv run python benchmarks/interval_coverage.py --row "20 speakers, EER 4 %" --sets 100
    uv run python benchmarks/interval_coverage.py --list
    uv run python benchmarks/interval_coverage.py --table            # what is done so far
    uv run python benchmarks/interval_coverage.py --write docs/intervals.md

A row that is finished is written to ``--folder`` and not computed again. For each measure the table
has the share of sets whose interval held the true value and, in brackets, the misses in which more
is disclosed than the interval says and those in which less is.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from documents import write_block
from scipy.special import ndtri
from simulated_speakers import (
    EXPOSED,
    Mixture,
    embeddings,
    independent_trials,
    named,
    places_of_speakers,
    trials_of_speakers,
)

from sottovoce.core.records import dump_json
from sottovoce.findings import LeftOutTrials
from sottovoce.measure import Scores, acceleration, measure_scores
from sottovoce.measure.catalogue import MEASURES
from sottovoce.measure.conditions import ConditionSettings, measure_by_condition
from sottovoce.measure.intervals import Interval, share_interval
from sottovoce.measure.reidentification import reidentify
from sottovoce.measure.reidentification_intervals import rank_interval
from sottovoce.measure.reidentification_settings import ReidentificationSettings

EVIDENCE_MEASURES = ("eer", "rocch_eer", "cllr", "min_cllr", "d_ece", "d_sys", "d_sys_corrected")
POINT_MEASURES = (
    "tpr_at_fpr_0.01",
    "tpr_at_fpr_0.001",
    "tpr_at_fpr_0.0001",
    "min_dcf_0.05",
    "min_dcf_0.01",
    "dcf_0.05",
    "dcf_0.01",
    "fmr_at_1",
    "fnmr_at_1",
)
"""Measures at one operating point."""
SCORE_MEASURES = (*EVIDENCE_MEASURES, *POINT_MEASURES)
DEV_PAV = "dev_pav"
RANKS = ("rank", "normalised_rank")
"""Curves of which a lower value discloses more."""
CURVES = (
    "linkability",
    "top_k",
    "singling_out",
    "rank_disclosure",
    "worst_rank_disclosure",
    "one_minus_rocch_eer",
    *RANKS,
)
TABLES = {
    "speakers": (EVIDENCE_MEASURES, POINT_MEASURES),
    "trials": (EVIDENCE_MEASURES, POINT_MEASURES),
    "withheld": (EVIDENCE_MEASURES, POINT_MEASURES),
    "conditions": (EVIDENCE_MEASURES, POINT_MEASURES),
    "calibration error": ((DEV_PAV,),),
    "re-identification": (CURVES,),
    "unlike speakers": (("mean rank", "share"),),
}
"""Columns of the tables of each group of rows."""
HELD = 0.92
"""Rows in which a measure is held less often are marked."""
Ranges = Mapping[str, tuple[float, float]]
"""The ends of the interval of each measure that has one."""


@dataclass(frozen=True)
class Row:
    """One kind of simulated set."""

    name: str
    group: str
    names: tuple[str, ...]
    """What has intervals."""
    draw: Callable[[Sequence[str], np.random.Generator, int], Ranges]
    """From names, a generator and the number of resamples to the intervals of one set."""
    truth: Callable[[], dict[str, float]]
    lower_discloses: Callable[[str], bool]


# ------------------------------------------------------------------------------------- scores


def score_row(name: str, group: str, draw: Callable[..., Scores], mixture: Mixture) -> Row:
    return Row(
        name,
        group,
        SCORE_MEASURES,
        partial(score_ranges, draw),
        partial(mixture.true_values, SCORE_MEASURES),
        lambda n: MEASURES[n].lower_discloses,
    )


def score_ranges(
    draw: Callable[..., Scores], names: Sequence[str], rng: np.random.Generator, replicates: int
) -> Ranges:
    """Intervals of some measures of one simulated set."""
    estimates = measure_scores(draw(rng), only=names, replicates=replicates).measures
    return {
        name: (estimate.low, estimate.high)
        for name, estimate in estimates.items()
        if estimate.low is not None and estimate.high is not None
    }


def pooled_row(speakers: Sequence[int], evidence: Sequence[str]) -> Row:
    """Means over conditions of different speakers, weighted by their numbers."""
    mixtures = [Mixture(EVIDENCE[text]) for text in evidence]
    draws = [trials_of_speakers(count, mix) for count, mix in zip(speakers, mixtures, strict=True)]

    def ranges(names: Sequence[str], rng: np.random.Generator, replicates: int) -> Ranges:
        conditions = {
            text: named(draw(rng), text) for text, draw in zip(evidence, draws, strict=True)
        }
        settings = ConditionSettings("condition", only=tuple(names), replicates=replicates)
        pooled = measure_by_condition("", conditions, LeftOutTrials(0, 0), settings).pooled
        return {
            name: (mean.low, mean.high)
            for name, mean in pooled.items()
            if mean.low is not None and mean.high is not None
        }

    def truth() -> dict[str, float]:
        values = [mixture.true_values(SCORE_MEASURES) for mixture in mixtures]
        return {
            name: float(np.average([value[name] for value in values], weights=speakers))
            for name in values[0]
        }

    parts = [f"{count} speakers, {text}" for count, text in zip(speakers, evidence, strict=True)]
    lower = MEASURES.__getitem__
    return Row(
        " and ".join(parts),
        "conditions",
        SCORE_MEASURES,
        ranges,
        truth,
        lambda n: lower(n).lower_discloses,
    )


def dev_pav_row(name: str, draw: Callable[..., Scores]) -> Row:
    """DevPAV grows with the range of the scores, so its true value is the mean of such sets."""

    def truth() -> dict[str, float]:
        rng = np.random.default_rng(1)
        values = [
            measure_scores(draw(rng), interval=None, only=[DEV_PAV]).measures[DEV_PAV].value
            for _ in range(400)
        ]
        return {DEV_PAV: float(np.mean([value for value in values if value is not None]))}

    return Row(
        f"devPAV, {name}",
        "calibration error",
        (DEV_PAV,),
        partial(score_ranges, draw),
        truth,
        lambda n: MEASURES[n].lower_discloses,
    )


# --------------------------------------------------------------------------- re-identification


def reidentification_row(speakers: int, evidence: float) -> Row:
    settings = ReidentificationSettings(lengths=(1,), populations=(speakers,), k=3, conversations=5)

    def ranges(_: Sequence[str], rng: np.random.Generator, __: int) -> Ranges:
        result = reidentify(*embeddings(rng, speakers, 10, evidence), settings=settings)
        return {
            name: (point.low, point.high)
            for name in CURVES
            for point in result.curve(name)
            if point.low is not None and point.high is not None
        }

    def truth() -> dict[str, float]:
        enrol, trial = embeddings(np.random.default_rng(1), 4000, 10, evidence)
        result = reidentify(enrol, trial, settings=settings)
        return {name: point.value for name in CURVES for point in result.curve(name)}

    name = f"{speakers} speakers, voices of strength {evidence:g}"
    return Row(name, "re-identification", CURVES, ranges, truth, RANKS.__contains__)


# ------------------------------------------------------------------- means over unlike speakers

POPULATION = 101
SHARE, MEAN_RANK = "share", "mean rank"


def rank_row(speakers: int, *, hidden: bool) -> Row:
    usual = 1 / 31 if hidden else 1 / 2
    exposed = 1 / 2 if hidden else 0.0
    true_rank = 1 + (POPULATION - 1) * (EXPOSED * exposed + (1 - EXPOSED) * usual)
    truth, interval = {MEAN_RANK: true_rank}, rank_interval(POPULATION)

    def ranges(_: Sequence[str], rng: np.random.Generator, __: int) -> Ranges:
        places = places_of_speakers(rng, speakers, hidden=hidden)
        return {MEAN_RANK: ends_of(interval(1 + (POPULATION - 1) * places, 0.95))}

    kind = "anywhere, the others near the top" if hidden else "first, the others anywhere"
    name = f"{speakers} speakers, one in ten ranks {kind}"
    return Row(name, "unlike speakers", (MEAN_RANK,), ranges, lambda: truth, lambda _: True)


def share_row(speakers: int) -> Row:
    """Shares such as Linkability: one speaker in ten is nearly always found, the others rarely."""

    def ranges(_: Sequence[str], rng: np.random.Generator, __: int) -> Ranges:
        found = np.where(rng.random(speakers) < EXPOSED, 0.9, 0.05)
        return {SHARE: ends_of(share_interval(rng.binomial(5, found) / 5, 0.95))}

    name = f"{speakers} speakers, one in ten found nearly always"
    truth = {SHARE: EXPOSED * 0.9 + (1 - EXPOSED) * 0.05}
    return Row(name, "unlike speakers", (SHARE,), ranges, lambda: truth, lambda _: False)


def ends_of(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


# --------------------------------------------------------------------------------------- rows

EVIDENCE = {
    "d′ = 0": 0.0,
    "d′ = 0.5": 0.5,
    "d′ = 1": 1.0,
    "d′ = 2": 2.0,
    "EER 5 %": float(-2 * ndtri(0.05)),
    "EER 4 %": float(-2 * ndtri(0.04)),
    "EER 1 %": float(-2 * ndtri(0.01)),
}


def rows() -> Iterator[Row]:
    """All rows of the table, those of the worst coverage in the past first."""
    exposed = Mixture(0.0, 4.0, 0.1)
    for speakers in (20, 6, 60, 5, 10):
        for text, distance in EVIDENCE.items():
            mixture, name = Mixture(distance), f"{speakers} speakers, {text}"
            if (text == "d′ = 0.5" and speakers < 20) or text == "EER 5 %":
                continue
            yield score_row(name, "speakers", trials_of_speakers(speakers, mixture), mixture)
    for speakers in (20, 60):
        draw = trials_of_speakers(speakers, exposed)
        yield score_row(f"{speakers} speakers, one in ten exposed", "speakers", draw, exposed)
    for mated, nonmated in ((100, 2000), (500, 5000)):
        for text, distance in EVIDENCE.items():
            mixture, name = Mixture(distance), f"{mated} + {nonmated} trials, {text}"
            if text != "EER 5 %" or mated == 100:
                draw = independent_trials(mated, nonmated, mixture)
                yield score_row(name, "trials", draw, mixture)
    apart = Mixture(4.0)
    yield score_row("25 + 500 trials, d′ = 4", "trials", independent_trials(25, 500, apart), apart)
    for speakers, text in ((6, "d′ = 1"), (20, "d′ = 0"), (20, "d′ = 1"), (20, "EER 4 %")):
        mixture, name = Mixture(EVIDENCE[text]), f"{speakers} speakers withheld, {text}"
        draw = trials_of_speakers(speakers, mixture, mated_trials=100, withheld=True)
        yield score_row(name, "withheld", draw, mixture)
    yield pooled_row((10, 20), ("d′ = 1", "d′ = 2"))
    yield pooled_row((20, 20), ("d′ = 0.5", "EER 4 %"))
    distance = EVIDENCE["d′ = 1"]
    for speakers in (6, 20, 60):
        draw = trials_of_speakers(speakers, Mixture(distance))
        yield dev_pav_row(f"{speakers} speakers, d′ = 1", draw)
    yield dev_pav_row("100 + 2000 trials, d′ = 1", independent_trials(100, 2000, Mixture(distance)))
    for speakers, evidence in ((20, 0.0), (20, 0.4), (20, 1.0), (60, 0.4)):
        yield reidentification_row(speakers, evidence)
    for speakers in (5, 10, 20, 60):
        yield rank_row(speakers, hidden=True)
        yield rank_row(speakers, hidden=False)
        yield share_row(speakers)


# ---------------------------------------------------------------------------------- computing


Shares = dict[str, list[float]]
"""By measure: share held, share of misses where more is disclosed, share where less is."""


def coverage(row: Row, names: Sequence[str], sets: int, replicates: int) -> Shares:
    """How often the intervals of some measures held the truth; empty where there are none."""
    truth = row.truth()
    rng = np.random.default_rng([7, *row.name.encode()])
    counts = {name: np.zeros(4) for name in names}
    for _ in range(sets):
        for name, (low, high) in row.draw(names, rng, replicates).items():
            below, above = truth[name] < low - 1e-9, truth[name] > high + 1e-9
            more, less = (below, above) if row.lower_discloses(name) else (above, below)
            counts[name] += [not (below or above), more, less, 1]
    return {name: (c[:3] / c[3]).tolist() if c[3] else [] for name, c in counts.items()}


def compute(row: Row, arguments: argparse.Namespace) -> None:
    """Compute what a row lacks: all of it, or measures that were added since."""
    path = arguments.folder / f"{row.name.replace('/', '-')}.json"
    known: Shares = {}
    if path.exists():
        content = json.loads(path.read_text())
        known = content["shares"] if content["sets"] == arguments.sets else {}
    names = [name for name in row.names if name not in known]
    if not names:
        return
    start = time.process_time()
    shares = known | coverage(row, names, arguments.sets, arguments.replicates)
    seconds = time.process_time() - start
    arguments.folder.mkdir(parents=True, exist_ok=True)
    content = {"row": row.name, "group": row.group, "sets": arguments.sets, "shares": shares}
    path.write_text(dump_json(content))
    text = ", ".join(f"{name} {cell(shares[name])}" for name in names)
    print(f"{row.name}: {seconds:.0f} CPU s: {text}", flush=True)


def cell(share: list[float]) -> str:
    if not share:
        return "–"
    held, more, less = (round(100 * value, 1) for value in share)
    return f"{held:g} ({more:g}, {less:g})"


def tables(folder: Path) -> str:
    """The tables of each group, in the order of the rows, of what is done."""
    order = [row.name for row in rows()]
    done = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    done.sort(key=lambda content: order.index(content["row"]))
    lines = []
    for group, columns in TABLES.items():
        for names in columns:
            lines += ["", f"| {group} | sets | " + " | ".join(names) + " |"]
            lines.append("|---|---|" + "---|" * len(names))
            lines += [
                table_row(content["row"], content["sets"], content["shares"], names)
                for content in done
                if content["group"] == group
            ]
    return "\n".join(lines[1:]) + "\n"


def table_row(
    title: str, sets: int, shares: Mapping[str, list[float]], names: Sequence[str]
) -> str:
    """One line of a table; bold where a measure is held less often than in 92 % of the sets."""
    known = [shares.get(name, []) for name in names]
    cells = map(cell, known)
    marked = any(share[0] < HELD for share in known if share)
    return f"| {f'**{title}**' if marked else title} | {sets} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", action="append", help="only this row; may be repeated")
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path("interval-coverage"))
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--table", action="store_true", help="print the tables of what is done")
    parser.add_argument("--write", type=Path, help="put the tables into this document")
    arguments = parser.parse_args()
    if arguments.write:
        write_block(arguments.write, "coverage", tables(arguments.folder))
        return
    if arguments.table:
        print(tables(arguments.folder), end="")
        return
    acceleration.WORTH_COMPILING = 0  # the same numbers, sooner
    for row in rows():
        if arguments.list:
            print(row.name)
        elif not arguments.row or row.name in arguments.row:
            compute(row, arguments)


if __name__ == "__main__":
    main()
