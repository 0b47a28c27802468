"""Linear-chain conditional random fields: how a sentence is tagged.

Weights come from CRFsuite (:mod:`sottovoce.training.taggers`) and are stored as plain arrays, so
that nothing but numbers is loaded. Sentences are tagged together: the emissions of all words are
sums of rows that are cached per word, and the recursions run over all sentences of a batch at once.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.text.features import (
    BOUNDARY,
    DISTANCES,
    PAIRS,
    PLACE_DISTANCES,
    place_attribute,
    word_attributes,
)
from sottovoce.anonymise.text.lexicon import PLACE_MARKS, Lexicon, strip_clitics
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_bytes

Floats = NDArray[np.float32]
Number = TypeVar("Number", bound=np.generic)

OUTSIDE = "O"
CACHED_WORDS = 16_000
"""Words whose sums are cached; when there are more, the cache is cleared."""
BATCH = 1024
"""Sentences that are tagged at once."""
_MAX_PAIR_WORDS = 1 << 31
"""More than the words of all pairs, so that two numbers make one."""
_NO_PAIR_WORD = _MAX_PAIR_WORDS - 1
"""Number of a word that is in no pair."""


class TaggerCard(TypedDict, total=False):
    """What a tagger was trained on."""

    lang: str
    register: str
    entities: int
    data: list[str]
    licence: str
    lower_case_odds: float
    """How many times the odds of being private count in sentences without capitals; 1 if absent.
    A tagger that learnt from translated text is too sure there that a word is no name."""


@dataclass(frozen=True)
class Weights:
    """Trained weights: a row for each attribute, a column for each label."""

    labels: tuple[str, ...]
    """IOB2 labels: ``B-PER``, ``I-PER``, …, ``O``."""
    rows: dict[str, int]
    """Row of each attribute in ``state``."""
    state: Floats
    """Weights of attributes, attributes × labels."""
    transition: Floats
    """Weights of one label after another, labels × labels."""
    card: TaggerCard = field(default_factory=lambda: TaggerCard())

    @classmethod
    def from_named(
        cls,
        labels: Sequence[str],
        state: Mapping[tuple[str, str], float],
        transition: Mapping[tuple[str, str], float],
        card: TaggerCard,
        *,
        smallest: float = 0.0,
    ) -> Weights:
        """Build the arrays from weights by name.

        Parameters
        ----------
        labels : sequence of str
            All labels.
        state : mapping of (str, str) to float
            Weights by attribute and label.
        transition : mapping of (str, str) to float
            Weights by label and next label.
        card : TaggerCard
            What the weights were trained on.
        smallest : float, default 0
            Weights with a smaller absolute value are dropped.
        """
        columns = {label: i for i, label in enumerate(labels)}
        large = {key: weight for key, weight in state.items() if abs(weight) >= smallest}
        rows = {name: i for i, name in enumerate(sorted({attribute for attribute, _ in large}))}
        table = np.zeros((len(rows), len(labels)), np.float32)
        for (attribute, label), weight in large.items():
            table[rows[attribute], columns[label]] = weight
        moves = np.zeros((len(labels), len(labels)), np.float32)
        for (before, after), weight in transition.items():
            moves[columns[before], columns[after]] = weight
        return cls(tuple(labels), rows, table, moves, card)

    def save(self, path: Path) -> None:
        """Write an ``.npz`` file, atomically: weights in half precision, zeros left out.

        Parameters
        ----------
        path : Path
            The file; an existing one is replaced.
        """
        nonzero = self.state != 0
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            attributes=np.frombuffer("\t".join(self.rows).encode(), np.uint8),
            filled=np.packbits(nonzero),
            state=self.state[nonzero].astype(np.float16),
            transition=self.transition,
            card=np.frombuffer(json.dumps({"labels": self.labels, **self.card}).encode(), np.uint8),
        )
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Weights:
        """Read a file that :meth:`save` wrote.

        Parameters
        ----------
        path : Path
            The file.

        Raises
        ------
        InputError
            ``unreadable`` if there is no such file, ``not-a-tagger`` if it holds anything else.
        """
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as data:
                card = json.loads(data["card"].tobytes())
                labels = tuple(card.pop("labels"))
                names = data["attributes"].tobytes().decode().split("\t")
                shape = (len(names), len(labels))
                state = np.zeros(shape, np.float32)
                nonzero = np.unpackbits(data["filled"], count=shape[0] * shape[1])
                state[nonzero.reshape(shape).astype(bool)] = data["state"]
                moves = data["transition"].reshape(len(labels), len(labels))
                return cls(labels, {n: i for i, n in enumerate(names)}, state, moves, card)
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
            ) from None
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            raise InputError(
                f"{path}: not a tagger; 'sottovoce train entities' makes one", code="not-a-tagger"
            ) from None


def mean_weights(first: Weights, second: Weights) -> Weights:
    """Return the mean of two sets of weights, with the card of the first.

    Parameters
    ----------
    first, second : Weights
        Their attributes and labels may differ; a missing one counts as 0.
    """
    labels = tuple(dict.fromkeys((*first.labels, *second.labels)))
    names = sorted(first.rows.keys() | second.rows.keys())
    rows = {name: i for i, name in enumerate(names)}
    state = np.zeros((len(names), len(labels)), np.float32)
    moves = np.zeros((len(labels), len(labels)), np.float32)
    for weights in (first, second):
        columns = [labels.index(label) for label in weights.labels]
        state[np.ix_([rows[name] for name in weights.rows], columns)] += weights.state / 2
        moves[np.ix_(columns, columns)] += weights.transition / 2
    return Weights(labels, rows, state, moves, first.card)


@dataclass(frozen=True)
class _PairRows:
    """Rows of word pairs; a pair is a number, made of the numbers of its words."""

    pairs: NDArray[np.int64]
    """In order."""
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Mapping[int, int]) -> _PairRows:
        """Sort the pairs."""
        pairs = np.array(sorted(rows), np.int64)
        return cls(pairs, np.array([rows[int(pair)] for pair in pairs], np.intp))

    def find(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the positions of the pairs that have a row, and the rows."""
        wanted = first * _MAX_PAIR_WORDS + second
        if not len(self.pairs):
            return np.empty(0, np.intp), np.empty(0, np.intp)
        place = np.minimum(np.searchsorted(self.pairs, wanted), len(self.pairs) - 1)
        at = np.flatnonzero(self.pairs[place] == wanted)
        return at, self.rows[place[at]]


class Crf:
    """Tags sentences with given weights.

    Parameters
    ----------
    weights : Weights
        The trained weights.
    lexicon : Lexicon
        Lookups of the language that the features come from.
    """

    def __init__(self, weights: Weights, lexicon: Lexicon) -> None:
        self.labels = weights.labels
        self.lexicon = lexicon
        self.outside = weights.labels.index(OUTSIDE)
        self._state, self._transition = _compact(weights.state), weights.transition
        self._pair_words = {BOUNDARY: 0}
        self._pairs = [self._index_pairs(weights.rows, kind) for kind in PAIRS]
        # the names of pairs, which are most attributes, are not kept in memory
        self._rows = {n: row for n, row in weights.rows.items() if not n.startswith(PAIRS)}
        self._places = {mark: self._place_rows(mark) for mark in PLACE_MARKS}
        self._clear_cache()

    def _index_pairs(self, attributes: Mapping[str, int], kind: str) -> _PairRows:
        """Index the rows of word pairs by the numbers of the two words."""
        rows: dict[int, int] = {}
        for name, row in attributes.items():
            if not name.startswith(kind):
                continue
            pair = name.removeprefix(kind)
            # a word may be a bar itself: every way to read the name counts
            for cut in (i for i, letter in enumerate(pair) if letter == "|"):
                first, second = (
                    self._pair_words.setdefault(word, len(self._pair_words))
                    for word in (pair[:cut], pair[cut + 1 :])
                )
                rows[first * _MAX_PAIR_WORDS + second] = row
        return _PairRows.of(rows)

    def _place_rows(self, mark: str) -> list[tuple[int, int]]:
        """Return the rows of a place mark, with the distance to the word they count for."""
        shifts = [(-away, self._rows.get(place_attribute(mark, away))) for away in PLACE_DISTANCES]
        return [(shift, row) for shift, row in shifts if row is not None]

    def _clear_cache(self) -> None:
        self._word_ids = {BOUNDARY: 0}
        self._pair_ids = [0]
        self._cores = [BOUNDARY]
        table = np.zeros((1024, len(DISTANCES), len(self.labels)), np.float32)
        table[0] = self._word_scores(BOUNDARY)
        self._table = table

    def _word_scores(self, form: str) -> Floats:
        """Sum the weights of a word's attributes, distances × labels."""
        row_of, state = self._rows.get, self._state
        sums = np.zeros((len(DISTANCES), len(self.labels)), np.float32)
        for i, distance in enumerate(DISTANCES):
            rows = [row_of(name) for name in word_attributes(form, distance, self.lexicon)]
            known = [row for row in rows if row is not None]
            if known:
                sums[i] = state[known].sum(axis=0, dtype=np.float32)
        return sums

    def _add_word(self, form: str) -> int:
        """Cache the scores of a new word and return its row in the table."""
        word_id = len(self._word_ids)
        if word_id == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        self._table[word_id] = self._word_scores(form)
        self._word_ids[form] = word_id
        self._pair_ids.append(self._pair_words.get(form.lower(), _NO_PAIR_WORD))
        self._cores.append(strip_clitics(form.lower()))
        return word_id

    def emissions(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """Score every label for every word, before the labels of its neighbours count.

        Parameters
        ----------
        sentences : sequence of sequence of str
            The words of each sentence.

        Returns
        -------
        list of array
            One array per sentence, words × labels.
        """
        if len(self._word_ids) > CACHED_WORDS:
            self._clear_cache()
        ids: list[int] = [0, 0]
        starts = []
        known = self._word_ids
        for forms in sentences:
            starts.append(len(ids))
            ids += [known[form] if form in known else self._add_word(form) for form in forms]
            ids += (0, 0)
        index = np.array(ids)
        table = self._table
        total = table[index, 0]
        for i, distance in enumerate(DISTANCES[1:], 1):
            total += np.roll(table[index, i], -distance, axis=0)
        self._add_pairs(index, total)
        self._add_places(ids, starts, total)
        return [
            total[start : start + len(forms)]
            for start, forms in zip(starts, sentences, strict=True)
        ]

    def _add_pairs(self, index: NDArray[np.intp], total: Floats) -> None:
        """Add the weights of a word with its neighbours; ``index`` has boundaries at both ends."""
        words = np.array(self._pair_ids)[index]
        before, word, after = words[:-2], words[1:-1], words[2:]
        for rows, (first, second) in zip(
            self._pairs, ((before, word), (word, after), (before, after)), strict=True
        ):
            at, found = rows.find(first, second)
            total[at + 1] += self._state[found]

    def _add_places(self, ids: Sequence[int], starts: Sequence[int], total: Floats) -> None:
        """Add the weights of words that are part of a listed place, or stand beside one."""
        cores = self._cores
        at: list[int] = []
        rows: list[int] = []
        for start, end in pairwise((*starts, len(ids))):
            stop = end - 2
            marks = self.lexicon.place_marks([cores[i] for i in ids[start:stop]])
            for i, mark in marks.items():
                for shift, row in self._places[mark]:
                    if start <= start + i + shift < stop:
                        at.append(start + i + shift)
                        rows.append(row)
        np.add.at(total, at, self._state[rows])

    def marginals(self, emissions: Sequence[Floats]) -> list[Floats]:
        """Compute P(label | sentence) of every word with the forward-backward recursions.

        Parameters
        ----------
        emissions : sequence of array
            One array per sentence, words × labels.

        Returns
        -------
        list of array
            Probabilities of the same shapes; each row sums to 1.
        """
        return _by_length(emissions, self._marginals_of_equal)

    def _marginals_of_equal(self, scores: Floats) -> Floats:
        """Marginals of sentences of equal length: sentences × words × labels."""
        length = scores.shape[1]
        if not length:
            return scores
        moves = np.exp(self._transition.astype(np.float64))
        likely = np.exp((scores - scores.max(axis=2, keepdims=True)).astype(np.float64))
        forward = np.empty_like(likely)
        forward[:, 0] = likely[:, 0]
        for t in range(1, length):
            reached = (forward[:, t - 1] @ moves) * likely[:, t]
            forward[:, t] = reached / reached.sum(axis=1, keepdims=True)
        backward = np.ones_like(likely[:, 0])
        for t in range(length - 1, -1, -1):
            forward[:, t] *= backward
            backward = (likely[:, t] * backward) @ moves.T
            backward /= backward.sum(axis=1, keepdims=True)
        return np.asarray(forward / forward.sum(axis=2, keepdims=True), np.float32)

    def best_paths(self, emissions: Sequence[Floats]) -> list[list[str]]:
        """Find the most probable labels of every sentence with the Viterbi algorithm.

        Parameters
        ----------
        emissions : sequence of array
            One array per sentence, words × labels; −inf forbids a label.

        Returns
        -------
        list of list of str
            The labels of each sentence.
        """
        paths = _by_length(emissions, self._paths_of_equal)
        return [[self.labels[i] for i in path] for path in paths]

    def _paths_of_equal(self, scores: Floats) -> NDArray[np.intp]:
        moves = self._transition
        count, length, size = scores.shape
        if not length:
            return np.empty((count, 0), np.intp)
        back = np.empty((count, length, size), np.intp)
        best = scores[:, 0]
        for t in range(1, length):
            through = best[:, :, None] + moves
            back[:, t] = through.argmax(axis=1)
            best = through.max(axis=1) + scores[:, t]
        path = np.empty((count, length), np.intp)
        path[:, -1] = best.argmax(axis=1)
        for t in range(length - 1, 0, -1):
            path[:, t - 1] = back[np.arange(count), t, path[:, t]]
        return path


def _compact(state: Floats) -> Floats | NDArray[np.float16]:
    """Return weights in half precision, as files hold them, if nothing is lost by it."""
    with np.errstate(over="ignore"):
        half = state.astype(np.float16)
    return half if np.array_equal(half, state) else state


def _by_length(
    items: Sequence[Floats], compute: Callable[[Floats], NDArray[Number]]
) -> list[NDArray[Number]]:
    """Run ``compute`` on stacks of arrays of equal length; the result of an empty one is empty."""
    results: dict[int, NDArray[Number]] = {}
    groups: dict[int, list[int]] = {}
    for i, item in enumerate(items):
        groups.setdefault(len(item), []).append(i)
    for members in groups.values():
        for part in range(0, len(members), BATCH):
            batch = members[part : part + BATCH]
            results |= zip(batch, compute(np.stack([items[i] for i in batch])), strict=True)
    return [results[i] for i in range(len(items))]
