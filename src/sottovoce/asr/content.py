"""What is said, apart from who says it: features of a speech recogniser's encoder.

The encoder is that of Moonshine tiny (Jeffries et al. 2024), which ships with the package. It
attends to all it is given at once, in time that grows with the square of the length, and was
trained on half a minute at most: longer recordings go through in overlapping pieces. What it
says at the edge of a piece is left out, and from one piece to the next there is a fade.
"""

from __future__ import annotations

from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.onnx_networks import checked_sha256, load_network
from sottovoce.core.types import Audio, Features
from sottovoce.signal.level import prepared

RATE = 16_000
HOP = 384
"""Samples from one frame to the next."""
FRAME_RATE = RATE / HOP
"""Frames a second."""
SIZE = 288
"""Numbers a frame."""
REACH = 895
"""Samples the first layers see for one frame."""
PIECE = 500
"""Frames taken at once: 12 s."""
EDGE = 21
"""Frames left out at either side of a join: half a second."""
FADE = 42
"""Frames over which one piece fades into the next: a second."""

SHA256 = "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221"


class ContentEncoder:
    """Turns audio into features of its content. Many threads may use one encoder.

    Frame ``t`` is about the samples around ``t * HOP + REACH / 2`` at 16 kHz. Loudness is
    levelled first, so that a quiet recording has the features of a loud one.
    """

    def __init__(self) -> None:
        self.path = Path(str(files("sottovoce.asr") / "models" / "moonshine_tiny_encoder.ort"))
        checked_sha256(self.path, SHA256)

    @cached_property
    def session(self) -> Any:
        """The network, loaded when first used."""
        return load_network(self.path)

    def features(self, audio: Audio, rate: int = RATE) -> Features:
        """Features (frames × 288) of a recording of any length, about 41.7 frames a second."""
        audio = prepared(audio, rate, RATE)
        frames = frame_count(len(audio))
        if frames <= PIECE:
            return self.run(audio)
        total = np.zeros((frames, SIZE), np.float32)
        weight = np.zeros((frames, 1), np.float32)
        for start, stop in pieces(frames):
            found = self.run(audio[start * HOP : (stop - 1) * HOP + REACH])
            share = _share(start, stop, frames)
            total[start:stop] += share * found
            weight[start:stop] += share
        return total / weight

    def run(self, audio: Audio) -> Features:
        """Features of one piece of levelled audio at 16 kHz, taken at once."""
        everywhere = np.ones((1, len(audio)), np.int64)
        given = {"input_values": audio[None], "attention_mask": everywhere}
        return np.asarray(self.session.run(None, given)[0][0], np.float32)


def frame_count(samples: int) -> int:
    """How many frames so many samples at 16 kHz give."""
    return 1 + (samples - REACH) // HOP


def pieces(frames: int, longest: int = PIECE) -> list[tuple[int, int]]:
    """First and last frame (exclusive) of overlapping pieces of one length, evenly placed."""
    step = longest - 2 * EDGE - FADE
    count = max(1, -(-(frames - longest) // step) + 1)
    last = max(0, frames - longest)
    starts = np.linspace(0, last, count).round().astype(int).tolist()
    return [(start, min(start + longest, frames)) for start in starts]


def _share(start: int, stop: int, frames: int) -> NDArray[np.float32]:
    """How much a piece has to say about each of its frames: nothing at its edges."""
    to_edge = np.arange(stop - start)
    rise = np.clip((to_edge - EDGE + 1) / (FADE + 1), 0, 1)
    left = np.ones_like(rise) if start == 0 else rise
    right = np.ones_like(rise) if stop == frames else rise[::-1]
    return np.asarray(np.minimum(left, right)[:, None], np.float32)
