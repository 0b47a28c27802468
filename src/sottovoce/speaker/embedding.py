"""Embedding a corpus: resumable, at the encoder's full speed, one file at the end.

Vectors are kept in small files beside the target as they come; a run that was killed goes on from
them and loses at most one such file. They are tied to the encoder and to the corpus: another
encoder, or an utterance whose file or place in it changed, is embedded anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import load_arrays
from sottovoce.core.errors import InputError, SottovoceError, first_few
from sottovoce.core.files import write_bytes
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import Encoder

BATCH = 64
"""Utterances kept together in one file of the unfinished run."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came of embedding a corpus."""

    count: int
    resumed: int
    """Of these, how many an earlier run had done."""
    bad: tuple[str, ...]
    """Recordings that could not be embedded, and why."""


def embed_corpus(
    corpus: Corpus,
    encoder: Encoder,
    target: Path,
    *,
    jobs: int = 2,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> Embedded:
    """Write the vectors of all utterances to ``target`` (.npz), going on where a run stopped.

    Recordings that cannot be embedded are an error that names the first few, unless ``skip_bad``;
    what was done is kept either way.
    """
    if target.suffix != ".npz":
        raise InputError(f"{target}: embeddings are written as .npz; name it so")
    unfinished = _Unfinished(target, encoder)
    done = unfinished.read()
    keys = {one.id: _key(one) for one in corpus}
    left = [one for one in corpus if keys[one.id] not in done]
    bad: list[str] = []
    count = len(corpus) - len(left)
    resumed = count
    for batch in _batches(_vectors(left, encoder, jobs)):
        found = {keys[one.id]: vector for one, vector in batch if isinstance(vector, np.ndarray)}
        bad += [f"{one.path}: {vector}" for one, vector in batch if isinstance(vector, str)]
        if found:
            unfinished.add(found)
            done.update(found)
        count += len(batch)
        if progress:
            progress(count, len(corpus))
    if bad and not skip_bad:
        raise InputError(
            f"{len(bad):,} of {len(corpus):,} recordings cannot be embedded: "
            f"{first_few(bad, len(bad))}; repair them, or leave them out with --skip-bad"
        )
    kept = [one for one in corpus if keys[one.id] in done]
    if not kept:
        raise InputError(f"{corpus.name}: no recording could be embedded")
    write_bytes(target, _archive(kept, [done[keys[one.id]] for one in kept], encoder))
    unfinished.remove()
    return Embedded(len(kept), resumed, tuple(bad))


def _vectors(
    utterances: Sequence[Utterance], encoder: Encoder, jobs: int
) -> Iterator[tuple[Utterance, NDArray[np.float32] | str]]:
    """Vectors in order, or why there is none; only a few recordings are in memory at a time."""

    def one(utterance: Utterance) -> NDArray[np.float32] | str:
        try:
            return encoder.embed(load_audio(utterance, RATE), RATE)
        except SottovoceError as error:
            return str(error).removeprefix(f"{utterance.path}: ")

    waiting: list[tuple[Utterance, Future[NDArray[np.float32] | str]]] = []
    with ThreadPoolExecutor(jobs) as pool:
        for utterance in utterances:
            waiting.append((utterance, pool.submit(one, utterance)))
            if len(waiting) > 4 * jobs:
                first, future = waiting.pop(0)
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()


def _batches(items: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(items, BATCH)):
        yield batch


def _key(utterance: Utterance) -> str:
    """What a vector depends on: the file as it is now, and the part of it."""
    try:
        status = utterance.path.stat()
        stamp: tuple[int, ...] = (status.st_size, status.st_mtime_ns)
    except OSError:
        stamp = ()
    what = (str(utterance.path), stamp, utterance.start, utterance.end, utterance.channel)
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]


class _Unfinished:
    """The folder beside the target that holds what is done so far."""

    def __init__(self, target: Path, encoder: Encoder) -> None:
        self.folder = target.with_name(f".{target.name}.{encoder.card.sha256[:12]}.unfinished")

    def read(self) -> dict[str, NDArray[np.float32]]:
        """Vectors of an earlier run; a file that was cut off is ignored."""
        done: dict[str, NDArray[np.float32]] = {}
        for path in sorted(self.folder.glob("*.npz")):
            try:
                arrays = load_arrays(path, ("keys", "vectors"), (), save="keys, vectors")
            except SottovoceError:
                continue
            done.update(zip(arrays["keys"].tolist(), arrays["vectors"], strict=True))
        return done

    def add(self, found: dict[str, NDArray[np.float32]]) -> None:
        """Keep a batch."""
        number = len(list(self.folder.glob("*.npz"))) if self.folder.is_dir() else 0
        data = _npz(keys=np.array(list(found)), vectors=np.stack(list(found.values())))
        write_bytes(self.folder / f"{number:06}.npz", data)

    def remove(self) -> None:
        """Forget it: the target is whole."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _archive(
    utterances: Sequence[Utterance], vectors: Sequence[NDArray[np.float32]], encoder: Encoder
) -> bytes:
    columns = {
        "speakers": [one.speaker for one in utterances],
        "utterances": [one.id for one in utterances],
        "gender": [one.gender for one in utterances],
        "session": [one.session for one in utterances],
        "split": [one.split for one in utterances],
    }
    names = {name: np.array(values) for name, values in columns.items() if any(values)}
    card = np.array(json.dumps(encoder.card.to_dict()))
    return _npz(vectors=np.stack(vectors), encoder=card, **names)


def _npz(**arrays: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()
