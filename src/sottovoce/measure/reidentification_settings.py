"""What a re-identification study measures, and how."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.core.errors import InputError
from sottovoce.measure.intervals import check_confidence
from sottovoce.measure.population_sizes import default_populations

LENGTHS = (1, 3, 30)
LARGEST = 10**6
"""Largest value of any count among the settings."""


@dataclass(frozen=True, slots=True)
class ReidentificationSettings:
    """What is measured, and how."""

    lengths: tuple[int, ...] = LENGTHS
    """Conversation lengths, in utterances."""
    populations: tuple[int, ...] | None = None
    """Population sizes; default 20, 40, 80, … and everybody."""
    k: int = 20
    """Of top-k."""
    conversations: int = 10
    """Conversations a trial speaker contributes at most."""
    enrolled: int = 495
    """Enrolment speakers whose predicates are tried in Singling Out, at most."""
    enrol_utterances: int = 30
    """Utterances a predicate is made of, at most."""
    draws: int = 100
    """Random populations in Singling Out."""
    core: bool = False
    """Whether all trial speakers are part of every population, as in the COMPRISE study."""
    swap_roles: bool = False
    """Singling Out takes its predicates from the trial set and its populations from the enrolment
    set, as the published study does with its sets A and B."""
    literal: bool = False
    """Follow the published protocol: 5 draws, one conversation per speaker."""
    confidence: float | None = 0.95
    """Of the intervals; None for no intervals."""
    seed: int = 0

    def sizes(self, everybody: int) -> list[int]:
        """Population sizes that can be drawn from so many speakers.

        Parameters
        ----------
        everybody : int
            How many speakers there are.
        """
        if self.populations is None:
            return default_populations(everybody)
        return sorted({size for size in self.populations if 2 <= size <= everybody})

    def check(self) -> None:
        """Refuse values that no study can have."""
        for name in ("k", "conversations", "enrolled", "enrol_utterances", "draws"):
            if not 1 <= getattr(self, name) <= LARGEST:
                raise InputError(
                    f"{name} {getattr(self, name)}: must be 1 to {LARGEST:,}", code="out-of-range"
                )
        if self.core and self.literal:
            raise InputError("core and literal are two protocols; ask for one", code="conflict")
        if self.seed < 0:
            raise InputError(f"seed {self.seed}: must be 0 or more", code="out-of-range")
        if not self.lengths or min(self.lengths) < 1:
            raise InputError(
                f"lengths {self.lengths}: each must be at least 1 utterance", code="out-of-range"
            )
        if self.confidence is not None:
            check_confidence(self.confidence)

    def check_populations(self, enrolled: int, tested: int) -> list[int]:
        """Return the population sizes of a study; refuse those that cannot be drawn.

        Parameters
        ----------
        enrolled : int
            How many speakers are enrolled.
        tested : int
            How many speakers the trials have.
        """
        most = max(enrolled, tested)
        for size in self.populations or ():
            if not 2 <= size <= most:
                raise InputError(
                    f"population {size}: must be 2 to {most:,}, the speakers at hand",
                    code="out-of-range",
                )
        sizes = self.sizes(enrolled)
        if not sizes:
            raise InputError(
                f"populations {self.populations}: none is 2 to {enrolled:,}, the enrolled speakers",
                code="out-of-range",
            )
        return sizes
