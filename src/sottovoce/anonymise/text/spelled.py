"""Spelled and dictated values: runs of letters, of spelling alphabets and of numbers.

*My surname is s m i t h*, *Zett wie Zacharias*, *the pin is one two three*. A run is found by the
roles of its words (:mod:`.spelling`), accepted by what it is made of and by the words that announce
it (:mod:`.cues`), and is private as a whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sottovoce.anonymise.text.cues import (
    HOUSE,
    SOME_NUMBER,
    SPELLING,
    announced_kinds,
    cues,
    follows_phrase,
    shared_words,
)
from sottovoce.anonymise.text.entities import SPELLED_RULE, Entity
from sottovoce.anonymise.text.spelling import digit_words, spelling_roles

CUE_BEFORE, CUE_AFTER = 8, 5
"""Words between a cue and a run, at most."""
PLACE_BEFORE_NAME = 3
"""Words between *street* and *called*, at most."""
DIGIT_RUN = 3
"""Digits in a row, as words, that are private without a cue; longer runs are found as numbers."""
_LETTER = "(?:x*[lwshk]x*)"
_PAIR = "(?:x*[lwsk]x*j?[cq]{1,2}j?[^j])"
_NUMBER = "(?:x*[nud]x*(?:w(?=[nud]))?)"
_ITEM = f"(?:{_PAIR}|{_NUMBER}|{_LETTER}|a)"
_RUN = re.compile(f"{_ITEM}(?:j{{0,2}}{_ITEM})*")
_ITEMS = re.compile(
    f"(?P<pair>{_PAIR})|(?P<number>{_NUMBER})|(?P<letter>{_LETTER})|(?P<alphabet>a)"
)
_MODIFIED = re.compile("x[lwshk]|[lsh]x")
_ALPHABET = re.compile("a+")
_NAME_BEGINNINGS = shared_words("name_beginnings")
_EVIDENCE = frozenset("lshanudx")
_NUMBER_KINDS = ("NUM", "ID", "PHONE", "DATE")
_AMOUNTS = shared_words("amounts")
"""Number words of quantities rather than of codes."""
_OF = shared_words("of")
"""Words that do not stand between *number* and a number that names somebody."""
_TYPED = ("PER", "LOC", "EMAIL", "ID", "NUM", "PHONE", "DATE")
_ACRONYMS = shared_words("acronyms")
"""Abbreviations that are often written letter by letter; private only if they are announced."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of words and what it is made of."""

    start: int
    end: int
    roles: str
    pairs: int
    """Letters with an example that begins with them: *S as in sugar*."""
    letters: int
    alphabet: int
    """Words of a spelling alphabet in a row."""
    numbers: int
    modified: bool
    """Whether a letter is doubled, accented and so on."""

    @property
    def strong(self) -> int:
        """Letters that are not words of the language."""
        return sum(self.roles.count(role) for role in "lsh")

    @property
    def spells(self) -> bool:
        """Whether there is anything but numbers."""
        return self.pairs + self.letters + self.alphabet > 0


@dataclass(frozen=True, slots=True)
class _Cue:
    """What announces a run, and how far away."""

    kinds: frozenset[str]
    gap: Sequence[str]
    """The words between."""
    before: bool
    """Whether it stands before the run."""
    near: bool
    """Whether only fillers are between."""


def find_spelled(low: Sequence[str], lang: str) -> list[Entity]:
    """Find spelled and dictated values.

    Parameters
    ----------
    low : sequence of str
        The words of a text in lower case.
    lang : str
        Language code.

    Returns
    -------
    list of Entity
        Runs of words, in order. The type is what a cue tells (name, place, e-mail address, number);
        without a cue ``ID`` for letters and ``NUM`` for numbers.

    Examples
    --------
    >>> [entity[:3] for entity in find_spelled("my surname is s m i t h".split(), "en")]
    [(3, 8, 'PER')]
    >>> [entity[:3] for entity in find_spelled("the pin is one two three".split(), "en")]
    [(3, 6, 'NUM')]
    """
    roles = spelling_roles(low, lang)
    if _EVIDENCE.isdisjoint(roles) and "www" not in roles:
        return []
    found: list[tuple[_Run, list[_Cue]]] = []
    rest: list[tuple[_Run, list[_Cue]]] = []
    for run in _runs(roles, low):
        nearby = list(_cues_of(run, low, lang))
        accepted = _stands_alone(run, low, lang) or _is_announced(run, nearby, low, lang)
        (found if accepted else rest).append((run, nearby))
    if any(run.spells for run, _ in found):
        found += [(run, nearby) for run, nearby in rest if _continues(run)]
    return sorted(_entity(run, nearby, low) for run, nearby in found)


def joined_letters(text: str) -> str:
    """Return the word that is spelled letter by letter; nothing if other words are in the text.

    Parameters
    ----------
    text : str
        A spelled value.

    Examples
    --------
    >>> joined_letters("S-m-i-t-h"), joined_letters("d a v i d"), joined_letters("s as in sugar")
    ('smith', 'david', '')
    """
    letters = [part for part in re.split(r"[\W_]+", text.casefold()) if part]
    return "".join(letters) if all(len(letter) == 1 for letter in letters) else ""


def _runs(roles: str, low: Sequence[str]) -> Iterator[_Run]:
    """Yield runs, without single letters that are words at the side of numbers."""
    for match in _RUN.finditer(roles):
        start, end = match.span()
        if roles[start] == "w" and roles[start + 1 : start + 2] in ("n", "u", "d"):
            start += 1
        last = roles[end : end + 1]
        if roles[end - 1] == "w" and roles[end - 2] in "nud" and last not in ("", "j"):
            end -= 1
        if start < end:
            yield _counted(start, end, roles, low)


def _counted(start: int, end: int, roles: str, low: Sequence[str]) -> _Run:
    """Count what a run is made of."""
    counts = dict.fromkeys(("pair", "letter", "alphabet", "number"), 0)
    modified = False
    for item in _ITEMS.finditer(roles, start, end):
        group = item.lastgroup or ""
        if group == "pair" and not _is_example(item, low):
            continue
        counts[group] += 1
        modified |= group == "letter" and _MODIFIED.search(item[0]) is not None
    longest = max(map(len, _ALPHABET.findall(roles, start, end)), default=0)
    return _Run(
        start,
        end,
        roles[start:end],
        counts["pair"],
        counts["letter"],
        longest,
        counts["number"],
        modified,
    )


def _is_example(item: re.Match[str], low: Sequence[str]) -> bool:
    """Tell whether the example of a letter begins with it; names of letters are not compared."""
    letter = next(i for i in range(*item.span()) if item.string[i] in "lwsk")
    example, spelled = low[item.end() - 1], low[letter]
    if item.string[letter] in "sk":
        return len(example) > 1
    return len(example) > 2 and _base(example[0]) == _base(spelled[0])


def _base(letter: str) -> str:
    """Return a letter without its accent."""
    return unicodedata.normalize("NFD", letter)[:1]


def _letters(run: _Run, low: Sequence[str]) -> str:
    """Return the single letters of a run."""
    return "".join(word for word in low[run.start : run.end] if len(word) == 1 and word.isalpha())


def _stands_alone(run: _Run, low: Sequence[str], lang: str) -> bool:
    """Tell whether a run is spelled beyond doubt, whatever stands around it."""
    if run.pairs >= 2 or run.alphabet >= 3 or (run.pairs and run.roles[0] == "l"):
        return True
    words = low[run.start : run.end]
    if not run.spells:
        return run.numbers == DIGIT_RUN and digit_words(lang).issuperset(words)
    if len(words) == len(low) and (run.modified or run.strong >= 2):
        return True
    if "h" in run.roles:
        return any(word.count("-") >= 3 or word.count(".") >= 5 for word in words if len(word) > 4)
    if run.alphabet >= 2 and run.numbers:
        return True
    if run.numbers:
        figures = any(word[:1].isdigit() for word in words)
        return not figures and run.strong >= 2 and run.letters + run.numbers >= 4
    letters = _letters(run, low)
    if letters in _ACRONYMS or _is_enumeration(letters, run):
        return False
    return run.letters >= 4 or (run.letters == 3 and run.strong >= 2 and "j" not in run.roles)


def _is_enumeration(letters: str, run: _Run) -> bool:
    """Tell whether letters only count something: *a, b, c*."""
    steps = {ord(b) - ord(a) for a, b in pairwise(letters)}
    return len(letters) == run.letters and steps in ({1}, {0})


def _continues(run: _Run) -> bool:
    """Tell whether a run goes on with what was spelled in the same text: *mit e i*."""
    return run.pairs > 0 or run.modified or (run.letters >= 2 and run.strong >= 1)


def _cues_of(run: _Run, low: Sequence[str], lang: str) -> Iterator[_Cue]:
    """Yield the cues before a run, the nearest first, then those after it."""
    known = cues(lang)
    near = True
    for i in range(run.start - 1, max(run.start - CUE_BEFORE, 0) - 1, -1):
        if low[i] in (".", "?", "!"):
            break
        if kinds := announced_kinds(low[i], lang):
            yield _Cue(kinds, low[i + 1 : run.start], True, near)
        near = near and (bool(kinds) or low[i] in known.fillers)
    near = True
    for i in range(run.end, min(run.end + CUE_AFTER, len(low))):
        if low[i] in (".", "?", "!"):
            break
        if kinds := announced_kinds(low[i], lang):
            yield _Cue(kinds, low[run.end : i], False, near)
        near = near and (bool(kinds) or low[i] in known.fillers)


def _is_announced(run: _Run, nearby: Sequence[_Cue], low: Sequence[str], lang: str) -> bool:
    letters = run.spells and not run.numbers and (run.strong or run.modified)
    if letters and follows_phrase(low, run.start, cues(lang).with_letter):
        return True
    accepts = _spelling_follows if run.spells else _numbers_follow
    return any(accepts(run, cue, low) for cue in nearby)


def _spelling_follows(run: _Run, cue: _Cue, low: Sequence[str]) -> bool:
    """Tell whether a cue is enough for a run with letters."""
    if run.alphabet >= 2 or (run.pairs and cue.near):
        return True
    if run.modified and not cue.kinds.isdisjoint(("PER", "LOC", SPELLING)):
        return True
    if run.letters >= 3 and (run.strong or cue.near):
        return "." not in low[run.start : run.end] or cue.near
    if not cue.near or not run.letters:
        return False
    if run.numbers:
        return cue.before and (run.strong > 0 or run.letters == 1)
    return run.modified or (run.letters >= 2 and run.strong >= 1) or "h" in run.roles


def _numbers_follow(run: _Run, cue: _Cue, low: Sequence[str]) -> bool:
    """Tell whether a cue is enough for a run of numbers."""
    certain = run.numbers - run.roles.count("u")
    words = low[run.start : run.end]
    if not cue.near:
        secret = not cue.kinds.isdisjoint(("NUM", "DATE"))
        return secret and cue.before and run.numbers >= 3 and _AMOUNTS.isdisjoint(words)
    if HOUSE in cue.kinds and cue.before and len(cue.gap) <= 2:
        return certain >= 1 and _OF.isdisjoint(cue.gap)
    if "LOC" in cue.kinds and cue.before and cue.gap and certain >= 2:
        return _OF.isdisjoint(cue.gap) and _AMOUNTS.isdisjoint(words)
    if cue.kinds.isdisjoint((*_NUMBER_KINDS, SOME_NUMBER)) or not _OF.isdisjoint(cue.gap[-1:]):
        return False
    if not _AMOUNTS.isdisjoint(words) and cue.kinds.isdisjoint(("NUM", SOME_NUMBER)):
        return False
    if run.numbers >= 3:
        return True
    figures = any(word.isdigit() and len(word) > 2 for word in words)
    return cue.before and (figures or "d" in run.roles or (run.numbers == 2 and certain >= 1))


def _entity(run: _Run, nearby: Sequence[_Cue], low: Sequence[str]) -> Entity:
    """Make the entity of a run; a name said just before or after it, as one word, is part of it."""
    start, end = run.start, run.end
    letters = _letters(run, low)
    if len(letters) > 2:
        end += low[end : end + 1] == [letters]
        start -= low[start - 1 : start] == [letters]
    if low[start - 1 : start] and low[start - 1] in _NAME_BEGINNINGS:
        start -= 1
    return Entity(start, end, _kind(run, nearby), 1.0, SPELLED_RULE)


def _precedes(place: _Cue, name: _Cue) -> bool:
    """Tell whether a place stands shortly before *name* or *called*: *the street is called*."""
    distance = len(place.gap) - len(name.gap)
    return place.before and name.before and 0 < distance <= PLACE_BEFORE_NAME


def _kind(run: _Run, nearby: Sequence[_Cue]) -> str:
    """Return the type that the nearest cue tells."""
    for cue in nearby:
        if HOUSE in cue.kinds:
            return "LOC"
        kind = next((kind for kind in _TYPED if kind in cue.kinds), None)
        if kind == "PER" and any(
            "LOC" in other.kinds and _precedes(other, cue) for other in nearby
        ):
            return "LOC"
        if kind is not None and (run.spells or kind in (*_NUMBER_KINDS, "LOC")):
            return "ID" if run.spells and kind in ("NUM", "PHONE", "DATE") else kind
    return "ID" if run.spells else "NUM"
