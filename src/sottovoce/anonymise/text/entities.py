"""Taggers of private words: which words of a sentence name a person, a place, a time …

Two a language: ``spoken``, which sees the text as a recogniser writes it, and ``written``, which
sees it as it is. τ decides how sure a tagger must be that a word is *not* private: a word is
private if P(O) < τ, so a higher τ misses less and masks more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from sottovoce.anonymise.text.conll import bare_word, spans_of
from sottovoce.anonymise.text.crf import OUTSIDE, Crf, Weights
from sottovoce.anonymise.text.lexicon import check_language, lexicon

TYPES = ("PER", "LOC", "ORG", "DATE", "TIME", "EMAIL", "PHONE", "URL", "ID", "NUM", "MISC")
PRIVATE = tuple(kind for kind in TYPES if kind != "MISC")
"""Types that are private unless others are asked for."""
TAU = 0.95
REGISTERS = ("spoken", "written")
_NEVER = np.float32(-1e6)


class Entity(NamedTuple):
    """A run of words that names something.

    A tuple, as are words and findings: there are millions, and tuples cost little to collect.
    """

    start: int
    end: int
    """The word after its last."""
    kind: str
    score: float
    rule: str
    """What found it, such as ``tagger spoken`` or ``pattern iban``."""

    @property
    def length(self) -> int:
        """Words it has."""
        return self.end - self.start


class Finder(Protocol):
    """Finds entities in sentences: a tagger of the package, or one that a user brings."""

    kinds: frozenset[str]
    """Types it can find."""
    rule: str
    card: dict[str, Any]
    beside: bool
    """Whether it is asked beside the taggers of the package, not instead of them."""

    def find(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Entities of every sentence; without τ, the most probable ones."""


class Tagger:
    """One tagger of one language."""

    beside = False

    def __init__(self, weights: Weights, lang: str) -> None:
        self.crf = Crf(weights, lexicon(lang))
        self.kinds = frozenset(label[2:] for label in weights.labels if label != OUTSIDE)
        self.card = weights.card
        self.spoken = weights.card.get("register") != "written"
        self.rule = f"tagger {weights.card.get('register', 'own')}"

    def find(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Entities of every sentence; without τ, those of the most probable tags."""
        if not self.spoken:
            return self._find(sentences, tau)
        seen = [[bare_word(word) or _hidden(word) for word in one] for one in sentences]
        kept = [[i for i, word in enumerate(one) if word] for one in seen]
        bare = [[word for word in one if word] for one in seen]
        found = self._find(bare, tau)
        return [
            [Entity(own[e.start], own[e.end - 1] + 1, e.kind, e.score, e.rule) for e in one]
            for one, own in zip(found, kept, strict=True)
        ]

    def _find(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        crf = self.crf
        emissions = crf.emissions(sentences)
        outside = [one[:, crf.outside] for one in crf.marginals(emissions)]
        chances = [one.tolist() for one in outside]
        if tau is not None:
            emissions = [
                self._constrained(one, unsure < tau)
                for one, unsure in zip(emissions, outside, strict=True)
            ]
        return [
            [
                Entity(start, end, kind, 1 - sum(own[start:end]) / (end - start), self.rule)
                for start, end, kind in spans_of(path)
            ]
            for path, own in zip(crf.best_paths(emissions), chances, strict=True)
        ]

    def _constrained(self, scores: np.ndarray, private: np.ndarray) -> np.ndarray:
        """Scores under which the best path is outside exactly where a word is not private."""
        outside = np.arange(scores.shape[1]) == self.crf.outside
        return np.where(private[:, None] == outside, _NEVER, scores)


def _hidden(word: str) -> str:
    """Words that were hidden stay in their places; marks go."""
    return word if "█" in word else ""


def shipped(lang: str) -> dict[str, Path]:
    """The weights that come with the package, by register."""
    check_language(lang)
    folder = Path(str(files("sottovoce.anonymise.text") / "models"))
    paths = {register: folder / f"{lang}.{register}.npz" for register in REGISTERS}
    return {register: path for register, path in paths.items() if path.exists()}


@cache
def shipped_tagger(lang: str, register: str) -> Tagger:
    """A tagger of the package, loaded once."""
    return Tagger(Weights.load(shipped(lang)[register]), lang)


def model_id(path: Path) -> str:
    """Name and the beginning of the SHA-256 of a file of weights."""
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def united(entities: Iterable[Entity]) -> list[Entity]:
    """Entities without overlap; what a loser covers besides stays private.

    Lists win over patterns, patterns with a form of their own over taggers, then the longer wins,
    then the surer.

    >>> both = united([Entity(0, 2, "PER", 0.9, "a"), Entity(1, 4, "ORG", 0.5, "b")])
    >>> [(one.start, one.end, one.kind) for one in both]
    [(0, 1, 'PER'), (1, 4, 'ORG')]
    """
    ranked = sorted(entities, key=lambda e: (_rank(e), -e.length, -e.score, e.start))
    owner: dict[int, Entity] = {}
    for one in ranked:
        for i in range(one.start, one.end):
            owner.setdefault(i, one)
    found: list[Entity] = []
    for i in sorted(owner):
        one = owner[i]
        if found and found[-1].end == i and i > 0 and owner[i - 1] is one:
            found[-1] = _span(one, found[-1].start, i + 1)
        else:
            found.append(_span(one, i, i + 1))
    return found


def _rank(one: Entity) -> int:
    return 0 if one.rule == "list" else 1 if one.rule[:7] == "pattern" and one.score >= 1 else 2


def _span(one: Entity, start: int, end: int) -> Entity:
    return Entity(start, end, one.kind, one.score, one.rule)
