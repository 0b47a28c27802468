"""Searching the texts of documents in several passes, in memory that does not grow with them.

The first pass searches every text by itself and collects the names of each document. A second one
searches these names in all texts of their document. Hiding a name may reveal another one, so the
pass is repeated until it adds no name. Between passes only positions are kept, in a
:class:`.finding_store.FindingStore`; the texts are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sottovoce.anonymise.text.finding_store import FindingStore
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.sentence_tagging import SentenceMemory
from sottovoce.anonymise.text.source_text import (
    CHUNK_CHARACTERS,
    SourceText,
    TextPart,
    TextReading,
    chunks,
    split_texts,
)
from sottovoce.core.unicode_offsets import NormalisedText

MAX_PASSES = 20
"""Passes over all texts, at most; two or three are usual."""
Names = dict[str, str]
"""Names with their entity type."""
OnChunk = Callable[[str], None]
"""Called with the name of the pass after every chunk."""


class TextSearch(Protocol):
    """Searches texts, each by itself."""

    @property
    def propagate(self) -> bool:
        """Whether names are searched in all texts of their document."""

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


@dataclass
class DocumentSearch:
    """Findings of all texts, and how many passes it took to find them."""

    findings: FindingStore = field(default_factory=FindingStore)
    """Findings of each part in characters of its NFC-normalised text."""
    passes: int = 1


def _ignore(name: str) -> None:
    pass


def search_documents(
    search: TextSearch,
    texts: TextReading,
    *,
    chunk_size: int = CHUNK_CHARACTERS,
    on_chunk: OnChunk = _ignore,
) -> DocumentSearch:
    """Find what is private in the texts of documents.

    Parameters
    ----------
    search : TextSearch
        Searches texts by themselves.
    texts : callable
        Starts to read the texts; called once a pass.
    chunk_size : int, default CHUNK_CHARACTERS
        Characters that are held in memory together. The findings do not depend on it.
    on_chunk : callable, optional
        Called with the name of the pass after every chunk.
    """
    result = DocumentSearch()
    known: dict[str, Names] = {}
    memory = SentenceMemory()
    grown = _search_alone(search, texts, chunk_size, on_chunk, result.findings, known, memory)
    while search.propagate and grown and result.passes < MAX_PASSES:
        before, result.findings = result.findings, FindingStore()
        chunk_findings = _chunks_with_findings(texts, chunk_size, before)
        fresh: dict[str, Names] = {}
        for parts, findings in chunk_findings:
            _search_known(search, parts, findings, known, fresh, memory)
            for part_findings in findings:
                result.findings.append(part_findings)
            on_chunk("searching names of the document")
        grown = _merge(known, fresh)
        result.passes += 1
    return result


def _search_alone(
    search: TextSearch,
    texts: TextReading,
    chunk_size: int,
    on_chunk: OnChunk,
    store: FindingStore,
    known: dict[str, Names],
    memory: SentenceMemory,
) -> bool:
    """Search every text by itself; return whether names were found."""
    for parts in chunks(split_texts(texts()), chunk_size):
        normalised = [NormalisedText.of(part.text).text for part in parts]
        kinds = [part.source.kind for part in parts]
        findings = [
            [] if kind is None else search.find_label(text, kind)
            for text, kind in zip(normalised, kinds, strict=True)
        ]
        names = search.search(normalised, findings, memory)
        for part, part_findings, part_names in zip(parts, findings, names, strict=True):
            store.append(sorted(part_findings))
            if part_names:
                _add(known.setdefault(part.source.document, {}), part_names)
        on_chunk("searching")
    return any(known.values())


def _chunks_with_findings(
    texts: TextReading, chunk_size: int, store: FindingStore
) -> Iterator[tuple[Sequence[TextPart], list[list[Finding]]]]:
    stored = iter(store)
    for parts in chunks(split_texts(texts()), chunk_size):
        yield parts, [next(stored) for _ in parts]


def _search_known(
    search: TextSearch,
    parts: Sequence[TextPart],
    findings: list[list[Finding]],
    known: Mapping[str, Names],
    fresh: dict[str, Names],
    memory: SentenceMemory,
) -> None:
    """Search the names of the documents in a chunk; collect further names in ``fresh``."""
    concerned = [i for i, part in enumerate(parts) if known.get(part.source.document)]
    documents = [parts[i].source.document for i in concerned]
    names = search.search_names(
        [NormalisedText.of(parts[i].text).text for i in concerned],
        [findings[i] for i in concerned],
        [known[document] for document in documents],
        memory,
    )
    for i, document, part_names in zip(concerned, documents, names, strict=True):
        findings[i].sort()
        _add(fresh.setdefault(document, {}), part_names)


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
    texts: Iterable[SourceText], store: FindingStore
) -> Iterator[tuple[SourceText, list[Finding]]]:
    """Yield every text with its findings, in characters of the text as given.

    Parameters
    ----------
    texts : iterable of SourceText
        The texts, as they were searched.
    store : FindingStore
        The findings of their parts.
    """
    findings: list[Finding] = []
    offset = 0
    for part, part_findings in zip(split_texts(texts), store, strict=True):
        if part_findings:
            normalised = NormalisedText.of(part.text)
            for finding in part_findings:
                start, end = normalised.source_span(finding.start, finding.end)
                findings.append(finding.moved(start + offset, end + offset))
        offset += len(part.text)
        if part.is_last:
            yield part.source, findings
            findings, offset = [], 0
