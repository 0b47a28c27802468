"""What each kind of evidence alone links, for several anonymisers.

    uv run python benchmarks/evidence.py mcadams xvector --out evidence \
        --train ../shared/data/speech/libri_train28 --attacked ../shared/data/speech/libri40

The semi-informed attacker with the linkage ``fused``: one table per method, in Markdown. With
``--without words durations`` nothing needs a recogniser, which takes most of the time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from sottovoce.attack import evidence
from sottovoce.attack.inputs import AttackInputs, divide_speech
from sottovoce.attack.knowledge import ATTACKERS
from sottovoce.attack.run import run_attacks
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, operators_secret
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import AttackReport, AttackSettings
from sottovoce.measure import linkability
from sottovoce.measure.readers import read_scores
from sottovoce.speaker.encoders import campplus

ATTACKER = ATTACKERS["semi-informed"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--attacked", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=5, help="training recordings of a speaker")
    parser.add_argument("--enrol", type=int, default=3)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], choices=evidence.EVIDENCE)
    return parser.parse_args()


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


def attack(method: str, given: argparse.Namespace) -> tuple[AttackReport, float]:
    """The report of the attack, and D_sys of the fused scores."""
    spec = AnonymiserSpec(method)
    attacked = some_of_each(read_manifest(given.attacked), given.enrol, given.trials)
    train = some_of_each(read_manifest(given.train), given.each, 0)
    division = divide_speech(attacked, train)
    cache = SpeechCache(given.out / method, campplus(), jobs=1)
    released = cache.anonymise(division.trial, spec, operators_secret(0), "released")
    inputs = AttackInputs(division.enrol, division.trial, division.train, released, spec)
    settings = AttackSettings(linkage="fused", draws=given.draws)
    (report,) = run_attacks(inputs, [ATTACKER], settings, cache, attributes=())
    scores = read_scores(cache.folder / ATTACKER.name / "scores.parquet")
    return report, linkability(scores).d_sys


def print_table(method: str, report: AttackReport, d_sys: float) -> None:
    chance = report.evidence[0].chance
    print(f"\n{method}: {report.trials} trials of {report.enrolled_speakers} speakers\n")
    guess = f"first guess right (chance {chance:.1%})"
    print(f"| evidence | {guess} | EER | D_sys | held-out EER | share |")
    print("|---|---|---|---|---|---|")
    for link in report.evidence:
        d_sys_alone = "–" if link.d_sys is None else f"{link.d_sys:.2f}"
        print(
            f"| {link.name} | {link.top_1:.1%} | {link.eer:.1%} | {d_sys_alone} | "
            f"{link.held_out_eer:.1%} | {link.share:.0%} |"
        )
    held_out = report.trained.held_out_eer
    print(f"| all, fused | | {report.eer:.1%} | {d_sys:.2f} | {held_out:.1%} | |")
    print(f"\nCPU seconds so far: {time.process_time():.0f}", flush=True)


def main() -> None:
    given = arguments()
    for name in given.without:
        del evidence.EVIDENCE[name]
    for method in given.methods:
        report, d_sys = attack(method, given)
        print_table(method, report, d_sys)


if __name__ == "__main__":
    main()
