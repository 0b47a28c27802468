"""A BiLSTM tagger to study what taggers remember. Needs torch (extra ``learn``).

Vectors of words, one layer in both directions, dropout and a softmax for each word; trained with
Adam, or with the differentially private trainer of :mod:`sottovoce.learn`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.core.records import Record
from sottovoce.core.types import FloatArray
from sottovoce.learn import Draws, Lstm, PrivateRun
from sottovoce.memorisation.private_training import PrivacyBudget, train_privately
from sottovoce.memorisation.tagged_text import single_words
from sottovoce.memorisation.taggers import EpochCheck
from sottovoce.memorisation.vocabulary import PADDING, Vocabulary
from sottovoce.memorisation.word_vectors import read_vectors

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
    vocabulary: int | None = None
    """Most frequent words that are known, besides entities of one word; None for all."""
    vectors: str | None = None
    """File of word vectors that stay as they are; None for vectors that are learnt."""
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
    private : bool, default False
        Whether it has the layer with fast gradients of single sentences, which private training
        needs and which is slower otherwise. Both compute the same.
    vectors : array of float, words × embedding, optional
        Vectors of the words that stay as they are; by default they are random and learnt.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        settings: BilstmSettings,
        *,
        private: bool = False,
        vectors: FloatArray | None = None,
    ) -> None:
        super().__init__()
        self.vocabulary, self.labels = vocabulary, tuple(labels)
        width = settings.embedding if vectors is None else vectors.shape[1]
        sizes = width, settings.hidden
        self.vectors = nn.Embedding(len(vocabulary), width)
        if vectors is not None:
            self.vectors.weight.data = torch.as_tensor(vectors, dtype=torch.float32)
            self.vectors.weight.requires_grad = False
        self.lstm = (
            Lstm(*sizes, bidirectional=True)
            if private
            else nn.LSTM(*sizes, batch_first=True, bidirectional=True)
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
        return self.output(self.dropout(self._states(self.dropout(self.vectors(words)), lengths)))

    def _states(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        if isinstance(self.lstm, Lstm):
            return self.lstm(vectors, lengths)
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return states

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
    tagger, words, tags = _new_tagger(sentences, settings)
    parameters = [value for value in tagger.parameters() if value.requires_grad]
    optimiser = torch.optim.Adam(parameters, lr=settings.learning_rate)
    generator = torch.Generator().manual_seed(settings.seed)
    loss = nn.CrossEntropyLoss(ignore_index=_IGNORED)
    for epoch in range(1, settings.epochs + 1):
        tagger.train()
        order = torch.randperm(len(words), generator=generator).tolist()
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


def train_private_bilstm(
    sentences: Sequence[Sentence],
    settings: BilstmSettings,
    budget: PrivacyBudget,
    check: EpochCheck,
    *,
    draws: Draws | None = None,
) -> tuple[BilstmTagger, PrivateRun]:
    """Train a tagger with DPSGD; a sentence is what is protected.

    The words and labels that it knows are those of the data: that list is not protected.

    Parameters
    ----------
    sentences : sequence of Sentence
        Tagged sentences; empty ones are left out.
    settings : BilstmSettings
        Sizes; epochs, batches and learning rate are those of the budget.
    budget : PrivacyBudget
        ε and δ of the whole run, and how it is spent.
    check : callable
        Called after each epoch.
    draws : Draws, optional
        Lots and noise; by default from a new secret seed.

    Returns
    -------
    (BilstmTagger, PrivateRun)
        The tagger, and what is guaranteed.
    """
    tagger, words, tags = _new_tagger(sentences, settings, private=True)
    inputs, lengths = _pad(words, PADDING)
    targets, _ = _pad(tags, _IGNORED)
    run = train_privately(
        tagger,
        _mean_loss,
        (inputs, lengths, targets),
        budget,
        lambda epoch: check(epoch, tagger),
        collate=_cut_padding,
        draws=draws,
    )
    tagger.eval()
    return tagger, run


def _new_tagger(
    sentences: Sequence[Sentence], settings: BilstmSettings, *, private: bool = False
) -> tuple[BilstmTagger, list[list[int]], list[list[int]]]:
    """A tagger with random weights, and the numbers of words and labels of each sentence."""
    torch.manual_seed(settings.seed)
    kept = [sentence for sentence in sentences if sentence.words]
    most = settings.vocabulary or len(kept) * max(len(sentence.words) for sentence in kept)
    always = sorted(single_words(kept))
    vocabulary = Vocabulary.of((s.words for s in kept), most=most, always=always)
    labels = sorted({tag for sentence in kept for tag in sentence.tags})
    given = (
        None
        if settings.vectors is None
        else read_vectors(Path(settings.vectors), vocabulary, seed=settings.seed)
    )
    tagger = BilstmTagger(vocabulary, labels, settings, private=private, vectors=given)
    words = [vocabulary.numbers(sentence.words) for sentence in kept]
    return tagger, words, [[labels.index(tag) for tag in sentence.tags] for sentence in kept]


def _mean_loss(model: nn.Module, words: Tensor, lengths: Tensor, tags: Tensor) -> Tensor:
    """Mean cross-entropy of the words of sentences; padding does not count."""
    logits = model(words, lengths).flatten(0, 1)
    losses = nn.functional.cross_entropy(
        logits, tags.flatten(), ignore_index=_IGNORED, reduction="none"
    )
    inside = (tags.flatten() != _IGNORED).to(losses.dtype)
    return losses.sum() / inside.sum().clamp(min=1)


def _cut_padding(batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    words, lengths, tags = batch
    longest = int(lengths.max()) if len(lengths) else 1
    return words[:, :longest], lengths, tags[:, :longest]
