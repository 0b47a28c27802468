"""Whether a text is in the language that was asked for: taggers of another one miss most names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice

from sottovoce.anonymise.text.lexicon import COMMON, LANGUAGES, core_of, read_table
from sottovoce.core.unicode_offsets import composed

FEWEST = 20
"""Words below which nothing can be said."""
MOST = 2000
"""Words that are looked at."""
MARGIN = 0.1
"""By how much the share of common words must be higher in another language."""
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


@cache
def _common(lang: str) -> frozenset[str]:
    return frozenset(form for form, zipf in read_table(f"words.{lang}") if int(zipf) >= COMMON)


def other_language(texts: Iterable[str], lang: str) -> str | None:
    """The language that texts look like, if it is another of ours.

    >>> other_language(["das ist ein text in einer anderen sprache als gedacht und"] * 2, "en")
    'de'
    """
    words = (
        core_of(found[0]) for text in texts for found in _WORD.finditer(composed(text).casefold())
    )
    some = list(islice((word for word in words if word.isalpha()), MOST))
    if len(some) < FEWEST:
        return None

    def share(of: str) -> float:
        return sum(word in _common(of) for word in some) / len(some)

    enough = share(lang) + MARGIN
    if enough >= 1:
        return None
    best = max(LANGUAGES, key=share)
    return best if share(best) > enough else None
