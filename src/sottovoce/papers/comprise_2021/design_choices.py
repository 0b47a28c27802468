"""The grid of design choices of x-vector anonymisation (Figures 5 to 11), each attacked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from sottovoce.attack import ATTACKERS
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.core.records import Record
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.measure import eer, linkability
from sottovoce.papers.data import PaperData, PartSize
from sottovoce.papers.speech import ORIGINALS, SpeechStudy, open_study

DISTANCES = ("cosine", "plda")
PROXIMITIES = ("random", "near", "far", "dense", "sparse")
GENDERS = ("same", "opposite", "random")
ASSIGNMENTS = ("speaker", "utterance")
PITCHES = ("none", "gaussian", "percentile")
ATTACKER_NAMES = ("ignorant", "lazy-informed", "semi-informed")

TAKEN_FOR_OTHERS = "plda"
"""The distance of the combinations that other choices are compared in, as in the document."""
QUICK_PART = PartSize(speakers=8, enrol=2, trial=4)
RECOGNISED = 60
"""Trials that are recognised for each choice, at most."""


@dataclass(frozen=True, slots=True)
class Choice(Record):
    """One combination of design choices."""

    distance: str
    proximity: str
    gender: str
    assignment: str
    pitch: str = "none"

    @property
    def spec(self) -> AnonymiserSpec:
        """The anonymiser with these choices."""
        return AnonymiserSpec("xvector", self.to_dict())


@dataclass(frozen=True, slots=True)
class ChoiceResult(Record):
    """Privacy and utility of one combination under one attacker."""

    choice: Choice
    attacker: str
    d_sys: float
    eer: float
    wer: float | None
    """None where the corpus has no transcripts, or no recogniser is installed."""


_RESULT = Step("design-choice", records_of(ChoiceResult))


def all_choices(quick: bool) -> list[Choice]:
    """List the combinations without change of pitch.

    Parameters
    ----------
    quick : bool
        A third of them: with PLDA every proximity with every gender, with the cosine every
        proximity with one gender, both assignments in turn.
    """
    if not quick:
        return [Choice(*values) for values in product(DISTANCES, PROXIMITIES, GENDERS, ASSIGNMENTS)]
    return [
        Choice(distance, proximity, gender, ASSIGNMENTS[(i + j) % 2])
        for distance in DISTANCES
        for i, proximity in enumerate(PROXIMITIES)
        for j, gender in enumerate(GENDERS)
        if distance == TAKEN_FOR_OTHERS or j == i % len(GENDERS)
    ]


def compared_choices(field: str, quick: bool) -> list[Choice]:
    """List the combinations in which the values of one choice are compared.

    What differs between two values is this choice, not the others: every value of it occurs with
    the same combinations of the others, or, for the assignment in a quick run, nearly so.

    Parameters
    ----------
    field : str
        Name of a choice, such as ``gender``.
    quick : bool
        A part of them.
    """
    choices = all_choices(quick)
    if field != "distance":
        return [choice for choice in choices if choice.distance == TAKEN_FOR_OTHERS]
    return [
        choice
        for choice in choices
        if all(replace(choice, distance=distance) in choices for distance in DISTANCES)
    ]


def dense_choices(proximity: str, quick: bool) -> list[Choice]:
    """List the combinations of Figures 9 to 11: PLDA and one proximity.

    Parameters
    ----------
    proximity : str
        ``random`` or ``dense``.
    quick : bool
        Those that :func:`all_choices` has anyway.
    """
    return [
        choice for choice in compared_choices("proximity", quick) if choice.proximity == proximity
    ]


class DesignStudy:
    """Attacks on combinations of design choices, each made once.

    Parameters
    ----------
    data : PaperData
        The corpora.
    """

    def __init__(self, data: PaperData) -> None:
        self.data = data
        # none of the three attackers enrols with released speech
        self.study: SpeechStudy = open_study(data, QUICK_PART, released_enrolment=False)
        self.steps = StepCache(data.work / "steps")

    def result(self, choice: Choice, attacker: str) -> ChoiceResult:
        """Attack one combination.

        Parameters
        ----------
        choice : Choice
            The combination.
        attacker : str
            Name of an attacker.
        """
        words = self.study.words_key(RECOGNISED)
        key = [*self.study.key, words, choice, attacker, self.data.seed]
        return self.steps.get(_RESULT, key, lambda: self._attack(choice, attacker))

    def _attack(self, choice: Choice, attacker: str) -> ChoiceResult:
        table = self.study.table(choice.spec, ATTACKERS[attacker], over="utterance")
        scores = table.scores()
        return ChoiceResult(
            choice,
            attacker,
            linkability(scores, permutations=0).d_sys,
            eer(scores),
            self.study.word_errors(choice.spec, RECOGNISED).value,
        )

    def results(self, choices: Sequence[Choice], attackers: Sequence[str]) -> list[ChoiceResult]:
        """Attack several combinations, with progress.

        Parameters
        ----------
        choices : sequence of Choice
            The combinations.
        attackers : sequence of str
            Names of attackers.
        """
        runs = list(product(choices, attackers))
        results = []
        for done, (choice, attacker) in enumerate(runs):
            if self.data.progress:
                self.data.progress("design choices", done, len(runs))
            results.append(self.result(choice, attacker))
        return results

    def original_linkability(self) -> float:
        """Return D_sys of originals."""
        scores = self.study.table(None, ORIGINALS, over="utterance").scores()
        return linkability(scores, permutations=0).d_sys


def by_value(results: Sequence[ChoiceResult], field: str) -> dict[str, list[ChoiceResult]]:
    """Group results by the value of one choice, or by attacker.

    Parameters
    ----------
    results : sequence of ChoiceResult
        All of them.
    field : str
        Name of a field of :class:`Choice`, or ``attacker``.
    """
    groups: dict[str, list[ChoiceResult]] = {}
    for result in results:
        value = result.attacker if field == "attacker" else str(getattr(result.choice, field))
        groups.setdefault(value, []).append(result)
    return groups
