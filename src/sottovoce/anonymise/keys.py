"""The secret that keys every random draw of an anonymiser.

The draws for a speaker or an utterance are a function of the secret and of their ids
(HMAC-SHA256). The same secret repeats the draws, nobody without the secret can repeat them, and
after the secret is destroyed nobody can at all. A public seed gives the attacker the draws, so a
secret made from a seed is marked as reproducible.

A secret is never pickled. To another process goes the name of its file, or the public seed it was
made from; a secret that is in no file stays where it is.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError, UsageError

SIZE = 32
"""Length of a secret in bytes."""
_HEADER = "sottovoce secret 1"
ENVIRONMENT = "SOTTOVOCE_SECRET"
"""Variable with the 64 hexadecimal digits of a secret, for workers that cannot read its file."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """How another process can get a secret without being sent it."""

    seed: int | None = None
    file: str | None = None
    names: tuple[tuple[str, ...], ...] = ()
    """What was derived from the seed or the file, step by step."""


class Secret:
    """The key of all random draws; every speaker and utterance gets independent draws.

    Parameters
    ----------
    key : bytes
        32 random bytes. Use :meth:`generate`, :meth:`load` or :meth:`reproducible` instead of
        choosing them.

    Raises
    ------
    UsageError
        If the key does not have 32 bytes.

    Examples
    --------
    >>> secret = Secret.reproducible(7)
    >>> float(secret.generator("ann").random()) == float(secret.generator("ann").random())
    True
    >>> secret.digest("ab", "c") == secret.digest("a", "bc")
    False
    >>> secret
    Secret(reproducible, seed 7)
    """

    __slots__ = ("_key", "_origin", "seed")

    def __init__(self, key: bytes) -> None:
        if len(key) != SIZE:
            raise UsageError(
                f"the secret has {len(key)} bytes; it must have {SIZE}", code="out-of-range"
            )
        self._key = key
        self._origin: _Origin | None = None
        self.seed: int | None = None
        """The public seed it was made from; None for a real secret."""

    @classmethod
    def generate(cls) -> Secret:
        """Make a new secret from the operating system's random number generator.

        Returns
        -------
        Secret
            A secret that is in no file yet.
        """
        return cls(secrets.token_bytes(SIZE))

    @classmethod
    def reproducible(cls, seed: int) -> Secret:
        """Make a secret from a public seed, for tests and published studies.

        Parameters
        ----------
        seed : int
            0 or a positive number. Anybody who knows it can repeat all draws.

        Returns
        -------
        Secret
            A secret whose ``seed`` is set.
        """
        if seed < 0:
            raise UsageError(f"seed {seed}: use 0 or a positive number", code="out-of-range")
        secret = cls(hashlib.sha256(f"sottovoce reproducible {seed}".encode()).digest())
        secret.seed = seed
        secret._origin = _Origin(seed=seed)
        return secret

    @classmethod
    def load(cls, path: Path | str) -> Secret:
        """Read a secret that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        Secret
            The same secret as the one saved.

        Raises
        ------
        InputError
            If the file cannot be read (``unreadable``) or holds no secret (``not-a-secret``).
        """
        path = Path(path)
        try:
            header, _, digits = path.read_text(encoding="ascii").partition("\n")
            key = bytes.fromhex(digits)
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
            ) from None
        except ValueError:
            header, key = "", b""
        if header != _HEADER or len(key) != SIZE:
            raise InputError(
                f"{path}: not a secret of sottovoce; name the file that it was saved in",
                code="not-a-secret",
            )
        secret = cls(key)
        secret._origin = _Origin(file=str(path.absolute()))
        return secret

    def save(self, path: Path | str) -> None:
        """Write the secret to a new file that only its owner may read (mode 600).

        Parameters
        ----------
        path : path-like
            The file; it must not exist yet, because a secret never overwrites another file.

        Raises
        ------
        UsageError
            If the secret is reproducible: its seed is enough.
        InputError
            If the file exists (``exists``) or cannot be written (``not-writable``).
        """
        path = Path(path)
        if self.seed is not None:
            raise UsageError(
                "a reproducible secret is not saved; note its seed instead", code="unsupported"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(f"{_HEADER}\n{self._key.hex()}\n")
        except OSError as error:
            if isinstance(error, FileExistsError) and path.exists():
                raise InputError(
                    f"{path}: exists already; a secret never overwrites a file", code="exists"
                ) from None
            raise InputError(
                f"{path}: cannot be written ({error.strerror}); name another file",
                code="not-writable",
            ) from None
        self._origin = _Origin(file=str(path.absolute()))

    @staticmethod
    def destroy(path: Path | str) -> None:
        """Overwrite the file of a secret with random bytes and delete it.

        Copies in backups, in file-system snapshots and in remapped blocks of a solid-state disk
        are not reached.

        Parameters
        ----------
        path : path-like
            A file that :meth:`save` wrote; any other file is refused and left alone.

        Raises
        ------
        InputError
            If the file is not a secret, or cannot be overwritten or deleted.
        """
        path = Path(path)
        Secret.load(path)  # refuses any other file before it is overwritten
        try:
            with path.open("r+b", buffering=0) as file:
                file.write(secrets.token_bytes(path.stat().st_size))
                os.fsync(file.fileno())
            path.unlink()
        except OSError as error:
            raise InputError(
                f"{path}: cannot be destroyed ({error.strerror}); check its permissions",
                code="not-writable",
            ) from None

    def digest(self, *names: str) -> bytes:
        """Compute the HMAC-SHA256 of a sequence of names under the secret.

        Parameters
        ----------
        *names : str
            Such as method, speaker and utterance. Each is preceded by its length, so that
            ``("ab", "c")`` and ``("a", "bc")`` differ.

        Returns
        -------
        bytes
            32 bytes.
        """
        parts = [name.encode("utf-8", "surrogatepass") for name in names]
        message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hmac.digest(self._key, message, "sha256")

    def generator(self, *names: str) -> np.random.Generator:
        """Make a random number generator seeded with :meth:`digest` of the names.

        Parameters
        ----------
        *names : str
            What the draws are for, such as method, speaker and utterance.

        Returns
        -------
        numpy.random.Generator
            A new generator; the same names give the same numbers.
        """
        digest = self.digest(*names)
        words = np.frombuffer(digest[::-1], "<u4").astype(np.uint32)
        # the words of an integer seed, which NumPy takes apart more slowly; it drops leading zeros
        return np.random.default_rng(words if words[-1] else int.from_bytes(digest, "big"))

    def derive(self, *names: str) -> Secret:
        """Make another secret from this one.

        Parameters
        ----------
        *names : str
            What it is for.

        Returns
        -------
        Secret
            Its key is :meth:`digest` of the names; nobody can go back from it.
        """
        derived = Secret(self.digest(*names))
        if self._origin is not None:
            origin = self._origin
            derived._origin = _Origin(origin.seed, origin.file, (*origin.names, names))
        return derived

    def __reduce__(self) -> tuple[Callable[[_Origin, str], Secret], tuple[_Origin, str]]:
        if self._origin is None:
            raise UsageError(
                "this secret is in no file, and secrets are not sent to other processes; save it "
                "to a file that the workers can read",
                code="secret-not-in-a-file",
            )
        return _restore, (self._origin, self._check())

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def _check(self) -> str:
        """A few digits by which another process sees whether it has the same secret."""
        return self.digest("the same secret?").hex()[:16]

    def __repr__(self) -> str:
        return "Secret(hidden)" if self.seed is None else f"Secret(reproducible, seed {self.seed})"


def _restore(origin: _Origin, check: str) -> Secret:
    """Get a secret in another process: from its seed, its file or the environment."""
    candidates: list[Secret] = []
    if origin.seed is not None:
        candidates.append(Secret.reproducible(origin.seed))
    elif origin.file is not None and os.path.exists(origin.file):
        candidates.append(Secret.load(origin.file))
    digits = os.environ.get(ENVIRONMENT, "")
    if len(digits) == 2 * SIZE and all(digit in "0123456789abcdef" for digit in digits.lower()):
        candidates.append(Secret(bytes.fromhex(digits)))
    for secret in candidates:
        for names in origin.names:
            secret = secret.derive(*names)
        if secret._check() == check:
            return secret
    raise InputError(
        f"{origin.file}: a worker cannot read this secret, or has another one under this name; put "
        f"it on a file system that the workers share, or into {ENVIRONMENT} of the workers",
        code="secret-unavailable",
    )
