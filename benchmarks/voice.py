"""Speed of the voice anonymisers against real time and against bare WORLD, and their memory.

    uv run python benchmarks/voice.py [CORPUS]     # default the built-in corpus, five minutes

CPU seconds of one thread on the same recordings in one run. Bare WORLD is analysis and synthesis
without any change. Memory is the resident set after each thousand transforms.
"""

from __future__ import annotations

import resource
import sys

import numpy as np
from timing import cpu

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import VoiceAnonymiser, make_method
from sottovoce.corpus import load_audio, open_corpus
from sottovoce.signal.world import analyse, synthesise

RECORDINGS = 12
AIMS = {
    "mcadams": "≥ 40 × real time",
    "voicemask": "≥ 0.8 of WORLD",
    "vtln": "≥ 0.8 of WORLD",
    "xvector": "≥ 3 × real time",
    "dar": "–",
}


def main() -> None:
    """Print the table of speeds, then the memory."""
    corpus = open_corpus(sys.argv[1] if len(sys.argv) > 1 else "builtin")
    ids = {utterance.id for utterance in corpus.utterances[:RECORDINGS]}
    chosen = corpus.select(lambda utterance: utterance.id in ids)
    audio = [(utterance, load_audio(utterance)) for utterance in chosen]
    seconds = sum(len(samples) for _, samples in audio) / 16000
    doubles = [samples.astype(np.float64) for _, samples in audio]
    bare = cpu(lambda: [synthesise(analyse(samples)) for samples in doubles])
    print("| method | × real time | of bare WORLD's speed | aim |\n|---|---|---|---|")
    print(f"| bare WORLD | {seconds / bare:.1f} | 1.00 | – |", flush=True)
    for name, aim in AIMS.items():
        method = make_method(name, Secret.reproducible(0)).fit(chosen)

        def work(method: VoiceAnonymiser = method) -> None:
            for utterance, samples in audio:
                method.transform(samples, 16000, speaker=utterance.speaker, utterance=utterance.id)

        spent = cpu(work)
        print(f"| {name} | {seconds / spent:.1f} | {bare / spent:.2f} | {aim} |", flush=True)
    memory()


def memory(rounds: int = 10, count: int = 1000) -> None:
    """Print the largest resident set after each round of transforms."""
    method = make_method("mcadams", Secret.reproducible(0))
    samples = np.random.default_rng(0).normal(0, 0.1, 16000).astype(np.float32)
    for done in range(1, rounds + 1):
        for i in range(count):
            method.transform(samples, 16000, speaker="ann", utterance=f"{done}-{i}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"after {done * count:,} utterances of 1 s: at most {peak:.0f} MiB resident")


if __name__ == "__main__":
    main()
