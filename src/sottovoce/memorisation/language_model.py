"""A small LSTM language model to study what models remember. Needs torch (extra ``learn``).

One layer, as in COMPRISE deliverable D2.3, section 4.3.5. It is trained with Adam, or with the
differentially private trainer of :mod:`sottovoce.learn`, a sentence being what is protected.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.core.errors import InputError
from sottovoce.core.files import write_bytes
from sottovoce.core.records import Record
from sottovoce.core.types import FloatArray
from sottovoce.learn import Draws, Lstm, PrivateRun
from sottovoce.memorisation.private_training import PrivacyBudget, train_privately
from sottovoce.memorisation.vocabulary import END, PADDING, START, Vocabulary

MODEL_FILE = "language_model.npz"
"""Name of the file in the folder of a model."""
_ROWS = 2048
"""Values that are scored at once."""


@dataclass(frozen=True, slots=True)
class LanguageModelSettings(Record):
    """Size and training of a language model."""

    embedding: int = 48
    hidden: int = 96
    epochs: int = 20
    batch: int = 32
    learning_rate: float = 3e-3
    vocabulary: int = 1500
    """Most frequent words that are known, besides those of canaries."""
    seed: int = 0


class LanguageModel(nn.Module):  # type: ignore[misc]
    """Words in, ln P of the next word out.

    Parameters
    ----------
    vocabulary : Vocabulary
        The words it knows.
    embedding, hidden : int
        Sizes of the vectors of words and of the state.
    vectors : array of float32, words × embedding, optional
        Vectors of the words that stay as they are; by default they are random and learnt.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        embedding: int,
        hidden: int,
        vectors: FloatArray | None = None,
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.vectors = nn.Embedding(len(vocabulary), embedding)
        if vectors is not None:
            self.vectors.weight.data = torch.as_tensor(vectors, dtype=torch.float32)
            self.vectors.weight.requires_grad = False
        self.lstm = Lstm(embedding, hidden)
        self.output = nn.Linear(hidden, len(vocabulary))

    def forward(self, words: Tensor) -> Tensor:
        """Return logits of the next word after each word.

        Parameters
        ----------
        words : Tensor of int64, sentences × words
            Numbers of words.
        """
        return self.output(self.lstm(self.vectors(words)))

    def step(self, words: Tensor, state: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Read one word after each state.

        Parameters
        ----------
        words : Tensor of int64, n
            The words.
        state, memory : Tensor, n × hidden
            State and memory before them.
        """
        weights = self.lstm
        gates = self.vectors(words) @ weights.weight_ih_l0.t() + weights.bias_ih_l0
        gates = gates + state @ weights.weight_hh_l0.t() + weights.bias_hh_l0
        take, keep, candidate, give = gates.chunk(4, dim=-1)
        memory = torch.sigmoid(keep) * memory + torch.sigmoid(take) * torch.tanh(candidate)
        return torch.sigmoid(give) * torch.tanh(memory), memory

    def save(self, folder: Path) -> None:
        """Write the model as plain arrays.

        Parameters
        ----------
        folder : Path
            Gets the file :data:`MODEL_FILE`.
        """
        buffer = io.BytesIO()
        words = np.frombuffer(json.dumps(self.vocabulary.words).encode(), np.uint8)
        arrays = {name: value.detach().numpy() for name, value in self.state_dict().items()}
        np.savez(buffer, words=words, **arrays)
        write_bytes(folder / MODEL_FILE, buffer.getvalue())

    @classmethod
    def load(cls, folder: Path) -> LanguageModel:
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        folder : Path
            With the file :data:`MODEL_FILE`.

        Raises
        ------
        InputError
            ``damaged``.
        """
        path = folder / MODEL_FILE
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            vocabulary = Vocabulary(tuple(json.loads(arrays.pop("words").tobytes())))
            embedding = arrays["vectors.weight"].shape[1]
            model = cls(vocabulary, embedding, arrays["output.weight"].shape[1])
            model.load_state_dict({name: torch.as_tensor(a) for name, a in arrays.items()})
        except (OSError, ValueError, KeyError, RuntimeError):
            raise InputError(
                f"{path}: not a language model of sottovoce; train it again", code="damaged"
            ) from None
        model.eval()
        return model


Batch = tuple[Tensor, Tensor]


def encode(sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> Batch:
    """Number the words of sentences.

    Parameters
    ----------
    sentences : sequence of sequences of str
        Words of each sentence.
    vocabulary : Vocabulary
        Known words.

    Returns
    -------
    (Tensor, Tensor)
        Words with the start before them, and the words to be told with the end after them; both
        sentences × words, padded.
    """
    numbers = [vocabulary.numbers(sentence) for sentence in sentences]
    width = max(map(len, numbers)) + 1
    inputs = torch.full((len(numbers), width), PADDING)
    targets = torch.full((len(numbers), width), PADDING)
    for row, words in enumerate(numbers):
        inputs[row, : len(words) + 1] = torch.tensor([START, *words])
        targets[row, : len(words) + 1] = torch.tensor([*words, END])
    return inputs, targets


def sentence_loss(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy of words, in nats; padding does not count.

    Parameters
    ----------
    model : nn.Module
        A language model.
    inputs, targets : Tensor of int64, sentences × words
        As :func:`encode` returns them.
    """
    logits = model(inputs).flatten(0, 1)
    losses = nn.functional.cross_entropy(logits, targets.flatten(), reduction="none")
    inside = (targets.flatten() != PADDING).to(losses.dtype)
    return (losses * inside).sum() / inside.sum().clamp(min=1)


def perplexity(model: LanguageModel, sentences: Sequence[Sequence[str]]) -> float:
    """Return the perplexity of sentences, their ends included.

    Parameters
    ----------
    model : LanguageModel
        The model.
    sentences : sequence of sequences of str
        Words of each sentence.
    """
    inputs, targets = encode(sentences, model.vocabulary)
    total, words = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(inputs), 256):
            part = slice(start, start + 256)
            count = int((targets[part] != PADDING).sum())
            total += float(sentence_loss(model, inputs[part], targets[part])) * count
            words += count
    return math.exp(total / words)


def candidate_perplexities(
    model: LanguageModel, prefix: Sequence[str], values: Sequence[Sequence[str]]
) -> FloatArray:
    """Return the log-perplexity in bits of each value after a prefix.

    Values that begin alike share their states, so all 10,000 numbers of four digits take 1,111
    steps of the network.

    Parameters
    ----------
    model : LanguageModel
        The model.
    prefix : sequence of str
        Words before the value.
    values : sequence of sequences of str
        Words of each value.
    """
    numbers = [model.vocabulary.numbers(value) for value in values]
    bits = np.empty(len(numbers))
    lengths = np.array([len(value) for value in numbers])
    with torch.no_grad():
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            table = torch.tensor([numbers[row] for row in rows])
            bits[rows] = _tree_perplexities(model, prefix, table)
    return bits


def _tree_perplexities(model: LanguageModel, prefix: Sequence[str], values: Tensor) -> FloatArray:
    hidden = model.lstm.hidden
    state, memory = torch.zeros(1, hidden), torch.zeros(1, hidden)
    for number in [START, *model.vocabulary.numbers(prefix)]:
        state, memory = model.step(torch.tensor([number]), state, memory)
    at = torch.zeros(len(values), dtype=torch.int64)
    total = torch.zeros(len(values))
    for place in range(values.shape[1]):
        words = values[:, place]
        total -= _next_log_probabilities(model, state, at, words)
        if place + 1 < values.shape[1]:
            pairs, at = torch.unique(at * len(model.vocabulary) + words, return_inverse=True)
            before, read = pairs // len(model.vocabulary), pairs % len(model.vocabulary)
            state, memory = model.step(read, state[before], memory[before])
    return cast("FloatArray", (total / math.log(2)).double().numpy())


def _next_log_probabilities(
    model: LanguageModel, state: Tensor, at: Tensor, words: Tensor
) -> Tensor:
    """ln P of a word after each value's state, for a part of the states at a time."""
    result = torch.empty(len(words))
    for start in range(0, len(state), _ROWS):
        logs = torch.log_softmax(model.output(state[start : start + _ROWS]), dim=1)
        rows = torch.nonzero((at >= start) & (at < start + _ROWS)).flatten()
        result[rows] = logs[at[rows] - start, words[rows]]
    return result


Check = Callable[[int, LanguageModel], None]
"""Called after an epoch with its number from 1 and the model."""


def new_model(
    vocabulary: Vocabulary, settings: LanguageModelSettings, vectors: FloatArray | None = None
) -> LanguageModel:
    """Make a model with random weights.

    Parameters
    ----------
    vocabulary : Vocabulary
        Known words.
    settings : LanguageModelSettings
        Sizes and seed.
    vectors : array of float32, words × embedding, optional
        Given vectors of the words.
    """
    torch.manual_seed(settings.seed)
    width = settings.embedding if vectors is None else vectors.shape[1]
    return LanguageModel(vocabulary, width, settings.hidden, vectors)


def train_model(
    model: LanguageModel,
    sentences: Sequence[Sequence[str]],
    settings: LanguageModelSettings,
    check: Check,
) -> None:
    """Train with Adam, without any protection.

    Parameters
    ----------
    model : LanguageModel
        Trained in place.
    sentences : sequence of sequences of str
        Training text.
    settings : LanguageModelSettings
        Epochs, batches and learning rate.
    check : callable
        Called after each epoch.
    """
    inputs, targets = encode(sentences, model.vocabulary)
    lengths = (targets != PADDING).sum(dim=1)
    parameters = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.Adam(parameters, lr=settings.learning_rate)
    generator = torch.Generator().manual_seed(settings.seed)
    for epoch in range(1, settings.epochs + 1):
        order = torch.randperm(len(inputs), generator=generator)
        for start in range(0, len(order), settings.batch):
            rows = order[start : start + settings.batch]
            width = int(lengths[rows].max())
            optimiser.zero_grad()
            loss = sentence_loss(model, inputs[rows, :width], targets[rows, :width])
            loss.backward()
            optimiser.step()
        check(epoch, model)


def train_private_model(
    model: LanguageModel,
    sentences: Sequence[Sequence[str]],
    budget: PrivacyBudget,
    check: Check,
    *,
    draws: Draws | None = None,
) -> PrivateRun:
    """Train with DPSGD (Adam on noisy gradients); a sentence is what is protected.

    Parameters
    ----------
    model : LanguageModel
        Trained in place.
    sentences : sequence of sequences of str
        Training text.
    budget : PrivacyBudget
        ε and δ of the whole run, and how it is spent.
    check : callable
        Called after each epoch.
    draws : Draws, optional
        Lots and noise; by default from a new secret seed.
    """
    data = encode(sentences, model.vocabulary)
    return train_privately(
        model,
        sentence_loss,
        data,
        budget,
        lambda epoch: check(epoch, model),
        collate=_cut_padding,
        draws=draws,
    )


def _cut_padding(batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Leave out columns that no sentence of a chunk needs; no gradient changes."""
    inputs, targets = batch
    width = max(1, int((targets != PADDING).sum(dim=1).max())) if len(targets) else 1
    return inputs[:, :width], targets[:, :width]
