"""Whether an upload is a text."""

from __future__ import annotations


def is_text(data: bytes) -> bool:
    """Whether bytes are a text in UTF-8 without control characters.

    Parameters
    ----------
    data : bytes
        Any content; nothing is no text.

    >>> is_text("Olá\\n".encode()), is_text(bytes(4)), is_text(b"")
    (True, False, False)
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return bool(data) and all(sign.isprintable() or sign in "\t\r\n\f" for sign in text)
