"""Speaker encoders, which turn a recording into an embedding: a vector that tells who speaks.

The default, CAM++, ships with the package and runs on onnxruntime. Any other network in ONNX form
that takes Kaldi filter banks can be used by the path of its file; give its SHA-256 too, so that
another file is noticed. Models for speaker verification of Hugging Face's transformers are read
from a local folder; nothing is ever downloaded. A package adds encoders with entry points in the
group ``sottovoce.encoders``, each a function without parameters that makes an :class:`Encoder`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Protocol

import numpy as np

from sottovoce.core.errors import InputError, first_line
from sottovoce.core.onnx_networks import OnnxNetwork, checked_sha256, load_network
from sottovoce.core.records import Json, JsonObject, Record, optional
from sottovoce.core.registry import Registry
from sottovoce.core.types import Audio, Features, Vector
from sottovoce.signal.fbank import RATE, fbank
from sottovoce.signal.level import SHORTEST, prepared, without_pauses
from sottovoce.speaker.blocks import Block

BANKS = 80
"""Number of filter banks that networks take."""
PADDED_SECONDS = 0.5
"""Shorter recordings are repeated up to this length."""
PIECE_SECONDS = 60.0
"""Longer recordings are divided into pieces of about this length, whose vectors are averaged."""


@dataclass(frozen=True, slots=True)
class EncoderCard(Record):
    """What a user of an encoder's vectors has to know about it."""

    name: str
    dimension: int
    """Number of values in a vector."""
    licence: str
    origin: str
    """Where the weights come from."""
    sha256: str
    """SHA-256 of the weights; vectors of encoders that differ in it cannot be compared."""
    blocks: tuple[Block, ...] | None = optional()
    """Parts of a vector, where several encoders make it."""


class Encoder(Protocol):
    """Turns a recording into a vector."""

    @property
    def card(self) -> EncoderCard:
        """Name, dimension, licence and origin."""

    @property
    def trained_on(self) -> frozenset[str]:
        """Speakers it was trained on or selected by, who must not be attacked with it.

        Empty where they are unknown or cannot be in a user's corpus.
        """

    def embed(self, audio: Audio, rate: int) -> Vector:
        """Embed a recording.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel.
        rate : int
            Samples per second.

        Returns
        -------
        array of float32, d
            Finite values; what cannot be embedded raises an :class:`InputError`.
        """


class OnnxEncoder:
    """A network in ONNX form that takes filter banks (recordings × frames × 80), mean removed.

    Parameters
    ----------
    path : Path
        The network.
    sha256 : str, optional
        SHA-256 that the file must have; by default that of ``card``.
    card : EncoderCard, optional
        By default it is read from a JSON file of the same name beside the network, such as
        ``sottovoce train encoder`` writes, or made up from the name of the file.
    """

    def __init__(
        self, path: Path, *, sha256: str | None = None, card: EncoderCard | None = None
    ) -> None:
        self.path = path
        self._sha256 = checked_sha256(path, sha256 or (card.sha256 if card else None))
        self._card = card

    @property
    def card(self) -> EncoderCard:
        """The card given, or that of the file."""
        if self._card is not None:
            return self._card
        written = self._written_card
        dimension = self.run(np.zeros((1, 100, BANKS), np.float32)).shape[-1]
        return EncoderCard(
            str(written.get("name", self.path.stem)),
            dimension,
            str(written.get("licence", "as its file's")),
            str(written.get("origin", self.path.name)),
            self._sha256,
        )

    @property
    def trained_on(self) -> frozenset[str]:
        """Speakers it was trained on or tested with, if the card beside the file names them."""
        lists = (self._written_card.get(key) for key in ("speakers", "held_out_speakers"))
        return frozenset(str(name) for names in lists if isinstance(names, list) for name in names)

    @cached_property
    def _written_card(self) -> JsonObject:
        """The JSON beside the network; empty unless it was written for exactly this network."""
        try:
            card: Json = json.loads(self.path.with_suffix(".json").read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return card if isinstance(card, dict) and card.get("sha256") == self._sha256 else {}

    @cached_property
    def _network(self) -> OnnxNetwork:
        return load_network(self.path)

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """Embed a recording.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel, at least 0.1 s and not silent.
        rate : int, default 16000
            Samples per second.
        """
        parts = pieces(prepare(audio, rate))
        sums = [self.run(features(part)[None])[0] * len(part) for part in parts]
        return finite(np.sum(sums, axis=0) / sum(map(len, parts)))

    def run(self, banks: Features) -> Features:
        """Run the network on a batch.

        Parameters
        ----------
        banks : array of float32, recordings × frames × 80
            What :func:`features` returns, for recordings of one length.

        Returns
        -------
        array of float32, recordings × d
        """
        network_input = self._network.get_inputs()[0]
        shape = network_input.shape
        if len(shape) == 3 and shape[1] == BANKS and shape[2] != BANKS:
            banks = np.ascontiguousarray(banks.transpose(0, 2, 1))  # some take banks × frames
        try:
            vectors = self._network.run(None, {network_input.name: banks})[0]
        except Exception as error:
            reason = first_line(error)
            raise InputError(
                f"{self.path}: does not take filter banks of recordings × frames × {BANKS} "
                f"({reason}); export it with that input alone",
                code="unsupported",
            ) from None
        return np.asarray(vectors, np.float32).reshape(len(banks), -1)


class WithoutPauses:
    """An encoder that is given recordings with their pauses removed.

    Parameters
    ----------
    encoder : Encoder
        What embeds the speech that is left.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    @property
    def card(self) -> EncoderCard:
        """That of the encoder with another name and SHA-256, since the vectors are different."""
        card = self.encoder.card
        marked = hashlib.sha256(f"{card.sha256} without pauses".encode()).hexdigest()
        return replace(card, name=f"{card.name}, pauses removed", sha256=marked)

    @property
    def trained_on(self) -> frozenset[str]:
        """Those of the encoder."""
        return self.encoder.trained_on

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """Embed the speech of a recording; the recording itself where less than 0.1 s is left.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel.
        rate : int, default 16000
            Samples per second.
        """
        speech = without_pauses(np.asarray(audio, np.float32), rate)
        return self.encoder.embed(speech if len(speech) >= SHORTEST * rate else audio, rate)


def prepare(audio: Audio, rate: int) -> Audio:
    """Bring a recording to 16 kHz, a fixed level and a length that can be encoded.

    Parameters
    ----------
    audio : array of float32
        Samples of one channel, at least 0.1 s and not silent.
    rate : int
        Samples per second.
    """
    audio = prepared(audio, rate, RATE)
    if len(audio) < PADDED_SECONDS * RATE:
        audio = np.resize(audio, int(PADDED_SECONDS * RATE))
    return audio


def features(audio: Audio) -> Features:
    """Compute filter banks with their mean over time removed.

    Parameters
    ----------
    audio : array of float32
        Samples at 16 kHz, as :func:`prepare` returns them.

    Returns
    -------
    array of float32, frames × 80
    """
    banks = fbank(audio)
    return np.asarray(banks - banks.mean(axis=0), np.float32)


def pieces(audio: Audio) -> list[Audio]:
    """Divide a long recording into pieces of about a minute.

    Parameters
    ----------
    audio : array of float32
        Samples at 16 kHz.
    """
    count = max(1, round(len(audio) / (PIECE_SECONDS * RATE)))
    return np.array_split(audio, count)


def finite(vector: Vector) -> Vector:
    """Return a vector as float32; refuse one that is not finite.

    Parameters
    ----------
    vector : array of float
        What an encoder gave.
    """
    if not np.isfinite(vector).all():
        raise InputError(
            "the encoder gave a vector that is not finite; leave the recording out",
            code="not-finite",
        )
    return np.asarray(vector, np.float32)


CAMPPLUS = EncoderCard(
    name="campplus",
    dimension=192,
    licence="Apache-2.0",
    origin="CAM++ zh-en, common advanced, of 3D-Speaker (Wang et al. 2023), exported by "
    "recipes/export_campplus.py",
    sha256="b9207e78b48867b90d0dab0e2be6034b1660609eb9366caf35318e48043f4bab",
)

ENCODERS: Registry[Callable[[], Encoder]] = Registry("encoder", group="sottovoce.encoders")
"""Functions without parameters that make an encoder."""


def campplus() -> OnnxEncoder:
    """Make the default encoder, whose weights are part of the package."""
    weights = files("sottovoce.speaker") / "models" / "campplus_zh_en.onnx"
    return OnnxEncoder(Path(str(weights)), card=CAMPPLUS)


ENCODERS.add("campplus", campplus)


def make_encoder(name: str = "campplus", *, sha256: str | None = None) -> Encoder:
    """Make an encoder.

    Parameters
    ----------
    name : str, default "campplus"
        A registered name, the path of an ``.onnx`` file, or ``hf:FOLDER`` for a model of Hugging
        Face in a local folder.
    sha256 : str, optional
        SHA-256 that the weights of a file or folder must have.
    """
    if name.endswith(".onnx"):
        return OnnxEncoder(Path(name), sha256=sha256)
    if name.startswith("hf:"):
        from sottovoce.speaker.hugging_face import HuggingFaceEncoder

        return HuggingFaceEncoder(Path(name.removeprefix("hf:")), sha256=sha256)
    return ENCODERS[name]()
