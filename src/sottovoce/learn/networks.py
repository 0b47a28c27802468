"""Networks for private training: LeNet-5, a small convolutional network, and a reader of text.

Each can be normalised in the ways that :data:`NORMALISATIONS` names; all of them have tanh or
other bounded activations, with which clipped gradients are better used than with rectifiers.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from sottovoce.core.errors import InputError
from sottovoce.learn.lstm import Lstm
from sottovoce.learn.normalisation import PublicBatchNorm

Normalisation = Literal["none", "layer", "group", "batch"]
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)


def normaliser(kind: Normalisation, channels: int, *size: int) -> nn.Module:
    """Build a normalising layer.

    Parameters
    ----------
    kind : {"none", "layer", "group", "batch"}
        ``batch`` is :class:`~sottovoce.learn.PublicBatchNorm`.
    channels : int
        Channels of the input.
    *size : int
        Height and width of the input; none for vectors.
    """
    if kind == "layer":
        return nn.LayerNorm([channels, *size])
    if kind == "group":
        return nn.GroupNorm(next(n for n in (4, 2, 1) if channels % n == 0), channels)
    return PublicBatchNorm(channels) if kind == "batch" else nn.Identity()


class LeNet5(nn.Module):  # type: ignore[misc]
    """LeNet-5 (LeCun et al. 1998) with tanh and average pooling, for images of 28 × 28.

    Parameters
    ----------
    normalisation : {"none", "layer", "group", "batch"}, default "none"
        After each layer but the last, before tanh.
    classes : int, default 10
        Number of classes.
    """

    def __init__(self, normalisation: Normalisation = "none", *, classes: int = 10) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2),
            normaliser(normalisation, 6, 28, 28),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Conv2d(6, 16, 5),
            normaliser(normalisation, 16, 10, 10),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(400, 120),
            normaliser(normalisation, 120),
            nn.Tanh(),
            nn.Linear(120, 84),
            normaliser(normalisation, 84),
            nn.Tanh(),
            nn.Linear(84, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the classes.

        Parameters
        ----------
        x : Tensor, images × 1 × 28 × 28
            Brightness from 0 to 1.
        """
        return self.layers(x)

    def take_convolutions(self, weights: dict[str, Tensor]) -> None:
        """Take the convolutions of a network trained on public images, and freeze them.

        Only the linear layers are trained then.

        Parameters
        ----------
        weights : dict of str to Tensor
            State dictionary of a network of this kind and normalisation.

        Raises
        ------
        InputError
            ``wrong-shape`` if it is not from such a network.
        """
        for place, layer in enumerate(self.layers):
            if isinstance(layer, nn.Flatten):
                return
            for name, parameter in layer.named_parameters():
                value = weights.get(f"layers.{place}.{name}")
                if value is None or value.shape != parameter.shape:
                    raise InputError(
                        f"the pre-trained network has no layers.{place}.{name} of this shape; use "
                        "one of the same normalisation",
                        code="wrong-shape",
                    )
                parameter.data.copy_(value)
                parameter.requires_grad_(False)


class SentenceClassifier(nn.Module):  # type: ignore[misc]
    """A bidirectional LSTM over a sentence, averaged over its words, and a dense layer.

    Parameters
    ----------
    vocabulary : int
        Number of words, the padding (0) included.
    classes : int
        Number of classes.
    normalisation : {"none", "layer"}, default "none"
        Of the averaged states, and of the words' vectors.
    dimension : int, default 50
        Values of a word's vector.
    hidden : int, default 64
        Values of the state of one direction.
    """

    def __init__(
        self,
        vocabulary: int,
        classes: int,
        normalisation: Literal["none", "layer"] = "none",
        *,
        dimension: int = 50,
        hidden: int = 64,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, dimension)
        self.word_norm = normaliser(normalisation, dimension)
        self.reader = Lstm(dimension, hidden, bidirectional=True)
        self.norm = normaliser(normalisation, 2 * hidden)
        self.dense = nn.Linear(2 * hidden, classes)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return the scores of the classes.

        Parameters
        ----------
        tokens : Tensor of int, sentences × words
            Numbers of words, padded with 0.
        lengths : Tensor of int, sentences
            Words of each sentence, at least 1.
        """
        states = self.reader(self.word_norm(self.words(tokens)), lengths)
        mean = states.sum(1) / lengths.unsqueeze(-1).to(states.dtype)
        return self.dense(self.norm(mean))


class VectorClassifier(nn.Module):  # type: ignore[misc]
    """A small network over vectors, such as speaker embeddings.

    Parameters
    ----------
    dimension : int
        Values of a vector.
    classes : int
        Number of classes.
    normalisation : {"none", "layer", "group", "batch"}, default "none"
        Of the hidden layer.
    hidden : int, default 32
        Values of the hidden layer.
    """

    def __init__(
        self,
        dimension: int,
        classes: int,
        normalisation: Normalisation = "none",
        *,
        hidden: int = 32,
    ) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(dimension, hidden),
            normaliser(normalisation, hidden),
            nn.Tanh(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the classes.

        Parameters
        ----------
        x : Tensor, records × dimension
            Vectors.
        """
        return self.layers(x)


def cut_padding(batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Cut columns of padding that no sentence of a batch needs; for ``collate``.

    Parameters
    ----------
    batch : tuple of Tensor
        Tokens (sentences × words), their lengths, and whatever else.
    """
    tokens, lengths, *rest = batch
    longest = int(torch.max(lengths)) if len(lengths) else 1
    return (tokens[:, :longest], lengths, *rest)
