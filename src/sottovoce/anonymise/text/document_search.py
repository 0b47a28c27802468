"""Searching the texts of documents in several passes, in memory that does not grow with them.

The first pass searches every text by itself and collects the names of each document. A second one
searches these names in all texts of their document. Hiding a name may reveal another one, so the
pass is repeated until it adds no name. If languages were decided, a text may look like another
language once its private words are hidden, and is then searched as that language too. Between
passes only positions are kept, in a :class:`.finding_store.FindingStore`; the texts are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sottovoce.anonymise.text.document_names import Names
from sottovoce.anonymise.text.finding_store import FindingStore
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.sentence_tagging import SentenceMemory
from sottovoce.anonymise.text.source_text import (
    CHUNK_CHARACTERS,
    LanguageSpan,
    SourceText,
    TextPart,
    TextReading,
    chunks,
    split_texts,
)
from sottovoce.anonymise.text.text_languages import TextLanguages
from sottovoce.core.engine import HERE, Engine
from sottovoce.core.unicode_offsets import NormalisedText

SEARCH_MEMORY = 500_000_000
"""Bytes that a worker of a cluster needs: taggers, word lists and a chunk."""
MAX_PASSES = 20
"""Passes over all texts, at most; two or three are usual."""
OnChunk = Callable[[str], None]
"""Called with the name of the pass after every chunk."""


class TextSearch(Protocol):
    """Searches texts of one language, each by itself."""

    def find_label(self, text: str, kind: str) -> list[Finding]:
        """Find a whole text that is private because of its place in the file."""

    def search(
        self,
        texts: Sequence[str],
        findings: Sequence[list[Finding]],
        memory: SentenceMemory | None = None,
    ) -> list[Names]:
        """Add what is private in each text; return the names that were found with certainty."""

    def search_names(
        self,
        texts: Sequence[str],
        findings: Sequence[list[Finding]],
        names: Sequence[Names],
        memory: SentenceMemory | None = None,
    ) -> list[Names]:
        """Add where names of the document occur and what this reveals; return new names."""


class LanguageSearch(Protocol):
    """Searches texts, whatever their language."""

    @property
    def propagate(self) -> bool:
        """Whether names are searched in all texts of their document."""

    def languages(self, texts: TextReading) -> TextLanguages:
        """Return the languages of all texts."""

    def search_in(self, languages: tuple[str, ...]) -> TextSearch:
        """Return what searches text of one of some languages, the most probable first."""


@dataclass
class DocumentSearch:
    """Findings of all texts, and how many passes it took to find them."""

    languages: TextLanguages
    """The languages of each text."""
    findings: FindingStore = field(default_factory=FindingStore)
    """Findings of each part in characters of its NFC-normalised text."""
    passes: int = 1
    """How often the texts were searched."""


def _ignore(name: str) -> None:
    pass


def search_documents(
    search: LanguageSearch,
    texts: TextReading,
    *,
    chunk_size: int = CHUNK_CHARACTERS,
    on_chunk: OnChunk = _ignore,
    engine: Engine = HERE,
) -> DocumentSearch:
    """Find what is private in the texts of documents.

    Parameters
    ----------
    search : LanguageSearch
        Searches texts by themselves.
    texts : callable
        Starts to read the texts; called once a pass.
    chunk_size : int, default CHUNK_CHARACTERS
        Characters that are held in memory together. The findings do not depend on it.
    on_chunk : callable, optional
        Called with the name of the pass after every chunk.
    engine : Engine, optional
        What searches chunks, if it is a cluster; threads would wait for each other.
    """
    chosen = engine if engine.remote else HERE
    run = _DocumentRun(search, texts, chunk_size, on_chunk, chosen)
    run.search_alone()
    while True:
        while search.propagate and run.has_new_names and run.result.passes < MAX_PASSES:
            run.search_names()
        changed = run.result.languages.widen(lambda: with_findings(texts(), run.result))
        if not changed or run.result.passes >= MAX_PASSES:
            return run.result
        run.search_alone(changed)


@dataclass(frozen=True, slots=True)
class SearchWork:
    """Parts of texts that are searched together."""

    parts: tuple[TextPart, ...]
    findings: tuple[list[Finding], ...]
    """What was found before in each part."""
    wanted: tuple[int, ...]
    """Parts that are searched now."""
    names: Mapping[str, Names] | None
    """Names of the documents to search for; None to search every part by itself."""
    first: bool
    """Whether nothing was searched before."""


class SearchParts:
    """Searches parts of texts, on any worker; findings do not depend on what it remembers.

    Parameters
    ----------
    search : LanguageSearch
        Searches texts by themselves.
    """

    def __init__(self, search: LanguageSearch) -> None:
        self.search = search
        self._memory = SentenceMemory()

    def __reduce__(self) -> tuple[object, ...]:
        return SearchParts, (self.search,)

    def __call__(self, work: SearchWork) -> tuple[list[list[Finding]], dict[int, Names]]:
        """Return all findings of each part, and new names by the number of the part.

        Parameters
        ----------
        work : SearchWork
            The parts, and what is known about them.
        """
        parts = work.parts
        findings = [list(before) for before in work.findings]
        names: dict[int, Names] = {}
        for search, indexes in self._by_languages(parts, work.wanted):
            normalised = [NormalisedText.of(parts[i].text).text for i in indexes]
            chosen = [findings[i] for i in indexes]
            if work.names is None:
                if work.first:
                    _find_labels(search, [parts[i] for i in indexes], normalised, chosen)
                found = search.search(normalised, chosen, self._memory)
            else:
                known = [work.names[parts[i].source.document] for i in indexes]
                found = search.search_names(normalised, chosen, known, self._memory)
            names |= zip(indexes, found, strict=True)
        for i in work.wanted:
            findings[i].sort()
        return findings, {i: names[i] for i in work.wanted}

    def _by_languages(
        self, parts: Sequence[TextPart], indexes: Iterable[int]
    ) -> Iterator[tuple[TextSearch, list[int]]]:
        """Yield the parts of each language, by index, with what searches them."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for i in indexes:
            groups.setdefault(parts[i].languages, []).append(i)
        for languages, members in groups.items():
            yield self.search.search_in(languages), members


def _find_labels(
    search: TextSearch,
    parts: Sequence[TextPart],
    texts: Sequence[str],
    findings: Sequence[list[Finding]],
) -> None:
    """Add texts that are private because of their place in the file."""
    for part, text, part_findings in zip(parts, texts, findings, strict=True):
        if part.source.kind is not None:
            part_findings += search.find_label(text, part.source.kind)


class _DocumentRun:
    """Passes over the texts of documents; collects findings, and names by document."""

    def __init__(
        self,
        search: LanguageSearch,
        texts: TextReading,
        chunk_size: int,
        on_chunk: OnChunk,
        engine: Engine,
    ) -> None:
        self._texts, self._engine = texts, engine
        self._chunk_size, self._on_chunk = chunk_size, on_chunk
        self._search = SearchParts(search)
        self._known: dict[str, Names] = {}
        """Names by document."""
        self.has_new_names = False
        """Whether there are names that were not yet searched in their document."""
        self.result = DocumentSearch(search.languages(texts), passes=0)

    def search_alone(self, texts: Collection[int] | None = None) -> None:
        """Search every text by itself; of texts that were searched before, those with a number."""

        def work(parts: Sequence[TextPart], findings: tuple[list[Finding], ...]) -> SearchWork:
            wanted = [i for i, p in enumerate(parts) if texts is None or p.index in texts]
            return SearchWork(tuple(parts), findings, tuple(wanted), None, texts is None)

        self.has_new_names |= _merge(self._known, self._pass("searching", work))

    def search_names(self) -> None:
        """Search the names of the documents in all their texts, and what hiding them reveals."""

        def work(parts: Sequence[TextPart], findings: tuple[list[Finding], ...]) -> SearchWork:
            wanted = [i for i, part in enumerate(parts) if self._known.get(part.source.document)]
            documents = dict.fromkeys(parts[i].source.document for i in wanted)
            names = {document: self._known[document] for document in documents}
            return SearchWork(tuple(parts), findings, tuple(wanted), names, False)

        fresh = self._pass("searching names of the document", work)
        self.has_new_names = _merge(self._known, fresh)

    def _pass(self, name: str, make_work: MakeWork) -> dict[str, Names]:
        """Search the texts again, with what was found before; return new names by document."""
        before, self.result.findings = self.result.findings, FindingStore()
        stored: Iterator[list[Finding]] = iter(before)
        first_pass = self.result.passes == 0
        pieces = chunks(split_texts(self._texts(), self.result.languages), self._chunk_size)
        works = (
            make_work(parts, tuple([] if first_pass else next(stored) for _ in parts))
            for parts in pieces
        )
        fresh: dict[str, Names] = {}
        for work, (findings, names) in self._engine.map(
            self._search, works, label=name, memory=SEARCH_MEMORY
        ):
            _collect(work.parts, names, fresh)
            for part_findings in findings:
                self.result.findings.append(part_findings)
            self._on_chunk(name)
        self.result.passes += 1
        return fresh


MakeWork = Callable[[Sequence[TextPart], tuple[list[Finding], ...]], SearchWork]
"""Decides what is searched in a chunk."""


def _collect(
    parts: Sequence[TextPart], names: Mapping[int, Names], fresh: dict[str, Names]
) -> None:
    """Add the names of parts, in order, to those of their documents."""
    for i, part_names in names.items():
        if part_names:
            _add(fresh.setdefault(parts[i].source.document, {}), part_names)


def _merge(known: dict[str, Names], fresh: Mapping[str, Names]) -> bool:
    """Add new names to the known ones; return whether there were any."""
    before = sum(map(len, known.values()))
    for document, names in fresh.items():
        _add(known.setdefault(document, {}), names)
    return sum(map(len, known.values())) > before


def _add(names: Names, more: Names) -> None:
    """Add names; the type of a name that is there already stays."""
    for name, kind in more.items():
        names.setdefault(name, kind)


def with_findings(
    texts: Iterable[SourceText], found: DocumentSearch
) -> Iterator[tuple[SourceText, list[Finding], Sequence[LanguageSpan]]]:
    """Yield every text with its findings, in characters of the text as given, and its languages.

    Parameters
    ----------
    texts : iterable of SourceText
        The texts, as they were searched.
    found : DocumentSearch
        What was found in them.
    """
    findings: list[Finding] = []
    offset = 0
    languages = iter(found.languages)
    parts = split_texts(texts, found.languages)
    for part, part_findings in zip(parts, found.findings, strict=True):
        if part_findings:
            normalised = NormalisedText.of(part.text)
            for finding in part_findings:
                start, end = normalised.source_span(finding.start, finding.end)
                findings.append(finding.moved(start + offset, end + offset))
        offset += len(part.text)
        if part.is_last:
            yield part.source, findings, next(languages)
            findings, offset = [], 0


def find_in_texts(
    search: LanguageSearch, texts: Sequence[str], documents: Sequence[str] | None = None
) -> list[list[Finding]]:
    """Find what is private in each text.

    Parameters
    ----------
    search : LanguageSearch
        Searches texts by themselves.
    texts : sequence of str
        The texts, in any Unicode normal form.
    documents : sequence of str, optional
        Name of the document of each text; by default all texts are one document.
    """
    names = documents if documents is not None else [""] * len(texts)
    sources = [SourceText(*pair) for pair in zip(texts, names, strict=True)]
    found = search_documents(search, lambda: sources)
    return [findings for _, findings, _ in with_findings(sources, found)]
