"""Dictated digits in sound: what a recogniser still hears after `anonymise recording`.

    python benchmarks/spelled_sound.py SPEECH [--count 30] [--voice none]

Recordings are joined to utterances: a sentence of LibriSpeech and four digits of a speaker of
AudioMNIST, which has no other words; and in Speech Commands, by one speaker, *one*, *two* and
*three* between other words (*yes stop one two three right go*). The detector finds the digits in
the transcript; nothing is listed. A digit counts as recovered if the recogniser hears it in the
released sound. By chance: if it hears it in the released sound of the next utterance instead.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import soundfile

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.export import export_corpus
from sottovoce.anonymise.recording.private_words import detect_private
from sottovoce.anonymise.recording.secure import Secured, Settings
from sottovoce.anonymise.voice import make_method
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import make_recogniser
from sottovoce.corpus import Corpus, Utterance, open_corpus
from sottovoce.corpus.audio import load_native

DIGITS = frozenset("zero one two three four five six seven eight nine".split())  # noqa: SIM905
MAX_WORDS = 12
"""Words of a sentence before digits."""
PAUSE = 0.12
"""Seconds between words."""


def audiomnist(folder: Path, count: int) -> Iterator[list[Utterance]]:
    rng = np.random.default_rng(0)
    sentences = [
        sentence
        for sentence in open_corpus(folder / "libri_dev40")
        if DIGITS.isdisjoint(sentence.transcript.lower().split()) and is_short(sentence)
    ]
    speakers = by_speaker(open_corpus(folder / "audiomnist60")).values()
    for sentence, words in list(zip(sentences, speakers, strict=False))[:count]:
        yield [sentence, *(words[int(i)] for i in rng.permutation(len(words))[:4])]


def is_short(utterance: Utterance) -> bool:
    return 4 <= len(utterance.transcript.split()) <= MAX_WORDS


def commands(folder: Path, count: int) -> Iterator[list[Utterance]]:
    made = 0
    for words in by_speaker(open_corpus(folder / "speech_commands740")).values():
        named = {word.transcript.lower(): word for word in words}
        others = [name for name in named if name not in DIGITS]
        if {"one", "two", "three"} <= named.keys() and len(others) >= 4 and made < count:
            made += 1
            order = [*others[:2], "one", "two", "three", *others[2:4]]
            yield [named[name] for name in order]


def by_speaker(corpus: Corpus) -> dict[str, list[Utterance]]:
    words: dict[str, list[Utterance]] = {}
    for utterance in corpus:
        words.setdefault(utterance.speaker, []).append(utterance)
    return words


def joined(words: Sequence[Utterance], folder: Path) -> Utterance:
    pieces = []
    for word in words:
        audio, rate = load_native(word)
        pieces += [audio, np.zeros(int(PAUSE * rate), audio.dtype)]
    path = folder / f"{words[0].speaker}-{words[-1].speaker}.wav"
    soundfile.write(path, np.concatenate(pieces), rate)
    text = " ".join(word.transcript.lower() for word in words)
    return Utterance(path.stem, path, words[0].speaker, language="en", transcript=text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--voice", default="none")
    options = parser.parse_args()
    print("| set | utterances | withheld | digits | heard before | heard after | by chance |")
    print("|---|---|---|---|---|---|---|")
    for name, source in (("AudioMNIST", audiomnist), ("Speech Commands", commands)):
        print(f"| {name} | {measure(list(source(options.speech, options.count)), options.voice)} |")


def digits_of(text: str) -> Counter[str]:
    """Count the digits of a text, which are normalised to figures."""
    return Counter(character for character in normalise(text) if character.isdigit())


def measure(words: Sequence[Sequence[Utterance]], voice: str) -> str:
    recogniser = make_recogniser("moonshine-tiny")
    truth: list[Counter[str]] = []
    before: list[Counter[str]] = []
    after: list[Counter[str]] = []

    def hear(audio: np.ndarray, rate: int) -> Counter[str]:
        return digits_of(recogniser.transcribe(audio, rate))

    def observe(secured: Secured) -> None:
        rate = secured.masked.rate
        truth.append(digits_of(secured.utterance.transcript))
        before.append(hear(secured.voiced, rate))
        after.append(hear(secured.masked.audio, rate))

    with tempfile.TemporaryDirectory() as folder:
        utterances = tuple(joined(run, Path(folder)) for run in words)
        secret = Secret.reproducible(1)
        export = export_corpus(
            Corpus("digits", Path(folder) / "none", utterances),
            Path(folder) / "out",
            purpose="acoustic",
            secret=secret,
            settings=Settings(),
            finder=detect_private,
            method=None if voice == "none" else make_method(voice, secret),
            observe=observe,
        )
    digits = sum(counts.total() for counts in truth)
    rolled = after[1:] + after[:1]
    found = [
        sum((t & h).total() for t, h in zip(truth, heard, strict=True))
        for heard in (before, after, rolled)
    ]
    return " | ".join(map(str, (len(utterances), len(export.withheld), digits, *found)))


if __name__ == "__main__":
    main()
