"""Loading and saving audio: mono, float32, at one rate; every fault one line that names the file.

Whatever libsndfile reads is read (WAV, FLAC, OGG, Opus, MP3, AIFF, SPHERE, …), told by its content
and not by its name. Nothing is clipped: where samples exceed ±1, as they may in floating-point
files and after resampling, the whole utterance is scaled down so that its peak is 1.
"""

from __future__ import annotations

import errno
import io
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.files import write_bytes
from sottovoce.core.types import Audio
from sottovoce.corpus.ahead import map_ahead
from sottovoce.corpus.utterance import Utterance

SHORTEST = 0.05
"""Seconds an utterance must have: a few pitch periods, and a frame or two of most features."""
OVERSHOOT = 0.05
"""Seconds that a segment may end after its file, as times rounded by hand do."""
MIXED = 2
"""Channels that are averaged; of more, one must be named: each may be another person's."""
RATES = range(4_000, 768_001)
"""Sample rates of files that are taken for speech."""
FORMATS = {".flac": "FLAC", ".wav": "WAV"}
"""What can be written."""

GONE = "no such audio file; check the path"
_BLOCK = 1 << 18
_WAV_LENGTH = re.compile(r"^data : (\d+) \(should be (\d+)\)", re.MULTILINE)
_UNKNOWN_LENGTH = 0x7FFF0000
"""A length in a WAV header from which on it says that a program could not seek back to fill it."""


class AudioError(InputError):
    """Audio that cannot be used."""


class UnreadableAudioError(AudioError):
    """There is no file, no right to read it, or no audio in it that can be decoded."""


class UnusableAudioError(AudioError):
    """Audio without speech in it: no samples, too few, all zero, or not numbers."""


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What the header of a file says."""

    rate: int
    channels: int
    frames: int
    seconds: float
    format: str
    """Container and encoding, such as ``FLAC PCM_16``."""


class Length(NamedTuple):
    """What there is of an utterance."""

    seconds: float
    rate: int
    averaged: int
    """Channels that become one."""


def audio_info(path: Path | str) -> AudioInfo:
    """Rate, channels and length of a file, from its header alone."""
    path = Path(path)
    with _opened(path) as file:
        return _info(file)


def load_audio(source: Utterance | Path | str, rate: int = 16000) -> Audio:
    """The samples of an utterance or a file: mono, float32, at ``rate``, between −1 and 1.

    Two channels are averaged unless the utterance names one; of more it must name one. Of a segment
    no more than that is decoded.
    Refused (:class:`AudioError`): what cannot be read or is cut off, samples that are not finite,
    less than 0.05 s, and digital silence.
    """
    if rate not in RATES:
        raise UsageError(f"rate {rate}; use {RATES[0]:,} to {RATES[-1]:,} Hz, such as 16000")
    samples, own = load_native(source)
    if own != rate:
        samples = soxr.resample(samples, own, rate, quality="HQ").astype(np.float32, copy=False)
    return _within_one(samples)


def load_native(source: Utterance | Path | str) -> tuple[Audio, int]:
    """Samples at the file's own rate and that rate; checked as above, but not scaled."""
    one = _as_utterance(source)
    name = _name(one)
    with _opened(one.path) as file:
        first, count = _span(file, one, name)
        samples = _decode(file, first, count, one.channel, name)
    _refuse_short(len(samples), file.samplerate, name)
    _refuse_unusable(samples, name)
    return samples, file.samplerate


def load_length(source: Utterance | Path | str) -> Length:
    """From the header alone; refused as :func:`load_audio` would, as far as that tells."""
    one = _as_utterance(source)
    name = _name(one)
    with _opened(one.path) as file:
        _, count = _span(file, one, name)
    _refuse_short(count, file.samplerate, name)
    averaged = file.channels if one.channel is None else 1
    return Length(count / file.samplerate, file.samplerate, averaged)


def load_many(
    utterances: Iterable[Utterance], rate: int = 16000, workers: int = 2, ahead: int = 8
) -> Iterator[tuple[Utterance, Audio | InputError]]:
    """Load utterances in order, decoded by ``workers`` threads up to ``ahead`` in advance.

    A bad file stops nothing: its error comes in place of its samples.
    """

    def load(one: Utterance) -> Audio | InputError:
        try:
            return load_audio(one, rate)
        except InputError as error:
            return error

    return map_ahead(load, utterances, workers=workers, ahead=ahead)


def save_audio(path: Path | str, audio: NDArray[np.floating], rate: int) -> None:
    """Write mono audio with 16 bits, whole or not at all; ``.flac`` or ``.wav`` by the name.

    What was loaded from such a file is written back bit for bit. A peak above 1 is scaled to 1.
    """
    path = Path(path)
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UsageError(f"{path}: audio is written as {' or '.join(FORMATS)}; name it so")
    samples = np.asarray(audio, np.float64)
    if samples.ndim != 1 or not len(samples):
        raise InputError(f"{path}: samples of shape {samples.shape}; give one channel, not empty")
    if not np.isfinite(samples).all():
        raise UnusableAudioError(
            f"{path}: samples that are not finite are not written; correct them"
        )
    steps = np.rint(_within_one(samples) * 32768)
    whole = np.minimum(steps, 32767).astype(np.int16)  # +1 lies one step beyond 16 bits
    buffer = io.BytesIO()
    soundfile.write(buffer, whole, rate, format=kind, subtype="PCM_16")
    write_bytes(path, buffer.getvalue())


# ======================================================================================= the file


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An open file with a usable header; libsndfile's errors become ours, in the block too."""
    _refuse_missing(path)
    try:
        with _open(path) as file:
            if file.samplerate not in RATES:
                raise UnusableAudioError(
                    f"{path}: sample rate {file.samplerate:,} Hz; speech has {RATES[0]:,} to "
                    f"{RATES[-1]:,}: correct the header"
                )
            _refuse_cut_header(file, path)
            yield file
    except soundfile.SoundFileError as error:
        reason = getattr(error, "error_string", str(error)).rstrip(".").removeprefix("Error : ")
        raise UnreadableAudioError(
            f"{path}: not audio, or damaged ({reason}); replace the file"
        ) from None


def _open(path: Path) -> Any:
    try:
        return soundfile.SoundFile(path)
    except TypeError:  # it would need to be told what is in a .raw file
        raise UnreadableAudioError(
            f"{path}: raw samples have no header; save them as WAV or FLAC"
        ) from None


def _refuse_missing(path: Path) -> None:
    """Refuse what is no file with something in it that may be read."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise UnreadableAudioError(f"{path}: a directory, not an audio file; name a file in it")
        if not stat.S_ISREG(about.st_mode):
            raise UnreadableAudioError(f"{path}: a device or pipe; name an audio file")
        if about.st_size == 0:
            raise UnreadableAudioError(f"{path}: empty (0 bytes); replace the file")
        path.open("rb").close()
    except OSError as error:
        raise UnreadableAudioError(f"{path}: {_reason(path, error)}") from None
    except ValueError:
        raise UnreadableAudioError(f"{str(path)!r}: not a file name; correct it") from None


def _reason(path: Path, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a link that leads to itself; replace it with the file"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "a link to nothing; restore the file" if path.is_symlink() else GONE
    if isinstance(error, PermissionError):
        return "no right to read it; change its mode"
    return f"cannot be read ({error.strerror})"


def _refuse_cut_header(file: Any, path: Path) -> None:
    """libsndfile takes a WAV file that was cut off for a shorter one; its log knows better."""
    found = _WAV_LENGTH.search(file.extra_info)
    if found and int(found[2]) < int(found[1]) < _UNKNOWN_LENGTH:
        raise UnreadableAudioError(
            f"{path}: cut off: {int(found[2]):,} of {int(found[1]):,} bytes; replace the file"
        )


def _info(file: Any) -> AudioInfo:
    seconds = file.frames / file.samplerate
    kind = f"{file.format} {file.subtype}"
    return AudioInfo(file.samplerate, file.channels, file.frames, seconds, kind)


# ==================================================================================== the samples


def _as_utterance(source: Utterance | Path | str) -> Utterance:
    if isinstance(source, Utterance):
        return source
    return Utterance(str(source), Path(source), "unknown")


def _name(one: Utterance) -> str:
    """What messages call it: the file and, of a segment, when it is."""
    if one.start is None and one.end is None:
        return str(one.path)
    end = "its end" if one.end is None else f"{one.end:g} s"
    return f"{one.path} from {one.start or 0:g} s to {end}"


def _span(file: Any, one: Utterance, name: str) -> tuple[int, int]:
    """First frame and number of frames of a segment, in a channel that is there."""
    if one.channel is None and file.channels > MIXED:
        raise UnusableAudioError(
            f"{name}: {file.channels} channels, and none is named; name the speaker's in the "
            "manifest's column channel, or mix them into one"
        )
    if one.channel is not None and one.channel >= file.channels:
        have = f"it has {file.channels}, the first is 0"
        raise UnusableAudioError(f"{name}: no channel {one.channel}; {have}")
    rate, frames = file.samplerate, file.frames
    first = round((one.start or 0.0) * rate)
    last = frames if one.end is None else round(one.end * rate)
    if last > frames + OVERSHOOT * rate or (first and first >= frames):
        raise UnusableAudioError(
            f"{name}: the file has {frames / rate:.3f} s; correct the start and end"
        )
    return first, min(last, frames) - first


def _decode(file: Any, first: int, count: int, channel: int | None, name: str) -> Audio:
    """Frames as one channel, a block at a time, so that a false length costs no memory."""
    if first:
        file.seek(first)
    blocks, left = [], count
    while left > 0:
        block = file.read(min(left, _BLOCK), dtype="float32", always_2d=True)
        if not len(block):
            break
        left -= len(block)
        alone = block.shape[1] == 1 or channel is not None
        blocks.append(block[:, channel or 0] if alone else block.mean(axis=1))
    if left > OVERSHOOT * file.samplerate:
        raise UnreadableAudioError(
            f"{name}: cut off: {left / file.samplerate:.3f} s are lacking; replace the file"
        )
    return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)


def _refuse_short(count: int, rate: int, name: str) -> None:
    if not count:
        raise UnusableAudioError(f"{name}: no samples; record it again or leave it out")
    if count < SHORTEST * rate:
        raise UnusableAudioError(
            f"{name}: {count / rate:.4f} s ({count:,} samples); at least {SHORTEST} s are needed: "
            "leave it out"
        )


def _refuse_unusable(samples: Audio, name: str) -> None:
    peak = np.abs(samples).max()
    if not np.isfinite(peak):
        count = int((~np.isfinite(samples)).sum())
        raise UnusableAudioError(f"{name}: {count:,} samples are not finite; write the file again")
    if peak == 0:
        raise UnusableAudioError(f"{name}: digital silence, every sample is 0; leave it out")


def _within_one(samples: NDArray[Any]) -> NDArray[Any]:
    """Scale samples so that the peak is 1, if it is above."""
    peak = np.abs(samples).max(initial=0)
    return samples / peak if peak > 1 else samples
