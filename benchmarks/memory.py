"""Memory of ``sottovoce embed`` over a long corpus: does it stay where it is?

    uv run python benchmarks/memory.py [CORPUS [HOURS]]    # default the built-in corpus, 10 h
                                                           # (ten minutes on two cores)

The utterances of CORPUS are listed again and again, each time cut a little later so that none
counts as done, until there are HOURS of them. A run of the command over that list is watched: its
resident memory once a second, told by how much of the corpus was done.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

from sottovoce.corpus import audio_info, open_corpus, write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.speaker.corpus_embedding import BATCH

STEP = 0.003
"""Seconds by which a repetition begins later."""
PARTS = 10


def repeated(corpus: Corpus, hours: float) -> Corpus:
    lengths = [audio_info(one.path).seconds for one in corpus]
    listed: list[Utterance] = []
    total = 0.0
    for turn in count():
        for one, seconds in zip(corpus, lengths, strict=True):
            start = (one.start or 0.0) + STEP * turn
            path = one.path.absolute()
            listed.append(replace(one, id=f"{one.id}-{turn}", path=path, start=start, extra={}))
            total += ((one.end or seconds) - start) / 3600
            if total >= hours:
                return Corpus("long", corpus.root, tuple(listed))
    raise AssertionError


def resident(pid: int) -> float:
    """MiB in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def watch(folder: Path, listed: Corpus) -> list[tuple[float, float]]:
    """Share done and MiB, once a second."""
    write_manifest(listed, folder)
    target = folder / "out.npz"
    command = [sys.executable, "-m", "sottovoce", "embed", str(folder), str(target)]
    seen = []
    with subprocess.Popen(command) as run:
        while run.poll() is None:
            time.sleep(1)
            batches = len(list(folder.glob(".out.npz.*.unfinished/*.npz")))
            if run.poll() is None and batches:
                seen.append((batches * BATCH / len(listed), resident(run.pid)))
    if run.returncode:
        raise SystemExit(run.returncode)
    return seen


def main() -> None:
    corpus = open_corpus(sys.argv[1] if len(sys.argv) > 1 else "builtin")
    hours = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    listed = repeated(corpus, hours)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        seen = watch(Path(folder), listed)
    minutes = (time.perf_counter() - begin) / 60
    print(f"{hours:g} h, {len(listed):,} utterances in {minutes:.1f} min")
    print("| done | highest MiB |\n|---|---|")
    for part in range(PARTS):
        here = [size for share, size in seen if part / PARTS <= share < (part + 1) / PARTS]
        if here:
            print(f"| {part * 100 // PARTS}–{(part + 1) * 100 // PARTS} % | {max(here):.0f} |")


if __name__ == "__main__":
    main()
