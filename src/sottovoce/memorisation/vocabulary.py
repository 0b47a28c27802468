"""The words a model knows, by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sottovoce.core.records import Record

PADDING, UNKNOWN, START, END = 0, 1, 2, 3
_MARKS = ("<pad>", "<unk>", "<s>", "</s>")


@dataclass(frozen=True)
class Vocabulary(Record):
    """Words in the order of their numbers; four marks come first."""

    words: tuple[str, ...]

    @classmethod
    def of(
        cls, sentences: Iterable[Sequence[str]], *, most: int, always: Iterable[str] = ()
    ) -> Vocabulary:
        """Take the most frequent words.

        Parameters
        ----------
        sentences : iterable of sequences of str
            Words of each sentence.
        most : int
            How many words, besides those that are always known.
        always : iterable of str, optional
            Words that are known whether they are frequent or not.
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[:most]
        return cls((*_MARKS, *dict.fromkeys((*frequent, *always))))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of words; that of ``<unk>`` for unknown ones.

        Parameters
        ----------
        words : sequence of str
            Any words.
        """
        return [self._numbers.get(word, UNKNOWN) for word in words]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._numbers
