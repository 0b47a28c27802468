"""The re-identification risk over population size and conversation length (Vauquier et al.).

Linkability, Singling Out and 1 − ROCCH-EER as in the legally validated evaluation; rank, top-k and
rank disclosure as in closed-set identification; each with its chance level and an interval over
speakers. Expectations over random populations are exact where a closed form exists;
``literal=True`` follows the published protocol, draws and all, to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.core.engine import HERE, Engine
from sottovoce.core.errors import InputError, TooFewError, first_few
from sottovoce.core.types import FloatArray, Progress, StageProgress
from sottovoce.findings import (
    CurvePoint,
    ExcludedSpeakers,
    LinkabilityBySize,
    OpenSetPoint,
    Reidentification,
    SpeakerRisk,
)
from sottovoce.measure.cautions import FOUND_NEARLY_ALWAYS, Caution, few_speakers
from sottovoce.measure.conversations import make_conversations, make_trials
from sottovoce.measure.counting import make_edges
from sottovoce.measure.identification import (
    Counter,
    chance_rank_disclosure,
    expected_rank,
    mean_by_speaker,
    open_set,
    rank_disclosure,
    top_k,
)
from sottovoce.measure.intervals import Interval, share_interval
from sottovoce.measure.isolation import VECTORS
from sottovoce.measure.linkability import MIN_MATED, default_bins
from sottovoce.measure.literal_protocol import literal_populations
from sottovoce.measure.population import Scoring, Standing, check_dimensions, stand
from sottovoce.measure.population_sizes import all_populations
from sottovoce.measure.reidentification_intervals import (
    eer_spread,
    rank_disclosure_intervals,
    rank_interval,
)
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.measure.resampling import MIN_SPEAKERS
from sottovoce.measure.singling_out import CHANCE, PredicateStudy
from sottovoce.measure.speaker_risks import speaker_risks
from sottovoce.measure.verification import rocch_eer
from sottovoce.speaker import Cosine, Embeddings, LinkageFunction
from sottovoce.speaker.leakage import shared_recordings

IntervalMaker = Callable[[FloatArray, float], Interval]
"""From a value a speaker and a confidence to the interval of their mean."""


def reidentify(
    enrol: Embeddings,
    trial: Embeddings,
    linkage: LinkageFunction | None = None,
    *,
    settings: ReidentificationSettings | None = None,
    progress: StageProgress | None = None,
    engine: Engine = HERE,
) -> Reidentification:
    """Measure the risk that speakers of the trials are found again among those enrolled.

    An enrolment model is the mean of all utterances of a speaker; a trial is the mean of a
    conversation's utterances.

    Parameters
    ----------
    enrol : Embeddings
        Recordings whose speakers the attacker knows.
    trial : Embeddings
        Recordings whose speakers the attacker wants to know. Speakers have the same names.
    linkage : LinkageFunction, optional
        What turns two vectors into a score; default the cosine.
    settings : ReidentificationSettings, optional
        Conversation lengths, population sizes and so on.
    progress : callable, optional
        Called with the name of the stage, the steps done and the steps to do.
    engine : Engine, optional
        What compares voices; default this thread. The result is the same on any engine.

    Raises
    ------
    TooFewError
        If no conversation length has enough recordings.
    """
    settings = settings or ReidentificationSettings()
    linkage = linkage or Cosine()
    check_dimensions(enrol, trial)
    settings.check()
    study = _Study(enrol, trial, linkage, settings, engine)
    study.notes += _shared_recordings(enrol, trial)
    sizes = settings.check_populations(len(enrol.names), len(trial.names))
    reasons = []
    for length in sorted(set(settings.lengths)):
        try:
            study.measure_length(length, sizes, progress)
        except TooFewError as error:
            reasons.append(f"length {length}: {error}")
            study.notes.append(reasons[-1])
    if not study.curves["linkability"]:
        raise TooFewError("; ".join(reasons))
    return study.result()


def _shared_recordings(enrol: Embeddings, trial: Embeddings) -> list[str]:
    """Refuse recordings that are on both sides, which link themselves; note equal ids."""
    _, rows = shared_recordings(enrol, trial)
    if len(rows):
        ids = trial.utterances
        names = (f"row {row}" if ids is None else str(ids[row]) for row in np.sort(rows).tolist())
        raise InputError(
            f"{trial.origin}: recordings that are enrolled too: {first_few(names, len(rows))}; "
            "remove them",
            code="not-disjoint",
        )
    if enrol.utterances is None or trial.utterances is None:
        return []
    ids = np.intersect1d(enrol.utterances, trial.utterances)
    if not len(ids):
        return []
    return [
        f"{len(ids):,} utterance ids are on both sides; if they name the same words, what is said "
        "links the sides too, not the voice alone"
    ]


class _Study:
    """Collects the curves of one study, a conversation length at a time."""

    def __init__(
        self,
        enrol: Embeddings,
        trial: Embeddings,
        linkage: LinkageFunction,
        settings: ReidentificationSettings,
        engine: Engine,
    ) -> None:
        self.enrol, self.trial, self.linkage = enrol, trial, linkage
        self.settings, self.engine = settings, engine
        self.curves: dict[str, list[CurvePoint]] = {name: [] for name in Reidentification.CURVES}
        self.by_size: list[LinkabilityBySize] = []
        self.open_set: list[OpenSetPoint] = []
        self.speakers: list[SpeakerRisk] = []
        self.excluded: list[ExcludedSpeakers] = []
        self.tested: dict[int, int] = {}
        """Speakers with trials, by conversation length."""
        self.notes: list[str] = []

    def result(self) -> Reidentification:
        cautions = self._cautions()
        return Reidentification(
            enrolled_speakers=len(self.enrol.names),
            linkage=self.linkage.name,
            by_size=tuple(self.by_size),
            open_set=tuple(self.open_set),
            speakers=tuple(self.speakers),
            excluded=tuple(self.excluded),
            notes=tuple(self.notes),
            warnings=tuple(caution.message for caution in cautions),
            warning_codes=tuple(caution.code for caution in cautions),
            **{name: tuple(points) for name, points in self.curves.items()},
        )

    def _cautions(self) -> list[Caution]:
        """Warnings about the intervals, those of the length with the fewest speakers."""
        if self.settings.confidence is None:
            return []
        return few_speakers(min(self.tested.values()), simulated=FOUND_NEARLY_ALWAYS)

    def measure_length(self, length: int, sizes: list[int], progress: StageProgress | None) -> None:
        settings = self.settings
        # a generator for each purpose, so that leaving one thing out changes nothing else
        streams = np.random.default_rng([settings.seed, length]).spawn(4)
        conversation_rng, literal_rng, interval_rng, predicate_rng = streams
        most = 1 if settings.literal else settings.conversations
        trials = make_trials(self.trial, self.enrol, length=length, most=most, rng=conversation_rng)
        self.excluded.append(ExcludedSpeakers(length, trials.without_enrolment, trials.too_short))
        scoring = Scoring(self.enrol, trials, self.linkage)
        core = np.unique(trials.speakers)
        if settings.core:
            sizes = [size for size in sizes if size >= len(core)]
            if not sizes:
                raise TooFewError(
                    f"the core alone has {len(core):,} speakers; ask for larger populations"
                )
        counter = Counter(scoring.true_scores(), core)
        standing = stand(
            scoring,
            core=core if settings.core else None,
            visit=counter,
            progress=_stage(progress, f"scores, L = {length}"),
            engine=self.engine,
        )
        self.tested[length] = len(core)
        self._identification(standing, length, sizes)
        rates = np.full(len(sizes), rocch_eer(counter.tally()))
        if settings.core:
            tallies = [counter.expected_tally(size, standing.models) for size in sizes]
            rates = np.array([rocch_eer(tally) for tally in tallies])
        if settings.literal:
            outcome = literal_populations(scoring, sizes, literal_rng)
            rates = outcome.rocch_eer.mean(axis=0)
            self._literal_linkability(outcome.linked, scoring, length, sizes)
        self._verification(scoring, rates, length, sizes, interval_rng)
        self.open_set += _open_set(scoring, counter, standing, sizes, length, self.engine)
        self.speakers += speaker_risks(standing, self.enrol, length)
        try:
            self._singling_out(length, predicate_rng, _stage(progress, f"predicates, L = {length}"))
        except TooFewError as error:
            self.notes.append(f"Singling Out, length {length}: {error}")

    def _add(
        self,
        curve: str,
        length: int,
        size: int,
        by_speaker_values: FloatArray,
        chance: float,
        make_interval: IntervalMaker,
        *,
        k: int | None = None,
        no_evidence: float | None = None,
    ) -> None:
        confidence = self.settings.confidence
        interval = None if confidence is None else make_interval(by_speaker_values, confidence)
        self.curves[curve].append(
            CurvePoint(
                length,
                size,
                float(by_speaker_values.mean()),
                chance,
                low=interval.low if interval else None,
                high=interval.high if interval else None,
                k=k,
                no_evidence=no_evidence,
            )
        )

    def _identification(self, standing: Standing, length: int, sizes: list[int]) -> None:
        """Linkability, rank, top-k and rank disclosure, averaged over trials, then speakers."""
        k = self.settings.k
        linked = mean_by_speaker(top_k(standing, sizes), standing.speakers)
        in_top_k = mean_by_speaker(top_k(standing, sizes, k), standing.speakers)
        ranks = mean_by_speaker(expected_rank(standing, sizes), standing.speakers)
        for i, size in enumerate(sizes):
            self._add("linkability", length, size, linked[:, i], 1 / size, share_interval)
            chance = min(1.0, k / size)
            self._add("top_k", length, size, in_top_k[:, i], chance, share_interval, k=k)
            chance = (size + 1) / 2
            self._add("rank", length, size, ranks[:, i], chance, rank_interval(size))
            self._add(
                "normalised_rank",
                length,
                size,
                ranks[:, i] / size,
                chance / size,
                rank_interval(size, size),
            )
        if not (self.settings.core or self.settings.literal):
            self.by_size.append(self._linkability_by_size(standing, length))
        self._rank_disclosure(standing, length, sizes)

    def _linkability_by_size(self, standing: Standing, length: int) -> LinkabilityBySize:
        """The closed form at every size, for figures; it needs no further pass over scores."""
        sizes = all_populations(standing.models)
        linked = mean_by_speaker(top_k(standing, sizes), standing.speakers)
        values = tuple(linked.mean(axis=0).tolist())
        confidence = self.settings.confidence
        if confidence is None:
            return LinkabilityBySize(length, tuple(sizes), values)
        ends = [share_interval(column, confidence) for column in linked.T]
        low, high = tuple(end.low for end in ends), tuple(end.high for end in ends)
        return LinkabilityBySize(length, tuple(sizes), values, low, high)

    def _rank_disclosure(self, standing: Standing, length: int, sizes: list[int]) -> None:
        seed = self.settings.seed
        # a tie is as likely at any of its ranks
        tie_rng = np.random.default_rng([seed, length, 5])
        before = standing.above + tie_rng.integers(0, standing.equal + 1)
        if len(before) < 2:
            self.notes.append(f"length {length}: one trial; no rank disclosure")
            return
        others = standing.models - 1
        values = rank_disclosure(before, others, sizes)
        chance_rng = np.random.default_rng([seed, length, 4])
        chances = chance_rank_disclosure(len(before), others, sizes, chance_rng)
        intervals: list[tuple[Interval, Interval]] | None = None
        speakers = len(np.unique(standing.speakers))
        if self.settings.confidence is not None and speakers >= MIN_SPEAKERS:
            confidence = self.settings.confidence
            intervals = rank_disclosure_intervals(before, standing, sizes, confidence, seed)
        for i, size in enumerate(sizes):
            for j, curve in enumerate(("rank_disclosure", "worst_rank_disclosure")):
                value, chance = float(values[j][i]), float(chances[j][i])
                interval = None if intervals is None else intervals[i][j]
                self.curves[curve].append(_point(length, size, value, chance, interval))

    def _literal_linkability(
        self, linked: FloatArray, scoring: Scoring, length: int, sizes: list[int]
    ) -> None:
        """Put Linkability from random populations, as published, in place of the exact one."""
        points = self.curves["linkability"]
        self.curves["linkability"] = [point for point in points if point.length != length]
        columns = mean_by_speaker(linked, scoring.speakers)
        for i, size in enumerate(sizes):
            self._add("linkability", length, size, columns[:, i], 1 / size, share_interval)

    def _verification(
        self,
        scoring: Scoring,
        rates: FloatArray,
        length: int,
        sizes: list[int],
        rng: np.random.Generator,
    ) -> None:
        """1 − ROCCH-EER; without draws and core it is one value, since the expected ROC of a random
        population does not depend on its size.
        """
        below = above = 0.0
        confidence = self.settings.confidence
        if confidence is not None:
            below, above = eer_spread(scoring, confidence, rng)
        for rate, size in zip(rates, sizes, strict=True):
            value = 1 - float(rate)
            ends = Interval(max(0.5, value - below), min(1.0, value + above))
            interval = None if confidence is None else ends
            self.curves["one_minus_rocch_eer"].append(_point(length, size, value, 0.5, interval))

    def _singling_out(
        self, length: int, rng: np.random.Generator, progress: Progress | None
    ) -> None:
        """Predicates of enrolled speakers tried on populations of test speakers, or vice versa."""
        known, unknown = self.enrol, self.trial
        if self.settings.swap_roles:
            known, unknown = unknown, known
        tests = make_conversations(unknown, length=length, most=VECTORS, rng=rng, at_least=2)
        if tests.too_short:
            self.notes.append(
                f"Singling Out, length {length}: {tests.too_short:,} speakers left out who "
                "have fewer than two conversations"
            )
        study = PredicateStudy(known, unknown, tests, self.linkage, self.settings, rng)
        isolated = study.isolations(progress, self.engine)
        for i, size in enumerate(study.sizes):
            self._add(
                "singling_out",
                length,
                size,
                isolated[:, i],
                CHANCE,
                share_interval,
                no_evidence=study.no_evidence(size),
            )


def _point(
    length: int, size: int, value: float, chance: float, interval: Interval | None
) -> CurvePoint:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return CurvePoint(length, size, value, chance, low=low, high=high)


def _stage(progress: StageProgress | None, name: str) -> Progress | None:
    return None if progress is None else lambda done, total: progress(name, done, total)


def _open_set(
    scoring: Scoring,
    counter: Counter,
    standing: Standing,
    sizes: Sequence[int],
    length: int,
    engine: Engine,
) -> list[OpenSetPoint]:
    """The open-set curve; D_sys needs a second pass, on the bins of the range now known."""
    binned = None
    if len(standing.true_scores) >= MIN_MATED and standing.low < standing.high:
        edges = make_edges(standing.low, standing.high, default_bins(len(standing.true_scores)))
        binned = Counter(counter.mated, counter.core, edges=edges)
        stand(scoring, visit=binned, engine=engine)
    core = len(counter.core)
    grown = sorted({core, *(size for size in sizes if size > core)})
    return open_set(counter, binned, grown, standing.models, length)
