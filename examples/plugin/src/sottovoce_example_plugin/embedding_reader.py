"""A reader of embeddings: text files with lines ``utterance speaker value value …``."""

from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.speaker import Embeddings


def read_vec(path: Path) -> Embeddings:
    """Read a ``.vec`` file."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    try:
        vectors = [[float(value) for value in row[2:]] for row in rows]
    except ValueError:
        raise InputError(f"{path}: a value that is no number", code="not-a-number") from None
    return Embeddings.of(
        vectors,
        [row[1] for row in rows],
        utterances=[row[0] for row in rows],
        name=path.stem,
        origin=str(path),
    )
