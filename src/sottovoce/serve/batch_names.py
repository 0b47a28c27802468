"""Names of the recordings of a batch, and of their files in the archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import get_args

from sottovoce.core.errors import UsageError
from sottovoce.serve.messages import AudioFormat

MANIFEST = "manifest.json"
MAX_NAME = 200
"""Characters of a file name."""
_FORBIDDEN = frozenset('\\:*?"<>|')
"""Characters that some system does not allow in names, or takes for a folder."""
_ENDINGS = tuple(f".{name}" for name in get_args(AudioFormat))


def check_names(names: Sequence[str]) -> None:
    """Refuse file names that lead out of the folder into which an archive is unpacked.

    Parameters
    ----------
    names : sequence of str
        Names of the recordings, with folders if the client sent them.

    Raises
    ------
    UsageError
        If a name is empty, too long, not relative or has characters that some system forbids
        (``bad-name``), or if two are alike (``repeated``).

    >>> check_names(["monday/a.wav", "b.flac"])
    """
    for name in names:
        path = PurePosixPath(name)
        forbidden = _FORBIDDEN & set(name) or not name.isprintable() or len(name) > MAX_NAME
        unsafe = path.is_absolute() or ".." in path.parts or str(path) != name or name == "."
        if forbidden or unsafe or name == MANIFEST:
            raise UsageError(
                f"file name {name!r}: send a plain name such as clip.wav", code="bad-name"
            )
    files = [archive_name(name).lower() for name in names]
    for file in files:
        if files.count(file) > 1:
            raise UsageError(f"two files are called {file!r}; rename one", code="repeated")


def archive_name(name: str) -> str:
    """Name in the archive: that of the recording, with an ending that tells its format.

    Parameters
    ----------
    name : str
        Name of the recording.

    >>> archive_name("a.flac"), archive_name("b.mp3")
    ('a.flac', 'b.mp3.wav')
    """
    return name if name.lower().endswith(_ENDINGS) else f"{name}.wav"
