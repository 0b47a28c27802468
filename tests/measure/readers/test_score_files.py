"""Score sets paired by the ids of their trials."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from error_codes import raises_code
from paired_systems import paired_systems

from sottovoce.measure import Scores, compare_scores
from sottovoce.measure.readers.score_files import pair_files, read_score_file


def table_of(scores: Scores, *, speakers: bool = True, ids: bool = True) -> pl.DataFrame:
    """A table of the scores whose ids are numbers of trials."""
    who = scores.speakers
    assert who is not None
    assert who.names is not None
    count = len(scores.mated) + scores.n_nonmated
    columns: dict[str, object] = {
        "score": np.concatenate((scores.mated, scores.nonmated)),
        "label": ["mated"] * len(scores.mated) + ["nonmated"] * scores.n_nonmated,
    }
    if ids:
        columns |= {"enrol": [f"e{i % 7}" for i in range(count)], "trial": np.arange(count)}
    if speakers:
        columns["enrol_speaker"] = who.names[np.concatenate((who.mated, who.nonmated_enrol))]
        columns["trial_speaker"] = who.names[np.concatenate((who.mated, who.nonmated_trial))]
    return pl.DataFrame(columns)


@pytest.fixture
def systems() -> list[Scores]:
    return paired_systems([0.8, 1.2], speakers=8, utterances=5)


def test_rows_in_any_order_are_paired_by_id(systems: list[Scores], tmp_path: Path) -> None:
    first, second = (table_of(scores, speakers=False) for scores in systems)
    first.write_csv(tmp_path / "a.csv")
    second.sample(fraction=1, shuffle=True, seed=3).write_parquet(tmp_path / "b.parquet")
    files = [read_score_file(tmp_path / name) for name in ("a.csv", "b.parquet")]
    paired = pair_files(files, ["a", "b"])
    assert paired.paired_by == "trial"
    assert paired.left_out == (0, 0)
    order = np.argsort([str(i) for i in range(len(systems[0].mated))])
    by_id = np.lexsort(np.array([order.argsort(), np.arange(len(order)) % 7]))
    for scores, expected in zip(paired.sets, systems, strict=True):
        np.testing.assert_allclose(scores.mated, expected.mated[by_id])


def test_only_common_trials_are_compared(systems: list[Scores], tmp_path: Path) -> None:
    first, second = map(table_of, systems)
    first[:-9].write_csv(tmp_path / "a.csv")
    second[2:].write_csv(tmp_path / "b.csv")
    files = [read_score_file(tmp_path / name) for name in ("a.csv", "b.csv")]
    paired = pair_files(files, ["a", "b"])
    assert paired.paired_by == "speaker"
    assert paired.same_trials
    assert paired.left_out == (2, 9)
    assert len(paired.warnings) == 2
    assert [len(scores.mated) for scores in paired.sets] == [38, 38]


def test_other_trials_of_the_same_speakers_are_paired_by_speaker(
    systems: list[Scores], tmp_path: Path
) -> None:
    first, second = map(table_of, systems)
    first.write_csv(tmp_path / "a.csv")
    second.with_columns(pl.col("trial") + 1000).write_csv(tmp_path / "b.csv")
    files = [read_score_file(tmp_path / name) for name in ("a.csv", "b.csv")]
    paired = pair_files(files, ["a", "b"])
    assert paired.paired_by == "speaker"
    assert not paired.same_trials
    assert paired.left_out == (0, 0)


def test_tables_and_arrays_are_paired_by_speaker(systems: list[Scores], tmp_path: Path) -> None:
    table_of(systems[0]).write_csv(tmp_path / "a.csv")
    who = systems[1].speakers
    assert who is not None
    assert who.names is not None
    np.savez(
        tmp_path / "b.npz",
        mated=systems[1].mated,
        nonmated=systems[1].nonmated,
        mated_speaker=who.names[who.mated],
        nonmated_enrol_speaker=who.names[who.nonmated_enrol],
        nonmated_trial_speaker=who.names[who.nonmated_trial],
    )
    files = [read_score_file(tmp_path / name) for name in ("a.csv", "b.npz")]
    paired = pair_files(files, ["a", "b"])
    assert paired.paired_by == "speaker"
    expected = compare_scores(systems, only=["eer"]).differences["eer"][0]
    difference = compare_scores(paired, only=["eer"]).differences["eer"][0]
    assert difference.value == pytest.approx(expected.value)
    assert difference.low == pytest.approx(expected.low)


def test_a_trial_has_one_label(systems: list[Scores], tmp_path: Path) -> None:
    first = table_of(systems[0], speakers=False)
    other = pl.when(pl.col("trial") == 3).then(pl.lit("nonmated")).otherwise("label")
    first.write_csv(tmp_path / "a.csv")
    first.with_columns(other.alias("label")).write_csv(tmp_path / "b.csv")
    files = [read_score_file(tmp_path / name) for name in ("a.csv", "b.csv")]
    with raises_code("mismatch"):
        pair_files(files, ["a", "b"])


def test_shards_and_lists_keep_their_tables(systems: list[Scores], tmp_path: Path) -> None:
    table = table_of(systems[0], speakers=False).with_columns(pl.col("trial").cast(pl.String))
    folder = tmp_path / "shards"
    folder.mkdir()
    table[:100].write_parquet(folder / "0.parquet")
    table[100:].write_parquet(folder / "1.PARQUET")
    rows = list(table.select("enrol", "trial", "score", "label").iter_rows())
    (tmp_path / "scores").write_text("".join(f"{e} {t} {s}\n" for e, t, s, _ in rows))
    key = {"mated": "target", "nonmated": "nontarget"}
    (tmp_path / "trials").write_text("".join(f"{e} {t} {key[label]}\n" for e, t, _, label in rows))
    files = [
        read_score_file(folder),
        read_score_file(tmp_path / "scores", trials=tmp_path / "trials"),
    ]
    paired = pair_files(files, ["shards", "list"])
    assert paired.paired_by == "trial"
    np.testing.assert_allclose(paired.sets[0].mated, paired.sets[1].mated)


def test_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with raises_code("not-found"):
        read_score_file(tmp_path / "nothing.csv")
    (tmp_path / "a.csv").write_text("score,label\n1,mated\n0,nonmated\n")
    with raises_code("missing-trials"):
        read_score_file(tmp_path / "a.csv", utt2spk=tmp_path / "a.csv")
