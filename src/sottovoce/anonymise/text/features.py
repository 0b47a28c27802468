"""What a tagger sees of a word, and of the words around it.

Nearly all attributes belong to one word seen from a distance of −2 … 2, so the weights of a word
can be added up once and kept. Only pairs of words and places of several words go beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sottovoce.anonymise.text.lexicon import Lexicon, clitics, core_of
from sottovoce.anonymise.text.tokens import HIDDEN

DISTANCES = (0, -1, 1, -2, 2)
NEAR = (0, -1, 1)
"""Distances from which it counts that a word is in a place."""
BOUNDARY = ""
"""Stands for the place before the first and after the last word."""

PAIRS = ("b=", "a=", "t=")
"""What attributes of pairs begin with, and no other: a word with the one before it, with the one
after it, and those two without it."""

_RUN = re.compile(r"(.)\1{2,}")


def word_attributes(form: str, distance: int, lexicon: Lexicon) -> list[str]:
    """Attributes of a word for the tag of the word ``distance`` places away from it.

    >>> from sottovoce.anonymise.text.lexicon import lexicon
    >>> word_attributes("Zorbalda", -2, lexicon("en"))
    ['-2w=zorbalda', '-2h=Xxx', '-2z=0']
    """
    mark = f"{distance:+d}" if distance else ""
    if form == BOUNDARY:
        return [f"{mark}^"] if distance else []
    if form == HIDDEN:
        return [f"{mark}█"]
    return [mark + one for one in _described(form, abs(distance), lexicon)]


@lru_cache(maxsize=1 << 16)
def _described(form: str, far: int, lexicon: Lexicon) -> tuple[str, ...]:
    low = form.lower()
    start, end = clitics(low)
    core = low[start:end]
    found = [f"w={low}", f"h={shape(form)}"]
    if core != low:
        found.append(f"k={core}")
    if kind := lexicon.named(core):
        found.append(f"n={kind}")
    zipf = lexicon.frequency.get(low, lexicon.frequency.get(core, 0))
    found.append(f"z={zipf}")
    cluster = lexicon.cluster.get(low, lexicon.cluster.get(core))
    if cluster is not None:
        found += [f"c{bits}={cluster & ((1 << bits) - 1)}" for bits in (4, 6, 10)]
    if far == 2:
        return tuple(found)
    found.append(f"s3={core[-3:]}")
    if far == 1:
        return tuple(found)
    if cluster is not None:
        found.append(f"c={cluster}")
    found += [f"p{n}={core[:n]}" for n in range(1, 5) if len(core) > n]
    found += [f"s{n}={core[-n:]}" for n in (1, 2, 4) if len(core) > n]
    found += [f"l={min(len(core), 8)}", "1"]
    if "-" in form:
        found.append("hyphen")
    if any(c.isdigit() for c in form):
        found.append("digit")
    return tuple(found)


def shape(form: str) -> str:
    """Letters as X or x, digits as 9, runs cut at two.

    >>> shape("McDonald's"), shape("12:30"), shape("BERLIN")
    ("XxXxx'x", '99:99', 'XX')
    """
    mapped = "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in form
    )
    return _RUN.sub(r"\1\1", mapped)[:12]


def pair_attributes(forms: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Per word its pairs with the one before and the one after, and the pair of those two."""
    low = [BOUNDARY, *(form.lower() for form in forms), BOUNDARY]
    for before, word, after in zip(low, low[1:], low[2:], strict=False):
        pairs = ((before, word), (word, after), (before, after))
        yield tuple(kind + "|".join(pair) for kind, pair in zip(PAIRS, pairs, strict=True))


def place_attributes(forms: Sequence[str], lexicon: Lexicon) -> list[list[str]]:
    """Per word whether it, or a neighbour, is in a place of the lists."""
    marks = ["", *lexicon.place_marks([core_of(form.lower()) for form in forms]), ""]
    return [
        [place_attribute(marks[i + n], n) for n in NEAR if marks[i + n]]
        for i in range(1, len(marks) - 1)
    ]


def place_attribute(mark: str, distance: int) -> str:
    """That the word ``distance`` places away has a mark."""
    return f"{distance:+d}g={mark}" if distance else f"g={mark}"


def sentence_attributes(forms: Sequence[str], lexicon: Lexicon) -> list[list[str]]:
    """All attributes of every word of a sentence: what taggers are trained on."""
    padded = [BOUNDARY, BOUNDARY, *forms, BOUNDARY, BOUNDARY]
    pairs = pair_attributes(forms)
    found = []
    for i, (pair, places) in enumerate(zip(pairs, place_attributes(forms, lexicon), strict=True)):
        own = [*pair, *places]
        for distance in DISTANCES:
            own += word_attributes(padded[i + 2 + distance], distance, lexicon)
        found.append(own)
    return found
