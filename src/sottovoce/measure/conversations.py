"""Conversations: mean vectors of several utterances of one speaker, linked as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import IntArray, Vectors
from sottovoce.speaker import Embeddings
from sottovoce.speaker.averages import refuse_cancelled


@dataclass(frozen=True, slots=True, eq=False)
class Conversations:
    """Mean vectors of ``length`` utterances each, sorted by speaker; they share no utterance."""

    vectors: Vectors
    speakers: IntArray
    """Who speaks, a number of the embeddings they were made of."""
    length: int
    too_short: int
    """Speakers left out because they have too few utterances."""


def make_conversations(
    trial: Embeddings, *, length: int, most: int, rng: np.random.Generator, at_least: int = 1
) -> Conversations:
    """Cut each speaker's utterances, in random order, into conversations.

    Parameters
    ----------
    trial : Embeddings
        One vector per utterance.
    length : int
        Utterances a conversation.
    most : int
        Conversations a speaker, at most.
    rng : numpy.random.Generator
        Draws the order of the utterances.
    at_least : int, default 1
        Speakers with fewer conversations than this are left out.

    Raises
    ------
    TooFewError
        If no speaker is left.
    InputError
        ``all-zero`` if the vectors of a conversation cancel.
    """
    counts = trial.counts
    per_speaker = np.minimum(counts // min(length, len(trial) + 1), most)
    per_speaker[per_speaker < at_least] = 0
    if not per_speaker.any():
        raise TooFewError(
            f"{trial.origin}: no speaker has {at_least * length:,} utterances, which conversations "
            f"of {length:,} need; add recordings or ask for a smaller length"
        )
    order = np.lexsort((rng.random(len(trial)), trial.speakers))
    first = np.cumsum(counts) - counts
    rows = [
        order[first[s] : first[s] + per_speaker[s] * length] for s in np.flatnonzero(per_speaker)
    ]
    picked = trial.vectors[np.concatenate(rows)].reshape(-1, length, trial.dimension)
    means = picked.mean(axis=1, dtype=np.float64).astype(np.float32)
    speakers = np.repeat(np.arange(len(counts)), per_speaker)
    if length > 1:
        refuse_cancelled(means, picked[:, 0], trial.names[speakers], trial.origin)
    return Conversations(
        means,
        speakers,
        length,
        too_short=int((per_speaker == 0).sum()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """Conversations of enrolled speakers."""

    vectors: Vectors
    speakers: IntArray
    """The number of the enrolled speaker who speaks."""
    length: int
    without_enrolment: int
    """Speakers left out because they are not enrolled."""
    too_short: int
    """Speakers left out because they have fewer than ``length`` utterances."""


def enrolment_numbers(trial: Embeddings, enrol: Embeddings) -> IntArray:
    """Find the number that each speaker of the trials has in the enrolment.

    Parameters
    ----------
    trial, enrol : Embeddings
        Speakers are compared by name.

    Returns
    -------
    array of int64
        −1 for a speaker who is not enrolled.
    """
    known = {name: number for number, name in enumerate(enrol.names.tolist())}
    return np.array([known.get(name, -1) for name in trial.names.tolist()], np.int64)


def make_trials(
    trial: Embeddings, enrol: Embeddings, *, length: int, most: int, rng: np.random.Generator
) -> Trials:
    """Make conversations of the enrolled speakers; those left out are counted.

    Parameters
    ----------
    trial, enrol : Embeddings
        Speakers are compared by name.
    length : int
        Utterances a conversation.
    most : int
        Conversations a speaker, at most.
    rng : numpy.random.Generator
        Draws the order of the utterances.
    """
    numbers = enrolment_numbers(trial, enrol)
    conversations = make_conversations(trial, length=length, most=most, rng=rng)
    known = numbers[conversations.speakers] >= 0
    if not known.any():
        raise TooFewError(
            f"{trial.origin}: none of its speakers with {length:,} utterances is enrolled in "
            f"{enrol.origin}; check the speakers' names",
            code="not-enrolled",
        )
    return Trials(
        conversations.vectors[known],
        numbers[conversations.speakers[known]],
        length,
        without_enrolment=int((numbers < 0).sum()),
        too_short=int((numbers >= 0).sum() - len(np.unique(conversations.speakers[known]))),
    )
