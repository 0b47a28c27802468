"""The figures of score sets: ECE profiles, score histograms with local linkability, DET curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from sottovoce.measure import (
    Disclosure,
    disclosure,
    ece_profile,
    eer,
    linkability,
    roc,
    rocch_eer,
)
from sottovoce.measure.linkability import Linkability
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.report.svg import Axis, Line, line_chart

Named = tuple[str, Tally]
"""What a set of scores is called, and its tally."""

DET_RATES = (0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95)


def ece_figure(sets: Sequence[Named], *, over_prior: bool = False) -> str:
    """ECE profiles after oracle calibration, with the profile of zero evidence.

    Over the log-odds of the prior, or (``over_prior``) over the prior itself.
    """
    odds = _logit(np.linspace(0.001, 0.999, 201)) if over_prior else np.linspace(-10, 10, 201)
    profiles = [ece_profile(tally, odds) for _, tally in sets]
    across = profiles[0].prior if over_prior else odds
    lines = [Line("zero evidence (perfect privacy)", across, profiles[0].zero_evidence, 0)]
    for i, ((name, tally), profile) in enumerate(zip(sets, profiles, strict=True), start=1):
        lines.append(Line(f"{name} {_legend(disclosure(tally))}", across, profile.ece, i))
    x = Axis.nice("prior probability π that a pair is mated", 0, 1)
    if not over_prior:
        x = Axis.nice("prior log-odds ln(π / (1−π))", -10, 10, about=10)
    return line_chart(
        "What the adversary still does not know (ECE)",
        "Empirical cross-entropy in bits over the adversary's prior; the further a line lies below "
        "that of zero evidence, the more is disclosed. In brackets: D_ECE in bits, worst case "
        "log10(l), category. " + "; ".join(line.name for line in lines),
        x,
        Axis.nice("ECE in bits", 0, 1.05),
        lines,
    )


def _legend(found: Disclosure) -> str:
    return f"({found.d_ece:.3f}, {found.worst_case_log10_lr:.2f}, {found.tag})"


def _logit(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(p / (1 - p)))


def histogram_figure(name: str, scores: ScoreSource) -> str:
    """Histograms of both classes with the local linkability D(s) over them."""
    found = linkability(scores, permutations=0)
    x = np.repeat(found.edges, 2)[1:-1]
    top = 1.08 * max(found.mated.max(), found.nonmated.max())
    lines = [
        Line("mated", x, np.repeat(found.mated, 2), 2, fill=True),
        Line("non-mated", x, np.repeat(found.nonmated, 2), 1, fill=True),
        Line("local linkability D(s), right axis", x, np.repeat(found.local, 2), 0, right=True),
    ]
    return line_chart(
        f"Scores of {name}: D_sys = {found.d_sys:.3f}",
        _histogram_words(found),
        Axis.nice("score", float(found.edges[0]), float(found.edges[-1])),
        Axis.nice("share of scores in a bin", 0, float(top)),
        lines,
        right=Axis.nice("D(s)", 0, 1.08),
    )


def _histogram_words(found: Linkability) -> str:
    return (
        f"Histogram of mated and non-mated scores in {len(found.local)} equal bins. Where the "
        "local linkability is 1 a score gives its pair away; where it is 0 it does not link. "
        f"Its mean over mated scores is D_sys = {found.d_sys:.3f}."
    )


def det_figure(sets: Sequence[Named]) -> str:
    """Miss rate over false-alarm rate on normal-deviate scales, with the line of equal errors."""
    ticks = tuple((float(norm.ppf(rate)), f"{100 * rate:g}") for rate in DET_RATES)
    low, high = ticks[0][0], float(norm.ppf(0.98))
    axis = Axis("false alarms in %", low, high, ticks)
    equal = np.array([low, high])
    lines = [Line("equal errors", equal, equal, 0)]
    words = []
    for i, (name, tally) in enumerate(sets, start=1):
        false_alarm, miss = _corners(tally)
        lines.append(
            Line(
                f"{name} (EER {100 * eer(tally):.1f} %, ROCCH-EER {100 * rocch_eer(tally):.1f} %)",
                norm.ppf(np.clip(false_alarm, 1e-6, 1 - 1e-6)),
                norm.ppf(np.clip(miss, 1e-6, 1 - 1e-6)),
                i,
            )
        )
        words.append(lines[-1].name)
    return line_chart(
        "Errors of an adversary who decides by a threshold (DET)",
        "Miss rate over false-alarm rate at every threshold, on normal-deviate scales; nearer to "
        "the lower left corner = more disclosed. " + "; ".join(words),
        axis,
        Axis("misses in %", low, high, ticks),
        lines,
    )


def _corners(tally: Tally, most: int = 1500) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ROC thinned to what can be seen: points evenly spaced along the curve."""
    curve = roc(tally)
    along = curve.miss - curve.false_alarm
    wanted = np.searchsorted(along, np.linspace(along[0], along[-1], most))
    ends = np.concatenate((np.arange(min(300, len(along))), len(along) - 1 - np.arange(300)))
    keep = np.unique(np.clip(np.concatenate((wanted, ends)), 0, len(along) - 1))
    return curve.false_alarm[keep], curve.miss[keep]
