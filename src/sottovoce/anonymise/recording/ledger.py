"""The owner's ledger of exports: each dialogue is exported for one purpose only.

Secured speech and transformed text of one dialogue must never both be released: together they show
which private words were missed. Nor may a recording be released twice in different forms, complete
and in pieces, or with different words masked. The ledger recognises a recording by its samples and
by its words (if there are enough of them), so that a copy with another name, folder or file format
is recognised too; and it recognises a dialogue by its name, so that another part of the dialogue is
recognised too. It contains keyed digests only, and only its owner may read it.

An export is entered before it is written, and every export enters all of its recordings: no entry
depends on the entries of another export, which may fail and be removed again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from sottovoce.anonymise.recording.words import spoken_words, word_key
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.locks import locked
from sottovoce.core.types import RealArray
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Corpus, Utterance

FORMAT = 2
"""Version of the file; version 1 had no names of dialogues."""
MIN_WORDS = 6
"""Number of words from which on a text identifies a recording."""
WAIT = 20.0
"""Seconds to wait for another run that has locked the ledger."""


_BOTH_PURPOSES = "both together would show which private words were missed. Choose other dialogues"
_OTHER_SETTINGS = (
    "with other settings; the two together would show more than each. Choose other dialogues"
)


class AlreadyExportedError(InputError):
    """A dialogue has been exported in another form."""

    default_code = "already-exported"


def default_ledger() -> Path:
    """Return ``SOTTOVOCE_LEDGER``, or a file in the user's state folder."""
    if path := os.environ.get("SOTTOVOCE_LEDGER"):
        return Path(path)
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return base / "sottovoce" / "exports.jsonl"


# ================================================================= how dialogues are recognised


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Digests that identify a recording; empty where there is none."""

    sound: bytes
    """Of its samples."""
    words: bytes
    """Of its words, if there are at least six."""

    @classmethod
    def of(cls, audio: RealArray | None, text: str) -> Fingerprints:
        """Compute the digests of an utterance.

        Parameters
        ----------
        audio : array of float, optional
            Its samples, if they can be read.
        text : str
            Its transcript.
        """
        words = [word_key(word.text) for word in spoken_words(text)]
        return cls(
            b"" if audio is None else _digest_samples(audio),
            hashlib.sha256(" ".join(words).encode()).digest() if len(words) >= MIN_WORDS else b"",
        )


def _digest_samples(audio: RealArray) -> bytes:
    steps = np.rint(np.asarray(audio, np.float64) * 32767).astype("<i4")
    return hashlib.sha256(steps.tobytes()).digest()


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a dialogue, or of a session or speaker that it is a part of."""

    kind: str
    """``dialogue``, ``session`` or ``speaker``."""
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join(self.parts)

    def normalised(self) -> bytes:
        """Return bytes that are equal for names that differ in case or spaces only."""
        plain = [unicodedata.normalize("NFKC", part).casefold().split() for part in self.parts]
        return json.dumps([self.kind, *map(" ".join, plain)]).encode()


def dialogue_names(utterance: Utterance) -> tuple[Name, ...]:
    """Return the name of the dialogue of an utterance, and of what the dialogue is a part of.

    Parameters
    ----------
    utterance : Utterance
        Its dialogue is that of the corpus's column ``dialogue``, otherwise the speaker's session,
        otherwise all utterances of the speaker.
    """
    dialogue = utterance.extra.get("dialogue", "").strip()
    names = [Name("dialogue", (dialogue,))] if dialogue else []
    names += [Name("session", (utterance.speaker, utterance.session))] if utterance.session else []
    return (*names, Name("speaker", (utterance.speaker,)))


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue to be exported."""

    name: Name
    within: frozenset[Name]
    """What it is a part of: an export of a speaker includes each session of the speaker."""
    recordings: tuple[Fingerprints, ...]


def dialogues_of(corpus: Corpus) -> list[Dialogue]:
    """Return how the ledger recognises each dialogue; unreadable audio has no fingerprint.

    Parameters
    ----------
    corpus : Corpus
        Utterances of dialogues.
    """
    recordings: dict[Name, list[Fingerprints]] = {}
    wider_names: dict[Name, set[Name]] = {}
    for utterance in corpus:
        audio = None
        with suppress(InputError):
            audio = load_native(utterance)[0]
        name, *wider = dialogue_names(utterance)
        recordings.setdefault(name, []).append(Fingerprints.of(audio, utterance.transcript))
        wider_names.setdefault(name, set()).update(wider)
    return [
        Dialogue(name, frozenset(wider_names[name]), tuple(fingerprints))
        for name, fingerprints in recordings.items()
    ]


# ========================================================================================= ledger


@dataclass(frozen=True, slots=True)
class _Entry:
    """A dialogue in an export: a line of the ledger, with names and recordings as digests."""

    export: str
    day: str
    purpose: str
    form: str
    name: str
    within: list[str]
    marks: list[str]

    def __post_init__(self) -> None:
        texts = [self.export, self.day, self.purpose, self.form, self.name]
        if not isinstance(self.within, list) or not isinstance(self.marks, list):
            raise TypeError
        if not all(isinstance(text, str) for text in (*texts, *self.within, *self.marks)):
            raise TypeError


class Ledger:
    """A file of exports that several runs may use at once.

    Parameters
    ----------
    path : Path
        The file; it is created with the first export.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def entered(
        self,
        dialogues: Sequence[Dialogue],
        purpose: str,
        form: str,
        is_complete: Callable[[str], bool] = lambda export: False,
    ) -> Iterator[str]:
        """Enter dialogues before they are exported; yield the id of the export.

        If the ``with`` block fails, the entries are removed again, unless the export is complete
        all the same: a run may be stopped after its last step.

        Parameters
        ----------
        dialogues : sequence of Dialogue
            What will be exported.
        purpose : str
            What it will be used for.
        form : str
            Digest of all settings. The same recordings may be exported again in the same form only.
        is_complete : callable, optional
            Called with the id of the export if the block fails; returns whether the export is
            complete.

        Raises
        ------
        AlreadyExportedError
            ``exported-recording`` or ``exported-dialogue`` if the recordings, or others of the
            dialogue, were exported for another purpose, ``exported-form`` if the recordings were
            exported with other settings.
        """
        export = secrets.token_hex(6)
        with self._locked():
            key, entries = self._read()
            day = time.strftime("%Y-%m-%d")
            new = [_entry(key, dialogue, (export, day, purpose, form)) for dialogue in dialogues]
            index = _Index(entries)
            for dialogue, entry in zip(dialogues, new, strict=True):
                self._refuse_conflict(dialogue, entry, index, key)
            self._write(key, [*entries, *new])
        try:
            yield export
        except BaseException:
            if not is_complete(export):
                self.remove([export])
            raise

    def remove(self, exports: Collection[str]) -> None:
        """Remove the entries of exports that were destroyed and never given away.

        Parameters
        ----------
        exports : collection of str
            Ids of the exports.
        """
        with self._locked():
            key, entries = self._read()
            self._write(key, [entry for entry in entries if entry.export not in exports])

    def purposes(self, dialogues: Sequence[Dialogue]) -> dict[Name, str]:
        """Return the purpose of each dialogue that was exported before.

        Parameters
        ----------
        dialogues : sequence of Dialogue
            Recognised by their recordings and names, as in :meth:`entered`.
        """
        with self._locked():
            key, entries = self._read()
        index = _Index(entries)
        known = {}
        for dialogue in dialogues:
            entry = _entry(key, dialogue, ("", "", "", ""))
            for earlier in index.same_recordings(entry) + index.same_dialogue(entry):
                known[dialogue.name] = earlier.purpose
        return known

    def _refuse_conflict(self, dialogue: Dialogue, new: _Entry, index: _Index, key: bytes) -> None:
        same_recordings = index.same_recordings(new)
        other_purpose = [
            old for old in same_recordings + index.same_dialogue(new) if old.purpose != new.purpose
        ]
        other_form = [old for old in same_recordings if old.form != new.form]
        if any(old.purpose != new.purpose for old in same_recordings):
            conflicts, code, reason = other_purpose, "exported-recording", _BOTH_PURPOSES
        elif other_purpose:
            reason = _name_conflict(dialogue, other_purpose[0], key)
            conflicts, code = other_purpose, "exported-dialogue"
        elif other_form:
            conflicts, code, reason = other_form, "exported-form", _OTHER_SETTINGS
        else:
            return
        exports = sorted({old.export for old in conflicts})
        raise AlreadyExportedError(
            f"dialogue {dialogue.name} was exported on {conflicts[0].day} for purpose "
            f"{conflicts[0].purpose!r}: {reason}; or, if that export was destroyed and never given "
            f"away, remove the lines with {first_few(exports, len(exports))} from {self.path}",
            code=code,
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        deadline = time.monotonic() + WAIT
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(locked(self.path.parent / f".{self.path.name}.lock"))
                    break
                except InputError as error:
                    if error.code != "locked" or time.monotonic() > deadline:
                        raise
                    time.sleep(0.05)
            yield

    def _read(self) -> tuple[bytes, list[_Entry]]:
        """Return the key of the digests and the entries."""
        if not self.path.exists():
            return secrets.token_bytes(32), []
        try:
            header, *lines = [
                json.loads(line) for line in self.path.read_text("utf-8").splitlines()
            ]
            if header["ledger"] == FORMAT:
                return bytes.fromhex(header["key"]), [_Entry(**line) for line in lines]
            other_version = isinstance(header["ledger"], int)
        except (ValueError, KeyError, TypeError):
            other_version = False
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be read ({error.strerror})", code="unreadable"
            ) from None
        if other_version:
            raise InputError(
                f"{self.path}: a ledger of another version, which cannot be read; export none of "
                "the dialogues it remembers, and name a new one for others with --ledger",
                code="unsupported",
            )
        raise InputError(
            f"{self.path}: not a ledger of exports, or damaged; restore it, or name another "
            "with --ledger",
            code="damaged",
        )

    def _write(self, key: bytes, entries: Sequence[_Entry]) -> None:
        lines = [{"ledger": FORMAT, "key": key.hex()}, *map(asdict, entries)]
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines))
        self.path.chmod(0o600)


def _name_conflict(dialogue: Dialogue, old: _Entry, key: bytes) -> str:
    names = (name for name in dialogue.within if _digest(key, name.normalised()) == old.name)
    name = next(names, dialogue.name)
    return (
        f"other recordings of {name.kind} {name}, but speech and text of one dialogue must not "
        "both be released. Choose other dialogues; if only the name is the same, give this "
        f"{name.kind} another, or its corpus another --ledger"
    )


class _Index:
    """Entries by the digests of their recordings and names."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.by_recording: dict[str, list[_Entry]] = {}
        self.by_name: dict[str, list[_Entry]] = {}
        self.by_wider_name: dict[str, list[_Entry]] = {}
        for entry in entries:
            self.by_name.setdefault(entry.name, []).append(entry)
            for mark in entry.marks:
                self.by_recording.setdefault(mark, []).append(entry)
            for name in entry.within:
                self.by_wider_name.setdefault(name, []).append(entry)

    def same_recordings(self, new: _Entry) -> list[_Entry]:
        return [old for mark in new.marks for old in self.by_recording.get(mark, ())]

    def same_dialogue(self, new: _Entry) -> list[_Entry]:
        """Return entries of the dialogue, of a part of it, and of what it is a part of."""
        names = (new.name, *new.within)
        same_or_wider = [old for name in names for old in self.by_name.get(name, ())]
        return same_or_wider + self.by_wider_name.get(new.name, [])


def _entry(key: bytes, dialogue: Dialogue, head: tuple[str, str, str, str]) -> _Entry:
    marks = {
        mark
        for recording in dialogue.recordings
        for mark in (recording.sound, recording.words)
        if mark
    }
    return _Entry(
        *head,
        name=_digest(key, dialogue.name.normalised()),
        within=sorted(_digest(key, name.normalised()) for name in dialogue.within),
        marks=sorted(_digest(key, mark) for mark in marks),
    )


def _digest(key: bytes, content: bytes) -> str:
    return hmac.digest(key, content, "sha256").hex()[:32]
