"""Networks in ONNX form: their file is verified by its SHA-256, and they run on one thread.

To another process a network goes as the name and SHA-256 of its file, which is loaded there once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import sottovoce
from sottovoce.core.errors import InputError, first_line


class NetworkInput(Protocol):
    """An input of a network."""

    @property
    def name(self) -> str:
        """Name of the input."""

    @property
    def shape(self) -> Sequence[int | str | None]:
        """Sizes of the axes; a text or None where any size is allowed."""


class OnnxNetwork(Protocol):
    """A loaded network: what this package uses of an onnxruntime session."""

    def get_inputs(self) -> Sequence[NetworkInput]:
        """Return the inputs in their order."""

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, NDArray[np.generic]], /
    ) -> list[NDArray[np.float32]]:
        """Compute outputs.

        Parameters
        ----------
        output_names : sequence of str or None
            Names of the wanted outputs; None for all.
        input_feed : mapping of str to array
            The inputs by name.
        """


def checked_sha256(path: Path, wanted: str | None = None) -> str:
    """Compute the SHA-256 of a file and compare it.

    Parameters
    ----------
    path : Path
        The file.
    wanted : str, optional
        The SHA-256 that the file must have, in hexadecimal.

    Raises
    ------
    InputError
        ``unreadable`` where the file cannot be read, ``mismatch`` where it is another one.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    if wanted is not None and digest != wanted.lower():
        raise InputError(
            f"{path}: SHA-256 {digest[:12]}… instead of {wanted[:12]}…; the file is damaged or "
            "another one: get it again",
            code="mismatch",
        )
    return digest


def load_network(path: Path) -> OnnxNetwork:
    """Load a network; it runs on one thread, since recordings are processed side by side.

    Parameters
    ----------
    path : Path
        The ONNX file.

    Raises
    ------
    InputError
        ``damaged`` where the file is not a usable network.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised as exceptions; nothing is printed
    try:
        session: OnnxNetwork = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        reason = first_line(error)
        raise InputError(f"{path}: not a usable ONNX network ({reason})", code="damaged") from None
    return _NetworkOfFile(path, session)


class _NetworkOfFile:
    """A session of onnxruntime that is pickled as the name of its file."""

    def __init__(self, path: Path, session: OnnxNetwork) -> None:
        self._path = path
        self.get_inputs = session.get_inputs
        self.run = session.run

    def __reduce__(self) -> tuple[Callable[..., OnnxNetwork], tuple[str, bool, str]]:
        path, package = self._path.absolute(), _package()
        shipped = path.is_relative_to(package)
        name = str(path.relative_to(package) if shipped else path)
        status = path.stat()
        return _load_again, (name, shipped, _known_sha256(path, status.st_size, status.st_mtime_ns))


def _package() -> Path:
    return Path(os.path.dirname(os.path.abspath(sottovoce.__file__)))


@lru_cache(maxsize=16)
def _known_sha256(path: Path, size: int, modified: int) -> str:
    return checked_sha256(path)


@lru_cache(maxsize=8)
def _load_again(name: str, shipped: bool, sha256: str) -> OnnxNetwork:
    """Load the same network in another process, where the package may be in another folder."""
    path = _package() / name if shipped else Path(name)
    checked_sha256(path, sha256)
    return load_network(path)
