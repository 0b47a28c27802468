"""One purpose for each dialogue, for ever: what was exported, as the owner's ledger remembers it.

Secured speech and transformed text of one dialogue must never both leave: together they show which
private words were missed. Nor may one recording leave twice in different forms, whole and sliced,
or with different words masked. The ledger knows a recording by its samples and by its words (where
there are enough of them to tell it from others), so another name, folder or file format of the same
recording is still the same; and it knows a dialogue by its name, so another part of it is still the
same dialogue. It holds keyed digests only, for its owner's eyes.

An export is entered before it is made, and every export enters all that it has: what one enters
does not depend on what another, which may fail and be struck out, has entered before.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.recording.words import key, tokens
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.locks import locked
from sottovoce.corpus.utterance import Utterance

FORMAT = 2
"""Of the file; the first knew no names of dialogues."""
ENOUGH = 6
"""Words from which on a text tells a recording from others."""
WAIT = 20.0
"""Seconds that another run may keep the ledger."""


class AlreadyExportedError(InputError):
    """A dialogue that has been exported in another form."""


def default_ledger() -> Path:
    """``SOTTOVOCE_LEDGER``, or a file among the user's own."""
    if named := os.environ.get("SOTTOVOCE_LEDGER"):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return base / "sottovoce" / "exports.jsonl"


# ================================================================================ what is known by


@dataclass(frozen=True, slots=True)
class Marks:
    """What a recording is known by; empty where it has no such mark."""

    sound: bytes
    words: bytes

    @classmethod
    def of(cls, audio: NDArray[np.floating[Any]] | None, text: str) -> Marks:
        """The marks of one utterance; short texts have none of their words."""
        said = [key(word.text) for word in tokens(text)]
        return cls(
            b"" if audio is None else _sound(audio),
            hashlib.sha256(" ".join(said).encode()).digest() if len(said) >= ENOUGH else b"",
        )


def _sound(audio: NDArray[np.floating[Any]]) -> bytes:
    steps = np.rint(np.asarray(audio, np.float64) * 32767).astype("<i4")
    return hashlib.sha256(steps.tobytes()).digest()


@dataclass(frozen=True, slots=True)
class Name:
    """What a dialogue, or what it is a part of, is called."""

    kind: str
    """``dialogue``, ``session`` or ``speaker``."""
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join(self.parts)

    def mark(self) -> bytes:
        """The same for names that differ in case or spaces only."""
        plain = [unicodedata.normalize("NFKC", part).casefold().split() for part in self.parts]
        return json.dumps([self.kind, *map(" ".join, plain)]).encode()


def names_of(one: Utterance) -> tuple[Name, ...]:
    """The dialogue an utterance belongs to, and what that is a part of.

    As its corpus says, else a speaker's session, else all of a speaker.
    """
    dialogue = one.extra.get("dialogue", "").strip()
    names = [Name("dialogue", (dialogue,))] if dialogue else []
    names += [Name("session", (one.speaker, one.session))] if one.session else []
    return (*names, Name("speaker", (one.speaker,)))


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What a dialogue is known by."""

    name: Name
    within: frozenset[Name]
    """Wider ones: who exports all of a speaker exports each session of it."""
    marks: tuple[Marks, ...]


# ====================================================================================== the ledger


@dataclass(frozen=True, slots=True)
class Entry:
    """A dialogue in an export: a line of the ledger, all names and marks as keyed digests."""

    export: str
    day: str
    purpose: str
    form: str
    name: str
    within: list[str]
    marks: list[str]

    def __post_init__(self) -> None:
        lists = (self.within, self.marks)
        words = [self.export, self.day, self.purpose, self.form, self.name]
        if not all(isinstance(one, list) for one in lists):
            raise TypeError
        if not all(isinstance(one, str) for one in (*words, *self.within, *self.marks)):
            raise TypeError


class Ledger:
    """A file of exports; safe against several runs at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def entered(
        self,
        dialogues: Sequence[Dialogue],
        purpose: str,
        form: str,
        made: Callable[[str], bool] = lambda export: False,
    ) -> Iterator[str]:
        """Enter dialogues for a purpose before they are exported; gives the id of the export.

        ``form`` stands for all settings: the same once more is allowed; of the same recordings,
        anything else is refused. If the export fails, what was entered is struck out again, unless
        it was ``made`` all the same: a run may be stopped after its last step.
        """
        export = secrets.token_hex(6)
        with self._held():
            own, entries = self._read()
            day = time.strftime("%Y-%m-%d")
            new = [_entry(own, one, (export, day, purpose, form)) for one in dialogues]
            known = _Known(entries)
            for one, entry in zip(dialogues, new, strict=True):
                self._refuse(one, entry, known, own)
            self._write(own, [*entries, *new])
        try:
            yield export
        except BaseException:
            if not made(export):
                with self._held():
                    own, entries = self._read()
                    self._write(own, [entry for entry in entries if entry.export != export])
            raise

    def _refuse(self, one: Dialogue, new: Entry, known: _Known, own: bytes) -> None:
        same = known.same_recordings(new)
        bad = [old for old in same + known.same_dialogue(new) if old.purpose != new.purpose]
        if any(old.purpose != new.purpose for old in same):
            why = "both together would show which private words were missed. Choose other dialogues"
        elif bad:
            name = next((n for n in one.within if _digest(own, n.mark()) == bad[0].name), one.name)
            why = (
                f"other recordings of {name.kind} {name}, but speech and text of one dialogue must "
                "not both leave. Choose other dialogues; if only the name is the same, give this "
                f"{name.kind} another, or its corpus another --ledger"
            )
        elif bad := [old for old in same if old.form != new.form]:
            why = (
                "with other settings; the two together would show more than each. Choose other "
                "dialogues"
            )
        else:
            return
        exports = sorted({old.export for old in bad})
        raise AlreadyExportedError(
            f"dialogue {one.name} was exported on {bad[0].day} for purpose {bad[0].purpose!r}: "
            f"{why}; or, if that export was destroyed and never given away, remove the lines with "
            f"{first_few(exports, len(exports))} from {self.path}"
        )

    @contextmanager
    def _held(self) -> Iterator[None]:
        until = time.monotonic() + WAIT
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(locked(self.path.parent / f".{self.path.name}.lock"))
                    break
                except InputError as error:
                    if error.code != "locked" or time.monotonic() > until:
                        raise
                    time.sleep(0.05)
            yield

    def _read(self) -> tuple[bytes, list[Entry]]:
        """The key of the digests, and the entries."""
        if not self.path.exists():
            return secrets.token_bytes(32), []
        try:
            first, *lines = [json.loads(one) for one in self.path.read_text("utf-8").splitlines()]
            if first["ledger"] == FORMAT:
                return bytes.fromhex(first["key"]), [Entry(**line) for line in lines]
            old = isinstance(first["ledger"], int)
        except (ValueError, KeyError, TypeError):
            old = False
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from None
        if old:
            raise InputError(
                f"{self.path}: a ledger of another version, which cannot be asked; export none of "
                "the dialogues it remembers, and name a new one for others with --ledger"
            )
        raise InputError(
            f"{self.path}: not a ledger of exports, or damaged; restore it, or name another "
            "with --ledger"
        )

    def _write(self, own: bytes, entries: Sequence[Entry]) -> None:
        lines = [{"ledger": FORMAT, "key": own.hex()}, *map(asdict, entries)]
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines))
        self.path.chmod(0o600)


class _Known:
    """Entries by what they are known by."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.marked: dict[str, list[Entry]] = {}
        self.named: dict[str, list[Entry]] = {}
        self.holding: dict[str, list[Entry]] = {}
        for entry in entries:
            self.named.setdefault(entry.name, []).append(entry)
            for mark in entry.marks:
                self.marked.setdefault(mark, []).append(entry)
            for name in entry.within:
                self.holding.setdefault(name, []).append(entry)

    def same_recordings(self, new: Entry) -> list[Entry]:
        return [old for mark in new.marks for old in self.marked.get(mark, ())]

    def same_dialogue(self, new: Entry) -> list[Entry]:
        """Those that are the dialogue, or a part of it, or that it is a part of, by their names."""
        whole = [old for name in (new.name, *new.within) for old in self.named.get(name, ())]
        return whole + self.holding.get(new.name, [])


def _entry(own: bytes, one: Dialogue, head: tuple[str, str, str, str]) -> Entry:
    marks = {mark for each in one.marks for mark in (each.sound, each.words) if mark}
    return Entry(
        *head,
        name=_digest(own, one.name.mark()),
        within=sorted(_digest(own, name.mark()) for name in one.within),
        marks=sorted(_digest(own, mark) for mark in marks),
    )


def _digest(own: bytes, mark: bytes) -> str:
    return hmac.digest(own, mark, "sha256").hex()[:32]
