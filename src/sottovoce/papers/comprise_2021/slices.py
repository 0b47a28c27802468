"""Figure 15: slices of speech, and what they hide."""

from __future__ import annotations

import math

from sottovoce.attack import ATTACKERS, AttackSettings
from sottovoce.attack.slice_curves import (
    attack_slice_curve,
    originals_slice_curve,
    slice_sets,
)
from sottovoce.attack.slicing import Slicing
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.findings import SliceCurve
from sottovoce.papers.data import PaperData, PartSize
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Compared, ItemOutput, paper_table
from sottovoce.papers.speech import SpeechStudy, open_study
from sottovoce.report.svg import Axis, Line, line_chart

ANONYMISER = AnonymiserSpec("xvector")
SECONDS = (0.5, 1.0, 1.5, 3.0, 5.0, 10.0)
QUICK_SECONDS = (0.5, 1.0, 2.0, 3.0)
QUICK_PART = PartSize(speakers=20, enrol=2, trial=3)
TRAINING = (40, 8, 6.0)
"""Speakers, utterances of each and seconds of each that attackers of a complete run train on: more
than for other items, since slices of a second need a linkage function that has seen many."""
ATTACKER_NAMES = ("lazy-informed", "semi-informed")

_CURVE = Step("slice-curve", records_of(SliceCurve))


def slice_curves(data: PaperData) -> tuple[SpeechStudy, dict[str, SliceCurve]]:
    """Link slices of original and anonymised speech over their length.

    Parameters
    ----------
    data : PaperData
        The corpora.
    """
    study = open_study(data, QUICK_PART, training=TRAINING, released_enrolment=False)
    steps = StepCache(data.work / "steps")
    slicing = Slicing(QUICK_SECONDS if data.quick else SECONDS)
    settings = AttackSettings("plda", seed=data.seed, draws=1)
    attackers = [ATTACKERS[name] for name in ATTACKER_NAMES]
    inputs = study.inputs(ANONYMISER)
    sets = study.sets(ANONYMISER, attackers)
    sliced = slice_sets(inputs, sets, slicing, study.cache)
    key = [study.attacked.key, study.division.train.key, list(slicing.seconds), data.seed]
    curves = {
        "original": steps.get(
            _CURVE,
            [key, "originals"],
            lambda: originals_slice_curve(sliced, slicing, settings, trainer=study.trainer),
        )
    }
    for attacker in attackers:
        curves[f"anonymised, {attacker.name}"] = steps.get(
            _CURVE,
            [key, attacker.name],
            lambda a=attacker: attack_slice_curve(  # type: ignore[misc]
                sliced, a, slicing, settings, trainer=study.trainer
            ),
        )
    return study, curves


def _figure_15(data: PaperData) -> ItemOutput:
    study, curves = slice_curves(data)
    lines, rows = [], []
    for style, (name, curve) in enumerate(curves.items(), start=1):
        points = [point for point in curve.points if point.d_sys.value is not None]
        across = [math.log10(point.seconds) for point in points]
        lines.append(Line(name, across, [point.d_sys.value or 0.0 for point in points], style))
        rows += [
            (
                name,
                f"{point.seconds:g}",
                point.mean_seconds,
                point.d_sys.value,
                point.d_sys_corrected.value,
                point.d_sys_corrected.low,
                point.d_sys_corrected.high,
                point.linkability.value,
                point.linkability.low,
                point.linkability.high,
            )
            for point in curve.points
        ]
    seconds = [point.seconds for point in curves["original"].points]
    ticks = tuple((math.log10(value), f"{value:g}") for value in seconds)
    figure = line_chart(
        "Linkability of slices over their length",
        "D_sys of the first seconds of recordings, original and anonymised.",
        Axis("seconds of a slice", ticks[0][0], ticks[-1][0], ticks),
        Axis.nice("D_sys", 0, 1.02),
        lines,
    )
    anonymised = [point for curve in list(curves.values())[1:] for point in curve.points]
    short = [point.d_sys_corrected.value or 0.0 for point in anonymised if point.seconds < 5]
    headings = (
        *("speech", "seconds", "mean seconds", "D_sys", "corrected", "low", "high"),
        *("Linkability", "low", "high"),
    )
    return ItemOutput(
        study.described,
        tables=[paper_table("Linkability of slices", headings, rows)],
        drawings={"figure-15": figure},
        compared=[
            Compared(
                "D_sys of anonymised slices below 5 s",
                "close to 0",
                f"{min(short):.2f} to {max(short):.2f}",
                "another anonymiser and encoder, and an attacker that trains on slices of the "
                "same length; corrected D_sys",
            ),
            Compared(
                "original slices are linked less below 1 s",
                "yes",
                "yes" if _falls(curves["original"]) else "no",
            ),
        ],
        remarks=[
            "As in the document a slice is the beginning of a recording; one that is shorter stays "
            f"as it is, so read the mean length. {len(study.division.trial.corpus):,} recordings, "
            "of which those with a silent beginning are left out; Linkability is the share of "
            "slices whose speaker is the first guess.",
        ],
    )


def _falls(curve: SliceCurve) -> bool:
    return (curve.points[0].d_sys.value or 0.0) < (curve.points[-1].d_sys.value or 0.0)


ITEMS = (PaperItem("004-figure-15", "Linkability of slices over their length", _figure_15),)
