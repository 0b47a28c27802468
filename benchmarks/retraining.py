"""EER of CAM++ as it is and retrained, on speakers that neither was trained on.

The table in docs/encoders.md, made from development speech only:

    python benchmarks/retraining.py --train libri_train28 --attack libri_dev40 --out /tmp/retraining

Settings of linkage functions are those that do best on the attacked speakers, for both encoders.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice import make_method
from sottovoce.anonymise.voice.corpus import anonymise_corpus
from sottovoce.attack.score import score_all
from sottovoce.corpus import Corpus, load_audio, open_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.measure import eer
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import OnnxEncoder, campplus
from sottovoce.speaker.linkage import LINKAGES, make_linkage
from sottovoce.training.encoder_retraining import RetrainingSettings, retrain_encoder

LINKAGE_NAMES = ("cosine", "whitening", "projection", "plda")
SECONDS = 4.0
"""Length of the recordings that linkage functions are trained on."""


def recordings(corpus: Corpus, first: int, end: int) -> Corpus:
    """Select some recordings of each speaker, by their position."""
    kept = {u.id for group in corpus.by_speaker().values() for u in group[first:end]}
    return corpus.select(lambda utterance: utterance.id in kept)


def anonymised(corpus: Corpus, method: str, target: Path, seed: int) -> Corpus:
    """Anonymise with draws of their own."""
    secret = Secret.reproducible(seed)
    anonymise_corpus(corpus, make_method(method, secret), target, secret=secret, jobs=1)
    return read_manifest(target)


def embed(encoder: OnnxEncoder, corpora: list[Corpus], seconds: float | None = None) -> Embeddings:
    """Embed the recordings, or their beginnings."""
    length = None if seconds is None else int(seconds * RATE)
    spoken = [utterance for corpus in corpora for utterance in corpus]
    vectors = [encoder.embed(load_audio(u, RATE)[:length], RATE) for u in spoken]
    return Embeddings.of(np.stack(vectors), [utterance.speaker for utterance in spoken])


def rates(
    encoder: OnnxEncoder, enrol: Corpus, trial: Corpus, train: list[Corpus]
) -> dict[str, float]:
    """EER by linkage function."""
    enrolled, tried = embed(encoder, [enrol]), embed(encoder, [trial])
    trained = embed(encoder, [recordings(corpus, 0, 6) for corpus in train], SECONDS)
    return {
        name: min(
            eer(
                score_all(
                    enrolled, tried, make_linkage(name, trained, like=trained, **settings)
                ).scores()
            )
            for settings in LINKAGES[name].candidate_settings
        )
        for name in LINKAGE_NAMES
    }


def main() -> None:
    """Anonymise, retrain, and print a row per encoder."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--train", "--attack", "--out"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--method", default="mcadams")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    speech, attacked = recordings(open_corpus(options.train), 0, 10), open_corpus(options.attack)
    parts = {
        "train1": (speech, 101),
        "train2": (speech, 102),
        "enrol": (recordings(attacked, 0, 2), 201),
        "trial": (recordings(attacked, 2, 5), 202),
    }
    made = {
        name: anonymised(corpus, options.method, options.out / name, seed)
        for name, (corpus, seed) in parts.items()
    }
    train = [made["train1"], made["train2"]]
    target = options.out / "retrained.onnx"
    settings = RetrainingSettings(steps=options.steps, batch=options.batch, test_every=15)
    card = retrain_encoder(train, settings, target)
    print("held-out EER by step:", {point.step: point.eer for point in card.learning_curve})
    for name, encoder in (("as it is", campplus()), ("retrained", OnnxEncoder(target))):
        print(name, rates(encoder, made["enrol"], made["trial"], train))


if __name__ == "__main__":
    main()
