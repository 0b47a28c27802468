"""Which stronger attack would be worth trying, in words.

An attack that fails says little as long as a stronger one is at hand. The advice names what this
attack did not use: representations that were not tried or not available, more draws, more training
speakers, and better attempts that held-out speakers did not choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.findings import UnavailableRepresentation

ENOUGH_DRAWS = 3
"""With fewer draws, more of them are worth trying."""
ENOUGH_SPEAKERS = 100
"""With fewer training speakers, more of them are worth trying."""
SIGNIFICANT = 0.05
"""A larger p-value does not tell an attack from chance."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What an attack made use of."""

    tried: Sequence[str]
    """Representations that were tried."""
    known: Sequence[str]
    """All representations that there are."""
    unavailable: Sequence[UnavailableRepresentation]
    draws: int | None
    """How many times the attacker anonymised its speech; None if it could not."""
    speakers: int
    """Training speakers."""
    p_value: float | None
    """Of the attack against chance."""


def advise(effort: Effort) -> tuple[str, ...]:
    """Return what a stronger attack would do, most promising first.

    Parameters
    ----------
    effort : Effort
        What the attack made use of.
    """
    refused = {entry.name: entry.reason for entry in effort.unavailable}
    untried = [name for name in effort.known if name not in {*effort.tried, *refused}]
    lines = []
    if untried:
        lines.append(f"try linkage strongest, which also uses the encoder {', '.join(untried)}")
    lines += [f"{name} was not available: {reason}" for name, reason in refused.items()]
    if effort.draws is not None and effort.draws < ENOUGH_DRAWS:
        lines.append(
            f"anonymise enrolment and training speech more often than {_times(effort.draws)}: "
            f"draws {ENOUGH_DRAWS} or more"
        )
    if effort.speakers < ENOUGH_SPEAKERS:
        lines.append(f"train on more than {effort.speakers} speakers")
    if effort.p_value is not None and effort.p_value > SIGNIFICANT:
        lines.append(
            f"attack more speakers or trials: with these the attack cannot be told from names "
            f"exchanged at random (p = {effort.p_value:.2f})"
        )
    return tuple(lines)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
