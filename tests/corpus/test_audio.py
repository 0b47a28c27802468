"""Audio of every kind loads or is refused in one line; nothing crashes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from error_codes import raises_code
from numpy.typing import NDArray
from signals import tone

from sottovoce.core.errors import InputError, UsageError
from sottovoce.corpus import (
    AudioError,
    Utterance,
    audio_info,
    load_audio,
    save_audio,
)
from sottovoce.corpus.audio import UnreadableAudioError, UnusableAudioError

RATE = 16000


def pitch(samples: NDArray[np.float32], rate: int) -> float:
    """The strongest frequency."""
    return float(np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples))


# ================================================================================ the odd dozen

Make = Callable[[Path], None]


def truncated(path: Path) -> None:
    soundfile.write(path, tone(), RATE)
    path.write_bytes(path.read_bytes()[:20_000])


def truncated_header(path: Path) -> None:
    soundfile.write(path, tone(), RATE)
    path.write_bytes(path.read_bytes()[:30])


def truncated_flac(path: Path) -> None:
    flac = path.with_suffix(".flac")
    soundfile.write(flac, np.random.default_rng(0).normal(0, 0.1, RATE), RATE)
    path.write_bytes(flac.read_bytes()[:9000])


def truncated_mp3(path: Path) -> None:
    soundfile.write(path, tone(seconds=2), RATE, format="MP3")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def not_finite(path: Path) -> None:
    samples = tone()
    samples[7], samples[9] = np.nan, np.inf
    soundfile.write(path, samples, RATE, subtype="FLOAT")


def loop(path: Path) -> None:
    os.symlink(path.name, path)


def dangling(path: Path) -> None:
    os.symlink("nowhere.wav", path)


def no_audio(path: Path) -> None:
    path.write_text("hello " * 99)


def slow_rate(path: Path) -> None:
    soundfile.write(path, tone(), 100)


BAD: dict[str, tuple[Make, type[AudioError], str, str]] = {
    "truncated": (truncated, UnreadableAudioError, "damaged", "19,956 of 32,000 bytes"),
    "truncated header": (truncated_header, UnreadableAudioError, "damaged", ""),
    "truncated flac": (truncated_flac, UnreadableAudioError, "damaged", ""),
    "truncated mp3": (truncated_mp3, UnreadableAudioError, "damaged", "cut off: 1."),
    "zero bytes": (lambda p: p.touch(), UnreadableAudioError, "empty", ""),
    "no audio": (no_audio, UnreadableAudioError, "damaged", ""),
    "missing": (lambda p: None, UnreadableAudioError, "not-found", ""),
    "directory": (lambda p: p.mkdir(), UnreadableAudioError, "unreadable", "directory"),
    "symlink loop": (loop, UnreadableAudioError, "unreadable", "itself"),
    "dangling link": (dangling, UnreadableAudioError, "not-found", "link"),
    "pipe": (lambda p: os.mkfifo(p), UnreadableAudioError, "unreadable", "pipe"),
    "no samples": (lambda p: soundfile.write(p, [], RATE), UnusableAudioError, "empty", ""),
    "NaN samples": (not_finite, UnusableAudioError, "not-finite", "2 samples"),
    "1 sample": (
        lambda p: soundfile.write(p, [0.5], RATE),
        UnusableAudioError,
        "too-short",
        "0.0001 s (1 samples)",
    ),
    "silence": (
        lambda p: soundfile.write(p, np.zeros(RATE), RATE),
        UnusableAudioError,
        "silent",
        "",
    ),
    "100 Hz": (slow_rate, UnusableAudioError, "out-of-range", "100 Hz"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_files_are_refused_in_one_line_that_names_them(tmp_path: Path, kind: str) -> None:
    make, error, code, detail = BAD[kind]
    path = tmp_path / "bad.wav"
    make(path)
    with raises_code(code, error) as caught:
        load_audio(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and detail in message and "\n" not in message
    assert isinstance(caught.value, InputError)


def test_a_file_without_the_right_to_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret.wav"
    soundfile.write(path, tone(), RATE)

    def refuse(*_: object, **__: object) -> None:  # as for anybody but root after chmod 000
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with raises_code("unreadable", UnreadableAudioError) as caught:
        load_audio(path)
    assert str(path) in str(caught.value)


def test_raw_samples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.raw"
    path.write_bytes(bytes(1000))
    with raises_code("unsupported", UnreadableAudioError):
        load_audio(path)


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000, 96000])
def test_any_rate_becomes_the_one_asked_for(tmp_path: Path, rate: int) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, tone(rate=rate), rate)
    loaded = load_audio(path)
    assert loaded.dtype == np.float32 and loaded.ndim == 1 and len(loaded) == RATE
    assert pitch(loaded, RATE) == 440
    middle = slice(1000, -1000)  # resampling has nothing to look at beyond the ends
    assert np.abs(loaded - tone())[middle].max() < 1e-3


@pytest.mark.parametrize("ending", [".wav", ".flac", ".ogg", ".mp3"])
def test_formats_are_told_by_content_not_by_name(tmp_path: Path, ending: str) -> None:
    right, wrong = tmp_path / f"a{ending}", tmp_path / "wrong.doc"
    soundfile.write(right, tone(), RATE)
    wrong.write_bytes(right.read_bytes())
    loaded = load_audio(wrong)
    assert np.array_equal(loaded, load_audio(right))
    assert abs(len(loaded) - RATE) <= 0.1 * RATE and abs(pitch(loaded, RATE) - 440) < 5


def test_channels_are_averaged_or_one_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "surround.wav"
    levels = np.array([0.6, 0.1, 0.2, 0.0, 0.3, 0.0])  # 5.1
    soundfile.write(path, tone()[:, None] * levels, RATE, subtype="FLOAT")
    assert audio_info(path).channels == 6
    with raises_code("several-channels", UnusableAudioError):
        load_audio(path)
    stereo = tmp_path / "stereo.wav"
    soundfile.write(stereo, tone()[:, None] * levels[:2], RATE, subtype="FLOAT")
    np.testing.assert_allclose(load_audio(stereo), 0.35 * tone(), atol=1e-6)
    second = load_audio(Utterance("u", path, "a", channel=1))
    np.testing.assert_allclose(second, 0.1 * tone(), atol=1e-6)
    with raises_code("out-of-range", UnusableAudioError):
        load_audio(Utterance("u", path, "a", channel=6))
    with raises_code("silent", UnusableAudioError):
        load_audio(Utterance("u", path, "a", channel=3))


def test_floats_beyond_one_are_scaled_not_clipped(tmp_path: Path) -> None:
    path = tmp_path / "loud.wav"
    soundfile.write(path, tone(level=4.0), RATE, subtype="FLOAT")
    loaded = load_audio(path)
    assert np.abs(loaded).max() == 1
    np.testing.assert_allclose(loaded, tone(level=4.0) / np.abs(tone(level=4.0)).max(), atol=1e-6)
    soundfile.write(path, tone(level=0.3), RATE, subtype="FLOAT")
    assert np.abs(load_audio(path)).max() < 0.31  # quiet audio is left alone


def test_a_wav_that_was_piped_has_no_length_in_its_header(tmp_path: Path) -> None:
    path = tmp_path / "piped.wav"
    soundfile.write(path, tone(), RATE)
    data = bytearray(path.read_bytes())
    data[4:8] = data[40:44] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    assert len(load_audio(path)) == RATE


@pytest.mark.parametrize("ending", [".wav", ".flac"])
def test_a_segment_is_cut_without_decoding_the_rest(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"long{ending}"
    samples = np.random.default_rng(0).normal(0, 0.1, 20 * RATE)
    soundfile.write(path, samples, RATE)
    whole = load_audio(path)
    frames = 0
    read = soundfile.SoundFile.read

    def counted(self: soundfile.SoundFile, *args: object, **options: object) -> NDArray[np.float32]:
        nonlocal frames
        block: NDArray[np.float32] = read(self, *args, **options)
        frames += len(block)
        return block

    monkeypatch.setattr(soundfile.SoundFile, "read", counted)
    part = load_audio(Utterance("u", path, "a", start=10.0, end=11.5))
    assert np.array_equal(part, whole[10 * RATE : 23 * RATE // 2]) and frames == 1.5 * RATE
    assert len(load_audio(Utterance("u", path, "a", start=19.0))) == RATE
    assert len(load_audio(Utterance("u", path, "a", start=19.0, end=20.04))) == RATE
    for start, end in ((19.0, 20.1), (20.0, None), (30.0, 31.0)):
        with raises_code("out-of-range", UnusableAudioError) as caught:
            load_audio(Utterance("u", path, "a", start=start, end=end))
        assert f"from {start:g} s to " in str(caught.value) and "20.000 s" in str(caught.value)
    with raises_code("too-short", UnusableAudioError) as caught:
        load_audio(Utterance("u", path, "a", start=1.0, end=1.01))
    assert "0.0100 s (160 samples)" in str(caught.value)


def test_info_reads_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    soundfile.write(path, tone(seconds=1.5, rate=8000), 8000)
    info = audio_info(path)
    assert (info.rate, info.channels, info.frames, info.seconds) == (8000, 1, 12000, 1.5)
    assert info.format == "FLAC PCM_16"


def test_impossible_rates_are_refused(tmp_path: Path) -> None:
    with raises_code("out-of-range", UsageError):
        load_audio(tmp_path / "a.wav", 0)


# ========================================================================================= saving


@pytest.mark.parametrize("ending", [".wav", ".flac"])
def test_saved_audio_comes_back_bit_for_bit(tmp_path: Path, ending: str) -> None:
    first, second = tmp_path / f"a{ending}", tmp_path / "new" / f"b{ending}"
    samples = np.random.default_rng(0).integers(-32768, 32768, RATE).astype(np.int16)
    soundfile.write(first, samples, RATE)
    save_audio(second, load_audio(first), RATE)
    again, rate = soundfile.read(second, dtype="int16")
    assert np.array_equal(again, samples) and rate == RATE
    assert soundfile.info(second).subtype == "PCM_16" and os.listdir(second.parent) == [second.name]


def test_saving_scales_what_is_too_loud_and_refuses_what_is_no_audio(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    save_audio(path, tone(level=3), RATE)
    np.testing.assert_allclose(load_audio(path), tone(level=1), atol=1e-3)
    before = path.read_bytes()
    for samples, code in (
        (np.zeros(0), "wrong-shape"),
        (np.zeros((5, 2)), "wrong-shape"),
        (np.array([0.1, np.nan]), "not-finite"),
    ):
        with raises_code(code, InputError) as caught:
            save_audio(path, samples, RATE)
        assert str(path) in str(caught.value)
    with raises_code("unknown-name", UsageError):
        save_audio(tmp_path / "a.mp3", tone(), RATE)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.wav"]
