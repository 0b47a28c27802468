"""Slices under attack: what is cut, who they belong to, and how they are linked."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from attack_voices import simulated
from error_codes import raises_code
from small_speech import small_corpus

from sottovoce.anonymise.recording.slice_map import MappedSlice, map_file, read_map, write_map
from sottovoce.attack.knowledge import ATTACKERS
from sottovoce.attack.slice_curves import SlicedSets, attack_slice_curve, originals_slice_curve
from sottovoce.attack.slicing import CutSpeech, Slicing, cut_speech, match_map
from sottovoce.attack.speech import SpeechCache, SpeechSet
from sottovoce.cli import run
from sottovoce.corpus import open_corpus
from sottovoce.corpus.audio import load_length
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import AttackSettings
from sottovoce.speaker.encoders import make_encoder


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> SpeechSet:
    return SpeechSet.of(
        small_corpus(tmp_path_factory.mktemp("speech") / "o", 3, 2, "s", seconds=0.8)
    )


@pytest.fixture
def cache(tmp_path: Path) -> SpeechCache:
    return SpeechCache(tmp_path / "cache", make_encoder("campplus"), 1)


def test_the_first_seconds(speech: SpeechSet, cache: SpeechCache) -> None:
    cut = cut_speech(speech, 0.5, "first", cache)
    assert cut.left_out == 0 and cut.mean_seconds == pytest.approx(0.5)
    assert {load_length(piece).seconds for piece in cut.speech.corpus} == {0.5}
    assert cut.speech.ids == speech.ids and cut.speech.key != speech.key
    whole = cut_speech(speech, 3, "first", cache)
    assert [u.end for u in whole.speech.corpus] == [None] * 6
    assert whole.mean_seconds == pytest.approx(0.8)
    with raises_code("missing-transcript"):
        cut_speech(speech, 0.5, "words", cache)
    with raises_code("out-of-range"):
        Slicing((0.0,)).check()


def test_cuts_between_words_partition_a_recording(
    speech: SpeechSet, cache: SpeechCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sottovoce.attack import slicing

    times = {u.id: ((0.0, 0.25), (0.3, 0.5), (0.5, 0.8)) for u in speech.corpus}
    missing = next(iter(times))
    del times[missing]
    monkeypatch.setattr(slicing, "_word_times", lambda *arguments: times)
    cut = cut_speech(speech, 0.2, "words", cache)
    assert cut.left_out == 1
    pieces = [u for u in cut.speech.corpus if u.id.startswith(f"{sorted(times)[0]}/")]
    ends = [(round(u.start or 0, 4), round(u.end or 0, 4)) for u in pieces]
    assert ends == [(0, 0.275), (0.275, 0.5), (0.5, 0.8)]


def test_a_map_names_released_slices(speech: SpeechSet, tmp_path: Path) -> None:
    first, second = speech.corpus.utterances[:2]
    path = map_file(tmp_path / "out")
    write_map(
        path, [MappedSlice("x1", first.id, 0, 0.0, 0.5), MappedSlice("x2", "enrolled", 0, 0, 1)]
    )
    assert path.name == "out.map.csv" and stat.S_IMODE(path.stat().st_mode) == 0o600
    slices = read_map(path)
    released = Corpus(
        "released",
        tmp_path,
        tuple(replace(second, id=name, speaker="unknown") for name in ("x1", "x2")),
    )
    stretches, named = match_map(speech, released, slices)
    assert [(u.id, u.speaker, u.start, u.end) for u in stretches.corpus] == [
        ("x1", first.speaker, 0.0, 0.5)
    ]
    assert [(u.id, u.speaker, u.path) for u in named.corpus] == [("x1", first.speaker, second.path)]
    with raises_code("mismatch"):
        match_map(speech, released, slices[:1])
    with raises_code("mismatch"):
        match_map(speech, released, [replace(entry, utterance="nobody") for entry in slices])
    (tmp_path / "bad.csv").write_text("slice,utterance,number,start,end\na,b,0,2,1\n")
    with raises_code("damaged"):
        read_map(tmp_path / "bad.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with raises_code("missing-column"):
        read_map(tmp_path / "other.csv")


def test_curves_of_simulated_slices(speech: SpeechSet) -> None:
    """Shorter slices are noisier, and are linked less; originals more than released ones."""
    cut = CutSpeech(speech, 1.0, 0)
    sliced = [
        SlicedSets(seconds, simulated(evaluated=8, trained=8, noise=noise), cut, cut)
        for seconds, noise in ((0.5, 4.0), (5.0, 0.5))
    ]
    slicing, settings = Slicing((0.5, 5.0)), AttackSettings("cosine")
    originals = originals_slice_curve(sliced, slicing, settings)
    attacked = attack_slice_curve(sliced, ATTACKERS["semi-informed"], slicing, settings)
    short, long = originals.points
    assert short.linkability.value < long.linkability.value and long.linkability.value > 0.9
    assert (short.eer.value or 0) > (long.eer.value or 0)
    assert attacked.points[1].linkability.value <= long.linkability.value
    point = long.linkability
    assert point.low is not None and point.low <= point.value and point.chance == 1 / 8
    assert short.seconds == 0.5 and originals.cut == "first"


def test_linkability_by_its_definition() -> None:
    from sottovoce.attack.score import ScoreTable
    from sottovoce.attack.slice_curves import _linkability

    table = ScoreTable(
        np.array([[3.0, 1.0, 2.0], [2.0, 1.0, 2.5]]),
        np.array(["a", "b"]),
        np.array(["t1", "t2", "t3"]),
        np.array(["a", "a", "b"]),
    )
    # a is first in t1 and ties in t2, which counts against the attacker; b is first in t3
    assert _linkability(table, 0.95).value == pytest.approx((0.5 + 1) / 2)


def test_slices_of_a_release_are_attacked_by_the_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_corpus(tmp_path / "o", 3, 3, "s", seconds=0.75)
    small_corpus(tmp_path / "others", 3, 2, "t", seconds=0.75)
    cut = [
        "slice",
        str(tmp_path / "o"),
        str(tmp_path / "out"),
        "--hard",
        "all",
        "--seconds",
        "0.375",
    ]
    assert run([*cut, "--reproducible", "1"]) == 0
    assert all(u.speaker == "unknown" for u in open_corpus(tmp_path / "out"))
    mapped = tmp_path / "out.map.csv"
    assert stat.S_IMODE(mapped.stat().st_mode) == 0o600 and len(read_map(mapped)) == 18
    assert run([*cut[:2], str(tmp_path / "none"), *cut[3:], "--no-map"]) == 0
    assert not (tmp_path / "none.map.csv").exists()
    attack = ["attack", "--original", str(tmp_path / "o"), "--train", str(tmp_path / "others")]
    attack += ["--attacker", "ignorant", "--linkage", "cosine", "--jobs", "1"]
    capsys.readouterr()
    released = ["--anonymised", str(tmp_path / "out"), "--map", str(mapped)]
    assert run([*attack, *released, "--out", str(tmp_path / "r"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["attacks"][0]
    trials = {entry.slice for entry in read_map(mapped)}
    assert 0 < record["trials"] < len(trials) and record["trials"] % 2 == 0
    whole = [
        "--anonymised",
        str(tmp_path / "o"),
        "--slice",
        "0.4",
        "--out",
        str(tmp_path / "w"),
    ]
    assert run([*attack, *whole, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["attacks"][0]
    for curve in (record["slices"], record["original_slices"]):
        assert [point["seconds"] for point in curve["points"]] == [0.4]
    assert run([*attack, *released[:2], "--out", str(tmp_path / "x")]) == 2  # no map
    assert run([*attack, *whole[:2], "--slice", "one", "--out", str(tmp_path / "x")]) == 2
    assert run([*cut, "--reproducible", "1"]) == 2  # the map of other slices is there
