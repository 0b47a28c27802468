"""Speaker encoders: from a recording to a vector that tells who speaks.

The default, CAM++, ships with the package and runs on onnxruntime. Any other network in ONNX form
that takes Kaldi filter banks can be used by naming its file and, so that nobody swaps it, its
SHA-256. Packages add encoders through entry points in the group ``sottovoce.encoders``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.onnx_networks import checked_sha256, load_network
from sottovoce.core.registry import Registry
from sottovoce.core.types import Audio, Vector
from sottovoce.signal.fbank import RATE, fbank
from sottovoce.signal.level import SHORTEST, prepared
from sottovoce.signal.vad import without_pauses

BANKS = 80
"""Filter banks that networks take."""
PADDED = 0.5
"""Seconds to which short recordings are repeated."""
LONGEST = 60.0
"""Seconds taken at once; a longer recording is the mean of its pieces."""


class Encoder(Protocol):
    """Turns audio into a vector."""

    @property
    def card(self) -> EncoderCard:
        """Where it comes from and what it is called."""

    def embed(self, audio: Audio, rate: int) -> Vector:
        """One vector of a recording; never NaN, an error instead."""


@dataclass(frozen=True, slots=True)
class EncoderCard:
    """What has to be known of an encoder before its vectors are used."""

    name: str
    dimension: int
    licence: str
    origin: str
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in self.__slots__}


class OnnxEncoder:
    """A network in ONNX form with input frames × 80 filter banks, their mean over time removed."""

    def __init__(
        self, path: Path, *, sha256: str | None = None, card: EncoderCard | None = None
    ) -> None:
        self.path = path
        found = checked_sha256(path, sha256 or (card.sha256 if card else None))
        self._card = card
        self._sha256 = found

    @property
    def card(self) -> EncoderCard:
        """Where it comes from; of a file named by the user, the file."""
        if self._card is not None:
            return self._card
        about = self._about
        size = self.run(np.zeros((1, 100, BANKS), np.float32)).shape[-1]
        return EncoderCard(
            str(about.get("name", self.path.stem)),
            size,
            str(about.get("licence", "as its file's")),
            str(about.get("origin", self.path.name)),
            self._sha256,
        )

    @property
    def trained_on(self) -> frozenset[str]:
        """Speakers it was trained on or chosen by, as far as the card beside it says."""
        names = (self._about.get(name) for name in ("speakers", "held_out_speakers"))
        return frozenset(str(one) for own in names if isinstance(own, list) for one in own)

    @cached_property
    def _about(self) -> dict[str, Any]:
        return _read_card(self.path.with_suffix(".json"), self._sha256)

    @cached_property
    def session(self) -> Any:
        """The network, loaded when first used."""
        return load_network(self.path)

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """One vector of a recording."""
        pieces = cut(prepare(audio, rate))
        vectors = [self.run(features(piece)[None])[0] * len(piece) for piece in pieces]
        vector = np.sum(vectors, axis=0) / sum(map(len, pieces))
        if not np.isfinite(vector).all():
            raise InputError(
                "the encoder gave a vector that is not finite; leave the recording out"
            )
        return np.asarray(vector, np.float32)

    def run(self, banks: NDArray[np.float32]) -> NDArray[np.float32]:
        """Vectors of a batch of recordings of one length (recordings × frames × 80)."""
        wanted = self.session.get_inputs()[0]
        if len(wanted.shape) == 3 and wanted.shape[1] == BANKS and wanted.shape[2] != BANKS:
            banks = np.ascontiguousarray(banks.transpose(0, 2, 1))  # some want banks × frames
        try:
            found = self.session.run(None, {wanted.name: banks})[0]
        except Exception as error:
            reason = (str(error).splitlines() or ["it failed"])[0][:100]
            raise InputError(
                f"{self.path}: does not take filter banks of recordings × frames × {BANKS} "
                f"({reason}); export it with that input alone"
            ) from None
        return np.asarray(found, np.float32).reshape(len(banks), -1)


class WithoutPauses:
    """An encoder that is given the speech of a recording without its pauses."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    @property
    def card(self) -> EncoderCard:
        """That of the encoder, marked: these are other vectors."""
        card = self.encoder.card
        marked = hashlib.sha256(f"{card.sha256} without pauses".encode()).hexdigest()
        return replace(card, name=f"{card.name}, pauses removed", sha256=marked)

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """One vector of the speech in a recording."""
        spoken = without_pauses(np.asarray(audio, np.float32), rate)
        return self.encoder.embed(spoken if len(spoken) >= SHORTEST * rate else audio, rate)


def _read_card(path: Path, sha256: str) -> dict[str, Any]:
    """What the JSON beside a network says of it, if it is about this very network."""
    try:
        card = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(card, dict) or card.get("sha256") != sha256:
        return {}
    return card


def prepare(audio: Audio, rate: int) -> Audio:
    """Bring a recording to 16 kHz, one loudness and a length that can be encoded."""
    audio = prepared(audio, rate, RATE)
    if len(audio) < PADDED * RATE:
        audio = np.resize(audio, int(PADDED * RATE))
    return audio


def features(audio: Audio) -> NDArray[np.float32]:
    """Filter banks with their mean over time removed."""
    banks = fbank(audio)
    return np.asarray(banks - banks.mean(axis=0), np.float32)


def cut(audio: Audio) -> list[Audio]:
    """Pieces of at most about a minute."""
    count = max(1, round(len(audio) / (LONGEST * RATE)))
    return np.array_split(audio, count)


CAMPPLUS = EncoderCard(
    name="campplus",
    dimension=192,
    licence="Apache-2.0",
    origin="CAM++ zh-en, common advanced, of 3D-Speaker (Wang et al. 2023), exported by "
    "recipes/export_campplus.py",
    sha256="b9207e78b48867b90d0dab0e2be6034b1660609eb9366caf35318e48043f4bab",
)

ENCODERS: Registry[Any] = Registry("encoder", group="sottovoce.encoders")
"""Functions without arguments that make an encoder."""


def campplus() -> OnnxEncoder:
    """The default encoder, whose weights are part of the package."""
    weights = files("sottovoce.speaker") / "models" / "campplus_zh_en.onnx"
    return OnnxEncoder(Path(str(weights)), card=CAMPPLUS)


ENCODERS.add("campplus", campplus)


def make_encoder(name: str = "campplus", *, sha256: str | None = None) -> Encoder:
    """An encoder by name, from an ONNX file by path, or ``hf:FOLDER`` from a local folder."""
    if name.endswith(".onnx"):
        return OnnxEncoder(Path(name), sha256=sha256)
    if name.startswith("hf:"):
        from sottovoce.speaker.adapters import HuggingFaceEncoder

        return HuggingFaceEncoder(Path(name.removeprefix("hf:")), sha256=sha256)
    encoder: Encoder = ENCODERS[name]()
    return encoder
