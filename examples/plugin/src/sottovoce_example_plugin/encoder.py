"""An encoder: mean and spread of the log spectrum over a recording, in 32 bands."""

import hashlib

import numpy as np
from scipy.signal import stft

from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio, Vector
from sottovoce.speaker.encoders import EncoderCard

BANDS = 32
FRAME_SECONDS = 0.032


class LongTermSpectrum:
    """Describes a voice by its long-term average spectrum. It needs no weights."""

    card = EncoderCard(
        name="long-term-spectrum",
        dimension=2 * BANDS,
        licence="Apache-2.0",
        origin="the example plug-in",
        # there are no weights: what the vectors depend on takes their place
        sha256=hashlib.sha256(f"long-term spectrum 1, {BANDS} bands".encode()).hexdigest(),
    )
    trained_on: frozenset[str] = frozenset()

    def embed(self, audio: Audio, rate: int) -> Vector:
        """Return means, then standard deviations, of the log energy of all bands."""
        frame = int(FRAME_SECONDS * rate)
        if len(audio) < 2 * frame:
            raise InputError(f"{len(audio)} samples; at least {2 * frame} are needed")
        power = np.abs(stft(audio, rate, nperseg=frame)[2]) ** 2
        bands = np.array([part.mean(axis=0) for part in np.array_split(power[1:], BANDS)])
        energies = np.log(bands + 1e-9)
        vector = np.concatenate([energies.mean(axis=1), energies.std(axis=1)])
        return np.asarray(vector - vector.mean(), np.float32)
