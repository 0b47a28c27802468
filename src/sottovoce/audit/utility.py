"""Utility of anonymised speech: words, pitch, length, loudness and estimated quality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TypeVar

import numpy as np

from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import RECOGNISERS, Recogniser, make_recogniser, understands
from sottovoce.core.engine import SPEECH_MEMORY, Engine, LocalEngine
from sottovoce.core.errors import SottovoceError, TooFewError
from sottovoce.core.types import Audio, Progress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.findings import UtilityEstimate
from sottovoce.measure.utility import (
    QUALITY_MODEL,
    QUALITY_PACKAGE,
    QualityModel,
    WordErrors,
    average,
    duration_ratio,
    f0_correlation,
    loudness_difference,
    word_error_rate,
    word_errors,
)
from sottovoce.signal.fbank import RATE
from sottovoce.signal.world import find_f0

Item = TypeVar("Item")
Result = TypeVar("Result")

GROUP = 4
"""Recordings that a worker of a cluster gets together."""
MAX_RATED = 24
"""Recordings whose quality is estimated, at most: each costs half a second."""


def sample_utterances(corpus: Corpus, most: int, seed: int) -> list[Utterance]:
    """Sample utterances so that every speaker is there about equally often.

    Parameters
    ----------
    corpus : Corpus
        What is sampled from.
    most : int
        How many utterances to return at most.
    seed : int
        Of the sample.

    Returns
    -------
    list of Utterance
        In the order of the corpus.
    """
    rng = np.random.default_rng(seed)
    position = {utterance.id: i for i, utterance in enumerate(corpus)}
    by_speaker = list(corpus.by_speaker().values())
    remaining = [list(rng.permutation(len(utterances))) for utterances in by_speaker]
    chosen: list[Utterance] = []
    while len(chosen) < most and any(remaining):
        for utterances, numbers in zip(by_speaker, remaining, strict=True):
            if numbers and len(chosen) < most:
                chosen.append(utterances[int(numbers.pop())])
    return sorted(chosen, key=lambda utterance: position[utterance.id])


class UtilityMeter:
    """Measures utility with one recogniser, which is loaded when first used.

    Parameters
    ----------
    recogniser : str
        A name in ``RECOGNISERS``.
    confidence : float
        Of the intervals, between 0 and 1.
    jobs : int, default 2
        How many recordings are processed at a time, in threads.
    engine : Engine, optional
        What processes recordings instead of threads of this process.
    """

    def __init__(
        self, recogniser: str, *, confidence: float, jobs: int = 2, engine: Engine | None = None
    ) -> None:
        self.recogniser = recogniser
        self.confidence = confidence
        self.engine: Engine = engine or LocalEngine(jobs)

    def availability(self) -> list[bool]:
        """Return whether recogniser and quality model are installed.

        Results depend on it: what could not be measured may be measured later.
        """
        return [
            not isinstance(_recogniser(self.recogniser), SottovoceError),
            find_spec(QUALITY_PACKAGE) is not None,
        ]

    def word_error_rate(
        self, utterances: Sequence[Utterance], progress: Progress | None
    ) -> UtilityEstimate:
        """Measure the word error rate of the recogniser.

        Parameters
        ----------
        utterances : sequence of Utterance
            Those with a transcript in a language that the recogniser understands are used.
        progress : Progress or None
            Called after each recording.

        Returns
        -------
        UtilityEstimate
            With a note in place of a value if there are no transcripts or no recogniser.
        """
        transcribed = [
            utterance
            for utterance in utterances
            if utterance.transcript.strip() and understands(self.recogniser, utterance.language)
        ]
        if not transcribed:
            languages = ", ".join(sorted(RECOGNISERS[self.recogniser].languages))
            return _not_measured(
                f"no transcripts in a language that {self.recogniser} understands ({languages}): "
                "the word error rate was not measured"
            )
        loaded = _recogniser(self.recogniser)
        if isinstance(loaded, SottovoceError):
            return _not_measured(f"the word error rate was not measured: {loaded}")
        work = CountWordErrors(self.recogniser)
        errors = self._map(work, transcribed, progress, "recognising")
        try:
            rate = word_error_rate(
                errors,
                [utterance.speaker for utterance in transcribed],
                confidence=self.confidence,
                rng=np.random.default_rng(0),
            )
        except TooFewError as error:
            return _not_measured(f"the word error rate was not measured: {error}")
        return UtilityEstimate(
            rate.value,
            rate.low,
            rate.high,
            rate.resampled,
            utterances=len(transcribed),
            words=sum(count.words for count in errors),
            recogniser=self.recogniser,
        )

    def quality(
        self, utterances: Sequence[Utterance], progress: Progress | None
    ) -> UtilityEstimate:
        """Estimate with a network how good recordings sound.

        Parameters
        ----------
        utterances : sequence of Utterance
            At most :data:`MAX_RATED` of them, evenly spaced, are rated.
        progress : Progress or None
            Called after each recording.

        Returns
        -------
        UtilityEstimate
            With a note in place of a value if the network is not installed.
        """
        try:
            _quality_model()
        except SottovoceError as error:
            return _not_measured(f"not estimated: {error}")
        rated = utterances[:: -(-len(utterances) // MAX_RATED)]
        values = self._map(rate_quality, rated, progress, "rating")
        speakers = [utterance.speaker for utterance in rated]
        return self._average(values, speakers, model=QUALITY_MODEL)

    def similarity_to_originals(
        self, pairs: Sequence[tuple[Utterance, Utterance]], progress: Progress | None
    ) -> dict[str, UtilityEstimate]:
        """Compare pitch, length and loudness of anonymised recordings with their originals.

        Parameters
        ----------
        pairs : sequence of (Utterance, Utterance)
            Original and anonymised recording.
        progress : Progress or None
            Called after each pair.

        Returns
        -------
        dict
            ``f0_correlation``, ``duration_ratio`` and ``loudness_difference_db``.
        """
        rows = self._map(compare_recordings, pairs, progress, "comparing")
        speakers = [original.speaker for original, _ in pairs]
        names = ("f0_correlation", "duration_ratio", "loudness_difference_db")
        return {
            name: self._average([row[i] for row in rows], speakers) for i, name in enumerate(names)
        }

    def _map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        progress: Progress | None,
        label: str,
    ) -> list[Result]:
        """Results in the order of the items."""
        results = []
        pending = self.engine.map(function, items, label=label, group=GROUP, memory=SPEECH_MEMORY)
        for done, (_, result) in enumerate(pending, 1):
            results.append(result)
            if progress:
                progress(done, len(items))
        return results

    def _average(
        self, values: Sequence[float | None], speakers: Sequence[str], model: str | None = None
    ) -> UtilityEstimate:
        """Mean over speakers of the values that there are."""
        known = [(v, speaker) for v, speaker in zip(values, speakers, strict=True) if v is not None]
        if not known:
            return _not_measured("too little voiced speech to tell")
        numbers, names = zip(*known, strict=True)
        mean = average(list(numbers), list(names), confidence=self.confidence)
        return UtilityEstimate(
            mean.value, mean.low, mean.high, mean.resampled, utterances=len(known), model=model
        )


def _not_measured(note: str) -> UtilityEstimate:
    return UtilityEstimate(None, note=note)


@cache
def _recogniser(name: str) -> Recogniser | SottovoceError:
    """The recogniser, loaded once in a process, or why there is none."""
    try:
        return make_recogniser(name)
    except SottovoceError as error:
        return error


@cache
def _quality_model() -> QualityModel:
    return QualityModel()


@dataclass(frozen=True, slots=True)
class CountWordErrors:
    """Recognises a recording and compares it with its transcript, on any worker."""

    recogniser: str

    def __call__(self, utterance: Utterance) -> WordErrors:
        """Return the errors of the recogniser.

        Parameters
        ----------
        utterance : Utterance
            A recording with a transcript.
        """
        recogniser = _recogniser(self.recogniser)
        if isinstance(recogniser, SottovoceError):
            raise recogniser
        recognised = recogniser.transcribe(load_audio(utterance, RATE), RATE)
        language = utterance.language
        return word_errors(
            normalise(utterance.transcript, language), normalise(recognised, language)
        )


def rate_quality(utterance: Utterance) -> float:
    """Estimate how good a recording sounds.

    Parameters
    ----------
    utterance : Utterance
        The recording.
    """
    return _quality_model().overall(load_audio(utterance, RATE))


def compare_recordings(
    pair: tuple[Utterance, Utterance],
) -> tuple[float | None, float, float]:
    """Compare an anonymised recording with its original.

    Parameters
    ----------
    pair : tuple of Utterance
        Original and anonymised recording.

    Returns
    -------
    tuple of float
        Correlation of pitch (None with too little voiced speech), ratio of durations, and
        difference of loudness in dB.
    """
    original, anonymised = (load_audio(utterance, RATE) for utterance in pair)
    return (
        _pitch_correlation(original, anonymised),
        duration_ratio(len(original), len(anonymised)),
        loudness_difference(original, anonymised),
    )


def _pitch_correlation(original: Audio, anonymised: Audio) -> float | None:
    tracks = (find_f0(audio.astype(np.float64))[0] for audio in (original, anonymised))
    try:
        return f0_correlation(*tracks)
    except TooFewError:
        return None
