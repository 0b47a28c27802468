"""Private words in text: found, and replaced.

>>> from sottovoce.anonymise.text import TextAnonymiser
>>> TextAnonymiser("en", strategy="redact").transform("wake me at nine am").text
'wake me at █████'
"""

from sottovoce.anonymise.text.anonymiser import (
    PrivateWords,
    Span,
    TextAnonymiser,
    Transformed,
    find_private,
)
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.view import Finding

__all__ = [
    "Detector",
    "Finding",
    "PrivateWords",
    "Span",
    "TextAnonymiser",
    "Transformed",
    "find_private",
]
