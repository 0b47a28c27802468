"""Peak memory of ``sottovoce anonymise text`` by the size of the file.

    OMP_NUM_THREADS=1 uv run python benchmarks/text_memory.py [--repeat] [MEGABYTES ...]

Files of made-up calls, each with a name, are anonymised by the command in a process of its own; the
peak of its resident memory is what the operating system counted for it. About 20 CPU seconds a
megabyte. With ``--repeat``, the same 2,000 calls are repeated without numbers and private words are
redacted, which takes 7 CPU seconds a megabyte: most sentences are known to the taggers, so this
shows what grows with the length of a file, not with its vocabulary. Default: 100 megabytes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from text import calls

CALLS = 20_000
"""Different calls; a larger file repeats them with other numbers."""
REPEATED = 2_000
"""Different calls of ``--repeat``."""


def write_repeated(path: Path, megabytes: float) -> None:
    lines = [f"{text}\n" for text in calls(REPEATED)]
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1e6:
            file.writelines(lines)


def write_file(path: Path, megabytes: float) -> None:
    texts = calls(CALLS)
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < megabytes * 1e6:
            file.writelines(f"{text} {number + i}\n" for i, text in enumerate(texts[:1000]))
            texts = [*texts[1000:], *texts[:1000]]
            number += 1000


def measure(path: Path, options: list[str]) -> tuple[float, float]:
    """Return the peak in MiB and the CPU seconds of a run."""
    target = path.with_suffix(".out")
    command = [sys.executable, "-m", "sottovoce", "anonymise", "text", str(path), str(target)]
    run = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(run.returncode)
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("megabytes", type=float, nargs="*", default=[100.0])
    parser.add_argument("--repeat", action="store_true")
    chosen = parser.parse_args()
    print("| file, MB | peak, MiB | CPU s |\n|---|---|---|")
    for size in chosen.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calls.txt"
            (write_repeated if chosen.repeat else write_file)(path, size)
            json = ["--json", str(path.with_suffix(".json"))]
            peak, seconds = measure(path, ["--strategy", "redact"] if chosen.repeat else json)
        print(f"| {size:g} | {peak:,.0f} | {seconds:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
