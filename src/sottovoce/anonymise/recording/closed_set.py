"""Guesses of masked words among a closed set of words: by their sound and by their length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import soxr

from sottovoce.anonymise.recording.decoder import RATE, recognise_word
from sottovoce.anonymise.recording.leak_measures import HitCounter, Rate
from sottovoce.anonymise.recording.pronunciation import pronounce
from sottovoce.anonymise.recording.secure import Secured
from sottovoce.anonymise.recording.words import word_key
from sottovoce.core.types import Audio

CONTEXT_SECONDS = 0.15
"""Seconds on both sides of a masked stretch that the closed-set attacker hears."""
MAX_CHOICES = 30
"""Words that a closed-set attacker chooses from."""


class WordLength(NamedTuple):
    """A masked word and its length, and the length of the masked stretch, in seconds."""

    word: str
    original: float
    masked: float


class Crop(NamedTuple):
    """A masked word and the audio around it: before the mask, after it, and reversed."""

    word: str
    before: Audio
    after: Audio
    inverted: Audio
    rate: int


def word_lengths(secured: Secured) -> list[WordLength]:
    """Return the masked stretches of a single word with their lengths.

    Parameters
    ----------
    secured : Secured
        The recording.
    """
    rate = secured.masked.rate
    return [
        WordLength(
            secured.alignment.words[span.first].text,
            (span.before[1] - span.before[0]) / rate,
            (span.after[1] - span.after[0]) / rate,
        )
        for span in secured.masked.spans
        if span.first == span.last
    ]


def crops_of(secured: Secured, reversed_audio: Audio) -> list[Crop]:
    """Return the sound of masked stretches of a single word, before and after the mask.

    Parameters
    ----------
    secured : Secured
        The recording.
    reversed_audio : Audio
        The masked recording with each masked stretch reversed.
    """
    rate = secured.masked.rate
    margin = round(CONTEXT_SECONDS * rate)
    crops = []
    for span in secured.masked.spans:
        if span.first == span.last:
            before, after = (
                slice(max(0, start - margin), end + margin)
                for start, end in (span.before, span.after)
            )
            crops.append(
                Crop(
                    secured.alignment.words[span.first].text,
                    secured.voiced[before],
                    secured.masked.audio[after],
                    reversed_audio[after],
                    rate,
                )
            )
    return crops


_Item = TypeVar("_Item", WordLength, Crop)


def _draw_per_word(items: Sequence[_Item], rng: np.random.Generator) -> dict[str, _Item]:
    """Draw one item of every word.

    With each word once, an attacker who prefers some words without listening is right in 1 of K
    cases. If frequent words were tried as often as they occur, this preference would look like a
    leak.
    """
    shuffled = [items[index] for index in rng.permutation(len(items))]
    return {word_key(item.word): item for item in shuffled}


def _draw_choices(words: Sequence[str], true: str, rng: np.random.Generator) -> list[str]:
    """Draw the words that the attacker chooses from, the true one among them, in random order."""
    wrong = [word for word in words if word != true]
    drawn = rng.permutation(len(wrong))[: MAX_CHOICES - 1]
    choices = [true, *(wrong[index] for index in drawn)]
    return [choices[index] for index in rng.permutation(len(choices))]


def guess_by_sound(crops: Sequence[Crop], rng: np.random.Generator) -> dict[str, HitCounter]:
    """Guess each word by the sound of its stretch: before the mask, after it, and reversed.

    Parameters
    ----------
    crops : sequence of Crop
        Masked stretches of all recordings.
    rng : numpy.random.Generator
        Draws the words to choose from, and guesses where nothing fits.
    """
    counters = {name: HitCounter() for name in ("before", "after", "inverted")}
    crop_by_word = _draw_per_word(crops, rng)
    for word, crop in crop_by_word.items():
        choices = _draw_choices(sorted(crop_by_word), word, rng)
        sounds = (crop.before, crop.after, crop.inverted)
        for counter, sound in zip(counters.values(), sounds, strict=True):
            hit = guess_word(sound, crop.rate, choices, rng) == word
            counter.add(int(hit), 1, 1 / len(choices))
    return counters


def guess_word(audio: Audio, rate: int, choices: Sequence[str], rng: np.random.Generator) -> str:
    """Return the word that fits the audio best, or a random one if none fits.

    Parameters
    ----------
    audio : Audio
        A masked stretch and what is around it.
    rate : int
        Sampling rate in Hz.
    choices : sequence of str
        The words to choose from.
    rng : numpy.random.Generator
        Draws the word if none fits.
    """
    samples = audio if rate == RATE else soxr.resample(audio, rate, RATE)
    lexicon = pronounce(choices)
    words = [word for word in choices if word in lexicon]
    pronunciations = [lexicon[word] for word in words]
    index = recognise_word(samples, pronunciations) if np.any(samples) else None
    return words[index] if index is not None else str(rng.choice(list(choices)))


def guess_by_length(lengths: Sequence[WordLength], rng: np.random.Generator) -> Rate:
    """Guess each word by the length of its stretch, from the median lengths of the choices.

    Parameters
    ----------
    lengths : sequence of WordLength
        Masked stretches of all recordings.
    rng : numpy.random.Generator
        Draws the words to choose from.
    """
    lengths_by_word: dict[str, list[float]] = {}
    for length in lengths:
        lengths_by_word.setdefault(word_key(length.word), []).append(length.original)
    counter = HitCounter()
    for word, length in _draw_per_word(lengths, rng).items():
        choices = _draw_choices(sorted(lengths_by_word), word, rng)
        distances = [
            abs(float(np.median(lengths_by_word[choice])) - length.masked) for choice in choices
        ]
        guess = choices[int(np.argmin(distances))]
        counter.add(int(guess == word), 1, 1 / len(choices))
    return counter.rate()
