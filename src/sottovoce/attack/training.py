"""How the attacker trains its linkage function: on speakers of its own, checked on held-out ones.

An attacker with time tries what might work and uses what worked best on speakers it did not train
on. So do we, with training speakers only: those under attack decide nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.attack.score import ScoreTable, score_all
from sottovoce.core.errors import SottovoceError, TooFewError, UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.core.types import IntArray
from sottovoce.findings import LinkageTraining
from sottovoce.measure import eer, min_cllr
from sottovoce.measure.scores import Scores
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import LINKAGES, Settings, make_linkage
from sottovoce.speaker.linkage_functions import LinkageFunction

Merit = tuple[float, float]
"""Rank among linkage functions, lower first: Cllr_min, then minus the separation of scores."""
_WORST: Merit = (math.inf, math.inf)

FOLDS = 4
BEST = "best"
"""The name that stands for whichever linkage function does best on held-out training speakers."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainedLinkage:
    """A trained linkage function, and how well it does where it was trained."""

    linkage: LinkageFunction
    record: LinkageTraining
    merit: Merit
    """On held-out speakers."""

    @property
    def name(self) -> str:
        """Name of the kind of linkage function."""
        return self.record.name


def linkages_tried_by_best() -> list[str]:
    """Return the linkage functions that :data:`BEST` tries, third-party ones included."""
    return [name for name in LINKAGES if LINKAGES[name].tried_by_best]


def check_linkage_name(name: str) -> None:
    """Refuse a name that is neither :data:`BEST` nor that of a linkage function.

    Parameters
    ----------
    name : str
        As a user gave it.

    Raises
    ------
    UsageError
        With the code ``unknown-name``.
    """
    if name != BEST and name not in LINKAGES:
        raise UsageError(
            did_you_mean("linkage function", name, [BEST, *LINKAGES]), code="unknown-name"
        )


class LinkageTrainer:
    """Trains linkage functions, each once for the same training set, name, settings and seed.

    It owns what it trained: pass one trainer to all attacks that should share linkage functions.
    """

    def __init__(self) -> None:
        self._linkages: dict[tuple[str, str, str], LinkageFunction] = {}
        self._trained: dict[tuple[str, str, int], TrainedLinkage] = {}

    def linkage(self, name: str, settings: Settings, train: Embeddings) -> LinkageFunction:
        """Return a linkage function with known settings, trained on all of ``train``.

        Parameters
        ----------
        name : str
            A name in ``LINKAGES``.
        settings : mapping of str to float
            Settings of that linkage function.
        train : Embeddings
            Training recordings.
        """
        key = (name, json.dumps(dict(settings), sort_keys=True), train.digest())
        if key not in self._linkages:
            self._linkages[key] = make_linkage(name, train, like=train, **settings)
        return self._linkages[key]

    def train(self, name: str, train: Embeddings, *, seed: int = 0) -> TrainedLinkage:
        """Train a linkage function; held-out training speakers decide its settings.

        Parameters
        ----------
        name : str
            A name in ``LINKAGES``, or :data:`BEST`.
        train : Embeddings
            Training recordings.
        seed : int, default 0
            Of the division into folds and of the division of a speaker's recordings.

        Raises
        ------
        TooFewError
            If there are too few speakers or recordings for this linkage function.
        """
        key = (name, train.digest(), seed)
        if key not in self._trained:
            if name == BEST:
                self._trained[key] = min(
                    self._trainable(train, seed), key=lambda trained: trained.merit
                )
            else:
                self._trained[key] = self._select_settings(name, train, seed)
        return self._trained[key]

    def _trainable(self, train: Embeddings, seed: int) -> list[TrainedLinkage]:
        """All candidates that these speakers suffice for; an error if they suffice for none."""
        trained, shortage = [], None
        for name in linkages_tried_by_best():
            try:
                trained.append(self.train(name, train, seed=seed))
            except TooFewError as error:
                shortage = shortage or error
        if not trained:
            raise shortage or UsageError("no linkage function is registered that best may try")
        return trained

    def _select_settings(self, name: str, train: Embeddings, seed: int) -> TrainedLinkage:
        folds = list(_folds(train, seed))
        choices = LINKAGES[name].candidate_settings
        merit, chosen, held_out = _WORST, choices[-1], None
        for settings in choices:
            scores = _held_out_scores(name, settings, train, folds)
            if scores is not None and (rank := _merit(scores)) < merit:
                merit, chosen, held_out = rank, settings, scores
        linkage = self.linkage(name, chosen, train)
        training_table = _split_scores(train, np.arange(len(train.names)), linkage, seed)
        record = LinkageTraining(
            name,
            dict(chosen),
            len(train.names),
            len(train),
            None if held_out is None else eer(held_out),
            _eer(training_table),
        )
        return TrainedLinkage(linkage, record, merit)


def _merit(scores: Scores) -> Merit:
    """Cllr_min and, where speakers are told apart without error, how far apart scores lie."""
    distance = scores.mated.mean() - scores.nonmated.mean()
    spread = scores.mated.std() + scores.nonmated.std()
    return round(min_cllr(scores), 3), -float(distance / spread)


def _folds(train: Embeddings, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Speakers to train on and speakers to hold out, in turns."""
    order = np.random.default_rng(seed).permutation(len(train.names))
    for fold in range(FOLDS):
        held_out = order[fold::FOLDS]
        if len(held_out) >= 2 and len(order) - len(held_out) >= 2:
            yield np.setdiff1d(order, held_out), held_out


def _held_out_scores(
    name: str,
    settings: Settings,
    train: Embeddings,
    folds: Sequence[tuple[IntArray, IntArray]],
) -> Scores | None:
    """Scores of held-out speakers, of all folds together; None where there are too few."""
    mated, nonmated = [], []
    for trained_on, held_out in folds:
        try:
            linkage = make_linkage(name, train.of_speakers(trained_on), like=train, **settings)
        except TooFewError:
            return None
        table = _split_scores(train, held_out, linkage, 0)
        if table is None:
            continue
        # the scale of scores differs between folds, their order within a fold does not
        values = (table.values - table.values.mean()) / table.values.std()
        mated.append(values[table.mated])
        nonmated.append(values[table.nonmated])
    if not mated:
        return None
    return Scores(np.concatenate(mated), np.concatenate(nonmated))


def _split_scores(
    embeddings: Embeddings, speakers: IntArray, linkage: LinkageFunction, seed: int
) -> ScoreTable | None:
    """Speakers against themselves and each other, half of the vectors of each enrolled."""
    rng = np.random.default_rng(seed)
    enrol, trial = [], []
    for speaker in speakers:
        rows = rng.permutation(np.flatnonzero(embeddings.speakers == speaker))
        if len(rows) >= 2:
            enrol.append(rows[: len(rows) // 2])
            trial.append(rows[len(rows) // 2 :])
    if len(enrol) < 2:
        return None
    enrolled, tried = (embeddings.rows(np.sort(np.concatenate(side))) for side in (enrol, trial))
    return score_all(enrolled, tried, linkage)


def _eer(table: ScoreTable | None) -> float | None:
    try:
        return None if table is None else eer(table.scores())
    except SottovoceError:
        return None
