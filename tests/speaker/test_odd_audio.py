"""Twelve odd files through ``sottovoce embed``: each is named or embedded, none crashes it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from sottovoce.cli import run
from sottovoce.speaker.readers import read_embeddings

RATE = 16000


def tone(
    rate: int = RATE, seconds: float = 0.5, level: float = 0.1
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    t = np.arange(int(rate * seconds)) / rate
    return level * sum(np.sin(2 * np.pi * 140 * k * t) / k for k in range(1, 9)) * (1 + t)


def write_all(folder: Path) -> None:
    """A good file and the odd ones, all of one speaker."""
    folder.mkdir(parents=True)
    soundfile.write(folder / "good.wav", tone(), RATE)
    soundfile.write(folder / "truncated.wav", tone(), RATE)
    whole = (folder / "truncated.wav").read_bytes()
    (folder / "truncated.wav").write_bytes(whole[: len(whole) // 2])
    soundfile.write(folder / "torn.flac", tone(), RATE)
    whole = (folder / "torn.flac").read_bytes()
    (folder / "torn.flac").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.wav").write_bytes(b"")
    broken = tone()
    broken[100] = np.nan
    soundfile.write(folder / "nan.wav", broken, RATE, subtype="FLOAT")
    soundfile.write(folder / "one_sample.wav", [0.5], RATE)
    soundfile.write(folder / "silence.wav", np.zeros(RATE), RATE)
    soundfile.write(folder / "telephone.wav", tone(8000), 8000)
    soundfile.write(folder / "studio.wav", tone(96000), 96000)
    surround = np.stack([tone(level=0.1 / (i + 1)) for i in range(6)], axis=1)
    soundfile.write(folder / "surround.wav", surround, RATE)
    soundfile.write(folder / "stereo.wav", surround[:, :2], RATE)
    soundfile.write(folder / "loud.wav", 40 * tone(), RATE, subtype="FLOAT")
    soundfile.write(folder / "flac_inside.wav", tone(), RATE, format="FLAC")
    (folder / "loop.wav").symlink_to(folder / "loop.wav")
    soundfile.write(folder / "unreadable.wav", tone(), RATE)
    (folder / "unreadable.wav").chmod(0)
    (folder / "text.wav").write_text("this is no audio at all\n" * 20)


FINE = {"good", "telephone", "studio", "stereo", "loud", "flac_inside"}
BAD = {"truncated", "torn", "empty", "nan", "one_sample", "silence", "loop", "text", "surround"}
if os.geteuid() == 0:  # who may read everything
    FINE.add("unreadable")
else:
    BAD.add("unreadable")


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    folder = tmp_path / "odd"
    write_all(folder)
    lines = [f"{name.stem},{name.name},ann" for name in sorted(folder.iterdir())]
    (folder / "manifest.csv").write_text("\n".join(["utterance,path,speaker", *lines]) + "\n")
    return folder


def test_each_is_named_or_embedded(
    listed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.npz"
    assert run(["embed", str(listed), str(target), "--skip-bad"]) == 0
    told = capsys.readouterr().err
    for name in BAD:
        assert f"/{name}." in told, name
    found = read_embeddings(target)
    assert found.utterances is not None and set(found.utterances.tolist()) == FINE
    assert np.isfinite(found.vectors).all() and (np.linalg.norm(found.vectors, axis=1) > 0).all()
    assert "Traceback" not in told


def test_without_leave_to_skip_nothing_is_written(
    listed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.npz"
    assert run(["embed", str(listed), str(target)]) == 2
    told = capsys.readouterr().err
    assert f"{len(BAD)} of {len(BAD) + len(FINE)}" in told and "--skip-bad" in told
    assert len(told.splitlines()) == 1 and not target.exists()
