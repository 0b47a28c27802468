"""The built-in corpus: how long it takes, and how well a speaker encoder tells its voices apart.

    uv run python benchmarks/builtin_corpus.py                 # CPU time, half a minute
    uv run python benchmarks/builtin_corpus.py ENCODER.onnx    # and EER, three minutes

The encoder takes 80 Kaldi log-mel bands, their mean over time subtracted, and gives an embedding;
it needs onnxruntime and kaldi-native-fbank. Models are means of five enrolment utterances, trials
are single utterances of the other session.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
import wave
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.core.types import Vectors
from sottovoce.corpus.demo import SEED, builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.measure import Scores, eer

SEEDS = (SEED, 2, 3)


def samples(path: Path) -> Vectors:
    with wave.open(str(path)) as file:
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return np.asarray(data / 32768, np.float32)


def bands(signal: Vectors) -> Vectors:
    kaldi: Any = importlib.import_module("kaldi_native_fbank")
    options = kaldi.FbankOptions()
    options.frame_opts.dither = 0
    options.mel_opts.num_bins = 80
    bank = kaldi.OnlineFbank(options)
    bank.accept_waveform(16_000, signal.tolist())
    bank.input_finished()
    frames = np.stack([bank.get_frame(i) for i in range(bank.num_frames_ready)])
    return np.asarray(frames - frames.mean(axis=0), np.float32)


def embeddings(folder: Path, encoder: str) -> Vectors:
    session: Any = importlib.import_module("onnxruntime").InferenceSession(encoder)
    name = session.get_inputs()[0].name
    inputs = (bands(samples(utterance.path))[None] for utterance in read_manifest(folder))
    return np.stack([session.run(None, {name: frames})[0][0] for frames in inputs])


def unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def errors(folder: Path, vectors: Vectors) -> str:
    """EER over all pairs and over pairs of one gender, and the mated scores, in one row."""
    corpus = read_manifest(folder)
    speakers = np.array([utterance.speaker for utterance in corpus])
    gender = np.array([utterance.gender for utterance in corpus])
    trial = np.array([utterance.split == "trial" for utterance in corpus])
    enrolment = [np.flatnonzero((speakers == name) & ~trial)[:5] for name in corpus.speakers]
    models = np.stack([unit(vectors)[rows].mean(axis=0) for rows in enrolment])
    scores = unit(models) @ unit(vectors)[trial].T
    mated = np.array(corpus.speakers)[:, None] == speakers[trial]
    alike = gender[[rows[0] for rows in enrolment]][:, None] == gender[trial]
    everyone = eer(Scores(scores[mated], scores[~mated]))
    same_gender = eer(Scores(scores[mated], scores[~mated & alike]))
    mean, spread = scores[mated].mean(), scores[mated].std()
    return f"{everyone:.2%} | {same_gender:.2%} | {mean:.2f} ± {spread:.2f}"


def main() -> None:
    print(
        "| seed | CPU | embeddings | EER | same gender | mated cosine |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as cache:
        for seed in SEEDS if len(sys.argv) > 1 else SEEDS[:1]:
            begin = time.process_time()
            folder = builtin_corpus(Path(cache), seed=seed)
            spent = time.process_time() - begin
            if len(sys.argv) == 1:
                print(f"| {seed} | {spent:.1f} s | | | | |")
                continue
            vectors = embeddings(folder, sys.argv[1])
            print(f"| {seed} | {spent:.1f} s | as they are | {errors(folder, vectors)} |")
            centred = vectors - vectors.mean(axis=0)
            print(f"| {seed} | | centred | {errors(folder, centred)} |", flush=True)


if __name__ == "__main__":
    main()
