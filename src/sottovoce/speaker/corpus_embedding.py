"""Embedding all recordings of a corpus: resumable, side by side, written to one file at the end.

Vectors are stored in small files beside the target as they are computed. A run that was killed
continues from them and loses at most one such file. A stored vector is used only for the same
encoder, the same file (by size and modification time) and the same part of it.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import load_arrays
from sottovoce.core.engine import SPEECH_MEMORY, Engine, LocalEngine
from sottovoce.core.errors import InputError, SottovoceError, first_few
from sottovoce.core.files import write_bytes
from sottovoce.core.types import Progress, Vector, Vectors
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.blocks import block_arrays
from sottovoce.speaker.encoders import Encoder

BATCH = 64
"""Number of utterances per file of an unfinished run."""
GROUP = 8
"""Recordings that a worker of a cluster gets together."""

Outcome = tuple[Utterance, Vector | str]
"""An utterance with its vector, or with the reason why there is none."""


@dataclass(frozen=True, slots=True)
class EmbeddingSummary:
    """Result of embedding a corpus."""

    count: int
    """Vectors written."""
    resumed: int
    """How many of them an earlier run had computed."""
    bad: tuple[str, ...]
    """Recordings that could not be embedded, each with the reason."""


def embed_corpus(
    corpus: Corpus,
    encoder: Encoder,
    target: Path,
    *,
    jobs: int = 2,
    engine: Engine | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> EmbeddingSummary:
    """Embed all utterances of a corpus; a run that was stopped is continued.

    Parameters
    ----------
    corpus : Corpus
        Recordings and their speakers.
    encoder : Encoder
        What turns a recording into a vector.
    target : Path
        ``.npz`` file to write, completely or not at all. Vectors are in the order of the corpus.
    jobs : int, default 2
        Recordings embedded at the same time, in threads.
    engine : Engine, optional
        What embeds recordings instead of threads of this process.
    skip_bad : bool, default False
        Leave out recordings that cannot be embedded instead of raising an error.
    progress : callable, optional
        Called with the number of utterances done and their total.

    Returns
    -------
    EmbeddingSummary

    Raises
    ------
    InputError
        ``bad-recordings`` where some cannot be embedded (vectors of the others stay stored for
        the next run), ``empty`` where none can.
    """
    if target.suffix.lower() != ".npz":
        raise InputError(
            f"{target}: embeddings are written as .npz; give a name that ends so",
            code="unsupported",
        )
    store = _UnfinishedRun(target, encoder)
    vectors = store.read()
    keys = {utterance.id: _vector_key(utterance) for utterance in corpus}
    missing = [utterance for utterance in corpus if keys[utterance.id] not in vectors]
    resumed = done = len(corpus) - len(missing)
    bad: list[str] = []
    for batch in _batches(_embed_all(missing, encoder, engine or LocalEngine(jobs))):
        new = {
            keys[utterance.id]: outcome
            for utterance, outcome in batch
            if isinstance(outcome, np.ndarray)
        }
        bad += [f"{utterance.path}: {why}" for utterance, why in batch if isinstance(why, str)]
        if new:
            store.add(new)
            vectors.update(new)
        done += len(batch)
        if progress:
            progress(done, len(corpus))
    if bad and not skip_bad:
        raise _bad_recordings(bad, len(corpus))
    embedded = [utterance for utterance in corpus if keys[utterance.id] in vectors]
    if not embedded:
        raise InputError(f"{corpus.name}: no recording could be embedded", code="empty")
    table = np.stack([vectors[keys[utterance.id]] for utterance in embedded])
    write_bytes(target, _archive(embedded, table, encoder))
    store.remove()
    return EmbeddingSummary(len(embedded), resumed, tuple(bad))


def _bad_recordings(bad: list[str], total: int) -> InputError:
    return InputError(
        f"{len(bad):,} of {total:,} recordings cannot be embedded: {first_few(bad, len(bad))}; "
        "repair them, or leave them out with --skip-bad",
        code="bad-recordings",
    )


def _embed_all(
    utterances: Sequence[Utterance], encoder: Encoder, engine: Engine
) -> Iterator[Outcome]:
    """Embed utterances in their order; only a few recordings are in memory at a time."""
    return engine.map(
        EmbedRecording(encoder), utterances, label="embedding", group=GROUP, memory=SPEECH_MEMORY
    )


@dataclass(frozen=True, slots=True)
class EmbedRecording:
    """Embeds a recording, on any worker."""

    encoder: Encoder

    def __call__(self, utterance: Utterance) -> Vector | str:
        """Return the vector, or why there is none.

        Parameters
        ----------
        utterance : Utterance
            The recording.
        """
        try:
            return self.encoder.embed(load_audio(utterance, RATE), RATE)
        except SottovoceError as error:
            return str(error).removeprefix(f"{utterance.path}: ")


def _batches(outcomes: Iterator[Outcome]) -> Iterator[list[Outcome]]:
    while batch := list(islice(outcomes, BATCH)):
        yield batch


def _vector_key(utterance: Utterance) -> str:
    """Hash everything a vector depends on besides the encoder."""
    try:
        status = utterance.path.stat()
        stamp: tuple[int, ...] = (status.st_size, status.st_mtime_ns)
    except OSError:
        stamp = ()
    inputs = (str(utterance.path), stamp, utterance.start, utterance.end, utterance.channel)
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32]


class _UnfinishedRun:
    """Folder beside the target with the vectors computed so far, by their key."""

    def __init__(self, target: Path, encoder: Encoder) -> None:
        self.folder = target.with_name(f".{target.name}.{encoder.card.sha256[:12]}.unfinished")

    def read(self) -> dict[str, Vector]:
        """Read the vectors of an earlier run; a file that was cut off is ignored."""
        vectors: dict[str, Vector] = {}
        for path in sorted(self.folder.glob("*.npz")):
            try:
                arrays = load_arrays(path, ("keys", "vectors"), (), save="keys, vectors")
            except SottovoceError:
                continue
            vectors.update(zip(arrays["keys"].tolist(), arrays["vectors"], strict=True))
        return vectors

    def add(self, vectors: dict[str, Vector]) -> None:
        number = len(list(self.folder.glob("*.npz"))) if self.folder.is_dir() else 0
        data = _npz({"keys": np.array(list(vectors)), "vectors": np.stack(list(vectors.values()))})
        write_bytes(self.folder / f"{number:06}.npz", data)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _archive(utterances: Sequence[Utterance], vectors: Vectors, encoder: Encoder) -> bytes:
    columns = {
        "speakers": [utterance.speaker for utterance in utterances],
        "utterances": [utterance.id for utterance in utterances],
        "gender": [utterance.gender for utterance in utterances],
        "session": [utterance.session for utterance in utterances],
        "split": [utterance.split for utterance in utterances],
    }
    names = {name: np.array(values) for name, values in columns.items() if any(values)}
    card = np.array(json.dumps(encoder.card.to_dict()))
    blocks = block_arrays(encoder.card.blocks or ())
    return _npz({"vectors": vectors, "encoder": card, **names, **blocks})


def _npz(arrays: dict[str, NDArray[np.generic]]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()
