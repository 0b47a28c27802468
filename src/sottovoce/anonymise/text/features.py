"""What a tagger sees of a word, and of the words around it.

Nearly all attributes belong to one word seen from a distance of −2 … 2, so the weights of a word
can be summed once and cached. Only pairs of words and places of several words go beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sottovoce.anonymise.text.lexicon import Lexicon, clitics, strip_clitics
from sottovoce.anonymise.text.tokens import HIDDEN

DISTANCES = (0, -1, 1, -2, 2)
"""Positions of a word relative to the one that is tagged."""
PLACE_DISTANCES = (0, -1, 1)
"""Distances from which it counts that a word is part of a listed place."""
CAPITAL_SHAPE = "h=X"
"""How the attribute of the shape of a word with a capital begins."""
BOUNDARY = ""
"""Stands for the positions before the first and after the last word."""

PAIRS = ("b=", "a=", "t=")
"""Prefixes of pair attributes, which no other attribute has: a word with the one before it, with
the one after it, and those two without it."""

_RUN = re.compile(r"(.)\1{2,}")


def word_attributes(form: str, distance: int, lexicon: Lexicon) -> list[str]:
    """Return the attributes of a word for tagging the word ``distance`` positions away.

    Parameters
    ----------
    form : str
        The word as it is written, or :data:`BOUNDARY`.
    distance : int
        One of :data:`DISTANCES`.
    lexicon : Lexicon
        Lookups of the language.

    Examples
    --------
    >>> from sottovoce.anonymise.text.lexicon import lexicon
    >>> word_attributes("Zorbalda", -2, lexicon("en"))
    ['-2w=zorbalda', '-2h=Xxx', '-2z=0']
    """
    mark = f"{distance:+d}" if distance else ""
    if form == BOUNDARY:
        return [f"{mark}^"] if distance else []
    if form == HIDDEN:
        return [f"{mark}█"]
    return [mark + attribute for attribute in _form_attributes(form, abs(distance), lexicon)]


@lru_cache(maxsize=1 << 13)
def _form_attributes(form: str, distance: int, lexicon: Lexicon) -> tuple[str, ...]:
    """Attributes of a word; the farther away it is, the fewer."""
    low = form.lower()
    start, end = clitics(low)
    core = low[start:end]
    attributes = [f"w={low}", f"h={_shape(form)}"]
    if core != low:
        attributes.append(f"k={core}")
    if kind := lexicon.name_kind(core):
        attributes.append(f"n={kind}")
    zipf = lexicon.frequency.get(low, lexicon.frequency.get(core, 0))
    attributes.append(f"z={zipf}")
    cluster = lexicon.cluster.get(low, lexicon.cluster.get(core))
    if cluster is not None:
        attributes += [f"c{bits}={cluster & ((1 << bits) - 1)}" for bits in (4, 6, 10)]
    if distance == 2:
        return tuple(attributes)
    attributes.append(f"s3={core[-3:]}")
    if distance == 1:
        return tuple(attributes)
    if cluster is not None:
        attributes.append(f"c={cluster}")
    attributes += [f"p{n}={core[:n]}" for n in range(1, 5) if len(core) > n]
    attributes += [f"s{n}={core[-n:]}" for n in (1, 2, 4) if len(core) > n]
    attributes += [f"l={min(len(core), 8)}", "1"]
    if "-" in form:
        attributes.append("hyphen")
    if any(c.isdigit() for c in form):
        attributes.append("digit")
    return tuple(attributes)


def _shape(form: str) -> str:
    """Letters as X or x, digits as 9, runs cut at two.

    >>> _shape("McDonald's"), _shape("12:30"), _shape("BERLIN")
    ("XxXxx'x", '99:99', 'XX')
    """
    mapped = "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in form
    )
    return _RUN.sub(r"\1\1", mapped)[:12]


def _pair_attributes(forms: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Per word its pairs with the one before and the one after, and the pair of those two."""
    low = [BOUNDARY, *(form.lower() for form in forms), BOUNDARY]
    for before, word, after in zip(low, low[1:], low[2:], strict=False):
        pairs = ((before, word), (word, after), (before, after))
        yield tuple(kind + "|".join(pair) for kind, pair in zip(PAIRS, pairs, strict=True))


def _place_attributes(forms: Sequence[str], lexicon: Lexicon) -> list[list[str]]:
    """Per word whether it, or a neighbour, is part of a listed place."""
    marks = lexicon.place_marks([strip_clitics(form.lower()) for form in forms])
    return [
        [place_attribute(marks[i + n], n) for n in PLACE_DISTANCES if i + n in marks]
        for i in range(len(forms))
    ]


def place_attribute(mark: str, distance: int) -> str:
    """Return the attribute for a place mark on the word ``distance`` positions away.

    Parameters
    ----------
    mark : str
        ``B`` or ``I``, see :meth:`.lexicon.Lexicon.place_marks`.
    distance : int
        One of :data:`PLACE_DISTANCES`.
    """
    return f"{distance:+d}g={mark}" if distance else f"g={mark}"


def sentence_attributes(forms: Sequence[str], lexicon: Lexicon) -> list[list[str]]:
    """Return all attributes of every word of a sentence: what taggers are trained on.

    Parameters
    ----------
    forms : sequence of str
        The words.
    lexicon : Lexicon
        Lookups of the language.
    """
    padded = [BOUNDARY, BOUNDARY, *forms, BOUNDARY, BOUNDARY]
    places = _place_attributes(forms, lexicon)
    sentence = []
    for i, (pair, place) in enumerate(zip(_pair_attributes(forms), places, strict=True)):
        attributes = [*pair, *place]
        for distance in DISTANCES:
            attributes += word_attributes(padded[i + 2 + distance], distance, lexicon)
        sentence.append(attributes)
    return sentence
