"""Peak memory of ``sottovoce anonymise text`` by the size of the file.

    OMP_NUM_THREADS=1 uv run python benchmarks/text_memory.py [MEGABYTES ...]    # default: 100 300

Files of made-up calls, each with a name, are anonymised by the command in a process of its own; the
peak of its resident memory is what the operating system counted for it. About 28 CPU seconds a
megabyte.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from text import calls

CALLS = 20_000
"""Different calls; a larger file repeats them with other numbers."""


def write_file(path: Path, megabytes: float) -> None:
    texts = calls(CALLS)
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < megabytes * 1e6:
            file.writelines(f"{text} {number + i}\n" for i, text in enumerate(texts[:1000]))
            texts = [*texts[1000:], *texts[:1000]]
            number += 1000


def measure(path: Path) -> tuple[float, float]:
    """Return the peak in MiB and the CPU seconds of a run."""
    target = path.with_suffix(".out")
    command = [sys.executable, "-m", "sottovoce", "anonymise", "text", str(path), str(target)]
    run = subprocess.Popen([*command, "--json", f"{target}.json"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(run.returncode)
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def main() -> None:
    sizes = [float(size) for size in sys.argv[1:]] or [100.0, 300.0]
    print("| file, MB | peak, MiB | CPU s |\n|---|---|---|")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calls.txt"
            write_file(path, size)
            peak, seconds = measure(path)
        print(f"| {size:g} | {peak:,.0f} | {seconds:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
