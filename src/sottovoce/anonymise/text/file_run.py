"""Anonymising a file: it is searched in several passes, then written block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, tee

from sottovoce.anonymise.decisions import Decisions, DocumentDecisions, text_digest
from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.anonymiser import TextAnonymiser
from sottovoce.anonymise.text.document_search import OnChunk
from sottovoce.anonymise.text.files import TextFile
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.core.engine import HERE, Engine

OnText = Callable[[SourceText, AnonymisedText], None]
_BLOCKS = 500
"""Blocks that are written between two calls of ``on_chunk``."""


class FileRun:
    """A file whose private values are known, and which is written once.

    Parameters
    ----------
    anonymiser : TextAnonymiser
        Finds and replaces private values.
    file : TextFile
        The file; it is read once a pass, and never held in memory as a whole.
    use_corpus_tables : bool, default False
        Draw values from the file itself, as for :meth:`TextAnonymiser.transform_all`.
    on_chunk : callable, optional
        Called with the name of the pass now and then.
    decisions : Decisions, optional
        What was decided in a review of the file.
    engine : Engine, optional
        What searches the texts; default this thread.

    Raises
    ------
    InputError
        For a file that cannot be read; nothing was written then.
    """

    def __init__(
        self,
        anonymiser: TextAnonymiser,
        file: TextFile,
        *,
        use_corpus_tables: bool = False,
        on_chunk: OnChunk | None = None,
        decisions: Decisions | None = None,
        engine: Engine = HERE,
    ) -> None:
        self._file = file
        self._on_chunk = on_chunk or (lambda name: None)
        self._prepared = anonymiser.prepare(
            file.texts,
            use_corpus_tables=use_corpus_tables,
            on_chunk=self._on_chunk,
            decisions=decisions,
            engine=engine,
        )
        self.passes = self._prepared.passes
        """How often the file was searched."""

    def pieces(self, *on_text: OnText) -> Iterator[str]:
        """Yield the new file, piece by piece.

        Parameters
        ----------
        *on_text : callable
            Called with each text and its new text.
        """
        blocks, ahead = tee(self._file.blocks())
        results = self._prepared.rewrite(text for block in ahead for text in block.texts)
        for i, block in enumerate(blocks):
            new = list(islice(results, len(block.texts)))
            for call in on_text:
                for source, result in zip(block.texts, new, strict=True):
                    call(source, result)
            yield block.write(new)
            if i % _BLOCKS == 0:
                self._on_chunk("writing")


def propose_for_file(
    anonymiser: TextAnonymiser, file: TextFile, decisions: Decisions | None = None
) -> Decisions:
    """Return what would be replaced in a file, for a review.

    Parameters
    ----------
    anonymiser : TextAnonymiser
        Finds private values.
    file : TextFile
        The file.
    decisions : Decisions, optional
        What was decided in an earlier review.
    """
    prepared = anonymiser.prepare(file.texts, decisions=decisions)
    return Decisions(
        tuple(
            DocumentDecisions(source.id, text_digest(source.text), tuple(decided))
            for source, decided, _ in prepared.decide(file.texts())
        )
    )
