"""The exports of ``sottovoce anonymise recording``: one, or one for each purpose that was drawn."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.recording_outcome import Outcome
from sottovoce.core.errors import InputError

if TYPE_CHECKING:
    from sottovoce.anonymise import Secret
    from sottovoce.anonymise.decisions import Decisions
    from sottovoce.anonymise.recording.ledger import Ledger
    from sottovoce.anonymise.recording.private_words import Finder
    from sottovoce.anonymise.recording.release import Export
    from sottovoce.anonymise.recording.secure import Settings
    from sottovoce.anonymise.recording.verification import Verifier
    from sottovoce.core.engine import Engine
    from sottovoce.core.types import Progress
    from sottovoce.corpus.utterance import Corpus


@dataclass(frozen=True, slots=True)
class Exporter:
    """What all exports of one command have in common."""

    secret: Secret
    settings: Settings
    finder: Finder | None
    listed: Sequence[str]
    decisions: Decisions | None
    voice: str
    strategy: str
    lang: str
    ledger: Ledger | None
    verifier: Verifier | None
    """Attacks the sound."""
    progress: Progress | None
    engine: Engine
    """What secures recordings."""

    def export(
        self, corpus: Corpus, target: Path, task: str, finish: Callable[[Outcome], None]
    ) -> Outcome:
        """Export a corpus for one purpose.

        Parameters
        ----------
        corpus : Corpus
            Every utterance has a transcript.
        target : Path
            The new folder.
        task : str
            ``acoustic``, ``text`` or a name in
            :data:`~sottovoce.anonymise.recording.purposes.TASKS`.
        finish : callable
            Called before the export appears; if it fails, nothing is left of the export.
        """
        from sottovoce.anonymise.recording.export import export_corpus
        from sottovoce.anonymise.recording.private_words import replace_with
        from sottovoce.anonymise.recording.purposes import TASKS
        from sottovoce.anonymise.voice import make_method
        from sottovoce.core.atomic_directory import delete_on_failure

        purpose = TASKS.get(task, "text")
        sound = purpose == "acoustic"
        outcome = Outcome(target, self.verifier if sound else None, task)
        method = None if self.voice == "none" else make_method(self.voice, self.secret)

        def finish_outcome(counts: Export) -> None:
            outcome.finish(counts, self.secret)
            finish(outcome)

        with delete_on_failure(outcome.places_path):
            export_corpus(
                corpus,
                target,
                purpose=purpose,
                secret=self.secret,
                settings=self.settings,
                finder=self.finder,
                listed=self.listed,
                decisions=self.decisions,
                method=method,
                replace=None if sound else replace_with(self.lang, self.secret, self.strategy),
                lang=self.lang,
                ledger=self.ledger,
                task=task,
                observe=outcome.verifier.observe if outcome.verifier else None,
                finish=finish_outcome,
                progress=self.progress,
                engine=self.engine,
            )
        return outcome

    def export_tasks(
        self,
        corpus: Corpus,
        target: Path,
        tasks: Sequence[str],
        finish: Callable[[Sequence[Outcome]], None],
    ) -> list[Outcome]:
        """Draw a purpose for each dialogue, and export each part; all of them, or none.

        Parameters
        ----------
        corpus : Corpus
            Every utterance has a transcript.
        target : Path
            The new folder; it gets a folder for each purpose.
        tasks : sequence of str
            Purposes to draw from.
        finish : callable
            Called when all are written; if it fails, nothing is left of them.
        """
        from sottovoce.anonymise.recording.purposes import assign_tasks
        from sottovoce.anonymise.text.review import Review
        from sottovoce.anonymise.text.source_text import SourceText

        if target.exists():
            raise InputError(f"{target}: it exists; name a new folder", code="exists")
        if self.decisions is not None:  # those on no text of the corpus are refused
            Review.of([SourceText(u.transcript, id=u.id) for u in corpus], self.decisions)
        outcomes: list[Outcome] = []
        with ExitStack() as undo:
            undo.callback(self._remove, target)
            for task, part in assign_tasks(corpus, tasks, self.secret, self.ledger).items():
                exporter = replace(self, decisions=self._decisions_on(part))
                outcomes.append(exporter.export(part, target / task, task, lambda outcome: None))
            finish(outcomes)
            undo.pop_all()
        return outcomes

    def _decisions_on(self, part: Corpus) -> Decisions | None:
        """The decisions on the texts of a part of the corpus."""
        from sottovoce.anonymise.decisions import Decisions, text_digest

        if self.decisions is None:
            return None
        digests = {text_digest(utterance.transcript) for utterance in part}
        return Decisions(tuple(d for d in self.decisions.documents if d.sha256 in digests))

    def _remove(self, target: Path) -> None:
        """Remove the finished exports of a run that failed, and their entries in the ledger."""
        records = list(target.glob("*/export.json"))
        if self.ledger is not None and records:
            self.ledger.remove([json.loads(path.read_text("utf-8"))["export"] for path in records])
        with suppress(OSError):
            shutil.rmtree(target)
