"""Texts of a dialogue with their private words replaced, for purposes that need no sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.mask import Target
from sottovoce.anonymise.recording.sensitive import LISTED
from sottovoce.anonymise.recording.words import tokens

Replace = Callable[[Sequence[str], Sequence[Sequence[Target]]], Sequence[str]]
"""From the texts of a dialogue, and what is private in each, to the texts that may leave."""
Stretch = tuple[int, int, str]
"""First character, character after the last, what it is."""

STRATEGY = "full"


def stretches(text: str, private: Sequence[Target]) -> list[Stretch]:
    """Private words as stretches of the text; words of one kind in a row are one."""
    said = tokens(text)
    labels = {at: one.label for one in private for at in range(one.first, one.last + 1)}
    found: list[Stretch] = []
    before = -2
    for at in sorted(labels):
        if found and at == before + 1 and labels[at] == labels[before]:
            found[-1] = (found[-1][0], said[at].stop, labels[at])
        else:
            found.append((said[at].begin, said[at].stop, labels[at]))
        before = at
    return found


def rewritten(text: str, found: Sequence[Stretch], new: Sequence[str]) -> str:
    """The text with each stretch replaced.

    >>> rewritten("I am Ann Lee.", stretches("I am Ann Lee.", [Target(2, 3, "PER")]), ["[PER]"])
    'I am [PER].'
    """
    out, at = "", 0
    for (start, end, _), put in zip(found, new, strict=True):
        out += text[at:start] + put
        at = end
    return out + text[at:]


def replaced_texts(lang: str, secret: Secret, strategy: str = STRATEGY) -> Replace:
    """Replace by a strategy of the text anonymiser; one person has one new name in a dialogue."""
    from sottovoce.anonymise.text.replace import Replacer
    from sottovoce.anonymise.text.view import Finding

    replacer = Replacer(lang.lower().split("-")[0], strategy, secret, "document")
    dialogues = 0

    def replace(texts: Sequence[str], targets: Sequence[Sequence[Target]]) -> list[str]:
        nonlocal dialogues
        dialogues += 1
        name = str(dialogues)
        every = [stretches(text, own) for text, own in zip(texts, targets, strict=True)]
        every = [[(a, b, "MISC" if kind == LISTED else kind) for a, b, kind in e] for e in every]
        for place, (text, own) in enumerate(zip(texts, every, strict=True)):
            known = [Finding(a, b, kind, 1.0, "recording") for a, b, kind in own]
            replacer.learn(text, known, name, str(place))
        return [
            rewritten(text, own, [_new(replacer(text[a:b], k, name, str(i))) for a, b, k in own])
            for i, (text, own) in enumerate(zip(texts, every, strict=True))
        ]

    return replace


def _new(put: str | None) -> str:
    if put is None:
        raise AssertionError("with probability 1 every private word is replaced")
    return put
