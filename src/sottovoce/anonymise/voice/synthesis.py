"""From coded envelopes to a voice: networks in ONNX form, and the vocoder behind them.

The default vocoder is WORLD. A neural one can take its place: an ONNX network with inputs
``features`` (1 × frames × 41: coded envelope and aperiodicity, every 8 ms) and ``f0`` (1 × frames,
in hertz, 0 where unvoiced) and as output samples at 16 kHz, 128 a frame.
"""

from __future__ import annotations

from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyworld
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from sottovoce.anonymise.voice.frames import ENVELOPE, PERIOD, RATE, STEP, energy_of
from sottovoce.core.errors import InputError, first_line
from sottovoce.core.onnx_networks import checked_sha256, load_network
from sottovoce.core.types import Features, FloatArray
from sottovoce.signal import world
from sottovoce.signal.world import Voice

FFT = 2 * (world.BINS - 1)
LEAST_GAIN, MOST_GAIN = -4.0, 1.5
"""Natural log of the power by which the energy of a frame may be corrected."""
SMOOTH = 2.0
"""Frames over which the correction is smoothed."""


class Vocoder(Protocol):
    """Turns envelopes and pitch into samples."""

    def synthesise(self, envelopes: Features, f0: FloatArray, samples: int) -> FloatArray:
        """``samples`` samples at 16 kHz from envelopes every 8 ms and F0 every 5 ms."""


class WorldVocoder:
    """WORLD, with envelopes brought from 8 to its 5 ms."""

    def synthesise(self, envelopes: Features, f0: FloatArray, samples: int) -> FloatArray:
        """Envelopes are interpolated in their coded form."""
        coded = at_world_frames(envelopes.astype(np.float64), len(f0))
        envelope = pyworld.decode_spectral_envelope(
            np.ascontiguousarray(coded[:, :ENVELOPE]), RATE, FFT
        )
        band = np.ascontiguousarray(np.minimum(coded[:, ENVELOPE:], 0.0))
        aperiodicity = pyworld.decode_aperiodicity(band, RATE, FFT)
        return of_length(world.synthesise(Voice(f0, envelope, aperiodicity)), samples)


class OnnxVocoder:
    """A neural vocoder from a file."""

    def __init__(self, path: Path) -> None:
        self.path, self.sha256 = named_file(path)

    @cached_property
    def session(self) -> Any:
        """The network, loaded when first used."""
        return load_network(self.path)

    def synthesise(self, envelopes: Features, f0: FloatArray, samples: int) -> FloatArray:
        """The network's samples, as many as asked for."""
        pitch = at_fine_frames(f0, len(envelopes)).astype(np.float32)
        given = {"features": envelopes[None].astype(np.float32), "f0": pitch[None]}
        try:
            found = np.asarray(self.session.run(None, given)[0], np.float64).ravel()
        except Exception as error:
            reason = first_line(error)
            raise InputError(f"{self.path}: not usable as a vocoder ({reason})") from None
        return of_length(found, samples)


class Network:
    """A network of the package or of the user, named as ``FILE`` or ``FILE@SHA256``."""

    def __init__(self, path: Path | None, default: str, inputs: tuple[str, ...]) -> None:
        own = Path(str(files("sottovoce.anonymise.voice") / "models" / default))
        self.path, self.sha256 = named_file(path or own)
        self.inputs = inputs

    @cached_property
    def session(self) -> Any:
        """The network, loaded when first used and checked for its inputs."""
        session = load_network(self.path)
        found = {one.name for one in session.get_inputs()}
        if found != set(self.inputs):
            raise InputError(
                f"{self.path}: inputs {', '.join(sorted(found))} instead of "
                f"{', '.join(self.inputs)}; train it with sottovoce train synthesiser"
            )
        return session

    def run(self, *values: NDArray[Any]) -> NDArray[np.float32]:
        """The output for inputs in their order."""
        given = dict(zip(self.inputs, values, strict=True))
        try:
            return np.asarray(self.session.run(None, given)[0], np.float32)
        except InputError:
            raise
        except Exception as error:
            reason = first_line(error)
            raise InputError(f"{self.path}: does not fit ({reason}); train it again") from None


def named_file(path: Path) -> tuple[Path, str]:
    """A file and its SHA-256, which must be that after ``@`` in its name if there is one."""
    name, mark, wanted = str(path).rpartition("@")
    if mark and len(wanted) == 64:
        return Path(name), checked_sha256(Path(name), wanted)
    return path, checked_sha256(path)


def keep_energy(changed: FloatArray, original: FloatArray) -> FloatArray:
    """Bring the course of energy near to that of the original, frame by frame."""
    lacking = np.subtract(energy_of(original), energy_of(changed))
    gain = gaussian_filter1d(np.clip(lacking, LEAST_GAIN, MOST_GAIN), SMOOTH) / 2
    at = np.arange(len(changed)) / STEP
    return np.asarray(changed * np.exp(np.interp(at, np.arange(len(gain)), gain)))


def at_world_frames(fine: FloatArray, count: int) -> FloatArray:
    """Rows every 8 ms brought to rows every 5 ms, on straight lines."""
    at = np.minimum(np.arange(count) * (world.PERIOD / PERIOD), len(fine) - 1)
    low = np.minimum(at.astype(np.int64), max(len(fine) - 2, 0))
    share = (at - low)[:, None]
    return np.asarray(fine[low] * (1 - share) + fine[np.minimum(low + 1, len(fine) - 1)] * share)


def at_fine_frames(f0: FloatArray, count: int) -> FloatArray:
    """F0 every 5 ms read off every 8 ms; never between a voiced and an unvoiced frame."""
    at = np.rint(np.arange(count) * (PERIOD / world.PERIOD)).astype(np.int64)
    return np.asarray(f0[np.minimum(at, len(f0) - 1)])


def of_length(samples: FloatArray, length: int) -> FloatArray:
    """Cut or padded with silence."""
    return np.pad(samples, (0, max(0, length - len(samples))))[:length]
