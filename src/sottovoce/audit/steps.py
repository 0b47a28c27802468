"""Steps with results that are kept: anonymising and embedding speech once, whatever happens.

A result lies under a name made from everything it was made of, and is complete or not there: a
run that was killed at any moment goes on without repeating a finished step.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sottovoce import __version__
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice import METHODS, make_method
from sottovoce.anonymise.voice.corpus import anonymise_corpus
from sottovoce.anonymise.voice.output_folder import RECORD
from sottovoce.core.errors import InputError
from sottovoce.core.types import Progress, StageProgress
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.corpus_embedding import embed_corpus
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import Encoder
from sottovoce.speaker.readers import read_embeddings


def key_of(*parts: Any) -> str:
    """A short name for anything that JSON can say."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Recipe:
    """An anonymiser by name, with its settings."""

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name and settings for a person, such as ``mcadams(coefficient=0.8)``."""
        inside = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.method}({inside})" if inside else self.method

    def checked(self) -> Recipe:
        """Refuse a name or settings that no anonymiser has, before any work is done."""
        METHODS[self.method].card.checked(**self.settings)
        return self

    @classmethod
    def of_folder(cls, folder: Path) -> Recipe | None:
        """What ``sottovoce anonymise voice`` recorded in a folder, if it made the folder."""
        path = folder / RECORD
        if not path.is_file():
            return None
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            return cls(record["method"], record["settings"])
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                f"{path}: not a record of sottovoce; name the anonymiser instead"
            ) from None


@dataclass(frozen=True, slots=True)
class Speech:
    """A corpus, and what its recordings follow from."""

    corpus: Corpus
    key: str

    @classmethod
    def of(cls, corpus: Corpus) -> Speech:
        """Recordings as they lie there now."""
        return cls(corpus, key_of(*(_stamp(one, corpus.root) for one in corpus)))

    def select(self, **conditions: Any) -> Speech:
        """Some of the utterances."""
        chosen = self.corpus.select(**conditions)
        if len(chosen) == len(self.corpus):
            return self
        return Speech(chosen, key_of(self.key, [one.id for one in chosen]))

    def only(self, ids: set[str]) -> Speech:
        """The utterances with these ids."""
        return self.select(predicate=lambda one: one.id in ids)


def _stamp(one: Any, root: Path) -> tuple[Any, ...]:
    path = one.path
    try:
        status = path.stat()
        stamp: tuple[int, ...] = (status.st_size, status.st_mtime_ns)
    except OSError:
        stamp = ()
    name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    return (one.id, one.speaker, one.gender, name, stamp, one.start, one.end, one.channel)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where results lie, and with what they are made."""

    folder: Path
    encoder: Encoder
    jobs: int = 2
    progress: StageProgress | None = None
    _read: dict[Path, Embeddings] = field(default_factory=dict, repr=False)

    def anonymise(self, speech: Speech, recipe: Recipe, secret: Secret, label: str) -> Speech:
        """The speech in other voices, drawn with ``secret``."""
        drawn = secret.digest("workshop").hex()[:16]
        key = key_of(__version__, speech.key, recipe.method, dict(recipe.settings), drawn)
        target = self.folder / "speech" / f"{recipe.method}-{key}"
        if not (target / RECORD).is_file():
            method = make_method(recipe.method, secret, **recipe.settings)
            anonymise_corpus(
                speech.corpus,
                method,
                target,
                secret=secret,
                jobs=self.jobs,
                progress=self._show(f"anonymising {label}"),
            )
        return Speech(read_manifest(target), key)

    def embed(self, speech: Speech, label: str) -> Embeddings:
        """One vector a recording."""
        key = key_of(__version__, speech.key, self.encoder.card.sha256)
        target = self.folder / "embeddings" / f"{key}.npz"
        if not target.is_file():
            embed_corpus(
                speech.corpus,
                self.encoder,
                target,
                jobs=self.jobs,
                progress=self._show(f"embedding {label}"),
            )
        if target not in self._read:
            self._read[target] = read_embeddings(target)
        return self._read[target]

    def _show(self, label: str) -> Progress | None:
        show = self.progress
        return None if show is None else lambda done, total: show(label, done, total)


def attackers_secret(seed: int) -> Secret:
    """Draws of the attacker's own: never those of an operator, even with the same seed."""
    return Secret(Secret.reproducible(seed).digest("attacker"))


def operators_secret(seed: int) -> Secret:
    """Draws of whoever anonymises in a study, repeatable by its seed."""
    return Secret(Secret.reproducible(seed).digest("operator"))
