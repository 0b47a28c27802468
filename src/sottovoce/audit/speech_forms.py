"""The same recordings in two forms: as they were, and anonymised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.asr.ctc import spell
from sottovoce.attack.speech import SpeechSet
from sottovoce.core.errors import InputError, first_few
from sottovoce.corpus.formats import open_corpus
from sottovoce.findings.retrained import ANONYMISED, ORIGINAL


@dataclass(frozen=True, slots=True)
class SpeechForms:
    """Recordings as they were, and the same anonymised."""

    original: SpeechSet
    """With transcripts."""
    anonymised: SpeechSet | None = None
    """The same utterances under the same ids; None where only originals are compared."""

    def __post_init__(self) -> None:
        if self.anonymised is None:
            return
        missing = sorted(self.original.ids - self.anonymised.ids)
        if missing:
            raise InputError(
                f"{self.anonymised.corpus.name}: {len(missing):,} of "
                f"{len(self.original.corpus):,} utterances are not in it: "
                f"{first_few(missing, len(missing))}; anonymise all recordings and keep their ids",
                code="not-found",
            )

    def form(self, name: str) -> SpeechSet:
        """Return the recordings in one form, in the order of the originals.

        Parameters
        ----------
        name : {"original", "anonymised"}
            The form.
        """
        if name == ORIGINAL or self.anonymised is None:
            return self.original
        order = {utterance.id: place for place, utterance in enumerate(self.original.corpus)}
        chosen = self.anonymised.with_ids(set(order))
        utterances = sorted(chosen.corpus, key=lambda utterance: order[utterance.id])
        transcribed = (
            replace(anonymised, transcript=original.transcript, language=original.language)
            for anonymised, original in zip(utterances, self.original.corpus, strict=True)
        )
        return SpeechSet(
            replace(chosen.corpus, utterances=tuple(transcribed), places=()), chosen.key
        )

    @classmethod
    def of_folders(cls, original: Path, anonymised: Path | None = None) -> SpeechForms:
        """Open corpora as the user names them.

        Parameters
        ----------
        original : Path
            Speech with transcripts.
        anonymised : Path, optional
            The same utterances anonymised.
        """
        changed = None if anonymised is None else SpeechSet.of(open_corpus(anonymised))
        return cls(SpeechSet.of(open_corpus(original)), changed)

    @property
    def names(self) -> tuple[str, ...]:
        """The forms that there are."""
        return (ORIGINAL,) if self.anonymised is None else (ORIGINAL, ANONYMISED)

    def transcribed(self) -> SpeechForms:
        """Leave out utterances without a transcript.

        Raises
        ------
        InputError
            ``missing-transcript`` if none has one.
        """
        ids = {u.id for u in self.original.corpus if spell(u.transcript)}
        if not ids:
            raise InputError(
                f"{self.original.corpus.name}: no transcripts, which a recogniser is trained and "
                "tested with; add the column transcript",
                code="missing-transcript",
            )
        return SpeechForms(self.original.with_ids(ids), self.anonymised)
