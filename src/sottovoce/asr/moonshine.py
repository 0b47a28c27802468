"""Moonshine tiny, a small English speech recogniser (Jeffries et al. 2024), on onnxruntime.

The encoder ships with sottovoce; the decoder and its words come with the package of the extra
``asr``, which is looked up but never imported. Decoding is greedy: always the likeliest next token.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.asr.content import HOP, RATE, REACH, ContentEncoder
from sottovoce.core.errors import InputError, MissingExtraError
from sottovoce.core.onnx_networks import checked_sha256, load_network
from sottovoce.core.types import Audio
from sottovoce.signal.level import prepared

PACKAGE = "moonshine_voice"
DECODER = (
    "decoder_model_merged.ort",
    "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
)
TOKENS = ("tokenizer.bin", "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d")

LAYERS, HEADS, WIDTH = 6, 8, 36
"""Of the decoder: layers, heads in a layer, numbers in a head."""
BEGIN, END = 1, 2
"""The tokens that open and close a sentence."""
PLAIN = 32_000
"""Tokens below this stand for text, those above for nothing that is written."""
TOKENS_A_SECOND, TOKENS_MORE = 6.5, 4
"""No one says more; a decoder that goes on has begun to repeat itself."""
LONGEST = 24.0
"""Seconds taken at once; a longer recording is cut where it is quietest."""
QUIET = 0.2
"""Seconds over which loudness is taken to find such a place."""


class MoonshineTiny:
    """Turns English speech into words. Several threads may use the same recogniser."""

    languages: ClassVar[frozenset[str]] = frozenset({"en"})

    def __init__(self) -> None:
        folder = _package_folder()
        self._encoder = ContentEncoder()
        self._decoder_path = folder / DECODER[0]
        checked_sha256(self._decoder_path, DECODER[1])
        checked_sha256(folder / TOKENS[0], TOKENS[1])
        self._pieces = read_tokens((folder / TOKENS[0]).read_bytes())

    @cached_property
    def decoder(self) -> Any:
        """The decoding network, loaded when first used."""
        return load_network(self._decoder_path)

    def transcribe(self, audio: Audio, rate: int = RATE) -> str:
        """What is said, with case and punctuation as the recogniser puts them."""
        cut = cut_at_pauses(prepared(audio, rate, RATE))
        return " ".join(filter(None, (self._words(piece) for piece in cut)))

    def _words(self, audio: Audio) -> str:
        limit = int(len(audio) / RATE * TOKENS_A_SECOND) + TOKENS_MORE
        tokens = self._decode(self._encoder.run(audio)[None], limit)
        text = b"".join(self._pieces[token] for token in tokens if token < PLAIN)
        return text.decode(errors="replace").replace("▁", " ").strip()

    def _decode(self, heard: NDArray[np.float32], limit: int) -> list[int]:
        """The likeliest next token, again and again, until the sentence ends."""
        names = [f"{i}.{who}.{what}" for i in range(LAYERS) for who, what in _KEPT]
        own = [name for name in names if "decoder" in name]
        nothing = np.zeros((1, HEADS, 0, WIDTH), np.float32)
        past = dict.fromkeys((f"past_key_values.{name}" for name in names), nothing)
        samples = (heard.shape[1] - 1) * HOP + REACH  # the mask is one of samples, not of frames
        fixed = {
            "encoder_hidden_states": heard,
            "encoder_attention_mask": np.ones((1, samples), np.int64),
        }
        tokens = [BEGIN]
        while len(tokens) <= limit:
            first = len(tokens) == 1
            outputs = names if first else own  # what the encoder said is kept once
            step = {
                "input_ids": np.array([[tokens[-1]]]),
                "use_cache_branch": np.array([not first]),
            }
            wanted = ["logits", *(f"present.{name}" for name in outputs)]
            logits, *present = self.decoder.run(wanted, {**fixed, **step, **past})
            token = int(logits[0, -1].argmax())
            if token == END:
                break
            tokens.append(token)
            kept = (f"past_key_values.{name}" for name in outputs)
            past.update(zip(kept, present, strict=True))
        return tokens[1:]


_KEPT = [(who, what) for who in ("decoder", "encoder") for what in ("key", "value")]


def _package_folder() -> Path:
    found = find_spec(PACKAGE)  # does not import it
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("speech recognition", "asr")
    folder = Path(next(iter(found.submodule_search_locations))) / "assets" / "tiny-en"
    if not (folder / DECODER[0]).is_file():
        raise InputError(
            f"{folder}: no {DECODER[0]}; that version of moonshine-voice has no models in it: "
            "pip install moonshine-voice==0.0.73"
        )
    return folder


def read_tokens(data: bytes) -> list[bytes]:
    """The bytes of every token: each after its length, in one byte, or in two from 128 on."""
    tokens: list[bytes] = []
    at = 0
    while at < len(data):
        length = data[at]
        at += 1
        if length >= 128:
            length += 128 * (data[at] - 1)
            at += 1
        tokens.append(data[at : at + length])
        at += length
    return tokens


def cut_at_pauses(audio: Audio, longest: float = LONGEST) -> list[Audio]:
    """Pieces of at most ``longest`` seconds and like length, cut where it is quiet around there."""
    most, width = int(longest * RATE), int(QUIET * RATE)
    pieces = []
    while len(audio) > most:
        aim = len(audio) / -(-len(audio) // most)
        low, high = int(0.75 * aim), min(most, int(1.25 * aim))
        near = audio[low:high].astype(np.float64)
        energy = np.concatenate([[0.0], np.cumsum(near * near)])
        at = low + int(np.argmin(energy[width:] - energy[:-width])) + width // 2
        pieces.append(audio[:at])
        audio = audio[at:]
    return [*pieces, audio]
