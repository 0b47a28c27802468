"""Throughput of embedding a corpus, relative to the network alone on ready features, in one run.

    uv run python benchmarks/embedding.py [CORPUS]     # default: the built-in corpus, two minutes

Measured in wall-clock seconds of two threads, for the way from files to vectors and for the network
alone on filter banks that were computed before.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from sottovoce.corpus import load_audio, open_corpus
from sottovoce.speaker.corpus_embedding import embed_corpus
from sottovoce.speaker.encoders import campplus, features, prepare

RECORDINGS = 200


def seconds(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> None:
    corpus = open_corpus(sys.argv[1] if len(sys.argv) > 1 else "builtin")
    corpus = replace(corpus, utterances=corpus.utterances[:RECORDINGS], places=())
    encoder = campplus()
    recordings = [load_audio(utterance) for utterance in corpus]
    banks = [features(prepare(audio, 16000))[None] for audio in recordings]
    hours = sum(map(len, recordings)) / 16000 / 3600
    encoder.run(banks[0])

    def network_alone() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(encoder.run, banks))

    def files_to_vectors() -> None:
        with tempfile.TemporaryDirectory() as folder:
            embed_corpus(corpus, encoder, Path(folder) / "out.npz", jobs=2)

    ratios = []
    for _ in range(3):
        alone, complete = seconds(network_alone), seconds(files_to_vectors)
        ratios.append(alone / complete)
        print(f"network alone {alone:.1f} s, files to vectors {complete:.1f} s")
    print(f"{hours:.2f} h of audio: {max(ratios):.2f} of the throughput of the network (aim ≥ 0.9)")


if __name__ == "__main__":
    main()
