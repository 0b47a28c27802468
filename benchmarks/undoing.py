"""Undoing an anonymiser: the EER before and after an attacker inverts what it recognises.

    uv run python benchmarks/undoing.py mcadams --train ../shared/data/speech/libri_train28 \
        --attacked ../shared/data/speech/libri_dev40

The operator draws once for each speaker. The attacker learns to recognise draws from training
speech that it anonymised twice itself, with a draw for each speaker and one for each utterance, and
undoes what it recognises. Enrolled are originals, or recordings that the attacker anonymised with
draws of its own. Scores are cosines of CAM++, seen from the mean of the training originals or of
the anonymised (and undone) training recordings. Recordings are cut to a few seconds: half a minute
of one core for ``mcadams``, some minutes for methods that use WORLD.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.anonymise.voice import make_method
from sottovoce.anonymise.voice.method import InvertibleAnonymiser
from sottovoce.attack.draw_estimation import DrawEstimator, fit_estimator, long_term_spectrum
from sottovoce.attack.evidence_links import top_1
from sottovoce.attack.score import score_all
from sottovoce.attack.speech import attackers_secret, operators_secret
from sottovoce.attack.undoing import UndoneEncoder
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.measure import eer, linkability
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import Encoder, campplus
from sottovoce.speaker.linkage_functions import Cosine

RATE = 16_000
TRAIN_SECONDS, ENROL_SECONDS, TRIAL_SECONDS = 6, 6, 4
DRAWS = {
    "mcadams": ("coefficient", "speaker", "utterance"),
    "voicemask": ("draw", "speaker", "utterance"),
    "vtln": ("selection", "perm", "rand"),
}
"""The setting of each method for whom it draws, its word for speakers and for utterances."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The beginning of a recording."""

    speaker: str
    utterance: str
    audio: Audio


def read(utterances: Iterable[Utterance], seconds: int) -> list[Recording]:
    return [
        Recording(each.speaker, each.id, load_audio(each, RATE)[: seconds * RATE])
        for each in utterances
    ]


def changed(recordings: Sequence[Recording], method: InvertibleAnonymiser) -> list[Recording]:
    return [
        Recording(
            each.speaker,
            each.utterance,
            method.transform(each.audio, RATE, speaker=each.speaker, utterance=each.utterance),
        )
        for each in recordings
    ]


def embedded(recordings: Sequence[Recording], encoder: Encoder) -> Embeddings:
    return Embeddings.of(
        np.stack([encoder.embed(each.audio, RATE) for each in recordings]),
        [each.speaker for each in recordings],
        utterances=[each.utterance for each in recordings],
    )


def learn(train: list[Recording], methods: Sequence[InvertibleAnonymiser]) -> DrawEstimator:
    drawn = [(each, method) for method in methods for each in train]
    spectra = [long_term_spectrum(changed([each], method)[0].audio, RATE) for each, method in drawn]
    changes = [
        method.change_of(each.audio, RATE, speaker=each.speaker, utterance=each.utterance)
        for each, method in drawn
    ]
    return fit_estimator(
        np.stack([long_term_spectrum(each.audio, RATE) for each in train]),
        np.stack(spectra),
        np.stack(changes),
        original_speakers=np.array([each.speaker for each in train]),
        anonymised_speakers=np.array([each.speaker for each, _ in drawn]),
    )


def invertible(method: str, secret_of: str, corpus: Corpus, *, each: str) -> InvertibleAnonymiser:
    """A method with the secret of the operator or of the attacker, fitted on a corpus."""
    name, speaker, utterance = DRAWS[method]
    secret = {
        "operator": operators_secret(0),
        "attacker": attackers_secret(0),
        "attacker again": attackers_secret(0, 2),
    }[secret_of]
    word = speaker if each == "speaker" else utterance
    anonymiser = make_method(method, secret, **{name: word}).fit(corpus)
    assert isinstance(anonymiser, InvertibleAnonymiser)
    return anonymiser


def attacked_speech(corpus: Corpus) -> tuple[list[Recording], list[Recording]]:
    """One enrolment recording and two trials of each speaker, from the splits if there are any."""
    enrol, trial = [], []
    for utterances in corpus.by_speaker().values():
        trials = [each for each in utterances if each.split == "trial"]
        others = [each for each in utterances if each.split != "trial"]
        enrol.append(others[0])
        trial += (trials or others[1:])[:2]
    return read(enrol, ENROL_SECONDS), read(trial, TRIAL_SECONDS)


def report(label: str, enrol: Embeddings, trial: Embeddings, centre: Embeddings) -> None:
    table = score_all(enrol, trial, Cosine(centre.vectors.mean(axis=0)))
    scores = table.scores()
    d_sys = linkability(scores).d_sys
    rates = f"EER {eer(scores):6.1%}  D_sys {d_sys:.2f}  first guess right {top_1(table):6.1%}"
    print(f"{label:40} {rates}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("method", choices=DRAWS)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--attacked", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    training, attacked = read_manifest(given.train), read_manifest(given.attacked)
    first_two = [
        each for utterances in training.by_speaker().values() for each in list(utterances)[:2]
    ]
    train = read(first_two, TRAIN_SECONDS)
    first = invertible(given.method, "attacker", training, each="speaker")
    again = invertible(given.method, "attacker again", training, each="utterance")
    estimator = learn(train, [first, again])
    print(f"error on left-out training speakers: {estimator.numbers.error}", flush=True)
    plain = campplus()
    undone = UndoneEncoder(plain, first, estimator, frozenset(training.speakers))
    enrol, trial = attacked_speech(attacked)
    released = changed(trial, invertible(given.method, "operator", attacked, each="speaker"))
    enrolled = changed(enrol, invertible(given.method, "attacker", attacked, each="speaker"))
    anonymised = changed(train[::2], again)
    originals, centre = embedded(enrol, plain), embedded(train[::2], plain)
    before, after = embedded(released, plain), embedded(released, undone)
    report("originals enrolled, trials as released", originals, before, centre)
    report("originals enrolled, trials undone", originals, after, centre)
    report(
        "attacker's draws enrolled, as released",
        embedded(enrolled, plain),
        before,
        embedded(anonymised, plain),
    )
    report(
        "attacker's draws enrolled, all undone",
        embedded(enrolled, undone),
        after,
        embedded(anonymised, undone),
    )
    print(f"CPU seconds: {time.process_time():.0f}")


if __name__ == "__main__":
    main()
