"""A BiLSTM tagger to study what taggers remember. Needs torch (extra ``learn``).

Vectors of words, one layer in both directions, dropout and a softmax for each word; trained with
Adam.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.core.records import Record
from sottovoce.core.types import FloatArray
from sottovoce.memorisation.taggers import EpochCheck
from sottovoce.memorisation.vocabulary import PADDING, Vocabulary

_BATCH = 256
"""Sentences that are tagged at once."""
_IGNORED = -100
"""Label of padding."""


@dataclass(frozen=True, slots=True)
class BilstmSettings(Record):
    """Size and training of a tagger."""

    embedding: int = 64
    hidden: int = 64
    dropout: float = 0.5
    epochs: int = 8
    batch: int = 32
    learning_rate: float = 3e-3
    seed: int = 0


class BilstmTagger(nn.Module):  # type: ignore[misc]
    """A tagger of all words of its training data.

    Parameters
    ----------
    vocabulary : Vocabulary
        Known words.
    labels : sequence of str
        IOB2 labels.
    settings : BilstmSettings
        Sizes and dropout.
    """

    def __init__(
        self, vocabulary: Vocabulary, labels: Sequence[str], settings: BilstmSettings
    ) -> None:
        super().__init__()
        self.vocabulary, self.labels = vocabulary, tuple(labels)
        self.vectors = nn.Embedding(len(vocabulary), settings.embedding, padding_idx=PADDING)
        self.lstm = nn.LSTM(
            settings.embedding, settings.hidden, batch_first=True, bidirectional=True
        )
        self.dropout = nn.Dropout(settings.dropout)
        self.output = nn.Linear(2 * settings.hidden, len(self.labels))

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return logits of the labels of each word.

        Parameters
        ----------
        words : Tensor of int64, sentences × words
            Numbers of words, padded.
        lengths : Tensor of int64, sentences
            Words of each sentence.
        """
        packed = pack_padded_sequence(
            self.dropout(self.vectors(words)), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.output(self.dropout(states))

    def confidences(self, sentences: Sequence[Sequence[str]], place: int, label: str) -> FloatArray:
        """Return P(label) of one word of each sentence.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words of each sentence.
        place : int
            Which word.
        label : str
            An IOB2 label; one that the data do not have has probability 0.
        """
        if label not in self.labels:
            return np.zeros(len(sentences))
        column = self.labels.index(label)
        return np.array([float(table[place, column]) for table in self._likely(sentences)])

    def tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the most likely label of each word.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words of each sentence.
        """
        return [
            [self.labels[i] for i in table.argmax(dim=1).tolist()]
            for table in self._likely(sentences)
        ]

    def _likely(self, sentences: Sequence[Sequence[str]]) -> Iterator[Tensor]:
        """Probabilities of each sentence, words × labels."""
        was_training = self.training
        self.eval()
        with torch.no_grad():
            for start in range(0, len(sentences), _BATCH):
                words, lengths = _pad(
                    [self.vocabulary.numbers(s) for s in sentences[start : start + _BATCH]], PADDING
                )
                likely = torch.softmax(self(words, lengths).double(), dim=2)
                yield from (likely[row, :length] for row, length in enumerate(lengths.tolist()))
        self.train(was_training)


def _pad(rows: Sequence[Sequence[int]], value: int) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(row) for row in rows])
    table = torch.full((len(rows), int(lengths.max())), value)
    for number, row in enumerate(rows):
        table[number, : len(row)] = torch.tensor(row)
    return table, lengths


def train_bilstm(
    sentences: Sequence[Sentence], settings: BilstmSettings, check: EpochCheck
) -> BilstmTagger:
    """Train a tagger.

    Parameters
    ----------
    sentences : sequence of Sentence
        Tagged sentences; empty ones are left out.
    settings : BilstmSettings
        Sizes, epochs and learning rate.
    check : callable
        Called after each epoch.
    """
    torch.manual_seed(settings.seed)
    kept = [sentence for sentence in sentences if sentence.words]
    vocabulary = Vocabulary.of((s.words for s in kept), most=1_000_000)
    labels = sorted({tag for sentence in kept for tag in sentence.tags})
    tagger = BilstmTagger(vocabulary, labels, settings)
    words = [vocabulary.numbers(sentence.words) for sentence in kept]
    tags = [[labels.index(tag) for tag in sentence.tags] for sentence in kept]
    optimiser = torch.optim.Adam(tagger.parameters(), lr=settings.learning_rate)
    generator = torch.Generator().manual_seed(settings.seed)
    loss = nn.CrossEntropyLoss(ignore_index=_IGNORED)
    for epoch in range(1, settings.epochs + 1):
        tagger.train()
        order = torch.randperm(len(kept), generator=generator).tolist()
        for start in range(0, len(order), settings.batch):
            rows = order[start : start + settings.batch]
            inputs, lengths = _pad([words[row] for row in rows], PADDING)
            targets, _ = _pad([tags[row] for row in rows], _IGNORED)
            optimiser.zero_grad()
            loss(tagger(inputs, lengths).flatten(0, 1), targets.flatten()).backward()
            optimiser.step()
        check(epoch, tagger)
    tagger.eval()
    return tagger
