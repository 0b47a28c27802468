"""Warnings about results: a code for programs and a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass

FEW_SPEAKERS = 30
"""With fewer speakers, a kind of speaker that is one in ten is easily missing altogether."""


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning: a code for programs and a sentence for people."""

    code: str
    message: str


def few_speakers(speakers: int, *, simulated: str = "") -> list[Caution]:
    """Warn that intervals over few speakers do not cover a rare kind of speaker.

    Parameters
    ----------
    speakers : int
        How many speakers have mated trials.
    simulated : str, optional
        What simulations showed about the intervals in question, as the rest of a sentence.

    Returns
    -------
    list of Caution
        ``few-speakers`` with fewer than 30, otherwise nothing.
    """
    if speakers >= FEW_SPEAKERS:
        return []
    message = (
        f"mated trials of {speakers} speakers only: where one speaker in ten is much more exposed "
        f"than the others, {0.9**speakers:.0%} of such sets hold none of them, and the intervals "
        "do not cover what was never seen"
    )
    return [Caution("few-speakers", f"{message}; {simulated}" if simulated else message)]
