"""The secret behind every random choice of an anonymiser.

What is drawn for a speaker or an utterance is a function of a secret and of their names, by
HMAC-SHA256: the same secret repeats it, nobody without the secret can, and once the secret is
destroyed nobody can at all. A seed that others know turns an attacker who must guess the draws
into one who knows them, so reproducible secrets are marked as such.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError, UsageError

SIZE = 32
"""Bytes of a secret."""
_HEAD = "sottovoce secret 1"


class Secret:
    """A key that gives every speaker and utterance draws of their own.

    >>> secret = Secret.reproducible(7)
    >>> float(secret.generator("ann").random()) == float(secret.generator("ann").random())
    True
    >>> secret.digest("ab", "c") == secret.digest("a", "bc")
    False
    >>> secret
    Secret(reproducible, seed 7)
    """

    __slots__ = ("_key", "seed")

    def __init__(self, key: bytes) -> None:
        if len(key) != SIZE:
            raise UsageError(f"a secret of {len(key)} bytes; it must have {SIZE}")
        self._key = key
        self.seed: int | None = None
        """The public seed it was made from, if it is no secret at all."""

    @classmethod
    def generate(cls) -> Secret:
        """A new secret from the system's source of randomness."""
        return cls(secrets.token_bytes(SIZE))

    @classmethod
    def reproducible(cls, seed: int) -> Secret:
        """Draws that anybody who knows ``seed`` can repeat: for tests and published studies."""
        if seed < 0:
            raise UsageError(f"seed {seed}; use 0 or a positive whole number")
        made = cls(hashlib.sha256(f"sottovoce reproducible {seed}".encode()).digest())
        made.seed = seed
        return made

    @classmethod
    def load(cls, path: Path | str) -> Secret:
        """Read a secret that :meth:`save` wrote."""
        path = Path(path)
        try:
            head, _, rest = path.read_text(encoding="ascii").partition("\n")
            key = bytes.fromhex(rest)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
        except ValueError:
            head, key = "", b""
        if head != _HEAD or len(key) != SIZE:
            raise InputError(f"{path}: not a secret of sottovoce; name the file it was saved in")
        return cls(key)

    def save(self, path: Path | str) -> None:
        """Write it to a new file that only its owner may read; never over another."""
        path = Path(path)
        if self.seed is not None:
            raise UsageError("a reproducible secret is not saved; note its seed instead")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(f"{_HEAD}\n{self._key.hex()}\n")
        except OSError as error:
            if isinstance(error, FileExistsError) and path.exists():
                what = "there already; a secret never replaces another"
                raise InputError(f"{path}: {what}") from None
            raise InputError(
                f"{path}: cannot be written ({error.strerror}); name another"
            ) from None

    @staticmethod
    def destroy(path: Path | str) -> None:
        """Overwrite the file of a secret and remove it.

        Copies in backups, snapshots and worn blocks of a solid-state disk are beyond its reach.
        """
        path = Path(path)
        Secret.load(path)  # never overwrite anything else
        try:
            with path.open("r+b", buffering=0) as file:
                file.write(secrets.token_bytes(path.stat().st_size))
                os.fsync(file.fileno())
            path.unlink()
        except OSError as error:
            raise InputError(
                f"{path}: cannot be destroyed ({error.strerror}); check its rights"
            ) from None

    def digest(self, *names: str) -> bytes:
        """32 bytes that only the secret and the names decide; each name is told by its length."""
        parts = [name.encode("utf-8", "surrogatepass") for name in names]
        message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hmac.digest(self._key, message, "sha256")

    def generator(self, *names: str) -> np.random.Generator:
        """Random numbers that only the secret and the names decide."""
        return np.random.default_rng(int.from_bytes(self.digest(*names), "big"))

    def __repr__(self) -> str:
        return "Secret(hidden)" if self.seed is None else f"Secret(reproducible, seed {self.seed})"
