"""Synthesis of the neural anonymisers: ONNX networks for coded envelopes, and vocoders.

The default vocoder is WORLD. It can be replaced by a neural one: an ONNX network with the inputs
``features`` (1 × frames × 41: coded envelope and aperiodicity, every 8 ms) and ``f0`` (1 × frames,
in Hz, 0 where unvoiced), whose output is samples at 16 kHz, 128 per frame.
"""

from __future__ import annotations

from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Protocol

import numpy as np
import pyworld
from scipy.ndimage import gaussian_filter1d

from sottovoce.anonymise.voice.conditioning import with_length
from sottovoce.anonymise.voice.frames import ENVELOPE, PERIOD, RATE, STEP, energy_of
from sottovoce.anonymise.voice.rhythm import rows_at
from sottovoce.core.errors import InputError, first_line
from sottovoce.core.onnx_networks import OnnxNetwork, checked_sha256, load_network
from sottovoce.core.types import Features, FloatArray
from sottovoce.signal import world
from sottovoce.signal.world import Voice

FFT = 2 * (world.BINS - 1)
"""Size of WORLD's Fourier transform."""
MIN_GAIN, MAX_GAIN = -4.0, 1.5
"""Range of the correction of a frame's energy, as natural logarithm of power."""
SMOOTHING = 2.0
"""Standard deviation, in frames, of the smoothing of the correction."""


class Vocoder(Protocol):
    """Turns coded envelopes and F0 into samples."""

    def synthesise(self, envelopes: Features, f0: FloatArray, samples: int) -> FloatArray:
        """Synthesise a signal at 16 kHz.

        Parameters
        ----------
        envelopes : ndarray of float32, shape (frames, 41)
            Coded envelope and aperiodicity every 8 ms.
        f0 : ndarray of float64, shape (m,)
            F0 in Hz every 5 ms, 0 where unvoiced.
        samples : int
            Length of the result.

        Returns
        -------
        ndarray of float64, shape (samples,)
            The signal.
        """


class WorldVocoder:
    """The WORLD vocoder; envelopes are interpolated from 8 ms to its 5 ms."""

    def synthesise(self, envelopes: Features, f0: FloatArray, samples: int) -> FloatArray:
        """Synthesise a signal at 16 kHz.

        Parameters
        ----------
        envelopes : ndarray of float32, shape (frames, 41)
            Coded envelope and aperiodicity every 8 ms.
        f0 : ndarray of float64, shape (m,)
            F0 in Hz every 5 ms, 0 where unvoiced.
        samples : int
            Length of the result.
        """
        coded = every_5_ms(envelopes.astype(np.float64), len(f0))
        envelope = pyworld.decode_spectral_envelope(
            np.ascontiguousarray(coded[:, :ENVELOPE]), RATE, FFT
        )
        band = np.ascontiguousarray(np.minimum(coded[:, ENVELOPE:], 0.0))
        aperiodicity = pyworld.decode_aperiodicity(band, RATE, FFT)
        return with_length(world.synthesise(Voice(f0, envelope, aperiodicity)), samples)


class OnnxVocoder:
    """A neural vocoder from a file.

    Parameters
    ----------
    path : Path
        An ONNX file as described at the top of this module, also as ``FILE@SHA256``.

    Raises
    ------
    InputError
        If the file cannot be read or has another SHA-256.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.sha256 = parse_file_name(path)

    @cached_property
    def _network(self) -> OnnxNetwork:
        return load_network(self.path)

    def synthesise(self, envelopes: Features, f0: FloatArray, samples: int) -> FloatArray:
        """Synthesise a signal at 16 kHz.

        Parameters
        ----------
        envelopes : ndarray of float32, shape (frames, 41)
            Coded envelope and aperiodicity every 8 ms.
        f0 : ndarray of float64, shape (m,)
            F0 in Hz every 5 ms, 0 where unvoiced.
        samples : int
            Length of the result.

        Raises
        ------
        InputError
            If the network does not run with these inputs (``mismatch``).
        """
        pitch = every_8_ms(f0, len(envelopes)).astype(np.float32)
        inputs = {"features": envelopes[None].astype(np.float32), "f0": pitch[None]}
        try:
            output = np.asarray(self._network.run(None, inputs)[0], np.float64).ravel()
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"{self.path}: not usable as a vocoder ({first_line(error)})", code="mismatch"
            ) from None
        return with_length(output, samples)


class Network:
    """A synthesis network of the package or of the user.

    Parameters
    ----------
    path : Path or None
        ``FILE`` or ``FILE@SHA256``; None for the network of the package.
    default : str
        File name of the package's network.
    inputs : tuple of str
        Names of the inputs that the network must have.

    Raises
    ------
    InputError
        If the file cannot be read or has another SHA-256.
    """

    def __init__(self, path: Path | None, default: str, inputs: tuple[str, ...]) -> None:
        shipped = Path(str(files("sottovoce.anonymise.voice") / "models" / default))
        self.path, self.sha256 = parse_file_name(path or shipped)
        self.inputs = inputs

    @cached_property
    def _network(self) -> OnnxNetwork:
        network = load_network(self.path)
        names = {node.name for node in network.get_inputs()}
        if names != set(self.inputs):
            raise InputError(
                f"{self.path}: inputs {', '.join(sorted(names))} instead of "
                f"{', '.join(self.inputs)}; train it with sottovoce train synthesiser",
                code="mismatch",
            )
        return network

    def run(self, *values: Features) -> Features:
        """Run the network.

        Parameters
        ----------
        *values : ndarray of float32
            The inputs in the order of their names.

        Returns
        -------
        ndarray of float32
            The first output.

        Raises
        ------
        InputError
            If the network does not run with these inputs (``mismatch``).
        """
        inputs = dict(zip(self.inputs, values, strict=True))
        try:
            return np.asarray(self._network.run(None, inputs)[0], np.float32)
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"{self.path}: does not fit ({first_line(error)}); train it again", code="mismatch"
            ) from None


def parse_file_name(path: Path) -> tuple[Path, str]:
    """Split ``FILE@SHA256`` and check the SHA-256 of the file.

    Parameters
    ----------
    path : Path
        ``FILE`` or ``FILE@SHA256``.

    Returns
    -------
    path : Path
        The file.
    sha256 : str
        Its SHA-256.

    Raises
    ------
    InputError
        If the file cannot be read, or has another SHA-256 than the named one.
    """
    name, separator, sha256 = str(path).rpartition("@")
    if separator and len(sha256) == 64:
        return Path(name), checked_sha256(Path(name), sha256)
    return path, checked_sha256(path)


def keep_energy(changed: FloatArray, energy: Features) -> FloatArray:
    """Correct the energy of a signal frame by frame towards that of the recording.

    Parameters
    ----------
    changed : ndarray of float64, shape (n,)
        The synthesised signal at 16 kHz.
    energy : ndarray of float32, shape (WORLD frames,)
        Log energy of the recording, as :func:`~sottovoce.anonymise.voice.frames.energy_of` gives.

    Returns
    -------
    ndarray of float64, shape (n,)
        The corrected signal.
    """
    difference = np.subtract(energy, energy_of(changed))
    gain = gaussian_filter1d(np.clip(difference, MIN_GAIN, MAX_GAIN), SMOOTHING) / 2
    positions = np.arange(len(changed)) / STEP
    return np.asarray(changed * np.exp(np.interp(positions, np.arange(len(gain)), gain)))


def every_5_ms(rows: FloatArray, count: int) -> FloatArray:
    """Interpolate rows every 8 ms linearly to rows every 5 ms.

    Parameters
    ----------
    rows : ndarray of float64, shape (n, d)
        Rows every 8 ms.
    count : int
        Number of rows of the result.
    """
    positions = np.minimum(np.arange(count) * (world.PERIOD / PERIOD), len(rows) - 1)
    return rows_at(rows, positions)


def every_8_ms(rows: FloatArray, count: int) -> FloatArray:
    """Pick from values every 5 ms the nearest ones every 8 ms, without interpolation.

    F0 is never averaged over a voiced and an unvoiced frame.

    Parameters
    ----------
    rows : ndarray of float64, shape (n, ...)
        Values every 5 ms.
    count : int
        Number of values of the result.
    """
    positions = np.rint(np.arange(count) * (PERIOD / world.PERIOD)).astype(np.int64)
    return np.asarray(rows[np.minimum(positions, len(rows) - 1)])
