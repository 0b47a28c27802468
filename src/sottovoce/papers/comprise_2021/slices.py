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
from sottovoce.findings import SliceCurve, SlicePoint
from sottovoce.papers.data import PaperData, PartSize
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, paper_table
from sottovoce.papers.speech import SpeechStudy, open_study
from sottovoce.report.svg import Axis, Figure, Line, line_chart

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
    key = [*study.key, list(slicing.seconds), data.seed]
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


def _row(name: str, point: SlicePoint) -> tuple[Cell, ...]:
    return (
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


def _drawing(curves: dict[str, SliceCurve]) -> Figure:
    lines = []
    for style, (name, curve) in enumerate(curves.items(), start=1):
        known = [(p.seconds, p.d_sys.value) for p in curve.points if p.d_sys.value is not None]
        across = [math.log10(seconds) for seconds, _ in known]
        lines.append(Line(name, across, [d_sys for _, d_sys in known], style))
    seconds = [point.seconds for point in curves["original"].points]
    ticks = tuple((math.log10(value), f"{value:g}") for value in seconds)
    return line_chart(
        "Linkability of slices over their length",
        "D_sys of the first seconds of recordings, original and anonymised.",
        Axis("seconds of a slice", ticks[0][0], ticks[-1][0], ticks),
        Axis.nice("D_sys", 0, 1.02),
        lines,
    )


def _figure_15(data: PaperData) -> ItemOutput:
    study, curves = slice_curves(data)
    rows = [_row(name, point) for name, curve in curves.items() for point in curve.points]
    headings = (
        *("speech", "seconds", "mean seconds", "D_sys", "corrected", "low", "high"),
        *("Linkability", "low", "high"),
    )
    return ItemOutput(
        study.described,
        tables=[paper_table("Linkability of slices", headings, rows)],
        drawings={"figure-15": _drawing(curves)},
        compared=[_short_slices(curves), _below_a_second(curves["original"])],
        remarks=[
            "As in the document a slice is the beginning of a recording; one that is shorter stays "
            f"as it is, so read the mean length. {len(study.division.trial.corpus):,} recordings, "
            "of which those with a silent beginning are left out; Linkability is the share of "
            "slices whose speaker is the first guess.",
        ],
    )


def _short_slices(curves: dict[str, SliceCurve]) -> Compared:
    """The range of D_sys, not corrected as in the document, over attackers and lengths."""
    anonymised = [curve for name, curve in curves.items() if name != "original"]
    values = [
        point.d_sys.value
        for curve in anonymised
        for point in curve.points
        if point.seconds < 5 and point.d_sys.value is not None
    ]
    return Compared(
        "D_sys of anonymised slices below 5 s",
        "close to 0",
        f"{min(values):.2f} to {max(values):.2f}" if values else None,
        "another anonymiser and encoder, and an attacker that trains on slices of the same length; "
        "few pairs raise D_sys, see the corrected one",
    )


def _below_a_second(originals: SliceCurve) -> Compared:
    quantity = "original slices of 0.5 s are linked less than those of 1 s"
    values = {point.seconds: point.d_sys.value for point in originals.points}
    half, whole = values.get(0.5), values.get(1.0)
    if half is None or whole is None:
        return Compared(quantity, "yes", None, "too few pairs")
    if half < whole:
        return Compared(quantity, "yes", "yes")
    return Compared(quantity, "yes", "no", "another encoder and other speech")


ITEMS = (PaperItem("004-figure-15", "Linkability of slices over their length", _figure_15),)
