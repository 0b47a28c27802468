"""Dividing a corpus: into enrolment and trial utterances, or into two sets of speakers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.core.errors import TooFewError, UsageError
from sottovoce.core.types import IntArray
from sottovoce.corpus.utterance import Corpus

Seed = int | np.random.Generator

ENROL_SPLITS = ("enrol", "enroll", "enrolment", "enrollment")
TRIAL_SPLITS = ("trial", "trials", "test")


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """A corpus divided into enrolment and trial utterances, by their positions in it."""

    enrol: IntArray
    trial: IntArray
    criteria: Mapping[str, int]
    """How many speakers were divided by ``split``, by ``session`` and at ``random``."""
    left_out: tuple[str, ...]
    """Speakers that are on no side, because they have one utterance."""


def split_sides(corpus: Corpus, *, enrol_share: float = 0.5, seed: Seed = 0) -> Sides:
    """Divide each speaker's utterances into enrolment and trial.

    Where utterances have the splits ``enrol`` and ``trial`` (or ``test``) these decide, for all
    speakers; an utterance of another split is on no side. Else a speaker with two sessions or more
    has each session on one side only, and a speaker with a single session is divided at random.
    The order of the corpus has no influence.

    Parameters
    ----------
    corpus : Corpus
        What is divided.
    enrol_share : float, default 0.5
        About this share of a speaker's utterances, at least one and not all, is for enrolment;
        between 0 and 1.
    seed : int or Generator, default 0
        For the random choices.
    """
    if not 0 < enrol_share < 1:
        raise UsageError(
            f"enrol_share {enrol_share}; choose one between 0 and 1", code="out-of-range"
        )
    splits = [utterance.split.lower() for utterance in corpus]
    if set(splits) & set(ENROL_SPLITS) and set(splits) & set(TRIAL_SPLITS):
        return _by_split(corpus, splits)
    rng = np.random.default_rng(seed)
    enrol: list[int] = []
    trial: list[int] = []
    criteria: Counter[str] = Counter()
    left_out = []
    for speaker, positions in _positions(corpus).items():
        if len(positions) < 2:
            left_out.append(speaker)
            continue
        sessions = _by_session(corpus, positions)
        criteria["session" if len(sessions) > 1 else "random"] += 1
        units = sessions if len(sessions) > 1 else [[i] for i in positions]
        drawn = _draw(units, enrol_share * len(positions), rng)
        enrol += drawn
        trial += set(positions) - set(drawn)
    return Sides(_sorted(enrol), _sorted(trial), dict(criteria), tuple(left_out))


def _by_split(corpus: Corpus, splits: list[str]) -> Sides:
    enrol = [i for i, split in enumerate(splits) if split in ENROL_SPLITS]
    trial = [i for i, split in enumerate(splits) if split in TRIAL_SPLITS]
    speakers = {corpus.utterances[i].speaker for i in (*enrol, *trial)}
    left_out = tuple(name for name in corpus.speakers if name not in speakers)
    return Sides(_sorted(enrol), _sorted(trial), {"split": len(speakers)}, left_out)


def _positions(corpus: Corpus) -> dict[str, list[int]]:
    """Return the positions of each speaker's utterances, in the order of their ids."""
    positions: dict[str, list[int]] = {name: [] for name in corpus.speakers}
    for i in sorted(range(len(corpus)), key=lambda i: corpus.utterances[i].id):
        positions[corpus.utterances[i].speaker].append(i)
    return positions


def _by_session(corpus: Corpus, positions: Sequence[int]) -> list[list[int]]:
    """Group a speaker's utterances by session; those without a session are one group."""
    sessions: dict[str, list[int]] = {}
    for i in positions:
        sessions.setdefault(corpus.utterances[i].session, []).append(i)
    return [sessions[name] for name in sorted(sessions)]


def _draw(units: list[list[int]], target: float, rng: np.random.Generator) -> list[int]:
    """Draw units until they have about ``target`` items: at least one unit, but not all."""
    drawn: list[int] = []
    for position, unit in enumerate(rng.permutation(len(units))):
        items = units[unit]
        nearer = abs(len(drawn) + len(items) - target) < abs(len(drawn) - target)
        if position and (position == len(units) - 1 or not nearer):
            break
        drawn += items
    return drawn


def _sorted(numbers: list[int]) -> IntArray:
    return np.array(sorted(numbers), np.int64)


def partition_speakers(
    corpus: Corpus, *, share: float = 0.5, seed: Seed = 0
) -> tuple[Corpus, Corpus]:
    """Divide a corpus into two without a common speaker, e.g. to train on one, attack the other.

    Parameters
    ----------
    corpus : Corpus
        What is divided; at least two speakers.
    share : float, default 0.5
        About this share of the speakers of each gender, at least one speaker and not all, is in
        the first part; between 0 and 1.
    seed : int or Generator, default 0
        For the random choice.
    """
    names = corpus.speakers
    if not 0 < share < 1:
        raise UsageError(f"share {share}; choose one between 0 and 1", code="out-of-range")
    if len(names) < 2:
        raise TooFewError(f"{corpus.name}: {len(names)} speakers; two sets of them need at least 2")
    rng = np.random.default_rng(seed)
    by_gender: dict[str, list[str]] = {}
    for name, utterances in corpus.by_speaker().items():
        gender = next((utterance.gender for utterance in utterances if utterance.gender), "")
        by_gender.setdefault(gender, []).append(name)
    order = [name for gender in sorted(by_gender) for name in rng.permutation(by_gender[gender])]
    count = min(max(round(share * len(names)), 1), len(names) - 1)
    # taken at even distances in an order by gender, so that each gender gives its share
    first = {str(order[i * len(names) // count]) for i in range(count)}
    return corpus.select(speakers=first), corpus.select(speakers=set(names) - first)
