"""Anonymisation of a whole corpus: resumable, in the format of the input, with a record.

Files are written as soon as they are finished, under the original names or under pseudonyms. A run
that was killed continues where it stopped. Recordings that changed in the meantime are anonymised
again, and so are all recordings if the method, its settings or the secret changed. At most a few
recordings per job are in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce import __version__
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.method import VoiceAnonymiser, fit_method
from sottovoce.anonymise.voice.output_folder import (
    RECORD,
    Journal,
    file_names,
    pseudonymise,
    refuse_foreign_files,
    remove_unfinished,
)
from sottovoce.core.atomic_directory import refuse_inside, reset_mtimes
from sottovoce.core.engine import SPEECH_MEMORY, Engine, LocalEngine
from sottovoce.core.errors import InputError, SottovoceError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.locks import locked
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import load_native, save_audio
from sottovoce.corpus.kaldi import kaldi_files
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

GROUP = 4
"""Recordings that a worker of a cluster gets together."""


@dataclass(frozen=True, slots=True)
class CorpusResult:
    """Result of anonymising a corpus."""

    corpus: Corpus
    """The anonymised corpus, as it was written."""
    resumed: int
    """Recordings that an earlier run had finished."""
    seconds: float
    """Duration of all files that were written."""
    skipped: tuple[str, ...]
    """Recordings that could not be anonymised, each with the reason."""

    def to_dict(self) -> JsonObject:
        """Return counts by name, and the recordings left out."""
        return {
            "utterances": len(self.corpus),
            "speakers": len(self.corpus.speakers),
            "seconds": round(self.seconds, 3),
            "resumed": self.resumed,
            "left_out": list(self.skipped),
        }


def anonymise_corpus(
    corpus: Corpus,
    method: VoiceAnonymiser,
    target: Path,
    *,
    secret: Secret,
    rename: bool = False,
    kaldi: bool = False,
    jobs: int = 2,
    engine: Engine | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
    on_first_write: Callable[[], None] | None = None,
) -> CorpusResult:
    """Anonymise a corpus into a folder; a run that was interrupted is continued.

    Parameters
    ----------
    corpus : Corpus
        The original recordings.
    method : VoiceAnonymiser
        The method; it is fitted on the corpus if anything is left to do.
    target : Path
        The output folder: new, empty, or written by an earlier run.
    secret : Secret
        The key of pseudonyms and of the journal.
    rename : bool, default False
        Replace ids and file names by pseudonyms, and hide the order of the corpus.
    kaldi : bool, default False
        Write a Kaldi directory instead of ``manifest.csv``.
    jobs : int, default 2
        Number of threads.
    engine : Engine, optional
        What anonymises recordings instead of threads of this process. On a cluster the secret must
        be in a file, which ``on_first_write`` may write, or reproducible.
    skip_bad : bool, default False
        Leave out recordings that cannot be anonymised instead of failing at the end. Finished
        recordings are kept in either case.
    progress : callable, optional
        Called with the number of finished recordings and their total.
    on_first_write : callable, optional
        Called once, just before the first recording is written. Only from then on is the secret
        needed to continue the run.

    Returns
    -------
    CorpusResult
        The anonymised corpus and counts.

    Raises
    ------
    InputError
        If recordings cannot be anonymised (``bad-recordings``) or none can (``empty``), if the
        target contains other files (``not-empty``), is inside the corpus (``nested``) or used by
        another run (``locked``).
    """
    refuse_inside(target, corpus.root)
    refuse_foreign_files(target)
    with locked(target):
        run = _Run(corpus, method, target, secret, rename, on_first_write)
        failures = run.work(engine or LocalEngine(jobs), progress)
        if failures and not skip_bad:
            raise InputError(
                f"{len(failures):,} of {len(corpus):,} recordings cannot be anonymised: "
                f"{first_few(failures, len(failures))}; repair them, or leave them out with "
                "--skip-bad",
                code="bad-recordings",
            )
        anonymised = run.anonymised_corpus()
        _write_lists(anonymised, target, kaldi)
        result = CorpusResult(anonymised, run.resumed, run.seconds(), tuple(failures))
        _write_record(result, method, secret, target, rename)
        if rename:
            reset_mtimes(target)
    return result


class _Run:
    """A run over a corpus into a locked folder."""

    def __init__(
        self,
        corpus: Corpus,
        method: VoiceAnonymiser,
        target: Path,
        secret: Secret,
        rename: bool,
        on_first_write: Callable[[], None] | None,
    ) -> None:
        self.corpus, self.method, self.target, self.rename = corpus, method, target, rename
        self.journal = Journal(target, on_first_write)
        self.outputs = (
            pseudonymise(corpus, secret) if rename else dict(zip(corpus, corpus, strict=True))
        )
        self.files = file_names(self.outputs, corpus.root, mirrored=not rename)
        method_text = json.dumps([__version__, method.record()], sort_keys=True)
        self.keys = {
            utterance: _journal_key(utterance, self.files[utterance], method_text, secret)
            for utterance in corpus
        }
        self.remaining = [utterance for utterance in corpus if not self._is_finished(utterance)]
        if rename:  # neither the journal nor the disk may reveal the order of the corpus
            self.remaining.sort(key=lambda utterance: self.files[utterance])
        self.resumed = len(corpus) - len(self.remaining)

    def work(self, engine: Engine, progress: Progress | None) -> list[str]:
        """Anonymise what remains; returns path and reason of each recording that failed."""
        failures, count = [], self.resumed
        if progress:
            progress(count, len(self.corpus))  # shown while the method is fitted
        if self.remaining and engine.remote:
            self.journal.open_for_workers()  # they read the secret from its file
        if self.remaining:
            fit_method(self.method, self.corpus, engine)
        remove_unfinished(self.target)
        self._remove_outdated()
        planned = (
            _PlannedFile(utterance, self.files[utterance], self.keys[utterance])
            for utterance in self.remaining
        )
        work = AnonymiseRecording(self.method, self.target, self.journal)
        for plan, failure in engine.map(
            work, planned, label="anonymising", group=GROUP, memory=SPEECH_MEMORY
        ):
            if failure:
                failures.append(f"{plan.utterance.path}: {failure}")
            count += 1
            if progress:
                progress(count, len(self.corpus))
        if engine.remote:
            self.journal.reload()
        self._remove_outdated()
        return failures

    def anonymised_corpus(self) -> Corpus:
        """Return the finished utterances; with pseudonyms in the order of their ids."""
        finished = [
            replace(
                self.outputs[utterance],
                path=self.target / self.files[utterance],
                start=None,
                end=None,
                channel=None,
            )
            for utterance in self.corpus
            if self._is_finished(utterance)
        ]
        if not finished:
            raise InputError(f"{self.corpus.name}: no recording could be anonymised", code="empty")
        if self.rename:
            finished.sort(key=lambda utterance: utterance.id)
        return Corpus(self.corpus.name, self.target, tuple(finished))

    def seconds(self) -> float:
        """Return the duration of all finished files."""
        entries = self.journal.entries
        return sum(
            entries[self.files[utterance]].seconds
            for utterance in self.corpus
            if self._is_finished(utterance)
        )

    def _is_finished(self, utterance: Utterance) -> bool:
        return self.journal.has(self.files[utterance], self.keys[utterance])

    def _remove_outdated(self) -> None:
        """Delete all files that are not of this corpus, method and secret."""
        self.journal.retain(
            {self.files[utterance] for utterance in self.corpus if self._is_finished(utterance)}
        )


@dataclass(frozen=True, slots=True)
class _PlannedFile:
    """A recording, and the file that it becomes."""

    utterance: Utterance
    file: str
    key: str
    """Of everything the file depends on."""


@dataclass(frozen=True, slots=True)
class AnonymiseRecording:
    """Anonymises a recording and writes it, on any worker."""

    method: VoiceAnonymiser
    """Fitted."""
    target: Path
    journal: Journal

    def __call__(self, plan: _PlannedFile) -> str:
        """Return the reason if a recording fails, otherwise an empty text.

        Parameters
        ----------
        plan : _PlannedFile
            The recording and its new file.
        """
        utterance = plan.utterance
        if self._is_finished(plan):
            return ""
        try:
            audio, rate = load_native(utterance)
            changed = self.method.transform(
                audio, rate, speaker=utterance.speaker, utterance=utterance.id
            )
        except SottovoceError as error:
            return str(error).removeprefix(f"{utterance.path}: ")
        self.journal.announce(plan.file, plan.key, len(audio) / rate)
        try:
            save_audio(self.target / plan.file, changed, rate)
        except SottovoceError as error:
            return str(error)
        return ""

    def _is_finished(self, plan: _PlannedFile) -> bool:
        """Whether a worker that was lost afterwards has written the file."""
        if not (self.target / plan.file).is_file():
            return False
        self.journal.reload()
        return self.journal.has(plan.file, plan.key)


def _journal_key(utterance: Utterance, file: str, method_text: str, secret: Secret) -> str:
    """Return a key of everything a file depends on: its name, input, method and secret.

    The name is included so that the keys of two names of one recording have nothing in common.
    """
    try:
        status = utterance.path.stat()
        stamp: tuple[int, ...] = (status.st_size, status.st_mtime_ns)
    except OSError:
        stamp = ()
    section = (utterance.start, utterance.end, utterance.channel)
    source = (str(utterance.path), stamp, *section, utterance.id, utterance.speaker)
    return secret.digest("journal", file, method_text, json.dumps(source)).hex()[:32]


def _write_lists(corpus: Corpus, target: Path, kaldi: bool) -> None:
    """Write ``manifest.csv``, or the files of a Kaldi directory with ``wav.scp`` last."""
    if not kaldi:
        write_manifest(corpus, target)
        return
    for name, text in kaldi_files(corpus, target).items():
        write_text(target / name, text)


def _write_record(
    result: CorpusResult, method: VoiceAnonymiser, secret: Secret, target: Path, rename: bool
) -> None:
    """Write ``anonymisation.json``: method and counts, without the secret and original names."""
    counts = result.to_dict()
    record = {
        "tool": "sottovoce",
        "version": __version__,
        **method.record(),
        "draws": "secret" if secret.seed is None else "reproducible: anybody can repeat them",
        "reproducible_seed": secret.seed,
        "renamed": rename,
        "utterances": counts["utterances"],
        "speakers": counts["speakers"],
        "seconds": counts["seconds"],
        "left_out": len(result.skipped),
    }
    write_text(target / RECORD, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
