"""Memory of ``sottovoce embed`` over a long corpus, to see whether it grows.

    uv run python benchmarks/memory.py [CORPUS [HOURS]]    # default: the built-in corpus, 10 h
                                                           # (ten minutes on two cores)

The utterances of CORPUS are listed repeatedly, each time starting a little later so that none
counts as done, until they last HOURS. The resident memory of a run of the command over that list is
read once a second and shown by the share of the corpus that was done.
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
"""Seconds by which each repetition starts later."""
PARTS = 10
"""Rows of the table."""


def repeated(corpus: Corpus, hours: float) -> Corpus:
    lengths = [audio_info(utterance.path).seconds for utterance in corpus]
    repetitions: list[Utterance] = []
    total = 0.0
    for turn in count():
        for utterance, seconds in zip(corpus, lengths, strict=True):
            start = (utterance.start or 0.0) + STEP * turn
            path = utterance.path.absolute()
            name = f"{utterance.id}-{turn}"
            repetitions.append(replace(utterance, id=name, path=path, start=start, extra={}))
            total += ((utterance.end or seconds) - start) / 3600
            if total >= hours:
                return Corpus("long", corpus.root, tuple(repetitions))
    raise AssertionError


def resident_mib(pid: int) -> float:
    """Resident memory of a process in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def watch(folder: Path, corpus: Corpus) -> list[tuple[float, float]]:
    """Run the command; return the share done and the MiB, once a second."""
    write_manifest(corpus, folder)
    target = folder / "out.npz"
    command = [sys.executable, "-m", "sottovoce", "embed", str(folder), str(target)]
    samples = []
    with subprocess.Popen(command) as run:
        while run.poll() is None:
            time.sleep(1)
            batches = len(list(folder.glob(".out.npz.*.unfinished/*.npz")))
            if run.poll() is None and batches:
                samples.append((batches * BATCH / len(corpus), resident_mib(run.pid)))
    if run.returncode:
        raise SystemExit(run.returncode)
    return samples


def main() -> None:
    corpus = open_corpus(sys.argv[1] if len(sys.argv) > 1 else "builtin")
    hours = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    long_corpus = repeated(corpus, hours)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        samples = watch(Path(folder), long_corpus)
    minutes = (time.perf_counter() - begin) / 60
    print(f"{hours:g} h, {len(long_corpus):,} utterances in {minutes:.1f} min")
    print("| done | highest MiB |\n|---|---|")
    for part in range(PARTS):
        sizes = [mib for share, mib in samples if part / PARTS <= share < (part + 1) / PARTS]
        if sizes:
            print(f"| {part * 100 // PARTS}–{(part + 1) * 100 // PARTS} % | {max(sizes):.0f} |")


if __name__ == "__main__":
    main()
