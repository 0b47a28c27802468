"""Features of the content of a corpus, computed once and kept in blocks."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.asr.content import SHA256, SIZE, ContentEncoder
from sottovoce.asr.ctc import spell
from sottovoce.attack.speech import SpeechCache, SpeechSet
from sottovoce.core.engine import SPEECH_MEMORY
from sottovoce.core.errors import InputError
from sottovoce.core.step_cache import Codec, Step
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.training.recogniser_data import SpokenText, StoredFeatures

BLOCK = 64
"""Recordings whose features lie in one file; a run that is killed loses at most so many."""
GROUP = 8
"""Recordings that a worker of a cluster gets together."""

FeatureBlock = list[StoredFeatures]


def _encode(block: FeatureBlock) -> bytes:
    buffer = io.BytesIO()
    frames = np.concatenate(block) if block else np.zeros((0, SIZE), np.float16)
    np.savez(buffer, frames=frames, lengths=[len(features) for features in block])
    return buffer.getvalue()


def _decode(content: bytes) -> FeatureBlock:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        frames, ends = arrays["frames"], np.cumsum(arrays["lengths"])
    if len(frames) != (ends[-1] if len(ends) else 0):
        raise InputError("stored features are not complete", code="damaged")
    return np.split(frames, ends[:-1]) if len(ends) else []


_FEATURES: Step[FeatureBlock] = Step("content-features", Codec(".npz", _encode, _decode))


@cache
def _encoder() -> ContentEncoder:
    return ContentEncoder()


@dataclass(frozen=True, slots=True)
class EncodeContent:
    """Computes the features of a recording, on any worker."""

    def __call__(self, utterance: Utterance) -> StoredFeatures:
        """Return frames × 288 in half precision; no frame for a recording without speech.

        Parameters
        ----------
        utterance : Utterance
            The recording.
        """
        try:
            features = _encoder().features(load_audio(utterance, RATE))
        except InputError:  # too short or silent
            return np.zeros((0, SIZE), np.float16)
        return features.astype(np.float16)


def spoken_texts(
    speech: SpeechSet, transcripts: Sequence[str], store: SpeechCache, label: str
) -> list[SpokenText]:
    """Compute the features of a corpus, or read them back.

    Parameters
    ----------
    speech : SpeechSet
        The recordings.
    transcripts : sequence of str
        What is said in each.
    store : SpeechCache
        Keeps the features; an hour of speech takes 86 MB.
    label : str
        What is encoded, for the progress.
    """
    utterances = speech.corpus.utterances
    features: list[StoredFeatures] = []
    for start in range(0, len(utterances), BLOCK):
        block = utterances[start : start + BLOCK]

        def compute(block: Sequence[Utterance] = block) -> FeatureBlock:
            encoded = store.engine.map(
                EncodeContent(), block, label="content", group=GROUP, memory=SPEECH_MEMORY
            )
            return [result for _, result in encoded]

        key = [speech.key, [utterance.id for utterance in block], SHA256]
        stored: FeatureBlock = store.steps.get(_FEATURES, key, compute)
        features += stored
        if store.progress:
            store.progress(f"features of {label}", len(features), len(utterances))
    return [
        SpokenText(utterance.speaker, frames, spell(text))
        for utterance, frames, text in zip(utterances, features, transcripts, strict=True)
    ]
