"""Entities: runs of words that name something, their types, and how overlaps are resolved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

SENSITIVE = "SENSITIVE"
"""Type of words of the special categories of Art. 9 GDPR, such as health or religion."""
TYPES = (
    *("PER", "LOC", "ORG", "DATE", "TIME", "EMAIL", "PHONE", "URL", "ID", "NUM", "MISC"),
    SENSITIVE,
)
"""Every entity type: person, place, organisation, …, identifier, long number, other name."""
PRIVATE_TYPES = tuple(kind for kind in TYPES if kind not in ("MISC", SENSITIVE))
"""Types that are private by default."""


def parse_types(listed: str) -> tuple[str, ...]:
    """Return the types of a list such as ``PER,LOC``; whether they exist is checked later.

    Parameters
    ----------
    listed : str
        Types, separated by commas, in any case.
    """
    return tuple(listed.upper().replace(" ", "").split(","))


LIST_RULE = "list"
"""Rule of entities that were found in a list of phrases."""
PATTERN_RULE = "pattern "
"""Beginning of the rule of entities that were found by a pattern; the pattern's name follows."""

SPELLED_RULE = f"{PATTERN_RULE}spelled"
"""Rule of runs of letters, and of numbers that were announced."""


class Entity(NamedTuple):
    """A run of words that names something.

    Tokens, entities and findings are tuples rather than dataclasses: there are millions of them,
    and tuples are cheap for the garbage collector.
    """

    start: int
    """Index of its first word."""
    end: int
    """Index of the word after its last one."""
    kind: str
    """One of :data:`TYPES`."""
    score: float
    """How sure the rule is, from 0 to 1."""
    rule: str
    """What found it, such as ``tagger spoken`` or ``pattern iban``."""

    @property
    def length(self) -> int:
        """Number of its words."""
        return self.end - self.start


def resolve_overlaps(entities: Iterable[Entity]) -> list[Entity]:
    """Make entities disjoint; the words of an entity that loses stay private.

    Lists win over patterns, exact patterns over taggers, then the longer entity over the shorter
    one, then the higher score.

    Parameters
    ----------
    entities : iterable of Entity
        Entities of one text, in any order.

    Returns
    -------
    list of Entity
        Disjoint entities in order of their words; together they cover the same words.

    Examples
    --------
    >>> spans = [Entity(0, 2, "PER", 0.9, "a"), Entity(1, 4, "ORG", 0.5, "b")]
    >>> [(entity.start, entity.end, entity.kind) for entity in resolve_overlaps(spans)]
    [(0, 1, 'PER'), (1, 4, 'ORG')]
    """
    ordered = sorted(entities, key=lambda e: e.start)
    if all(before.end <= after.start for before, after in pairwise(ordered)):
        return ordered
    ranked = sorted(ordered, key=lambda e: (_priority(e), -e.length, -e.score, e.start))
    winners: dict[int, Entity] = {}
    for entity in ranked:
        for i in range(entity.start, entity.end):
            winners.setdefault(i, entity)
    disjoint: list[Entity] = []
    for i in sorted(winners):
        entity = winners[i]
        if disjoint and disjoint[-1].end == i and i > 0 and winners[i - 1] is entity:
            disjoint[-1] = Entity(disjoint[-1].start, i + 1, *entity[2:])
        else:
            disjoint.append(Entity(i, i + 1, *entity[2:]))
    return disjoint


def _priority(entity: Entity) -> int:
    """Rank of an entity's rule; the lowest wins."""
    if entity.rule == LIST_RULE:
        return 0
    return 1 if entity.rule.startswith(PATTERN_RULE) and entity.score >= 1 else 2


def without_words(entities: Iterable[Entity], words: AbstractSet[int]) -> list[Entity]:
    """Remove words from entities; what is left on both sides of a word becomes two entities.

    Parameters
    ----------
    entities : iterable of Entity
        Disjoint entities in order.
    words : set of int
        Indexes of the words to remove.
    """
    left: list[Entity] = []
    for entity in entities:
        for i in range(entity.start, entity.end):
            if i in words:
                continue
            if left and left[-1].end == i > entity.start and i - 1 not in words:
                left[-1] = Entity(left[-1].start, i + 1, *entity[2:])
            else:
                left.append(Entity(i, i + 1, *entity[2:]))
    return left


def trim_punctuation(entities: Iterable[Entity], words: Sequence[str]) -> list[Entity]:
    """Remove punctuation marks at the ends of entities, and entities of nothing else.

    The plus sign before a telephone number is part of it.

    Parameters
    ----------
    entities : iterable of Entity
        Entities of one text.
    words : sequence of str
        The words of the text.
    """
    trimmed = []
    for entity in entities:
        inside = [i for i in range(entity.start, entity.end) if any(map(str.isalnum, words[i]))]
        if inside:
            plus = inside[0] > entity.start and words[inside[0] - 1] == "+"
            trimmed.append(Entity(inside[0] - plus, inside[-1] + 1, *entity[2:]))
    return trimmed
