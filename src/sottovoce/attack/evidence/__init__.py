"""Evidence besides the voice: what a recording tells about its speaker in other ways.

Every kind of evidence is an encoder, so that it is embedded, stored, linked and checked like a
voice. ``EVIDENCE`` holds all kinds by name. Further speaker encoders that other packages register
join as evidence too: what one encoder does not hear, another may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from sottovoce.asr.recogniser import DEFAULT_RECOGNISER, understands
from sottovoce.attack.evidence.block import Describer, EvidenceEncoder
from sottovoce.attack.evidence.durations import Durations
from sottovoce.attack.evidence.energy import Energy, Spectrum
from sottovoce.attack.evidence.pitch import Pitch
from sottovoce.attack.evidence.rhythm import Rhythm
from sottovoce.attack.evidence.words import Transcriber, Words
from sottovoce.core.errors import SottovoceError
from sottovoce.speaker.concatenation import ConcatenatedEncoder
from sottovoce.speaker.encoders import ENCODERS, Encoder


@dataclass(frozen=True, slots=True)
class EvidenceKind:
    """A kind of evidence: how to make its encoder, and what to say about it."""

    make: Callable[[], Describer]
    """May raise a :class:`SottovoceError` where something is not installed."""
    phrase: str
    """What links, for sentences and tables, such as ``pitch``."""
    caution: str = ""
    """What else than the speaker may be behind a link."""
    needs_words: bool = False
    """Whether it takes a recogniser that understands the language."""


@cache
def _transcriber() -> Transcriber:
    return Transcriber()


EVIDENCE: dict[str, EvidenceKind] = {
    "pitch": EvidenceKind(Pitch, "pitch (level, range and movement)"),
    "rhythm": EvidenceKind(Rhythm, "rhythm (rate and pauses)"),
    "energy": EvidenceKind(Energy, "loudness (range and modulation)"),
    "spectrum": EvidenceKind(
        Spectrum,
        "the long-term spectrum",
        "recordings of one microphone and room share it, whoever speaks",
    ),
    "durations": EvidenceKind(
        lambda: Durations(_transcriber()), "the length of sounds and pauses", needs_words=True
    ),
    "words": EvidenceKind(
        lambda: Words(_transcriber()),
        "the words",
        "recordings about one topic, such as those of one session, share words, whoever speaks",
        needs_words=True,
    ),
}
"""Kinds of evidence by name."""


@dataclass(frozen=True, slots=True)
class AvailableEvidence:
    """Encoders of the evidence that can be used, and why others cannot."""

    encoders: tuple[Encoder, ...]
    missing: dict[str, str]
    """Reason by name."""


def available_evidence(languages: Iterable[str] = ()) -> AvailableEvidence:
    """Make the encoders of all kinds of evidence that can be used here.

    Parameters
    ----------
    languages : iterable of str, optional
        Languages of the recordings; evidence from words is left out if the recogniser does not
        understand all of them.
    """
    unknown = sorted({name for name in languages if not understands(DEFAULT_RECOGNISER, name)})
    encoders: list[Encoder] = []
    missing: dict[str, str] = {}
    for name, kind in EVIDENCE.items():
        if kind.needs_words and unknown:
            missing[name] = f"the recogniser does not understand {', '.join(unknown)}"
            continue
        try:
            encoders.append(EvidenceEncoder(kind.make()))
        except SottovoceError as error:
            missing[name] = str(error)
    return AvailableEvidence(tuple(encoders), missing)


def with_evidence(encoder: Encoder, evidence: AvailableEvidence) -> ConcatenatedEncoder:
    """Join a speaker encoder with all other evidence.

    Parameters
    ----------
    encoder : Encoder
        Describes the voice; the first block.
    evidence : AvailableEvidence
        What is joined to it, after the other speaker encoders that are registered: behind an
        encoder that was trained anew, that is the one it was trained from.
    """
    parts = [encoder]
    for name in ENCODERS:
        with suppress(SottovoceError):  # an encoder that needs what is not installed
            other = ENCODERS[name]()
            if all(other.card.name != part.card.name for part in parts):
                parts.append(other)
    return ConcatenatedEncoder([*parts, *evidence.encoders])
