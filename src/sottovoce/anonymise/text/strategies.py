"""Strategies: what stands in the place of a private value.

A draw is a function of a secret, of the scope and of the value: the same value in the same scope
gives the same draw, and no table of originals and replacements exists anywhere. A draw may equal
the original; excluding that would disclose more (see :func:`.guarantee.epsilon_if_different`).

A package adds a strategy with an entry point that names a :class:`TextStrategy`::

    [project.entry-points."sottovoce.text_strategies"]
    initials = "my_package:INITIALS"
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.calendar import GENERALISED, MONTHS
from sottovoce.anonymise.text.inflection import stem
from sottovoce.anonymise.text.lexicon import Lexicon, lexicon, strip_clitics
from sottovoce.anonymise.text.person_surrogates import Draw, draw_name, family_table, given_table
from sottovoce.anonymise.text.persons import PersonName
from sottovoce.anonymise.text.surrogates import Table, base_tables, exemplar, surrogate_table
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.core.registry import Registry

ADDRESS_KINDS = ("EMAIL", "URL")
"""Types whose replacements are random letters before ``example.com``."""
_ADDRESS_LETTERS = 8


@dataclass(frozen=True, slots=True)
class Mention:
    """A private value where it occurs in a text."""

    original: str
    """The value as it is written, NFC-normalised."""
    kind: str
    """Entity type, such as ``PER``."""
    scope: str
    """Name of the scope: equal values in one scope get equal replacements."""
    identity: str
    """The case-folded value; of a person, the same for all names of one person."""
    counter: str
    """Name of the counter that numbers the values of this scope."""
    person: PersonName | None = None
    """Given and family name, if it is the name of a person."""


@dataclass
class ReplacementContext:
    """What strategies draw from and remember between the mentions of one run."""

    lang: str
    secret: Secret
    corpus_tables: Mapping[tuple[str, str], Table]
    """Values of the corpus itself, by type and part; they are preferred to the shipped ones."""
    _numbers: dict[bytes, int] = field(default_factory=dict)
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def table(self, kind: str, part: str, spelt: bool = True) -> Table:
        """Return the table that values of a type are drawn from.

        Parameters
        ----------
        kind : str
            Entity type.
        part : str
            ``B`` for first words, ``I`` for later words, ``FULL`` for whole values.
        spelt : bool, default True
            Numbers in words rather than in figures.
        """
        corpus_table = self.corpus_tables.get((kind, part))
        return corpus_table or surrogate_table(self.lang, kind, part, spelt)

    def draw(self, original: str, kind: str, part: str, *key: str) -> str:
        """Draw a value in the case, and with the ending, of the original.

        Parameters
        ----------
        original : str
            What is replaced.
        kind, part : str
            Type and part, as in :meth:`table`.
        *key : str
            What the draw depends on besides the secret: equal keys give equal draws.
        """
        spelt = not any(c.isdigit() for c in original)
        values = self.table(kind, part, spelt)
        if self.lang == "lv":  # the ending shows the grammatical case
            values = values.ending_like(original.lower()[-2:])
        value = values.draw(self.secret.generator("draw", kind, part, *key))
        value = match_case(value, original)
        return match_genitive(value, original, lexicon(self.lang)) if kind in _NAMES else value

    def number(self, mention: Mention) -> int:
        """Number the values of a type in order of first occurrence.

        Parameters
        ----------
        mention : Mention
            The value; equal identities in one scope have one number.
        """
        key = self.secret.digest("instance", mention.scope, mention.kind, mention.identity)
        if key not in self._numbers:
            counter = (mention.counter, mention.kind)
            self._counts[counter] = self._counts.get(counter, 0) + 1
            self._numbers[key] = self._counts[counter]
        return self._numbers[key]


def _no_table(kind: str, context: ReplacementContext) -> int | None:
    return None


@dataclass(frozen=True)
class TextStrategy:
    """A way to replace private values."""

    description: str
    """One line for listings."""
    replace: Callable[[Mention, ReplacementContext], str]
    """Returns what stands for a mention. Draws must come from ``context.secret``."""
    table_size: Callable[[str, ReplacementContext], int | None] = _no_table
    """Number of values that a type is drawn from with equal probability, for ε; None if the
    strategy does not draw."""
    placeholder: bool = False
    """Whether replacements are recognised as such, so that anonymising twice changes nothing."""


STRATEGIES: Registry[TextStrategy] = Registry("text strategy", group="sottovoce.text_strategies")
"""Strategies by name."""
_NAMES = ("PER", "LOC")


def _redact(mention: Mention, context: ReplacementContext) -> str:
    return HIDDEN


def _typed(mention: Mention, context: ReplacementContext) -> str:
    return f"[{mention.kind}]"


def _instance(mention: Mention, context: ReplacementContext) -> str:
    return f"[{mention.kind}_{context.number(mention)}]"


def _named(mention: Mention, context: ReplacementContext) -> str:
    return match_case(exemplar(context.lang, mention.kind), mention.original)


def _word(mention: Mention, context: ReplacementContext) -> str:
    if mention.kind in ADDRESS_KINDS:
        return _address(mention, context)
    words = mention.original.split()
    keys = [word.casefold() for word in words]
    first = "B"
    if mention.person is not None:
        keys = [stem(strip_clitics(key).strip("."), context.lang) for key in keys]
        keys[0], keys[-1] = mention.person.given or keys[0], mention.person.family or keys[-1]
        first = "B" if mention.person.given else "I"
    return " ".join(
        context.draw(word, mention.kind, "I" if i else first, mention.scope, key)
        for i, (word, key) in enumerate(zip(words, keys, strict=True))
    )


def _word_table_size(kind: str, context: ReplacementContext) -> int:
    """Size of the larger table, for first or for later words: ε grows with it."""
    if kind in ADDRESS_KINDS:
        return int(26**_ADDRESS_LETTERS)
    return max(context.table(kind, part).size for part in ("B", "I"))


def _full(mention: Mention, context: ReplacementContext) -> str:
    if mention.kind in ADDRESS_KINDS:
        return _address(mention, context)
    if mention.person is not None and (mention.kind, "FULL") not in context.corpus_tables:
        return _person(mention.original, mention.person, mention.scope, context)
    value = context.draw(mention.original, mention.kind, "FULL", mention.scope, mention.identity)
    if mention.person is None or all(mention.person.parts):
        return value
    return value.split()[0 if mention.person.given else -1]


def _person(original: str, person: PersonName, scope: str, context: ReplacementContext) -> str:
    """Draw the given name, the family name or both, as the mention has them."""
    words, lang = original.split(), context.lang

    def draw(part: str) -> Draw:
        return lambda table, key: table.draw(
            context.secret.generator("draw", "PER", part, scope, key)
        )

    pieces = []
    if person.given:
        given = given_table(person.given, lang)
        pieces.append((words[0], draw_name(given, person.given, words[0], lang, draw("given"))))
    if person.family:
        family = family_table(lang)
        pieces.append(
            (words[-1], draw_name(family, person.family, words[-1], lang, draw("family")))
        )
    return " ".join(match_case(value, word) for word, value in pieces)


def _full_table_size(kind: str, context: ReplacementContext) -> int:
    if kind in ADDRESS_KINDS:
        return int(26**_ADDRESS_LETTERS)
    return context.table(kind, "FULL").size


def _address(mention: Mention, context: ReplacementContext) -> str:
    rng = context.secret.generator("address", mention.scope, mention.identity)
    name = "".join(chr(97 + int(i)) for i in rng.integers(26, size=_ADDRESS_LETTERS))
    return f"{name}@example.com" if mention.kind == "EMAIL" else f"{name}.example.com"


def _generalise(mention: Mention, context: ReplacementContext) -> str:
    lang, original, kind = context.lang, mention.original, mention.kind
    day, time, number = GENERALISED[lang]
    if kind == "DATE":
        words = original.casefold().split()
        month = next((m for m in MONTHS[lang].split() if m.casefold() in words), None)
        return day if month is None else match_case(month, original)
    if kind == "LOC" and (country := country_of(original, lang)):
        return match_case(country, original)
    return {"TIME": time, "NUM": number, "PHONE": number}.get(kind, f"[{kind}]")


def _hmac(mention: Mention, context: ReplacementContext) -> str:
    digest = context.secret.digest("hmac", mention.scope, mention.kind, mention.identity)
    return f"{mention.kind}_{base64.b32encode(digest).decode()[:8]}"


for _name, _strategy in {
    "redact": TextStrategy(f"{HIDDEN} for every private value", _redact, placeholder=True),
    "typed": TextStrategy("its type: [PER]", _typed, placeholder=True),
    "instance": TextStrategy(
        "its type, numbered in order of first occurrence: [PER_2]", _instance, placeholder=True
    ),
    "named": TextStrategy("one fixed value a type: every place becomes London", _named),
    "word": TextStrategy("every word drawn from the language's lists", _word, _word_table_size),
    "full": TextStrategy(
        "the whole value drawn from the language's lists", _full, _full_table_size
    ),
    "generalise": TextStrategy(
        "dates to the month or 'that day', places to their country, others as typed", _generalise
    ),
    "hmac": TextStrategy(
        "a keyed code: PER_K7QH2M4A; linked only with the secret, never reversed",
        _hmac,
        placeholder=True,
    ),
}.items():
    STRATEGIES.add(_name, _strategy)


def country_of(place: str, lang: str) -> str:
    """Return the country of a city, in the language of the text; nothing for countries.

    Parameters
    ----------
    place : str
        The city, in any case.
    lang : str
        Language code.
    """
    code = lexicon(lang).places.get(tuple(place.casefold().split()), "")
    countries = (row.partition(" ") for row in base_tables(lang)["country"])
    return next((name for other, _, name in countries if other == code), "") if code else ""


def match_case(value: str, original: str) -> str:
    """Write a value in lower case, in capitals or with a first capital, like the original.

    Parameters
    ----------
    value : str
        The replacement.
    original : str
        What it replaces.

    Examples
    --------
    >>> match_case("New York", "boston"), match_case("Ann", "BOB"), match_case("monday", "Friday")
    ('new york', 'ANN', 'Monday')
    """
    letters = [c for c in original if c.isalpha()]
    if not letters:
        return value
    if not any(c.isupper() for c in letters):
        return value.lower()
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return value.upper()
    return value[:1].upper() + value[1:] if letters[0].isupper() else value


def match_genitive(value: str, original: str, lexicon: Lexicon) -> str:
    """Give a German name the genitive -s of the original: *Annas* becomes *Peters*.

    Parameters
    ----------
    value : str
        The replacement.
    original : str
        What it replaces.
    lexicon : Lexicon
        Lookups of the language; those of other languages change nothing.
    """
    last = original.casefold().split()[-1] if original.split() else ""
    bare = last.removesuffix("s")
    known = bare in lexicon.names or (bare,) in lexicon.places
    if lexicon.lang == "de" and last != bare and known and last not in lexicon.names:
        return value if value.endswith(("s", "ß", "x", "z")) else value + "s"
    return value
