"""The condition of a trial: from columns of the scores, or from metadata."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from error_codes import raises_code

from sottovoce.measure.readers import parquet
from sottovoce.measure.readers.conditions import divide_file, pair_conditions
from sottovoce.measure.readers.score_files import read_score_file
from sottovoce.measure.score_stream import ScoreStream

SPEAKERS = {"ann": "f", "bea": "f", "cid": "m", "dan": "m"}


def trials() -> pl.DataFrame:
    """Every speaker's two recordings against every speaker's model."""
    rows = [
        {
            "score": float(2 * (enrolled == speaker) + 0.1 * number),
            "label": "mated" if enrolled == speaker else "nonmated",
            "enrol": enrolled,
            "trial": f"{speaker}-{take}",
            "enrol_speaker": enrolled,
            "trial_speaker": speaker,
            "enrol_gender": SPEAKERS[enrolled],
            "trial_gender": SPEAKERS[speaker],
            "device": "phone" if take == "1" else "desk",
        }
        for number, enrolled in enumerate(SPEAKERS)
        for speaker in SPEAKERS
        for take in "12"
    ]
    return pl.DataFrame(rows)


def write(table: pl.DataFrame, path: Path) -> Path:
    table.write_csv(path) if path.suffix == ".csv" else table.write_parquet(path)
    return path


def counts(path: Path, column: str, metadata: Path | None = None) -> dict[str, tuple[int, int]]:
    divided = divide_file(read_score_file(path), column, metadata)
    return {
        name: (len(source.mated), source.n_nonmated) for name, source in divided.sources.items()
    }


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_trials_between_conditions_are_left_out(tmp_path: Path, name: str) -> None:
    path = write(trials(), tmp_path / name)
    divided = divide_file(read_score_file(path), "gender")
    assert counts(path, "gender") == {"f": (4, 4), "m": (4, 4)}
    assert (divided.left_out.mixed, divided.left_out.unknown) == (16, 0)
    who = divided.sources["f"].speakers
    assert who is not None
    assert who.names is not None
    assert who.names.tolist() == ["ann", "bea"]


def test_a_column_of_the_trial(tmp_path: Path) -> None:
    table = trials().with_columns(
        pl.when(pl.col("trial") == "ann-1").then(pl.lit(" ")).otherwise("device").alias("device")
    )
    path = write(table, tmp_path / "scores.csv")
    divided = divide_file(read_score_file(path), "device")
    assert counts(path, "device") == {"desk": (4, 12), "phone": (3, 9)}
    assert (divided.left_out.mixed, divided.left_out.unknown) == (0, 4)


def test_metadata_of_speakers(tmp_path: Path) -> None:
    path = write(trials(), tmp_path / "scores.csv")
    metadata = tmp_path / "speakers.csv"
    metadata.write_text("speaker,accent\nann,n\nbea,n\ncid,s\n")
    divided = divide_file(read_score_file(path), "accent", metadata)
    assert counts(path, "accent", metadata) == {"n": (4, 4)}
    # ann and bea against cid; everything with dan; and cid, who has nobody to be compared with
    assert (divided.left_out.mixed, divided.left_out.unknown) == (8, 16)


def test_metadata_of_utterances_and_models_of_several(tmp_path: Path) -> None:
    """A model enrolled with several sessions takes the session of the trial."""
    path = write(trials(), tmp_path / "scores.csv")
    lines = [
        f"{speaker}-{take},{speaker},{session}"
        for speaker in SPEAKERS
        for take, session in {"1": "old", "2": "new"}.items()
    ]
    metadata = tmp_path / "manifest.csv"
    metadata.write_text("utterance,speaker,session\n" + "\n".join(lines) + "\n")
    assert counts(path, "session", metadata) == {"new": (4, 12), "old": (4, 12)}


def test_streams_are_divided_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(trials(), tmp_path / "scores.parquet")
    whole = counts(path, "gender")
    expected = divide_file(read_score_file(path), "gender").sources["m"].mated
    metadata = tmp_path / "speakers.csv"
    metadata.write_text(
        "speaker,gender\n" + "".join(f"{name},{gender}\n" for name, gender in SPEAKERS.items())
    )
    monkeypatch.setattr(parquet, "IN_MEMORY", 5)
    file = read_score_file(path)
    assert file.table is None
    divided = divide_file(file, "gender")
    assert isinstance(divided.sources["m"], ScoreStream)
    assert counts(path, "gender") == whole
    assert counts(path, "gender", metadata) == whole
    assert divided.left_out.mixed == 16
    stream = divided.sources["m"]
    assert sorted(stream.mated.tolist()) == sorted(expected.tolist())
    assert sum(len(chunk) for chunk in stream.nonmated_chunks()) == stream.n_nonmated


def test_conditions_of_several_files_are_paired(tmp_path: Path) -> None:
    first = write(trials(), tmp_path / "a.csv")
    second = write(trials().filter(pl.col("device") == "phone"), tmp_path / "b.csv")
    divided = [divide_file(read_score_file(path), "device") for path in (first, second)]
    paired = pair_conditions(divided, ["a", "b"])
    assert list(paired) == ["phone"]
    assert paired["phone"].same_trials


def test_what_cannot_be_divided_is_refused(tmp_path: Path) -> None:
    path = write(trials(), tmp_path / "scores.csv")
    with raises_code("missing-column"):
        divide_file(read_score_file(path), "dialect")
    metadata = tmp_path / "other.csv"
    metadata.write_text("name,accent\nann,n\n")
    with raises_code("missing-column"):
        divide_file(read_score_file(path), "accent", metadata)
    metadata.write_text("speaker,accent\nann,n\n")
    with raises_code("missing-column"):
        divide_file(read_score_file(path), "dialect", metadata)
    with raises_code("not-found"):
        divide_file(read_score_file(path), "accent", tmp_path / "nothing.csv")
    np.savez(tmp_path / "plain.npz", mated=[1.0], nonmated=[0.0])
    with raises_code("missing-column"):
        divide_file(read_score_file(tmp_path / "plain.npz"), "gender")
    bare = write(trials().select("score", "label"), tmp_path / "bare.csv")
    with raises_code("missing-column"):
        divide_file(read_score_file(bare), "accent", metadata)
    many = pl.DataFrame(
        {
            "score": np.arange(400.0),
            "label": ["mated", "nonmated"] * 200,
            "number": [str(i // 2) for i in range(400)],
        }
    )
    with raises_code("out-of-range"):
        divide_file(read_score_file(write(many, tmp_path / "many.csv")), "number")
