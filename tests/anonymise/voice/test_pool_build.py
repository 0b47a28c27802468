"""A pool of one's own, from a corpus to the command line and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from error_codes import raises_code

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import make_method
from sottovoce.anonymise.voice.pool import Pool, f0_percentiles
from sottovoce.anonymise.voice.pool_build import PARTS, build_pool
from sottovoce.cli.anonymise_pool import command
from sottovoce.core.types import Audio, Vector
from sottovoce.corpus import open_corpus
from sottovoce.corpus.audio import load_audio, load_native
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal.world import find_f0
from sottovoce.speaker.encoders import campplus


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=10, utterances=2)


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return open_corpus(folder)


@pytest.fixture(scope="module")
def file(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pool") / "mine.npz"
    build_pool(corpus, campplus(), path, licence="CC0")
    return path


def test_voices_are_those_of_the_corpus(corpus: Corpus, file: Path) -> None:
    """By a slow definition: mean of the vectors, percentiles of all voiced frames."""
    pool = Pool.load(file)
    assert len(pool) == len(corpus.speakers)
    for utterances in corpus.by_speaker().values():
        sounds = [load_audio(utterance, 16000) for utterance in utterances]
        vector = np.mean([campplus().embed(sound, 16000) for sound in sounds], axis=0)
        row = int(np.argmin(np.linalg.norm(pool.vectors - vector, axis=1)))
        np.testing.assert_allclose(pool.vectors[row], vector, rtol=1e-4, atol=1e-4)
        f0 = np.concatenate([find_f0(sound.astype(np.float64))[0] for sound in sounds])
        np.testing.assert_allclose(pool.pitch[row], f0_percentiles(f0), rtol=1e-5)
        assert pool.gender[row] == utterances[0].gender
    assert (pool.card.origin, pool.card.licence) == (corpus.name, "CC0")


def test_a_pool_tells_no_names_and_no_order(corpus: Corpus, file: Path) -> None:
    pool = Pool.load(file)
    assert not set(pool.speakers) & set(corpus.speakers)
    assert list(pool.vectors[:, 0]) == sorted(pool.vectors[:, 0])
    exemplars = pool.exemplars
    assert (exemplars[exemplars] == exemplars).all()  # exemplars belong to their own cluster


def test_pseudo_speakers_are_made_from_it(corpus: Corpus, file: Path) -> None:
    utterance = corpus.utterances[0]
    audio, rate = load_native(utterance)
    changed = []
    for settings in ({}, {"pool": file}):
        method = make_method("xvector", Secret.reproducible(3), proximity="random", **settings)
        changed.append(method.transform(audio, rate, speaker="ann", utterance="1"))
        assert method.record()["pool"]["speakers"] == (len(corpus.speakers) if settings else 222)  # type: ignore[index, call-overload]
    assert np.abs(changed[0] - changed[1]).max() > 0.01


def test_a_stopped_run_continues(
    corpus: Corpus, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class StoppedError(Exception):
        pass

    def stop(finished: int, total: int) -> None:
        if finished == 6:
            raise StoppedError

    path = tmp_path / "mine.npz"
    with pytest.raises(StoppedError):
        build_pool(corpus, campplus(), path, licence="CC0", progress=stop)
    assert not path.exists() and len(list(tmp_path.glob(f"*{PARTS}/voices/*"))) == 6
    encoder = campplus()
    calls: list[int] = []
    embed = encoder.embed

    def counted(audio: Audio, rate: int) -> Vector:
        calls.append(1)
        return embed(audio, rate)

    monkeypatch.setattr(encoder, "embed", counted)
    build_pool(corpus, encoder, path, licence="CC0")
    assert len(calls) == 2 * (len(corpus.speakers) - 6)
    assert path.read_bytes() == file.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_missing_genders_are_an_error_or_guessed(corpus: Corpus, tmp_path: Path) -> None:
    first = corpus.speakers[0]
    utterances = [
        replace(utterance, gender="" if utterance.speaker == first else utterance.gender)
        for utterance in corpus.utterances
    ]
    nameless = replace(corpus, utterances=tuple(utterances))
    with raises_code("missing-column"):
        build_pool(nameless, campplus(), tmp_path / "mine.npz")
    pool = build_pool(nameless, campplus(), tmp_path / "mine.npz", guess_gender=True)
    assert set(pool.gender) == {"f", "m"}


def test_the_command(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    result = CliRunner().invoke(command, [str(folder), str(path), "--json", "-"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["speakers"] == told["women"] + told["men"] == len(Pool.load(path))
    assert CliRunner().invoke(command, [str(folder), str(tmp_path / "mine.txt")]).exit_code == 2
