"""Traits of speakers that are inferred from what they say."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.core.records import Record


@dataclass(frozen=True, slots=True)
class TextTraitScore(Record):
    """How well a trait is inferred, for one kind of training and test text."""

    trained_on: str
    """``original`` or ``anonymised`` text."""
    tested_on: str
    """``original`` or ``anonymised`` text."""
    pooled: int | None
    """Utterances of a speaker behind one answer; None for all of them."""
    answers: int
    """How many answers were given."""
    macro_f1: float
    """Mean over the values of the trait of F1."""
    low: float
    high: float
    """Interval over speakers."""
    accuracy: float
    chance: float
    """Macro-F1 of the same answers with the traits of speakers exchanged at random."""
    p_value: float
    """Share of such exchanges with a macro-F1 as high, the answers themselves counted in."""


@dataclass(frozen=True, slots=True)
class TextTraits(Record):
    """A trait inferred from text before and after a transformation."""

    attribute: str
    values: tuple[str, ...]
    speakers: int
    utterances: int
    """With at least ``least_words`` words."""
    least_words: int
    transformation: str | None
    """What was done to the text; None where only the original was attacked."""
    split: str
    """``speaker``: no speaker is in training and test; ``utterance``: some are, as in COMPRISE
    D2.3, which lets an attacker recognise people instead of traits."""
    majority_f1: float
    """Macro-F1 of always giving the most frequent answer."""
    majority_accuracy: float
    confidence: float
    scores: tuple[TextTraitScore, ...]
    changed: float | None
    """Share of utterances that the transformation changed; None without one."""

    def score(self, trained_on: str, tested_on: str, pooled: int | None) -> TextTraitScore | None:
        """Return one cell of the table, or None if it is not there.

        Parameters
        ----------
        trained_on, tested_on : {"original", "anonymised"}
            The texts.
        pooled : int or None
            Utterances behind one answer.
        """
        wanted = (trained_on, tested_on, pooled)
        for score in self.scores:
            if (score.trained_on, score.tested_on, score.pooled) == wanted:
                return score
        return None
