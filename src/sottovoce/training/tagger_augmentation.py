"""Copies of training sentences with other names, so that taggers learn contexts, not lists.

A tagger that has seen each name of its training set knows those names; the people it has to
protect have others. Copies with names from lists and, mostly, with invented names that are in no
list (drawn letter by letter from trigrams of real ones) raise recall on unseen names most.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.lexicon import Lexicon, clitics
from sottovoce.anonymise.text.tokens import HIDDEN

INVENTED_SHARE = 0.6
"""Share of swapped names that are invented."""
INVENTED_ORGANISATIONS = 0.3
"""Share of swapped organisations that get a name like a family's; the others are drawn from the
organisations of the training text."""
HIDDEN_SHARE = 0.8
"""Share of entities that are hidden in a copy."""
MAX_NAME_LENGTH = 14
TRIES = 100
"""Draws before a letter is added to a name that is known."""
_END = "\n"


class NameInventor:
    """Invents names that look like given ones: a Markov chain of order 2 over letters.

    Parameters
    ----------
    names : iterable of str
        Names to learn from.
    """

    def __init__(self, names: Iterable[str]) -> None:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name in names:
            for i, letter in enumerate(name + _END):
                counts[(_END * 2 + name)[i : i + 2]][letter] += 1
        self._next = {
            state: (list(c), np.cumsum(list(c.values())) / c.total()) for state, c in counts.items()
        }

    def draw(self, rng: np.random.Generator, known: set[str]) -> str:
        """Draw a new name.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of random numbers.
        known : set of str
            Names that must not be drawn.
        """
        name = ""
        for _ in range(TRIES):
            name = ""
            while not name.endswith(_END) and len(name) <= MAX_NAME_LENGTH:
                letters, shares = self._next[(_END * 2 + name)[-2:]]
                name += letters[int(np.searchsorted(shares, rng.random(), side="right"))]
            name = name.removesuffix(_END)
            if 3 <= len(name) <= MAX_NAME_LENGTH and name not in known:
                return name
        return f"{name}o"


class NameSwap:
    """Replaces persons, places and organisations of a sentence by others.

    Parameters
    ----------
    lexicon : Lexicon
        Lookups of the language.
    given, family, places : sequence of str
        Names to draw from, and to learn invented ones from.
    rng : numpy.random.Generator
        Source of random numbers.
    organisations : sequence of sequence of str, optional
        Words of organisations to draw from; by default organisations stay.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        given: Sequence[str],
        family: Sequence[str],
        places: Sequence[str],
        rng: np.random.Generator,
        organisations: Sequence[Sequence[str]] = (),
    ) -> None:
        self.rng = rng
        self.organisations = organisations
        self.lists = {
            "given": [name.lower() for name in given if name.casefold() in lexicon.names],
            "family": [name.lower() for name in family if name.casefold() in lexicon.names],
            "world": sorted(lexicon.names),
            "place": [place.lower() for place in places],
        }
        self.inventors = {
            kind: NameInventor(self.lists[kind]) for kind in ("given", "family", "place")
        }
        self.known = set(lexicon.names) | {place[0] for place in lexicon.places if len(place) == 1}

    def __call__(self, sentence: Sentence) -> Sentence:
        """Copy a sentence with all its names swapped."""
        kinds = ("PER", "LOC", "ORG") if self.organisations else ("PER", "LOC")
        return _replace_entities(
            sentence, lambda kind, old: self._swap(kind, old) if kind in kinds else old
        )

    def _swap(self, kind: str, old: Sequence[str]) -> Sequence[str]:
        if kind == "ORG" and self.rng.random() >= INVENTED_ORGANISATIONS:
            return self.organisations[int(self.rng.integers(len(self.organisations)))]
        if kind == "PER":
            kinds = ["given", "family"] if len(old) > 1 else [self._pick(["given", "family"])]
        else:
            kinds = ["place"] if kind == "LOC" else ["family"]
        new = " ".join(self._draw(kind) for kind in kinds).split()
        before, after = old[0][: clitics(old[0])[0]], old[-1][clitics(old[-1])[1] :]
        new[0], new[-1] = before + new[0], new[-1] + after
        return [_match_first_capital(word, old[0]) for word in new]

    def _draw(self, kind: str) -> str:
        if self.rng.random() < INVENTED_SHARE:
            return self.inventors[kind].draw(self.rng, self.known)
        if kind != "place" and self.rng.random() < 0.5:
            kind = "world"
        return self._pick(self.lists[kind])

    def _pick(self, values: Sequence[str]) -> str:
        return values[int(self.rng.integers(len(values)))]


def _match_first_capital(word: str, model: str) -> str:
    start = clitics(model)[0]
    if model[start : start + 1].isupper():
        first = clitics(word)[0]
        return word[:first] + word[first : first + 1].upper() + word[first + 1 :]
    return word


CAPITALISED_TYPES = frozenset({"PER", "LOC", "ORG"})


def cased_view(sentence: Sentence) -> Sentence:
    """Write spoken text as it might be printed: capitals at the start and in names, a full stop.

    Other entities lose their tags: dates and times are left to taggers of spoken text.

    Parameters
    ----------
    sentence : Sentence
        A sentence in lower case.
    """
    words = list(sentence.words)
    tags = [tag if tag[2:] in CAPITALISED_TYPES else "O" for tag in sentence.tags]
    for i, tag in enumerate(tags):
        if i == 0 or tag != "O":
            words[i] = _match_first_capital(words[i], "X")
    return Sentence((*words, "."), (*tags, "O"))


def hidden_view(sentence: Sentence, rng: np.random.Generator) -> Sentence:
    """Copy a sentence with most entities hidden, each behind one word, as a second search sees it.

    Parameters
    ----------
    sentence : Sentence
        A tagged sentence.
    rng : numpy.random.Generator
        Chooses the entities that are hidden.
    """
    return _replace_entities(
        sentence,
        lambda kind, old: [HIDDEN] if kind != "MISC" and rng.random() < HIDDEN_SHARE else old,
    )


def _replace_entities(
    sentence: Sentence, replace: Callable[[str, Sequence[str]], Sequence[str]]
) -> Sentence:
    """Copy a sentence with other words for each entity, of the same type and any number."""
    words: list[str] = []
    tags: list[str] = []
    done = 0
    for start, end, kind in sentence.spans:
        words += sentence.words[done:start]
        tags += sentence.tags[done:start]
        new = replace(kind, sentence.words[start:end])
        words += new
        tags += [f"B-{kind}", *[f"I-{kind}"] * (len(new) - 1)]
        done = end
    return Sentence((*words, *sentence.words[done:]), (*tags, *sentence.tags[done:]))
