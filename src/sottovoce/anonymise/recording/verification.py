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
V8  missed words: places where the recogniser hears a private word, or letters in a row (see
    :mod:`~sottovoce.anonymise.recording.missed_words`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from sottovoce.anonymise.recording.align import UnalignedError, times_at_speed
from sottovoce.anonymise.recording.closed_set import (
    Crop,
    WordLength,
    crops_of,
    guess_by_length,
    guess_by_sound,
    word_lengths,
)
from sottovoce.anonymise.recording.leak_measures import (
    HitCounter,
    Rate,
    WordErrors,
    correlation,
    correlation_by_chance,
    correlation_limit,
    count_recovered,
    is_untouched,
    reverse_spans,
)
from sottovoce.anonymise.recording.missed_words import (
    HeardRecording,
    Place,
    find_missed,
    locate_heard,
)
from sottovoce.anonymise.recording.private_words import Finder
from sottovoce.anonymise.recording.secure import Secured
from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import Recogniser
from sottovoce.core.edit_distance import count_edits
from sottovoce.core.errors import TooFewError
from sottovoce.core.records import JsonObject, to_json
from sottovoce.core.types import Audio

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
    errors_before: WordErrors
    errors_after: WordErrors
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
                name: value.to_dict() if isinstance(value, Rate | WordErrors) else to_json(value)
                for name, value in values.items()
            },
            "failures": list(self.failures),
        }


@dataclass(slots=True)
class _Observation:
    """The part of a recording that the attacks on all recordings need."""

    masked_runs: list[str]
    """Words that were masked together."""
    remaining: list[str]
    """Words that were not masked."""
    transcript: str
    """What the recogniser heard after the mask."""
    lengths: list[WordLength]
    """Of masked stretches of a single word."""
    crops: list[Crop]
    """Of masked stretches of a single word."""
    lang: str


@dataclass(slots=True)
class Verifier:
    """Attacks recordings as they are secured; pass :meth:`observe` to the export."""

    recogniser: Recogniser
    finder: Finder | None = None
    """Finds private words in what the recogniser hears."""
    observations: list[_Observation] = field(default_factory=list)
    heard: list[HeardRecording] = field(default_factory=list)
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
            recovered = count_recovered(runs, transcript, remaining, lang=secured.lang)
            self._counter(name).add(*recovered)
        self._count_errors("errors_before", words, before, secured.lang)
        self._count_errors("errors_after", remaining, after, secured.lang)
        lengths, crops = word_lengths(secured), crops_of(secured, reversed_audio)
        self.observations.append(_Observation(runs, remaining, after, lengths, crops, secured.lang))
        self.heard.append(locate_heard(secured, after))
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
        closed = guess_by_sound(crops, rng)
        lengths = [length for seen in self.observations for length in seen.lengths]
        lost_ms = 1000 * float(np.mean(self.lost_seconds)) if self.lost_seconds else 0.0
        return Verification(
            recordings=len(self.observations),
            masked_words=masked_words,
            open_before=self._counter("before").rate(chance),
            open_recovery=self._counter("after").rate(chance),
            closed_before=closed["before"].rate(),
            closed_set=closed["after"].rate(),
            length=guess_by_length(lengths, rng),
            correlation=self.correlation,
            correlation_by_chance=self.correlation_by_chance,
            untouched=self.untouched,
            open_inverted=self._counter("inverted").rate(chance),
            closed_inverted=closed["inverted"].rate(),
            errors_before=self._word_errors("errors_before"),
            errors_after=self._word_errors("errors_after"),
            neighbour_ms=lost_ms,
            exposed=self._counter("exposed").rate(0.0),
        )

    def missed(self) -> list[Place]:
        """Return the places of all recordings where a private word may have been missed."""
        return find_missed(self.heard, self.finder)

    def _invention_rate(self) -> float:
        """Rate at which the recogniser hears the masked words in the next recording."""
        invented = HitCounter()
        following = [*self.observations[1:], *self.observations[:1]]
        for seen, other in zip(self.observations, following, strict=True):
            transcript = other.transcript if seen is not other else ""
            invented.add(
                *count_recovered(seen.masked_runs, transcript, other.remaining, lang=seen.lang)
            )
        return max(invented.hits, 1) / max(invented.total, 1)

    def _counter(self, name: str) -> HitCounter:
        return self.counters.setdefault(name, HitCounter())

    def _word_errors(self, name: str) -> WordErrors:
        counter = self._counter(name)
        return WordErrors(counter.hits, counter.total)

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

    def _count_errors(self, name: str, words: Sequence[str], transcript: str, lang: str) -> None:
        reference = normalise(" ".join(words), lang).split()
        edits = count_edits(reference, normalise(transcript, lang).split())
        self._counter(name).add(edits.total, len(reference))


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
