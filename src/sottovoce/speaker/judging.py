"""Which speakers are held out, and which of their vectors are enrolled and which tried.

No recording is on both sides, whatever its draw. Trials are of the first draw, which is made as the
operator makes it; across draws, what is enrolled is of the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import IntArray
from sottovoce.speaker.embeddings import Embeddings

FOLDS = 4
"""Parts that speakers are divided into, each of which is held out in turn."""

Mask = NDArray[np.bool_]


def speaker_folds(embeddings: Embeddings, *, seed: int) -> list[IntArray]:
    """Divide the speakers into four parts to hold out in turns.

    The order of the speakers is drawn, since names often go by corpus or gender.

    Parameters
    ----------
    embeddings : Embeddings
        Their speakers are divided.
    seed : int
        Of the order.

    Returns
    -------
    list of arrays of int
        Numbers of the speakers of each part.
    """
    order = np.random.default_rng(seed).permutation(len(embeddings.names))
    return [order[fold::FOLDS] for fold in range(FOLDS)]


def judging_halves(
    embeddings: Embeddings, speakers: IntArray, *, across_draws: bool, seed: int
) -> tuple[IntArray, IntArray] | None:
    """Choose the rows to enrol and the rows to try of some speakers.

    Parameters
    ----------
    embeddings : Embeddings
        Vectors of one or several draws.
    speakers : array of int
        Numbers of the speakers; those with a single recording are left out.
    across_draws : bool
        Whether the two sides come from different draws, where there are several.
    seed : int
        Of the division of a speaker's recordings.

    Returns
    -------
    enrol, trial : array of int
        Sorted row numbers; None if fewer than 2 speakers are left.
    """
    rng = np.random.default_rng(seed)
    recordings, tried_draw, enrolled_draw = _sides(embeddings, across_draws)
    enrol, trial = [], []
    for speaker in speakers:
        of_speaker = embeddings.speakers == speaker
        shuffled = rng.permutation(np.unique(recordings[of_speaker]))
        first_half = np.isin(recordings, shuffled[: len(shuffled) // 2])
        if len(shuffled) >= 2:
            enrol.append(np.flatnonzero(of_speaker & first_half & enrolled_draw))
            trial.append(np.flatnonzero(of_speaker & ~first_half & tried_draw))
    if len(enrol) < 2:
        return None
    return np.sort(np.concatenate(enrol)), np.sort(np.concatenate(trial))


def _sides(embeddings: Embeddings, across_draws: bool) -> tuple[IntArray, Mask, Mask]:
    """The recording of each vector, and which vectors may be tried and which enrolled."""
    everything = np.ones(len(embeddings), np.bool_)
    draws, ids = embeddings.draws, embeddings.utterances
    if draws is None or ids is None:
        return np.arange(len(embeddings)), everything, everything
    recordings = np.unique(ids, return_inverse=True)[1].astype(np.int64)
    first = draws == 1
    return recordings, first, ~first if across_draws and not first.all() else first
