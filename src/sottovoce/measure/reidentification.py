"""The re-identification risk over population size and conversation length (Vauquier et al.).

Linkability, Singling Out and 1 − ROCCH-EER as in the legally validated evaluation; rank, top-k and
rank disclosure as in closed-set identification; each with its chance level and an interval over
speakers. Expectations over random populations are exact where a closed form exists;
``literal=True`` follows the published protocol, draws and all, to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError, first_few
from sottovoce.core.types import Progress, StageProgress
from sottovoce.measure import acceleration
from sottovoce.measure.crowd import Crowd
from sottovoce.measure.identification import (
    chance_rank_disclosure,
    expected_rank,
    rank_disclosure,
    top_k,
)
from sottovoce.measure.intervals import (
    MIN_SPEAKERS,
    Interval,
    share_interval,
)
from sottovoce.measure.linkability import MIN_MATED, default_bins
from sottovoce.measure.open_set import Counter, OpenSet, open_set
from sottovoce.measure.population import (
    Scoring,
    Standing,
    by_speaker,
    check_dimensions,
    make_conversations,
    make_trials,
    stand,
)
from sottovoce.measure.risk import Point, Reidentification, Settings, SpeakerRisk
from sottovoce.measure.singling_out import CHANCE, LITERAL_DRAWS, VECTORS
from sottovoce.measure.spread import disclosure_spread, eer_spread, rank_interval
from sottovoce.measure.tally import Tally, make_edges
from sottovoce.measure.verification import rocch_eer
from sottovoce.speaker import Cosine, Embeddings, LinkageFunction

_WORTH_COMPILING = 10**8
_MOST = 10**6


def reidentify(
    enrol: Embeddings,
    trial: Embeddings,
    linkage: LinkageFunction | None = None,
    *,
    settings: Settings | None = None,
    progress: StageProgress | None = None,
) -> Reidentification:
    """Measure the risk that speakers of ``trial`` are found again among those of ``enrol``.

    An enrolment model is the mean of all utterances of a speaker; a trial is the mean of a
    conversation's utterances.
    """
    settings = settings or Settings()
    linkage = linkage or Cosine()
    check_dimensions(enrol, trial)
    _check(settings)
    notes = _shared(enrol, trial)
    everybody = len(enrol.names)
    result = Reidentification(enrolled=everybody, linkage=linkage.name, notes=notes)
    most = max(everybody, len(trial.names))
    for size in settings.populations or ():
        if not 2 <= size <= most:
            raise InputError(f"population {size}: must be 2 to {most:,}, the speakers at hand")
    sizes = settings.sizes(everybody)
    if not sizes:
        raise InputError(
            f"populations {settings.populations}: none is 2 to {everybody:,}, the enrolled speakers"
        )
    reasons = []
    for length in sorted(set(settings.lengths)):
        try:
            _one_length(result, enrol, trial, linkage, settings, length, sizes, progress)
        except TooFewError as error:
            reasons.append(f"length {length}: {error}")
            result.notes.append(reasons[-1])
    if not result.linkability:
        raise TooFewError("; ".join(reasons))
    return result


def _shared(enrol: Embeddings, trial: Embeddings) -> list[str]:
    """Refuse recordings that are on both sides, which link themselves; note equal ids."""
    if enrol.utterances is None or trial.utterances is None:
        return []
    ids, first, second = np.intersect1d(enrol.utterances, trial.utterances, return_indices=True)
    same = np.flatnonzero((enrol.vectors[first] == trial.vectors[second]).all(axis=1))
    if len(same):
        listed = first_few((str(one) for one in ids[same[:3]]), len(same))
        raise InputError(f"{trial.origin}: recordings that are enrolled too: {listed}; remove them")
    if not len(ids):
        return []
    return [
        f"{len(ids):,} utterance ids are on both sides; if they name the same words, what is said "
        "links the sides too, not the voice alone"
    ]


def _check(settings: Settings) -> None:
    for name in ("k", "conversations", "enrolled", "enrol_utterances", "draws"):
        if not 1 <= getattr(settings, name) <= _MOST:
            raise InputError(f"{name} {getattr(settings, name)}: must be 1 to {_MOST:,}")
    if settings.core and settings.literal:
        raise InputError("core and literal are two protocols; ask for one")
    if settings.seed < 0:
        raise InputError(f"seed {settings.seed}: must be 0 or more")
    if not settings.lengths or min(settings.lengths) < 1:
        raise InputError(f"lengths {settings.lengths}: each must be at least 1 utterance")
    if settings.confidence is not None and not 0 < settings.confidence < 1:
        raise InputError(f"interval {settings.confidence}: must lie between 0 and 1, e.g. 0.95")


def _one_length(
    result: Reidentification,
    enrol: Embeddings,
    trial: Embeddings,
    linkage: LinkageFunction,
    settings: Settings,
    length: int,
    sizes: list[int],
    progress: StageProgress | None,
) -> None:
    # a generator for each purpose, so that leaving one thing out changes nothing else
    making, drawing, spreading, crowding = np.random.default_rng([settings.seed, length]).spawn(4)
    most = 1 if settings.literal else settings.conversations
    trials = make_trials(trial, enrol, length=length, most=most, rng=making)
    result.excluded.append(
        {
            "length": length,
            "speakers_not_enrolled": trials.without_enrolment,
            "speakers_with_too_few_utterances": trials.too_short,
        }
    )
    scoring = Scoring(enrol, trials, linkage)
    if len(trials.vectors) * len(enrol.names) > _WORTH_COMPILING:
        acceleration.load()
    core = np.unique(trials.speakers)
    if settings.core:
        sizes = [size for size in sizes if size >= len(core)]
        if not sizes:
            raise TooFewError(f"the core alone has {len(core):,} speakers; ask for larger crowds")
    counter = Counter(scoring.own(), core)
    fixed = core if settings.core else None
    standing = stand(
        scoring, core=fixed, visit=counter, progress=_named(progress, f"scores, L = {length}")
    )
    add = _Adder(result, settings, length, sizes)
    add.identification(standing)
    if settings.literal:
        result.linkability = [p for p in result.linkability if p.length != length]
        add.literal_linkability(scoring, drawing)
    add.verification(scoring, counter.tally(), spreading)
    result.open_set += _open_set(scoring, counter, standing, sizes, length)
    result.speakers += _risks(standing, enrol, length)
    try:
        told = _named(progress, f"predicates, L = {length}")
        add.singling_out(enrol, trial, linkage, crowding, told)
    except TooFewError as error:
        result.notes.append(f"Singling Out, length {length}: {error}")


def _named(progress: StageProgress | None, name: str) -> Progress | None:
    return None if progress is None else lambda done, total: progress(name, done, total)


class _Adder:
    """Adds the curves of one conversation length to a result."""

    def __init__(
        self, result: Reidentification, settings: Settings, length: int, sizes: list[int]
    ) -> None:
        self.result, self.settings, self.length, self.sizes = result, settings, length, sizes

    def _add(
        self,
        curve: str,
        column: NDArray[np.float64],
        size: int,
        chance: float,
        interval: Callable[[NDArray[np.float64], float], Interval],
        **more: Any,
    ) -> None:
        confidence = self.settings.confidence
        spread = interval(column, confidence) if confidence is not None else None
        point = Point(
            self.length,
            size,
            float(column.mean()),
            chance,
            low=spread.low if spread else None,
            high=spread.high if spread else None,
            **more,
        )
        getattr(self.result, curve).append(point)

    def identification(self, standing: Standing) -> None:
        """Linkability, rank, top-k and rank disclosure, averaged over trials, then speakers."""
        who, k = standing.speakers, self.settings.k
        linked = by_speaker(top_k(standing, self.sizes), who)
        listed = by_speaker(top_k(standing, self.sizes, k), who)
        ranks = by_speaker(expected_rank(standing, self.sizes), who)
        for i, size in enumerate(self.sizes):
            self._add("linkability", linked[:, i], size, 1 / size, share_interval)
            self._add("top_k", listed[:, i], size, min(1.0, k / size), share_interval, k=k)
            self._add("rank", ranks[:, i], size, (size + 1) / 2, rank_interval(size))
            normal, half = ranks[:, i] / size, (size + 1) / (2 * size)
            self._add("normalised_rank", normal, size, half, rank_interval(size, size))
        self._rank_disclosure(standing)

    def _rank_disclosure(self, standing: Standing) -> None:
        # a tie is as likely at any of its ranks
        drawn = np.random.default_rng([self.settings.seed, self.length, 5])
        before = standing.above + drawn.integers(0, standing.equal + 1)
        if len(before) < 2:
            self.result.notes.append(f"length {self.length}: one trial; no rank disclosure")
            return
        others = standing.models - 1
        mean, worst = rank_disclosure(before, others, self.sizes)
        rng = np.random.default_rng([self.settings.seed, self.length, 4])
        chances = chance_rank_disclosure(len(before), others, self.sizes, rng)
        spreads: list[tuple[Interval, Interval]] | None = None
        speakers = len(np.unique(standing.speakers))
        if self.settings.confidence is not None and speakers >= MIN_SPEAKERS:
            spreads = disclosure_spread(before, standing, self.sizes, self.settings)
        for i, size in enumerate(self.sizes):
            for j, (curve, values) in enumerate(
                (("rank_disclosure", mean), ("worst_rank_disclosure", worst))
            ):
                low = high = None
                if spreads is not None:
                    low = min(spreads[i][j].low, float(values[i]))
                    high = max(spreads[i][j].high, float(values[i]))
                chance = float(chances[j][i])
                point = Point(self.length, size, float(values[i]), chance, low=low, high=high)
                getattr(self.result, curve).append(point)

    def literal_linkability(self, scoring: Scoring, rng: np.random.Generator) -> None:
        """Linkability from random populations, as published."""
        linked = np.zeros((len(scoring.speakers), len(self.sizes)))
        for first, rows, scores in scoring.blocks():
            if first or scores.shape[1] < len(scoring.means):
                raise InputError("the literal protocol needs all models at once; leave it out")
            for row, true, values in zip(
                range(rows.start, rows.stop), scoring.speakers[rows], scores, strict=True
            ):
                others = np.delete(values, true)
                for _ in range(LITERAL_DRAWS):
                    highest = np.maximum.accumulate(rng.permutation(others))
                    linked[row] += values[true] > highest[np.array(self.sizes) - 2]
        columns = by_speaker(linked / LITERAL_DRAWS, scoring.speakers)
        for i, size in enumerate(self.sizes):
            self._add("linkability", columns[:, i], size, 1 / size, share_interval)

    def verification(self, scoring: Scoring, tally: Tally, rng: np.random.Generator) -> None:
        """1 − ROCCH-EER: the expected ROC is the same for every size of a random population."""
        value = 1 - rocch_eer(tally)
        low = high = None
        if self.settings.confidence is not None:
            below, over = eer_spread(scoring, self.settings.confidence, rng)
            low, high = max(0.5, value - below), min(1.0, value + over)
        for size in self.sizes:
            point = Point(self.length, size, value, 0.5, low=low, high=high)
            self.result.one_minus_rocch_eer.append(point)

    def singling_out(
        self,
        enrol: Embeddings,
        trial: Embeddings,
        linkage: LinkageFunction,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> None:
        """Predicates of enrolled speakers tried on populations of test speakers."""
        tests = make_conversations(trial, length=self.length, most=VECTORS, rng=rng, at_least=2)
        if tests.too_short:
            self.result.notes.append(
                f"Singling Out, length {self.length}: {tests.too_short:,} speakers left out who "
                "have fewer than two conversations"
            )
        crowd = Crowd(enrol, trial, tests, linkage, self.settings, rng)
        found = crowd.isolations(progress)
        for i, size in enumerate(crowd.sizes):
            expected = crowd.no_evidence(size)
            self._add(
                "singling_out", found[:, i], size, CHANCE, share_interval, no_evidence=expected
            )


def _open_set(
    scoring: Scoring, counter: Counter, standing: Standing, sizes: list[int], length: int
) -> list[OpenSet]:
    """The open-set curve; D_sys needs a second pass, on the bins of the range now known."""
    binned = None
    if len(standing.own) >= MIN_MATED and standing.low < standing.high:
        edges = make_edges(standing.low, standing.high, default_bins(len(standing.own)))
        binned = Counter(counter.mated, counter.core, edges=edges)
        stand(scoring, visit=binned)
    core = len(counter.core)
    grown = sorted({core, *(size for size in sizes if size > core)})
    return open_set(counter, binned, grown, standing.models, length)


def _risks(standing: Standing, enrol: Embeddings, length: int) -> list[SpeakerRisk]:
    """Each speaker's risk, the most exposed first."""
    sizes = np.unique(np.geomspace(2, standing.models, 200).astype(np.int64))
    linked = by_speaker(top_k(standing, sizes.tolist()), standing.speakers)
    hidden = linked < 0.5
    vanishing = np.where(hidden.any(axis=1), sizes[np.argmax(hidden, axis=1)], 0)
    speakers, trials = np.unique(standing.speakers, return_counts=True)
    names = enrol.names[speakers]
    order = np.lexsort((np.where(vanishing, -vanishing, -np.inf), -linked[:, -1]))
    return [
        SpeakerRisk(
            str(names[i]), length, int(trials[i]), float(linked[i, -1]), int(vanishing[i]) or None
        )
        for i in order
    ]
