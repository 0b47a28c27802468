"""Find private words in text and replace them.

>>> from sottovoce.anonymise.text import TextAnonymiser
>>> TextAnonymiser("en", strategy="redact").transform("wake me at nine am").text
'wake me at █████'
"""

from sottovoce.anonymise.text.anonymised_text import AnonymisedText, ReplacedSpan
from sottovoce.anonymise.text.anonymiser import PreparedTexts, TextAnonymiser
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.entities import Entity
from sottovoce.anonymise.text.guarantee import Guarantee
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.private_words import PrivateWords, find_private
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.anonymise.text.strategies import (
    STRATEGIES,
    Mention,
    ReplacementContext,
    TextStrategy,
)
from sottovoce.anonymise.text.taggers import TAGGERS, Tagger, TaggerInfo, TaggerType

__all__ = [
    "STRATEGIES",
    "TAGGERS",
    "AnonymisedText",
    "Detector",
    "Entity",
    "Finding",
    "Guarantee",
    "Mention",
    "PreparedTexts",
    "PrivateWords",
    "ReplacedSpan",
    "ReplacementContext",
    "SourceText",
    "Tagger",
    "TaggerInfo",
    "TaggerType",
    "TextAnonymiser",
    "TextStrategy",
    "find_private",
]
