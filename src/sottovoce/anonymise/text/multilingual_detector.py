"""Finding what is private in texts of several languages.

``auto`` searches every part of a text with the taggers of its language, ``multi`` with one tagger
for all languages. Patterns, cues and lists are those of the language in both cases. Where the
language is not sure, a part is searched as text of every language that it may be in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sottovoce.anonymise.text.detect import BOTH_REGISTERS, MAX_ROUNDS, Detector
from sottovoce.anonymise.text.document_names import Names
from sottovoce.anonymise.text.document_search import TextSearch, find_in_texts
from sottovoce.anonymise.text.entities import PRIVATE_TYPES, Entity, resolve_overlaps
from sottovoce.anonymise.text.lexicon import LANGUAGES, MULTILINGUAL
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.sentence_tagging import SentenceMemory
from sottovoce.anonymise.text.source_text import SourceText, TextReading
from sottovoce.anonymise.text.taggers import DEFAULT_TAU, Tagger, shipped_tagger
from sottovoce.anonymise.text.text_languages import DecidedLanguages, TextLanguages
from sottovoce.core.errors import UsageError

AUTOMATIC = "auto"
"""The language of every sentence is decided, and it is searched by the taggers of its language."""
MIXED_LANGUAGES = (AUTOMATIC, MULTILINGUAL)
"""Choices of a language that are no language."""


@dataclass(frozen=True)
class MultilingualDetector:
    """Finds what is private in texts whose language is decided sentence by sentence.

    Examples
    --------
    >>> detector = MultilingualDetector("auto")
    >>> texts = ["please call ann lee tomorrow about the train", "bitte ruf morgen hans müller an"]
    >>> [[text[f.start:f.end] for f in found]
    ...  for text, found in zip(texts, detector.find(texts), strict=True)]
    [['ann lee', 'tomorrow'], ['morgen', 'hans müller']]
    """

    lang: str
    """``auto`` or ``multi``."""
    tau: float = DEFAULT_TAU
    types: Sequence[str] = PRIVATE_TYPES
    register: str = BOTH_REGISTERS
    deny: Mapping[str, str] = field(default_factory=dict)
    allow: Iterable[str] = ()
    propagate: bool = True

    def __post_init__(self) -> None:
        _ = self._detectors  # checks the settings

    @cached_property
    def _detectors(self) -> dict[str, Detector]:
        return {
            lang: Detector(
                lang,
                self.tau,
                self.types,
                self.register,
                self.deny,
                self.allow,
                propagate=self.propagate,
                multilingual=self.lang == MULTILINGUAL,
            )
            for lang in LANGUAGES
        }

    @property
    def tagger(self) -> None:
        """No other tagger can be used: it would have to be one of every language."""
        return

    @property
    def custom_tagger(self) -> Tagger | None:
        """No other tagger."""
        return None

    @property
    def registers(self) -> tuple[str, ...]:
        """Registers of the package's taggers in use."""
        return self._detectors[LANGUAGES[0]].registers

    def find(
        self, texts: Sequence[str], documents: Sequence[str] | None = None
    ) -> list[list[Finding]]:
        """Find what is private in each text, as :meth:`.Detector.find` does.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        documents : sequence of str, optional
            Name of the document of each text; by default all texts are one document.
        """
        return find_in_texts(self, texts, documents)

    def languages(self, texts: TextReading) -> TextLanguages:
        """Decide the language of every sentence.

        Parameters
        ----------
        texts : callable
            Starts to read the texts.
        """
        return DecidedLanguages(texts())

    def search_in(self, languages: tuple[str, ...]) -> TextSearch:
        """Return what searches text of one of some languages.

        Parameters
        ----------
        languages : tuple of str
            Language codes, the most probable first.
        """
        if len(languages) == 1:
            return self._detectors[languages[0]]
        return UnionSearch(tuple(self._detectors[lang] for lang in languages))


@dataclass(frozen=True)
class UnionSearch:
    """Searches texts as text of several languages; what is private in one of them is private."""

    detectors: tuple[Detector, ...]
    """One for each language."""

    def find_label(self, text: str, kind: str) -> list[Finding]:
        """Find a whole text that is private, as :meth:`.Detector.find_label` does.

        Parameters
        ----------
        text : str
            The text, NFC-normalised.
        kind : str
            Its entity type.
        """
        return self.detectors[0].find_label(text, kind)

    def search(
        self,
        texts: Sequence[str],
        findings: Sequence[list[Finding]],
        memory: SentenceMemory | None = None,
    ) -> list[Names]:
        """Search every text by itself in every language, until nothing new is found.

        Parameters
        ----------
        texts : sequence of str
            The texts, NFC-normalised.
        findings : sequence of list of Finding
            What was found in each text before; new findings are added.
        memory : SentenceMemory, optional
            Sentences that were tagged before, which are not tagged again.
        """
        memory = memory or SentenceMemory()
        names: list[Names] = [{} for _ in texts]
        pending: Sequence[int] = range(len(texts))
        for _ in range(MAX_ROUNDS):
            before = [list(findings[i]) for i in pending]
            found: list[list[Finding]] = [[] for _ in pending]
            for detector in self.detectors:
                copies = [list(known) for known in before]
                noted = detector.search([texts[i] for i in pending], copies, memory)
                for k, i in enumerate(pending):
                    found[k] += copies[k][len(before[k]) :]
                    names[i] = noted[k] | names[i]
            for k, i in enumerate(pending):
                findings[i].extend(_disjoint(texts[i], found[k]))
            pending = [i for k, i in enumerate(pending) if found[k]]
            if not pending:
                break
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
        """
        memory = memory or SentenceMemory()
        before = [len(text_findings) for text_findings in findings]
        found: list[Names] = [{} for _ in texts]
        for detector in self.detectors:
            for i, more in enumerate(detector.search_names(texts, findings, names, memory)):
                found[i] |= more
        changed = [i for i, count in enumerate(before) if len(findings[i]) > count]
        noted = self.search([texts[i] for i in changed], [findings[i] for i in changed], memory)
        for i, more in zip(changed, noted, strict=True):
            found[i] |= more
        return found


def _disjoint(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """Make findings of several languages disjoint; all their words stay private."""
    disjoint = []
    for start, end, kind, score, rule in resolve_overlaps(Entity(*f) for f in set(findings)):
        private = text[start:end]
        bare = private.strip()
        if any(map(str.isalnum, bare)):
            first = start + private.index(bare)
            disjoint.append(Finding(first, first + len(bare), kind, score, rule))
    return disjoint


class LanguageTagger:
    """Tags every sentence with the tagger of its language, which is decided for it alone.

    Parameters
    ----------
    register : str
        One of :data:`.taggers.REGISTERS`.
    """

    def __init__(self, register: str) -> None:
        self._register = register
        self.info = shipped_tagger(LANGUAGES[0], register).info

    def tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Find the entities of every sentence.

        Parameters
        ----------
        sentences : sequence of sequence of str
            The words of each sentence.
        tau : float or None
            A word is private if P(O) < τ; None takes the most probable tags.
        """
        sources = [SourceText(" ".join(words), str(i)) for i, words in enumerate(sentences)]
        langs = [spans[0].candidates[0] for spans in DecidedLanguages(sources)]
        tagged: list[list[Entity]] = [[] for _ in sentences]
        for lang in dict.fromkeys(langs):
            indexes = [i for i, other in enumerate(langs) if other == lang]
            tagger = shipped_tagger(lang, self._register)
            found = tagger.tag([sentences[i] for i in indexes], tau)
            for i, entities in zip(indexes, found, strict=True):
                tagged[i] = entities
        return tagged


def tagger_of(lang: str, register: str) -> Tagger:
    """Return the package's tagger of a register.

    Parameters
    ----------
    lang : str
        Language code, ``auto`` or ``multi``.
    register : str
        One of :data:`.taggers.REGISTERS`.
    """
    return LanguageTagger(register) if lang == AUTOMATIC else shipped_tagger(lang, register)


AnyDetector = Detector | MultilingualDetector


def make_detector(
    lang: str,
    tau: float = DEFAULT_TAU,
    types: Sequence[str] = PRIVATE_TYPES,
    register: str = BOTH_REGISTERS,
    deny: Mapping[str, str] | None = None,
    allow: Iterable[str] = (),
    tagger: Path | str | None = None,
    propagate: bool = True,
) -> AnyDetector:
    """Make a detector for a language, or for texts of several.

    Parameters
    ----------
    lang : str
        Language code, ``auto`` or ``multi``.
    tau : float, default 0.95
        A word is private if a tagger's P(O) is below τ.
    types : sequence of str, optional
        Private types; by default all but MISC and SENSITIVE.
    register : {"both", "spoken", "written"}, default "both"
        Taggers of the package that are used.
    deny : mapping of str to str, optional
        Phrases that are always private, with their type.
    allow : iterable of str, optional
        Phrases that are never private, unless they are denied.
    tagger : Path or str, optional
        Another tagger, see :func:`.taggers.make_tagger`; only for one language.
    propagate : bool, default True
        Whether names are searched in all texts of their document.

    Raises
    ------
    UsageError
        ``exclusive-options`` for a tagger with ``auto`` or ``multi``; ``unknown-name`` for another
        language.
    """
    if lang not in MIXED_LANGUAGES:
        if lang not in LANGUAGES:
            raise UsageError(
                f"language {lang!r} is not supported; choose from "
                f"{', '.join((*LANGUAGES, *MIXED_LANGUAGES))}",
                code="unknown-name",
            )
        return Detector(lang, tau, types, register, deny or {}, allow, tagger, propagate)
    if tagger is not None:
        raise UsageError(
            f"language {lang!r} uses the taggers of the package; name the language of the texts "
            "to use another tagger",
            code="exclusive-options",
        )
    return MultilingualDetector(lang, tau, types, register, deny or {}, allow, propagate)
