"""Words of the special categories of Art. 9 GDPR, found by lists of words and phrases.

Health, religion, ethnicity, political opinion, union membership, sexual orientation, biometric and
genetic data. The lists are short and precise: a word that usually means something else, such as
*depression* or *union*, is not on them. They find what is named, not what is implied.

``data/special_categories.tsv`` has a line per language and category: terms separated by blanks, the
words of a phrase joined by ``|``; a last ``*`` stands for any ending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sottovoce.anonymise.text.entities import PATTERN_RULE, SENSITIVE, Entity
from sottovoce.anonymise.text.lexicon import strip_clitics

CATEGORIES = (
    "health",
    "religion",
    "ethnicity",
    "politics",
    "union",
    "orientation",
    "biometrics",
)
"""The special categories; genetic data are listed with biometrics."""
SCORE = 0.9
_ANY_ENDING = "*"


@dataclass(frozen=True, slots=True)
class _Term:
    """A word or phrase; the last word may be the beginning of a word."""

    words: tuple[str, ...]
    any_ending: bool
    category: str

    def matches(self, cores: Sequence[str], start: int) -> bool:
        *before, last = self.words
        end = start + len(before)
        if end >= len(cores) or list(cores[start:end]) != before:
            return False
        return cores[end].startswith(last) if self.any_ending else cores[end] == last


@dataclass(frozen=True)
class _Terms:
    """Terms by how they are looked up."""

    by_first: dict[str, tuple[_Term, ...]]
    """Terms whose first word is complete, by that word, the longest first."""
    by_beginning: dict[str, _Term]
    """Terms of one word with any ending, by its beginning."""
    lengths: tuple[int, ...]
    """Lengths of these beginnings."""


@cache
def _terms(lang: str) -> _Terms:
    path = files("sottovoce.anonymise.text") / "data" / "special_categories.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    terms = [
        _Term(tuple(term.removesuffix(_ANY_ENDING).split("|")), term.endswith("*"), category)
        for row_lang, category, listed in rows
        if row_lang == lang
        for term in listed.split()
    ]
    by_first: dict[str, list[_Term]] = {}
    by_beginning: dict[str, _Term] = {}
    for term in sorted(terms, key=lambda term: -len(term.words)):
        if term.any_ending and len(term.words) == 1:
            by_beginning[term.words[0]] = term
        else:
            by_first.setdefault(term.words[0], []).append(term)
    lengths = tuple(sorted({len(beginning) for beginning in by_beginning}))
    return _Terms({k: tuple(v) for k, v in by_first.items()}, by_beginning, lengths)


def find_special_categories(words: Sequence[str], lang: str) -> list[Entity]:
    """Find words of the special categories.

    Parameters
    ----------
    words : sequence of str
        The words of a text.
    lang : str
        Language code.

    Returns
    -------
    list of Entity
        Of type ``SENSITIVE``; the rule names the category, such as ``pattern health``.

    Examples
    --------
    >>> [(e.start, e.end, e.rule) for e in find_special_categories("he is diabetic".split(), "en")]
    [(2, 3, 'pattern health')]
    """
    terms = _terms(lang)
    cores = [strip_clitics(word).casefold() for word in words]
    entities: list[Entity] = []
    for i, core in enumerate(cores):
        if entities and i < entities[-1].end:
            continue
        term = next((t for t in terms.by_first.get(core, ()) if t.matches(cores, i)), None)
        if term is None:
            beginnings = (core[:length] for length in terms.lengths if length <= len(core))
            found = (terms.by_beginning.get(beginning) for beginning in beginnings)
            term = next((t for t in found if t is not None), None)
        if term is not None:
            rule = f"{PATTERN_RULE}{term.category}"
            entities.append(Entity(i, i + len(term.words), SENSITIVE, SCORE, rule))
    return entities
