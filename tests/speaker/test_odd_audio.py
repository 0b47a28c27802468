"""Odd audio files through ``sottovoce embed``: each is embedded or named, none crashes it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import harmonics, times

from sottovoce.cli import run
from sottovoce.core.types import FloatArray
from sottovoce.speaker.readers import read_embeddings

RATE = 16000


def tone(rate: int = RATE, seconds: float = 0.5, level: float = 0.1) -> FloatArray:
    buzz = harmonics(140, [1 / k for k in range(1, 9)], seconds, rate=rate)
    return level * buzz * (1 + times(seconds, rate))


def write_all(folder: Path) -> None:
    """Write a good file and odd ones, all of one speaker."""
    folder.mkdir(parents=True)
    soundfile.write(folder / "good.wav", tone(), RATE)
    soundfile.write(folder / "truncated.wav", tone(), RATE)
    data = (folder / "truncated.wav").read_bytes()
    (folder / "truncated.wav").write_bytes(data[: len(data) // 2])
    soundfile.write(folder / "torn.flac", tone(), RATE)
    data = (folder / "torn.flac").read_bytes()
    (folder / "torn.flac").write_bytes(data[: len(data) // 2])
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


EMBEDDED = {"good", "telephone", "studio", "stereo", "loud", "flac_inside"}
REFUSED = {"truncated", "torn", "empty", "nan", "one_sample", "silence", "loop", "text", "surround"}
if os.geteuid() == 0:  # root may read everything
    EMBEDDED.add("unreadable")
else:
    REFUSED.add("unreadable")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "odd"
    write_all(folder)
    lines = [f"{path.stem},{path.name},ann" for path in sorted(folder.iterdir())]
    (folder / "manifest.csv").write_text("\n".join(["utterance,path,speaker", *lines]) + "\n")
    return folder


def test_each_file_is_embedded_or_named(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.npz"
    assert run(["embed", str(corpus), str(target), "--skip-bad"]) == 0
    errors = capsys.readouterr().err
    for name in REFUSED:
        assert f"/{name}." in errors, name
    embeddings = read_embeddings(target)
    vectors = embeddings.vectors
    assert embeddings.utterances is not None and set(embeddings.utterances.tolist()) == EMBEDDED
    assert np.isfinite(vectors).all() and (np.linalg.norm(vectors, axis=1) > 0).all()
    assert "Traceback" not in errors


def test_without_skip_bad_nothing_is_written(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.npz"
    assert run(["embed", str(corpus), str(target)]) == 2
    errors = capsys.readouterr().err
    assert f"{len(REFUSED)} of {len(REFUSED) + len(EMBEDDED)}" in errors
    assert "--skip-bad" in errors and len(errors.splitlines()) == 1 and not target.exists()
