"""Fusion: a linkage function for each block of the vectors, and one weight for each of them.

The score of a pair is the weighted sum of the scores of the blocks. The weights come from a
logistic regression on training speakers that the linkage functions of the blocks were not trained
on; they are never negative, so a block that says nothing gets the weight 0 and no block counts
against its own evidence. Every score of a block is a product of two rows, so the weighted sum is
the product of the joined rows, each scaled by the root of its weight.

Brümmer et al., "Fusion of heterogeneous speaker recognition systems in the STBU submission for the
NIST speaker recognition evaluation 2006", IEEE TASLP 15(7), 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.speaker.averages import speaker_means
from sottovoce.speaker.blocks import Block, block_columns
from sottovoce.speaker.concatenation import select_block
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.judging import FOLDS, judging_halves, speaker_folds
from sottovoce.speaker.linkage_functions import Counts, LinkageFunction

PENALTY = 1e-3
"""Weight of the squared weights in the regression, which bounds them for separable scores."""
WHOLE = "all"
"""Name of the only block of vectors that are not made of blocks."""

Trainer = Callable[[Embeddings], LinkageFunction]
"""Trains a linkage function with settings of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class FusedBlock:
    """A block, the linkage function that compares it, and its weight."""

    block: Block
    columns: slice
    linkage: LinkageFunction
    weight: float
    """Factor of the block's score; the sum is a log likelihood ratio up to a constant."""
    mated: FloatArray
    """Scores of the block alone of speakers that it was not trained on, both of one speaker."""
    nonmated: FloatArray
    """The same of two speakers."""

    @property
    def contribution(self) -> float:
        """Spread of the weighted scores, which tells how much the block decides."""
        return self.weight * float(np.concatenate([self.mated, self.nonmated]).std())


class Fused:
    """Weighted sum of the scores of all blocks.

    Parameters
    ----------
    blocks : sequence of FusedBlock
        In the order of the columns.
    """

    name = "fused"

    def __init__(self, blocks: Sequence[FusedBlock]) -> None:
        self.blocks = tuple(blocks)

    def enrol(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare enrolment models with the linkage function of each block.

        Parameters
        ----------
        vectors : array of float32, n × d
            Means of the embeddings of a speaker's utterances.
        counts : int or array of int, n
            Number of utterances each mean was taken over.
        """
        return self._joined(lambda part: part.linkage.enrol(vectors[:, part.columns], counts))

    def trial(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare trials with the linkage function of each block.

        Parameters
        ----------
        vectors : array of float32, m × d
            One embedding per row.
        counts : int or array of int
            The ``counts`` that are given to :meth:`enrol`.
        """
        return self._joined(lambda part: part.linkage.trial(vectors[:, part.columns], counts))

    def _joined(self, rows_of: Callable[[FusedBlock], Vectors]) -> Vectors:
        used = [part for part in self.blocks if part.weight > 0]
        rows = [rows_of(part) * np.float32(np.sqrt(part.weight)) for part in used]
        return np.hstack(rows)


def fit_fused(
    train: Embeddings, trainers: Sequence[Trainer], *, across_draws: bool = True
) -> Fused:
    """Train a linkage function for each block and the weights of their scores.

    Parameters
    ----------
    train : Embeddings
        Vectors of at least 8 speakers with 2 recordings each. Vectors without blocks are one.
    trainers : sequence of callable
        Each trains a linkage function; for each block the one with the smallest loss on held-out
        speakers is taken.
    across_draws : bool, default True
        Whether held-out pairs come from different draws, where there are several: so it is for an
        attacker who does not know the operator's draws.

    Raises
    ------
    TooFewError
        If there are too few speakers to hold some out.
    """
    folds = list(_folds(train, across_draws))
    if len(folds) < FOLDS:
        raise TooFewError(
            f"{train.origin}: {len(train.names):,} training speakers; fusion holds a quarter of "
            f"them out and needs at least {2 * FOLDS} with two recordings each: add some"
        )
    mated = np.concatenate([fold.mated.ravel() for fold in folds])
    parts = [
        (block, at, select_block(train, block.name)) for block, at in block_columns(train.blocks)
    ]
    if not parts:
        parts = [(Block(WHOLE, train.dimension), slice(None), train)]
    chosen = [_best_trainer(part, folds, trainers, mated) for _, _, part in parts]
    weights = fusion_weights(np.column_stack([scores for _, scores in chosen]), mated)
    return Fused(
        [
            FusedBlock(block, at, trainer(part), float(weight), scores[mated], scores[~mated])
            for (block, at, part), (trainer, scores), weight in zip(
                parts, chosen, weights, strict=True
            )
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Fold:
    """Rows of training speakers, and rows of held-out speakers on the two sides of pairs."""

    train: IntArray
    enrol: IntArray
    trial: IntArray
    mated: NDArray[np.bool_]
    """Held-out speakers × trials."""


def _folds(train: Embeddings, across_draws: bool) -> Iterator[_Fold]:
    """Hold a quarter of the speakers out in turns."""
    for held_out in speaker_folds(train, seed=0):
        halves = judging_halves(train, held_out, across_draws=across_draws, seed=0)
        if halves is not None:
            enrol, trial = halves
            enrolled = np.unique(train.speakers[enrol])
            yield _Fold(
                np.flatnonzero(~np.isin(train.speakers, held_out)),
                enrol,
                trial,
                enrolled[:, None] == train.speakers[trial],
            )


def _best_trainer(
    part: Embeddings, folds: Sequence[_Fold], trainers: Sequence[Trainer], mated: NDArray[np.bool_]
) -> tuple[Trainer, FloatArray]:
    """The trainer with the smallest loss on held-out speakers, and its scores of them."""
    best, shortage = None, None
    for trainer in trainers:
        try:
            scores = np.concatenate([_fold_scores(part, fold, trainer) for fold in folds])
        except TooFewError as error:
            shortage = error
            continue
        loss = _Regression(scores[:, None], mated).fit()[1]
        if best is None or loss < best[0]:
            best = loss, trainer, scores
    if best is None:
        raise shortage or TooFewError(f"{part.origin}: no linkage function to train")
    return best[1], best[2]


def _fold_scores(part: Embeddings, fold: _Fold, trainer: Trainer) -> FloatArray:
    """Scores of all pairs of a fold, speakers by trials, in one row."""
    linkage = trainer(part.rows(fold.train))
    enrolled = part.rows(fold.enrol)
    counts = enrolled.counts
    models = linkage.enrol(speaker_means(enrolled), counts).astype(np.float64)
    return np.asarray((models @ linkage.trial(part.vectors[fold.trial], counts).T).ravel())


def fusion_weights(scores: FloatArray, mated: NDArray[np.bool_]) -> FloatArray:
    """Find the weights of a logistic regression that are not negative.

    Parameters
    ----------
    scores : array of float64, pairs × blocks
        Scores of speakers that the blocks were not trained on.
    mated : array of bool, pairs
        Which pairs are of the same speaker; both classes count equally.

    Returns
    -------
    array of float64, blocks
        Not all of them 0: if no block says anything, the first is used alone.
    """
    weights, _ = _Regression(scores, mated).fit()
    if not weights.any():
        weights[0] = 1.0
    return weights


class _Regression:
    """Logistic regression on standardised scores; both classes have the same total weight."""

    def __init__(self, scores: FloatArray, mated: NDArray[np.bool_]) -> None:
        self.scale = np.maximum(scores.std(axis=0), 1e-12)
        self.scores = (scores - scores.mean(axis=0)) / self.scale
        self.signs = np.where(mated, 1.0, -1.0)
        self.shares = np.where(mated, 0.5 / mated.sum(), 0.5 / (~mated).sum())

    def fit(self) -> tuple[FloatArray, float]:
        """Weights of the scores as they came, and the loss in nats."""
        count = self.scores.shape[1]
        start = np.append(np.full(count, 0.5), 0.0)
        bounds = [(0.0, None)] * count + [(None, None)]
        solution = scipy.optimize.minimize(
            self._loss, start, jac=True, method="L-BFGS-B", bounds=bounds
        )
        return np.asarray(solution.x[:-1] / self.scale), float(solution.fun)

    def _loss(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        weights = parameters[:-1]
        margins = self.signs * (self.scores @ weights + parameters[-1])
        loss = float(self.shares @ np.logaddexp(0, -margins) + PENALTY * weights @ weights)
        pull = -self.shares * self.signs * scipy.special.expit(-margins)
        gradient = np.append(self.scores.T @ pull + 2 * PENALTY * weights, pull.sum())
        return loss, gradient
