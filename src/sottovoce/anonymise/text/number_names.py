"""Names that taggers see where there is a number, or the word that announces one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sottovoce.anonymise.text.cues import announced_kinds
from sottovoce.anonymise.text.entities import PATTERN_RULE, Entity

_NAMES = ("PER", "LOC", "ORG", "MISC")
NUMBER_LABELS = frozenset(
    [
        "ssn",
        "iban",
        "bic",
        "pin",
        "puk",
        "cvv",
        "cvc",
        "imei",
        "otp",
        "dni",
        "nif",
        "niss",
        "nir",
        "bsn",
        "pps",
        "nino",
        "vat",
        "iva",
        "tva",
        "svnr",
        "ustid",
        "siret",
        "siren",
        "pesel",
    ]
)
"""Words that say what kind of number follows; taggers take them for organisations."""
PHONE_RULE = f"{PATTERN_RULE}phone"
CUE_DISTANCE = 4
"""Words before a number among which one may announce its type."""


def is_number_label(words: Sequence[str], entity: Entity) -> bool:
    """Tell whether a name is a mere label of a number: *SSN* in *my SSN is …*.

    Parameters
    ----------
    words : sequence of str
        Words of a sentence.
    entity : Entity
        What a tagger found in it.
    """
    is_label = words[entity.start].casefold() in NUMBER_LABELS
    return entity.length == 1 and entity.kind in ("ORG", "LOC", "MISC") and is_label


def retype_numbers(entities: Sequence[Entity], words: Sequence[str]) -> list[Entity]:
    """Turn names without a letter into numbers, or join them to their neighbour.

    They belong to an adjacent entity that is not a name: *4* in *4 March 2024* to the date.

    Parameters
    ----------
    entities : sequence of Entity
        Disjoint, in order.
    words : sequence of str
        Words of the text.
    """
    result: list[Entity] = []
    digits: Entity | None = None
    for entity in entities:
        if digits is not None:
            joined = digits.end == entity.start and entity.kind not in _NAMES
            result += [] if joined else [digits]
            entity = entity._replace(start=digits.start) if joined else entity
            digits = None
        letters = any(map(str.isalpha, "".join(words[entity.start : entity.end])))
        if entity.kind in _NAMES and not letters:
            last = result[-1] if result else None
            if last is not None and last.end == entity.start and last.kind not in _NAMES:
                result[-1] = last._replace(end=entity.end)
            else:
                digits = entity._replace(kind="NUM")
        else:
            result.append(entity)
    return result if digits is None else [*result, digits]


def retype_announced(entities: Iterable[Entity], low: Sequence[str], lang: str) -> list[Entity]:
    """Take a number that looks like a telephone number for the identifier that a word announces.

    Parameters
    ----------
    entities : iterable of Entity
        Entities of one text.
    low : sequence of str
        The words of the text in lower case.
    lang : str
        Language code.
    """
    return [
        e._replace(kind="ID") if e.rule == PHONE_RULE and _is_identifier(low, e.start, lang) else e
        for e in entities
    ]


def _is_identifier(low: Sequence[str], start: int, lang: str) -> bool:
    """Tell whether the nearest cue before a number announces an identifier."""
    for word in reversed(low[max(start - CUE_DISTANCE, 0) : start]):
        kinds = {"ID"} if word in NUMBER_LABELS else announced_kinds(word, lang)
        if "PHONE" in kinds:
            return False
        if "ID" in kinds:
            return True
    return False
