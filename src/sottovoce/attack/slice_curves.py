"""Linkage of slices to speakers over their length (COMPRISE deliverable D2.3, figure 15).

The attacker knows whole recordings of the speakers, has slices to link, and trains on speech that
was cut to the same length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.attack.embedding_sets import EmbeddingSets
from sottovoce.attack.inputs import AttackInputs, embed_draws, prepare_speech
from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.attack.linking import attack, attack_originals
from sottovoce.attack.score import ScoreTable
from sottovoce.attack.slicing import Cut, CutSpeech, Slicing, cut_speech
from sottovoce.attack.speech import SpeechCache
from sottovoce.attack.training import LinkageTrainer
from sottovoce.findings import AttackSettings, CurvePoint, SliceCurve, SlicePoint
from sottovoce.measure import measure_scores
from sottovoce.measure.intervals import share_interval
from sottovoce.speaker.embeddings import Embeddings

MEASURES = ("d_sys", "d_sys_corrected", "eer")


@dataclass(frozen=True, slots=True)
class SlicedSets:
    """Embeddings of an attack on slices of one length."""

    seconds: float
    sets: EmbeddingSets
    """Whole enrolment recordings; slices as trials and to train on."""
    originals: CutSpeech
    """Slices of the original trials."""
    released: CutSpeech
    """Slices of the released trials."""


def slice_sets(
    inputs: AttackInputs,
    sets: EmbeddingSets,
    slicing: Slicing,
    cache: SpeechCache,
    *,
    draws: int = 1,
) -> list[SlicedSets]:
    """Cut and embed the speech of attacks, once for each length of slices.

    Parameters
    ----------
    inputs : AttackInputs
        Originals and released speech.
    sets : EmbeddingSets
        The same speech, embedded whole.
    slicing : Slicing
        Lengths, and where to cut trials. Training speech is cut to its first seconds.
    cache : SpeechCache
        Makes what is not there yet.
    draws : int, default 1
        How many times an attacker anonymises its training speech.
    """
    slicing.check()
    return [
        _cut_sets(inputs, sets, slicing, seconds, cache, draws)
        for seconds in sorted(set(slicing.seconds))
    ]


def _cut_sets(
    inputs: AttackInputs,
    sets: EmbeddingSets,
    slicing: Slicing,
    seconds: float,
    cache: SpeechCache,
    draws: int,
) -> SlicedSets:
    embeddings: dict[tuple[Part, Form], Embeddings] = {}
    trials: dict[Form, CutSpeech] = {}
    for (part, form), whole in sets.embeddings.items():
        if part == "enrol":
            embeddings[part, form] = whole
            continue
        cut: Cut = "first" if part == "train" else slicing.cut
        pieces = [
            cut_speech(speech, seconds, cut, cache, lang=slicing.lang)
            for speech in prepare_speech(inputs, part, form, cache, draws=draws)
        ]
        label = f"{part} ({form}) of {seconds:g} s"
        embeddings[part, form] = embed_draws([piece.speech for piece in pieces], cache, label=label)
        if part == "trial":
            trials[form] = pieces[0]
    return SlicedSets(seconds, EmbeddingSets(embeddings), trials["original"], trials["released"])


def originals_slice_curve(
    sliced: Sequence[SlicedSets],
    slicing: Slicing,
    settings: AttackSettings,
    *,
    confidence: float = 0.95,
    trainer: LinkageTrainer | None = None,
) -> SliceCurve:
    """Link slices of recordings that nobody anonymised.

    Parameters
    ----------
    sliced : sequence of SlicedSets
        What :func:`slice_sets` returned.
    slicing : Slicing
        How they were cut.
    settings : AttackSettings
        How to link; each slice is compared with the model of each speaker.
    confidence : float, default 0.95
        Of the intervals.
    trainer : LinkageTrainer, optional
        Owns the trained linkage functions; default a new one.
    """
    trainer, settings = trainer or LinkageTrainer(), _by_speaker(settings)
    points = []
    for part in sliced:
        baseline = attack_originals(part.sets, settings, trainer)
        points.append(
            _point(part.seconds, part.originals, baseline.table, baseline.trained.name, confidence)
        )
    return SliceCurve(slicing.cut, tuple(points))


def attack_slice_curve(
    sliced: Sequence[SlicedSets],
    attacker: Attacker,
    slicing: Slicing,
    settings: AttackSettings,
    *,
    confidence: float = 0.95,
    trainer: LinkageTrainer | None = None,
) -> SliceCurve:
    """Link slices of released recordings with what an attacker knows.

    Parameters
    ----------
    sliced : sequence of SlicedSets
        What :func:`slice_sets` returned.
    attacker : Attacker
        What it enrols with and trains on.
    slicing : Slicing
        How they were cut.
    settings : AttackSettings
        How to link; the encoder is used as it is, without retraining.
    confidence : float, default 0.95
        Of the intervals.
    trainer : LinkageTrainer, optional
        Owns the trained linkage functions; default a new one.
    """
    trainer, settings = trainer or LinkageTrainer(), _by_speaker(settings)
    points = []
    for part in sliced:
        result = attack(part.sets, attacker, settings, trainer=trainer)
        points.append(
            _point(part.seconds, part.released, result.table, result.trained.name, confidence)
        )
    return SliceCurve(slicing.cut, tuple(points))


def _by_speaker(settings: AttackSettings) -> AttackSettings:
    """Settings in which a slice has one score for each speaker."""
    return replace(settings, over="model") if settings.over == "utterance" else settings


def _point(
    seconds: float, cut: CutSpeech, table: ScoreTable, linked_with: str, confidence: float
) -> SlicePoint:
    summary = measure_scores(table.scores(), interval=confidence, only=MEASURES)
    measures = summary.measures
    return SlicePoint(
        seconds=seconds,
        mean_seconds=round(cut.mean_seconds, 3),
        slices=len(cut.speech.corpus),
        left_out=cut.left_out,
        linked_with=linked_with,
        d_sys=measures["d_sys"],
        d_sys_corrected=measures["d_sys_corrected"],
        eer=measures["eer"],
        linkability=_linkability(table, confidence),
    )


def _linkability(table: ScoreTable, confidence: float) -> CurvePoint:
    """Share of slices whose speaker scores above everybody else; ties count against the attacker.

    Every speaker has equal weight, as in :func:`sottovoce.measure.reidentify`.
    """
    true = np.where(table.mated, table.values, -np.inf).max(axis=0)
    others = np.where(table.nonmated, table.values, -np.inf).max(axis=0)
    _, numbers, counts = np.unique(table.speakers, return_inverse=True, return_counts=True)
    by_speaker = np.bincount(numbers, (true > others).astype(np.float64)) / counts
    ends = share_interval(by_speaker, confidence)
    people = len(table.enrolled)
    value = float(by_speaker.mean())
    return CurvePoint(1, people, value, 1 / people, low=ends.low, high=ends.high)
