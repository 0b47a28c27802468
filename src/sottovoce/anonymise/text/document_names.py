"""Names of a document: found with some certainty in one of its texts, searched in all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sottovoce.anonymise.text.entities import SPELLED_RULE, Entity
from sottovoce.anonymise.text.lexicon import lexicon, strip_clitics
from sottovoce.anonymise.text.masked_text import Finding, MaskedText
from sottovoce.anonymise.text.spelled import joined_letters
from sottovoce.anonymise.text.tokens import tokenise

SURE = 0.5
"""Score from which a name is searched in the whole document, and from which the first word of a
sentence is a name although it is a common word."""
DOCUMENT_RULE = "document"
"""Rule of names that were found elsewhere in the document."""
Names = dict[str, str]
"""Case-folded names with their entity type."""
_PROPAGATED = ("PER", "ORG")
_SPELLED_NAMES = ("PER", "LOC")
_LETTERS = re.compile(r"[^\W\d_]+")


def note_names(text: str, findings: Iterable[Finding], lang: str, names: Names) -> None:
    """Remember the names that were found with some certainty.

    Parameters
    ----------
    text : str
        A text.
    findings : iterable of Finding
        What was found in it.
    lang : str
        Language code; common words of the language are no names.
    names : dict
        New names are added.
    """
    is_common = lexicon(lang).is_common
    for finding in findings:
        if finding.score < SURE:
            continue
        private = text[finding.start : finding.end]
        if finding.rule == SPELLED_RULE:
            kind = finding.kind if finding.kind in _SPELLED_NAMES else "PER"
            cores = {joined_letters(private): kind}
        elif finding.kind in _PROPAGATED:
            cores = {token.text.casefold(): finding.kind for token in tokenise(private)}
        else:
            continue
        for core, kind in cores.items():
            if len(core) > 2 and core.isalpha() and not is_common(core):
                names.setdefault(core, kind)


def find_known_names(view: MaskedText, names: Names, lang: str) -> list[Entity]:
    """Find names of the document in one of its texts.

    Parameters
    ----------
    view : MaskedText
        The text, with what was found before hidden.
    names : dict
        Names with their types.
    lang : str
        Language code. A name that was found in a text of another language may be a common word
        of this one, and is then left alone.
    """
    if names.keys().isdisjoint(_LETTERS.findall(view.text.casefold())):
        return []  # most texts: a name is a run of letters, so that no tokens are needed
    cores = [strip_clitics(token.text).casefold() for token in view.tokens]
    is_common = lexicon(lang).is_common
    return [
        Entity(i, i + 1, names[core], 0.0, DOCUMENT_RULE)
        for i, core in enumerate(cores)
        if core in names and not is_common(core)
    ]
