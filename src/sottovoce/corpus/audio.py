"""Loading and saving audio: mono, float32, at one sample rate.

Every format that libsndfile reads is accepted (WAV, FLAC, OGG, Opus, MP3, AIFF, SPHERE, …); the
content of a file decides, not its name. Nothing is clipped: where samples exceed ±1, as they may in
floating-point files and after resampling, the whole utterance is scaled down to a peak of 1.
"""

from __future__ import annotations

import errno
import io
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.files import write_bytes
from sottovoce.core.types import Audio, SampleRate
from sottovoce.corpus.utterance import Utterance

F = TypeVar("F", bound=np.floating)

SHORTEST = 0.05
"""Seconds an utterance must have: a few pitch periods, and a frame or two of most features."""
OVERSHOOT = 0.05
"""Seconds that a segment may end after its file, because times are often rounded."""
AVERAGED_CHANNELS = 2
"""Up to so many channels are averaged; of more, one must be named: each may be another person's."""
RATES = range(4_000, 768_001)
"""Sample rates of speech, in Hz; a file with another rate is refused."""
FORMATS = {".flac": "FLAC", ".wav": "WAV"}
"""Formats that can be written, by the ending of a file's name."""

_BLOCK = 1 << 18
_WAV_LENGTH = re.compile(r"^data : (\d+) \(should be (\d+)\)", re.MULTILINE)
_UNKNOWN_LENGTH = 0x7FFF0000
"""Lengths in a WAV header from here on are placeholders of programs that could not seek back."""


class AudioError(InputError):
    """Audio that cannot be used."""


class UnreadableAudioError(AudioError):
    """There is no file, no right to read it, or no audio in it that can be decoded."""

    default_code = "unreadable"


class UnusableAudioError(AudioError):
    """Audio without speech in it: no samples, too few, all zero, or not numbers."""

    default_code = "unusable-audio"


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """The content of a file's header."""

    rate: SampleRate
    channels: int
    frames: int
    """Samples of each channel."""
    seconds: float
    format: str
    """Container and encoding, such as ``FLAC PCM_16``."""


@dataclass(frozen=True, slots=True)
class Length:
    """Length of an utterance, and how its file is read."""

    seconds: float
    rate: SampleRate
    averaged: int
    """Channels that are averaged; 1 if there is one or the utterance names it."""


def audio_info(path: Path | str) -> AudioInfo:
    """Read the header of a file.

    Parameters
    ----------
    path : Path or str
        The file; an AudioError is raised if it cannot be read.
    """
    with _opened(Path(path)) as file:
        seconds = file.frames / file.samplerate
        encoding = f"{file.format} {file.subtype}"
        return AudioInfo(file.samplerate, file.channels, file.frames, seconds, encoding)


def load_audio(source: Utterance | Path | str, rate: SampleRate = 16000) -> Audio:
    """Load the samples of an utterance or a file.

    Parameters
    ----------
    source : Utterance, Path or str
        Two channels are averaged unless the utterance names one; of more it must name one. Of a
        segment only that part is decoded.
    rate : int, default 16000
        Sample rate of the result in Hz; other rates are resampled.

    Returns
    -------
    Audio
        Mono, float32, between -1 and 1.

    Raises
    ------
    UnreadableAudioError
        If the file is missing, damaged or cut off.
    UnusableAudioError
        If samples are not finite, there is less than 0.05 s of them, or all are 0.
    """
    if rate not in RATES:
        raise UsageError(
            f"rate {rate}; use {RATES[0]:,} to {RATES[-1]:,} Hz, such as 16000",
            code="out-of-range",
        )
    samples, file_rate = load_native(source)
    if file_rate != rate:
        resampled = soxr.resample(samples, file_rate, rate, quality="HQ")
        samples = resampled.astype(np.float32, copy=False)
    return _within_one(samples)


def load_native(source: Utterance | Path | str) -> tuple[Audio, SampleRate]:
    """Load samples at the sample rate of the file, without scaling them.

    Parameters
    ----------
    source : Utterance, Path or str
        Read and checked as :func:`load_audio` does.

    Returns
    -------
    tuple of Audio and int
        The samples and the sample rate in Hz.
    """
    utterance = _as_utterance(source)
    name = _name(utterance)
    with _opened(utterance.path) as file:
        first, count = _span(file, utterance, name)
        samples = _decode(file, first, count, utterance.channel, name)
    _refuse_short(len(samples), file.samplerate, name)
    _refuse_unusable(samples, name)
    return samples, file.samplerate


def load_length(source: Utterance | Path | str) -> Length:
    """Read the length of an utterance from the header of its file.

    Parameters
    ----------
    source : Utterance, Path or str
        Refused as :func:`load_audio` does, as far as the header shows a defect.
    """
    utterance = _as_utterance(source)
    name = _name(utterance)
    with _opened(utterance.path) as file:
        _, count = _span(file, utterance, name)
    _refuse_short(count, file.samplerate, name)
    averaged = file.channels if utterance.channel is None else 1
    return Length(count / file.samplerate, file.samplerate, averaged)


def save_audio(path: Path | str, audio: NDArray[np.floating], rate: SampleRate) -> None:
    """Write mono audio with 16 bits, whole or not at all.

    What was loaded from such a file is written back bit for bit.

    Parameters
    ----------
    path : Path or str
        A name that ends in ``.flac`` or ``.wav``.
    audio : array of float
        Samples of one channel; a peak above 1 is scaled to 1.
    rate : int
        Sample rate in Hz.
    """
    path = Path(path)
    encoding = FORMATS.get(path.suffix.lower())
    if encoding is None:
        raise UsageError(
            f"{path}: audio is written as {' or '.join(FORMATS)}; name it so", code="unknown-name"
        )
    samples = np.asarray(audio, np.float64)
    if samples.ndim != 1 or not len(samples):
        raise InputError(
            f"{path}: samples of shape {samples.shape}; give one channel, not empty",
            code="wrong-shape",
        )
    if not np.isfinite(samples).all():
        raise UnusableAudioError(
            f"{path}: samples that are not finite are not written; correct them", code="not-finite"
        )
    write_bytes(path, _encode(samples, rate, encoding))


def _encode(samples: NDArray[np.float64], rate: SampleRate, encoding: str) -> bytes:
    steps = np.rint(_within_one(samples) * 32768)
    pcm = np.minimum(steps, 32767).astype(np.int16)  # +1 lies one step beyond 16 bits
    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, rate, format=encoding, subtype="PCM_16")
    return buffer.getvalue()


@contextmanager
def _opened(path: Path) -> Iterator[soundfile.SoundFile]:
    """Open a file with a usable header; libsndfile's errors in the block become ours too."""
    _refuse_missing(path)
    try:
        with _open(path) as file:
            if file.samplerate not in RATES:
                raise UnusableAudioError(
                    f"{path}: sample rate {file.samplerate:,} Hz; speech has {RATES[0]:,} to "
                    f"{RATES[-1]:,}: correct the header",
                    code="out-of-range",
                )
            _refuse_truncated(file, path)
            yield file
    except soundfile.SoundFileError as error:
        reason = getattr(error, "error_string", str(error)).rstrip(".").removeprefix("Error : ")
        raise UnreadableAudioError(
            f"{path}: not audio, or damaged ({reason}); replace the file", code="damaged"
        ) from None


def _open(path: Path) -> soundfile.SoundFile:
    try:
        return soundfile.SoundFile(path)
    except TypeError:  # a .raw file, of which it would have to be told the format
        raise UnreadableAudioError(
            f"{path}: raw samples have no header; save them as WAV or FLAC", code="unsupported"
        ) from None


def _refuse_missing(path: Path) -> None:
    """Refuse everything but a regular file that has content and may be read."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableAudioError(f"{path}: a directory, not an audio file; name a file in it")
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableAudioError(f"{path}: a device or pipe; name an audio file")
        if status.st_size == 0:
            raise UnreadableAudioError(f"{path}: empty (0 bytes); replace the file", code="empty")
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError):
        link, gone = "a link to nothing; restore the file", "no such audio file; check the path"
        reason = link if path.is_symlink() else gone
        raise UnreadableAudioError(f"{path}: {reason}", code="not-found") from None
    except PermissionError:
        raise UnreadableAudioError(f"{path}: no right to read it; change its mode") from None
    except OSError as error:
        loop = "a link that leads to itself; replace it with the file"
        reason = loop if error.errno == errno.ELOOP else f"cannot be read ({error.strerror})"
        raise UnreadableAudioError(f"{path}: {reason}") from None
    except ValueError:
        raise UnreadableAudioError(f"{str(path)!r}: not a file name; correct it") from None


def _refuse_truncated(file: soundfile.SoundFile, path: Path) -> None:
    """Refuse a WAV file that was cut off; only libsndfile's log has the length in its header."""
    lengths = _WAV_LENGTH.search(file.extra_info)
    if lengths and int(lengths[2]) < int(lengths[1]) < _UNKNOWN_LENGTH:
        raise UnreadableAudioError(
            f"{path}: cut off: {int(lengths[2]):,} of {int(lengths[1]):,} bytes; replace the file",
            code="damaged",
        )


def _as_utterance(source: Utterance | Path | str) -> Utterance:
    if isinstance(source, Utterance):
        return source
    return Utterance(str(source), Path(source), "unknown")


def _name(utterance: Utterance) -> str:
    """Return how messages name an utterance: the file and, of a segment, its times."""
    if utterance.start is None and utterance.end is None:
        return str(utterance.path)
    end = "its end" if utterance.end is None else f"{utterance.end:g} s"
    return f"{utterance.path} from {utterance.start or 0:g} s to {end}"


def _span(file: soundfile.SoundFile, utterance: Utterance, name: str) -> tuple[int, int]:
    """Return the first frame and the number of frames of an utterance, if its channel exists."""
    _refuse_channel(file, utterance, name)
    rate, frames = file.samplerate, file.frames
    first = round((utterance.start or 0.0) * rate)
    last = frames if utterance.end is None else round(utterance.end * rate)
    if last > frames + OVERSHOOT * rate or (first and first >= frames):
        raise UnusableAudioError(
            f"{name}: the file has {frames / rate:.3f} s; correct the start and end",
            code="out-of-range",
        )
    return first, min(last, frames) - first


def _refuse_channel(file: soundfile.SoundFile, utterance: Utterance, name: str) -> None:
    if utterance.channel is None and file.channels > AVERAGED_CHANNELS:
        raise UnusableAudioError(
            f"{name}: {file.channels} channels, and none is named; name the speaker's in the "
            "manifest's column channel, or mix them into one",
            code="several-channels",
        )
    if utterance.channel is not None and utterance.channel >= file.channels:
        raise UnusableAudioError(
            f"{name}: no channel {utterance.channel}; it has {file.channels}, the first is 0",
            code="out-of-range",
        )


def _decode(
    file: soundfile.SoundFile, first: int, count: int, channel: int | None, name: str
) -> Audio:
    """Decode frames as one channel, a block at a time: a wrong length costs no memory."""
    if first:
        file.seek(first)
    blocks, left = [], count
    while left > 0:
        block = file.read(min(left, _BLOCK), dtype="float32", always_2d=True)
        if not len(block):
            break
        left -= len(block)
        single = block.shape[1] == 1 or channel is not None
        blocks.append(block[:, channel or 0] if single else block.mean(axis=1))
    if left > OVERSHOOT * file.samplerate:
        raise UnreadableAudioError(
            f"{name}: cut off: {left / file.samplerate:.3f} s are lacking; replace the file",
            code="damaged",
        )
    return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)


def _refuse_short(count: int, rate: SampleRate, name: str) -> None:
    if not count:
        raise UnusableAudioError(
            f"{name}: no samples; record it again or leave it out", code="empty"
        )
    if count < SHORTEST * rate:
        raise UnusableAudioError(
            f"{name}: {count / rate:.4f} s ({count:,} samples); at least {SHORTEST} s are needed: "
            "leave it out",
            code="too-short",
        )


def _refuse_unusable(samples: Audio, name: str) -> None:
    peak = np.abs(samples).max()
    if not np.isfinite(peak):
        count = int((~np.isfinite(samples)).sum())
        raise UnusableAudioError(
            f"{name}: {count:,} samples are not finite; write the file again", code="not-finite"
        )
    if peak == 0:
        raise UnusableAudioError(
            f"{name}: digital silence, every sample is 0; leave it out", code="silent"
        )


def _within_one(samples: NDArray[F]) -> NDArray[F]:
    """Scale samples down to a peak of 1, if it is above."""
    peak = np.abs(samples).max(initial=0)
    return samples / peak if peak > 1 else samples
