"""Speech recognisers by name, and the one that comes with the package.

The utility of anonymised speech is measured with a recogniser, and masked recordings are attacked
with one. Packages add recognisers through entry points in the group ``sottovoce.recognisers``; an
entry point names a class that follows the protocol :class:`Recogniser`.

Moonshine tiny is a small English speech recogniser (Jeffries et al. 2024), on onnxruntime. Its
encoder ships with sottovoce; the decoder and its tokens are files of the package of the extra
``asr``, which is located but never imported. Decoding is greedy: it takes the most likely token at
each step.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.asr.content import HOP, RATE, REACH, ContentEncoder
from sottovoce.core.errors import InputError, MissingExtraError
from sottovoce.core.languages import language_code
from sottovoce.core.onnx_networks import OnnxNetwork, checked_sha256, load_network
from sottovoce.core.registry import Registry
from sottovoce.core.types import Audio, Features
from sottovoce.signal.level import prepared

PACKAGE = "moonshine_voice"
DECODER = (
    "decoder_model_merged.ort",
    "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
)
"""File name and SHA-256."""
TOKENS = ("tokenizer.bin", "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d")
"""File name and SHA-256."""

LAYERS, HEADS, HEAD_SIZE = 6, 8, 36
"""Of the decoder: number of layers, heads per layer, values per head."""
BEGIN, END = 1, 2
"""The tokens that open and close a sentence."""
TEXT_TOKENS = 32_000
"""Tokens below this number stand for text, those above are control tokens."""
TOKENS_PER_SECOND, EXTRA_TOKENS = 6.5, 4
"""No speech has more tokens; a decoder that goes on repeats itself."""
MAX_SECONDS = 24.0
"""Length that is recognised at once; a longer recording is cut at pauses."""
PAUSE_SECONDS = 0.2
"""Window over which the energy is measured to find a pause."""

_CACHE_NAMES = [
    f"{layer}.{source}.{kind}"
    for layer in range(LAYERS)
    for source in ("decoder", "encoder")
    for kind in ("key", "value")
]
"""Attention states that the decoder passes from step to step."""


class MoonshineTiny:
    """Turns English speech into words. Several threads may use the same recogniser."""

    languages: ClassVar[frozenset[str]] = frozenset({"en"})

    def __init__(self) -> None:
        folder = _model_folder()
        self._encoder = ContentEncoder()
        self._decoder_path = folder / DECODER[0]
        checked_sha256(self._decoder_path, DECODER[1])
        checked_sha256(folder / TOKENS[0], TOKENS[1])
        self._tokens = read_tokens((folder / TOKENS[0]).read_bytes())

    @cached_property
    def decoder(self) -> OnnxNetwork:
        """The decoding network, loaded when first used."""
        return load_network(self._decoder_path)

    def transcribe(self, audio: Audio, rate: int = RATE) -> str:
        """Return the words of a recording, with case and punctuation.

        Parameters
        ----------
        audio : Audio
            Samples of one channel, of any length.
        rate : int, default 16000
            Sampling rate in Hz.
        """
        pieces = cut_at_pauses(prepared(audio, rate, RATE))
        return " ".join(filter(None, (self._transcribe_piece(piece) for piece in pieces)))

    def _transcribe_piece(self, audio: Audio) -> str:
        limit = int(len(audio) / RATE * TOKENS_PER_SECOND) + EXTRA_TOKENS
        tokens = self._decode(self._encoder.encode(audio), limit)
        text = b"".join(self._tokens[token] for token in tokens if token < TEXT_TOKENS)
        return text.decode(errors="replace").replace("▁", " ").strip()

    def _decode(self, features: Features, limit: int) -> list[int]:
        """Take the most likely token at each step until the sentence ends."""
        decoder_names = [name for name in _CACHE_NAMES if "decoder" in name]
        empty = np.zeros((1, HEADS, 0, HEAD_SIZE), np.float32)
        cache = dict.fromkeys((f"past_key_values.{name}" for name in _CACHE_NAMES), empty)
        samples = (len(features) - 1) * HOP + REACH  # the mask counts samples, not frames
        fixed: dict[str, NDArray[np.generic]] = {
            "encoder_hidden_states": features[None],
            "encoder_attention_mask": np.ones((1, samples), np.int64),
        }
        tokens = [BEGIN]
        while len(tokens) <= limit:
            first = len(tokens) == 1
            names = _CACHE_NAMES if first else decoder_names  # encoder states never change
            step = {
                "input_ids": np.array([[tokens[-1]]]),
                "use_cache_branch": np.array([not first]),
            }
            outputs = ["logits", *(f"present.{name}" for name in names)]
            logits, *states = self.decoder.run(outputs, {**fixed, **step, **cache})
            token = int(logits[0, -1].argmax())
            if token == END:
                break
            tokens.append(token)
            cache.update(zip((f"past_key_values.{name}" for name in names), states, strict=True))
        return tokens[1:]


def _model_folder() -> Path:
    spec = find_spec(PACKAGE)  # does not import it
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("speech recognition", "asr")
    folder = Path(next(iter(spec.submodule_search_locations))) / "assets" / "tiny-en"
    if not (folder / DECODER[0]).is_file():
        raise InputError(
            f"{folder}: no {DECODER[0]}; that version of moonshine-voice has no models in it: "
            "pip install moonshine-voice==0.0.73",
            code="not-found",
        )
    return folder


def read_tokens(data: bytes) -> list[bytes]:
    """Parse the file of tokens.

    Parameters
    ----------
    data : bytes
        Each token after its length, which takes one byte, or two from 128 on.

    Returns
    -------
    list of bytes
        The text of each token.
    """
    tokens: list[bytes] = []
    position = 0
    while position < len(data):
        length = data[position]
        position += 1
        if length >= 128:
            length += 128 * (data[position] - 1)
            position += 1
        tokens.append(data[position : position + length])
        position += length
    return tokens


def cut_at_pauses(audio: Audio, max_seconds: float = MAX_SECONDS) -> list[Audio]:
    """Cut a recording into pieces of similar length where it is quietest.

    Parameters
    ----------
    audio : Audio
        Samples at 16 kHz.
    max_seconds : float, default 24
        Longest piece.
    """
    longest, width = int(max_seconds * RATE), int(PAUSE_SECONDS * RATE)
    pieces = []
    while len(audio) > longest:
        target = len(audio) / -(-len(audio) // longest)
        low, high = int(0.75 * target), min(longest, int(1.25 * target))
        window = audio[low:high].astype(np.float64)
        energy = np.concatenate([[0.0], np.cumsum(window * window)])
        cut = low + int(np.argmin(energy[width:] - energy[:-width])) + width // 2
        pieces.append(audio[:cut])
        audio = audio[cut:]
    return [*pieces, audio]


class Recogniser(Protocol):
    """Turns speech into words; created without arguments."""

    languages: ClassVar[frozenset[str]]
    """Languages that it understands, as two-letter codes (ISO 639-1) in lower case."""

    def transcribe(self, audio: Audio, rate: int) -> str:
        """Return the words that are said in a recording.

        Parameters
        ----------
        audio : Audio
            Samples of one channel.
        rate : int
            Sampling rate in Hz.
        """


DEFAULT_RECOGNISER = "moonshine-tiny"

RECOGNISERS: Registry[type[Recogniser]] = Registry("recogniser", group="sottovoce.recognisers")
"""Recogniser classes by name."""
RECOGNISERS.add("moonshine-tiny", MoonshineTiny)


def make_recogniser(name: str = DEFAULT_RECOGNISER) -> Recogniser:
    """Create the recogniser that is registered under ``name``.

    Parameters
    ----------
    name : str, default "moonshine-tiny"
        A name in :data:`RECOGNISERS`.

    Raises
    ------
    UsageError
        ``unknown-name`` if no recogniser is called that.
    MissingExtraError
        If the recogniser needs a package that is not installed.
    """
    return RECOGNISERS[name]()


def understands(name: str, language: str) -> bool:
    """Tell whether a registered recogniser understands a language, without loading it.

    Parameters
    ----------
    name : str
        A name in :data:`RECOGNISERS`.
    language : str
        Language of an utterance, such as ``en``, ``en-GB``, ``eng`` or ``english``. An empty
        string (the corpus does not say) counts as understood.
    """
    return not language or language_code(language) in RECOGNISERS[name].languages
