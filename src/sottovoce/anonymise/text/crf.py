"""Linear-chain conditional random fields: how a sentence is tagged.

Weights come from CRFsuite (:mod:`.training`) and are kept in a file of plain arrays, so that
nothing but numbers is loaded. Sentences are tagged together: emissions of all words are sums of
rows kept per word, and the recursions run over all sentences of a batch at once.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.text.features import (
    BOUNDARY,
    DISTANCES,
    NEAR,
    PAIRS,
    place_attribute,
    word_attributes,
)
from sottovoce.anonymise.text.lexicon import PLACE_MARKS, Lexicon, core_of
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_bytes

Floats = NDArray[np.float32]

OUTSIDE = "O"
KEPT_WORDS = 50_000
"""Words whose sums are kept; when there are more, the table begins anew."""
BATCH = 1024
"""Sentences tagged at once."""


@dataclass(frozen=True)
class Weights:
    """What training found: one row of weights an attribute, one column a label."""

    labels: tuple[str, ...]
    rows: dict[str, int]
    state: Floats
    transition: Floats
    card: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def gather(
        cls,
        labels: Sequence[str],
        state: Mapping[tuple[str, str], float],
        transition: Mapping[tuple[str, str], float],
        card: dict[str, Any],
        *,
        least: float = 0.0,
    ) -> Weights:
        """From the weights by name; those smaller than ``least`` are dropped."""
        index = {label: i for i, label in enumerate(labels)}
        kept = {key: w for key, w in state.items() if abs(w) >= least}
        rows = {name: i for i, name in enumerate(sorted({attribute for attribute, _ in kept}))}
        table = np.zeros((len(rows), len(labels)), np.float32)
        for (attribute, label), weight in kept.items():
            table[rows[attribute], index[label]] = weight
        moves = np.zeros((len(labels), len(labels)), np.float32)
        for (before, after), weight in transition.items():
            moves[index[before], index[after]] = weight
        return cls(tuple(labels), rows, table, moves, card)

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all: half-precision weights, zeros left out."""
        filled = self.state != 0
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            attributes=np.frombuffer("\t".join(self.rows).encode(), np.uint8),
            filled=np.packbits(filled),
            state=self.state[filled].astype(np.float16),
            transition=self.transition,
            card=np.frombuffer(json.dumps({"labels": self.labels, **self.card}).encode(), np.uint8),
        )
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Weights:
        """Read a file that :meth:`save` wrote."""
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as data:
                card = json.loads(data["card"].tobytes())
                labels = tuple(card.pop("labels"))
                names = data["attributes"].tobytes().decode().split("\t")
                shape = (len(names), len(labels))
                state = np.zeros(shape, np.float32)
                filled = np.unpackbits(data["filled"], count=shape[0] * shape[1])
                state[filled.reshape(shape).astype(bool)] = data["state"]
                moves = data["transition"].reshape(len(labels), len(labels))
                return cls(labels, {n: i for i, n in enumerate(names)}, state, moves, card)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}); check the name") from None
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            raise InputError(f"{path}: no tagger; 'sottovoce train entities' makes one") from None


def mean(one: Weights, other: Weights) -> Weights:
    """The mean of two sets of weights; an attribute or label that one of them lacks counts as 0."""
    labels = tuple(dict.fromkeys((*one.labels, *other.labels)))
    names = sorted(one.rows.keys() | other.rows.keys())
    rows = {name: i for i, name in enumerate(names)}
    state = np.zeros((len(names), len(labels)), np.float32)
    moves = np.zeros((len(labels), len(labels)), np.float32)
    for weights in (one, other):
        columns = [labels.index(label) for label in weights.labels]
        state[np.ix_([rows[name] for name in weights.rows], columns)] += weights.state / 2
        moves[np.ix_(columns, columns)] += weights.transition / 2
    return Weights(labels, rows, state, moves, one.card)


class Crf:
    """Tags sentences with given weights."""

    def __init__(self, weights: Weights, lexicon: Lexicon) -> None:
        self.weights = weights
        self.labels = weights.labels
        self.lexicon = lexicon
        self.outside = weights.labels.index(OUTSIDE)
        self._pairs: dict[str, dict[str, int]] = {kind: {} for kind in PAIRS}
        self._places: dict[str, list[tuple[int, int]]] = {}
        self._index_pairs()
        self._forget()

    def _index_pairs(self) -> None:
        """Rows of pairs by the two words, and rows of places by their marks."""
        for name, row in self.weights.rows.items():
            if name[:2] in self._pairs:
                self._pairs[name[:2]][name[2:]] = row
        for mark in PLACE_MARKS:
            named = [(-near, self.weights.rows.get(place_attribute(mark, near))) for near in NEAR]
            self._places[mark] = [(shift, row) for shift, row in named if row is not None]

    def _forget(self) -> None:
        self._index = {BOUNDARY: 0}
        table = np.zeros((1024, len(DISTANCES), len(self.labels)), np.float32)
        table[0] = self._sums(BOUNDARY)
        self._table = table

    def _sums(self, form: str) -> Floats:
        get, state = self.weights.rows.get, self.weights.state
        sums = np.zeros((len(DISTANCES), len(self.labels)), np.float32)
        for i, distance in enumerate(DISTANCES):
            rows = [get(name) for name in word_attributes(form, distance, self.lexicon)]
            known = [row for row in rows if row is not None]
            if known:
                sums[i] = state[known].sum(axis=0)
        return sums

    def _word(self, form: str) -> int:
        found = self._index.get(form)
        if found is None:
            found = len(self._index)
            if found == len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            self._table[found] = self._sums(form)
            self._index[form] = found
        return found

    def emissions(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """Scores of every label for every word, before its neighbours' labels count."""
        if len(self._index) > KEPT_WORDS:
            self._forget()
        ids: list[int] = [0, 0]
        extra_at: list[int] = []
        extra_row: list[int] = []
        starts = []
        known = self._index
        for forms in sentences:
            starts.append(len(ids))
            self._pairs_and_places(forms, len(ids), extra_at, extra_row)
            ids += [known[form] if form in known else self._word(form) for form in forms]
            ids += (0, 0)
        index = np.array(ids)
        table = self._table
        total = table[index, 0]
        for i, distance in enumerate(DISTANCES[1:], 1):
            total += np.roll(table[index, i], -distance, axis=0)
        np.add.at(total, extra_at, self.weights.state[extra_row])
        return [
            total[start : start + len(forms)]
            for start, forms in zip(starts, sentences, strict=True)
        ]

    def _pairs_and_places(
        self, forms: Sequence[str], start: int, at: list[int], rows: list[int]
    ) -> None:
        """Attributes of more than one word, as positions and rows of weights."""
        low = [BOUNDARY, *[form.lower() for form in forms], BOUNDARY]
        with_before, with_after, around = (self._pairs[kind] for kind in PAIRS)
        for i, pair in enumerate(map("|".join, pairwise(low)), start):
            if pair in with_before:
                at.append(i)
                rows.append(with_before[pair])
            if pair in with_after:
                at.append(i - 1)
                rows.append(with_after[pair])
        for i, pair in enumerate(map("|".join, zip(low, low[2:], strict=False)), start):
            if pair in around:
                at.append(i)
                rows.append(around[pair])
        marks = self.lexicon.place_marks([core_of(form) for form in low[1:-1]])
        for i, mark in enumerate(marks):
            for shift, row in self._places.get(mark, ()):
                if 0 <= i + shift < len(forms):
                    at.append(start + i + shift)
                    rows.append(row)

    def marginals(self, emissions: Sequence[Floats]) -> list[Floats]:
        """P(label | sentence) of every word, by the forward-backward recursions."""
        return _by_length(emissions, self._marginals_of_equal)

    def _marginals_of_equal(self, scores: Floats) -> Floats:
        """For sentences of one length: sentences × words × labels."""
        moves = np.exp(self.weights.transition.astype(np.float64))
        likely = np.exp((scores - scores.max(axis=2, keepdims=True)).astype(np.float64))
        length = scores.shape[1]
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
        """The most probable labels of every sentence (Viterbi); −inf forbids a label."""
        paths = _by_length(emissions, self._paths_of_equal)
        return [[self.labels[i] for i in path] for path in paths]

    def _paths_of_equal(self, scores: Floats) -> NDArray[np.intp]:
        moves = self.weights.transition
        count, length, size = scores.shape
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


def _by_length(items: Sequence[Floats], work: Any) -> list[Any]:
    """Run ``work`` on stacks of items of one length; empty ones are returned as they are."""
    found: list[Any] = list(items)
    groups: dict[int, list[int]] = {}
    for i, item in enumerate(items):
        groups.setdefault(len(item), []).append(i)
    for length, members in groups.items():
        if length:
            for part in range(0, len(members), BATCH):
                chosen = members[part : part + BATCH]
                for i, result in zip(
                    chosen, work(np.stack([items[j] for j in chosen])), strict=True
                ):
                    found[i] = result
    return found
