"""Which words of an utterance are private, by index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.anonymise.text.multilingual_detector import AnyDetector, make_detector


@dataclass(frozen=True, slots=True)
class PrivateWords:
    """Words of a list that are private, from ``start`` to before ``end``."""

    start: int
    end: int
    kind: str
    """Entity type, such as ``PER``."""
    rule: str
    """What found them."""


def find_private(
    words: Sequence[str], lang: str, *, detector: AnyDetector | None = None
) -> list[PrivateWords]:
    """Find which words of an utterance are private, by index: for words that have times.

    A word is private if any of its characters is.

    Parameters
    ----------
    words : sequence of str
        The words of the utterance.
    lang : str
        Language code, ``auto`` or ``multi``.
    detector : AnyDetector, optional
        By default one of the language with its default settings.

    Examples
    --------
    >>> private = find_private(["call", "ann", "lee"], "en")
    >>> [(words.start, words.end, words.kind) for words in private]
    [(1, 3, 'PER')]
    """
    findings = (detector or make_detector(lang)).find([" ".join(words)])[0]
    starts, position = [], 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    private: list[PrivateWords] = []
    for finding in findings:
        inside = [
            i
            for i, (start, word) in enumerate(zip(starts, words, strict=True))
            if start < finding.end and finding.start < start + len(word)
        ]
        first = max(inside[0], private[-1].end) if private else inside[0]
        if first <= inside[-1]:
            private.append(PrivateWords(first, inside[-1] + 1, finding.kind, finding.rule))
    return private
