"""Anonymising a whole corpus: resumable, in the form it came in, with a record of what was done.

Files are written as they are finished, under the names they had or, renamed, under keyed ones. A
run that was killed goes on where it was; recordings that changed meanwhile, another method or
another secret are done anew. Only as many recordings as there are jobs are in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sottovoce import __version__
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.journal import NAME as JOURNAL
from sottovoce.anonymise.voice.journal import Journal
from sottovoce.anonymise.voice.layout import file_names, pseudonymous
from sottovoce.anonymise.voice.method import VoiceAnonymiser
from sottovoce.core.atomic_directory import refuse_inside, reset_mtimes
from sottovoce.core.errors import InputError, SottovoceError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.locks import NAME as LOCK
from sottovoce.core.locks import locked
from sottovoce.core.types import Progress
from sottovoce.corpus.ahead import map_ahead
from sottovoce.corpus.audio import load_native, save_audio
from sottovoce.corpus.kaldi import FILES as KALDI
from sottovoce.corpus.kaldi import kaldi_files
from sottovoce.corpus.manifest import NAME as MANIFEST
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

RECORD = "anonymisation.json"
_LISTS = (RECORD, MANIFEST, *KALDI)
"""What says that a folder is complete."""


@dataclass(frozen=True, slots=True)
class Anonymised:
    """What came of anonymising a corpus."""

    corpus: Corpus
    """The anonymised one, as it was written."""
    resumed: int
    """How many recordings an earlier run had done."""
    seconds: float
    """Length of all that was written."""
    bad: tuple[str, ...]
    """Recordings that could not be anonymised, and why."""

    def to_dict(self) -> dict[str, Any]:
        """Counts by name, and the recordings left out."""
        return {
            "utterances": len(self.corpus),
            "speakers": len(self.corpus.speakers),
            "seconds": round(self.seconds, 3),
            "resumed": self.resumed,
            "left_out": list(self.bad),
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
    skip_bad: bool = False,
    progress: Progress | None = None,
    begun: Callable[[], None] | None = None,
) -> Anonymised:
    """Write the corpus in other voices into the folder ``target``, going on where a run stopped.

    ``secret`` keys the new names and the journal. Recordings that cannot be anonymised are an error
    that names the first few, unless ``skip_bad``; what was done is kept either way. ``begun`` is
    called once, just before the first recording is written: only from then on is a secret needed
    to go on.
    """
    refuse_inside(target, corpus.root)
    _refuse_strangers(target)
    with locked(target):
        run = _Run(corpus, method, target, secret, rename, begun)
        bad = run.work(jobs, progress)
        if bad and not skip_bad:
            raise InputError(
                f"{len(bad):,} of {len(corpus):,} recordings cannot be anonymised: "
                f"{first_few(bad, len(bad))}; repair them, or leave them out with --skip-bad"
            )
        written = run.result()
        _write_lists(written, target, kaldi)
        done = Anonymised(written, run.resumed, run.seconds(), tuple(bad))
        _write_record(done, method, secret, target, rename)
        if rename:
            reset_mtimes(target)
    return done


class _Run:
    """One run over a corpus into a folder that is held."""

    def __init__(
        self,
        corpus: Corpus,
        method: VoiceAnonymiser,
        target: Path,
        secret: Secret,
        rename: bool,
        begun: Callable[[], None] | None,
    ) -> None:
        self.corpus, self.method, self.target, self.rename = corpus, method, target, rename
        self.journal = Journal(target, begun)
        self.outcome = (
            pseudonymous(corpus, secret) if rename else dict(zip(corpus, corpus, strict=True))
        )
        self.files = file_names(self.outcome, corpus.root, mirrored=not rename)
        made = json.dumps([__version__, method.record()], sort_keys=True)
        self.keys = {one: _key(one, self.files[one], made, secret) for one in corpus}
        self.left = [one for one in corpus if not self._done(one)]
        if rename:  # neither the journal nor the disk may tell the order of the corpus
            self.left.sort(key=lambda one: self.files[one])
        self.resumed = len(corpus) - len(self.left)

    def work(self, jobs: int, progress: Progress | None) -> list[str]:
        """Anonymise what is left; what is wrong with those that could not be."""
        bad, count = [], self.resumed
        if progress:
            progress(count, len(self.corpus))  # learning the voices takes a while, too
        if self.left:
            self.method.fit(self.corpus)
        _remove_unfinished(self.target)
        self._keep_done()
        for one, wrong in map_ahead(self._one, self.left, workers=jobs, ahead=4 * jobs):
            if wrong:
                bad.append(f"{one.path}: {wrong}")
            count += 1
            if progress:
                progress(count, len(self.corpus))
        self._keep_done()
        return bad

    def result(self) -> Corpus:
        """The anonymised corpus, as far as it is done; renamed ones in the order of their ids."""
        kept = [
            replace(
                self.outcome[one],
                path=self.target / self.files[one],
                start=None,
                end=None,
                channel=None,
            )
            for one in self.corpus
            if self._done(one)
        ]
        if not kept:
            raise InputError(f"{self.corpus.name}: no recording could be anonymised")
        if self.rename:
            kept.sort(key=lambda one: one.id)
        return Corpus(self.corpus.name, self.target, tuple(kept))

    def seconds(self) -> float:
        """Length of all files that were written."""
        entries = self.journal.entries
        return sum(entries[self.files[one]].seconds for one in self.corpus if self._done(one))

    def _done(self, one: Utterance) -> bool:
        return self.journal.has(self.files[one], self.keys[one])

    def _keep_done(self) -> None:
        """Leave nothing in the folder that is not of this corpus, method and secret."""
        self.journal.keep({self.files[one] for one in self.corpus if self._done(one)})

    def _one(self, one: Utterance) -> str:
        """Anonymise one recording; what is wrong with it, or nothing."""
        file = self.files[one]
        try:
            audio, rate = load_native(one)
            changed = self.method.transform(audio, rate, speaker=one.speaker, utterance=one.id)
        except SottovoceError as error:
            return str(error).removeprefix(f"{one.path}: ")
        self.journal.announce(file, self.keys[one], len(audio) / rate)
        try:
            save_audio(self.target / file, changed, rate)
        except SottovoceError as error:
            return str(error)
        return ""


def _key(one: Utterance, file: str, made: str, secret: Secret) -> str:
    """What a file depends on: its own name, the input as it is now, the method, the secret.

    With its name in it, two names of one recording have nothing in common.
    """
    try:
        status = one.path.stat()
        stamp: tuple[int, ...] = (status.st_size, status.st_mtime_ns)
    except OSError:
        stamp = ()
    what = (str(one.path), stamp, one.start, one.end, one.channel, one.id, one.speaker)
    return secret.digest("journal", file, made, json.dumps(what)).hex()[:32]


# ====================================================================================== the folder


def _refuse_strangers(target: Path) -> None:
    """Refuse a folder with something in it that no earlier run left, before it is touched."""
    try:
        present = {path.name for path in target.iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(f"{target}: cannot be read ({error.strerror}); name another") from None
    if present - {LOCK} and JOURNAL not in present:
        raise InputError(f"{target}: there is something else in it; name a new folder")


def _remove_unfinished(target: Path) -> None:
    """Remove what a killed run left half-written, and lists that are complete no more."""
    for pattern in (".*.flac.*", ".*.wav.*"):
        for path in target.rglob(pattern):
            path.unlink(missing_ok=True)
    for name in (*_LISTS, JOURNAL):
        for path in target.glob(f".{name}.*"):
            path.unlink(missing_ok=True)
    for name in _LISTS:
        if (target / name).is_file():
            (target / name).unlink()


def _write_lists(corpus: Corpus, target: Path, kaldi: bool) -> None:
    """``manifest.csv``, or the files of a Kaldi directory, ``wav.scp`` last."""
    if not kaldi:
        write_manifest(corpus, target)
        return
    for name, text in kaldi_files(corpus, target).items():
        write_text(target / name, text)


def _write_record(
    done: Anonymised, method: VoiceAnonymiser, secret: Secret, target: Path, rename: bool
) -> None:
    """``anonymisation.json``: what was done to what, without secret and without original names."""
    counts = done.to_dict()
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
        "left_out": len(done.bad),
    }
    write_text(target / RECORD, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
