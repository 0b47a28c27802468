"""Attacks on masked words of a corpus (V1 to V7), with a rule that was fixed before it was run.

    python benchmarks/masking.py CORPUS [--part 1] [--count 267] [--voice none] [--mask silence]
        [--length 0.4] [--lines FILE]

The rule. Utterances in the order of the corpus are dealt into three parts in turn; part 0 was used
while the mask was made, 1 and 2 were not. In each utterance the longest word that is no function
word (the list is in alignment.py), the first of such, plays the private one; every such word is
masked wherever it occurs in the part. Words are masked as `sottovoce anonymise recording` does by
default, and counted as V1 does. Nothing is left out but utterances without such a word, and those
that the product withholds, which are counted.

The control. The same words are masked once more, 150 ms wider on both sides (450 ms into pauses),
so that nothing of their sound can be left. What the recogniser hears then it has from the sentence.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from alignment import note, private_word

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.export import export_corpus
from sottovoce.anonymise.recording.mask import Masking, Target, mask
from sottovoce.anonymise.recording.rates import Count
from sottovoce.anonymise.recording.recovery import recovered
from sottovoce.anonymise.recording.secure import Secured, Settings
from sottovoce.anonymise.recording.verify import Verifier
from sottovoce.anonymise.recording.words import key, tokens
from sottovoce.anonymise.voice import make_method
from sottovoce.asr.recogniser import make_recogniser
from sottovoce.corpus import Corpus, open_corpus

PARTS = 3
WIDER = 0.15


def main() -> None:
    chosen = arguments()
    said = list(open_corpus(chosen.corpus))[chosen.part :: PARTS]
    said = [one for one in said if private_word(one)][: chosen.count]
    listed = sorted({private_word(one) for one in said})
    natural = chosen.length == "natural"
    masking = Masking(chosen.mask, length=None if natural else float(chosen.length))
    secret = Secret.reproducible(1)
    attack = Attack(set(listed), masking, chosen.lines)
    with tempfile.TemporaryDirectory() as folder:
        done = export_corpus(
            Corpus("sample", Path(folder) / "none", tuple(said)),
            Path(folder) / "out",
            purpose="acoustic",
            secret=secret,
            settings=Settings(masking),
            listed=listed,
            method=None if chosen.voice == "none" else make_method(chosen.voice, secret),
            observe=attack.observe,
        )
    found = {"export": done.to_dict() | {"withheld": len(done.withheld)}}
    found["private words"] = {"distinct": len(listed)} | attack.to_dict()
    found["all masked words"] = attack.verifier.report(secret.generator("verify")).to_dict()
    print(json.dumps(vars(chosen) | found, indent=1))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--part", type=int, default=1, choices=range(PARTS))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--voice", default="none")
    parser.add_argument("--mask", default="silence")
    parser.add_argument("--length", default="0.4")
    parser.add_argument("--lines", default="")
    return parser.parse_args()


class Attack:
    """The product's verification, and the control, of private words only."""

    def __init__(self, private: set[str], masking: Masking, lines: str) -> None:
        self.private, self.masking, self.lines = private, masking, lines
        self.verifier = Verifier(make_recogniser())
        self.counts = {"after the mask": Count(), "masked 150 ms wider": Count()}

    def observe(self, done: Secured) -> None:
        self.verifier.observe(done)
        said = [word.text for word in tokens(done.one.transcript)]
        gone = [word for word in said if key(word) in self.private]
        kept = [word for word in said if key(word) not in self.private]
        heard = dict(
            zip(self.counts, (self.verifier.seen[-1].heard, self.wider(done)), strict=True)
        )
        found = {name: recovered(gone, text, kept) for name, text in heard.items()}
        for name, (hits, total) in found.items():
            self.counts[name].add(hits, total)
        line = {"utterance": done.one.id, "said": done.one.transcript, "masked": gone}
        note(self.lines, line | {"heard": heard, "found": found})

    def wider(self, done: Secured) -> str:
        """What is heard where the same words are masked for certain."""
        masking = Masking(self.masking.how, pad=WIDER, length=self.masking.length)
        places = [
            at for at, word in enumerate(done.alignment.words) if key(word.text) in self.private
        ]
        targets = [Target(at, at) for at in places]
        rate = done.masked.rate
        masked = mask(done.voiced, rate, done.alignment, targets, masking)
        return self.verifier.recogniser.transcribe(masked.audio, rate) if masked.audio.any() else ""

    def to_dict(self) -> dict[str, object]:
        return {name: count.rate(0.0).to_dict() for name, count in self.counts.items()}


if __name__ == "__main__":
    main()
