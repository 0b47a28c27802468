"""What anonymised speech is still good for: words, pitch, length and loudness kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from sottovoce.asr import moonshine as recognising
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import (
    DEFAULT_RECOGNISER,
    Recogniser,
    make_recogniser,
    understands,
)
from sottovoce.core.errors import SottovoceError, TooFewError
from sottovoce.core.parallel import map_ahead
from sottovoce.core.types import Audio, Progress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.measure import quality as rating
from sottovoce.measure.utility import (
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
Found = TypeVar("Found")

RATED = 24
"""Recordings whose quality is estimated, at most: each costs half a second."""


def installed() -> list[str]:
    """Optional packages with models that are there: what could not be measured may be later."""
    return [name for name in (recognising.PACKAGE, rating.PACKAGE) if find_spec(name) is not None]


def sample(corpus: Corpus, most: int, seed: int) -> list[Utterance]:
    """At most so many utterances, in the corpus's order, every speaker about equally often."""
    rng = np.random.default_rng(seed)
    order = {one.id: i for i, one in enumerate(corpus)}
    left = [list(rng.permutation(len(own))) for own in corpus.by_speaker().values()]
    chosen: list[Utterance] = []
    own_of = list(corpus.by_speaker().values())
    while len(chosen) < most and any(left):
        for own, rest in zip(own_of, left, strict=True):
            if rest and len(chosen) < most:
                chosen.append(own[int(rest.pop())])
    return sorted(chosen, key=lambda one: order[one.id])


def words_kept(
    utterances: Sequence[Utterance],
    *,
    recogniser_name: str = DEFAULT_RECOGNISER,
    jobs: int = 2,
    confidence: float,
    progress: Progress | None,
) -> dict[str, Any]:
    """Word error rate of a recogniser, or a note why there is none."""
    spoken = [
        utterance
        for utterance in utterances
        if utterance.transcript.strip() and understands(recogniser_name, utterance.language)
    ]
    if not spoken:
        return {
            "note": f"no transcripts in a language that {recogniser_name} understands: "
            "the word error rate was not measured"
        }
    try:
        recogniser = make_recogniser(recogniser_name)
    except SottovoceError as error:
        return {"note": f"the word error rate was not measured: {error}"}

    def one(utterance: Utterance) -> WordErrors:
        return _errors(utterance, recogniser)

    errors = _all(one, spoken, jobs, progress)
    rate = word_error_rate(
        errors,
        [one.speaker for one in spoken],
        confidence=confidence,
        rng=np.random.default_rng(0),
    )
    return {
        **rate.to_dict(),
        "utterances": len(spoken),
        "words": sum(one.words for one in errors),
        "recogniser": recogniser_name,
    }


def _errors(utterance: Utterance, recogniser: Recogniser) -> WordErrors:
    heard = recogniser.transcribe(load_audio(utterance, RATE), RATE)
    return word_errors(normalise(utterance.transcript), normalise(heard))


def quality(
    utterances: Sequence[Utterance], *, jobs: int = 2, confidence: float, progress: Progress | None
) -> dict[str, Any]:
    """How good recordings sound, as a network estimates it, or a note why that is not known."""
    try:
        model = rating.QualityModel()
    except SottovoceError as error:
        return {"note": f"not estimated: {error}"}

    def one(utterance: Utterance) -> float:
        return model.overall(load_audio(utterance, RATE))

    found = _all(one, utterances, jobs, progress)
    speakers = [one.speaker for one in utterances]
    return {**_averaged(found, speakers, confidence), "model": rating.MODEL}


def sound_kept(
    pairs: Sequence[tuple[Utterance, Utterance]],
    *,
    jobs: int = 2,
    confidence: float,
    progress: Progress | None,
) -> dict[str, Any]:
    """Pitch, length and loudness of anonymised recordings against their originals."""

    def one(pair: tuple[Utterance, Utterance]) -> tuple[float | None, float, float]:
        before, after = (load_audio(each, RATE) for each in pair)
        return (
            _pitch_kept(before, after),
            duration_ratio(len(before), len(after)),
            loudness_difference(before, after),
        )

    found = _all(one, pairs, jobs, progress)
    speakers = [before.speaker for before, _ in pairs]
    names = ("f0_correlation", "duration_ratio", "loudness_difference_db")
    return {
        name: _averaged([row[i] for row in found], speakers, confidence)
        for i, name in enumerate(names)
    }


def _all(
    look: Callable[[Item], Found], items: Sequence[Item], jobs: int, progress: Progress | None
) -> list[Found]:
    """What is found in each, in order, while the progress is shown."""
    found = []
    for done, (_, one) in enumerate(map_ahead(look, items, workers=jobs, ahead=4 * jobs), 1):
        found.append(one)
        if progress:
            progress(done, len(items))
    return found


def _pitch_kept(before: Audio, after: Audio) -> float | None:
    tracks = (find_f0(one.astype(np.float64))[0] for one in (before, after))
    try:
        return f0_correlation(*tracks)
    except TooFewError:
        return None


def _averaged(
    values: Sequence[float | None], speakers: Sequence[str], confidence: float
) -> dict[str, Any]:
    kept = [(v, who) for v, who in zip(values, speakers, strict=True) if v is not None]
    if not kept:
        return {"note": "too little voiced speech to tell"}
    numbers, names = zip(*kept, strict=True)
    return {
        **average(list(numbers), list(names), confidence=confidence).to_dict(),
        "utterances": len(kept),
    }
