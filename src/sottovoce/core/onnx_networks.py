"""Networks in ONNX form: the file is the one that was meant, and runs on one thread."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sottovoce.core.errors import InputError


def checked_sha256(path: Path, wanted: str | None = None) -> str:
    """The SHA-256 of a file; refused unless it is the one ``wanted``."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    if wanted is not None and found != wanted.lower():
        raise InputError(
            f"{path}: SHA-256 {found[:12]}… instead of {wanted[:12]}…; the file is damaged or "
            "another one: get it again"
        )
    return found


def load_network(path: Path) -> Any:
    """An onnxruntime session on one thread, since recordings run side by side."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what it has to say comes back as an exception
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        reason = (str(error).splitlines() or ["unreadable"])[0][:100]
        raise InputError(f"{path}: not a usable ONNX network ({reason})") from None
