"""Slices: how well short pieces are linked by their voice, and put together by their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sottovoce.findings import AuditFindings, NotMeasured, SliceCurve, SliceText
from sottovoce.report.formats import decimals, percent, percent_column
from sottovoce.report.html import Markup, element, joined
from sottovoce.report.panels import panel
from sottovoce.report.svg import Axis, Line, line_chart
from sottovoce.report.tables import Table, make_table, with_interval

CUTS = {
    "first": "the first seconds of each recording",
    "words": "all pieces between words",
}


def slice_curves(findings: AuditFindings) -> dict[str, SliceCurve | NotMeasured]:
    """Collect the curves of an audit, originals first.

    Parameters
    ----------
    findings : AuditFindings
        Of a study that slices.
    """
    curves: dict[str, SliceCurve | NotMeasured] = {}
    for originals in findings.originals:
        if originals.slices is not None:
            curves[f"originals, {originals.linkage}"] = originals.slices
    for row in findings.rows:
        if row.slices is not None:
            curves[f"{row.anonymiser}, {row.attacker}, {row.linkage}"] = row.slices
    return curves


def slice_table(curves: Mapping[str, SliceCurve | NotMeasured]) -> Table:
    """Arrange D_sys and Linkability over the length of slices.

    Parameters
    ----------
    curves : mapping of str to SliceCurve or NotMeasured
        By what was attacked; those that were not measured are left out.
    """
    rows = [
        (
            name,
            f"{point.seconds:g}",
            f"{point.mean_seconds:.2f}",
            f"{point.slices:,}",
            with_interval(point.d_sys.value, point.d_sys.low, point.d_sys.high, decimals(2)),
            with_interval(
                point.d_sys_corrected.value,
                point.d_sys_corrected.low,
                point.d_sys_corrected.high,
                decimals(2),
            ),
            with_interval(point.eer.value, point.eer.low, point.eer.high, percent_column),
            with_interval(
                point.linkability.value,
                point.linkability.low,
                point.linkability.high,
                percent_column,
            ),
            percent_column(point.linkability.chance),
        )
        for name, curve in curves.items()
        if isinstance(curve, SliceCurve)
        for point in curve.points
    ]
    headings = (
        "speech and attacker",
        "seconds",
        "mean seconds",
        "slices",
        "D_sys",
        "corrected",
        "EER",
        "Linkability",
        "chance",
    )
    return make_table("Slices linked to speakers by their voice", headings, rows)


def slice_panels(curves: Mapping[str, SliceCurve | NotMeasured]) -> list[Markup]:
    """Build the figures of corrected D_sys and Linkability over the length of slices.

    Parameters
    ----------
    curves : mapping of str to SliceCurve or NotMeasured
        By what was attacked.
    """
    measured = {name: curve for name, curve in curves.items() if isinstance(curve, SliceCurve)}
    longest = max((p.seconds for curve in measured.values() for p in curve.points), default=1.0)
    panels = []
    for title, label in (("D_sys", "D_sys"), ("Linkability", "share linked")):
        lines = []
        rows = []
        for number, (name, curve) in enumerate(measured.items()):
            seconds = [point.seconds for point in curve.points]
            values = [
                (point.d_sys.value if title == "D_sys" else point.linkability.value) or 0.0
                for point in curve.points
            ]
            lines.append(Line(name, seconds, values, number))
            pairs = zip(seconds, values, strict=True)
            rows += [(name, f"{length:g}", f"{value:.3f}") for length, value in pairs]
        figure = line_chart(
            f"{title} over the length of slices",
            f"{title} of slices, by what was attacked.",
            Axis.nice("seconds", 0, longest),
            Axis.nice(label, 0, 1),
            lines,
        )
        table = make_table(f"{title} by length", ("speech and attacker", "seconds", title), rows)
        caption = (
            "Shorter slices are harder to link. The attacker knows whole recordings of everybody "
            "and trained on slices of other speakers."
        )
        panels.append(panel(figure, table, caption))
    return panels


def slice_text_table(texts: Sequence[SliceText]) -> Table:
    """Arrange what the words of slices give away.

    Parameters
    ----------
    texts : sequence of SliceText
        Of all lengths and scores.
    """
    rows = []
    for text in texts:
        first, ten = text.reassembly.hits
        rows.append(
            (
                text.score,
                "–" if text.seconds is None else f"{text.seconds:g}",
                str(text.words),
                f"{text.slices:,}",
                with_interval(text.d_sys.value, text.d_sys.low, text.d_sys.high, decimals(2)),
                with_interval(text.eer.value, text.eer.low, text.eer.high, percent_column),
                with_interval(first.value, first.low, first.high, percent_column),
                with_interval(ten.value, ten.low, ten.high, percent_column),
                percent_column(first.chance),
            )
        )
    headings = (
        "score",
        "seconds",
        "words",
        "slices",
        "D_sys",
        "EER",
        "successor first",
        "among ten",
        "guessing first",
    )
    return make_table("What the words of slices give away", headings, rows)


def slices_section(findings: AuditFindings) -> Markup | None:
    """Build the part of a page; None if the study does not slice.

    Parameters
    ----------
    findings : AuditFindings
        Everything that the audit found.
    """
    curves = slice_curves(findings)
    if not curves:
        return None
    cut = next((c.cut for c in curves.values() if isinstance(c, SliceCurve)), "first")
    missing = [
        element("p", f"{name}: not measured: {curve.note}.", class_="soft")
        for name, curve in curves.items()
        if isinstance(curve, NotMeasured)
    ]
    return joined(
        [
            element("p", f"Slices are {CUTS.get(cut, cut)}."),
            slice_table(curves).to_html(),
            *missing,
            element("div", *slice_panels(curves), class_="figures"),
            _texts(findings.slice_texts),
        ]
    )


def _texts(texts: Sequence[SliceText] | NotMeasured | None) -> Markup | None:
    if texts is None:
        return None
    heading = element("h3", "What the slices' words give away")
    if isinstance(texts, NotMeasured):
        return joined([heading, element("p", f"Not measured: {texts.note}.", class_="soft")])
    best = max(text.reassembly.hits[0].value for text in texts)
    return joined(
        [
            heading,
            element(
                "p",
                f"An attacker with a small language model finds the slice that follows another in "
                f"up to {percent(best)} of cases. A larger language model finds more.",
            ),
            slice_text_table(texts).to_html(),
        ]
    )
