"""Codes of languages as corpora write them."""

from __future__ import annotations

_OTHER_CODES = {"eng": "en", "english": "en"}
"""Codes and names that corpora use besides those of ISO 639-1."""


def language_code(language: str) -> str:
    """Return the two-letter code of a language, in lower case and without its region.

    Parameters
    ----------
    language : str
        Such as ``de``, ``en-GB``, ``pt_BR`` or ``eng``. A code that is not known is returned in
        lower case.

    >>> language_code("en-GB"), language_code("English"), language_code("pt_BR")
    ('en', 'en', 'pt')
    """
    code = language.lower().replace("_", "-").split("-")[0]
    return _OTHER_CODES.get(code, code)
