"""Words with times: which new words stand for which old ones, and when."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sottovoce.anonymise.text.anonymised_text import AnonymisedText


def is_time(value: object) -> bool:
    """Tell whether a time is left out, or a finite number of seconds from 0.

    Parameters
    ----------
    value : object
        What stands in the place of a time.
    """
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= sys.float_info.max


def equal_cuts(start: float, end: float, count: int) -> list[float]:
    """Return the times that cut an interval into equal parts.

    Parameters
    ----------
    start, end : float
        The interval, in seconds.
    count : int
        Number of parts.
    """
    return [round(start + (end - start) * i / max(count, 1), 4) for i in range(count + 1)]


def regroup(words: Sequence[str], result: AnonymisedText) -> list[tuple[int, int, str | None]]:
    """Assign the new text to the old words that it replaces.

    Parameters
    ----------
    words : sequence of str
        The old words; joined by blanks they are the text that was anonymised.
    result : AnonymisedText
        The new text.

    Returns
    -------
    list of (int, int, str or None)
        Groups of old words (the first, and the one after the last) with their new text. None marks
        a word that stays, unlike a word whose replacement happens to be the same.
    """
    starts, position = [], 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    text = " ".join(words)
    spans = [span for span in result.spans if span.replacement is not None]
    groups: list[tuple[int, int, str | None]] = []
    i = current = 0
    while i < len(words):
        first, copied, end, new = i, starts[i], starts[i] + len(words[i]), ""
        unchanged = current == len(spans) or spans[current].start >= end
        while current < len(spans) and spans[current].start < end:
            while spans[current].end > end:
                i += 1
                end = starts[i] + len(words[i])
            new += text[copied : spans[current].start] + str(spans[current].replacement)
            copied = spans[current].end
            current += 1
        groups.append((first, i + 1, None if unchanged else new + text[copied:end]))
        i += 1
    return groups
