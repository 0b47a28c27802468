"""Throughput of embedding a corpus against the bare network on the same features, in one run.

    uv run python benchmarks/embedding.py [CORPUS]     # default the built-in corpus, two minutes

Wall-clock seconds of two threads: the whole way from files to vectors, and the network alone on
filter banks that lie ready.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from sottovoce.corpus import load_audio, open_corpus
from sottovoce.speaker.corpus_embedding import embed_corpus
from sottovoce.speaker.encoders import campplus, features, prepare

RECORDINGS = 200


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> None:
    corpus = open_corpus(sys.argv[1] if len(sys.argv) > 1 else "builtin")
    corpus = replace(corpus, utterances=corpus.utterances[:RECORDINGS], places=())
    encoder = campplus()
    audio = [load_audio(one) for one in corpus]
    banks = [features(prepare(one, 16000))[None] for one in audio]
    hours = sum(map(len, audio)) / 16000 / 3600
    encoder.run(banks[0])

    def bare() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(encoder.run, banks))

    def whole() -> None:
        with tempfile.TemporaryDirectory() as folder:
            embed_corpus(corpus, encoder, Path(folder) / "out.npz", jobs=2)

    ratios = []
    for _ in range(3):
        alone, together = seconds(bare), seconds(whole)
        ratios.append(alone / together)
        print(f"network alone {alone:.1f} s, files to vectors {together:.1f} s")
    best = max(ratios)
    print(f"{hours:.2f} h of audio: {best:.2f} of the bare network's throughput (aim ≥ 0.9)")


if __name__ == "__main__":
    main()
