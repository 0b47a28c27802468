"""Speed of reading scores and of starting up, as ratios of CPU time against peers in the same run.

    uv run python benchmarks/score_files.py            # everything, about three minutes
    uv run python benchmarks/score_files.py startup    # one part

Needs about 4 GB of memory and, for the streamed part, 2 GB in the temporary directory.
"""

from __future__ import annotations

import os

for _pool in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_pool, "1")

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from score_measures import draw, measure_no_cllr, threshold_measures
from timing import HEAD, child, cpu_of_command, report_child, row

from sottovoce.measure.scores import ScoreSource


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
                "`python -c 'import numpy'`",
                peer,
                f"{ours / peer:.1f} × its time",
                "≤ 3×" if "--no-interval" in words else "–",
            )


def lists() -> None:
    """Kaldi score and trials files of 10⁷ lines, read and joined by their ids."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        child(__file__, "make-lists", folder, repeats=1)
        peer, peer_peak = child(__file__, "join-lists", folder, repeats=1)
        ours, peak = child(__file__, "read-lists", folder, repeats=1)
        row(
            f"Kaldi scores and trials of 10⁷ lines, read and joined by id, {peak:.0f} MiB",
            ours,
            f"the bare read and join by Polars, {peer_peak:.0f} MiB",
            peer,
            f"{ours / peer:.2f} × its time",
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


def streamed() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        child(__file__, "make-shards", folder, repeats=1)
        for kind in ("parquet", "npy"):
            peer, _ = child(__file__, f"read-{kind}", folder / kind)
            for part, what in (
                ("measure", "threshold measures"),
                ("all", "threshold measures and D_sys"),
            ):
                ours, peak = child(__file__, f"{part}-{kind}", folder / kind)
                row(
                    f"2·10⁸ scores streamed from {kind}, {what}, {peak:.0f} MiB",
                    ours,
                    "the bare read",
                    peer,
                    f"{ours / peer:.2f} × its time",
                    "≤ 2.2×" if (kind, part) == ("parquet", "measure") else "–",
                )


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
    if len(sys.argv) == 3 and sys.argv[1] in CHILDREN:
        folder = Path(sys.argv[2])
        report_child(lambda: CHILDREN[sys.argv[1]](folder))
        return
    parts = {"startup": start_up, "lists": lists, "streamed": streamed}
    print(HEAD)
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
