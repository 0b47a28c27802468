"""Which words are masked: those that are found or listed, wherever else they occur as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from sottovoce.anonymise.recording.mask import Target
from sottovoce.anonymise.recording.words import Token, key, tokens
from sottovoce.core.errors import InputError
from sottovoce.corpus.reading import numbered_lines

Found = Sequence[tuple[int, int, str]]
"""Private stretches of a text: first character, character after the last, what it is."""
Finder = Callable[[Sequence[str], Sequence[str]], Sequence[Found]]
"""From texts and their languages to what is private in each."""

LISTED = "LISTED"
_FUNCTION_WORDS = """
a an the and or but of in on at to from for with by as is it i he she we you they my your his her
our their this that no not
der die das den dem des ein eine und oder von vom zu zum zur im am auf mit für ist
el la los las lo un una y o de del al en con por para es
le les une et ou du au aux à dans sur avec est
il gli uno e di da dal della dei su per
os as um uma do dos na em com
het een van te op met voor
uz ar par
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that say nothing alone: part of a name they are masked with it, elsewhere they stay."""


def read_words(path: Path) -> list[str]:
    """Words or phrases to be masked, one a line."""
    lines = numbered_lines(path)
    if not lines:
        raise InputError(f"{path}: no words; write one a line")
    for number, line in lines:
        if not tokens(line):
            raise InputError(f"{path}:{number}: no word in this line; correct or remove it")
    return [line.strip() for _, line in lines]


def private_words(texts: Sequence[str], langs: Sequence[str]) -> list[Found]:
    """What the detector of private words finds in each text."""
    from sottovoce.anonymise.text.detect import Detector

    found: list[Found] = [()] * len(texts)
    for lang in dict.fromkeys(langs):
        own = [place for place, other in enumerate(langs) if other == lang]
        findings = Detector(lang.lower().split("-")[0]).find([_cased(texts[i]) for i in own])
        for place, every in zip(own, findings, strict=True):
            found[place] = [(one.start, one.end, one.kind) for one in every]
    return found


def _cased(text: str) -> str:
    """A text in capitals in small letters: all of its words would look like names."""
    return text.lower() if text.isupper() and len(text.lower()) == len(text) else text


def find_targets(
    texts: Sequence[str],
    langs: Sequence[str],
    *,
    finder: Finder | None = None,
    listed: Iterable[str] = (),
) -> list[list[Target]]:
    """The words to be masked in each text.

    A word that is masked once is masked at each of its occurrences in all texts, whatever its case
    or ending in 's; of a name of several words each is, but for such as "of" and "the".

    >>> found = find_targets(["I met Ann of York", "York is ANN'S"], ["en"] * 2, listed=["Ann"])
    >>> [[(one.first, one.last) for one in targets] for targets in found]
    [[(2, 2)], [(2, 2)]]
    """
    said = [tokens(text) for text in texts]
    every = finder(texts, langs) if finder else [()] * len(texts)
    first = [_words(words, found) for words, found in zip(said, every, strict=True)]
    phrases = {tuple(map(key, _texts(phrase))): LISTED for phrase in listed}
    for words, targets in zip(said, first, strict=True):
        for one in targets:
            _learn(phrases, [key(word.text) for word in words[one.first : one.last + 1]], one.label)
    phrases.pop((), None)
    return [
        _sorted([*targets, *_occurrences(words, phrases)])
        for words, targets in zip(said, first, strict=True)
    ]


def _words(words: Sequence[Token], found: Found) -> list[Target]:
    """The words that private stretches touch, if only in part."""
    targets = []
    for start, end, label in found:
        inside = [at for at, word in enumerate(words) if word.begin < end and start < word.stop]
        if inside:
            targets.append(Target(inside[0], inside[-1], label))
    return targets


def _texts(phrase: str) -> list[str]:
    return [word.text for word in tokens(phrase)]


def _learn(phrases: dict[tuple[str, ...], str], keys: Sequence[str], label: str) -> None:
    phrases.setdefault(tuple(keys), label)
    for one in keys:
        if one not in FUNCTION_WORDS:
            phrases.setdefault((one,), label)


def _occurrences(words: Sequence[Token], phrases: dict[tuple[str, ...], str]) -> list[Target]:
    """Where the phrases stand; a word with hyphens counts as its parts too."""
    keys = [key(word.text) for word in words]
    sizes = {len(phrase) for phrase in phrases}
    found = [
        Target(at, at + size - 1, phrases[tuple(keys[at : at + size])])
        for size in sizes
        for at in range(len(keys) - size + 1)
        if tuple(keys[at : at + size]) in phrases
    ]
    for at, one in enumerate(keys):
        parts = [part for part in one.replace("/", "-").split("-") if (part,) in phrases]
        if "-" in one and parts:
            found.append(Target(at, at, phrases[(parts[0],)]))
    return found


def _sorted(targets: Iterable[Target]) -> list[Target]:
    """Longer ones last, so that their label stands where they overlap."""
    distinct = dict.fromkeys(targets)
    return sorted(distinct, key=lambda one: (one.last - one.first, one.first))
