"""Document 003: Singling Out, Linkability and 1 − EER over population and conversation length."""

from __future__ import annotations

import math

from sottovoce.attack import ATTACKERS, Attacker
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.corpus.audio import load_length
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import CurvePoint, Reidentification
from sottovoce.measure import ReidentificationSettings, reidentify
from sottovoce.papers.data import PaperData, corpus_remarks
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import (
    Compared,
    ItemOutput,
    PaperTable,
    knowledge_remarks,
    paper_table,
    reidentification_cautions,
)
from sottovoce.papers.speech import ORIGINALS, SpeechStudy, open_study
from sottovoce.report.reidentification import CURVES, population_axis
from sottovoce.report.svg import Axis, Figure, Line, arrange, line_chart

ANONYMISER = AnonymiserSpec("xvector")
"""Stands for the baseline B1 of the VoicePrivacy Challenge 2024."""
SIMILAR = AnonymiserSpec("xvector", {"proximity": "random", "pitch": "none"})
"""Stands for the older baseline that the document's semi-informed attacker has."""

MEASURES = ("singling_out", "linkability", "one_minus_rocch_eer")
"""Rows of Figure 1."""
LENGTHS = (1, 3, 30)
"""Columns of Figure 1: utterances a conversation."""
SMALLEST = 20
"""Speakers in the smallest population of the document."""

FORMS = {
    "Original": (None, ORIGINALS),
    "Informed": (ANONYMISER, ATTACKERS["semi-informed"]),
    "Semi-Informed": (ANONYMISER, ATTACKERS["near-informed"]),
    "Ignorant": (ANONYMISER, ATTACKERS["lazy-informed"]),
}
"""The document's attackers by their names there. All of them have anonymised enrolment speech; they
differ in the speech they train on, which here is that of the linkage function."""

BY_KNOWLEDGE = ("Ignorant", "Semi-Informed", "Informed")
"""The attackers on anonymised speech in rising order of what they know."""

PUBLISHED_DATASETS = {
    "LibriSpeech train-clean-360": (439, 482, 921, 364.0, 104_014),
    "Common Voice 11.0 A": (5_601, 16_423, 22_024, 323.0, 234_945),
    "Common Voice 11.0 B": (1_354, 3_595, 4_949, 1_409.0, 996_971),
}
"""Table 1: female, male, all speakers, hours, utterances."""

_REIDENTIFIED = Step("reidentified", records_of(Reidentification))


def reidentification_by_attacker(
    data: PaperData,
) -> tuple[SpeechStudy, dict[str, Reidentification]]:
    """Measure all three quantities for originals and each of the document's attackers.

    Parameters
    ----------
    data : PaperData
        The crowd is attacked, or the corpus where no crowd is named.
    """
    study = open_study(data, crowd=True)
    steps = StepCache(data.work / "steps")
    results = {}
    for name, (spec, attacker) in FORMS.items():
        key = [*study.key, spec, SIMILAR, name, data.seed]
        results[name] = steps.get(
            _REIDENTIFIED,
            key,
            lambda s=spec, a=attacker: _reidentify(study, s, a),  # type: ignore[misc]
        )
    return study, results


def _reidentify(
    study: SpeechStudy, spec: AnonymiserSpec | None, attacker: Attacker
) -> Reidentification:
    sets = study.sets(spec, [attacker], similar=SIMILAR)
    trained = study.trained(sets, attacker, "best")
    trial = sets["trial", "released"]
    lengths = tuple(length for length in LENGTHS if length <= int(trial.counts.max()))
    settings = ReidentificationSettings(
        lengths=lengths, swap_roles=False, confidence=None, seed=study.seed
    )
    return reidentify(sets["enrol", attacker.enrolment], trial, trained.linkage, settings=settings)


def _figure_1(data: PaperData) -> ItemOutput:
    study, results = reidentification_by_attacker(data)
    lengths = sorted({point.length for point in results["Original"].linkability})
    panels = [_panel(measure, length, results) for measure in MEASURES for length in lengths]
    figure = arrange(
        "Re-identification over population size",
        "Rows: Singling Out, Linkability, 1 − EER. Columns: utterances a conversation.",
        panels,
        columns=len(lengths),
    )
    remarks = [
        _names_here(),
        *_knowledge_remarks(results),
        "The document trains the speaker encoder itself on anonymised speech; here the encoder "
        "stays as it is and the linkage function is trained so. docs/results.md has retrained "
        "encoders.",
        "Expectations over random populations are exact, except Singling Out, which is simulated.",
        "Singling Out makes its predicates from the enrolment speech and draws populations from "
        "the trials, since thresholds are set with several recordings of each speaker and a part "
        "of a corpus has more trials. The document does the reverse, its enrolment set being "
        "larger; so does sottovoce reidentify --swap-roles.",
        *corpus_remarks(study.attacked.corpus),
        *reidentification_cautions(results.values()),
    ]
    missing = [str(length) for length in LENGTHS if length not in lengths]
    if missing:
        remarks.append(
            f"No conversations of {', '.join(missing)} utterances: the corpus has fewer a speaker. "
            "A corpus with more runs with --crowd."
        )
    return ItemOutput(
        study.described,
        tables=[_values(results)],
        drawings={"figure-1": figure},
        compared=_compared(results),
        remarks=remarks,
    )


def _names_here() -> str:
    """What the document's attackers are called in this package."""
    pairs = (f"{name} is {FORMS[name][1].name}" for name in BY_KNOWLEDGE)
    return f"Attackers have the document's names here; elsewhere {', '.join(pairs)}."


def _knowledge_remarks(results: dict[str, Reidentification]) -> list[str]:
    """Attackers that link less than those that know less, by measure."""
    remarks = []
    for measure in MEASURES:
        curves = {
            name: {
                f"L = {point.length}, {point.population:,} speakers": point.value
                for point in results[name].curve(measure)
            }
            for name in BY_KNOWLEDGE
        }
        remarks += knowledge_remarks(CURVES[measure].label, curves)
    return remarks


def _panel(measure: str, length: int, results: dict[str, Reidentification]) -> Figure:
    """All attackers and chance at one conversation length."""
    lines, sizes = [], []
    for style, (name, result) in enumerate(results.items(), start=1):
        points = [point for point in result.curve(measure) if point.length == length]
        if not points:
            continue
        x = [math.log10(point.population) for point in points]
        lines.append(Line(name, x, [point.value for point in points], style))
        sizes += [point.population for point in points]
        chance = Line("Trivial", x, [point.chance for point in points], 0)
    label = CURVES[measure].label
    if not lines:
        return line_chart(
            f"{label}, L = {length}: too few recordings",
            "Nothing was measured.",
            Axis("speakers in the population", 1, 4),
            Axis.nice(label, 0, 1),
            [],
        )
    return line_chart(
        f"{label}, L = {length}",
        "Higher is a higher risk.",
        population_axis(sizes),
        Axis.nice(label, 0, 1.02),
        [*lines, chance],
    )


def _values(results: dict[str, Reidentification]) -> PaperTable:
    rows = [
        (CURVES[measure].label, name, point.length, point.population, point.value, point.chance)
        for measure in MEASURES
        for name, result in results.items()
        for point in result.curve(measure)
    ]
    headings = ("measure", "attacker", "L", "speakers", "value", "chance")
    return paper_table("All values", headings, rows)


def _compared(results: dict[str, Reidentification]) -> list[Compared]:
    why = (
        "Other speech, anonymiser and encoder; the document has 20 to 22,024 speakers of Common "
        "Voice"
    )
    published = {
        ("linkability", "Original"): (0.82, 0.35),
        ("linkability", "Informed"): (0.77, 0.21),
        ("singling_out", "Original"): (0.57, 0.38),
    }
    compared = []
    for (measure, name), ends in published.items():
        points = [point for point in results[name].curve(measure) if point.length == 1]
        ours = [min(points, key=_from_smallest_crowd), points[-1]] if points else []
        for i, value in enumerate(ends):
            crowd = (f"{SMALLEST}", "10,000" if measure == "linkability" else "22,024")[i]
            size = f"{ours[i].population:,}" if ours else "–"
            compared.append(
                Compared(
                    f"{CURVES[measure].label}, {name}, L = 1, {crowd} speakers (here {size})",
                    value,
                    ours[i].value if ours else None,
                    why,
                )
            )
    return compared


def _from_smallest_crowd(point: CurvePoint) -> float:
    """How far the size of a population is from the smallest published one."""
    return abs(math.log(point.population / SMALLEST))


def _table_1(data: PaperData) -> ItemOutput:
    corpora = {"attacked": data.attacked, "training": data.training, "crowd": data.many}
    rows: list[tuple[str | int | float | None, ...]] = [
        (name, *counts) for name, counts in PUBLISHED_DATASETS.items()
    ]
    for role, corpus in corpora.items():
        if corpus is not None:
            rows.append((f"{corpus.name} ({role})", *_statistics(corpus)))
    headings = ("data set", "female", "male", "speakers", "hours", "utterances")
    return ItemOutput(
        "the corpora that this run names",
        tables=[paper_table("Data sets, published and here", headings, rows, decimals=2)],
        remarks=[
            "sottovoce corpus select chooses speakers by net speech, minutes and noise, and "
            "divides a corpus into A and B, as the document does with Common Voice."
        ],
    )


def _statistics(corpus: Corpus) -> tuple[int, int, int, float, int]:
    genders = {utterance.speaker: utterance.gender for utterance in corpus}
    counts = [sum(gender == wanted for gender in genders.values()) for wanted in ("f", "m")]
    hours = sum(load_length(utterance).seconds for utterance in corpus) / 3600
    return counts[0], counts[1], len(genders), hours, len(corpus)


ITEMS = (
    PaperItem("003-figure-1", "Singling Out, Linkability and 1 − EER over population", _figure_1),
    PaperItem("003-table-1", "Statistics of the data sets", _table_1, whole=True),
)
