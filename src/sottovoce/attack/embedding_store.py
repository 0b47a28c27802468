"""Embedding sets in one folder, each stored once under the digest of its content."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.readers import read_embeddings

FOLDER = "embeddings"
"""Name of the folder beside or above the folders of attacks."""


class EmbeddingStore:
    """Embedding sets by digest; each is read and written once.

    Parameters
    ----------
    folder : Path
        Holds ``<digest>.npz``; made when the first set is added.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._loaded: dict[str, Embeddings] = {}

    @classmethod
    def near(cls, attack: Path) -> EmbeddingStore:
        """Find the store that the folder of an attack refers to.

        Parameters
        ----------
        attack : Path
            Folder of an attack; the store is beside it or one level above that.
        """
        for ancestor in list(attack.absolute().parents)[:2]:
            if (ancestor / FOLDER).is_dir():
                return cls(ancestor / FOLDER)
        return cls(attack.parent / FOLDER)

    def path(self, digest: str) -> Path:
        """Return the file of a set.

        Parameters
        ----------
        digest : str
            Of its content: 64 hexadecimal digits.

        Raises
        ------
        InputError
            With the code ``damaged`` for text that is no digest.
        """
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise InputError(
                f"{self.folder}: {digest!r} is no digest of embeddings; run it again",
                code="damaged",
            )
        return self.folder / f"{digest}.npz"

    def __contains__(self, digest: str) -> bool:
        return digest in self._loaded or self.path(digest).is_file()

    def __getitem__(self, digest: str) -> Embeddings:
        if digest not in self._loaded:
            self._loaded[digest] = self._read(self.path(digest), digest)
        return self._loaded[digest]

    def add(self, embeddings: Embeddings) -> str:
        """Store a set, unless it is there.

        Parameters
        ----------
        embeddings : Embeddings
            The set.

        Returns
        -------
        str
            Its digest.
        """
        digest = embeddings.digest()
        if digest not in self:
            embeddings.write(self.path(digest))
        self._loaded.setdefault(digest, embeddings)
        return digest

    def adopt(self, file: Path) -> str:
        """Move a finished file of embeddings into the store.

        Parameters
        ----------
        file : Path
            A ``.npz`` file on the same file system; it gets another name.

        Returns
        -------
        str
            The digest of its content.
        """
        embeddings = read_embeddings(file)
        digest = embeddings.digest()
        os.replace(file, self.path(digest))
        self._loaded.setdefault(digest, _named(embeddings, digest))
        return digest

    def _read(self, path: Path, digest: str) -> Embeddings:
        try:
            path.stat()
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}); run it again", code="not-found"
            ) from None
        embeddings = read_embeddings(path)
        if embeddings.digest() != digest:
            raise InputError(
                f"{path}: the content is not that of its name; run it again", code="damaged"
            )
        return _named(embeddings, digest)


def _named(embeddings: Embeddings, digest: str) -> Embeddings:
    """The set under a name that is the same in every folder: results quote it."""
    return replace(embeddings, name=digest[:12], origin=f"{FOLDER}/{digest[:12]}….npz")
