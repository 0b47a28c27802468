"""Test of an encoder on speakers that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.core.errors import TooFewError
from sottovoce.core.records import Record
from sottovoce.core.types import Features, Vectors
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.measure import Scores, eer
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import features, prepare


@dataclass(frozen=True, slots=True)
class HeldOutTest(Record):
    """Test of an encoder on speakers it was not trained on."""

    eer: float
    """Equal error rate of the cosine over pairs of utterances."""
    n_mated: int
    n_nonmated: int


def held_out_test(draws: Sequence[Sequence[Utterance]], vectors: Sequence[Vectors]) -> HeldOutTest:
    """Compare the recordings of held-out speakers by the cosine of their centred vectors.

    Where the same speech is there in several draws of an anonymiser, recordings of different draws
    are compared, as an attack does; else an encoder would be praised for recognising a
    pseudo-voice. A recording is never compared with itself, whatever the draw.

    Parameters
    ----------
    draws : sequence of sequences of Utterance
        Utterances of each draw; at least two speakers with two utterances each.
    vectors : sequence of arrays of float32, utterances × d
        Their vectors, in the same order.

    Raises
    ------
    TooFewError
        Where no recordings of a speaker, or of two, can be compared.
    """
    utterances = [utterance for draw in draws for utterance in draw]
    ids = np.array([utterance.id for utterance in utterances])
    speakers = np.array([utterance.speaker for utterance in utterances])
    draw_of = np.repeat(np.arange(len(draws)), [len(draw) for draw in draws])
    table = np.concatenate(vectors).astype(np.float64)
    table -= table.mean(axis=0)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    first, second = np.triu_indices(len(table), 1)
    compared = ids[first] != ids[second]
    if len(draws) > 1:
        compared &= draw_of[first] != draw_of[second]
    first, second = first[compared], second[compared]
    scores, mated = (table @ table.T)[first, second], speakers[first] == speakers[second]
    if mated.all() or not mated.any():
        raise TooFewError(
            f"{len(set(speakers))} held-out speakers have no two recordings to compare; add "
            "recordings of each speaker"
        )
    rate = eer(Scores(mated=scores[mated], nonmated=scores[~mated]))
    return HeldOutTest(rate, int(mated.sum()), int((~mated).sum()))


class HeldOutSpeech:
    """Recordings of held-out speakers, ready for a network: cut or repeated to one length.

    Parameters
    ----------
    draws : sequence of Corpus
        Speech of the same speakers, once per draw of the anonymiser.
    seconds : float
        Length of a recording.
    limit : int, default 8
        Most recordings per speaker and draw: the first ones.
    """

    def __init__(self, draws: Sequence[Corpus], *, seconds: float, limit: int = 8) -> None:
        self.draws = [
            [utterance for group in corpus.by_speaker().values() for utterance in group[:limit]]
            for corpus in draws
            if len(corpus)
        ]
        length = int(seconds * RATE)
        self.banks = [
            np.stack([_banks(utterance, length) for utterance in draw]) for draw in self.draws
        ]

    def test(self, embed: Callable[[Features], Vectors], *, batch: int = 16) -> HeldOutTest:
        """Test an encoder.

        Parameters
        ----------
        embed : callable
            Turns filter banks (recordings × frames × 80) into vectors.
        batch : int, default 16
            Recordings that are embedded at a time.
        """
        vectors = [
            np.concatenate([embed(banks[i : i + batch]) for i in range(0, len(banks), batch)])
            for banks in self.banks
        ]
        return held_out_test(self.draws, vectors)


def _banks(utterance: Utterance, length: int) -> Features:
    return features(np.resize(prepare(load_audio(utterance, RATE), RATE), length))
