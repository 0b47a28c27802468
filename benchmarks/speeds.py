"""All ratios of speed in one run, and README's table of them.

    uv run --extra fast python benchmarks/speeds.py --write README.md   # about eight minutes

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
    lines += [f"| {what} | {peer} | {ratio} |" for what, _, peer, _, ratio, _ in measured]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", help="only this part; may be repeated")
    parser.add_argument("--write", type=Path, help="put the table into this document")
    arguments = parser.parse_args()
    wanted = arguments.part or [name for names in PARTS.values() for name in names]
    chosen = {
        script: tuple(name for name in names if name in wanted) for script, names in PARTS.items()
    }
    print(HEAD)
    measured = list(rows(chosen))
    if arguments.write:
        write_block(arguments.write, "speeds", readme_table(measured))


if __name__ == "__main__":
    main()
