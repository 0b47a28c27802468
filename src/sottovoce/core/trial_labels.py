"""Words that say whether a pair is mated; every reader of trials and scores takes the same ones."""

from __future__ import annotations

MATED = ("mated", "target", "1", "1.0", "true")
NONMATED = ("nonmated", "non-mated", "nontarget", "non-target", "0", "0.0", "false")

_MATED_BY_WORD = dict.fromkeys(MATED, True) | dict.fromkeys(NONMATED, False)


def mated_by_label(word: str) -> bool | None:
    """Tell whether a label means a mated pair.

    Parameters
    ----------
    word : str
        The label; capitals and blanks around it do not matter.

    Returns
    -------
    bool or None
        None if the word is no label.

    >>> mated_by_label("Target"), mated_by_label("0.0"), mated_by_label("maybe")
    (True, False, None)
    """
    return _MATED_BY_WORD.get(word.strip().lower())
