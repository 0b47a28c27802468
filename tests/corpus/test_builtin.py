from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import wave
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import UsageError
from sottovoce.core.types import FloatArray as Samples
from sottovoce.corpus.demo import MARKER, builtin_corpus, cache_folder
from sottovoce.corpus.demo.phones import GAPS, LEXICON, PHONES, TEMPLATES, Word, fill, pronounce
from sottovoce.corpus.demo.synthesis import synthesise
from sottovoce.corpus.demo.voices import RATE, Gender, draw_session, draw_voice
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus, Utterance


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=4, utterances=3)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=2, utterances=3)


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return read_manifest(folder)


@pytest.fixture(scope="module")
def audio(corpus: Corpus) -> dict[str, Samples]:
    return {utterance.id: samples(utterance.path) for utterance in corpus}


def samples(path: Path) -> Samples:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def word_times(folder: Path) -> dict[str, list[tuple[float, float, str]]]:
    times: dict[str, list[tuple[float, float, str]]] = {}
    for line in (folder / "words.ctm").read_text().splitlines():
        key, channel, start, duration, word = line.split()
        assert channel == "1"
        times.setdefault(key, []).append((float(start), float(start) + float(duration), word))
    return times


def levels(sound: Samples) -> Samples:
    """Mean log spectrum in 32 bands, over the loud half of the frames."""
    frames = np.lib.stride_tricks.sliding_window_view(sound, 400)[::160]
    power = np.abs(np.fft.rfft(frames * np.hanning(400), 512)) ** 2
    loud = power.sum(axis=1) > np.median(power.sum(axis=1))
    return np.asarray(10 * np.log10(power[loud, :256].reshape(-1, 32, 8).mean(axis=(0, 2))))


def median_pitch(sound: Samples) -> float:
    """The lag at which loud frames agree most with themselves, in Hz."""
    pitches = []
    for start in range(0, len(sound) - 800, 400):
        frame = sound[start : start + 800]
        if np.std(frame) > np.std(sound):
            spectrum = np.fft.rfft(frame - frame.mean(), 2048)
            likeness = np.fft.irfft(np.abs(spectrum) ** 2)[RATE // 400 : RATE // 60]
            pitches.append(RATE / (RATE // 400 + int(np.argmax(likeness))))
    return float(np.median(pitches))


# ------------------------------------------------------------------------------ the files


def test_the_manifest_is_read_and_is_balanced(corpus: Corpus) -> None:
    assert len(corpus) == 12
    assert len(corpus.speakers) == 4
    genders = {utterance.speaker: utterance.gender for utterance in corpus}
    assert sorted(genders.values()) == ["f", "f", "m", "m"]
    for utterances in corpus.by_speaker().values():
        sides = {(utterance.session, utterance.split) for utterance in utterances}
        assert sides == {("a", "enrol"), ("b", "trial")}
        assert len({utterance.transcript for utterance in utterances}) == 3
        assert {utterance.language for utterance in utterances} == {"en"}


def test_the_readme_says_synthetic(folder: Path) -> None:
    assert "SYNTHETIC" in (folder / "README.txt").read_text()
    assert "synthetic" in folder.name


def test_the_same_settings_make_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert contents(builtin_corpus(tmp_path, speakers=4, utterances=3)) == contents(folder)


def test_another_seed_makes_other_speech(folder: Path, tmp_path: Path) -> None:
    other = contents(builtin_corpus(tmp_path, speakers=2, utterances=2, seed=7))
    assert not {data for name, data in other.items() if name.endswith(".wav")} & set(
        contents(folder).values()
    )


def test_a_smaller_corpus_has_the_same_first_speakers(folder: Path, pair: Path) -> None:
    small = contents(pair)
    whole = contents(folder)
    names = [name for name in small if name.endswith(".wav")]
    assert len(names) == 6
    assert all(small[name] == whole[name] for name in names)


def test_it_is_made_once(folder: Path) -> None:
    def refuse(done: int, total: int) -> None:
        raise AssertionError(f"made again: {done} of {total}")

    assert builtin_corpus(folder.parent, speakers=4, utterances=3, progress=refuse) == folder


@pytest.mark.parametrize("damage", ["cut", "lost", "other version", "no json"])
def test_a_damaged_corpus_is_made_again(pair: Path, tmp_path: Path, damage: str) -> None:
    copy = tmp_path / pair.name
    shutil.copytree(pair, copy)
    victim, marker = next(copy.rglob("*.wav")), copy / MARKER
    if damage == "cut":
        victim.write_bytes(victim.read_bytes()[:-2])
    elif damage == "lost":
        victim.unlink()
    elif damage == "no json":
        marker.write_text("{")
    else:
        marker.write_text(json.dumps(json.loads(marker.read_text()) | {"version": 0}))
    assert builtin_corpus(tmp_path, speakers=2, utterances=3) == copy
    assert contents(copy) == contents(pair)
    assert os.listdir(tmp_path) == [copy.name]


# --------------------------------------------------------------------------- half-way ends


def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        builtin_corpus(tmp_path, speakers=4, utterances=3, progress=interrupt)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_run_leaves_no_marker_and_is_cleared_away(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, signal, sys; "
        "from sottovoce.corpus.demo import builtin_corpus; "
        "builtin_corpus(pathlib.Path(sys.argv[1]), speakers=2, utterances=2, "
        "progress=lambda done, total: os.kill(os.getpid(), signal.SIGKILL))"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(list(tmp_path.rglob("*.wav"))) == 1  # it was at work
    assert not list(tmp_path.rglob(MARKER))
    folder = builtin_corpus(tmp_path, speakers=2, utterances=2)
    assert os.listdir(tmp_path) == [folder.name]
    assert len(read_manifest(folder)) == 4


def test_a_cache_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with raises_code("not-writable") as caught:
        builtin_corpus(tmp_path / "file", speakers=4, utterances=3)
    assert "SOTTOVOCE_CACHE" in str(caught.value)


def test_settings_out_of_range_are_refused(tmp_path: Path) -> None:
    with raises_code("out-of-range", UsageError):
        builtin_corpus(tmp_path, speakers=1)
    with raises_code("out-of-range", UsageError):
        builtin_corpus(tmp_path, utterances=1)
    with raises_code("out-of-range", UsageError):
        builtin_corpus(tmp_path, seed=-1)


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("SOTTOVOCE_CACHE", raising=False)
    assert cache_folder() == tmp_path / "xdg" / "sottovoce"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # void by the specification
    assert cache_folder().is_absolute()
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


# ------------------------------------------------------------------------------- the words


def test_word_times_are_in_order_inside_the_audio_and_match_the_words(
    folder: Path, corpus: Corpus, audio: dict[str, Samples]
) -> None:
    times = word_times(folder)
    assert list(times) == [utterance.id for utterance in corpus]
    for utterance in corpus:
        starts, ends, words = zip(*times[utterance.id], strict=True)
        assert [word.rstrip(",.?") for word in utterance.transcript.split()] == list(words)
        assert starts[0] > 0 and ends[-1] < len(audio[utterance.id]) / RATE
        assert all(end - start >= 0.03 for start, end in zip(starts, ends, strict=True))
        assert all(start >= end - 1e-9 for end, start in zip(ends, starts[1:], strict=False))


def test_words_are_louder_than_the_silence_around_them(
    folder: Path, audio: dict[str, Samples]
) -> None:
    for key, timed in word_times(folder).items():
        first, last = timed[0][0], timed[-1][1]
        speech = audio[key][int(first * RATE) : int(last * RATE)]
        before = audio[key][: int((first - 0.03) * RATE)]
        assert np.std(speech) > 3 * np.std(before)


def test_entities_are_the_words_they_say(folder: Path) -> None:
    times = word_times(folder)
    with (folder / "entities.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} <= {"person", "place", "date", "number"}
    for row in rows:
        words = times[row["utterance"]][int(row["first"]) : int(row["last"]) + 1]
        assert row["text"] == " ".join(word for _, _, word in words)


def test_every_word_that_may_be_said_has_phones() -> None:
    used = {gap for template in TEMPLATES for gap in GAPS if f"{{{gap}}}" in template}
    assert used == set(GAPS)
    rng = np.random.default_rng(0)
    for template in TEMPLATES:
        assert fill(template, rng)[-1].mark in (".", "?")  # what ends a phrase ends the pitch
    for word in {word for words in GAPS.values() for word in words}:
        assert pronounce(word)
    for phones in LEXICON.values():
        assert all(phone.rstrip("1") in PHONES for phone in phones)
        assert any(PHONES[phone.rstrip("1")].kind == "vowel" for phone in phones)


# ------------------------------------------------------------------------------- the sound


def test_nothing_clips_and_nothing_is_silent(audio: dict[str, Samples]) -> None:
    for utterance in audio.values():
        assert 0.05 < np.max(np.abs(utterance)) <= 0.9
        assert 1.5 < len(utterance) / RATE < 9


@pytest.mark.parametrize("gender", ["f", "m"])
def test_every_phone_can_be_said_by_any_voice(gender: Gender) -> None:
    rng = np.random.default_rng(3)
    words = [Word(name, (name, "AX"), mark="," if name in "RF" else "") for name in PHONES]
    words[-1] = replace(words[-1], mark="?")
    speech = synthesise(words, draw_voice(rng, gender), draw_session(rng), rng)
    assert np.isfinite(speech.samples).all()
    assert np.max(np.abs(speech.samples)) <= 0.9
    assert [timing.word for timing in speech.words] == list(PHONES)


def test_women_speak_higher(corpus: Corpus, audio: dict[str, Samples]) -> None:
    pitch: dict[str, list[float]] = {"f": [], "m": []}
    for utterance in corpus:
        pitch[utterance.gender].append(median_pitch(audio[utterance.id]))
    assert 145 < np.mean(pitch["f"]) < 270
    assert 75 < np.mean(pitch["m"]) < 145


def test_a_sentence_differs_least_again_then_in_another_session_then_by_another_voice() -> None:
    words = fill(TEMPLATES[0], np.random.default_rng(1))
    again: list[float] = []
    other_session: list[float] = []
    other_voice: list[float] = []
    for index in range(3):
        rng = np.random.default_rng(index)
        first, second = draw_voice(rng, "f"), draw_voice(rng, "f")
        day, next_day = draw_session(rng), draw_session(rng)
        reference = levels(synthesise(words, first, day, rng).samples)
        for voice, session, differences in (
            (first, day, again),
            (first, next_day, other_session),
            (second, day, other_voice),
        ):
            sound = synthesise(words, voice, session, rng).samples
            differences.append(float(np.std(reference - levels(sound))))
    assert 2 * np.mean(again) < np.mean(other_session) < np.mean(other_voice)


def test_sessions_have_their_own_noise(corpus: Corpus, audio: dict[str, Samples]) -> None:
    def floor(utterance: Utterance) -> float:
        return 20 * float(np.log10(np.std(audio[utterance.id][:1600])))

    changes = []
    for utterances in corpus.by_speaker().values():
        first, second, later = (floor(utterance) for utterance in utterances)
        assert first == pytest.approx(second, abs=3)
        changes.append(abs(first - later))
    assert max(changes) > 3
