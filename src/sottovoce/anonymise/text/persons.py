"""Persons of a text: which names belong to one person, so that each gets one surrogate.

*Angela Merkel*, *Frau Merkel*, *Merkel* and *Angela* are one person if the scope holds no other
Merkel and no other Angela. A given name and a family name are drawn separately, each as a function
of the name itself, so relatives keep a common family name. Case endings do not make new names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sottovoce.anonymise.text.dictated import PARTICLES, titles_of
from sottovoce.anonymise.text.inflection import stem
from sottovoce.anonymise.text.lexicon import lexicon, strip_clitics

BESIDE = 24
"""Characters beside a name in which a title is searched."""
FAMILY_FIRST = ("es",)
"""Languages in which the first of two family names is the one that is used alone."""


@dataclass(frozen=True, slots=True)
class PersonName:
    """What a mention says of a person."""

    identity: str
    """Same for all names of one person."""
    given: str
    """Key of the given name; nothing if only the family name is mentioned."""
    family: str
    """Key of the family name; nothing if only the given name is mentioned."""

    @property
    def parts(self) -> tuple[str, str]:
        """Keys of given and family name."""
        return self.given, self.family


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The parts of a name; keys are without case endings."""

    given: str
    initial: str
    """First letter of the given name, if only that is written."""
    family: str
    family_words: tuple[str, ...]


@dataclass
class PersonIndex:
    """The persons of one scope."""

    lang: str
    _families: dict[str, str] = field(default_factory=dict)
    """The family name that a word belongs to, by word."""
    _by_family: dict[str, str] = field(default_factory=dict)
    _by_given: dict[str, str] = field(default_factory=dict)
    _by_initial: dict[tuple[str, str], str] = field(default_factory=dict)
    """The one person with a name; nothing if there are several."""
    _given_of: dict[str, str] = field(default_factory=dict)
    """The key of the given name of a person."""

    def note(self, name: str, *, titled: bool = False) -> None:
        """Remember the parts of a name.

        Parameters
        ----------
        name : str
            A name as it is written.
        titled : bool, default False
            Whether a title stands beside it: a single name is then a family name.
        """
        words = self._words(name)
        if len(words) > 1:
            self._note_full(self._parse(words))
        elif words and titled:
            self._families.setdefault(self._key(words[0]), self._key(words[0]))

    def _note_full(self, parsed: _Parsed) -> None:
        for word in (parsed.family, *parsed.family_words):
            self._families.setdefault(word, parsed.family)
        if not parsed.given:
            return
        person = f"{parsed.given} {parsed.family}"
        self._given_of[person] = parsed.given
        _note_only(self._by_family, parsed.family, person)
        _note_only(self._by_given, parsed.given, person)
        initial = (parsed.given[:1], parsed.family)
        if self._by_initial.setdefault(initial, person) != person:
            self._by_initial[initial] = ""

    def resolve(self, name: str) -> PersonName:
        """Return which person a name is of.

        Parameters
        ----------
        name : str
            A name as it is written.
        """
        words = self._words(name) or [name.casefold()]
        if len(words) == 1:
            return self._resolve_single(words[0])
        parsed = self._parse(words)
        if not parsed.given and not parsed.initial:
            self._families.setdefault(parsed.family, parsed.family)
            return self._resolve_single(parsed.family)
        given, family = parsed.given, self._known(parsed.family)
        if parsed.initial:
            person = self._by_initial.get((parsed.initial, family), "")
            given = self._given_of.get(person, parsed.initial)
        return PersonName(f"{given} {family}", given, family)

    def _resolve_single(self, word: str) -> PersonName:
        family = self._known(self._key(word))
        if family in self._families:
            family = self._families[family]
            return PersonName(self._by_family.get(family) or family, "", family)
        given = self._key(word)
        if given in self._by_given:
            return PersonName(self._by_given[given] or given, given, "")
        return PersonName(given, given, given)

    def _known(self, key: str) -> str:
        """Return the form of a family name that was noted: with or without a genitive -s."""
        for form in (key, key.removesuffix("s"), f"{key}s"):
            if form in self._families:
                return self._families[form]
        return key

    def _words(self, name: str) -> list[str]:
        """Return the words of a name without titles, clitics and the dots of initials."""
        titles = titles_of(self.lang)
        words = (strip_clitics(word).strip(".,").casefold() for word in name.split())
        return [word for part in words for word in _initials(part) if word and word not in titles]

    def _parse(self, words: Sequence[str]) -> _Parsed:
        given, rest = ("", words) if words[0] in PARTICLES else (words[0], words[1:])
        name_kind = lexicon(self.lang).name_kind
        family = [
            word
            for word in rest
            if len(word) > 1 and word not in PARTICLES and name_kind(word) != "F"
        ] or [rest[-1]]
        keys = tuple(self._key(word) for word in family)
        main = keys[0 if self.lang in FAMILY_FIRST else -1]
        pieces = tuple(piece for word in family for piece in self._pieces(word))
        initial = given if len(given) == 1 else ""
        given_key = self._key(given) if given and not initial else ""
        return _Parsed(given_key, initial, main, (*keys, *pieces))

    def _pieces(self, word: str) -> Iterator[str]:
        """Yield the parts of a double-barrelled name."""
        if "-" in word:
            yield from (self._key(part) for part in word.split("-") if len(part) > 2)

    def _key(self, word: str) -> str:
        return stem(word, self.lang)


def is_titled(text: str, start: int, end: int, lang: str) -> bool:
    """Tell whether a title stands beside a name: before it, in Latvian after it.

    Parameters
    ----------
    text : str
        The text.
    start, end : int
        Characters of the name.
    lang : str
        Language code.
    """
    before, after = text[max(start - BESIDE, 0) : start], text[end : end + BESIDE]
    beside = after.split(None, 1)[:1] if lang == "lv" else before.split()[-1:]
    return bool(beside) and beside[0].strip(".,;:!?").casefold() in titles_of(lang)


def _note_only(persons: dict[str, str], name: str, person: str) -> None:
    """Remember the person of a name; nothing if there are several."""
    if persons.setdefault(name, person) != person:
        persons[name] = ""


def _initials(word: str) -> list[str]:
    """Split initials that are written together: *j.r.r*."""
    letters = word.split(".")
    return letters if len(letters) > 1 and all(len(letter) == 1 for letter in letters) else [word]
