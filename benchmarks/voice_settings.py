"""What settings of ``xvector`` hide, and the words they cost.

    uv run python benchmarks/voice_settings.py TRAIN CORPUS [NAME=VALUE,NAME=VALUE ...]

Each argument after the corpora is a group of settings; without any, the default is measured. The
attacker anonymises TRAIN (seven utterances per speaker) and the enrolment of CORPUS (four) with
draws of its own for each utterance, whitens CAM++ vectors with the former and compares by cosine
with four trials per speaker, which have one pseudo-speaker per speaker. Of each utterance the first
five seconds are used. Words are compared with those recognised in the originals, in a third of the
trials. About two CPU minutes per group for 24 and 40 speakers.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.kept_analyses import keep_analyses
from sottovoce.anonymise.voice.xvector import XVector
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import MoonshineTiny
from sottovoce.core.types import Audio
from sottovoce.corpus import Corpus, Utterance, load_audio, open_corpus
from sottovoce.measure import Scores, linkability, rocch_eer, word_errors
from sottovoce.speaker.encoders import campplus

RATE = 16_000
SECONDS = 5
TRAIN_EACH, ENROL_EACH, TRIAL_EACH = 7, 4, 4
SHRINKAGE = 0.3

Recordings = list[tuple[Utterance, Audio]]
Floats = NDArray[np.floating]


def first_of_each(corpus: Corpus, start: int, count: int) -> Recordings:
    """Load the first seconds of some utterances of each speaker."""
    return [
        (utterance, load_audio(utterance, RATE)[: SECONDS * RATE])
        for _, utterances in sorted(corpus.by_speaker().items())
        for utterance in utterances[start : start + count]
    ]


def anonymised(recordings: Recordings, corpus: Corpus, seed: int, **settings: str) -> Recordings:
    """Anonymise recordings; the voices are learnt from them."""
    chosen = {utterance.id for utterance, _ in recordings}
    method = XVector(Secret.reproducible(seed), **settings)
    method.fit(corpus.select(lambda utterance: utterance.id in chosen))
    return [
        (each, method.transform(audio, RATE, speaker=each.speaker, utterance=each.id))
        for each, audio in recordings
    ]


def vectors(recordings: Recordings) -> Floats:
    """Embed recordings; vectors have length 1."""
    encoder = campplus()
    rows = np.array([encoder.embed(audio, RATE) for _, audio in recordings])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def names(recordings: Recordings) -> NDArray[np.str_]:
    """Return the speaker of each recording."""
    return np.array([utterance.speaker for utterance, _ in recordings])


def whitening(train: Floats, labels: NDArray[np.str_]) -> Floats:
    """Return the matrix that makes the variation within speakers white."""
    means = {label: train[labels == label].mean(0) for label in np.unique(labels)}
    within = train - np.array([means[label] for label in labels])
    covariance = within.T @ within / len(within)
    floor = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    mixed = (1 - SHRINKAGE) * covariance + SHRINKAGE * floor
    return np.asarray(np.linalg.inv(np.linalg.cholesky(mixed)).T)


def normalised(rows: Floats) -> Floats:
    """Scale rows to length 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def words_lost(originals: Recordings, changed: Recordings) -> float:
    """Word error rate against the words recognised in the originals, in a third of them."""
    recogniser = MoonshineTiny()
    pairs = list(zip(originals, changed, strict=True))[::3]
    counts = [
        word_errors(
            normalise(recogniser.transcribe(before, RATE)),
            normalise(recogniser.transcribe(after, RATE)),
        )
        for (_, before), (_, after) in pairs
    ]
    return sum(each.total for each in counts) / sum(each.words for each in counts)


def measure(train: Corpus, corpus: Corpus, settings: dict[str, str]) -> str:
    """Attack one group of settings and return the row of the table."""
    own = {**settings, "assignment": "utterance"}
    material = anonymised(first_of_each(train, 0, TRAIN_EACH), train, 11, **own)
    enrolment = anonymised(first_of_each(corpus, 0, ENROL_EACH), corpus, 12, **own)
    originals = first_of_each(corpus, ENROL_EACH, TRIAL_EACH)
    trials = anonymised(originals, corpus, 13, **settings)
    known, labels = vectors(material), names(material)
    matrix, centre = whitening(known, labels), known.mean(0)
    enrolled, tried = (normalised((vectors(x) - centre) @ matrix) for x in (enrolment, trials))
    speakers = np.unique(names(enrolment))
    models = normalised(np.array([enrolled[names(enrolment) == s].mean(0) for s in speakers]))
    table = tried @ models.T
    mated = names(trials)[:, None] == speakers
    scores = Scores(table[mated], table[~mated])
    first = float(np.mean(speakers[table.argmax(1)] == names(trials)))
    group = ", ".join(f"{name}={value}" for name, value in settings.items()) or "default"
    return (
        f"| {group} | {words_lost(originals, trials):.1%} | {rocch_eer(scores):.1%} "
        f"| {linkability(scores).d_sys:.2f} | {first:.0%} |"
    )


def main() -> None:
    """Print a row for each group of settings."""
    train, corpus = open_corpus(sys.argv[1]), open_corpus(sys.argv[2])
    print("| settings | WER | EER | D_sys | first guess right |\n|---|---|---|---|---|")
    with keep_analyses():
        for group in sys.argv[3:] or [""]:
            settings = dict(pair.split("=", 1) for pair in group.split(",") if pair)
            print(measure(train, corpus, settings), flush=True)


if __name__ == "__main__":
    main()
