"""Copies of training sentences with other names, so that taggers learn places of names, not lists.

A tagger that has seen each name of its training set knows those names; the people it has to
protect have others. Copies with names from lists and, mostly, with made-up names that are in no
list (drawn letter by letter from trigrams of real ones) raise recall on unseen names most.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.lexicon import Lexicon, clitics
from sottovoce.anonymise.text.tokens import HIDDEN

MADE_UP = 0.6
"""Share of swapped names that are made up."""
HIDE = 0.8
"""Share of entities that are hidden in a copy."""
LONGEST = 14
TRIES = 100
"""Draws before a letter is put to a name that is known."""
_END = "\n"


class Inventor:
    """Makes up names that look like given ones: a Markov chain over letters, order 2."""

    def __init__(self, names: Iterable[str]) -> None:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name in names:
            for i, letter in enumerate(name + _END):
                counts[(_END * 2 + name)[i : i + 2]][letter] += 1
        self._next = {
            state: (list(c), np.cumsum(list(c.values())) / c.total()) for state, c in counts.items()
        }

    def name(self, rng: np.random.Generator, known: set[str]) -> str:
        """A new one that is not among the ``known``."""
        made = ""
        for _ in range(TRIES):
            made = ""
            while not made.endswith(_END) and len(made) <= LONGEST:
                letters, shares = self._next[(_END * 2 + made)[-2:]]
                made += letters[int(np.searchsorted(shares, rng.random(), side="right"))]
            made = made.removesuffix(_END)
            if 3 <= len(made) <= LONGEST and made not in known:
                return made
        return f"{made}o"


class NameSwap:
    """Replaces persons and places of a sentence by others, in lower case."""

    def __init__(
        self,
        lexicon: Lexicon,
        given: Sequence[str],
        family: Sequence[str],
        places: Sequence[str],
        rng: np.random.Generator,
    ) -> None:
        self.rng = rng
        self.lists = {
            "given": [n.lower() for n in given if n.casefold() in lexicon.names],
            "family": [n.lower() for n in family if n.casefold() in lexicon.names],
            "world": sorted(lexicon.names),
            "place": [p.lower() for p in places],
        }
        self.inventors = {kind: Inventor(self.lists[kind]) for kind in ("given", "family", "place")}
        self.known = set(lexicon.names) | {p[0] for p in lexicon.places if len(p) == 1}

    def __call__(self, sentence: Sentence) -> Sentence:
        """A copy with all persons and places swapped."""
        return _with_entities(
            sentence, lambda kind, old: self._other(kind, old) if kind in ("PER", "LOC") else old
        )

    def _other(self, kind: str, old: Sequence[str]) -> list[str]:
        if kind == "PER":
            kinds = ["given", "family"] if len(old) > 1 else [self._pick(["given", "family"])]
        else:
            kinds = ["place"]
        new = " ".join(self._draw(kind) for kind in kinds).split()
        before, after = old[0][: clitics(old[0])[0]], old[-1][clitics(old[-1])[1] :]
        new[0], new[-1] = before + new[0], new[-1] + after
        return [_cased_like(word, old[0]) for word in new]

    def _draw(self, kind: str) -> str:
        if self.rng.random() < MADE_UP:
            return self.inventors[kind].name(self.rng, self.known)
        if kind != "place" and self.rng.random() < 0.5:
            kind = "world"
        return self._pick(self.lists[kind])

    def _pick(self, values: Sequence[str]) -> str:
        return values[int(self.rng.integers(len(values)))]


def _cased_like(word: str, model: str) -> str:
    start = clitics(model)[0]
    if model[start : start + 1].isupper():
        begin = clitics(word)[0]
        return word[:begin] + word[begin : begin + 1].upper() + word[begin + 1 :]
    return word


CAPITALS = frozenset({"PER", "LOC", "ORG"})


def cased_view(sentence: Sentence) -> Sentence:
    """Spoken text as it might be written: a capital at the beginning and in every name, a stop.

    Other entities lose their tags: dates and times are left to taggers of spoken text.
    """
    words = list(sentence.words)
    tags = [tag if tag[2:] in CAPITALS else "O" for tag in sentence.tags]
    for i, tag in enumerate(tags):
        if i == 0 or tag != "O":
            words[i] = _cased_like(words[i], "X")
    return Sentence((*words, "."), (*tags, "O"))


def hidden_view(sentence: Sentence, rng: np.random.Generator) -> Sentence:
    """A copy in which most entities are hidden, each behind one word: how a second look sees it."""
    return _with_entities(
        sentence,
        lambda kind, old: [HIDDEN] if kind != "MISC" and rng.random() < HIDE else old,
    )


def _with_entities(
    sentence: Sentence, other: Callable[[str, Sequence[str]], Sequence[str]]
) -> Sentence:
    """A copy with other words for each entity, of the same kind and any number."""
    words: list[str] = []
    tags: list[str] = []
    done = 0
    for start, end, kind in sentence.spans:
        words += sentence.words[done:start]
        tags += sentence.tags[done:start]
        new = other(kind, sentence.words[start:end])
        words += new
        tags += [f"B-{kind}", *[f"I-{kind}"] * (len(new) - 1)]
        done = end
    return Sentence((*words, *sentence.words[done:]), (*tags, *sentence.tags[done:]))
