"""Models for speaker verification of Hugging Face's transformers, from a local folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from sottovoce.core.errors import InputError, SottovoceError, first_line
from sottovoce.core.onnx_networks import checked_sha256
from sottovoce.core.types import Audio, Vector
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import EncoderCard, finite, pieces, prepare

HF_WEIGHTS = "model.safetensors"
"""The only format of Hugging Face weights that is read: the older one can run code on loading."""


class _Tensor(Protocol):
    def numpy(self) -> Vector: ...


class _Output(Protocol):
    embeddings: Sequence[_Tensor]


class _Config(Protocol):
    xvector_output_dim: int


class _Extractor(Protocol):
    def __call__(
        self, audio: Audio, *, sampling_rate: int, return_tensors: str
    ) -> Mapping[str, _Tensor]: ...


class _Model(Protocol):
    config: _Config

    def __call__(self, **inputs: _Tensor) -> _Output: ...


class HuggingFaceEncoder:
    """A model for speaker verification (WavLM, Wav2Vec2 … ``ForXVector``) in a local folder.

    Parameters
    ----------
    folder : Path
        Holds ``model.safetensors``, the configuration and that of the feature extractor.
    sha256 : str, optional
        SHA-256 that the weights must have.
    """

    trained_on: frozenset[str] = frozenset()
    """Unknown."""

    def __init__(self, folder: Path, *, sha256: str | None = None) -> None:
        for package in ("transformers", "torch"):
            if find_spec(package) is None:
                raise SottovoceError(
                    f"hf:{folder} needs the package {package}: pip install transformers torch",
                    code="missing-extra",
                )
        self.folder = folder
        self._sha256 = checked_sha256(folder / HF_WEIGHTS, sha256)

    @cached_property
    def _loaded(self) -> tuple[_Extractor, _Model]:
        package = import_module("transformers")
        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            extractor = package.AutoFeatureExtractor.from_pretrained(self.folder, **options)
            model = package.AutoModelForAudioXVector.from_pretrained(
                self.folder, use_safetensors=True, **options
            )
        except (OSError, ValueError, ImportError) as error:
            reason = first_line(error)
            raise InputError(
                f"{self.folder}: no model for speaker verification ({reason})", code="damaged"
            ) from None
        return extractor, model.eval()

    @property
    def card(self) -> EncoderCard:
        """Made up from the name of the folder."""
        dimension = int(self._loaded[1].config.xvector_output_dim)
        name = self.folder.resolve().name
        return EncoderCard(name, dimension, "as its folder's", f"hf:{name}", self._sha256)

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """Embed a recording.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel, at least 0.1 s and not silent.
        rate : int, default 16000
            Samples per second.
        """
        import torch

        extractor, model = self._loaded
        vectors, weights = [], []
        for piece in pieces(prepare(audio, rate)):
            inputs = extractor(piece, sampling_rate=RATE, return_tensors="pt")
            with torch.inference_mode():
                vectors.append(model(**inputs).embeddings[0].numpy())
            weights.append(len(piece))
        return finite(np.average(vectors, axis=0, weights=weights))
