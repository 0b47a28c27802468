"""Recordings as answers, and raw samples as recordings."""

from __future__ import annotations

import io

import numpy as np
import soundfile

from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import FORMATS, AudioError, audio_info
from sottovoce.serve.text_bytes import is_text
from sottovoce.serve.uploads import as_path

_SIGNATURES = (
    *(b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS", b"FORM", b"caff", b".snd", b"NIST_1A", b"ID3"),
    *(b"\x1aE\xdf\xa3", b"#!AMR", b"wvpk", b"MAC ", b"PK\x03\x04", b"%PDF", b"\x89PNG"),
)
"""First bytes of files of sound, and of other files that are sent by mistake."""


def encode_audio(audio: Audio, rate: int, suffix: str) -> tuple[str, bytes]:
    """Encode samples as a file with 16 bits a sample.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        Samples; those beyond ±1 are clipped.
    rate : int
        Sample rate in Hz.
    suffix : {"wav", "flac"}
        Format of the file.

    Returns
    -------
    tuple of str and bytes
        Media type and content.
    """
    scaled = np.rint(np.asarray(audio, np.float64) * 32768)
    samples = np.clip(scaled, -32768, 32767).astype(np.int16)
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=FORMATS[f".{suffix}"], subtype="PCM_16")
    return f"audio/{suffix}", buffer.getvalue()


def raw_as_wav(data: bytes, rate: int) -> bytes:
    """Put a header before raw samples; a file of sound is returned as it is.

    Parameters
    ----------
    data : bytes
        A file, or 16-bit samples of one channel with the low byte first.
    rate : int
        Sample rate of raw samples in Hz.

    Raises
    ------
    InputError
        If the bytes are neither: a damaged file, text, or half a sample (``damaged``).
    """
    if _is_audio_file(data, rate):
        return data
    if is_text(data) or data[4:8] == b"ftyp" or data.startswith(_SIGNATURES) or len(data) % 2:
        raise InputError(
            "the audio: neither a file of sound that can be read nor raw 16-bit samples; send WAV "
            "or FLAC",
            code="damaged",
        )
    buffer = io.BytesIO()
    samples = np.frombuffer(data, "<i2")
    soundfile.write(buffer, samples, rate, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def _is_audio_file(data: bytes, rate: int) -> bool:
    """Whether libsndfile knows the format; samples near zero pass for MPEG frames of any rate."""
    with as_path(data, "the audio") as path:
        try:
            info = audio_info(path)
        except AudioError:
            return False
    return not info.format.startswith(("MP", "MPEG")) or info.rate == rate
