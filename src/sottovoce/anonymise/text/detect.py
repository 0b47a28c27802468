"""Finding what is private in texts: taggers, patterns, lists, and what one finding implies.

A text that was transformed looks different to a tagger: a neighbour of a name may look private
once the name is gone. So a text is looked at again with its private words hidden, until nothing
new is found. What comes out, transformed again, therefore stays as it is.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sottovoce.anonymise.text import patterns
from sottovoce.anonymise.text.adapters import own_tagger
from sottovoce.anonymise.text.entities import (
    PRIVATE,
    REGISTERS,
    TAU,
    TYPES,
    Entity,
    Finder,
    shipped,
    shipped_tagger,
    united,
)
from sottovoce.anonymise.text.lexicon import check_language, clitics, core_of, lexicon
from sottovoce.anonymise.text.lists import Phrases
from sottovoce.anonymise.text.tokens import HIDDEN, Token, is_asr_view, sentences, tokenise
from sottovoce.anonymise.text.view import Finding, View
from sottovoce.core.errors import UsageError
from sottovoce.core.unicode_offsets import Composed

SURE = 0.5
"""Score from which a name is looked for in the whole document, and from which the first word of a
sentence is one though it is a common word."""
ROUNDS = 20
"""Looks at most; two or three are the rule."""
BOTH = "both"
Tagged = dict[tuple[str, ...], list[Entity]]
"""Sentences that taggers have seen, and what they found."""
_SPREAD = ("PER", "ORG")
_NAMES = ("PER", "LOC", "ORG", "MISC")


@dataclass(frozen=True)
class Detector:
    """Finds what is private in texts of one language.

    >>> [(one.start, one.end, one.kind) for one in Detector("en").find(["call ann at nine pm"])[0]]
    [(5, 8, 'PER'), (12, 19, 'TIME')]
    """

    lang: str
    tau: float = TAU
    types: Sequence[str] = PRIVATE
    register: str = "both"
    deny: Mapping[str, str] = field(default_factory=dict)
    """Phrases that are always private, with their type."""
    allow: Iterable[str] = ()
    """Phrases that never are, unless they are denied."""
    tagger: Path | str | None = None
    """A tagger of one's own: a file of weights, used instead of those of the package, or
    ``spacy:`` and a pipeline or ``gliner:`` and a folder, used beside them."""
    propagate: bool = True

    def __post_init__(self) -> None:
        check_language(self.lang)
        if not 0 < self.tau < 1:
            raise UsageError(f"τ of {self.tau:g}; between 0 and 1, e.g. {TAU}")
        if self.register not in (BOTH, *REGISTERS):
            raise UsageError(
                f"register {self.register!r}; there are {', '.join((BOTH, *REGISTERS))}"
            )
        for kind in (*self.types, *self.deny.values()):
            if kind not in TYPES:
                raise UsageError(f"type {kind!r}; there are {', '.join(TYPES)}")

    @cached_property
    def own(self) -> Finder | None:
        """The tagger of one's own."""
        return None if self.tagger is None else own_tagger(self.tagger, self.lang)

    @cached_property
    def _denied(self) -> Phrases:
        return Phrases(self.deny, parts=True)

    @cached_property
    def _allowed(self) -> Phrases:
        return Phrases(dict.fromkeys(self.allow, ""))

    def find(
        self, texts: Sequence[str], documents: Sequence[str] | None = None
    ) -> list[list[Finding]]:
        """What is private in each text; names spread over texts of one document.

        Words are looked up in composed letters; what is found is told in the characters as given.
        """
        whole = [Composed.of(text) for text in texts]
        # whether somebody else's tagger makes cycles is not known
        with _uncollected() if self.own is None else nullcontext():
            found = self._find([one.text for one in whole], documents)
        return [
            [one.moved(*own.before(one.start, one.end)) for one in every] if own.here else every
            for own, every in zip(whole, found, strict=True)
        ]

    def _find(self, texts: Sequence[str], documents: Sequence[str] | None) -> list[list[Finding]]:
        names = documents if documents is not None else [""] * len(texts)
        views = [View.of(text) for text in texts]
        found: list[list[Finding]] = [[] for _ in texts]
        known: dict[str, dict[str, str]] = {}
        every = range(len(texts))
        pending: Sequence[int] = every
        tagged: Tagged = {}
        for _ in range(ROUNDS):
            new = self._look([views[i] for i in pending], tagged)
            changed = [i for i, own in zip(pending, new, strict=True) if own]
            for i, own in zip(pending, new, strict=True):
                self._learn(views[i].text, own, known.setdefault(names[i], {}))
            if not changed and self.propagate:
                pending = [i for i in every if known.get(names[i])]
                new = [self._again(views[i], known[names[i]]) for i in pending]
                changed = [i for i, own in zip(pending, new, strict=True) if own]
            if not changed:
                break
            for i, own in zip(pending, new, strict=True):
                back = [views[i].original(one) for one in own]
                found[i] += back
                views[i] = views[i].hiding(back) if back else views[i]
            pending = changed
        return [sorted(one, key=lambda f: f.start) for one in found]

    def _look(self, views: Sequence[View], known: Tagged) -> list[list[Finding]]:
        """One look at every text by itself."""
        words = [[token.text for token in view.tokens] for view in views]
        formed = [
            [one for one in patterns.written(v.text, v.tokens, self.lang) if one.kind in self.types]
            for v in views
        ]
        tags = self._tagged([_veiled(*one) for one in zip(words, formed, strict=True)], known)
        found: list[list[Finding]] = []
        for view, forms, form, tagged in zip(views, words, formed, tags, strict=True):
            own = view.tokens
            every = [*tagged, *patterns.spoken(forms, self.lang)]
            asked = united([*form, *(one for one in every if one.kind in self.types)])
            named = [one for one in _unnamed(asked, forms) if one.kind in self.types]
            kept = _without(named, self._allowed.words_in(forms))
            denied = self._denied.find(forms)
            entities = united([*kept, *denied]) if denied else kept
            left = _trimmed(_without(entities, _hidden(own)), forms)
            found.append([_finding(own, one) for one in left])
        return found

    def _tagged(self, words: Sequence[Sequence[str]], known: Tagged) -> list[list[Entity]]:
        """What the taggers find; a sentence they have seen is not shown to them again."""
        found: list[list[Entity]] = [[] for _ in words]
        plain = [is_asr_view([w for w in one if w != HIDDEN]) for one in words]
        pieces = [(i, *cut) for i, one in enumerate(words) for cut in sentences(one)]
        forms = [
            tuple([w.lower() for w in words[i][a:b]] if plain[i] else words[i][a:b])
            for i, a, b in pieces
        ]
        new = list(dict.fromkeys(own for own in forms if own not in known))
        known.update((own, []) for own in new)
        for tagger in self._taggers():
            for own, entities in zip(new, tagger.find(new, self.tau), strict=True):
                known[own] += [e for e in entities if not self._only_begins(own, e)]
        for (i, a, _), own in zip(pieces, forms, strict=True):
            found[i] += [e._replace(start=e.start + a, end=e.end + a) for e in known[own]]
        return found

    def _only_begins(self, words: Sequence[str], one: Entity) -> bool:
        """Whether a common word seems a name for no other reason than that a sentence begins."""
        if one.rule != "tagger written" or one.length > 1 or one.score >= SURE:
            return False
        known, core = lexicon(self.lang), words[one.start].casefold()
        first = not any(before[:1].isalnum() for before in words[: one.start])
        named = known.named(core) or (core,) in known.places
        return first and known.common(core) and not named

    @property
    def registers(self) -> tuple[str, ...]:
        """Of the package's taggers that are asked; none if one's own is asked instead."""
        if self.own is not None and not self.own.beside:
            return ()
        return tuple(name for name in shipped(self.lang) if self.register in (name, BOTH))

    def _taggers(self) -> list[Finder]:
        """Those of the registers asked for, and one's own beside or instead of them."""
        own = [] if self.own is None else [self.own]
        return [*(shipped_tagger(self.lang, name) for name in self.registers), *own]

    def _learn(self, text: str, findings: Iterable[Finding], names: dict[str, str]) -> None:
        """Note the names that were found with some certainty."""
        for one in findings:
            if one.kind in _SPREAD and one.score >= SURE:
                for token in tokenise(text[one.start : one.end]):
                    core = token.text.casefold()
                    if len(core) > 2 and core.isalpha() and not lexicon(self.lang).common(core):
                        names.setdefault(core, one.kind)

    def _again(self, view: View, names: Mapping[str, str]) -> list[Finding]:
        """Every other occurrence of names of the document."""
        tokens = view.tokens
        forms = [token.text for token in tokens]
        cores = [core_of(form).casefold() for form in forms]
        again = [
            Entity(i, i + 1, names[core], 0.0, "document")
            for i, core in enumerate(cores)
            if core in names
        ]
        return [_finding(tokens, one) for one in _without(again, self._allowed.words_in(forms))]


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cycles meanwhile: none are made, and looking costs a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _veiled(words: Sequence[str], entities: Iterable[Entity]) -> Sequence[str]:
    """Words with those hidden that have a form of their own, such as e-mail addresses.

    Taggers never saw the like, and would take the words around for names.
    """
    alone = {one.start for one in entities if one.length == 1 and one.score >= 1}
    return [HIDDEN if i in alone else word for i, word in enumerate(words)] if alone else words


def _unnamed(entities: Sequence[Entity], words: Sequence[str]) -> list[Entity]:
    """Entities with the names among them that have no letter taken for numbers.

    They belong to what stands beside them, if that is no name: *4* in *4 March 2024* to the date.
    """
    found: list[Entity] = []
    digits: Entity | None = None
    for one in entities:
        if digits is not None:
            beside = digits.end == one.start and one.kind not in _NAMES
            found += [] if beside else [digits]
            one = one._replace(start=digits.start) if beside else one
            digits = None
        if one.kind in _NAMES and not any(map(str.isalpha, "".join(words[one.start : one.end]))):
            last = found[-1] if found else None
            if last is not None and last.end == one.start and last.kind not in _NAMES:
                found[-1] = last._replace(end=one.end)
            else:
                digits = one._replace(kind="NUM")
        else:
            found.append(one)
    return found if digits is None else [*found, digits]


def _without(entities: Iterable[Entity], words: set[int]) -> list[Entity]:
    """Entities without some words; what is left of one on both sides becomes two."""
    left: list[Entity] = []
    for one in entities:
        for i in range(one.start, one.end):
            if i in words:
                continue
            if left and left[-1].end == i > one.start and i - 1 not in words:
                last = left.pop()
                left.append(Entity(last.start, i + 1, one.kind, one.score, one.rule))
            else:
                left.append(Entity(i, i + 1, one.kind, one.score, one.rule))
    return left


def _trimmed(entities: Iterable[Entity], words: Sequence[str]) -> list[Entity]:
    """Entities without marks at their ends; those of marks alone go."""
    kept = []
    for one in entities:
        inside = [i for i in range(one.start, one.end) if any(map(str.isalnum, words[i]))]
        if inside:
            span = (inside[0], inside[-1] + 1)
            kept.append(Entity(*span, one.kind, one.score, one.rule))
    return kept


def _hidden(tokens: Sequence[Token]) -> set[int]:
    """Words that are placeholders already."""
    return {i for i, token in enumerate(tokens) if "█" in token.text}


def _finding(tokens: Sequence[Token], one: Entity) -> Finding:
    """Its characters, without clitics at either end."""
    first, last = tokens[one.start], tokens[one.end - 1]
    start = first.start + clitics(first.text)[0]
    end = last.start + clitics(last.text)[1]
    return Finding(start, max(end, start + 1), one.kind, one.score, one.rule)
