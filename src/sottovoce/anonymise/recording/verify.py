"""Attacks on masked recordings: what can still be heard, guessed or computed of the masked words.

V1  open recovery: masked words in what a recogniser hears, against the same words where others said
    something else (what it would invent), with a Clopper-Pearson interval
V2  closed set: a recogniser that knows the word is one of K, on the masked stretch and 150 ms
    around it, against 1/K
V3  length: of K words the one whose length is nearest to the masked stretch, against 1/K
V4  signal: correlation of the masked stretch with what was there, forwards and backwards, against
    that of noise; and whether every kept sample outside the ramps is bit for bit what it was
V5  inversion: V1 and V2 once more with each stretch turned round
V6  collateral: word errors on the kept words before and after; milliseconds of neighbours lost
V7  coverage: words of which another alignment (played slower) has more than 20 ms unmasked
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from sottovoce.anonymise.recording.align import UnalignedError, times_at_speed
from sottovoce.anonymise.recording.closed_set import pick
from sottovoce.anonymise.recording.rates import Count, Rate
from sottovoce.anonymise.recording.recovery import distance, recovered
from sottovoce.anonymise.recording.secure import Secured
from sottovoce.anonymise.recording.traces import (
    correlation,
    correlation_by_chance,
    correlation_limit,
    turned_round,
    untouched,
)
from sottovoce.anonymise.recording.words import key, tokens
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import Recogniser
from sottovoce.core.errors import TooFewError
from sottovoce.core.types import Audio

AROUND = 0.15
"""Seconds beside a masked stretch that a closed-set attacker listens to."""
CHOICES = 30
"""Words a closed-set attacker chooses between, at most."""
EXPOSED = 0.02
"""Seconds of a word that may stick out of the mask."""
SLOWER = 0.95


@dataclass(frozen=True, slots=True)
class Verification:
    """What the attacks found."""

    recordings: int
    masked_words: int
    open_before: Rate
    """V1 on the recordings before the mask: whether the attack works at all."""
    open_recovery: Rate
    closed_before: Rate
    closed_set: Rate
    length: Rate
    correlation: float
    correlation_by_chance: float
    """The same with noise like the kept sound."""
    untouched: bool
    """Whether kept samples are bit for bit what they were."""
    open_inverted: Rate
    closed_inverted: Rate
    errors_before: Rate
    errors_after: Rate
    neighbour_ms: float
    """Mean milliseconds of other words that a mask took."""
    exposed: Rate

    @property
    def failures(self) -> tuple[str, ...]:
        """The attacks that succeeded."""
        found = {
            "V1 open recovery": self.open_recovery.above_chance,
            "V2 closed set": self.closed_set.above_chance,
            "V3 length": self.length.above_chance,
            "V4 correlation": self.correlation >= correlation_limit(self.correlation_by_chance),
            "V4 kept samples": not self.untouched,
            "V5 inverted, open": self.open_inverted.above_chance,
            "V5 inverted, closed set": self.closed_inverted.above_chance,
            "V7 coverage": self.exposed.interval[0] > 0.05,
        }
        return tuple(name for name, failed in found.items() if failed)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = {name: getattr(self, name) for name in self.__slots__}
        plain = {k: v.to_dict() if isinstance(v, Rate) else v for k, v in values.items()}
        return {**plain, "failures": list(self.failures)}


@dataclass(slots=True)
class _Seen:
    """What is kept of a recording for the attacks that need all of them."""

    runs: list[str]
    """Words that were masked together."""
    kept: list[str]
    heard: str
    lengths: list[tuple[str, float, float]]
    """Of spans of one word: the word, its own seconds, those of the masked stretch."""
    crops: list[tuple[str, Audio, Audio, Audio, int]]
    """Of such spans: the word; the stretch before, after, and turned round; the rate."""


@dataclass(slots=True)
class Verifier:
    """Looks at recordings as they are secured, and attacks them."""

    recogniser: Recogniser
    seen: list[_Seen] = field(default_factory=list)
    counts: dict[str, Count] = field(default_factory=dict)
    correlation: float = 0.0
    by_chance: float = 0.0
    untouched: bool = True
    neighbours: list[float] = field(default_factory=list)

    def observe(self, done: Secured) -> None:
        """Attack one recording as far as that can be done alone."""
        masked, rate = done.masked, done.masked.rate
        said = tokens(done.one.transcript)
        gone = [
            " ".join(word.text for word in said[span.first : span.last + 1])
            for span in masked.spans
        ]
        kept = [said[at].text for at, word in enumerate(masked.words) if word is not None]
        before, after = self._hear(done.voiced, rate), self._hear(masked.audio, rate)
        turned = turned_round(masked)
        same = np.array_equal(turned, masked.audio)
        inverted = after if same else self._hear(turned, rate)
        for name, heard in (("before", before), ("after", after), ("inverted", inverted)):
            self._count(name).add(*recovered(gone, heard, kept))
        self._errors("errors_before", [*(t.text for t in said)], before)
        self._errors("errors_after", kept, after)
        self.seen.append(_Seen(gone, kept, after, _lengths(done), _crops(done, turned)))
        self.correlation = max(self.correlation, correlation(done.voiced, masked))
        self.by_chance = max(self.by_chance, correlation_by_chance(done.voiced, masked))
        self.untouched &= untouched(done.voiced, masked)
        self.neighbours += _neighbours(done)
        self._count("exposed").add(*_exposed(done))

    def report(self, rng: np.random.Generator) -> Verification:
        """The attacks that need all recordings, and the sum; ``rng`` breaks guesses' ties."""
        words = sum(len(tokens(run)) for one in self.seen for run in one.runs)
        if not words:
            raise TooFewError("no word was masked; there is nothing to verify")
        invented = Count()
        for one, other in zip(self.seen, [*self.seen[1:], *self.seen[:1]], strict=True):
            heard = other.heard if one is not other else ""
            invented.add(*recovered(one.runs, heard, other.kept))
        chance = max(invented.hits, 1) / max(invented.total, 1)
        crops = _one_each([crop for one in self.seen for crop in one.crops], rng)
        closed = {name: Count() for name in ("before", "after", "inverted")}
        for word, (_, *sounds, rate) in crops.items():
            choices = _choices(sorted(crops), word, rng)
            for count, sound in zip(closed.values(), sounds, strict=True):
                hit = pick(sound, rate, choices, rng) == word
                count.add(int(hit), 1, 1 / len(choices))
        return Verification(
            recordings=len(self.seen),
            masked_words=words,
            open_before=self._count("before").rate(chance),
            open_recovery=self._count("after").rate(chance),
            closed_before=closed["before"].rate(),
            closed_set=closed["after"].rate(),
            length=_length_guesses([one for s in self.seen for one in s.lengths], rng),
            correlation=self.correlation,
            correlation_by_chance=self.by_chance,
            untouched=self.untouched,
            open_inverted=self._count("inverted").rate(chance),
            closed_inverted=closed["inverted"].rate(),
            errors_before=self._count("errors_before").rate(0.0),
            errors_after=self._count("errors_after").rate(0.0),
            neighbour_ms=1000 * float(np.mean(self.neighbours)) if self.neighbours else 0.0,
            exposed=self._count("exposed").rate(0.0),
        )

    def _count(self, name: str) -> Count:
        return self.counts.setdefault(name, Count())

    def _hear(self, audio: Audio, rate: int) -> str:
        return self.recogniser.transcribe(audio, rate) if np.any(audio) else ""

    def _errors(self, name: str, said: Sequence[str], heard: str) -> None:
        wanted = normalise(" ".join(said)).split()
        self._count(name).add(distance(wanted, normalise(heard).split()), len(wanted))


# ======================================================================================= the parts


def _lengths(done: Secured) -> list[tuple[str, float, float]]:
    rate = done.masked.rate
    return [
        (
            done.alignment.words[span.first].text,
            (span.before[1] - span.before[0]) / rate,
            (span.after[1] - span.after[0]) / rate,
        )
        for span in done.masked.spans
        if span.first == span.last
    ]


def _crops(done: Secured, turned: Audio) -> list[tuple[str, Audio, Audio, Audio, int]]:
    rate = done.masked.rate
    wide = round(AROUND * rate)
    found = []
    for span in done.masked.spans:
        if span.first == span.last:
            old, new = (slice(max(0, a - wide), b + wide) for a, b in (span.before, span.after))
            word = done.alignment.words[span.first].text
            sounds = (done.voiced[old], done.masked.audio[new], turned[new])
            found.append((word, *sounds, rate))
    return found


T = TypeVar("T", bound=tuple[Any, ...])


def _one_each(items: Sequence[T], rng: np.random.Generator) -> dict[str, T]:
    """One item, drawn at random, of every word (the first part of an item).

    With each word once, who prefers some words to others without listening is right in 1 of K.
    Were frequent words tried as often as they occur, their number would look like a leak.
    """
    chosen = [items[place] for place in rng.permutation(len(items))]
    return {key(item[0]): item for item in chosen}


def _choices(pool: Sequence[str], true: str, rng: np.random.Generator) -> list[str]:
    """The true word and others, in an order that tells nothing."""
    others = [word for word in pool if word != true]
    chosen = rng.permutation(len(others))[: CHOICES - 1]
    choices = [true, *(others[place] for place in chosen)]
    return [choices[place] for place in rng.permutation(len(choices))]


def _length_guesses(lengths: Sequence[tuple[str, float, float]], rng: np.random.Generator) -> Rate:
    """Guess each word by the length of its stretch, from the usual lengths of the choices."""
    usual: dict[str, list[float]] = {}
    for word, own, _ in lengths:
        usual.setdefault(key(word), []).append(own)
    count = Count()
    for word, (_, _, seen) in _one_each(lengths, rng).items():
        choices = _choices(sorted(usual), word, rng)
        apart = [abs(float(np.median(usual[choice])) - seen) for choice in choices]
        guess = choices[int(np.argmin(apart))]
        count.add(int(guess == word), 1, 1 / len(choices))
    return count.rate()


def _neighbours(done: Secured) -> list[float]:
    """Seconds of kept words that each masked stretch took."""
    return [
        sum(
            max(0.0, min(word.end, b) - max(word.start, a))
            for at, word in enumerate(done.alignment.words)
            if done.masked.words[at] is not None
        )
        for span in done.masked.spans
        for a, b in [(span.before[0] / done.masked.rate, span.before[1] / done.masked.rate)]
    ]


def _exposed(done: Secured) -> tuple[int, int]:
    """Masked words of which another alignment has too much outside the mask, and how many."""
    rate, text = done.masked.rate, done.one.transcript
    try:
        times = times_at_speed(done.voiced, rate, text, SLOWER, lang=done.lang)
    except UnalignedError:
        return 0, 0
    hits = total = 0
    for span in done.masked.spans:
        a, b = (edge / rate for edge in span.before)
        for at in range(span.first, span.last + 1):
            start, end = times[at]
            covered = max(0.0, min(end, b) - max(start, a))
            total += 1
            hits += (end - start) - covered > EXPOSED
    return hits, total
