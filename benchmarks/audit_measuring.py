"""CPU time of attacking and measuring in the built-in study, in this tree and in another one.

    uv run python benchmarks/audit_measuring.py /path/to/other/tree

Each tree runs the built-in study once, so that speech and embeddings are there. Then everything
that attacking and measuring left is deleted and the study runs again: what that costs is printed.
Linear algebra runs in one thread: threads that wait for each other cost CPU time that depends on
what else the machine does, up to ten times the work itself.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parents[1]
MEASURED = ("attacks", "work/measures", "measures.json", "measures.parquet", "report.html")
"""What attacking and measuring write, in both trees; utility and similarity stay."""


def run_study(tree: Path, folder: Path) -> float:
    """Run the built-in study with the package of a tree, and return its CPU time.

    Parameters
    ----------
    tree : Path
        A checkout with its environment in ``.venv``.
    folder : Path
        Of the audit.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    command = ["uv", "run", "-q", "sottovoce", "audit", "--out", str(folder)]
    subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measuring_time(tree: Path, folder: Path) -> float:
    """Return the CPU seconds of attacking and measuring alone.

    Parameters
    ----------
    tree : Path
        A checkout.
    folder : Path
        Of the audit; made if it is not there.
    """
    run_study(tree, folder)
    unchanged = run_study(tree, folder)  # start-up, provenance and report
    for name in MEASURED:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return run_study(tree, folder) - unchanged


def main() -> None:
    """Compare the tree that is named with this one."""
    other = Path(sys.argv[1]).resolve()
    with TemporaryDirectory() as scratch:
        before = measuring_time(other, Path(scratch) / "before")
        after = measuring_time(HERE, Path(scratch) / "after")
    print(f"attacking and measuring, CPU s: {before:.1f} before, {after:.1f} after")
    print(f"ratio: {after / before:.2f}")


if __name__ == "__main__":
    main()
