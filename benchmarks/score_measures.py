"""Speed of the score measures as ratios of CPU time, each against its peer in the same run.

    uv run python benchmarks/score_measures.py            # everything, about five minutes
    uv run python benchmarks/score_measures.py resamples  # one part

CPU seconds of one process, the least of a few repeats. Linear algebra is held to one thread.
Needs about 3 GB of memory and, for the streamed part, 2 GB in the temporary directory.
"""

from __future__ import annotations

import os

for _pool in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from peers import naive, naive_everything
from timing import HEAD, cpu, cpu_of_command, peak_mib, row

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
        "all threshold measures, 4,696 + 10,000,000 float32",
        ours,
        "stable argsort + isotonic_regression",
        peer,
        f"{peer / ours:.0f}× faster",
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
            f"{what}, 4,696 + 115,563,864 float32",
            seconds,
            "in-place np.sort of the array",
            peer,
            f"{seconds / peer:.2f}×",
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
        "all measures with raw Cllr and D_sys, no intervals, 4,696 + 10,000,000 float32",
        ours,
        "stable argsort + isotonic_regression",
        peer,
        f"{peer / ours:.0f}× faster",
        "≥ 25×",
    )


def balanced() -> None:
    mated, nonmated = draw(5_000_000, 5_000_000)
    both = np.concatenate((mated, nonmated))
    ours, peer = cpu(lambda: min_cllr(Scores(mated, nonmated)), 2), cpu(lambda: np.sort(both), 3)
    row(
        "Cllr_min, 5,000,000 + 5,000,000 float32",
        ours,
        "np.sort of both",
        peer,
        f"{ours / peer:.1f}×",
        "≤ 6×",
    )
    for n_mated, n_nonmated in ((500_000, 500_000), (10_000, 990_000)):
        for unit in ("trial", "speaker"):
            work = f"intervals-{unit}-{n_mated}-{n_nonmated}"
            seconds, peak = child(work, Path(), repeats=1)
            row(
                f"all measures, 1,000 resamples by {unit}, {n_mated:,} + {n_nonmated:,}, "
                f"peak RSS {peak:.0f} MiB (aim < 500)",
                seconds,
                "np.sort of 10⁷",
                peer,
                f"{seconds / peer:.0f}×",
                "≤ 12 s",
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


def start_up() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "scores.npz"
        mated, nonmated = draw(100, 2000)
        np.savez(path, mated=mated, nonmated=nonmated)
        peer = cpu_of_command([sys.executable, "-c", "import numpy"])
        for words in (["--help"], ["measure", str(path), "--no-interval"], ["measure", str(path)]):
            ours = cpu_of_command([sys.executable, "-m", "sottovoce", *words])
            what = " ".join("scores.npz" if word == str(path) else word for word in words)
            row(
                f"`sottovoce {what}`, 100 + 2,000 scores",
                ours,
                "python -c 'import numpy'",
                peer,
                f"{ours / peer:.1f}×",
                "≤ 3×",
            )


def lists() -> None:
    """Kaldi score and trials files of 10⁷ lines, read and joined by their ids."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        child("make-lists", folder, repeats=1)
        peer, peer_peak = child("join-lists", folder, repeats=1)
        ours, peak = child("read-lists", folder, repeats=1)
        row(
            f"10⁷ lines of Kaldi scores and trials, peak RSS {peak:.0f} MiB (peer {peer_peak:.0f})",
            ours,
            "polars read_csv of both and join",
            peer,
            f"{ours / peer:.2f}×",
            "≤ 1.5×",
        )


def make_lists(folder: Path, lines: int = 10_000_000) -> None:
    import polars as pl

    rng = np.random.default_rng(0)
    table = pl.DataFrame({"row": np.arange(lines)}).select(
        pl.format("id{}", pl.col("row") % 2000).alias("enrol"),
        pl.format("utt-{}-x", pl.col("row") // 2000).alias("trial"),
        pl.Series("score", rng.normal(size=lines).round(5)),
        pl.Series("label", rng.random(lines) < 0.5).replace_strict(
            {True: "target", False: "nontarget"}, return_dtype=pl.String
        ),
    )
    table.select("enrol", "trial", "score").write_csv(
        folder / "scores", separator=" ", include_header=False
    )
    shuffled = table.select("enrol", "trial", "label").sample(fraction=1, shuffle=True, seed=1)
    shuffled.write_csv(folder / "trials", separator=" ", include_header=False)


def join_lists(folder: Path) -> None:
    import polars as pl

    scores, trials = (
        pl.read_csv(
            folder / name,
            separator=" ",
            has_header=False,
            new_columns=["enrol", "trial", value],
            infer_schema=False,
            quote_char=None,
        )
        for name, value in (("scores", "score"), ("trials", "label"))
    )
    scores.join(trials, on=["enrol", "trial"], how="inner")


def read_lists(folder: Path) -> None:
    from sottovoce.measure.readers import read_scores

    read_scores(folder / "scores", trials=folder / "trials")


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
            (measure_scores, "all ten measures", ten),
        ):
            ours = cpu(partial(work, scores), 2)
            row(
                f"1,000 resamples of {speakers:,} speakers, 10⁴ + 10⁶ trials, {what} ({way})",
                ours,
                "one naive evaluation of the same",
                peer,
                f"{ours / peer:.1f}×",
                "≤ 3×" if way == "numba" else "–",
            )


def draw_speakers(count: int) -> Speakers:
    rng = np.random.default_rng(1)
    enrol = rng.integers(0, count, 1_000_000)
    trial = (enrol + rng.integers(1, count, 1_000_000)) % count
    return Speakers(rng.integers(0, count, 10_000), enrol, trial, count)


def three_measures(scores: Scores) -> None:
    measure_scores(scores, only=("min_cllr", "rocch_eer", "d_ece"))


def streamed() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        child("make-shards", folder, repeats=1)
        for kind, limit_memory in (("parquet", 300), ("npy", 100)):
            peer, _ = child(f"read-{kind}", folder / kind)
            for part, what in (("measure", "threshold measures"), ("all", "and D_sys")):
                ours, peak = child(f"{part}-{kind}", folder / kind)
                row(
                    f"2·10⁸ scores from {kind}, {what}, peak RSS {peak:.0f} MiB "
                    f"(aim < {limit_memory})",
                    ours,
                    "bare read of the same columns",
                    peer,
                    f"{ours / peer:.2f}×",
                    "≤ 2.2×" if (kind, part) == ("parquet", "measure") else "–",
                )


def child(work: str, folder: Path, repeats: int = 3) -> tuple[float, float]:
    """CPU seconds and peak memory of a part in a process of its own (the least and the most)."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, __file__, work, str(folder)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, peak = map(float, out.split())
        runs.append((seconds, peak))
    return min(seconds for seconds, _ in runs), max(peak for _, peak in runs)


def report_child(work: Callable[[], Any]) -> None:
    seconds = cpu(work, 1)
    print(seconds, peak_mib())


def make_shards(folder: Path) -> None:
    import polars as pl

    (folder / "parquet").mkdir()
    (folder / "npy").mkdir()
    mated, _ = draw(4_696, 1)
    table = pl.DataFrame({"score": mated}).with_columns(label=pl.lit("mated"))
    table.write_parquet(folder / "parquet" / "mated.parquet")
    np.save(folder / "npy" / "mated.npy", mated)
    flat = np.lib.format.open_memmap(
        folder / "npy" / "nonmated.npy", "w+", np.float32, (200_000_000,)
    )
    for i in range(20):
        _, part = draw(1, 10_000_000, seed=i)
        table = pl.DataFrame({"score": part}).with_columns(label=pl.lit("nonmated"))
        table.write_parquet(folder / "parquet" / f"part-{i:02}.parquet")
        flat[i * 10_000_000 : (i + 1) * 10_000_000] = part


def read_parquet(folder: Path) -> None:
    import polars as pl

    for _ in pl.scan_parquet(folder / "*.parquet").collect_batches(maintain_order=False):
        pass


def read_npy(folder: Path) -> None:
    from sottovoce.measure.readers.numpy_files import npy_chunks

    for _ in npy_chunks(folder / "nonmated.npy"):
        pass


def read_folder(folder: Path) -> ScoreSource:
    from sottovoce.measure.readers import read_scores

    return read_scores(folder)


CHILDREN: dict[str, Callable[[Path], Any]] = {
    "make-shards": make_shards,
    "read-parquet": read_parquet,
    "read-npy": read_npy,
    "measure-parquet": lambda folder: threshold_measures(read_folder(folder)),
    "measure-npy": lambda folder: threshold_measures(read_folder(folder)),
    "all-parquet": lambda folder: measure_no_cllr(read_folder(folder)),
    "all-npy": lambda folder: measure_no_cllr(read_folder(folder)),
    "make-lists": make_lists,
    "join-lists": join_lists,
    "read-lists": read_lists,
}


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1].startswith("intervals-"):
        report_child(lambda: measure_with_intervals(sys.argv[1]))
        return
    if len(sys.argv) == 3 and sys.argv[1] in CHILDREN:
        folder = Path(sys.argv[2])
        report_child(lambda: CHILDREN[sys.argv[1]](folder))
        return
    parts = {
        "naive": against_naive,
        "everything": everything,
        "sort": against_sort,
        "balanced": balanced,
        "ladder": ladder_error,
        "resamples": resamples,
        "streamed": streamed,
        "startup": start_up,
        "lists": lists,
    }
    print(HEAD)
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
