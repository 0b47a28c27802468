"""Replacing what was found: eight strategies, one rule for what is drawn.

A draw is a function of a secret, of the scope and of the value: the same value in the same scope
gives the same draw, and no table of originals and replacements exists anywhere. A draw may equal
the original; excluding that would tell more (see :func:`.guarantee.epsilon_if_different`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.calendar import MONTHS, THAT_DAY
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.surface import cased_like, genitive, inflected
from sottovoce.anonymise.text.surrogates import Table, exemplar, table, tables
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.anonymise.text.view import Finding
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.core.unicode_offsets import composed

SCOPES = ("none", "utterance", "document", "corpus")
STRATEGIES = {
    "redact": f"{HIDDEN} for every private value",
    "typed": "its type: [PER]",
    "instance": "its type, numbered in order of first sight: [PER_2]",
    "named": "one fixed value a type: every place becomes London",
    "word": "every word drawn from the language's lists",
    "full": "the whole value drawn from the language's lists",
    "generalise": "dates to the month or 'that day', places to their country, others as typed",
    "hmac": "a keyed code: PER_K7QH2M4A; needs the key to be linked, and cannot be undone",
}
"""What each strategy puts in the place of a private value."""
DRAWING = ("word", "full")
PLACEHOLDERS = ("redact", "typed", "instance", "hmac")

Corpus = Mapping[tuple[str, str], Table]
"""Tables counted on the corpus that is released, by type and part."""


@dataclass
class Replacer:
    """Chooses what stands for private values.

    ``policy`` gives types a strategy of their own.
    """

    lang: str
    strategy: str = "full"
    secret: Secret = field(default_factory=Secret.generate)
    scope: str = "document"
    probability: float = 1.0
    policy: Mapping[str, str] = field(default_factory=dict)
    corpus: Corpus = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (self.strategy, *self.policy.values()):
            if name not in STRATEGIES:
                raise UsageError(did_you_mean("strategy", name, list(STRATEGIES)))
        if self.scope not in SCOPES:
            raise UsageError(did_you_mean("scope", self.scope, list(SCOPES)))
        if not 0 <= self.probability <= 1:
            raise UsageError(f"p of {self.probability:g}; a probability between 0 and 1")
        self._mentions = 0
        self._numbers: dict[bytes, int] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._full_names: dict[str, dict[str, set[str]]] = {}

    def strategy_of(self, kind: str) -> str:
        """The strategy for a type."""
        return self.policy.get(kind, self.strategy)

    def learn(self, text: str, findings: list[Finding], document: str, utterance: str) -> None:
        """Note full names, so that a family name alone gets the one of the same person."""
        place = self._place(document, utterance)
        for one in findings:
            words = composed(text[one.start : one.end]).casefold().split()
            if one.kind == "PER" and len(words) > 1:
                known = self._full_names.setdefault(place, {})
                known.setdefault(words[-1], set()).add(" ".join(words))

    def __call__(self, original: str, kind: str, document: str, utterance: str) -> str | None:
        """What stands for a value, or None if it stays, which has probability 1 − p."""
        place = self._place(document, utterance)
        original = composed(original)
        form = " ".join(original.casefold().split())
        person = self._person(form, kind, place)
        if self._stays(place, kind, person):
            return None
        return _MAKERS[self.strategy_of(kind)](self, original, kind, place, person)

    def _stays(self, *key: str) -> bool:
        if self.probability == 1:
            return False
        return bool(self.secret.generator("stay", *key).random() >= self.probability)

    def _place(self, document: str, utterance: str) -> str:
        """The name of the scope; with ``none`` a new one for every mention."""
        if self.scope == "none":
            self._mentions += 1
            return f"mention {self._mentions}"
        return {
            "utterance": f"utterance {document}\n{utterance}",
            "document": f"document {document}",
            "corpus": "corpus",
        }[self.scope]

    def _person(self, form: str, kind: str, place: str) -> str:
        """The full name that a family name belongs to, if just one is known; else the form."""
        known = self._full_names.get(place, {}).get(form, set()) if kind == "PER" else set()
        return next(iter(known)) if len(known) == 1 else form

    def _drawn(self, original: str, kind: str, part: str, *key: str) -> str:
        spelt = not any(c.isdigit() for c in original)
        values = self.corpus.get((kind, part)) or table(self.lang, kind, part, spelt)
        values = inflected(values, original, self.lang)
        value = values.draw(self.secret.generator("draw", kind, part, *key))
        value = cased_like(value, original)
        return genitive(value, original, lexicon(self.lang)) if kind in ("PER", "LOC") else value

    # ------------------------------------------------------------------------------ strategies

    def _redact(self, original: str, kind: str, place: str, person: str) -> str:
        return HIDDEN

    def _typed(self, original: str, kind: str, place: str, person: str) -> str:
        return f"[{kind}]"

    def _instance(self, original: str, kind: str, place: str, person: str) -> str:
        key = self.secret.digest("instance", place, kind, person)
        if key not in self._numbers:
            scope = "" if self.scope == "none" else place
            self._counts[scope, kind] = self._counts.get((scope, kind), 0) + 1
            self._numbers[key] = self._counts[scope, kind]
        return f"[{kind}_{self._numbers[key]}]"

    def _named(self, original: str, kind: str, place: str, person: str) -> str:
        return cased_like(exemplar(self.lang, kind), original)

    def _word(self, original: str, kind: str, place: str, person: str) -> str:
        if kind in ("EMAIL", "URL"):
            return self._address(kind, place, person)
        return " ".join(
            self._drawn(word, kind, "I" if i else "B", place, word.casefold())
            for i, word in enumerate(original.split())
        )

    def _full(self, original: str, kind: str, place: str, person: str) -> str:
        if kind in ("EMAIL", "URL"):
            return self._address(kind, place, person)
        value = self._drawn(original, kind, "FULL", place, person)
        if person != " ".join(original.casefold().split()):
            return value.split()[-1]
        return value

    def _address(self, kind: str, place: str, person: str) -> str:
        rng = self.secret.generator("address", place, person)
        name = "".join(chr(97 + int(i)) for i in rng.integers(26, size=8))
        return f"{name}@example.com" if kind == "EMAIL" else f"{name}.example.com"

    def _generalise(self, original: str, kind: str, place: str, person: str) -> str:
        day, time, number = THAT_DAY[self.lang]
        if kind == "DATE":
            words = original.casefold().split()
            month = next((m for m in MONTHS[self.lang].split() if m.casefold() in words), day)
            return cased_like(month, original) if month != day else day
        if kind == "LOC" and (country := country_of(original, self.lang)):
            return cased_like(country, original)
        return {"TIME": time, "NUM": number, "PHONE": number}.get(kind, f"[{kind}]")

    def _hmac(self, original: str, kind: str, place: str, person: str) -> str:
        code = base64.b32encode(self.secret.digest("hmac", place, kind, person)).decode()
        return f"{kind}_{code[:8]}"


_MAKERS: dict[str, Callable[[Replacer, str, str, str, str], str]] = {
    name: getattr(Replacer, f"_{name}") for name in STRATEGIES
}


def country_of(place: str, lang: str) -> str:
    """The country of a city, in the language of the text; nothing for countries themselves."""
    code = lexicon(lang).places.get(tuple(place.casefold().split()), "")
    named = (value.partition(" ") for value in tables(lang)["country"])
    return next((name for one, _, name in named if one == code), "") if code else ""


def table_sizes(replacer: Replacer, kinds: tuple[str, ...]) -> dict[str, int]:
    """N of the tables that are drawn from, by type; none for strategies that do not draw.

    For ``word`` the larger of the tables for first and later words counts: ε grows with N.
    """
    sizes: dict[str, int] = {}
    for kind in kinds:
        strategy = replacer.strategy_of(kind)
        if strategy == "full" and kind in ("EMAIL", "URL"):
            sizes[kind] = 26**8
        elif strategy in DRAWING:
            parts = ("FULL",) if strategy == "full" else ("B", "I")
            chosen = [
                replacer.corpus.get((kind, part)) or table(replacer.lang, kind, part)
                for part in parts
            ]
            sizes[kind] = max(one.size for one in chosen)
    return sizes


def corpus_tables(
    found: Mapping[tuple[str, str], Mapping[str, set[str]]], *, fewest: int = 5, smallest: int = 50
) -> dict[tuple[str, str], Table]:
    """Tables of the values of a corpus, by type and part: value → who has used it.

    Values of fewer than ``fewest`` contributors would publish somebody's name, so they are left
    out; a type with fewer than ``smallest`` values keeps the table of its language.
    """
    made: dict[tuple[str, str], Table] = {}
    for key, values in found.items():
        shared = tuple(sorted(v for v, users in values.items() if len(users) >= fewest))
        if len(shared) >= smallest:
            made[key] = Table((shared,))
    return made
