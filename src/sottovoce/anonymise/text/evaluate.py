"""How well private words are found, on text that people have tagged.

Spans count as in the CoNLL scorer (exact words and type); words count whether or not the type is
right, since a private word is hidden either way. Recall on words is the figure for privacy: what it
lacks to 1 is what leaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, Span
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.entities import Finder
from sottovoce.anonymise.text.guarantee import leak_bound
from sottovoce.core.errors import TooFewError

RESAMPLES = 1000
DIRECT = frozenset({"PER", "EMAIL", "PHONE", "ID", "URL"})
"""Types that point at one person by themselves; the others do so together."""


@dataclass(frozen=True, slots=True)
class Count:
    """Hits among what was found and what was there."""

    hits: int
    found: int
    there: int

    @property
    def precision(self) -> float:
        """Share of what was found that was there."""
        return self.hits / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of what was there that was found."""
        return self.hits / self.there if self.there else 1.0

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        total = self.found + self.there
        return 2 * self.hits / total if total else 1.0

    def to_dict(self) -> dict[str, float | int]:
        """Counts and rates."""
        rates = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {"hits": self.hits, "found": self.found, "there": self.there, **rates}


@dataclass(frozen=True)
class Evaluation:
    """What was found in tagged text, at one τ."""

    sentences: int
    words: int
    tau: float
    spans: Count
    """Entities, exact, of the most probable tags."""
    by_type: dict[str, Count]
    tokens: Count
    """Private words found at τ, by everything the detector has."""
    token_recall: dict[str, Count]
    """By type, and of words seen and unseen in lists or in the given training text."""
    whole: dict[str, Count]
    """Different values of which every mention was found: direct and indirect identifiers."""
    over_masked: float
    """Share of words that are not private and were masked."""
    interval: tuple[float, float]
    """95 % interval of the recall on words, from resamples of sentences."""

    @property
    def delta(self) -> float:
        """The leak bound."""
        return leak_bound(self.tokens.there - self.tokens.hits, self.tokens.there)

    @property
    def worst(self) -> tuple[str, float]:
        """The group of at least 30 words with the largest leak bound."""
        bounds = {
            name: leak_bound(one.there - one.hits, one.there)
            for name, one in self.token_recall.items()
            if one.there >= 30
        }
        name = max(bounds, key=lambda n: bounds[n], default="all")
        return name, bounds.get(name, self.delta)

    def to_dict(self) -> dict[str, Any]:
        """All of it, by name."""
        return {
            "sentences": self.sentences,
            "words": self.words,
            "tau": self.tau,
            "entities": self.spans.to_dict(),
            "entities_by_type": {name: one.to_dict() for name, one in self.by_type.items()},
            "tokens": {
                **self.tokens.to_dict(),
                "recall_low": self.interval[0],
                "recall_high": self.interval[1],
                "delta": self.delta,
            },
            "token_recall": {name: one.to_dict() for name, one in self.token_recall.items()},
            "whole_values": {name: one.to_dict() for name, one in self.whole.items()},
            "over_masked": self.over_masked,
            "worst_group": {"group": self.worst[0], "delta": self.worst[1]},
        }


def evaluate(
    sentences: Sequence[Sentence],
    detector: Detector,
    tagger: Finder,
    *,
    seen: Collection[str] = (),
    seed: int = 0,
) -> Evaluation:
    """Compare what is found with the tags; ``seen`` are words of the training text.

    Entities of types that the text has no tags for are left out of their precision.
    """
    private = [[s for s in one.spans if s[2] in detector.types] for one in sentences]
    if not any(private):
        raise TooFewError("no private word is tagged; check the tags (B-PER, I-PER, O …)")
    best = tagger.find([one.words for one in sentences], None)
    tags = tagger.kinds & {kind for one in sentences for _, _, kind in one.spans}
    gold = [[s for s in one.spans if s[2] in tags] for one in sentences]
    guess = [[(e.start, e.end, e.kind) for e in one if e.kind in tags] for one in best]
    masked = _masked([one.words for one in sentences], detector)
    inside = [_words(one) for one in private]
    hits = np.array([len(a & b) for a, b in zip(masked, inside, strict=True)])
    there = np.array([len(one) for one in inside])
    found = sum(map(len, masked))
    total = sum(len(one.words) for one in sentences)
    return Evaluation(
        len(sentences),
        total,
        detector.tau,
        _count(gold, guess),
        {kind: _count(_only(gold, kind), _only(guess, kind)) for kind in sorted(tags)},
        Count(int(hits.sum()), found, int(there.sum())),
        _token_recall(sentences, private, masked, detector, seen),
        _whole(sentences, private, masked),
        (found - int(hits.sum())) / max(1, total - int(there.sum())),
        _interval(hits, there, seed),
    )


def _words(spans: Sequence[Span]) -> set[int]:
    return {i for start, end, _ in spans for i in range(start, end)}


def _only(spans: Sequence[Sequence[Span]], kind: str) -> list[list[Span]]:
    return [[one for one in own if one[2] == kind] for own in spans]


def _count(gold: Sequence[Sequence[Span]], guess: Sequence[Sequence[Span]]) -> Count:
    hits = sum(len(set(a) & set(b)) for a, b in zip(gold, guess, strict=True))
    return Count(hits, sum(map(len, guess)), sum(map(len, gold)))


def _masked(sentences: Sequence[Sequence[str]], detector: Detector) -> list[set[int]]:
    """Words of which at least one character is hidden; every sentence is a document."""
    texts = [" ".join(one) for one in sentences]
    found = detector.find(texts, [str(i) for i in range(len(texts))])
    masked = []
    for words, own in zip(sentences, found, strict=True):
        position, hidden, spans = 0, set(), [(one.start, one.end) for one in own]
        for i, word in enumerate(words):
            if any(a < position + len(word) and position < b for a, b in spans):
                hidden.add(i)
            position += len(word) + 1
        masked.append(hidden)
    return masked


def _token_recall(
    sentences: Sequence[Sentence],
    private: Sequence[Sequence[Span]],
    masked: Sequence[set[int]],
    detector: Detector,
    seen: Collection[str],
) -> dict[str, Count]:
    from sottovoce.anonymise.text.lexicon import lexicon

    lex = lexicon(detector.lang)
    known = {w.casefold() for w in seen}
    hits: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for one, spans, own in zip(sentences, private, masked, strict=True):
        for start, end, kind in spans:
            for i in range(start, end):
                low = one.words[i].casefold()
                listed = low in known or low in lex.names or (low,) in lex.places
                groups = [kind]
                if kind in ("PER", "LOC"):
                    groups.append("seen names" if listed else "unseen names")
                there.update(groups)
                hits.update(groups if i in own else ())
    return {name: Count(hits[name], hits[name], there[name]) for name in sorted(there)}


def _whole(
    sentences: Sequence[Sentence],
    private: Sequence[Sequence[Span]],
    masked: Sequence[set[int]],
) -> dict[str, Count]:
    """Values all of whose mentions were found whole."""
    complete: dict[tuple[str, str], bool] = {}
    for one, spans, own in zip(sentences, private, masked, strict=True):
        for start, end, kind in spans:
            group = "direct" if kind in DIRECT else "indirect"
            key = (group, " ".join(one.words[start:end]).casefold())
            covered = own.issuperset(range(start, end))
            complete[key] = complete.get(key, True) and covered
    there = Counter(group for group, _ in complete)
    hits = Counter(group for (group, _), covered in complete.items() if covered)
    return {name: Count(hits[name], hits[name], there[name]) for name in sorted(there)}


def _interval(
    hits: np.ndarray[Any, Any], there: np.ndarray[Any, Any], seed: int
) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    some = np.flatnonzero(there)
    chosen = some[rng.integers(len(some), size=(RESAMPLES, len(some)))]
    recalls = hits[chosen].sum(axis=1) / there[chosen].sum(axis=1)
    low, high = np.quantile(recalls, (0.025, 0.975))
    return float(low), float(high)
