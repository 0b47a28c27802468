"""Case endings of names: Latvian declensions, and the genitive -s of German and Dutch."""

from __future__ import annotations

from functools import lru_cache

from sottovoce.anonymise.text.lexicon import lexicon

_ENDINGS = (
    *("iem", "ām", "ēm", "am", "ai", "as", "ās", "es", "ēs", "ei", "im", "is", "os", "um", "us"),
    *("a", "ā", "e", "ē", "i", "ī", "s", "š", "u", "ū"),
)
"""Latvian endings, longer ones first."""
_SECOND = frozenset(("is", "im", "i", "ī", "e", "ē", "es", "ei", "ēs", "ēm"))
"""Endings of names in -is and -e; the others belong to names in -s, -š and -a."""
MIN_STEM = 3
"""Letters that are left at least."""
_NO_GENITIVE = ("s", "ß", "x", "z")


def split_ending(word: str) -> tuple[str, str]:
    """Split a Latvian name into stem and ending.

    Parameters
    ----------
    word : str
        A name in any case.

    Examples
    --------
    >>> split_ending("Ozolam"), split_ending("Bērziņš"), split_ending("Liepa")
    (('Ozol', 'am'), ('Bērziņ', 'š'), ('Liep', 'a'))
    """
    low = word.lower()
    for ending in _ENDINGS:
        if low.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            return word[: -len(ending)], word[-len(ending) :]
    return word, ""


@lru_cache(maxsize=1 << 14)
def stem(word: str, lang: str) -> str:
    """Return what all cases of a name have in common.

    Parameters
    ----------
    word : str
        The case-folded name.
    lang : str
        Language code.

    Examples
    --------
    >>> {stem(word, "lv") for word in ("ozols", "ozola", "ozolam", "ozolu")}
    {'ozol'}
    >>> stem("marias", "de"), stem("klaus", "de"), stem("marias", "en")
    ('maria', 'klaus', 'marias')
    """
    if lang == "lv":
        return split_ending(word)[0]
    if lang in ("de", "nl") and word.endswith("s"):
        names = lexicon(lang).names
        return word[:-1] if word[:-1] in names and word not in names else word
    return word


def inflect(value: str, original: str) -> str:
    """Give a Latvian name the case ending of another.

    Parameters
    ----------
    value : str
        A name in the nominative.
    original : str
        The name whose ending it gets.

    Examples
    --------
    >>> inflect("Kalniņš", "Ozolam"), inflect("Liepa", "Annas"), inflect("Kalniņš", "Ozols")
    ('Kalniņam', 'Liepas', 'Kalniņš')
    """
    ending = split_ending(original)[1].lower()
    value_stem, nominative = split_ending(value)
    if not ending or not nominative or (ending in ("s", "š") and nominative in ("s", "š")):
        return value
    return value_stem + ending


def same_declension(values: tuple[str, ...], original: str) -> tuple[str, ...]:
    """Return the Latvian names that may take the ending of another.

    Parameters
    ----------
    values : tuple of str
        Names in the nominative.
    original : str
        The name whose ending they would get.
    """
    second = split_ending(original)[1].lower() in _SECOND
    return tuple(v for v in values if (split_ending(v)[1].lower() in _SECOND) == second)


def add_genitive(value: str) -> str:
    """Add the genitive -s to a German name, unless it ends in a sibilant.

    Parameters
    ----------
    value : str
        The name.
    """
    return value if value.endswith(_NO_GENITIVE) else value + "s"
