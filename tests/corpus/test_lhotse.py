"""Lhotse manifests, as Lhotse 1.x writes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sottovoce.core.errors import InputError
from sottovoce.corpus import Utterance, read_lhotse
from sottovoce.corpus.defects import DefectsError

Json = dict[str, Any]


def recording(name: str = "r1", channels: int = 1, **changes: Any) -> Json:
    source = {"type": "file", "channels": list(range(channels)), "source": f"audio/{name}.wav"}
    return {
        "id": name,
        "sources": [source],
        "sampling_rate": 16000,
        "num_samples": 160000,
        "duration": 10.0,
        "channel_ids": list(range(channels)),
        **changes,
    }


def supervision(name: str = "u1", **changes: Any) -> Json:
    spoken = {"id": name, "recording_id": "r1", "start": 2.0, "duration": 1.5, "channel": 0}
    return {**spoken, "text": "hello", "language": "en", "speaker": "ann", "gender": "F", **changes}


def cut(**changes: Any) -> Json:
    inside = [supervision(start=0.5)]
    whole = {"id": "c1", "start": 1.0, "duration": 5.0, "channel": 0, "recording": recording()}
    return {**whole, "supervisions": inside, "type": "MonoCut", **changes}


def write(path: Path, *objects: Any) -> Path:
    text = "".join(json.dumps(one) + "\n" for one in objects)
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
    (one,) = read_lhotse(tmp_path)
    assert (one.start, one.end) == (1.5, 3.0)


def test_a_supervision_of_the_whole_recording_has_no_times(tmp_path: Path) -> None:
    write(tmp_path / "recordings.jsonl", recording())
    write(tmp_path / "supervisions.jsonl", supervision(start=0, duration=10.0004))
    (one,) = read_lhotse(tmp_path)
    assert one.start is None and one.end is None and one.channel is None


def test_of_two_channels_the_supervision_names_one(tmp_path: Path) -> None:
    write(tmp_path / "recordings.jsonl", recording(channels=2))
    write(tmp_path / "supervisions.jsonl", supervision(), supervision("u2", channel=[1]))
    assert [one.channel for one in read_lhotse(tmp_path)] == [0, 1]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (cut(type="MixedCut"), "MixedCut"),
        (cut(supervisions=[]), "without supervision"),
        (cut(supervisions=[supervision(speaker=None)]), "speaker is missing"),
        (cut(supervisions=[supervision(channel=3)]), "channel 3 of recording r1"),
        (cut(supervisions=[supervision(duration=-1)]), "0 ≤ start < end"),
        (cut(supervisions=["u1"]), "not an object"),
        (cut(recording=None), "recording is missing"),
        (cut(recording=recording(transforms=[{"name": "Speed"}])), "transforms"),
        (cut(recording=recording(sources=[{"type": "command", "source": "cat"}])), "not in a file"),
        (cut(supervisions=[supervision(custom=[1])]), "custom is"),
        (cut(recording=recording(sources=[{"type": "file", "channels": [{}]}])), "has channel {}"),
        (cut(start="now"), "start is 'now'"),
        (["not", "an", "object"], "not a JSON object"),
        (cut(supervisions=[supervision("ok")]), "ok again"),
    ],
)
def test_defects_have_their_line(tmp_path: Path, bad: Any, words: str) -> None:
    path = write(tmp_path / "cuts.jsonl", cut(supervisions=[supervision("ok")]), bad)
    with pytest.raises(DefectsError, match=f"{path}:2: .*{words}"):
        read_lhotse(path)


def test_a_supervision_without_recording_has_its_line(tmp_path: Path) -> None:
    write(tmp_path / "recordings.jsonl", recording("other"))
    path = write(tmp_path / "supervisions.jsonl", supervision())
    with pytest.raises(DefectsError, match=f"{path}:1: recording r1 is not in recordings.jsonl"):
        read_lhotse(tmp_path)


def test_damaged_files_and_unclear_folders(tmp_path: Path) -> None:
    path = write(tmp_path / "cuts.jsonl.gz", *(cut(id=str(i)) for i in range(99)))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match=r"cuts.jsonl.gz: damaged or cut off"):
        read_lhotse(path)
    write(tmp_path / "cuts_b.jsonl", cut())
    with pytest.raises(InputError, match="2 lists of utterances"):
        read_lhotse(tmp_path)
    with pytest.raises(InputError, match=r"recordings.jsonl: no such file"):
        read_lhotse(write(tmp_path / "supervisions.jsonl", supervision()))
    with pytest.raises(InputError, match="names tell what is inside"):
        read_lhotse(write(tmp_path / "features.jsonl", {}))
