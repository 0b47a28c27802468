"""Undoing an anonymiser: the EER before and after an attacker inverts what it recognises.

    uv run python benchmarks/undoing.py mcadams --train ../shared/data/speech/libri_train28 \
        --attacked ../shared/data/speech/libri_dev40 --out undoing

The operator draws once for each speaker. The attacker learns to recognise draws from training
speech that it anonymised twice itself, and undoes what it recognises in the speech it attacks. Two
attackers: one that enrols with originals, one that enrols with speech it anonymised (and undid).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from sottovoce.attack.inputs import AttackInputs, divide_speech
from sottovoce.attack.knowledge import ATTACKERS, Attacker
from sottovoce.attack.run import run_attacks
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, operators_secret
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import AttackSettings
from sottovoce.measure import linkability
from sottovoce.measure.readers import read_scores
from sottovoce.speaker.encoders import campplus

PER_SPEAKER = {
    "mcadams": {"coefficient": "speaker"},
    "voicemask": {"draw": "speaker"},
    "vtln": {"selection": "perm"},
}
"""Settings with which each method draws once for a speaker."""
WITH_ORIGINALS = Attacker(
    "originals-enrolled",
    "original",
    "attacker",
    "enrols with originals, trains on the anonymiser's output",
    rank=2,
)


def some_of_each(corpus: Corpus, enrol: int, trial: int) -> SpeechSet:
    """The first recordings of each speaker, of the enrolment and of the trial split if it has them.

    Recordings of other splits, such as ``train``, are taken in their order.
    """
    chosen: set[str] = set()
    for utterances in corpus.by_speaker().values():
        trials = [utterance.id for utterance in utterances if utterance.split == "trial"]
        others = [utterance.id for utterance in utterances if utterance.split != "trial"]
        chosen |= {*others[:enrol], *trials[:trial]}
        if not trials:
            chosen |= set(others[enrol : enrol + trial])
    return SpeechSet.of(corpus).with_ids(chosen)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("method", choices=PER_SPEAKER)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--attacked", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=6, help="training recordings of a speaker")
    parser.add_argument("--enrol", type=int, default=4)
    parser.add_argument("--trials", type=int, default=4)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    spec = AnonymiserSpec(given.method, PER_SPEAKER[given.method])
    attacked = some_of_each(read_manifest(given.attacked), given.enrol, given.trials)
    train = some_of_each(read_manifest(given.train), given.each, 0)
    division = divide_speech(attacked, train)
    cache = SpeechCache(given.out / given.method, campplus(), jobs=1)
    released = cache.anonymise(division.trial, spec, operators_secret(0), "released")
    inputs = AttackInputs(division.enrol, division.trial, division.train, released, spec)
    print(
        f"{spec.label}: {len(division.trial.corpus)} trials of {given.attacked.name}, trained on "
        f"{given.train.name}, {given.each} recordings of a speaker, 2 draws"
    )
    for attacker in (WITH_ORIGINALS, ATTACKERS["semi-informed"]):
        for encoder in ("frozen", "undone"):
            settings = AttackSettings(encoder=encoder, draws=2)
            (report,) = run_attacks(inputs, [attacker], settings, cache, attributes=())
            scores = read_scores(cache.folder / attacker.name / "scores.parquet")
            print(
                f"{attacker.name:20} {encoder:8} {report.trained.name:10} EER {report.eer:6.1%}  "
                f"D_sys {linkability(scores).d_sys:.2f}  originals {report.eer_on_originals:.1%}",
                flush=True,
            )
    print(f"CPU seconds: {time.process_time():.0f}")


if __name__ == "__main__":
    main()
