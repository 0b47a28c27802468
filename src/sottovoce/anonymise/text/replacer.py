"""The replacer: chooses what stands for each private value, by the strategy of its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.entities import SENSITIVE
from sottovoce.anonymise.text.lexicon import LANGUAGES
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.persons import PersonIndex, is_titled
from sottovoce.anonymise.text.source_text import LanguageSpan, language_at
from sottovoce.anonymise.text.spelled import joined_letters
from sottovoce.anonymise.text.strategies import STRATEGIES, Mention, ReplacementContext, match_case
from sottovoce.anonymise.text.surrogates import Table
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.core.unicode_offsets import normalise_unicode

DEFAULT_STRATEGY = "full"
SCOPES = ("none", "utterance", "document", "corpus")
"""Where the same value gets the same replacement."""
_NO_SCOPE = SCOPES[0]
PERSON = "PER"
NAME_KINDS = (PERSON, "LOC", "ORG")
"""Types whose values have the same name in several languages."""
MIN_SPELLED = 2
"""Letters in a row that are initials rather than a spelled name, at most."""
TYPED = "typed"
_VALUE_STRATEGIES = ("named", "word", "full")
"""Strategies that put another value in place; there are no values for special categories, whose
words become their type instead."""
MIN_CONTRIBUTORS = 5
"""Texts that must share a value of the corpus before it is drawn."""
MIN_VALUES = 50
"""Shared values that a type must have before they are drawn instead of the shipped ones."""

CorpusTables = Mapping[tuple[str, str], Table]
"""Tables of the values of the corpus that is released, by type and part."""


def _unspelled(name: str) -> str:
    """Return a spelled name as a word: *a n n a* is *anna*, so both get one surrogate."""
    letters = joined_letters(name)
    return match_case(letters, name) if len(letters) > MIN_SPELLED and " " in name.strip() else name


@dataclass
class Replacer:
    """Chooses what stands for private values."""

    lang: str
    """Language code; ``auto`` and ``multi`` if the language is told with every value."""
    strategy: str = DEFAULT_STRATEGY
    """Name of a registered strategy."""
    secret: Secret = field(default_factory=Secret.generate)
    scope: str = "document"
    """One of :data:`SCOPES`."""
    probability: float = 1.0
    """p: the probability that a value is replaced."""
    policy: Mapping[str, str] = field(default_factory=dict)
    """Strategies of single types, by type."""
    corpus_tables: CorpusTables = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = {self.strategy, TYPED, *self.policy.values()}
        self._strategies = {name: STRATEGIES[name] for name in names}
        if self.scope not in SCOPES:
            message = did_you_mean("scope", self.scope, list(SCOPES))
            raise UsageError(message, code="unknown-name")
        if not 0 <= self.probability <= 1:
            raise UsageError(
                f"p is {self.probability:g}; it must be a probability between 0 and 1",
                code="out-of-range",
            )
        self._numbers: dict[bytes, int] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._contexts: dict[str, ReplacementContext] = {}
        self._name_languages: dict[tuple[str, str, str], str] = {}
        """Language from whose names a value is drawn, by scope, type and identity."""
        self._mentions = 0
        self._persons: dict[str, PersonIndex] = {}
        """The persons of each scope."""

    def use_corpus_tables(self, tables: CorpusTables) -> None:
        """Draw from values of the corpus from now on.

        Parameters
        ----------
        tables : mapping of (str, str) to Table
            The tables of :class:`CorpusValues`.
        """
        self.corpus_tables = tables
        self._contexts.clear()

    def _context(self, lang: str) -> ReplacementContext:
        """Return what is drawn from in a language; numbers of values count over all languages."""
        if lang not in self._contexts:
            self._contexts[lang] = ReplacementContext(
                lang, self.secret, self.corpus_tables, self._numbers, self._counts
            )
        return self._contexts[lang]

    def draws_from_corpus(self) -> bool:
        """Tell whether some type is drawn from values of the corpus."""
        kinds = {kind for kind, _ in self.corpus_tables}
        return bool(self.table_sizes(sorted(kinds)))

    def strategy_of(self, kind: str) -> str:
        """Return the name of the strategy for a type.

        Parameters
        ----------
        kind : str
            Entity type.
        """
        drawn = kind == SENSITIVE and self.strategy in _VALUE_STRATEGIES
        return self.policy.get(kind, TYPED if drawn else self.strategy)

    def note_persons(
        self,
        text: str,
        findings: Sequence[Finding],
        document: str,
        utterance: str,
        languages: Sequence[LanguageSpan] = (),
    ) -> None:
        """Remember names of persons, so that all names of one person get one surrogate.

        Parameters
        ----------
        text : str
            A text.
        findings : sequence of Finding
            What is private in it.
        document, utterance : str
            Names of its document and utterance.
        languages : sequence of LanguageSpan, optional
            The languages of the text; by default the language of the replacer.
        """
        if self.scope == _NO_SCOPE:
            return
        scope = self._scope_name(document, utterance)
        for finding in findings:
            if finding.kind == PERSON:
                lang = language_at(languages, finding.start) or self.lang
                index = self._persons.setdefault(scope, PersonIndex(lang))
                name = _unspelled(normalise_unicode(text[finding.start : finding.end]))
                index.note(name, titled=is_titled(text, finding.start, finding.end, lang))

    def __call__(
        self, original: str, kind: str, document: str, utterance: str, lang: str | None = None
    ) -> str | None:
        """Return what stands for a value, or None if it is kept, which has probability 1 − p."""
        lang = lang or self.lang
        scope = self._scope_name(document, utterance)
        original = normalise_unicode(original)
        person = None
        identity = " ".join(original.casefold().split())
        if kind == PERSON:
            original = _unspelled(original)
            person = self._persons.get(scope, PersonIndex(lang)).resolve(original)
            identity = person.identity
        if self._is_kept(scope, kind, identity):
            return None
        counter = "" if self.scope == _NO_SCOPE else scope
        mention = Mention(original, kind, scope, identity, counter, person)
        if lang != self.lang and self.scope != _NO_SCOPE and kind in NAME_KINDS:
            # one replacement in all languages: a name of the language where it occurs first
            lang = self._name_languages.setdefault((scope, kind, identity), lang)
        return self._strategies[self.strategy_of(kind)].replace(mention, self._context(lang))

    def _is_kept(self, *key: str) -> bool:
        if self.probability == 1:
            return False
        return bool(self.secret.generator("stay", *key).random() >= self.probability)

    def _scope_name(self, document: str, utterance: str) -> str:
        """Name the scope of a mention; without a scope every mention has its own."""
        if self.scope == _NO_SCOPE:
            self._mentions += 1
            return f"mention {self._mentions}"
        return {
            "utterance": f"utterance {document}\n{utterance}",
            "document": f"document {document}",
            "corpus": "corpus",
        }[self.scope]

    def table_sizes(self, kinds: Sequence[str]) -> dict[str, int]:
        """Return N of the tables that are drawn from, by type, for strategies that draw.

        Parameters
        ----------
        kinds : sequence of str
            Entity types.

        Returns
        -------
        dict of str to int
            The sizes; of several languages the largest, which discloses most.
        """
        sizes: dict[str, int] = {}
        for lang in [self.lang] if self.lang in LANGUAGES else LANGUAGES:
            for kind in kinds:
                strategy = self._strategies[self.strategy_of(kind)]
                size = strategy.table_size(kind, self._context(lang))
                if size is not None:
                    sizes[kind] = max(size, sizes.get(kind, 0))
        return sizes


class CorpusValues:
    """Counts the private values of a corpus, to draw replacements from them."""

    def __init__(self) -> None:
        self._texts = 0
        self._users: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}

    def add(self, text: str, findings: Sequence[Finding]) -> None:
        """Count the values of the next text.

        Parameters
        ----------
        text : str
            The text.
        findings : sequence of Finding
            What is private in it.
        """
        self._texts += 1
        for finding in findings:
            value = normalise_unicode(text[finding.start : finding.end])
            parts = [("FULL", value)]
            parts += [("I" if j else "B", word) for j, word in enumerate(value.split())]
            for part, word in parts:
                values = self._users.setdefault((finding.kind, part), {})
                count, last = values.get(word, (0, 0))
                values[word] = (count + (last != self._texts), self._texts)

    def tables(self) -> dict[tuple[str, str], Table]:
        """Return the tables to draw from, by entity type and part (``B``, ``I`` or ``FULL``).

        A value of fewer than five texts would publish somebody's name, so it is left out; a type
        with fewer than 50 shared values keeps the table of its language.
        """
        shared = {
            key: tuple(sorted(v for v, (count, _) in values.items() if count >= MIN_CONTRIBUTORS))
            for key, values in self._users.items()
        }
        return {
            key: Table((values,)) for key, values in shared.items() if len(values) >= MIN_VALUES
        }
