"""Features of the content of speech, largely independent of the speaker.

They are the output of the encoder of Moonshine tiny (Jeffries et al. 2024), which ships with the
package. The encoder attends to its complete input, in time that grows with the square of the
length, and was trained on half a minute at most. So longer recordings are encoded in overlapping
pieces: the frames at the edges of a piece are dropped, and the pieces are cross-faded.
"""

from __future__ import annotations

from functools import cached_property
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.onnx_networks import OnnxNetwork, checked_sha256, load_network
from sottovoce.core.types import Audio, Features
from sottovoce.signal.level import prepared

RATE = 16_000
"""Sampling rate of the encoder in Hz."""
HOP = 384
"""Samples from one frame to the next."""
FRAME_RATE = RATE / HOP
"""Frames per second."""
SIZE = 288
"""Values per frame."""
REACH = 895
"""Samples that the convolutions use for one frame."""
PIECE = 500
"""Frames that are encoded at once: 12 s."""
EDGE = 21
"""Frames that are dropped on both sides of a join: half a second."""
FADE = 42
"""Frames of the cross-fade between two pieces: one second."""

SHA256 = "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221"


class ContentEncoder:
    """Turns audio into features of its content. Several threads may use the same encoder.

    Frame ``t`` describes the samples around ``t * HOP + REACH / 2`` at 16 kHz. The loudness is
    normalised first, so that a quiet recording has the features of a loud one.
    """

    def __init__(self) -> None:
        self.path = Path(str(files("sottovoce.asr") / "models" / "moonshine_tiny_encoder.ort"))
        checked_sha256(self.path, SHA256)

    @cached_property
    def session(self) -> OnnxNetwork:
        """The network, loaded when first used."""
        return load_network(self.path)

    def features(self, audio: Audio, rate: int = RATE) -> Features:
        """Compute the features of a recording of any length.

        Parameters
        ----------
        audio : Audio
            Samples of one channel.
        rate : int, default 16000
            Sampling rate in Hz.

        Returns
        -------
        Features
            Frames × 288, about 41.7 frames per second.
        """
        audio = prepared(audio, rate, RATE)
        frames = frame_count(len(audio))
        if frames <= PIECE:
            return self.encode(audio)
        total = np.zeros((frames, SIZE), np.float32)
        weight_sum = np.zeros((frames, 1), np.float32)
        for start, stop in piece_bounds(frames):
            features = self.encode(audio[start * HOP : (stop - 1) * HOP + REACH])
            weights = _fade_weights(start, stop, frames)
            total[start:stop] += weights * features
            weight_sum[start:stop] += weights
        return total / weight_sum

    def encode(self, audio: Audio) -> Features:
        """Compute the features of a piece at once.

        Parameters
        ----------
        audio : Audio
            Samples at 16 kHz and of normal loudness.
        """
        inputs: dict[str, NDArray[np.generic]] = {
            "input_values": audio[None],
            "attention_mask": np.ones((1, len(audio)), np.int64),
        }
        return np.asarray(self.session.run(None, inputs)[0][0], np.float32)


def frame_count(samples: int) -> int:
    """Return the number of frames of a recording.

    Parameters
    ----------
    samples : int
        Number of samples at 16 kHz, at least 895.
    """
    return 1 + (samples - REACH) // HOP


def piece_bounds(frames: int, size: int = PIECE) -> list[tuple[int, int]]:
    """Place overlapping pieces of equal size evenly over a recording.

    Parameters
    ----------
    frames : int
        Number of frames of the recording.
    size : int, default 500
        Frames per piece.

    Returns
    -------
    list of (int, int)
        First frame and frame after the last of each piece.
    """
    step = size - 2 * EDGE - FADE
    count = max(1, -(-(frames - size) // step) + 1)
    last = max(0, frames - size)
    starts = np.linspace(0, last, count).round().astype(int).tolist()
    return [(start, min(start + size, frames)) for start in starts]


def _fade_weights(start: int, stop: int, frames: int) -> NDArray[np.float32]:
    """Return the weight of each frame of a piece: 0 at its edges, except at those of the audio."""
    position = np.arange(stop - start)
    rise = np.clip((position - EDGE + 1) / (FADE + 1), 0, 1)
    left = np.ones_like(rise) if start == 0 else rise
    right = np.ones_like(rise) if stop == frames else rise[::-1]
    return np.asarray(np.minimum(left, right)[:, None], np.float32)
