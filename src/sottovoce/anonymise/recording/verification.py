"""Attacks on masked recordings: what can still be heard, guessed or computed of the masked words.

V1  open recovery: masked words in what a recogniser hears, against the same words in recordings
    where they were not said (what it would invent), with a Clopper-Pearson interval
V2  closed set: a recogniser that knows that the word is one of K, on the masked stretch and 150 ms
    around it, against 1/K
V3  length: the one of K words whose length is nearest to that of the masked stretch, against 1/K
V4  signal: correlation of the masked stretch with the original, forwards and backwards, against
    that of noise; and whether every kept sample outside the ramps is unchanged
V5  inversion: V1 and V2 with each masked stretch reversed in time
V6  collateral damage: word errors on the kept words before and after; milliseconds of neighbours
    that were lost
V7  coverage: words of which another alignment (played slower) has more than 20 ms unmasked
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypeVar

import numpy as np
import soxr

from sottovoce.anonymise.recording.align import UnalignedError, times_at_speed
from sottovoce.anonymise.recording.decoder import RATE, recognise_word
from sottovoce.anonymise.recording.leak_measures import (
    HitCounter,
    Rate,
    correlation,
    correlation_by_chance,
    correlation_limit,
    count_recovered,
    is_untouched,
    reverse_spans,
)
from sottovoce.anonymise.recording.pronunciation import pronounce
from sottovoce.anonymise.recording.secure import Secured
from sottovoce.anonymise.recording.words import spoken_words, word_key
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import Recogniser
from sottovoce.core.edit_distance import count_edits
from sottovoce.core.errors import TooFewError
from sottovoce.core.records import JsonObject, to_json
from sottovoce.core.types import Audio

CONTEXT_SECONDS = 0.15
"""Seconds on both sides of a masked stretch that the closed-set attacker hears."""
MAX_CHOICES = 30
"""Words that a closed-set attacker chooses from."""
MAX_EXPOSED_SECONDS = 0.02
"""Seconds of a word that may lie outside the mask."""
MAX_EXPOSED_SHARE = 0.05
"""Share of exposed words that the lower end of the interval may reach."""
SLOWER_SPEED = 0.95


@dataclass(frozen=True, slots=True)
class Verification:
    """Results of the attacks."""

    recordings: int
    masked_words: int
    open_before: Rate
    """V1 before the mask: whether the attack works at all."""
    open_recovery: Rate
    closed_before: Rate
    """V2 before the mask."""
    closed_set: Rate
    length: Rate
    correlation: float
    correlation_by_chance: float
    """Of noise with the spectrum of the kept audio."""
    untouched: bool
    """Whether the kept samples are unchanged."""
    open_inverted: Rate
    closed_inverted: Rate
    errors_before: Rate
    errors_after: Rate
    neighbour_ms: float
    """Mean milliseconds of kept words that a mask took."""
    exposed: Rate

    @property
    def failures(self) -> tuple[str, ...]:
        """Names of the attacks that succeeded."""
        limit = correlation_limit(self.correlation_by_chance)
        succeeded = {
            "V1 open recovery": self.open_recovery.above_chance,
            "V2 closed set": self.closed_set.above_chance,
            "V3 length": self.length.above_chance,
            "V4 correlation": self.correlation >= limit,
            "V4 kept samples": not self.untouched,
            "V5 inverted, open": self.open_inverted.above_chance,
            "V5 inverted, closed set": self.closed_inverted.above_chance,
            "V7 coverage": self.exposed.interval[0] > MAX_EXPOSED_SHARE,
        }
        return tuple(name for name, success in succeeded.items() if success)

    def to_dict(self) -> JsonObject:
        """Return the fields, rates with their intervals, and ``failures`` for JSON."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {
            **{
                name: value.to_dict() if isinstance(value, Rate) else to_json(value)
                for name, value in values.items()
            },
            "failures": list(self.failures),
        }


class _WordLength(NamedTuple):
    """A masked word and its length, and the length of the masked stretch, in seconds."""

    word: str
    original: float
    masked: float


class _Crop(NamedTuple):
    """A masked word and the audio around it: before the mask, after it, and reversed."""

    word: str
    before: Audio
    after: Audio
    inverted: Audio
    rate: int


@dataclass(slots=True)
class _Observation:
    """The part of a recording that the attacks on all recordings need."""

    masked_runs: list[str]
    """Words that were masked together."""
    remaining: list[str]
    """Words that were not masked."""
    transcript: str
    """What the recogniser heard after the mask."""
    lengths: list[_WordLength]
    """Of masked stretches of a single word."""
    crops: list[_Crop]
    """Of masked stretches of a single word."""


@dataclass(slots=True)
class Verifier:
    """Attacks recordings as they are secured; pass :meth:`observe` to the export."""

    recogniser: Recogniser
    observations: list[_Observation] = field(default_factory=list)
    counters: dict[str, HitCounter] = field(default_factory=dict)
    correlation: float = 0.0
    correlation_by_chance: float = 0.0
    untouched: bool = True
    lost_seconds: list[float] = field(default_factory=list)

    def observe(self, secured: Secured) -> None:
        """Run the attacks on a single recording.

        Parameters
        ----------
        secured : Secured
            The recording before and after the mask.
        """
        masked, audio = secured.masked, secured.voiced
        words = [word.text for word in spoken_words(secured.utterance.transcript)]
        runs = [" ".join(words[span.first : span.last + 1]) for span in masked.spans]
        remaining = [words[i] for i, word in enumerate(masked.words) if word is not None]
        reversed_audio = reverse_spans(masked)
        before, after, inverted = self._transcribe_all(secured, reversed_audio)
        for name, transcript in (("before", before), ("after", after), ("inverted", inverted)):
            self._counter(name).add(*count_recovered(runs, transcript, remaining))
        self._count_errors("errors_before", words, before)
        self._count_errors("errors_after", remaining, after)
        lengths, crops = _word_lengths(secured), _crops(secured, reversed_audio)
        self.observations.append(_Observation(runs, remaining, after, lengths, crops))
        self.correlation = max(self.correlation, correlation(audio, masked))
        by_chance = correlation_by_chance(audio, masked)
        self.correlation_by_chance = max(self.correlation_by_chance, by_chance)
        self.untouched &= is_untouched(audio, masked)
        self.lost_seconds += _lost_seconds(secured)
        self._counter("exposed").add(*_count_exposed(secured))

    def report(self, rng: np.random.Generator) -> Verification:
        """Run the attacks that need all recordings and return all results.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws the words to choose from, and guesses where nothing fits.

        Raises
        ------
        TooFewError
            If no word was masked.
        """
        masked_words = sum(
            len(spoken_words(run)) for seen in self.observations for run in seen.masked_runs
        )
        if not masked_words:
            raise TooFewError("no word was masked; there is nothing to verify")
        chance = self._invention_rate()
        crops = [crop for seen in self.observations for crop in seen.crops]
        closed = _closed_set_guesses(crops, rng)
        lengths = [length for seen in self.observations for length in seen.lengths]
        lost_ms = 1000 * float(np.mean(self.lost_seconds)) if self.lost_seconds else 0.0
        return Verification(
            recordings=len(self.observations),
            masked_words=masked_words,
            open_before=self._counter("before").rate(chance),
            open_recovery=self._counter("after").rate(chance),
            closed_before=closed["before"].rate(),
            closed_set=closed["after"].rate(),
            length=_length_guesses(lengths, rng),
            correlation=self.correlation,
            correlation_by_chance=self.correlation_by_chance,
            untouched=self.untouched,
            open_inverted=self._counter("inverted").rate(chance),
            closed_inverted=closed["inverted"].rate(),
            errors_before=self._counter("errors_before").rate(0.0),
            errors_after=self._counter("errors_after").rate(0.0),
            neighbour_ms=lost_ms,
            exposed=self._counter("exposed").rate(0.0),
        )

    def _invention_rate(self) -> float:
        """Rate at which the recogniser hears the masked words in the next recording."""
        invented = HitCounter()
        following = [*self.observations[1:], *self.observations[:1]]
        for seen, other in zip(self.observations, following, strict=True):
            transcript = other.transcript if seen is not other else ""
            invented.add(*count_recovered(seen.masked_runs, transcript, other.remaining))
        return max(invented.hits, 1) / max(invented.total, 1)

    def _counter(self, name: str) -> HitCounter:
        return self.counters.setdefault(name, HitCounter())

    def _transcribe_all(self, secured: Secured, reversed_audio: Audio) -> tuple[str, str, str]:
        """Transcribe before the mask, after it, and with reversed stretches."""
        masked = secured.masked
        before = self._transcribe(secured.voiced, masked.rate)
        after = self._transcribe(masked.audio, masked.rate)
        if np.array_equal(reversed_audio, masked.audio):
            return before, after, after
        return before, after, self._transcribe(reversed_audio, masked.rate)

    def _transcribe(self, audio: Audio, rate: int) -> str:
        return self.recogniser.transcribe(audio, rate) if np.any(audio) else ""

    def _count_errors(self, name: str, words: Sequence[str], transcript: str) -> None:
        reference = normalise(" ".join(words)).split()
        edits = count_edits(reference, normalise(transcript).split())
        self._counter(name).add(edits.total, len(reference))


# ===================================================================== closed set (V2, V5), length


def _word_lengths(secured: Secured) -> list[_WordLength]:
    rate = secured.masked.rate
    return [
        _WordLength(
            secured.alignment.words[span.first].text,
            (span.before[1] - span.before[0]) / rate,
            (span.after[1] - span.after[0]) / rate,
        )
        for span in secured.masked.spans
        if span.first == span.last
    ]


def _crops(secured: Secured, reversed_audio: Audio) -> list[_Crop]:
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
                _Crop(
                    secured.alignment.words[span.first].text,
                    secured.voiced[before],
                    secured.masked.audio[after],
                    reversed_audio[after],
                    rate,
                )
            )
    return crops


_Item = TypeVar("_Item", _WordLength, _Crop)


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


def _closed_set_guesses(crops: Sequence[_Crop], rng: np.random.Generator) -> dict[str, HitCounter]:
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


def _length_guesses(lengths: Sequence[_WordLength], rng: np.random.Generator) -> Rate:
    """Guess each word by the length of its stretch, from the median lengths of the choices."""
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


# ================================================================== collateral damage and coverage


def _lost_seconds(secured: Secured) -> list[float]:
    """Return the seconds of kept words that each masked stretch took."""
    rate = secured.masked.rate
    return [
        sum(
            max(0.0, min(word.end, span.before[1] / rate) - max(word.start, span.before[0] / rate))
            for index, word in enumerate(secured.alignment.words)
            if secured.masked.words[index] is not None
        )
        for span in secured.masked.spans
    ]


def _count_exposed(secured: Secured) -> tuple[int, int]:
    """Count masked words that lie outside the mask in another alignment, and all masked words."""
    rate, text = secured.masked.rate, secured.utterance.transcript
    try:
        times = times_at_speed(secured.voiced, rate, text, SLOWER_SPEED, lang=secured.lang)
    except UnalignedError:
        return 0, 0
    exposed = total = 0
    for span in secured.masked.spans:
        mask_start, mask_end = (edge / rate for edge in span.before)
        for start, end in times[span.first : span.last + 1]:
            covered = max(0.0, min(end, mask_end) - max(start, mask_start))
            total += 1
            exposed += (end - start) - covered > MAX_EXPOSED_SECONDS
    return exposed, total
