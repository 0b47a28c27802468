"""All ratios of speed in one run: the table of docs/speed.md and a part of it for the README.

    uv run --extra fast python benchmarks/speeds.py --write    # about three minutes

Runs the parts of ``score_measures.py``, ``score_files.py`` and ``reidentification.py``, one after
the other, and puts what they print into one table. CPU seconds on one thread; both sides of a ratio
are measured by the same part. Needs a machine that does little else, 4 GB of memory and 2 GB in the
temporary directory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from documents import write_block
from timing import HEAD

HERE = Path(__file__).parent
PARTS = {
    "score_measures.py": (
        "naive",
        "sort",
        "everything",
        "balanced",
        "resamples",
        "integers",
    ),
    "score_files.py": ("startup", "lists", "streamed"),
    "reidentification.py": ("linkability", "population", "singling-out"),
}

IN_README = (
    "all threshold measures of 4,696 + 10,000,000",
    "all measures of 4,696",
    "Cllr_min",
    "all measures of 500,000 + 500,000 scores, 1,000 resamples by speaker",
    "1,000 resamples of 3,000 speakers, 10⁴ + 10⁶ trials, all measures",
    "`sottovoce measure scores.npz --no-interval`",
    "Kaldi",
    "2·10⁸ scores streamed from parquet, threshold measures, ",
    "Linkability",
    "Singling Out, 495 predicates × 10 folds × 15 sizes, 100 draws (numba)",
)
"""How the rows begin that the README has too."""


def rows(parts: dict[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """What the parts print, as cells: what, ours, peer, its time, ratio, aim."""
    threads = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS")
    environment = {**os.environ, **dict.fromkeys(threads, "1")}
    for script, names in parts.items():
        for name in names:
            command = [sys.executable, str(HERE / script), name]
            out = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, env=environment
            ).stdout
            for line in out.splitlines()[2:]:
                if line.startswith("| "):
                    print(line, flush=True)
                    yield [cell.strip() for cell in line.strip("|").split("|")]


def readme_table(measured: list[list[str]]) -> str:
    lines = ["| what | against | ratio |", "|---|---|---|"]
    chosen = [cells for cells in measured if cells[0].startswith(IN_README)]
    lines += [f"| {what} | {peer} | {ratio} |" for what, _, peer, _, ratio, _ in chosen]
    return "\n".join(lines)


def whole_table(measured: list[list[str]]) -> str:
    return "\n".join([HEAD, *(f"| {' | '.join(cells)} |" for cells in measured)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", help="only this part; may be repeated")
    parser.add_argument("--write", action="store_true", help="put the tables into the documents")
    arguments = parser.parse_args()
    wanted = arguments.part or [name for names in PARTS.values() for name in names]
    chosen = {
        script: tuple(name for name in names if name in wanted) for script, names in PARTS.items()
    }
    print(HEAD)
    measured = list(rows(chosen))
    if arguments.write:
        write_block(HERE.parent / "README.md", "speeds", readme_table(measured))
        write_block(HERE.parent / "docs/speed.md", "speeds", whole_table(measured))


if __name__ == "__main__":
    main()
