"""Attacks on masked words of a corpus (V1 to V7), with a rule that was fixed before it was run.

    python benchmarks/masking.py CORPUS [--part 1] [--count 267] [--voice none] [--mask silence]
        [--length 0.4] [--lines FILE]

The rule. Utterances in the order of the corpus are dealt into three parts in turn; part 0 was used
while the mask was developed, 1 and 2 were not. In each utterance the first of the longest words
that are no function words (the list is in alignment.py) takes the part of the private word; every
such word is masked wherever it occurs in the part. Words are masked as `sottovoce anonymise
recording` does by default, and counted as V1 does. Only utterances without such a word are left
out; those that the product withholds are counted.

The control. The same words are masked once more, 150 ms wider on both sides (450 ms into pauses),
so that nothing of their sound can be left. What the recogniser still hears it infers from the
sentence.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from alignment import note, private_word

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.export import export_corpus
from sottovoce.anonymise.recording.leak_measures import HitCounter, count_recovered
from sottovoce.anonymise.recording.mask import MaskSettings, Target, mask
from sottovoce.anonymise.recording.secure import Secured, Settings
from sottovoce.anonymise.recording.verification import Verifier
from sottovoce.anonymise.recording.words import spoken_words, word_key
from sottovoce.anonymise.voice import make_method
from sottovoce.asr.recogniser import make_recogniser
from sottovoce.corpus import Corpus, open_corpus

PARTS = 3
WIDER = 0.15


def main() -> None:
    options = parse_options()
    utterances = list(open_corpus(options.corpus))[options.part :: PARTS]
    utterances = [u for u in utterances if private_word(u)][: options.count]
    listed = sorted({private_word(utterance) for utterance in utterances})
    natural = options.length == "natural"
    masking = MaskSettings(options.mask, length=None if natural else float(options.length))
    secret = Secret.reproducible(1)
    attack = Attack(set(listed), masking, options.lines)
    with tempfile.TemporaryDirectory() as folder:
        export = export_corpus(
            Corpus("sample", Path(folder) / "none", tuple(utterances)),
            Path(folder) / "out",
            purpose="acoustic",
            secret=secret,
            settings=Settings(masking),
            listed=listed,
            method=None if options.voice == "none" else make_method(options.voice, secret),
            observe=attack.observe,
        )
    results = {
        "export": {**export.to_dict(), "withheld": len(export.withheld)},
        "private words": {"distinct": len(listed), **attack.to_dict()},
        "all masked words": attack.verifier.report(secret.generator("verify")).to_dict(),
    }
    print(json.dumps(vars(options) | results, indent=1))


def parse_options() -> argparse.Namespace:
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

    def __init__(self, private: set[str], masking: MaskSettings, lines: str) -> None:
        self.private, self.masking, self.lines = private, masking, lines
        self.verifier = Verifier(make_recogniser())
        self.counts = {"after the mask": HitCounter(), "masked 150 ms wider": HitCounter()}

    def observe(self, secured: Secured) -> None:
        self.verifier.observe(secured)
        text = secured.utterance.transcript
        words = [word.text for word in spoken_words(text)]
        masked = [word for word in words if word_key(word) in self.private]
        remaining = [word for word in words if word_key(word) not in self.private]
        transcripts = dict(
            zip(
                self.counts,
                (self.verifier.observations[-1].transcript, self.transcribe_wider(secured)),
                strict=True,
            )
        )
        recovered = {
            name: count_recovered(masked, transcript, remaining)
            for name, transcript in transcripts.items()
        }
        for name, (hits, total) in recovered.items():
            self.counts[name].add(hits, total)
        line = {"utterance": secured.utterance.id, "said": text, "masked": masked}
        note(self.lines, line | {"heard": transcripts, "found": recovered})

    def transcribe_wider(self, secured: Secured) -> str:
        """Return what is heard when nothing of the same words can be left."""
        masking = MaskSettings(self.masking.how, pad=WIDER, length=self.masking.length)
        targets = [
            Target(index, index)
            for index, word in enumerate(secured.alignment.words)
            if word_key(word.text) in self.private
        ]
        rate = secured.masked.rate
        masked = mask(secured.voiced, rate, secured.alignment, targets, masking)
        return self.verifier.recogniser.transcribe(masked.audio, rate) if masked.audio.any() else ""

    def to_dict(self) -> dict[str, object]:
        return {name: count.rate(0.0).to_dict() for name, count in self.counts.items()}


if __name__ == "__main__":
    main()
