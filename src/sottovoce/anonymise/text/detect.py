"""Finding what is private in texts: taggers, patterns, lists, and names of the document.

A text that was transformed looks different to a tagger: the neighbour of a name may look private
once the name is hidden. So a text is searched again with its private words hidden, until nothing
new is found. An anonymised text therefore stays as it is when it is anonymised again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sottovoce.anonymise.text.dictated import extend_names, without_titles
from sottovoce.anonymise.text.document_names import Names, find_known_names, note_names
from sottovoce.anonymise.text.document_search import find_in_texts
from sottovoce.anonymise.text.entities import (
    PRIVATE_TYPES,
    SENSITIVE,
    TYPES,
    Entity,
    resolve_overlaps,
    trim_punctuation,
    without_words,
)
from sottovoce.anonymise.text.institutions import find_institutions
from sottovoce.anonymise.text.lexicon import (
    MULTILINGUAL,
    check_language,
    clitics,
)
from sottovoce.anonymise.text.masked_text import Finding, MaskedText
from sottovoce.anonymise.text.number_names import retype_announced, retype_numbers
from sottovoce.anonymise.text.patterns import find_spoken, find_written
from sottovoce.anonymise.text.phrases import PhraseMatcher
from sottovoce.anonymise.text.rides import without_rides
from sottovoce.anonymise.text.sentence_tagging import SentenceMemory, tag_texts
from sottovoce.anonymise.text.source_text import TextReading
from sottovoce.anonymise.text.special_categories import find_special_categories
from sottovoce.anonymise.text.taggers import (
    DEFAULT_TAU,
    REGISTERS,
    Tagger,
    make_tagger,
    shipped_tagger,
    shipped_weights,
)
from sottovoce.anonymise.text.text_languages import OneLanguage, TextLanguages
from sottovoce.anonymise.text.tokens import HIDDEN, Token
from sottovoce.core.errors import UsageError

MAX_ROUNDS = 20
"""Rounds of searching all texts, at most; two or three are usual."""
BOTH_REGISTERS = "both"
LABEL_RULE = "label"
"""Rule of texts that are private because of their place in a file, such as speakers' names."""


@dataclass(frozen=True)
class Detector:
    """Finds what is private in texts of one language.

    Examples
    --------
    >>> findings = Detector("en").find(["call ann at nine pm"])[0]
    >>> [(finding.start, finding.end, finding.kind) for finding in findings]
    [(5, 8, 'PER'), (12, 19, 'TIME')]
    """

    lang: str
    tau: float = DEFAULT_TAU
    """A word is private if a tagger's P(O) is below τ, between 0 and 1."""
    types: Sequence[str] = PRIVATE_TYPES
    """Entity types that are private."""
    register: str = BOTH_REGISTERS
    """Taggers of the package that are used: ``spoken``, ``written`` or ``both``."""
    deny: Mapping[str, str] = field(default_factory=dict)
    """Phrases that are always private, with their type."""
    allow: Iterable[str] = ()
    """Phrases that are never private, unless they are denied."""
    tagger: Path | str | None = None
    """Another tagger, see :func:`.taggers.make_tagger`."""
    propagate: bool = True
    """Whether names are searched in all texts of their document."""
    multilingual: bool = False
    """Use the taggers for all languages instead of those of the language."""

    def __post_init__(self) -> None:
        check_language(self.lang)
        if not 0 < self.tau < 1:
            raise UsageError(
                f"τ is {self.tau:g}; it must lie between 0 and 1, e.g. {DEFAULT_TAU}",
                code="out-of-range",
            )
        _check_choice("register", self.register, (BOTH_REGISTERS, *REGISTERS))
        for kind in (*self.types, *self.deny.values()):
            _check_choice("type", kind, TYPES)

    @cached_property
    def custom_tagger(self) -> Tagger | None:
        """The tagger that the user has chosen."""
        return None if self.tagger is None else make_tagger(self.tagger, self.lang)

    @cached_property
    def _denied(self) -> PhraseMatcher:
        return PhraseMatcher(self.deny, parts=True)

    @cached_property
    def _allowed(self) -> PhraseMatcher:
        return PhraseMatcher(dict.fromkeys(self.allow, ""))

    def find(
        self, texts: Sequence[str], documents: Sequence[str] | None = None
    ) -> list[list[Finding]]:
        """Find what is private in each text.

        Parameters
        ----------
        texts : sequence of str
            The texts, in any Unicode normal form.
        documents : sequence of str, optional
            Name of the document of each text; a name that is found in one text is searched in all
            texts of its document. By default all texts are one document.

        Returns
        -------
        list of list of Finding
            The findings of each text, disjoint and in order, in characters of the text as given.
        """
        return find_in_texts(self, texts, documents)

    def languages(self, texts: TextReading) -> TextLanguages:
        """Return the language of the texts.

        Parameters
        ----------
        texts : callable
            Starts to read the texts.
        """
        return OneLanguage(self.lang)

    def search_in(self, languages: tuple[str, ...]) -> Detector:
        """Return the detector itself, which searches text of its language.

        Parameters
        ----------
        languages : tuple of str
            The language.
        """
        return self

    def find_label(self, text: str, kind: str) -> list[Finding]:
        """Find a whole text that is private because of its place in a file.

        Parameters
        ----------
        text : str
            The text, NFC-normalised.
        kind : str
            Its entity type.

        Returns
        -------
        list of Finding
            One finding; none if the type is not private, or every word is allowed or hidden.
        """
        tokens = MaskedText.hide_placeholders(text).tokens
        words = [token.text for token in tokens]
        kept = self._allowed.covered_words(words) | _hidden_words(tokens)
        if kind not in self.types or kept.issuperset(range(len(words))):
            return []
        bare = text.strip()
        start = text.index(bare)
        return [Finding(start, start + len(bare), kind, 1.0, LABEL_RULE)]

    def search(
        self,
        texts: Sequence[str],
        findings: Sequence[list[Finding]],
        memory: SentenceMemory | None = None,
    ) -> list[Names]:
        """Search every text by itself, again and again until nothing new is found.

        Parameters
        ----------
        texts : sequence of str
            The texts, NFC-normalised.
        findings : sequence of list of Finding
            What was found in each text before; new findings are added.
        memory : SentenceMemory, optional
            Sentences that were tagged before, which are not tagged again.

        Returns
        -------
        list of dict
            Names that were found with some certainty in each text, now or before, and their types.
        """
        # a tagger from elsewhere may create reference cycles
        with _gc_disabled() if self.custom_tagger is None else nullcontext():
            return self._search_again(texts, findings, memory or SentenceMemory())

    def _search_again(
        self, texts: Sequence[str], findings: Sequence[list[Finding]], memory: SentenceMemory
    ) -> list[Names]:
        names: list[Names] = [{} for _ in texts]
        for i, text_findings in enumerate(findings):
            note_names(texts[i], text_findings, self.lang, names[i])
        views = [
            MaskedText.hide_placeholders(text).hide_also(text_findings)
            for text, text_findings in zip(texts, findings, strict=True)
        ]
        pending: Sequence[int] = range(len(texts))
        for _ in range(MAX_ROUNDS):
            new = self._search([views[i] for i in pending], memory)
            pending, new = _only_changed(pending, new)
            if not pending:
                break
            for i, text_findings in zip(pending, new, strict=True):
                note_names(views[i].text, text_findings, self.lang, names[i])
                in_source = [views[i].to_source(finding) for finding in text_findings]
                findings[i].extend(in_source)
                views[i] = views[i].hide_also(in_source)
        return names

    def search_names(
        self,
        texts: Sequence[str],
        findings: Sequence[list[Finding]],
        names: Sequence[Names],
        memory: SentenceMemory | None = None,
    ) -> list[Names]:
        """Search the names of a document in its texts, and again what hiding them reveals.

        Parameters
        ----------
        texts : sequence of str
            The texts, NFC-normalised.
        findings : sequence of list of Finding
            What was found in each text before; new findings are added.
        names : sequence of dict
            The names that are searched in each text, with their types.
        memory : SentenceMemory, optional
            Sentences that were tagged before, which are not tagged again.

        Returns
        -------
        list of dict
            Names that were found in texts that have changed, as :meth:`search` returns them.
        """
        memory = memory or SentenceMemory()
        found: list[Names] = [{} for _ in texts]
        pending: Sequence[int] = range(len(texts))
        for _ in range(MAX_ROUNDS):
            views = [MaskedText.hide_placeholders(texts[i]).hide_also(findings[i]) for i in pending]
            new = [self._find_names(view, names[i]) for i, view in zip(pending, views, strict=True)]
            for i, view, text_findings in zip(pending, views, new, strict=True):
                findings[i].extend(view.to_source(finding) for finding in text_findings)
            pending, _ = _only_changed(pending, new)
            if not pending:
                break
            changed = self.search(
                [texts[i] for i in pending], [findings[i] for i in pending], memory
            )
            for i, more in zip(pending, changed, strict=True):
                found[i] |= more
        return found

    def _find_names(self, view: MaskedText, names: Names) -> list[Finding]:
        entities = find_known_names(view, names, self.lang)
        if not entities:
            return []
        allowed = self._allowed.covered_words([token.text for token in view.tokens])
        return [_to_finding(view.tokens, entity) for entity in without_words(entities, allowed)]

    def _search(self, views: Sequence[MaskedText], memory: SentenceMemory) -> list[list[Finding]]:
        """Search every text once, each by itself."""
        words = [[token.text for token in view.tokens] for view in views]
        patterns = [
            [e for e in find_written(v.text, v.tokens, self.lang) if e.kind in self.types]
            for v in views
        ]
        visible = [_hide_forms(*pair) for pair in zip(words, patterns, strict=True)]
        by_taggers = tag_texts(visible, self._taggers(), self.lang, self.tau, memory)
        return [
            [
                _to_finding(view.tokens, e)
                for e in self._combine(view.tokens, forms, written, tagged)
            ]
            for view, forms, written, tagged in zip(views, words, patterns, by_taggers, strict=True)
        ]

    def _combine(
        self,
        tokens: Sequence[Token],
        words: Sequence[str],
        written: Sequence[Entity],
        tagged: Sequence[Entity],
    ) -> list[Entity]:
        """Combine what taggers, patterns and lists have found in a text."""
        candidates = [
            *tagged,
            *find_spoken(words, self.lang),
            *find_institutions(words, self.lang),
        ]
        if SENSITIVE in self.types:
            candidates += find_special_categories(words, self.lang)
        private = resolve_overlaps([*written, *(e for e in candidates if e.kind in self.types)])
        low = [word.lower() for word in words]
        private = without_titles(extend_names(private, low, self.lang), low, self.lang)
        private = resolve_overlaps(without_rides(private, low, self.lang))
        private = retype_announced(retype_numbers(private, words), low, self.lang)
        entities = [e for e in private if e.kind in self.types]
        entities = without_words(entities, self._allowed.covered_words(words))
        denied = self._denied.find(words)
        if denied:
            entities = resolve_overlaps([*entities, *denied])
        return trim_punctuation(without_words(entities, _hidden_words(tokens)), words)

    @property
    def registers(self) -> tuple[str, ...]:
        """Registers of the package's taggers in use; none if another tagger replaces them."""
        if self.custom_tagger is not None and self.custom_tagger.info.replaces_shipped:
            return ()
        available = shipped_weights(self.tagger_language)
        return tuple(name for name in available if self.register in (name, BOTH_REGISTERS))

    @property
    def tagger_language(self) -> str:
        """Language of the package's taggers in use."""
        return MULTILINGUAL if self.multilingual else self.lang

    def _taggers(self) -> list[Tagger]:
        shipped = [shipped_tagger(self.tagger_language, name) for name in self.registers]
        return [*shipped, *([] if self.custom_tagger is None else [self.custom_tagger])]


def _only_changed(
    indexes: Sequence[int], findings: Sequence[list[Finding]]
) -> tuple[list[int], list[list[Finding]]]:
    """Leave out the texts in which nothing was found."""
    changed = [(i, f) for i, f in zip(indexes, findings, strict=True) if f]
    return [i for i, _ in changed], [f for _, f in changed]


def _check_choice(setting: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        message = f"{setting} {value!r} does not exist; choose from {', '.join(choices)}"
        raise UsageError(message, code="unknown-name")


@contextmanager
def _gc_disabled() -> Iterator[None]:
    """Pause the garbage collector: no reference cycles arise, and it takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _hide_forms(words: Sequence[str], entities: Iterable[Entity]) -> Sequence[str]:
    """Hide single words that match an exact pattern, such as e-mail addresses.

    Taggers were not trained on them, and would take the words around them for names.
    """
    exact = {e.start for e in entities if e.length == 1 and e.score >= 1}
    return [HIDDEN if i in exact else word for i, word in enumerate(words)] if exact else words


def _hidden_words(tokens: Sequence[Token]) -> set[int]:
    """Return the indexes of placeholders."""
    return {i for i, token in enumerate(tokens) if "█" in token.text}


def _to_finding(tokens: Sequence[Token], entity: Entity) -> Finding:
    """Return the characters of an entity, without clitics at either end."""
    first, last = tokens[entity.start], tokens[entity.end - 1]
    start = first.start + clitics(first.text)[0]
    end = last.start + clitics(last.text)[1]
    return Finding(start, max(end, start + 1), entity.kind, entity.score, entity.rule)
