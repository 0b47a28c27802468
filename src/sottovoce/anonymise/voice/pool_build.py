"""A pool of one's own: voices of a corpus, from which pseudo-speakers can be averaged.

The work of ``sottovoce anonymise pool``. Speakers get numbers in place of their names.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sottovoce.anonymise.voice.conditioning import first_recordings
from sottovoce.anonymise.voice.frames import FIT_SECONDS, RATE
from sottovoce.anonymise.voice.pool import Pool, PoolCard
from sottovoce.anonymise.voice.pool_samples import VoiceSample, pool_of_samples
from sottovoce.core.arrays import Arrays
from sottovoce.core.errors import InputError
from sottovoce.core.step_cache import Codec, Step, StepCache
from sottovoce.core.types import FloatArray, Progress, Vector
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.world import find_f0
from sottovoce.speaker.encoders import Encoder

PARTS = ".parts"
"""End of the name of the folder with the analysed speakers of an unfinished run."""

Recordings = list[tuple[Vector, FloatArray]]
"""Speaker vector and F0 in Hz of each recording of a speaker."""


def build_pool(
    corpus: Corpus,
    encoder: Encoder,
    path: Path,
    *,
    licence: str = "not stated",
    guess_gender: bool = False,
    progress: Progress | None = None,
) -> Pool:
    """Analyse the voices of a corpus and write them as a pool; a stopped run continues.

    Parameters
    ----------
    corpus : Corpus
        Recordings with speakers and their gender.
    encoder : Encoder
        Gives the speaker vectors; ``xvector`` needs those of its own encoder, CAM++.
    path : Path
        The ``.npz`` file to write.
    licence : str, default "not stated"
        Licence of the recordings, for the card.
    guess_gender : bool, default False
        Whether the gender of a speaker without one is guessed from the voice.
    progress : callable, optional
        Called with the number of analysed speakers and their total.

    Returns
    -------
    Pool
        Speakers in an order that tells nothing: by their number, which follows their vector.

    Raises
    ------
    InputError
        If a speaker has no gender (``missing-column``).
    TooFewError
        If there are fewer than four speakers of a gender.
    """
    parts = path.with_name(path.name + PARTS)
    cache = StepCache(parts)
    speakers = corpus.by_speaker()
    samples: list[VoiceSample] = []
    for count, (speaker, utterances) in enumerate(speakers.items(), 1):
        recordings = cache.get(
            ANALYSIS,
            _cache_inputs(utterances, encoder),
            lambda utterances=utterances: _analyse(utterances, encoder),  # type: ignore[misc]
        )
        gender = _gender(utterances, recordings, guess=guess_gender)
        samples += [VoiceSample(speaker, gender, vector, f0) for vector, f0 in recordings]
        if progress:
            progress(count, len(speakers))
    pool = _renumbered(pool_of_samples(samples, [], PoolCard(encoder.card, corpus.name, licence)))
    pool.save(path)
    shutil.rmtree(parts, ignore_errors=True)
    return pool


def _analyse(utterances: Sequence[Utterance], encoder: Encoder) -> Recordings:
    """Vector and F0 of about a minute of recordings; those without speech are left out."""
    recordings: Recordings = []
    for audio in first_recordings(utterances, FIT_SECONDS):
        try:
            vector = encoder.embed(audio, RATE)
        except InputError:
            continue
        recordings.append((vector, find_f0(audio.astype(np.float64))[0]))
    return recordings


def _gender(utterances: Sequence[Utterance], recordings: Recordings, *, guess: bool) -> str:
    gender = utterances[0].gender
    if gender in ("f", "m") or not guess or not recordings:
        return gender
    vector = np.mean([vector for vector, _ in recordings], axis=0)
    return Pool.load().guess_gender(vector, np.concatenate([f0 for _, f0 in recordings]))


def _renumbered(pool: Pool) -> Pool:
    """Numbers for names, given in an order that does not follow the names."""
    order = np.lexsort((pool.vectors[:, 0],))
    rank = np.argsort(order)
    return replace(
        pool,
        speakers=np.array([f"{number:04}" for number in range(len(pool))]),
        gender=pool.gender[order],
        vectors=pool.vectors[order],
        pitch=pool.pitch[order],
        exemplars=rank[pool.exemplars[order]],
    )


def _cache_inputs(utterances: Sequence[Utterance], encoder: Encoder) -> list[object]:
    """Everything the analysis of a speaker depends on."""
    files = []
    for utterance in utterances:
        try:
            status = utterance.path.stat()
        except OSError:
            continue
        segment = [utterance.start, utterance.end, utterance.channel]
        files.append([str(utterance.path), status.st_size, status.st_mtime_ns, *segment])
    return [files, encoder.card.sha256]


def _encode(recordings: Recordings) -> bytes:
    arrays: Arrays = {}
    for number, (vector, f0) in enumerate(recordings):
        arrays[f"vector{number}"], arrays[f"f0{number}"] = vector, f0
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, count=np.array(len(recordings)), **arrays)
    return buffer.getvalue()


def _decode(content: bytes) -> Recordings:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        count = int(arrays["count"])
        return [(arrays[f"vector{number}"], arrays[f"f0{number}"]) for number in range(count)]


ANALYSIS = Step("voices", Codec(".npz", _encode, _decode))
