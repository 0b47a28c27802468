"""Anonymising a corpus: metadata is kept, killed runs continue, one run at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
import soundfile
from error_codes import raises_code
from signals import noise, tone, write_audio

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.corpus import anonymise_corpus
from sottovoce.anonymise.voice.output_folder import JOURNAL, pseudonymise
from sottovoce.core.errors import InputError
from sottovoce.core.locks import NAME as LOCK
from sottovoce.core.locks import locked
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio
from sottovoce.corpus import Corpus, Utterance, open_corpus, write_kaldi, write_manifest

SECRET = Secret.reproducible(1)


class Inverter:
    """Inverts the sign of all samples and counts its calls."""

    name = "inverter"

    def __init__(self, stop_after: int | None = None) -> None:
        self.calls: list[str] = []
        self.fitted = 0
        self.stop_after = stop_after

    def fit(self, corpus: Corpus) -> Self:
        self.fitted += 1
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        if len(self.calls) == self.stop_after:
            raise KeyboardInterrupt
        self.calls.append(utterance)
        return -audio

    def record(self) -> JsonObject:
        return {"method": self.name, "settings": {}}


def write_tone(path: Path, hertz: float = 32, seconds: float = 0.2) -> Path:
    return write_audio(path, tone(hertz, seconds, level=0.3))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two speakers, one of them on two channels and in segments of a 44.1 kHz file."""
    folder = tmp_path / "in"
    listed = [
        Utterance(
            f"ann {i}/é",
            write_tone(folder / "a" / f"{i}.wav", 200 + 30 * i),
            "ann",
            gender="f",
            transcript=f"words {i}",
            session="monday",
            split="trial",
            extra={"note": "secret note"},
        )
        for i in range(5)
    ]
    stereo = folder / "call.wav"
    channels = [noise(1.0, rate=44100, seed=seed) for seed in (0, 1)]
    write_audio(stereo, np.stack(channels, axis=1), 44100)
    listed += [
        Utterance("b0", stereo, "bob", start=0.1, end=0.5, channel=1),
        Utterance("b1", stereo, "bob", start=0.5),
    ]
    write_manifest(Corpus("in", folder, tuple(listed)), folder)
    return open_corpus(folder)


def test_metadata_and_audio_are_written(corpus: Corpus, tmp_path: Path) -> None:
    target = tmp_path / "out"
    result = anonymise_corpus(corpus, Inverter(), target, secret=SECRET)
    output = open_corpus(target)
    assert output.utterances == result.corpus.utterances and result.skipped == ()
    for before, after in zip(corpus, output, strict=True):
        for field in ("id", "speaker", "gender", "transcript", "session", "split", "extra"):
            assert getattr(before, field) == getattr(after, field)
        audio, rate = soundfile.read(before.path, always_2d=True)
        changed, same = soundfile.read(after.path)
        first = round((before.start or 0) * rate)
        last = None if before.end is None else round(before.end * rate)
        part = audio[first:last]
        mono = part.mean(axis=1) if before.channel is None else part[:, before.channel]
        assert same == rate
        np.testing.assert_allclose(changed, -mono, atol=2 / 32768)
    record = json.loads((target / "anonymisation.json").read_text())
    assert record["method"] == "inverter" and record["reproducible_seed"] == 1
    assert (record["utterances"], record["speakers"], record["left_out"]) == (7, 2, 0)
    assert record["seconds"] == pytest.approx(1.9, abs=0.01)


def test_whole_files_keep_their_paths(tmp_path: Path) -> None:
    for name in ("ann/x.wav", "bob/day 1/y.flac"):
        write_tone(tmp_path / "in" / name)
    anonymise_corpus(open_corpus(tmp_path / "in"), Inverter(), tmp_path / "out", secret=SECRET)
    assert (tmp_path / "out/ann/x.wav").is_file() and (tmp_path / "out/bob/day 1/y.flac").is_file()


def test_pseudonyms_leave_no_original_name_behind(corpus: Corpus, tmp_path: Path) -> None:
    target = tmp_path / "out"
    secret = Secret.generate()
    output = anonymise_corpus(corpus, Inverter(), target, secret=secret, rename=True).corpus
    everything = "\n".join(
        [str(path.relative_to(target)) for path in target.rglob("*")]
        + [path.read_text() for path in target.iterdir() if path.is_file()]
    )
    for word in ("ann", "bob", "monday", "note", "call", str(tmp_path / "in")):
        assert word not in everything.replace("anonymis", "")
    assert len(output.speakers) == 2 and {utterance.gender for utterance in output} == {"f", ""}
    assert all(utterance.id.startswith(f"{utterance.speaker}-") for utterance in output)
    assert [utterance.id for utterance in output] == sorted(utterance.id for utterance in output)
    again = anonymise_corpus(corpus, Inverter(), target, secret=secret, rename=True)
    assert again.resumed == 7
    other = anonymise_corpus(corpus, Inverter(), tmp_path / "b", secret=SECRET, rename=True).corpus
    assert not {utterance.id for utterance in other} & {utterance.id for utterance in output}


def test_pseudonymising_later_leaves_nothing_that_links_to_the_first_run(tmp_path: Path) -> None:
    for name in ("ann/1.wav", "ann/2.wav", "bob/day 1/3.wav", "cem/4.wav", "eve/5.wav"):
        write_tone(tmp_path / "in" / name)
    corpus, target, secret = open_corpus(tmp_path / "in"), tmp_path / "out", Secret.generate()
    anonymise_corpus(corpus, Inverter(), target, secret=secret)
    keys = {line["key"] for line in journal(target)}
    anonymise_corpus(corpus, Inverter(), target, secret=secret, rename=True)
    lines = journal(target)
    assert len(lines) == 5 and not keys & {line["key"] for line in lines}
    everything = [str(path.relative_to(target)) for path in target.rglob("*")]
    everything += [path.read_text() for path in target.iterdir() if path.is_file()]
    for word in ("ann", "bob", "day", "cem", "eve"):
        assert word not in "\n".join(everything).replace("anonymis", "")


def test_pseudonymised_output_hides_the_order_of_the_corpus(corpus: Corpus, tmp_path: Path) -> None:
    target = tmp_path / "out"
    method = Inverter()
    names = {original.id: output.id for original, output in pseudonymise(corpus, SECRET).items()}
    anonymise_corpus(corpus, method, target, secret=SECRET, rename=True, jobs=1)
    files = [line["file"] for line in journal(target)]
    assert files == sorted(files) and len(files) == 7
    assert {path.stat().st_mtime_ns for path in target.rglob("*")} == {0}
    order = [names[name] for name in method.calls]
    assert order == sorted(order)


def journal(target: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (target / JOURNAL).read_text().splitlines()]


def test_an_interrupted_run_leaves_no_lists(corpus: Corpus, tmp_path: Path) -> None:
    """Lists of the run before would name files, and people, that are no longer there."""
    target = tmp_path / "out"
    anonymise_corpus(corpus, Inverter(), target, secret=SECRET)
    with pytest.raises(KeyboardInterrupt):
        anonymise_corpus(corpus, Inverter(stop_after=2), target, secret=SECRET, rename=True, jobs=1)
    left = {path.name for path in target.iterdir()}
    assert left == {"audio", ".sottovoce.journal", ".sottovoce.lock"}
    assert not list(target.glob("audio/ann")) and len(journal(target)) == 2
    result = anonymise_corpus(corpus, Inverter(), target, secret=SECRET, rename=True)
    assert result.resumed == 2 and len(open_corpus(target)) == 7


def test_kaldi_in_kaldi_out(tmp_path: Path) -> None:
    listed = tuple(
        Utterance(f"ann-{i}", write_tone(tmp_path / f"{i}.wav"), "ann", transcript="some words")
        for i in range(3)
    )
    data = write_kaldi(Corpus("data", tmp_path, listed), tmp_path / "data")
    for _ in range(2):  # a second run finds everything done and writes the lists again
        anonymise_corpus(open_corpus(data), Inverter(), tmp_path / "out", secret=SECRET, kaldi=True)
        output = open_corpus(tmp_path / "out")
        assert (tmp_path / "out" / "wav.scp").is_file()
        assert not (tmp_path / "out" / "manifest.csv").exists()
        assert str(tmp_path) not in (tmp_path / "out" / "wav.scp").read_text()
        assert [utterance.id for utterance in output] == ["ann-0", "ann-1", "ann-2"]
        assert output.utterances[0].transcript == "some words"


def test_an_interrupted_run_continues_without_repeating_work(
    corpus: Corpus, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        anonymise_corpus(corpus, Inverter(stop_after=3), target, secret=SECRET, jobs=1)
    assert not (target / "manifest.csv").exists()
    again = Inverter()
    result = anonymise_corpus(corpus, again, target, secret=SECRET, jobs=1)
    assert result.resumed == 3 and again.calls == [
        utterance.id for utterance in corpus.utterances[3:]
    ]
    idle = Inverter()
    assert anonymise_corpus(corpus, idle, target, secret=SECRET).resumed == 7
    assert not idle.calls and not idle.fitted


def test_changed_recordings_are_anonymised_again(corpus: Corpus, tmp_path: Path) -> None:
    target = tmp_path / "out"
    anonymise_corpus(corpus, Inverter(), target, secret=SECRET)
    write_tone(corpus.utterances[1].path, 777, seconds=0.3)
    again = Inverter()
    anonymise_corpus(corpus, again, target, secret=SECRET)
    assert again.calls == [corpus.utterances[1].id]
    other = Inverter()
    assert anonymise_corpus(corpus, other, target, secret=Secret.generate()).resumed == 0
    assert len(other.calls) == 7


def test_speakers_removed_from_the_corpus_are_removed_from_the_output(
    corpus: Corpus, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    anonymise_corpus(corpus, Inverter(), target, secret=SECRET)
    assert (target / "audio/bob/b0.flac").is_file()
    anonymise_corpus(corpus.select(speakers=["ann"]), Inverter(), target, secret=SECRET)
    assert not [path for path in target.rglob("b0*") if path.is_file()]
    assert open_corpus(target).speakers == ("ann",)


def test_bad_recordings_are_named_and_the_others_kept(corpus: Corpus, tmp_path: Path) -> None:
    corpus.utterances[2].path.write_bytes(b"")
    target = tmp_path / "out"
    with raises_code("bad-recordings", InputError) as caught:
        anonymise_corpus(corpus, Inverter(), target, secret=SECRET)
    assert "1 of 7" in str(caught.value) and "2.wav: empty" in str(caught.value)
    second = Inverter()
    result = anonymise_corpus(corpus, second, target, secret=SECRET, skip_bad=True)
    assert len(result.corpus) == 6 and len(result.skipped) == 1 and not second.calls
    assert json.loads((target / "anonymisation.json").read_text())["left_out"] == 1


def test_no_old_copy_stays_of_a_recording_that_turned_bad(corpus: Corpus, tmp_path: Path) -> None:
    target = tmp_path / "out"
    anonymise_corpus(corpus, Inverter(), target, secret=SECRET)
    corpus.utterances[2].path.write_bytes(b"")
    result = anonymise_corpus(corpus, Inverter(), target, secret=SECRET, skip_bad=True)
    assert len(result.skipped) == 1 and len(journal(target)) == 6
    assert set(target.rglob("*.flac")) == {utterance.path for utterance in result.corpus}


def test_a_failing_fit_keeps_the_earlier_output(corpus: Corpus, tmp_path: Path) -> None:
    class Unfit(Inverter):
        name = "unfit"

        def fit(self, corpus: Corpus) -> Self:
            raise InputError("nothing to learn from", code="nothing-to-learn")

    target = tmp_path / "out"
    anonymise_corpus(corpus, Inverter(), target, secret=SECRET)
    with raises_code("nothing-to-learn"):
        anonymise_corpus(corpus, Unfit(), target, secret=SECRET)
    assert len(open_corpus(target)) == 7
    assert all(utterance.path.is_file() for utterance in open_corpus(target))


def test_on_first_write_is_called_before_the_first_recording_is_written(
    corpus: Corpus, tmp_path: Path
) -> None:
    begun: list[int] = []
    target = tmp_path / "out"

    def begin() -> None:
        begun.append(len(list(target.rglob("*.flac"))))

    def run(method: Inverter) -> None:
        anonymise_corpus(corpus, method, target, secret=SECRET, jobs=1, on_first_write=begin)

    with pytest.raises(KeyboardInterrupt):
        run(Inverter(stop_after=0))
    assert not begun and not target.exists()
    run(Inverter())
    run(Inverter())
    assert begun == [0]


def test_folders_that_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    for inside in (corpus.root, corpus.root / "out"):
        with raises_code("nested", InputError):
            anonymise_corpus(corpus, Inverter(), inside, secret=SECRET)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    with raises_code("not-empty", InputError):
        anonymise_corpus(corpus, Inverter(), tmp_path / "full", secret=SECRET)
    assert os.listdir(tmp_path / "full") == ["thesis.txt"]
    with (
        locked(tmp_path / "out"),
        raises_code("locked", InputError),
    ):
        anonymise_corpus(corpus, Inverter(), tmp_path / "out", secret=SECRET)


@pytest.mark.parametrize("rename", [False, True])
def test_a_killed_process_is_continued(tmp_path: Path, rename: bool) -> None:
    """A process killed with no chance to tidy up; meanwhile a second one is refused."""
    for i in range(30):
        write_tone(tmp_path / "in" / "ann" / f"{i:02}.wav", 150 + i, seconds=1.5)
    out = tmp_path / "out"
    words = ["anonymise", "voice", str(tmp_path / "in"), str(out), "--jobs", "1"]
    words += ["--rename"] if rename else []
    pattern = "audio/*/*.flac" if rename else "ann/*.wav"
    command = [sys.executable, "-m", "sottovoce", *words]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        _wait_for(lambda: len(list(out.glob(pattern))) >= 3)
        os.kill(process.pid, signal.SIGSTOP)
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert "another run is writing" in second.stderr and second.stderr.count("\n") == 1
    finally:
        process.kill()
        process.wait()
    before = {path.name: path.stat().st_ino for path in out.glob(pattern)}
    assert 3 <= len(before) < 30 and not (out / "manifest.csv").exists()
    result = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["resumed"] == len(before)
    after = {path.name: path.stat().st_ino for path in out.glob(pattern)}
    assert len(after) == 30 and all(after[name] == number for name, number in before.items())
    assert not [path for path in out.rglob(".*") if path.name not in (JOURNAL, LOCK)]


def _wait_for(condition: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
