"""How often paired differences raise a false alarm, hold the true difference, and find one.

    uv run python benchmarks/paired_coverage.py                 # all rows: half a CPU hour
    uv run python benchmarks/paired_coverage.py --row equal-20  # some rows
    uv run python benchmarks/paired_coverage.py --sets 100      # fewer sets per row
    uv run python benchmarks/paired_coverage.py --table         # what is done so far
    uv run python benchmarks/paired_coverage.py --write docs/comparing.md

Simulated systems score the same trials of the same speakers. Half of the variance of speakers and
trials is common to all systems, half is their own. The true difference is that of sets so large
that their own error is negligible. Sets are drawn in blocks of 100; what is done is kept in
``--folder`` and not computed again. A row of 500 sets takes two CPU minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from documents import write_block

from sottovoce.core.records import dump_json
from sottovoce.core.types import FloatArray
from sottovoce.measure import (
    Scores,
    Speakers,
    acceleration,
    compare_scores,
    measure_scores,
    pair_sets,
)

MEASURES = (
    "eer",
    "rocch_eer",
    "cllr",
    "min_cllr",
    "d_ece",
    "d_sys",
    "d_sys_corrected",
    "tpr_at_fpr_0.01",
    "tpr_at_fpr_0.001",
    "min_dcf_0.05",
    "min_dcf_0.01",
    "dcf_0.05",
    "dcf_0.01",
)
REPLICATES = 20
"""Resamples, of which only the shares below and above 0 are made; intervals come from as many
subsamples as by default."""
ALLOWED = (0.03, 0.07)
"""Shares of false alarms that are 5 % within 2 points; others are marked."""
SHARED = 0.5
BLOCK = 100
"""Sets that are drawn from one seed."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    title: str
    distances: tuple[float, ...]
    """Of mated from non-mated scores, one per system."""
    speakers: int
    utterances: int = 8
    per_pair: int = 8
    """Non-mated trials per pair of speakers; 8 if every utterance meets every other speaker."""
    known: bool = True
    """Whether the speakers are known; otherwise the trials are independent and paired by id."""


ROWS = {
    "three-20": Row("three equal systems, 20 speakers, d′ = 1", (1.0, 1.0, 1.0), 20),
    "equal-20-apart": Row("equal, 20 speakers, EER 4 %", (3.4, 3.4), 20),
    "equal-20": Row("equal, 20 speakers, d′ = 1", (1.0, 1.0), 20),
    "equal-10": Row("equal, 10 speakers, d′ = 1", (1.0, 1.0), 10),
    "equal-10-apart": Row("equal, 10 speakers, EER 4 %", (3.4, 3.4), 10),
    "equal-6": Row("equal, 6 speakers, d′ = 1", (1.0, 1.0), 6),
    "equal-60": Row("equal, 60 speakers, d′ = 1.5", (1.5, 1.5), 60, per_pair=2),
    "equal-60-apart": Row("equal, 60 speakers, EER 4 %", (3.4, 3.4), 60, per_pair=2),
    "equal-20-nothing": Row("equal, 20 speakers, d′ = 0", (0.0, 0.0), 20),
    "equal-20-sparse": Row("equal, 20 speakers, 1 trial per pair", (1.0, 1.0), 20, per_pair=1),
    "equal-trials": Row("equal, 200 + 1000 independent trials, d′ = 1", (1.0, 1.0), 0, known=False),
    "three-20-apart": Row("three equal systems, 20 speakers, EER 4 %", (3.4, 3.4, 3.4), 20),
    "differ-20": Row("d′ = 1 and 1.5, 20 speakers", (1.0, 1.5), 20),
    "differ-10": Row("d′ = 1 and 1.5, 10 speakers", (1.0, 1.5), 10),
    "differ-20-low": Row("d′ = 0 and 1, 20 speakers", (0.0, 1.0), 20),
    "differ-20-apart": Row("d′ = 2.2 and 3.4, 20 speakers", (2.2, 3.4), 20),
    "differ-60": Row("d′ = 1 and 1.5, 60 speakers", (1.0, 1.5), 60, per_pair=2),
}


def mixed(common: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Noise of one system, of which a share is common to all."""
    noise = rng.normal(0, 1, common.shape)
    return np.asarray(np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * noise)


def systems(row: Row, rng: np.random.Generator) -> list[Scores]:
    """Score sets of the systems of a row."""
    return _by_speaker(row, rng) if row.known else _by_trial(row, rng)


def _by_trial(
    row: Row, rng: np.random.Generator, mated: int = 200, nonmated: int = 1000
) -> list[Scores]:
    common = rng.normal(0, 1, mated), rng.normal(0, 1, nonmated)
    return [
        Scores(distance + mixed(common[0], rng), mixed(common[1], rng), name=str(number))
        for number, distance in enumerate(row.distances)
    ]


def _by_speaker(row: Row, rng: np.random.Generator) -> list[Scores]:
    n = row.speakers
    who = np.repeat(np.arange(n), row.utterances)
    pairs = np.repeat(np.argwhere(~np.eye(n, dtype=bool)), row.per_pair, axis=0)
    enrol, trial = pairs.T
    pair_of = np.repeat(np.arange(n * (n - 1)), row.per_pair)
    numbers = Speakers(who, enrol, trial, n, np.array([f"{k:04d}" for k in range(n)]))
    common = [rng.normal(0, 1, size) for size in (n, len(who), n * (n - 1), len(enrol))]
    sets = []
    for number, distance in enumerate(row.distances):
        ease, within, pair, noise = (mixed(part, rng) for part in common)
        mated = distance + 0.5 * ease[who] + 0.87 * within
        nonmated = 0.35 * (ease[enrol] + ease[trial]) + 0.3 * pair[pair_of] + 0.8 * noise
        sets.append(Scores(mated, nonmated, speakers=numbers, name=str(number)))
    return sets


def true_differences(row: Row) -> dict[str, float]:
    """Differences of the first two systems; 0 for equal ones."""
    if len(set(row.distances)) == 1:
        return dict.fromkeys(MEASURES, 0.0)
    large = Row("", row.distances, 600, 100, per_pair=2)
    values = [
        measure_scores(scores, interval=None, only=MEASURES).measures
        for scores in systems(large, np.random.default_rng(0))
    ]
    return {
        name: (values[0][name].value or 0.0) - (values[1][name].value or 0.0) for name in MEASURES
    }


Counts = dict[str, list[int]]
"""By measure: sets whose intervals all held the truth, of which one excluded zero, and all sets."""


def run(row: Row, block: int) -> Counts:
    """Count a block of sets."""
    truth = true_differences(row)
    counts = {name: [0, 0, 0] for name in MEASURES}
    rng = np.random.default_rng([1, block])
    for number in range(BLOCK):
        paired = pair_sets(systems(row, rng), same_trials=True)
        seed = block * BLOCK + number
        comparison = compare_scores(paired, only=MEASURES, replicates=REPLICATES, seed=seed)
        for name, differences in comparison.differences.items():
            ends = [
                (d.low, d.high) for d in differences if d.low is not None and d.high is not None
            ]
            if len(ends) == len(differences):
                counts[name][0] += all(low <= truth[name] <= high for low, high in ends)
                counts[name][1] += any(low > 0 or high < 0 for low, high in ends)
                counts[name][2] += 1
    return counts


def compute(name: str, arguments: argparse.Namespace) -> None:
    """Add to one row the blocks that it lacks."""
    path = arguments.folder / f"{name}.json"
    blocks = json.loads(path.read_text()) if path.exists() else []
    arguments.folder.mkdir(parents=True, exist_ok=True)
    while len(blocks) * BLOCK < arguments.sets:
        start = time.process_time()
        blocks.append(run(ROWS[name], len(blocks)))
        path.write_text(dump_json(blocks))
        print(f"{name}: block {len(blocks)}, {time.process_time() - start:.0f} CPU s", flush=True)


def table(folder: Path) -> str:
    """Coverage and, in brackets, how often a difference was claimed."""
    lines = ["| systems | sets | " + " | ".join(MEASURES) + " |"]
    lines.append("|---|---|" + "---|" * len(MEASURES))
    for name, row in ROWS.items():
        path = folder / f"{name}.json"
        if path.exists():
            blocks: list[Counts] = json.loads(path.read_text())
            cells = [
                cell(row, np.sum([block[measure] for block in blocks], axis=0).tolist())
                for measure in MEASURES
            ]
            lines.append(f"| {row.title} | {BLOCK * len(blocks)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def cell(row: Row, counts: list[int]) -> str:
    """One cell; bold where equal systems raise more or fewer false alarms than they should."""
    held, claimed, sets = counts
    if not sets:
        return "–"
    text = f"{100 * held / sets:.1f} ({100 * claimed / sets:.1f})"
    equal = len(set(row.distances)) == 1
    return text if not equal or ALLOWED[0] <= claimed / sets <= ALLOWED[1] else f"**{text}**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", action="append", choices=ROWS, help="default all")
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--folder", type=Path, default=Path("paired-coverage"))
    parser.add_argument("--table", action="store_true", help="print the table of what is done")
    parser.add_argument("--write", type=Path, help="put the table into this document")
    arguments = parser.parse_args()
    if arguments.write:
        write_block(arguments.write, "false alarms", table(arguments.folder))
        return
    if arguments.table:
        print(table(arguments.folder), end="")
        return
    acceleration.WORTH_COMPILING = 0  # the same numbers, sooner
    for name in arguments.row or ROWS:
        compute(name, arguments)


if __name__ == "__main__":
    main()
