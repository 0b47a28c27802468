"""How many masked words are in what somebody heard, beyond those that were kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sottovoce.anonymise.recording.words import key, tokens
from sottovoce.asr.normalise import normalise


def recovered(runs: Sequence[str], heard: str, kept: Sequence[str] = ()) -> tuple[int, int]:
    """How many words of masked runs were heard, and how many there are.

    A run is heard whole as it is written, which is for numbers: recognisers write them as they
    like. Of other runs each word counts by itself. What was heard once counts once, and not at all
    if a kept word explains it.

    >>> recovered(["Ann Lee", "the"], "the sister of an Lee", kept=["the", "sister", "of"])
    (1, 3)
    """
    said = [[word.text for word in tokens(run)] for run in runs]
    explained, hits, rest = list(kept), 0, list[str]()
    for words in said:
        if len(words) > 1 and _spare(" ".join(words), heard, explained):
            hits += len(words)
            explained += words
        else:
            rest += words
    alike = Counter(key(word) for word in rest)
    for word in {key(word): word for word in rest}.values():
        hits += min(alike[key(word)], _spare(word, heard, explained))
    return hits, sum(map(len, said))


def _spare(phrase: str, heard: str, explained: Sequence[str]) -> int:
    """How often a phrase was heard beyond what is explained, in whichever spelling is more."""
    text = " ".join(explained)
    written = _times(normalise(phrase).split(), heard=normalise(heard).split())
    written -= _times(normalise(phrase).split(), heard=normalise(text).split())
    wanted = [key(word.text) for word in tokens(phrase)]
    plain = _times(wanted, heard=[key(word.text) for word in tokens(heard)])
    plain -= _times(wanted, heard=[key(word.text) for word in tokens(text)])
    return max(0, written, plain)


def _times(phrase: Sequence[str], *, heard: Sequence[str]) -> int:
    size = len(phrase)
    places = range(len(heard) - size + 1) if size else ()
    return sum(list(heard[at : at + size]) == list(phrase) for at in places)


def distance(wanted: Sequence[str], heard: Sequence[str]) -> int:
    """Fewest words to be changed, added or removed.

    >>> distance("a b c".split(), "a x c d".split())
    2
    """
    row = list(range(len(heard) + 1))
    for i, one in enumerate(wanted, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]
