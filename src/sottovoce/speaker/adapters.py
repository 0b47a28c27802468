"""Encoders of other packages, where the user has them: Hugging Face's transformers.

Models come from a local folder; nothing is fetched.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.onnx_networks import checked_sha256
from sottovoce.core.types import Audio, Vector
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import EncoderCard, cut, prepare

WEIGHTS = "model.safetensors"
"""The only form of weights that is read: the older one could run code when it is loaded."""


class HuggingFaceEncoder:
    """A model for speaker verification (WavLM, Wav2Vec2 … ``ForXVector``) in a local folder."""

    def __init__(self, folder: Path, *, sha256: str | None = None) -> None:
        for package in ("transformers", "torch"):
            if find_spec(package) is None:
                raise SottovoceError(
                    f"hf:{folder} needs the package {package}: pip install transformers torch"
                )
        self.folder = folder
        self._sha256 = checked_sha256(folder / WEIGHTS, sha256)

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        package = import_module("transformers")
        given = {"local_files_only": True, "trust_remote_code": False}
        try:
            extractor = package.AutoFeatureExtractor.from_pretrained(self.folder, **given)
            model = package.AutoModelForAudioXVector.from_pretrained(
                self.folder, use_safetensors=True, **given
            )
        except (OSError, ValueError, ImportError) as error:
            reason = (str(error).splitlines() or ["unreadable"])[0][:100]
            raise InputError(
                f"{self.folder}: no model for speaker verification ({reason})"
            ) from None
        return extractor, model.eval()

    @property
    def card(self) -> EncoderCard:
        """The folder's."""
        size = int(self._model[1].config.xvector_output_dim)
        name = self.folder.resolve().name
        return EncoderCard(name, size, "as its folder's", f"hf:{name}", self._sha256)

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """One vector of a recording."""
        import torch

        extractor, model = self._model
        vectors, weights = [], []
        for piece in cut(prepare(audio, rate)):
            given = extractor(piece, sampling_rate=RATE, return_tensors="pt")
            with torch.inference_mode():
                vectors.append(model(**given).embeddings[0].numpy())
            weights.append(len(piece))
        vector = np.average(vectors, axis=0, weights=weights)
        if not np.isfinite(vector).all():
            raise InputError(
                "the encoder gave a vector that is not finite; leave the recording out"
            )
        return np.asarray(vector, np.float32)
