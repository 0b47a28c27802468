"""Word error rates of recognisers trained on original or anonymised speech: tables and readings."""

from __future__ import annotations

from sottovoce import __version__
from sottovoce.findings import (
    AuditFindings,
    NotMeasured,
    RateDifference,
    RetrainedUtility,
    TrainedRecogniser,
)
from sottovoce.report.formats import MISSING, counted, percent, percent_column
from sottovoce.report.html import Markup, bullets, document, element
from sottovoce.report.tables import Table, make_table, with_interval

CASES = {
    "O-O": "original speech, recogniser of originals",
    "A-O": "anonymised speech, recogniser of originals",
    "O-A": "original speech, recogniser of anonymised speech",
    "A-A": "anonymised speech, recogniser of anonymised speech",
}
"""What is recognised, and what the recogniser was trained on."""


def rates_table(result: RetrainedUtility) -> Table:
    """Arrange the word error rates of all cases.

    Parameters
    ----------
    result : RetrainedUtility
        Recognisers that were compared.
    """
    rows = [
        (
            rate.case,
            CASES[rate.case],
            _length(rate.slice_seconds),
            with_interval(rate.value, rate.low, rate.high, percent_column),
            percent_column(rate.greedy),
        )
        for rate in result.rates
    ]
    headings = ("case", "speech and recogniser", "trained on", "WER", "without language model")
    return make_table("Word error rate by training and test speech", headings, rows, text=(1, 2))


def differences_table(result: RetrainedUtility) -> Table:
    """Arrange differences between cases on the same words.

    Parameters
    ----------
    result : RetrainedUtility
        Recognisers that were compared.
    """
    rows = [
        (
            difference_name(difference),
            with_interval(difference.value, difference.low, difference.high, _points),
            {True: "yes", False: "no", None: "–"}[_is_clear(difference)],
        )
        for difference in result.differences
    ]
    headings = ("difference", "percentage points", "differs from 0")
    return make_table("Differences, paired by speaker", headings, rows, text=(0,))


def recognisers_table(result: RetrainedUtility) -> Table:
    """Arrange what each recogniser was trained on.

    Parameters
    ----------
    result : RetrainedUtility
        Recognisers that were compared.
    """
    rows = [
        (
            recogniser.trained_on,
            _length(recogniser.slice_seconds),
            f"{recogniser.recordings:,}",
            f"{recogniser.hours:.2f}",
            str(recogniser.speakers),
            f"{recogniser.left_out:,}",
            str(recogniser.epochs),
            percent_column(recogniser.held_out_wer),
            f"{recogniser.language_weight:g}",
        )
        for recogniser in result.recognisers
    ]
    headings = (
        "speech",
        "trained on",
        "recordings",
        "hours",
        "speakers",
        "left out",
        "epoch",
        "held-out WER",
        "weight of language model",
    )
    return make_table("Recognisers", headings, rows, text=(0, 1))


def _length(seconds: float | None) -> str:
    return "whole recordings" if seconds is None else f"slices of {seconds:g} s"


def _points(value: float | None) -> str:
    return MISSING if value is None else f"{100 * value:+.1f}"


def difference_name(difference: RateDifference) -> str:
    """Name a difference, such as ``A-A − O-O``.

    Parameters
    ----------
    difference : RateDifference
        Of two word error rates.
    """

    def name(case: str, seconds: float | None) -> str:
        return case if seconds is None else f"{case} on slices of {seconds:g} s"

    first = name(difference.first, difference.first_seconds)
    return f"{first} − {name(difference.second, difference.second_seconds)}"


def _is_clear(difference: RateDifference) -> bool | None:
    """Whether the interval excludes 0; None without an interval."""
    if difference.low is None or difference.high is None:
        return None
    return not difference.low <= 0 <= difference.high


def _find(result: RetrainedUtility, first: str, second: str) -> RateDifference | None:
    for difference in result.differences:
        if (difference.first, difference.second) == (first, second) and not (
            difference.first_seconds or difference.second_seconds
        ):
            return difference
    return None


def retrained_readings(result: RetrainedUtility) -> list[str]:
    """Say what the rates mean for somebody who trains on anonymised speech.

    Parameters
    ----------
    result : RetrainedUtility
        Recognisers that were compared.
    """
    lines = [*_gap_readings(result)]
    if result.utterances:
        lines.append(
            f"Tested on {counted(result.utterances, 'recording')} of "
            f"{counted(result.speakers, 'speaker')} with {result.words:,} words, which no "
            "recogniser was trained on; intervals come from resamples of "
            f"{result.resampled or 'nothing'}s, differences are paired."
        )
    lines.append(
        "Only the last part of a recogniser is trained; the features before it "
        f"({result.features}) were learnt from originals and stay as they are. Somebody who trains "
        "everything on anonymised speech may gain more, or lose more."
    )
    return [*lines, *result.notes]


def _gap_readings(result: RetrainedUtility) -> list[str]:
    mismatch, retrained = _find(result, "A-O", "O-O"), _find(result, "A-A", "O-O")
    gain = _find(result, "A-A", "A-O")
    if mismatch is None or retrained is None or gain is None:
        return []
    before = f"{_points(mismatch.value)} points against originals (A-O − O-O)"
    after = f"{_points(retrained.value)} points (A-A − O-O)"
    if _is_clear(gain) and gain.value < 0:
        verb = "Training on anonymised speech helps to recognise it"
        closed = "; what remains is " + ("clear" if _is_clear(retrained) else "within the interval")
    elif _is_clear(gain):
        verb, closed = "Training on anonymised speech makes it harder to recognise", ""
    else:
        verb, closed = "Training on anonymised speech changes little for recognising it", ""
    return [f"{verb}: from {before} to {after}{closed}."]


def retrained_section(findings: AuditFindings) -> Markup | None:
    """Build the part of an audit's report on recognisers; None where the study trains none.

    Parameters
    ----------
    findings : AuditFindings
        An audit.
    """
    parts: list[Markup | None] = []
    for anonymiser in findings.anonymisers:
        result = anonymiser.retrained
        if result is None:
            continue
        parts.append(element("h3", f"Recognisers trained on speech of {anonymiser.anonymiser}"))
        if isinstance(result, NotMeasured):
            parts.append(element("p", f"Not measured: {result.note}"))
        else:
            parts.append(_tables(result))
    return element("div", *parts) if parts else None


def _tables(result: RetrainedUtility) -> Markup:
    return element(
        "div",
        bullets(retrained_readings(result)),
        rates_table(result).to_html() if result.rates else None,
        differences_table(result).to_html() if result.differences else None,
        recognisers_table(result).to_html(),
    )


def retrained_page(result: RetrainedUtility) -> str:
    """Build the page of recognisers that were trained by the command.

    Parameters
    ----------
    result : RetrainedUtility
        Recognisers that were compared.
    """
    title = "Recognisers trained on anonymised speech"
    best = min(result.recognisers, key=lambda recogniser: recogniser.held_out_wer)
    return document(
        title,
        element("header", element("p", "sottovoce", class_="kicker"), element("h1", title)),
        element(
            "main",
            element("p", _summary(result, best), class_="card finding"),
            _tables(result),
        ),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def _summary(result: RetrainedUtility, best: TrainedRecogniser) -> str:
    rates = [result.rate(case) for case in CASES]
    known = [f"{rate.case} {percent(rate.value)}" for rate in rates if rate is not None]
    if known:
        return "Word error rates by speech and recogniser: " + ", ".join(known) + "."
    return (
        f"{counted(len(result.recognisers), 'recogniser')}; the best is wrong in "
        f"{percent(best.held_out_wer)} of the words of held-out speakers, without a language model."
    )
