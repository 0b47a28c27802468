"""One purpose for each dialogue, for ever: what was exported, as the owner's ledger remembers it.

Secured speech and transformed text of one dialogue must never both leave: together they show which
private words were missed. Nor may one dialogue leave twice in different forms, whole and sliced, or
with different words masked. The ledger knows a recording by its samples and by its words (where
there are enough of them to tell it from others), so another name, folder or file format of the same
recording is still the same. It holds keyed digests only, for its owner's eyes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.lock import locked
from sottovoce.anonymise.recording.words import key, tokens
from sottovoce.errors import InputError
from sottovoce.files import write_text

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


@dataclass(frozen=True, slots=True)
class Marks:
    """What a recording is known by."""

    sound: bytes
    words: bytes

    @classmethod
    def of(cls, audio: NDArray[np.floating[Any]], text: str) -> Marks:
        """The marks of one utterance; short texts have none of their words."""
        steps = np.rint(np.asarray(audio, np.float64) * 32767).astype("<i4")
        said = [key(word.text) for word in tokens(text)]
        return cls(
            hashlib.sha256(steps.tobytes()).digest(),
            hashlib.sha256(" ".join(said).encode()).digest() if len(said) >= ENOUGH else b"",
        )


class Ledger:
    """A file of exports; safe against several runs at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def entered(
        self, dialogues: Mapping[str, Sequence[Marks]], purpose: str, form: str
    ) -> Iterator[str]:
        """Enter dialogues for a purpose before they are exported; gives the id of the export.

        ``form`` stands for all settings: the same once more is allowed, anything else is refused.
        If the export fails, what was entered is struck out again.
        """
        export = secrets.token_hex(6)
        with self._held():
            lines = self._read()
            added = self._check(lines, dialogues, purpose, form, export)
            self._write([*lines, *added])
        try:
            yield export
        except BaseException:
            with self._held():
                self._write([line for line in self._read() if line.get("export") != export])
            raise

    def _check(
        self,
        lines: list[dict[str, Any]],
        dialogues: Mapping[str, Sequence[Marks]],
        purpose: str,
        form: str,
        export: str,
    ) -> list[dict[str, Any]]:
        own = bytes.fromhex(lines[0]["key"])
        known = {mark: line for line in lines[1:] for mark in line["marks"]}
        added = []
        for name, marks in dialogues.items():
            digests = sorted({_digest(own, mark) for mark in _flat(marks)})
            before = [known[one] for one in digests if one in known]
            for line in before:
                if (line["purpose"], line["form"]) != (purpose, form):
                    raise AlreadyExportedError(self._refusal(name, line, purpose))
            if not before:
                day = time.strftime("%Y-%m-%d")
                added.append(
                    {"export": export, "day": day, "purpose": purpose, "form": form}
                    | {"marks": digests}
                )
        return added

    def _refusal(self, name: str, line: Mapping[str, Any], purpose: str) -> str:
        was = f"dialogue {name} was exported on {line['day']} for purpose {line['purpose']!r}"
        why = (
            "both together would show which private words were missed"
            if line["purpose"] != purpose
            else "with other settings; the two together would show more than each"
        )
        return (
            f"{was}: {why}. Choose other dialogues; or, if that export was destroyed and never "
            f"given away, remove the lines with {line['export']} from {self.path}"
        )

    @contextmanager
    def _held(self) -> Iterator[None]:
        until = time.monotonic() + WAIT
        while True:
            try:
                with locked(self.path.parent / f".{self.path.name}.lock"):
                    yield
                    return
            except InputError as error:
                if "another run" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def _read(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return [{"ledger": 1, "key": secrets.token_hex(32)}]
        try:
            lines = [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]
            if lines[0]["ledger"] != 1 or not all("marks" in line for line in lines[1:]):
                raise KeyError
            bytes.fromhex(lines[0]["key"])
        except (ValueError, KeyError, IndexError, TypeError):
            raise InputError(
                f"{self.path}: not a ledger of exports, or damaged; restore it, or name another "
                "with --ledger"
            ) from None
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from None
        return lines

    def _write(self, lines: list[dict[str, Any]]) -> None:
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines))
        self.path.chmod(0o600)


def _flat(marks: Sequence[Marks]) -> list[bytes]:
    return [one for mark in marks for one in (mark.sound, mark.words) if one]


def _digest(own: bytes, mark: bytes) -> str:
    return hmac.digest(own, mark, "sha256").hex()[:32]
