"""From the output of a network trained with CTC to words, with or without a language model.

Connectionist temporal classification (Graves et al. 2006): the network gives each frame a
probability of every character and of a blank; a text has the probability of all sequences that
become this text once repetitions are merged and blanks removed.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sottovoce.core.records import Record
from sottovoce.core.types import Features, IntArray, RealArray

BLANK = 0
"""Place of the blank among the outputs; characters follow."""
SPACE = " "


def spell(text: str) -> str:
    """Return a transcript as a recogniser is taught to write it: lower case, no punctuation.

    Parameters
    ----------
    text : str
        A transcript.

    >>> spell("“Don't — STOP!”")
    "don't stop"
    """
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    letters = (
        char if char == "'" or unicodedata.category(char)[0] in "LMN" else " " for char in text
    )
    return " ".join(word for part in "".join(letters).split() if (word := part.strip("'")))


def alphabet_of(texts: Iterable[str]) -> str:
    """Return the characters of texts that were spelled, the space first.

    Parameters
    ----------
    texts : iterable of str
        Results of :func:`spell`.
    """
    return SPACE + "".join(sorted({char for text in texts for char in text} - {SPACE}))


class WordModel(Protocol):
    """A language model of up to three words, such as the trigram model of ``reassemble``."""

    def numbers(self, words: Sequence[str]) -> IntArray:
        """Return the number of each word; unknown words share one.

        Parameters
        ----------
        words : sequence of str
            Words in lower case.
        """

    def log_probability(self, *words: IntArray) -> RealArray:
        """Return ln P of the last word after the others, for many at once.

        Parameters
        ----------
        *words : array of int
            One to three words by number.
        """


@dataclass(frozen=True, slots=True)
class DecodingSettings(Record):
    """How much the language model counts, and how widely it is searched."""

    weight: float = 0.0
    """Of the language model: of ln P of each word and of what is added to it; 0 is without."""
    word_bonus: float = 6.5
    """Added to ln P of each word, since a language model prefers few words."""
    unknown: float = -3.0
    """Added to ln P for each letter of a word that the language model does not know."""
    beam: int = 12
    """Texts that are kept from frame to frame."""


SURE = math.log(0.98)
"""A frame is taken as it is if its most likely character is likelier than this."""
UNLIKELY = math.log(1e-3)
"""Characters of a frame that are less likely are not tried."""
MOST_TRIED = 6
"""Characters of a frame that are tried, the most likely ones."""


def best_path(log_probabilities: Features, alphabet: str) -> str:
    """Decode without a language model: the most likely character of each frame.

    Parameters
    ----------
    log_probabilities : array of float32, shape (frames, 1 + characters)
        Output of the network; the first column is the blank.
    alphabet : str
        Characters of the other columns.
    """
    best = log_probabilities.argmax(axis=1)
    kept = best[np.concatenate(([True], best[1:] != best[:-1]))] if len(best) else best
    return " ".join("".join(alphabet[i - 1] for i in kept if i != BLANK).split())


def _log_sum(a: float, b: float) -> float:
    """ln(e^a + e^b); NumPy's takes ten times as long for single numbers."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


@dataclass(slots=True)
class _Prefix:
    """A text so far: probabilities of ending in a blank or not, and what words add."""

    blank: float = -math.inf
    character: float = -math.inf
    words: float = 0.0
    """Contribution of the language model, of complete words."""

    @property
    def score(self) -> float:
        return _log_sum(self.blank, self.character) + self.words


@dataclass(slots=True)
class BeamDecoder:
    """Finds the text that network and language model together find most likely.

    Prefix search (Hannun et al. 2014): the language model scores each word when it is complete.
    """

    alphabet: str
    model: WordModel
    settings: DecodingSettings
    _known: dict[str, int] = field(default_factory=dict)
    _scores: dict[tuple[int, ...], float] = field(default_factory=dict)

    def decode(self, log_probabilities: Features) -> str:
        """Return the words of a recording.

        Parameters
        ----------
        log_probabilities : array of float32, shape (frames, 1 + characters)
            Output of the network; the first column is the blank.
        """
        beam = {"": _Prefix(blank=0.0)}
        for frame in log_probabilities:
            beam = self._extend(beam, frame)
        totals: dict[str, float] = {}
        for text, prefix in beam.items():  # with and without a space at the end
            words, score = text.rstrip(SPACE), prefix.score + self._last_word(text)
            totals[words] = _log_sum(totals.get(words, -math.inf), score)
        return max(totals, key=totals.__getitem__)

    def _extend(self, beam: dict[str, _Prefix], frame: Features) -> dict[str, _Prefix]:
        top = int(frame.argmax())
        sure = frame[top] > SURE
        tried = [top] if sure else self._candidates(frame)
        grown: dict[str, _Prefix] = {}
        for text, prefix in beam.items():
            total = _log_sum(prefix.blank, prefix.character)
            last = self.alphabet.find(text[-1]) + 1 if text else BLANK
            for column in tried:
                value = float(frame[column])
                if column == BLANK:
                    same = grown.setdefault(text, _Prefix(words=prefix.words))
                    same.blank = _log_sum(same.blank, total + value)
                    continue
                if column == last:  # a repetition; after a blank it is the character again
                    same = grown.setdefault(text, _Prefix(words=prefix.words))
                    same.character = _log_sum(same.character, prefix.character + value)
                    start = prefix.blank
                else:
                    start = total
                if start == -math.inf:
                    continue
                self._add_character(grown, text, prefix, column, start + value)
        if len(grown) <= self.settings.beam:
            return grown
        kept = sorted(grown, key=lambda text: -grown[text].score)[: self.settings.beam]
        return {text: grown[text] for text in kept}

    def _candidates(self, frame: Features) -> list[int]:
        likely = np.flatnonzero(frame > UNLIKELY)
        if len(likely) > MOST_TRIED:
            likely = likely[np.argsort(-frame[likely], kind="stable")[:MOST_TRIED]]
        return likely.tolist()

    def _add_character(
        self, grown: dict[str, _Prefix], text: str, prefix: _Prefix, column: int, value: float
    ) -> None:
        char = self.alphabet[column - 1]
        if char == SPACE and (not text or text.endswith(SPACE)):
            same = grown.setdefault(text, _Prefix(words=prefix.words))  # no empty words
            same.blank = _log_sum(same.blank, value)
            return
        longer = grown.get(text + char)
        if longer is None:
            added = self._last_word(text) if char == SPACE else 0.0
            longer = grown[text + char] = _Prefix(words=prefix.words + added)
        longer.character = _log_sum(longer.character, value)

    def _last_word(self, text: str) -> float:
        """What the language model adds for the last word, which is complete."""
        words = text.split()[-3:]
        if not words or text.endswith(SPACE):
            return 0.0
        numbers = tuple(self._number(word) for word in words)
        if numbers not in self._scores:
            arrays = [np.array([number]) for number in numbers]
            self._scores[numbers] = float(self.model.log_probability(*arrays)[0])
        settings = self.settings
        unknown = len(words[-1]) * settings.unknown if numbers[-1] == self._number("") else 0.0
        return settings.weight * (self._scores[numbers] + unknown + settings.word_bonus)

    def _number(self, word: str) -> int:
        if word not in self._known:
            self._known[word] = int(self.model.numbers([word])[0])
        return self._known[word]
