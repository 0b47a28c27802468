"""Document 000, the privacy ZEBRA: ECE profiles, categories of the worst case, the example."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sottovoce.attack import ATTACKERS, ScoreTable
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.findings import ScoreCurves
from sottovoce.measure import Scores, score_curves
from sottovoce.measure.disclosure import FULL_DISCLOSURE, TAGS, tag_of
from sottovoce.papers.data import PaperData, PartSize
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Compared, ItemOutput, paper_table
from sottovoce.papers.speech import ORIGINALS, SpeechStudy, open_study
from sottovoce.report.scores import ece_figure
from sottovoce.report.svg import Figure, arrange

BASELINES = {
    "B1": AnonymiserSpec("xvector"),
    "B2": AnonymiserSpec("mcadams", {"coefficient": 0.8}),
}
"""The two baselines of the VoicePrivacy Challenge 2020 by what stands for them here; B2 had one
coefficient for everybody."""

PUBLISHED = {
    "original": (0.58, 3.98, "C"),
    "B1": (0.11, 2.27, "C"),
    "B2": (0.36, 3.58, "C"),
}
"""D_ECE in bits, log10(l) and category, section 4.3."""

QUICK_PART = PartSize(speakers=40, enrol=2, trial=4)
"""More speakers than in other quick runs, since only the women among them are compared."""

LIMITS = {"0": 0.0, "A": 0.5, "B": 1.0, "C": 2.0, "D": 4.0, "E": 5.0, "F": 6.0}
"""A worst case log10(l) in each category: its lower end where that belongs to it."""


def _figure_2(data: PaperData) -> ItemOutput:
    """Scores of two unit Gaussians two deviations apart; the document names no scores."""
    rng = np.random.default_rng(data.seed)
    scores = Scores(rng.normal(2, 1, 2000), rng.normal(0, 1, 20_000), name="adversary")
    curves = {"adversary": score_curves(scores)}
    figure = arrange(
        "Perfect privacy and the adversary's ECE",
        "Left over the prior, right over its log-odds.",
        [ece_figure(curves, over_prior=True), ece_figure(curves)],
        columns=2,
    )
    d_ece = curves["adversary"].d_ece
    return ItemOutput(
        "simulated scores, N(2, 1) mated and N(0, 1) non-mated; the document names none",
        drawings={"figure-2": figure},
        compared=[
            Compared("largest D_ECE, 1/(2 ln 2), bits", 0.721, FULL_DISCLOSURE),
            Compared(
                "ECE of perfect privacy at π = 1/2, bits",
                1.0,
                max(curves["adversary"].ece.zero_evidence),
            ),
        ],
        remarks=[f"The area between the lines over the prior is D_ECE: {d_ece:.3f} bits here."],
    )


def _table_1(data: PaperData) -> ItemOutput:
    rows = [(tag, low, tag_of(low), 1 / (1 + 10**low), TAGS[tag]) for tag, low in LIMITS.items()]
    agree = all(row[0] == row[2] for row in rows)
    return ItemOutput(
        "the limits of the document",
        tables=[
            paper_table(
                "Categories of the worst case",
                ("category", "log10(l)", "category here", "wrong at a flat prior", "in words"),
                rows,
                decimals=7,
            )
        ],
        compared=[Compared("category at each limit", "0 A B C D E F", "equal" if agree else "not")],
        remarks=[
            "A limit belongs to the higher category: 10¹ is B. The document's one wrong in 10 to "
            "100 is the posterior 1/(1 + l), one in 11 to 101."
        ],
    )


def _women(study: SpeechStudy) -> set[str]:
    """The female speakers, as in the document; empty if fewer than two are known."""
    women = {u.speaker for u in study.attacked.corpus if u.gender == "f"}
    return women if len(women) > 1 else set()


def _among(table: ScoreTable, speakers: set[str]) -> Scores:
    """Scores among some speakers; among all if there are none."""
    if not speakers:
        return table.scores()
    enrolled = np.isin(table.enrolled, sorted(speakers))
    tried = np.isin(table.speakers, sorted(speakers))
    pairs = np.outer(enrolled, tried)
    return Scores(table.values[table.mated & pairs], table.values[table.nonmated & pairs])


def _curves(data: PaperData) -> tuple[SpeechStudy, Mapping[str, ScoreCurves]]:
    """Compare models of enrolled speakers with trial recordings, as the document does."""
    study = open_study(data, QUICK_PART)
    tables = {"original": study.table(None, ORIGINALS)}
    for attacker in ("ignorant", "lazy-informed"):
        for name, spec in BASELINES.items():
            tables[f"{name}, {attacker}"] = study.table(spec, ATTACKERS[attacker])
    women = _women(study)
    return study, {name: score_curves(_among(table, women)) for name, table in tables.items()}


def _described(study: SpeechStudy) -> str:
    women = _women(study)
    chosen = f"scores among the {len(women)} women of" if women else "no women known, so all of"
    return f"{chosen} {study.described}"


_WHY = (
    "Other speakers, other systems (B1 is our x-vector anonymiser, B2 our McAdams) and another "
    "encoder; the worst case grows with the number of scores"
)


def _figure_3(data: PaperData) -> ItemOutput:
    study, curves = _curves(data)
    return _assessment(study, curves, {"figure-3": ece_figure(curves)})


def _section_4_3(data: PaperData) -> ItemOutput:
    return _assessment(*_curves(data), {})


def _assessment(
    study: SpeechStudy, curves: Mapping[str, ScoreCurves], drawings: Mapping[str, Figure]
) -> ItemOutput:
    compared = []
    for name, (d_ece, worst, tag) in PUBLISHED.items():
        attacks = [attack for attack in curves if attack.partition(",")[0] == name]
        label = max(attacks, key=lambda attack: curves[attack].d_ece)
        mine = curves[label]
        compared += [
            Compared(f"D_ECE, {label}, bits", d_ece, mine.d_ece, _WHY),
            Compared(f"log10(l), {label}", worst, mine.worst_case_log10_lr, _WHY),
            Compared(f"category, {label}", tag, mine.tag, _WHY if mine.tag != tag else ""),
        ]
    rows = [(name, c.d_ece, c.worst_case_log10_lr, c.tag, c.eer) for name, c in curves.items()]
    return ItemOutput(
        _described(study),
        tables=[
            paper_table(
                "ZEBRA assessment",
                ("speech and attacker", "D_ECE", "log10(l)", "category", "EER"),
                rows,
            )
        ],
        drawings=drawings,
        compared=compared,
        remarks=[
            "The document does not name the attacker. Of an ignorant one and one that anonymises "
            "its enrolment speech, the one to whom more is disclosed stands beside it."
        ],
    )


ITEMS = (
    PaperItem(
        "000-figure-2", "ECE profiles of perfect privacy and of an adversary", _figure_2, whole=True
    ),
    PaperItem("000-table-1", "Categories of worst-case privacy disclosure", _table_1, whole=True),
    PaperItem("000-figure-3", "ZEBRA assessment with ECE profiles", _figure_3),
    PaperItem("000-section-4.3", "The example: D_ECE, log10(l) and category", _section_4_3),
)
