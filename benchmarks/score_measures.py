"""Speed of the score measures as ratios of CPU time, each against its peer in the same run.

    uv run python benchmarks/score_measures.py            # everything, about three minutes
    uv run python benchmarks/score_measures.py resamples  # one part

CPU seconds of one process, the least of a few repeats. Linear algebra is held to one thread.
Needs about 3 GB of memory.
"""

from __future__ import annotations

import os

for _pool in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from peers import naive, naive_everything
from timing import HEAD, child, cpu, report_child, row

from sottovoce.measure import Scores, Speakers, Tally, acceleration, ece_profile, eer, tpr_at_fpr
from sottovoce.measure.calibration import oracle_blocks
from sottovoce.measure.catalogue import MEASURES, Evidence
from sottovoce.measure.disclosure import d_ece_of, worst_case_of
from sottovoce.measure.ladder import round_down
from sottovoce.measure.resampling import SpeakerTallies, draw_weights
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.summary import measure_scores
from sottovoce.measure.verification import min_cllr, min_cllr_of, rocch_eer_of


def threshold_measures(scores: ScoreSource) -> dict[str, Any]:
    """Every measure that a threshold or oracle calibration gives."""
    tally = Tally.of(scores)
    blocks = oracle_blocks(tally)
    return {
        "eer": eer(tally),
        "rocch_eer": rocch_eer_of(blocks),
        "min_cllr": min_cllr_of(blocks),
        "d_ece": d_ece_of(blocks),
        "worst": worst_case_of(blocks),
        "ece": ece_profile(tally).ece,
        **{f"tpr_at_fpr_{rate}": tpr_at_fpr(tally, rate) for rate in (0.01, 0.001, 0.0001)},
    }


def draw(n_mated: int, n_nonmated: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    mated = rng.standard_normal(n_mated, dtype=np.float32) + np.float32(2)
    return mated, rng.standard_normal(n_nonmated, dtype=np.float32)


def against_naive() -> None:
    mated, nonmated = draw(4_696, 10_000_000)
    ours = cpu(lambda: threshold_measures(Scores(mated, nonmated)), 5)
    peer = cpu(lambda: naive(mated, nonmated), 2)
    got, expected = threshold_measures(Scores(mated, nonmated)), naive(mated, nonmated)
    for name in ("min_cllr", "d_ece", "rocch_eer"):
        np.testing.assert_allclose(got[name], expected[name], rtol=1e-9)
    row(
        "all threshold measures of 4,696 + 10,000,000 scores",
        ours,
        "stable argsort + isotonic regression",
        peer,
        f"{peer / ours:.0f} × faster",
        "≥ 40×",
    )


def against_sort() -> None:
    mated, nonmated = draw(4_696, 115_563_864)
    ours = cpu(lambda: threshold_measures(Scores(mated, nonmated)), 2)
    with_link = cpu(lambda: measure_no_cllr(Scores(mated, nonmated)), 2)
    begin = time.process_time()
    nonmated.sort()
    peer = time.process_time() - begin
    for what, seconds in (("all threshold measures", ours), ("the same and D_sys", with_link)):
        row(
            f"{what} of 4,696 + 115,563,864 scores",
            seconds,
            "`np.sort` of the array, in place",
            peer,
            f"{seconds / peer:.2f} × its time",
            "≤ 1.6×",
        )


def measure_no_cllr(scores: ScoreSource) -> Any:
    """The whole summary but raw Cllr, which needs a logarithm a score."""
    return measure_scores(scores, interval=None, only=_ALL_BUT_CLLR)


_ALL_BUT_CLLR = (
    "eer",
    "rocch_eer",
    "min_cllr",
    "d_ece",
    "worst_case_log10_lr",
    "d_sys",
    "tpr_at_fpr_0.01",
    "tpr_at_fpr_0.001",
    "tpr_at_fpr_0.0001",
)


def everything() -> None:
    mated, nonmated = draw(4_696, 10_000_000)
    ours = cpu(lambda: measure_scores(Scores(mated, nonmated), interval=None), 3)
    peer = cpu(lambda: naive(mated, nonmated), 2)
    row(
        "all measures of 4,696 + 10,000,000 scores, with raw Cllr and D_sys, no intervals",
        ours,
        "stable argsort + isotonic regression",
        peer,
        f"{peer / ours:.0f} × faster",
        "≥ 25×",
    )


def balanced() -> None:
    mated, nonmated = draw(5_000_000, 5_000_000)
    both = np.concatenate((mated, nonmated))
    ours, peer = cpu(lambda: min_cllr(Scores(mated, nonmated)), 2), cpu(lambda: np.sort(both), 3)
    row(
        "Cllr_min of 5,000,000 + 5,000,000 scores",
        ours,
        "`np.sort` of them",
        peer,
        f"{ours / peer:.1f} × its time",
        "≤ 6×",
    )
    for n_mated, n_nonmated in ((500_000, 500_000), (10_000, 990_000)):
        for unit in ("trial", "speaker"):
            work = f"intervals-{unit}-{n_mated}-{n_nonmated}"
            seconds, peak = child(__file__, work, Path(), repeats=1)
            row(
                f"all measures of {n_mated:,} + {n_nonmated:,} scores, 1,000 resamples by {unit}: "
                f"{seconds:.1f} s, {peak:.0f} MiB",
                seconds,
                "`np.sort` of 10⁷ scores",
                peer,
                f"{seconds / peer:.0f} × its time",
                "≤ 12 s, 500 MB",
            )


def measure_with_intervals(work: str) -> None:
    _, unit, n_mated, n_nonmated = work.split("-")
    mated, nonmated = draw(int(n_mated), int(n_nonmated))
    count, rng = 1251, np.random.default_rng(1)
    enrol = rng.integers(0, count, len(nonmated))
    trial = (enrol + rng.integers(1, count, len(nonmated))) % count
    who = Speakers(rng.integers(0, count, len(mated)), enrol, trial, count)
    measure_scores(Scores(mated, nonmated, speakers=who if unit == "speaker" else None))


def ladder_error() -> None:
    """How far resamples of rounded scores deviate from those of all scores, with equal weights."""
    names = ("eer", "rocch_eer", "min_cllr", "d_ece", "d_sys", "tpr_at_fpr_0.01")
    measures = [MEASURES[name] for name in names]
    print("\n| trials | speakers | cuts | steps | " + " | ".join(names) + " |")
    print("|---|---|---|---|" + "---|" * len(names))
    for size, count in ((20_000, 200), (100_000, 1_000), (300_000, 5_000)):
        mated, nonmated = draw(size, size)
        rng = np.random.default_rng(1)
        enrol = rng.integers(0, count, size)
        trial = (enrol + rng.integers(1, count, size)) % count
        who = Speakers(rng.integers(0, count, size), enrol, trial, count)
        scores = Scores(mated, nonmated, speakers=who)
        exact = Tally.of(scores, bins=100)
        rounded = round_down(exact)
        weights = draw_weights(count, rng, 40)
        deviations = []
        for tally in (exact, rounded):
            value = [measure.compute(Evidence(tally)) for measure in measures]
            drawn = SpeakerTallies(scores, who, tally)(weights)
            draws = [[m.compute(Evidence(t)) for m in measures] for t in drawn if t is not None]
            deviations.append(np.array(draws) - value)
        spread = deviations[0].std(axis=0)
        shift = (deviations[1] - deviations[0]).mean(axis=0) / spread
        ratio = deviations[1].std(axis=0) / spread
        cells = " | ".join(f"{a:+.3f}, {b:.3f}" for a, b in zip(shift, ratio, strict=True))
        print(
            f"| {size:,} + {size:,} | {count:,} | {len(exact.cuts):,} | {len(rounded.cuts):,} "
            f"| {cells} |",
            flush=True,
        )
    print("(shift of the mean in standard deviations, ratio of standard deviations)\n")


def integers() -> None:
    """Speakers of 10⁶ trials, given as whole numbers."""
    rng = np.random.default_rng(1)
    mated, enrol, trial = (rng.integers(0, 1251, size) for size in (10_000, 990_000, 990_000))
    trial = np.where(trial == enrol, (enrol + 1) % 1251, trial)

    def distinct() -> None:
        for side in (mated, enrol, trial):
            np.unique(side, return_inverse=True)

    ours, peer = cpu(lambda: Speakers.from_names(mated, enrol, trial)), cpu(distinct)
    row(
        "speakers of 10⁶ trials, given as whole numbers",
        ours,
        "`np.unique` of each side",
        peer,
        f"{ours / peer:.2f} × its time",
        "≤ 1×",
    )


def resamples() -> None:
    """With numba installed the compiled loops are used, else scipy's sparse products."""
    way = "numba" if acceleration.loops_for(acceleration.ALWAYS) else "numpy and scipy"
    mated, nonmated = draw(10_000, 1_000_000)
    three = cpu(lambda: naive(mated, nonmated), 3)
    ten = cpu(lambda: naive_everything(mated, nonmated), 3)
    for speakers in (100, 1000, 3000):
        scores = Scores(mated, nonmated, speakers=draw_speakers(speakers))
        for work, what, peer in (
            (three_measures, "Cllr_min, ROCCH-EER, D_ECE", three),
            (measure_scores, "all measures", ten),
        ):
            ours = cpu(partial(work, scores), 2)
            row(
                f"1,000 resamples of {speakers:,} speakers, 10⁴ + 10⁶ trials, {what} ({way})",
                ours,
                "one plain evaluation of the same",
                peer,
                f"{ours / peer:.1f} × its time",
                "≤ 3×" if way == "numba" else "–",
            )


def draw_speakers(count: int) -> Speakers:
    rng = np.random.default_rng(1)
    enrol = rng.integers(0, count, 1_000_000)
    trial = (enrol + rng.integers(1, count, 1_000_000)) % count
    return Speakers(rng.integers(0, count, 10_000), enrol, trial, count)


def three_measures(scores: Scores) -> None:
    measure_scores(scores, only=("min_cllr", "rocch_eer", "d_ece"))


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1].startswith("intervals-"):
        report_child(lambda: measure_with_intervals(sys.argv[1]))
        return
    parts = {
        "naive": against_naive,
        "everything": everything,
        "sort": against_sort,
        "balanced": balanced,
        "ladder": ladder_error,
        "resamples": resamples,
        "integers": integers,
    }
    print(HEAD)
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
