"""Table 1, and the right halves of Figures 9 and 10: recognisers trained on anonymised speech."""

from __future__ import annotations

from sottovoce.attack.inputs import divide_speech
from sottovoce.attack.speech import (
    AnonymiserSpec,
    SpeechCache,
    SpeechSet,
    attackers_secret,
    operators_secret,
)
from sottovoce.audit.retrained import (
    Case,
    ComparisonSettings,
    RecogniserComparison,
    case_name,
)
from sottovoce.audit.speech_forms import SpeechForms
from sottovoce.audit.utility import sample_utterances
from sottovoce.findings import RetrainedUtility
from sottovoce.findings.retrained import ANONYMISED, ORIGINAL
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, paper_table
from sottovoce.papers.speech import ENCODER
from sottovoce.report.retrained import difference_name, retrained_readings
from sottovoce.speaker.encoders import make_encoder
from sottovoce.training.recogniser import RecogniserSettings

TESTED = 160
"""Trials that are recognised, at most."""
QUICK_SIZES = (300, 120)
"""Recordings that recognisers of a quick run are trained on, and trials that they recognise."""
ANONYMISER = AnonymiserSpec("xvector")
"""Dense proximity and random gender, as in the document; pitch is changed too."""
OTHER = AnonymiserSpec("mcadams")
"""An anonymiser that costs many words, for comparison."""

PUBLISHED: dict[Case, tuple[float, float]] = {
    (ORIGINAL, None): (4.3, 7.6),
    (ORIGINAL, 2.0): (4.4, 7.6),
    (ORIGINAL, 1.5): (4.7, 8.0),
    (ORIGINAL, 1.0): (6.1, 11.4),
    (ANONYMISED, None): (10.9, 4.9),
    (ANONYMISED, 4.0): (11.8, 4.9),
    (ANONYMISED, 3.0): (13.4, 4.9),
    (ANONYMISED, 1.5): (21.5, 4.9),
}
"""Table 1: by training speech and length of slices, WER in % of originals and anonymised speech."""


def recogniser_comparison(data: PaperData, spec: AnonymiserSpec) -> RecogniserComparison:
    """Prepare recognisers of the training speech, original and anonymised with other draws.

    Parameters
    ----------
    data : PaperData
        The attacked corpus gives the test, the training corpus trains; a quick run takes a part.
    spec : AnonymiserSpec
        The anonymiser.
    """
    trained, tested = QUICK_SIZES if data.quick else (None, TESTED)
    training = None if data.training is None else SpeechSet.of(data.training)
    division = divide_speech(SpeechSet.of(data.attacked), training, seed=data.seed)
    encoder = make_encoder(ENCODER)
    store = SpeechCache(data.work, encoder, data.jobs, data.progress, data.engine)
    train = _sample(division.train, trained, data.seed)
    test = _sample(division.trial, tested, data.seed)
    trained_on = store.anonymise(train, spec, attackers_secret(data.seed), f"{spec.label}, train")
    tested_on = store.anonymise(test, spec, operators_secret(data.seed), f"{spec.label}, test")
    return RecogniserComparison(
        SpeechForms(train, trained_on),
        SpeechForms(test, tested_on),
        store,
        ComparisonSettings(RecogniserSettings(seed=data.seed)),
    )


def _sample(speech: SpeechSet, most: int | None, seed: int) -> SpeechSet:
    if most is None or len(speech.corpus) <= most:
        return speech
    return speech.with_ids({u.id for u in sample_utterances(speech.corpus, most, seed)})


def described(comparison: RecogniserComparison) -> str:
    """Return the speech by name and size, as results quote it.

    Parameters
    ----------
    comparison : RecogniserComparison
        The recognisers.
    """
    train = comparison.train.original.corpus
    test = train if comparison.test is None else comparison.test.original.corpus
    return (
        f"{test.name}: {len(test):,} trials of {len(test.speakers)} speakers, recognisers trained "
        f"on {train.name}: {len(train):,} recordings of {len(train.speakers)} speakers"
    )


def _table_1(data: PaperData) -> ItemOutput:
    comparison = recogniser_comparison(data, ANONYMISER)
    cases = [case for case in PUBLISHED if not data.quick or case[1] is None]
    result, second = comparison.result(cases), recogniser_comparison(data, OTHER).result()
    rows = [row for case in cases for row in _rows(result, case)]
    why = (
        f"{len(comparison.train.original.corpus):,} recordings instead of a large corpus, features "
        "of a recogniser that was trained on originals and stays as it is, another anonymiser and "
        "other speakers"
    )
    compared = [
        Compared(
            f"WER in %, {case[0]} training, {_length(case[1])}, {tested} test",
            published,
            _percent(result, tested, case),
            why,
        )
        for case, values in ((case, PUBLISHED[case]) for case in cases)
        for tested, published in zip((ORIGINAL, ANONYMISED), values, strict=True)
    ]
    headings = ("trained on", "slices", "tested on", "published", "WER in %", "low", "high")
    return ItemOutput(
        f"{described(comparison)}; anonymiser {ANONYMISER.label}",
        tables=[
            paper_table("WER when training on slices", headings, rows, decimals=1),
            paper_table(
                "Whole recordings, by anonymiser",
                ("anonymiser", "case", "WER in %", "low", "high"),
                [*_four_cases(ANONYMISER.label, result), *_four_cases(OTHER.label, second)],
                decimals=1,
            ),
            paper_table(
                "Differences in percentage points, paired by speaker",
                ("anonymiser", "difference", "points", "low", "high"),
                [
                    *_difference_rows(ANONYMISER.label, result),
                    *_difference_rows(OTHER.label, second),
                ],
                decimals=1,
            ),
        ],
        compared=compared,
        remarks=[
            *(["A quick run leaves out slices, and trains on some recordings."] * data.quick),
            *(f"{ANONYMISER.label}: {line}" for line in retrained_readings(result)),
            *(f"{OTHER.label}: {line}" for line in retrained_readings(second)[:1]),
        ],
    )


def _length(seconds: float | None) -> str:
    return "whole" if seconds is None else f"slices of {seconds:g} s"


def _percent(result: RetrainedUtility, tested: str, case: Case) -> float | None:
    rate = result.rate(case_name(tested, case[0]), case[1])
    return None if rate is None else 100 * rate.value


def _rows(result: RetrainedUtility, case: Case) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for tested, published in zip((ORIGINAL, ANONYMISED), PUBLISHED[case], strict=True):
        rate = result.rate(case_name(tested, case[0]), case[1])
        if rate is not None:
            ends = [None if end is None else 100 * end for end in (rate.low, rate.high)]
            seconds = "none" if case[1] is None else f"{case[1]:g} s"
            rows.append((case[0], seconds, tested, published, 100 * rate.value, *ends))
    return rows


def _four_cases(label: str, result: RetrainedUtility) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for rate in result.rates:
        if rate.slice_seconds is None:
            ends = [None if end is None else 100 * end for end in (rate.low, rate.high)]
            rows.append((label, rate.case, 100 * rate.value, *ends))
    return rows


def _difference_rows(label: str, result: RetrainedUtility) -> list[tuple[Cell, ...]]:
    return [
        (
            label,
            difference_name(difference),
            100 * difference.value,
            *(None if end is None else 100 * end for end in (difference.low, difference.high)),
        )
        for difference in result.differences
    ]


ITEMS = (
    PaperItem(
        "004-table-1",
        "Utility when training a recogniser on slices",
        _table_1,
        ("transcripts", "training"),
    ),
)
