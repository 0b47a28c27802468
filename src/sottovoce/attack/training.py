"""How the attacker trains its linkage function: on speakers of its own, checked on held-out ones.

An attacker with time tries what might work and uses what worked best on speakers it did not train
on. So do we, with training speakers only: those under attack decide nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.attack.score import ScoreTable, score_all
from sottovoce.core.errors import SottovoceError, TooFewError, UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.core.types import IntArray
from sottovoce.findings import STRONGEST, LinkageTraining
from sottovoce.measure import eer, min_cllr
from sottovoce.measure.scores import Scores
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.judging import judging_halves, speaker_folds
from sottovoce.speaker.linkage import LINKAGES, Settings, make_linkage
from sottovoce.speaker.linkage_functions import LinkageFunction

Merit = tuple[float, float]
"""Rank among linkage functions, lower first: Cllr_min, then minus the separation of scores."""
_WORST: Merit = (math.inf, math.inf)

BEST = "best"
"""The name that stands for whichever linkage function does best on held-out training speakers."""
CHOSEN = (BEST, STRONGEST)
"""Names that leave the choice of the linkage function to the attacker."""


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


def linkages_tried_by_best(*, blocks: bool = False) -> list[str]:
    """Return the linkage functions that :data:`BEST` tries, third-party ones included.

    Parameters
    ----------
    blocks : bool, default False
        Whether vectors are made of several kinds of evidence.
    """
    kinds = {name: LINKAGES[name] for name in LINKAGES}
    return [
        name for name, kind in kinds.items() if kind.tried_by_best and kind.for_blocks == blocks
    ]


def check_linkage_name(name: str) -> None:
    """Refuse a name that is neither in :data:`CHOSEN` nor that of a linkage function.

    Parameters
    ----------
    name : str
        As a user gave it.

    Raises
    ------
    UsageError
        With the code ``unknown-name``.
    """
    if name not in CHOSEN and name not in LINKAGES:
        raise UsageError(
            did_you_mean("linkage function", name, [*CHOSEN, *LINKAGES]), code="unknown-name"
        )


@dataclass(frozen=True, slots=True)
class Judging:
    """How candidates are judged on training speakers that they were not trained on."""

    seed: int = 0
    """Of the division into folds and of the division of a speaker's recordings."""
    across_draws: bool = True
    """Whether recordings enrolled and tried come from different draws, as in an attack by somebody
    who does not know the operator's draws. Without several draws both come from the only one."""
    excluded: frozenset[str] = frozenset()
    """Speakers that must not judge, because an encoder was trained on them. The others then judge
    together, without folds."""


class LinkageTrainer:
    """Trains linkage functions, each once for the same training set, name, settings and seed.

    It owns what it trained: pass one trainer to all attacks that should share linkage functions.
    """

    def __init__(self) -> None:
        self._linkages: dict[tuple[str, str, str], LinkageFunction] = {}
        self._trained: dict[tuple[str, str, Judging], TrainedLinkage] = {}

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

    def train(self, name: str, train: Embeddings, judging: Judging | None = None) -> TrainedLinkage:
        """Train a linkage function; held-out training speakers decide its settings.

        Parameters
        ----------
        name : str
            A name in ``LINKAGES``, or one of :data:`CHOSEN`.
        train : Embeddings
            Training recordings.
        judging : Judging, optional
            How held-out speakers judge; default the defaults of :class:`Judging`.

        Raises
        ------
        TooFewError
            If there are too few speakers or recordings for this linkage function.
        """
        judging = judging or Judging()
        if name in CHOSEN:
            return min(self.candidates(train, judging), key=lambda trained: trained.merit)
        key = (name, train.digest(), judging)
        if key not in self._trained:
            self._trained[key] = self._select_settings(name, train, judging)
        return self._trained[key]

    def candidates(self, train: Embeddings, judging: Judging) -> list[TrainedLinkage]:
        """Train every linkage function that these speakers suffice for.

        Parameters
        ----------
        train : Embeddings
            Training recordings.
        judging : Judging
            How held-out speakers judge.

        Raises
        ------
        TooFewError
            If they suffice for none.
        """
        trained, shortage = [], None
        for name in linkages_tried_by_best(blocks=bool(train.blocks)):
            try:
                trained.append(self.train(name, train, judging))
            except TooFewError as error:
                shortage = shortage or error
        if not trained:
            raise shortage or UsageError("no linkage function is registered that best may try")
        return trained

    def _select_settings(self, name: str, train: Embeddings, judging: Judging) -> TrainedLinkage:
        choices = LINKAGES[name].candidate_settings
        merit, chosen, held_out = _WORST, choices[-1], None
        for settings in choices:
            scores = _held_out_scores(name, settings, train, judging)
            if scores is not None and (rank := _merit(scores)) < merit:
                merit, chosen, held_out = rank, settings, scores
        linkage = self.linkage(name, chosen, train)
        training_table = _split_scores(train, np.arange(len(train.names)), linkage, judging)
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


def _folds(train: Embeddings, judging: Judging) -> Iterator[tuple[IntArray, IntArray]]:
    """Speakers to train on and speakers to hold out, in turns."""
    everybody = np.arange(len(train.names))
    if judging.excluded:
        divisions = [everybody[~np.isin(train.names, list(judging.excluded))]]
    else:
        divisions = speaker_folds(train, seed=judging.seed)
    for held_out in divisions:
        if len(held_out) >= 2 and len(everybody) - len(held_out) >= 2:
            yield np.setdiff1d(everybody, held_out), held_out


def _held_out_scores(
    name: str, settings: Settings, train: Embeddings, judging: Judging
) -> Scores | None:
    """Scores of held-out speakers, of all folds together; None where there are too few."""
    mated, nonmated = [], []
    for trained_on, held_out in _folds(train, judging):
        try:
            linkage = make_linkage(name, train.of_speakers(trained_on), like=train, **settings)
        except TooFewError:
            return None
        table = _split_scores(train, held_out, linkage, replace(judging, seed=0))
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
    embeddings: Embeddings, speakers: IntArray, linkage: LinkageFunction, judging: Judging
) -> ScoreTable | None:
    """Speakers against themselves and each other, half of the recordings of each enrolled."""
    halves = judging_halves(
        embeddings, speakers, across_draws=judging.across_draws, seed=judging.seed
    )
    if halves is None:
        return None
    enrolled, tried = (embeddings.rows(half) for half in halves)
    return score_all(enrolled, tried, linkage)


def _eer(table: ScoreTable | None) -> float | None:
    try:
        return None if table is None else eer(table.scores())
    except SottovoceError:
        return None
