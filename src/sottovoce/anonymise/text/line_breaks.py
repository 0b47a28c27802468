"""Line breaks inside of a value that is replaced: the new text has as many lines as the old one."""

from __future__ import annotations

import re

_BREAK = re.compile(r"[^\S\r\n]*[\r\n]\s*")
_WORD = re.compile(r"\S+")


def keep_line_breaks(replacement: str, original: str) -> str:
    r"""Break a replacement into lines as the original was.

    A break stands after as many words as in the original, or at the end if there are fewer.

    Parameters
    ----------
    replacement : str
        What stands for a value.
    original : str
        The value, perhaps broken over several lines.

    Examples
    --------
    >>> keep_line_breaks("Joan Miller", "Ann\nLee"), keep_line_breaks("[PER]", "Ann\nLee")
    ('Joan\nMiller', '[PER]\n')
    """
    if "\n" not in original and "\r" not in original:
        return replacement
    breaks: dict[int, str] = {}
    words = _WORD.findall(replacement)
    for match in _BREAK.finditer(original):
        before = min(len(original[: match.start()].split()), len(words))
        breaks[before] = breaks.get(before, "") + match.group()
    pieces = [breaks.pop(0, "")]
    for i, word in enumerate(words, 1):
        blank = " " if i < len(words) else ""
        pieces += [word, breaks.get(i, blank)]
    return "".join(pieces)
