"""How the attacker learns its linkage function: on speakers of its own, checked on held-out ones.

An attacker with time tries what might work and keeps what worked best on speakers it did not train
on. So do we, with training speakers only: those under attack decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sottovoce.attack.score import ScoreTable, score_all
from sottovoce.core.errors import SottovoceError, TooFewError
from sottovoce.core.types import IntArray
from sottovoce.measure import eer, min_cllr
from sottovoce.measure.scores import Scores
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import LINKAGES, LinkageFunction, Settings, make_linkage

Merit = tuple[float, float]
WORST: Merit = (math.inf, math.inf)

FOLDS = 4
BEST = "best"
"""The name that means: whichever linkage function does best on held-out training speakers."""
TRIED = ("cosine", "whitening", "projection", "plda")


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A trained linkage function, and how well it does where it was trained."""

    linkage: LinkageFunction
    name: str
    settings: Settings
    speakers: int
    vectors: int
    held_out_eer: float | None
    """On training speakers left out of the training, in turns; None where there are too few."""
    training_eer: float | None
    """On the very vectors it was trained on: whether it could learn at all."""
    merit: Merit
    """How it is ranked among others, lower first."""

    def to_dict(self) -> dict[str, Any]:
        """Without the linkage function itself."""
        names = [name for name in self.__slots__ if name not in ("linkage", "merit")]
        return {name: getattr(self, name) for name in names} | {"settings": dict(self.settings)}


@lru_cache(maxsize=32)
def fit(name: str, train: Embeddings, *, seed: int = 0) -> Fitted:
    """Train a linkage function; what its settings should be, held-out speakers decide.

    Asked again for the same embeddings, it is not trained again.
    """
    if name == BEST:
        return min(_trainable(train, seed), key=lambda one: one.merit)
    folds = list(_folds(train, seed))
    best: tuple[Merit, Settings, Scores | None] = (
        WORST,
        LINKAGES[name].candidate_settings[-1],
        None,
    )
    for settings in LINKAGES[name].candidate_settings:
        scores = _held_out(name, settings, train, folds)
        if scores is not None and (merit := _merit(scores)) < best[0]:
            best = (merit, settings, scores)
    merit, settings, held_out = best
    linkage = make_linkage(name, train, like=train, **settings)
    return Fitted(
        linkage,
        name,
        settings,
        len(train.names),
        len(train),
        None if held_out is None else eer(held_out),
        _eer(_own_scores(train, np.arange(len(train.names)), linkage, seed)),
        merit,
    )


def _trainable(train: Embeddings, seed: int) -> Iterator[Fitted]:
    """All that can be learnt from these speakers; plain cosine always can."""
    for name in TRIED:
        try:
            yield fit(name, train, seed=seed)
        except TooFewError:
            if name == TRIED[0]:
                raise


def _merit(scores: Scores) -> Merit:
    """Cllr_min and, where voices are told apart without error, how far apart their scores lie."""
    apart = scores.mated.mean() - scores.nonmated.mean()
    return round(min_cllr(scores), 3), -float(apart / (scores.mated.std() + scores.nonmated.std()))


def _folds(train: Embeddings, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Speakers to train on and speakers to leave out, in turns."""
    order = np.random.default_rng(seed).permutation(len(train.names))
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        if len(out) >= 2 and len(order) - len(out) >= 2:
            yield np.setdiff1d(order, out), out


def _held_out(
    name: str,
    settings: Settings,
    train: Embeddings,
    folds: Sequence[tuple[IntArray, IntArray]],
) -> Scores | None:
    """Scores of left-out speakers, of all folds together."""
    mated, nonmated = [], []
    for kept, out in folds:
        try:
            linkage = make_linkage(name, train.of_speakers(kept), like=train, **settings)
        except TooFewError:
            return None
        table = _own_scores(train, out, linkage, 0)
        if table is None:
            continue
        # folds have scales of their own; ranks inside a fold do not
        values = table.values
        values = (values - values.mean()) / values.std()
        mated.append(values[table.mated])
        nonmated.append(values[~table.mated])
    if not mated:
        return None
    return Scores(np.concatenate(mated), np.concatenate(nonmated))


def _own_scores(
    voices: Embeddings, speakers: IntArray, linkage: LinkageFunction, seed: int
) -> ScoreTable | None:
    """Speakers against themselves and each other: half of the vectors of each enrolled."""
    rng = np.random.default_rng(seed)
    enrol, trial = [], []
    for one in speakers:
        own = rng.permutation(np.flatnonzero(voices.speakers == one))
        if len(own) >= 2:
            enrol.append(own[: len(own) // 2])
            trial.append(own[len(own) // 2 :])
    if len(enrol) < 2:
        return None
    known, unknown = (voices.rows(np.sort(np.concatenate(side))) for side in (enrol, trial))
    return score_all(known, unknown, linkage)


def _eer(table: ScoreTable | None) -> float | None:
    try:
        return None if table is None else eer(table.scores())
    except SottovoceError:
        return None
