"""Lhotse manifests, as Lhotse 1.x writes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.core.records import Json, JsonObject
from sottovoce.corpus import Utterance, read_lhotse
from sottovoce.corpus.reading import DefectsError


def recording(name: str = "r1", channels: int = 1, **changes: Json) -> JsonObject:
    numbers: list[Json] = list(range(channels))
    source: JsonObject = {"type": "file", "channels": numbers, "source": f"audio/{name}.wav"}
    return {
        "id": name,
        "sources": [source],
        "sampling_rate": 16000,
        "num_samples": 160000,
        "duration": 10.0,
        "channel_ids": numbers,
        **changes,
    }


def supervision(name: str = "u1", **changes: Json) -> JsonObject:
    fields: JsonObject = {
        "id": name,
        "recording_id": "r1",
        "start": 2.0,
        "duration": 1.5,
        "channel": 0,
    }
    return {**fields, "text": "hello", "language": "en", "speaker": "ann", "gender": "F", **changes}


def cut(**changes: Json) -> JsonObject:
    fields: JsonObject = {
        "id": "c1",
        "start": 1.0,
        "duration": 5.0,
        "channel": 0,
        "recording": recording(),
    }
    supervisions: Json = [supervision(start=0.5)]
    return {**fields, "supervisions": supervisions, "type": "MonoCut", **changes}


def write(path: Path, *objects: Json) -> Path:
    text = "".join(json.dumps(value) + "\n" for value in objects)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_recordings_with_supervisions(tmp_path: Path, ending: str) -> None:
    recordings = write(tmp_path / f"x_recordings_dev{ending}", recording())
    spoken = supervision(custom={"session": "s1", "snr": 12.5, "room": "B"})
    supervisions = write(tmp_path / f"x_supervisions_dev{ending}", spoken)
    for path in (tmp_path, recordings, supervisions):
        corpus = read_lhotse(path)
        assert corpus.utterances == (
            Utterance(
                "u1",
                tmp_path / "audio/r1.wav",
                "ann",
                gender="f",
                language="en",
                transcript="hello",
                session="s1",
                start=2.0,
                end=3.5,
                extra={"snr": "12.5", "room": "B"},
            ),
        )
        assert corpus.where(0) == f"{supervisions}:1"


def test_cuts_count_from_their_own_start(tmp_path: Path) -> None:
    write(tmp_path / "cuts.jsonl", cut())
    (utterance,) = read_lhotse(tmp_path)
    assert (utterance.start, utterance.end) == (1.5, 3.0)


def test_a_supervision_of_the_whole_recording_has_no_times(tmp_path: Path) -> None:
    write(tmp_path / "recordings.jsonl", recording())
    write(tmp_path / "supervisions.jsonl", supervision(start=0, duration=10.0004))
    (utterance,) = read_lhotse(tmp_path)
    assert utterance.start is None and utterance.end is None and utterance.channel is None


def test_of_two_channels_the_supervision_names_one(tmp_path: Path) -> None:
    write(tmp_path / "recordings.jsonl", recording(channels=2))
    write(tmp_path / "supervisions.jsonl", supervision(), supervision("u2", channel=[1]))
    assert [utterance.channel for utterance in read_lhotse(tmp_path)] == [0, 1]


@pytest.mark.parametrize(
    ("defective", "code", "field"),
    [
        (cut(type="MixedCut"), "unsupported", "MixedCut"),
        (cut(supervisions=[]), "empty", "supervision"),
        (cut(supervisions=[supervision(speaker=None)]), "empty", "speaker"),
        (cut(supervisions=[supervision(channel=3)]), "out-of-range", "channel 3 of recording r1"),
        (cut(supervisions=[supervision(duration=-1)]), "out-of-range", "start"),
        (cut(supervisions=["u1"]), "wrong-type", "object"),
        (cut(recording=None), "empty", "recording"),
        (cut(recording=recording(transforms=[{"name": "Speed"}])), "unsupported", "transforms"),
        (
            cut(recording=recording(sources=[{"type": "command", "source": "cat"}])),
            "unsupported",
            "file",
        ),
        (cut(supervisions=[supervision(custom=[1])]), "wrong-type", "custom"),
        (
            cut(recording=recording(sources=[{"type": "file", "channels": [{}]}])),
            "wrong-type",
            "channel {}",
        ),
        (cut(start="now"), "wrong-type", "start is 'now'"),
        (["not", "an", "object"], "not-json", "object"),
        (cut(supervisions=[supervision("ok")]), "duplicate-id", "ok"),
    ],
)
def test_defects_have_their_line(tmp_path: Path, defective: Json, code: str, field: str) -> None:
    path = write(tmp_path / "cuts.jsonl", cut(supervisions=[supervision("ok")]), defective)
    with raises_code(code, DefectsError) as caught:
        read_lhotse(path)
    assert str(caught.value).startswith(f"{path}:2: ") and field in str(caught.value)


def test_a_supervision_without_recording_has_its_line(tmp_path: Path) -> None:
    write(tmp_path / "recordings.jsonl", recording("other"))
    path = write(tmp_path / "supervisions.jsonl", supervision())
    with raises_code("unknown-name", DefectsError) as caught:
        read_lhotse(tmp_path)
    assert str(caught.value).startswith(f"{path}:1: recording r1 ")


def test_damaged_files_and_unclear_folders(tmp_path: Path) -> None:
    path = write(tmp_path / "cuts.jsonl.gz", *(cut(id=str(i)) for i in range(99)))
    path.write_bytes(path.read_bytes()[:60])
    with raises_code("damaged") as caught:
        read_lhotse(path)
    assert str(path) in str(caught.value)
    write(tmp_path / "cuts_b.jsonl", cut())
    with raises_code("ambiguous"):
        read_lhotse(tmp_path)
    with raises_code("not-found") as caught:
        read_lhotse(write(tmp_path / "supervisions.jsonl", supervision()))
    assert str(tmp_path / "recordings.jsonl") in str(caught.value)
    with raises_code("unknown-name"):
        read_lhotse(write(tmp_path / "features.jsonl", {}))
