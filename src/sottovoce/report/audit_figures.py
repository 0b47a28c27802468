"""The figures of an audit, each with its numbers folded under it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.core.errors import SottovoceError
from sottovoce.findings import CurvePoint, SpeakerRisk, most_exposed
from sottovoce.measure import ece_profile, linkability
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import tpr_at_fpr_of
from sottovoce.report.figures import det_figure, ece_figure, histogram_figure
from sottovoce.report.heatmap import matrices_figure
from sottovoce.report.page import Markup, element, figure, table
from sottovoce.report.readings import Found, percent
from sottovoce.report.reidentification import CURVES, curve_figure, speaker_figure

MOST_ROWS = 100
"""Rows of a table under a figure; what is beyond is in ``measures.json``."""

CELLS = 60
"""Along one side of a quadrant of the similarity matrices: a page may hold many."""

LONGEST = 32
"""Letters of an anonymiser's name that a legend has room for."""

FALSE_ALARMS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
ODDS = range(-10, 11, 2)

READ = {
    "linkability": "How often the right person is named, over how many people there are to choose "
    "from. It falls with the crowd, but so does chance.",
    "singling_out": "How often a rule made from one person's speech fits exactly one person of the "
    "crowd. A random rule does in 36.8 %; above that, someone is isolated more easily.",
    "one_minus_rocch_eer": "The equal error rate turned round. It hardly moves with the crowd, "
    "which is why it must not be read as the risk of one person.",
}


def score_figures(row: Found, scores: ScoreSource, originals: Tally) -> list[Markup]:
    """ECE profiles, histogram with local linkability, and DET curves of one attack."""
    label = row["anonymiser"]
    label = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
    name = f"{label}, {row['attacker']}"
    sets = [("original", originals), (name, Tally.of(scores))]
    return [_ece(sets), _histogram(name, scores), _det(sets)]


def _ece(sets: Sequence[tuple[str, Tally]]) -> Markup:
    profiles = [ece_profile(tally, list(ODDS)) for _, tally in sets]
    columns = [profiles[0].zero_evidence, *(one.ece for one in profiles)]
    rows = [
        (f"{odds:+d}", *(f"{column[i]:.4f}" for column in columns)) for i, odds in enumerate(ODDS)
    ]
    headings = ("prior log-odds", "zero evidence", *(name for name, _ in sets))
    return figure(
        ece_figure(sets),
        table("Empirical cross-entropy in bits", headings, rows),
        "What the attacker still does not know after the best use of the scores. The line of zero "
        "evidence is perfect privacy; the area between is what is disclosed on average.",
    )


def _histogram(name: str, scores: ScoreSource) -> Markup:
    try:
        found = linkability(scores, permutations=0)
        svg = histogram_figure(name, scores)
    except SottovoceError as error:
        return element("p", f"No histogram: {error}.", class_="soft")
    rows = [
        (
            f"{found.edges[i]:.3g} to {found.edges[i + 1]:.3g}",
            percent(float(found.mated[i]), exact=True),
            percent(float(found.nonmated[i]), exact=True),
            f"{found.local[i]:.3f}",
        )
        for i in range(len(found.local))
    ]
    return figure(
        svg,
        table("Scores by bin", ("score", "mated", "non-mated", "D(s)"), rows),
        "Scores of pairs of one speaker (mated) and of two (non-mated). Where they part, a score "
        "gives its pair away: the local linkability D(s) is 1 there.",
    )


def _det(sets: Sequence[tuple[str, Tally]]) -> Markup:
    rows = [
        (
            percent(rate, exact=True),
            *(percent(1 - tpr_at_fpr_of(tally, rate), exact=True) for _, tally in sets),
        )
        for rate in FALSE_ALARMS
    ]
    headings = ("false alarms", *(f"misses, {name}" for name, _ in sets))
    return figure(
        det_figure(sets),
        table("Misses at rates of false alarms", headings, rows),
        "Both errors of an attacker who decides by a threshold. The nearer to the lower left "
        "corner, the more is disclosed.",
    )


def population_figures(row: Found, originals: Found) -> list[Markup]:
    """Linkability, Singling Out and 1 − EER over the number of people."""
    return [
        _curve(row["reidentification"][name], _points(originals, name), name)
        for name in READ
        if row["reidentification"].get(name)
    ]


def _points(found: Found, name: str) -> list[CurvePoint]:
    return [CurvePoint(**one) for one in found.get("reidentification", {}).get(name) or []]


def _curve(given: Sequence[Found], originals: Sequence[CurvePoint], name: str) -> Markup:
    points = [CurvePoint(**one) for one in given]
    label, unit = CURVES[name]
    before = {(one.length, one.population): one.value for one in originals}
    rows = [
        (
            f"{one.population:,}",
            str(one.length),
            percent(one.value, exact=True),
            f"{percent(one.low, exact=True)} to {percent(one.high, exact=True)}",
            percent(one.chance, exact=True),
            percent(one.no_evidence, exact=True),
            percent(before.get((one.length, one.population)), exact=True),
        )
        for one in points
    ]
    headings = (
        "people",
        "recordings a conversation",
        label,
        "interval",
        "chance",
        "this protocol without evidence",
        "originals",
    )
    return figure(
        curve_figure(points, label, unit, originals=originals),
        table(f"{label} by number of people", headings, rows),
        READ[name],
    )


def people_figure(row: Found) -> Markup | None:
    """How the risk is spread over people, and who bears most of it."""
    risks = [SpeakerRisk(**one) for one in row["reidentification"].get("speakers") or []]
    if not risks:
        return None
    most = most_exposed(risks, MOST_ROWS)
    rows = [
        (
            one.speaker,
            str(one.length),
            str(one.trials),
            percent(one.linkability, exact=True),
            "more than these" if one.vanishes_at is None else f"{one.vanishes_at:,}",
        )
        for one in most
    ]
    headings = (
        "speaker",
        "recordings a conversation",
        "trials",
        "named among everybody",
        "hidden in a crowd of",
    )
    caption = f"The {len(most):,} most exposed people, each at the length that exposes them most"
    return figure(
        speaker_figure(risks),
        table(caption, headings, rows),
        "People in order of falling risk. A mean hides them: look at the left end of the line. "
        "Hidden: named in fewer than half of the crowds of this size.",
    )


def similarity_figure(found: Found) -> Markup | None:
    """The similarity matrices, with each speaker's own similarity and that to others."""
    if not found.get("matrices"):
        return None
    matrices = {kind: np.asarray(one, float) for kind, one in found["matrices"].items()}
    speakers = [str(one) for one in found["speakers"]]
    columns = []
    for kind in ("oo", "op", "pp"):
        own = np.diag(matrices[kind])
        others = (matrices[kind].sum(axis=1) - own) / max(1, len(own) - 1)
        columns += [own, others]
    order = np.argsort(-(columns[2] - columns[3]), kind="stable")[:MOST_ROWS]
    rows = [(speakers[i], *(f"{column[i]:.3f}" for column in columns)) for i in order]
    headings = [
        f"{side}, {kind}"
        for kind in ("original–original", "original–anonymised", "anonymised–anonymised")
        for side in ("self", "others")
    ]
    return figure(
        matrices_figure(matrices, speakers, found["deid"], found["gvd_db"], cells=CELLS),
        table("Similarity to oneself and to others", ("speaker", *headings), rows),
        "Each cell compares two voices. A bright diagonal in the upper right quarter means that "
        "people are recognised behind their anonymised voices; one in the lower right quarter, "
        "that anonymised voices still differ from each other.",
    )
