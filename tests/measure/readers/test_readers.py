"""Reading score sets: every format back as it was written, every bad file one clear line."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import pickle
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.types import RealArray
from sottovoce.measure import Scores, Speakers, linkability, measure_scores
from sottovoce.measure.readers import READERS, read_scores
from sottovoce.measure.scores import ScoreSource

RNG = np.random.default_rng(0)
MATED, NONMATED = RNG.normal(1, 1, 40).round(2), RNG.normal(0, 1, 300).round(2)
IN_MEMORY = "sottovoce.measure.readers.parquet.IN_MEMORY"


def nonmated_of(source: ScoreSource) -> RealArray:
    return np.concatenate([chunk.copy() for chunk in source.nonmated_chunks()])


def same_scores(source: ScoreSource, mated: Any = MATED, nonmated: Any = NONMATED) -> None:
    """The same scores, in any order."""
    assert np.sort(source.mated).tolist() == np.sort(mated).tolist()
    assert np.sort(nonmated_of(source)).tolist() == np.sort(nonmated).tolist()
    assert source.n_nonmated == len(nonmated)
    assert source.low == min(mated.min(), nonmated.min())
    assert source.high == max(mated.max(), nonmated.max())


def refusal(path: Path, *, names: Path | None = None, **options: Any) -> str:
    """Read and measure a bad file: nothing but our own error, in one line that names the file."""
    with pytest.raises(SottovoceError) as caught:
        measure_scores(read_scores(path, **options), interval=None)
    message = str(caught.value)
    assert len(message.splitlines()) == 1, message
    assert (names or path).name in message, message
    return message


def table(mated: Any = MATED, nonmated: Any = NONMATED, **columns: Any) -> pl.DataFrame:
    labels = ["mated"] * len(mated) + ["nonmated"] * len(nonmated)
    return pl.DataFrame({"score": np.concatenate((mated, nonmated)), "label": labels, **columns})


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ================================================================================= round trips


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int32, ">f8"])
def test_npz(save: Callable[..., None], dtype: Any, tmp_path: Path) -> None:
    path = tmp_path / "set.npz"
    mated, nonmated = (10 * side for side in (MATED, NONMATED))
    mated, nonmated = mated.astype(dtype), nonmated.astype(dtype)
    save(path, mated=mated, nonmated=nonmated, unrelated=np.zeros((2, 2)))
    found = read_scores(path)
    same_scores(found, mated, nonmated)
    assert found.name == "set"
    assert found.mated.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert found.speakers is None


@pytest.mark.parametrize("name", [str, np.int64])
def test_npz_with_speakers(name: Any, tmp_path: Path) -> None:
    path = tmp_path / "set.npz"
    np.savez(
        path,
        mated=[1.0, 2.0],
        nonmated=[0.0, 0.5, 1.0],
        mated_speaker=np.array([7, 8]).astype(name),
        nonmated_enrol_speaker=np.array([7, 8, 9]).astype(name),
        nonmated_trial_speaker=np.array([9, 9, 7]).astype(name),
    )
    who = read_scores(path).speakers
    assert who is not None
    assert who.count == 3
    assert who.mated.tolist() == [0, 1]
    assert who.nonmated_enrol.tolist() == [0, 1, 2]
    assert who.nonmated_trial.tolist() == [2, 2, 0]


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t")])
def test_text_tables(suffix: str, separator: str, tmp_path: Path) -> None:
    path = tmp_path / f"set{suffix}"
    table().sample(fraction=1, shuffle=True, seed=1).write_csv(path, separator=separator)
    found = read_scores(str(path))
    same_scores(found)
    assert found.name == "set"


def test_text_keeps_every_digit(tmp_path: Path) -> None:
    mated, nonmated = RNG.normal(size=50) * 1e-5, RNG.normal(size=50) * 1e20
    table(mated, nonmated).write_csv(tmp_path / "set.csv")
    same_scores(read_scores(tmp_path / "set.csv"), mated, nonmated)


@pytest.mark.parametrize(
    "words",
    list(
        itertools.product(
            ["mated", "target", "1", "Mated", "TARGET", "true", "1.0"],
            ["nonmated", "nontarget", "0", "non-mated", "NonTarget", "0.0", "false"],
        )
    )[::5],
)
def test_spellings_of_labels(words: tuple[str, str], tmp_path: Path) -> None:
    rows = [f"1.5,{words[0]}", f"0.5,{words[1]}", f"2.5, {words[0]} "]
    path = write(tmp_path / "set.csv", "\n".join(["score,label", *rows, ""]))
    same_scores(read_scores(path), np.array([1.5, 2.5]), np.array([0.5]))


@pytest.mark.parametrize("blank", ["\n", "\n\n\n", "\r\n\r\n", " \n\t \n", ",\n"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_lines_without_content_do_not_matter(suffix: str, blank: str, tmp_path: Path) -> None:
    text = f"score,label\n1.5,mated\n0.5,nonmated\n{blank}"
    if suffix == ".tsv":
        text = text.replace(",", "\t")
    path = write(tmp_path / f"set{suffix}", text)
    same_scores(read_scores(path), np.array([1.5]), np.array([0.5]))
    bad = write(tmp_path / f"bad{suffix}", text + "x" + text[text.index("\n") + 4 :])
    line = text.count("\n") + 1
    assert f"not a number in line {line};" in refusal(bad)


def test_a_line_with_content_elsewhere_is_not_blank(tmp_path: Path) -> None:
    path = write(tmp_path / "bad.csv", "score,label,note\n1.5,mated,\n,,x\n0.5,nonmated,\n")
    with raises_code("not-a-number") as caught:
        read_scores(path)
    assert "line 3" in str(caught.value)


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv.gz", ".CSV.GZ", ".Tsv.gz"])
def test_compressed_text_tables(suffix: str, tmp_path: Path) -> None:
    separator = "\t" if "tsv" in suffix.lower() else ","
    text = table().write_csv(separator=separator).encode()
    path = write(tmp_path / f"set.v2{suffix}", gzip.compress(text))
    same_scores(read_scores(path))
    assert read_scores(path).name == "set.v2"
    for size in (1, 10, 200, len(gzip.compress(text)) - 4):
        refusal(write(path, gzip.compress(text)[:size]))
    with raises_code("unknown-format"):
        read_scores(write(path, text))


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_compressed_content_under_another_name_is_refused(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """A small upload could grow without limit."""
    path = write(tmp_path / "bad.csv", compress(table().write_csv().encode()))
    with raises_code("unknown-format"):
        read_scores(path)


@pytest.mark.parametrize("capitals", [str.upper, str.title])
def test_endings_in_capitals(capitals: Callable[[str], str], tmp_path: Path) -> None:
    npz(tmp_path / "set.npz", mated=MATED, nonmated=NONMATED)
    table().write_csv(tmp_path / "set.csv")
    table().write_csv(tmp_path / "set.tsv", separator="\t")
    (tmp_path / "shards").mkdir()
    for folder in (tmp_path, tmp_path / "shards"):
        table().write_parquet(folder / "set.parquet")
    for path in (*tmp_path.glob("set.*"), tmp_path / "shards" / "set.parquet"):
        path = path.rename(path.with_suffix(capitals(path.suffix)))
        same_scores(read_scores(path))
        assert read_scores(path).name == "set"
    same_scores(read_scores(tmp_path / "shards"))


@pytest.mark.parametrize("column", ["score", "label", "enrol", "trial_speaker"])
@pytest.mark.parametrize("second", ["{}", " {} "])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_two_columns_of_one_name_in_text(
    suffix: str, second: str, column: str, tmp_path: Path
) -> None:
    header, *rows = SPEAKER_ROWS.splitlines()
    text = "\n".join([f"{header},{second.format(column)}", *(f"{row},1" for row in rows), ""])
    text = text.replace(",", "\t") if suffix == ".tsv" else text
    data = gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode()
    with raises_code("duplicate-column") as caught:
        read_scores(write(tmp_path / f"bad{suffix}", data))
    assert repr(column) in str(caught.value)


def test_two_columns_of_one_name_that_is_not_used(tmp_path: Path) -> None:
    path = write(tmp_path / "set.csv", "note,score, note,label,note\na,1.5,,mated,b\n,0.5,,0,\n")
    same_scores(read_scores(path), np.array([1.5]), np.array([0.5]))


@pytest.mark.parametrize("streamed", [False, True])
def test_two_columns_of_one_name_in_parquet(
    streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(scorx=np.zeros(340)).write_parquet(tmp_path / "bad.parquet")
    raw = (tmp_path / "bad.parquet").read_bytes().replace(b"scorx", b"score")
    monkeypatch.setattr(IN_MEMORY, 10 if streamed else 10**6)
    with raises_code("duplicate-column"):
        read_scores(write(tmp_path / "bad.parquet", raw))


def test_two_arrays_of_one_name(tmp_path: Path) -> None:
    path = npz(tmp_path / "bad.npz", mated=MATED, nonmated=NONMATED)
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("mated.npy", archive.read("nonmated.npy"))
    with raises_code("duplicate-array"):
        read_scores(path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks(end: str, mark: str, tmp_path: Path) -> None:
    text = mark + end.join(["score,label", "1.5,mated", "0.5,nonmated", ""])
    same_scores(read_scores(write(tmp_path / "set.csv", text)), np.array([1.5]), np.array([0.5]))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_blanks_in_the_header_and_around_values(mark: str, tmp_path: Path) -> None:
    path = write(tmp_path / "set.csv", f"{mark} label , score\nmated, 2.5\nnonmated , -1 \n")
    same_scores(read_scores(path), np.array([2.5]), np.array([-1.0]))


def test_other_columns_are_ignored(tmp_path: Path) -> None:
    others = [pl.lit("x").alias(name) for name in ("line", "value", "mated", "index", "note")]
    frame = table().with_columns(others).select("line", "label", "mated", "value", "note", "score")
    frame.write_csv(tmp_path / "set.csv")
    frame.write_parquet(tmp_path / "set.parquet")
    same_scores(read_scores(tmp_path / "set.csv"))
    same_scores(read_scores(tmp_path / "set.parquet"))


SPEAKER_ROWS = (
    "score,label,enrol,trial,enrol_speaker,trial_speaker\n"
    "2.31,mated,e1,u1,alba,alba\n"
    "-0.84,nonmated,e1,u2,alba,bram\n"
    "0.5,nonmated,e2,u3,bram,cleo\n"
    "1.5,mated,e2,u2,bram,bram\n"
)


def test_table_with_speakers(tmp_path: Path) -> None:
    path = write(tmp_path / "set.csv", SPEAKER_ROWS)
    found = read_scores(path)
    assert found.mated.tolist() == [2.31, 1.5]
    who = found.speakers
    assert who is not None
    assert who.count == 3
    assert who.mated.tolist() == [0, 1]
    assert who.nonmated_enrol.tolist() == [0, 1]
    assert who.nonmated_trial.tolist() == [1, 2]
    pl.read_csv(path).write_parquet(tmp_path / "set.parquet")
    again = read_scores(tmp_path / "set.parquet").speakers
    assert again is not None
    assert again.nonmated_trial.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int64])
def test_parquet(dtype: Any, tmp_path: Path) -> None:
    frame = table().with_columns((pl.col("score") * 100).cast(dtype))
    frame.write_parquet(tmp_path / "set.parquet")
    found = read_scores(tmp_path / "set.parquet")
    scores = frame["score"].to_numpy()
    same_scores(found, scores[:40], scores[40:])
    assert found.mated.dtype == (np.float32 if dtype is pl.Float32 else np.float64)


LABELS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "text": lambda label: label,
    "categorical": lambda label: label.cast(pl.Categorical),
    "truth": lambda label: label == "mated",
    "number": lambda label: (label == "mated").cast(pl.Int8),
    "single": lambda label: (label == "mated").cast(pl.Float32),
    "double": lambda label: (label == "mated").cast(pl.Float64),
    "text of a double": lambda label: (label == "mated").cast(pl.Float64).cast(pl.String),
    "mixed": lambda label: pl.when(pl.col("score") > 0).then(pl.lit(" Non-Mated")).otherwise(label),
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_in_parquet(
    kind: str, streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table()
    is_mated = frame["label"] == "mated"
    if kind == "mixed":
        frame = table(-np.abs(MATED) - 0.01)  # other spellings for non-mated only
        is_mated = frame["label"] == "mated"
    frame.with_columns(LABELS[kind](pl.col("label")).alias("label")).write_parquet(
        tmp_path / "set.parquet"
    )
    monkeypatch.setattr(IN_MEMORY, 10 if streamed else 10**6)
    found = read_scores(tmp_path / "set.parquet")
    assert isinstance(found, Scores) != streamed
    scores = frame["score"].to_numpy()
    same_scores(found, scores[is_mated.to_numpy()], scores[~is_mated.to_numpy()])


# ================================================================== larger than memory = in memory


def same_summary(found: ScoreSource, expected: Scores) -> None:
    """Every number and every end the same; sums of costs to rounding (chunks come in any order)."""
    one, other = (
        measure_scores(source, replicates=20, seed=1).to_dict() for source in (found, expected)
    )
    cllrs = [entry["measures"].pop("cllr") for entry in (one, other)]
    assert [entry.pop("name") for entry in (one, other)] == [found.name, expected.name]
    assert one == other
    for key in ("value", "low", "high"):
        assert cllrs[0][key] == pytest.approx(cllrs[1][key], rel=1e-12)
    assert linkability(found).to_dict() == linkability(expected).to_dict()


BALANCES = {"few mated": (40, 3000), "few non-mated": (3000, 40), "as many": (500, 500)}


def big_set(balance: str, dtype: Any) -> Scores:
    rng = np.random.default_rng(7)
    m, n = BALANCES[balance]
    mated, nonmated = rng.normal(1, 1, m).round(2), rng.normal(0, 1, n).round(2)
    return Scores(mated.astype(dtype), nonmated.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("balance", BALANCES)
def test_streamed_parquet_equals_memory(
    balance: str, shards: int, dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = big_set(balance, dtype)
    frame = table(scores.mated, scores.nonmated)
    if shards > 1:
        frame = frame.sample(fraction=1, shuffle=True, seed=0)
    path = tmp_path / "shards"
    path.mkdir()
    size = -(-len(frame) // shards)
    for k in range(shards):
        part = frame.slice(k * size, size)
        part.write_parquet(path / f"{k}.parquet", row_group_size=200)
    monkeypatch.setattr(IN_MEMORY, 100)
    monkeypatch.setattr("sottovoce.measure.readers.parquet.CHUNK", 128)
    source = path if shards > 1 else path / "0.parquet"
    found = read_scores(source)
    assert not isinstance(found, Scores)
    assert found.mated.dtype == dtype
    same_scores(found, scores.mated, scores.nonmated)
    same_summary(found, scores)
    monkeypatch.setattr(IN_MEMORY, 10**6)
    assert isinstance(read_scores(source), Scores)
    same_summary(read_scores(source), scores)


def test_shards_of_one_class_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = big_set("few mated", np.float64)
    frame = table(scores.mated, scores.nonmated)
    frame.filter(pl.col("label") == "mated").write_parquet(tmp_path / "a.parquet")
    for k in range(3):
        part = frame.filter(pl.col("label") == "nonmated").slice(k * 1000, 1000)
        part.select("label", "score").write_parquet(tmp_path / f"b{k}.parquet")
    monkeypatch.setattr(IN_MEMORY, 100)
    same_summary(read_scores(tmp_path), scores)


@pytest.mark.parametrize("most", [100, 10**6])
def test_folders_may_name_the_label(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = big_set("few mated", np.float64)
    frame = table(scores.mated, scores.nonmated)
    for label in ("mated", "nonmated"):
        (tmp_path / f"label={label}").mkdir()
        part = frame.filter(pl.col("label") == label).select("score")
        part.write_parquet(tmp_path / f"label={label}" / "0.parquet")
    monkeypatch.setattr(IN_MEMORY, most)
    same_summary(read_scores(tmp_path), scores)


def test_scores_that_change_while_they_are_counted_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = big_set("few mated", np.float64)
    frame = table(scores.mated, scores.nonmated)
    frame.write_parquet(tmp_path / "0.parquet")
    monkeypatch.setattr(IN_MEMORY, 100)
    source = read_scores(tmp_path)
    frame.head(len(frame) - 1).write_parquet(tmp_path / "0.parquet")
    with raises_code("changed"):
        measure_scores(source, interval=None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f4", np.float16])
@pytest.mark.parametrize("chunk", [7, 64, 10**6])
@pytest.mark.parametrize("balance", BALANCES)
def test_directory_of_npy_equals_memory(
    balance: str, chunk: int, dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = big_set(balance, np.float16 if dtype is np.float16 else np.float32)
    np.save(tmp_path / "mated.npy", scores.mated.astype(dtype))
    np.save(tmp_path / "nonmated.npy", scores.nonmated.astype(dtype))
    monkeypatch.setattr("sottovoce.measure.readers.numpy_files.CHUNK", chunk)
    found = read_scores(tmp_path)
    same_scores(found, scores.mated, scores.nonmated)
    if chunk > 7:
        same_summary(found, scores)


def test_npy_of_the_second_version(tmp_path: Path) -> None:
    np.save(tmp_path / "mated.npy", MATED)
    with (tmp_path / "nonmated.npy").open("wb") as file:
        np.lib.format.write_array(file, NONMATED, version=(2, 0))
    same_scores(read_scores(tmp_path))


def test_shards_win_over_npy(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "mated.npy", np.zeros(3))
    np.save(tmp_path / "nonmated.npy", np.zeros(3))
    same_scores(read_scores(tmp_path))


# ======================================================================================= Kaldi

TRIALS = [
    ("s1", "u1", "target", "2.5"),
    ("s1", "u2", "nontarget", "-1.25"),
    ("s2", "u1", "nontarget", "0.5"),
    ("s2", "u2", "target", "1e1"),
    ("s3", "u2", "nontarget", "2.5"),
]


def kaldi(
    folder: Path,
    scores: list[tuple[str, str, str, str]] = TRIALS,
    trials: list[tuple[str, str, str, str]] = TRIALS,
) -> tuple[Path, Path]:
    score_lines = [f"{e} {t} {s}\n" for e, t, _, s in scores]
    key_lines = [f"{e} {t} {label}\n" for e, t, label, _ in trials]
    return (
        write(folder / "dev.scores", "".join(score_lines)),
        write(folder / "dev.trials", "".join(key_lines)),
    )


def test_kaldi(tmp_path: Path) -> None:
    scores, trials = kaldi(tmp_path)
    found = read_scores(scores, trials=trials)
    assert sorted(found.mated.tolist()) == [2.5, 10.0]
    assert sorted(nonmated_of(found).tolist()) == [-1.25, 0.5, 2.5]
    assert found.speakers is None


def voxceleb(
    folder: Path,
    scores: list[tuple[str, str, str, str]] = TRIALS,
    trials: list[tuple[str, str, str, str]] = TRIALS,
) -> tuple[Path, Path]:
    score_lines = [f"{s} {e} {t}\n" for e, t, _, s in scores]
    key_lines = [f"{int(label == 'target')} {e} {t}\n" for e, t, label, _ in reversed(trials)]
    return (
        write(folder / "vox.scores", "".join(score_lines)),
        write(folder / "vox.trials", "".join(key_lines)),
    )


def test_voxceleb_and_mixed_forms_equal_kaldi(tmp_path: Path) -> None:
    who = write(tmp_path / "utt2spk", "u1 s1\nu2 s2\n")
    score_files, trial_files = zip(kaldi(tmp_path), voxceleb(tmp_path), strict=True)
    for scores, trials in itertools.product(score_files, trial_files):
        found = read_scores(scores, trials=trials, utt2spk=who)
        assert found.mated.tolist() == [2.5, 10.0]
        assert nonmated_of(found).tolist() == [-1.25, 0.5, 2.5]
        assert found.speakers is not None
        assert found.speakers.nonmated_trial.tolist() == [1, 0, 1]


NUMBERED = [
    ("11", "1001", "target", "2.5"),
    ("11", "1002", "nontarget", "-1.25"),
    ("12", "1001", "nontarget", "0.5"),
]


@pytest.mark.parametrize("form", [kaldi, voxceleb])
def test_ids_that_are_numbers_are_recognised_by_the_trials(
    form: Callable[..., tuple[Path, Path]], tmp_path: Path
) -> None:
    scores, trials = form(tmp_path, NUMBERED, NUMBERED)
    same_scores(read_scores(scores, trials=trials), np.array([2.5]), np.array([-1.25, 0.5]))
    write(trials, "1 1 1\n0 2 3\n0 3 2\n")
    with raises_code("ambiguous"):
        read_scores(write(scores, "1 1 1\n2 3 2\n3 2 3\n"), trials=trials)


@pytest.mark.parametrize(
    ("scores", "trials", "code"),
    [
        ("0.5 s1 u1\nhigh s1 u2\n", "1 s1 u1\n0 s1 u2\n", "not-a-number"),
        ("0.5 s1 u1\nnan s1 u2\n", "1 s1 u1\n0 s1 u2\n", "not-finite"),
        ("0.5 s1 u1\n0.5 s1\n", "1 s1 u1\n0 s1 u2\n", "bad-line"),
        ("0.5 s1 u1\n0.1 s1 u2\n", "1 s1 u1\n2 s1 u2\n", "bad-label"),
        ("0.5 s1 u1\n0.1 s1 u2\n", "1 s1 u1\n0 s1 u3\n", "mismatch"),
        ("0.5 s1 u1\n0.1 s1 u1\n", "1 s1 u1\n0 s1 u2\n", "duplicate-id"),
        ("0.5 s1 u1\n0.1 s1 u2\n", "1 s1 u1\n1 s1 u1\n", "duplicate-id"),
    ],
)
def test_bad_voxceleb_files(scores: str, trials: str, code: str, tmp_path: Path) -> None:
    key = write(tmp_path / "vox.trials", trials)
    with raises_code(code):
        read_scores(write(tmp_path / "vox.scores", scores), trials=key)


def test_kaldi_labels_of_numbers(tmp_path: Path) -> None:
    numbers = [(e, t, "1.0" if label == "target" else "0", s) for e, t, label, s in TRIALS]
    scores, trials = kaldi(tmp_path, TRIALS, numbers)
    assert sorted(read_scores(scores, trials=trials).mated.tolist()) == [2.5, 10.0]


def test_kaldi_joins_by_id_whatever_the_order(tmp_path: Path) -> None:
    """Peers pair by position: there one moved line changes the EER without a word."""
    rng = np.random.default_rng(0)
    everyone = [f"s{k}" for k in range(8)]
    many = [
        (a, f"{b}-u{k}", "target" if a == b else "nontarget", repr(float(rng.normal(a == b))))
        for a, b in itertools.product(everyone, everyone)
        for k in range(3)
    ]
    key = write(
        tmp_path / "utt2spk", "".join(f"{b}-u{k} {b}\n" for b in everyone for k in (0, 1, 2))
    )
    summaries = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(many))
        other = np.random.default_rng(seed + 9).permutation(len(many))
        paths = kaldi(tmp_path, [many[i] for i in order], [many[i] for i in other])
        found = read_scores(paths[0], trials=str(paths[1]), utt2spk=key)
        assert found.speakers is not None
        assert found.speakers.count == 8
        summary = measure_scores(found, replicates=30).to_dict()
        assert summary["interval"]["unit"] == "speaker"
        summaries.append(summary)
    cllrs = [summary["measures"].pop("cllr")["value"] for summary in summaries]
    assert cllrs == pytest.approx([cllrs[0]] * 3, rel=1e-12)
    assert summaries[0] == summaries[1] == summaries[2]


@pytest.mark.parametrize("which", ["scores", "trials", "utt2spk"])
def test_kaldi_with_a_byte_order_mark(which: str, tmp_path: Path) -> None:
    scores, trials = kaldi(tmp_path)
    files = {"scores": scores, "trials": trials, "utt2spk": tmp_path / "utt2spk"}
    write(files["utt2spk"], "u1 s1\nu2 s2\n")
    before = read_scores(scores, trials=trials, utt2spk=files["utt2spk"])
    write(files[which], b"\xef\xbb\xbf" + files[which].read_bytes())
    found = read_scores(scores, trials=trials, utt2spk=files["utt2spk"])
    same_scores(found, before.mated, nonmated_of(before))
    assert found.speakers is not None and before.speakers is not None
    assert found.speakers.count == before.speakers.count == 3


def test_kaldi_white_space(tmp_path: Path) -> None:
    scores = write(tmp_path / "x.scores", "\n  a\tb   1.5 \r\n\nc d\t0.5")
    trials = write(tmp_path / "x.trials", "c d nontarget\n\n\n a b  target\r\n")
    found = read_scores(scores, trials=trials)
    assert found.mated.tolist() == [1.5]
    assert nonmated_of(found).tolist() == [0.5]


def test_kaldi_ids_unknown_to_utt2spk_are_speakers(tmp_path: Path) -> None:
    """Enrolment ids are speakers' own names as a rule."""
    scores, trials = kaldi(tmp_path)
    known = write(tmp_path / "utt2spk", "u1 s1\nu2 s2\n")
    who = read_scores(scores, trials=trials, utt2spk=known).speakers
    assert who is not None
    assert who.count == 3
    assert who.mated.tolist() == [0, 1]


def test_kaldi_missing_duplicate_and_unknown_ids(tmp_path: Path) -> None:
    more = ("s9", "u9", "target", "1.0")

    def complaint(scores: list[Any], trials: list[Any], names: str) -> str:
        paths = kaldi(tmp_path, scores, trials)
        return refusal(paths[0], names=tmp_path / names, trials=paths[1])

    message = complaint([*TRIALS, more], TRIALS, "dev.scores")
    assert "s9 u9 (line 6)" in message
    assert "has no trial" in message
    message = complaint(TRIALS, [TRIALS[0], more, *TRIALS[1:]], "dev.trials")
    assert "s9 u9 (line 2)" in message
    assert "has no score" in message
    message = complaint([*TRIALS, TRIALS[1]], TRIALS, "dev.scores")
    assert "s1 u2 (line 6)" in message
    assert "twice" in message
    message = complaint(TRIALS, [*TRIALS, TRIALS[2]], "dev.trials")
    assert "s2 u1 (line 6)" in message
    assert "twice" in message


def test_kaldi_lists_the_first_few_only(tmp_path: Path) -> None:
    many = [(f"x{k}", "y", "target", "1") for k in range(1000)]
    paths = kaldi(tmp_path, [*TRIALS, *many], TRIALS)
    message = refusal(paths[0], trials=paths[1])
    assert "x0 y (line 6), x1 y (line 7), x2 y (line 8) and 997 more" in message
    assert len(message) < 1000


def test_kaldi_one_renamed_id_is_refused(tmp_path: Path) -> None:
    renamed = [("s1", "u1x", *TRIALS[0][2:]), *TRIALS[1:]]
    paths = kaldi(tmp_path, renamed, TRIALS)
    assert "s1 u1x (line 1)" in refusal(paths[0], trials=paths[1])


KALDI_SCORES: dict[str, tuple[str | bytes, str]] = {
    "two words": ("a b\n", "line 1"),
    "four words": ("s1 u1 2.5\ns1 u2 1 2\n", "line 2"),
    "text for a score": ("s1 u1 high\ns1 u2 0\n", "line 1"),
    "NaN": ("s1 u1 nan\ns1 u2 0\n", "not finite"),
    "infinity": ("s1 u1 inf\ns1 u2 0\n", "not finite"),
    "overflow": ("s1 u1 1e999\ns1 u2 0\n", "not finite"),
    "blank lines": ("\n \n\t\n", "empty"),
    "0 bytes": ("", "empty"),
    "binary": (bytes(range(256)), "text"),
    "Latin-1": ("s1 u1é 1\n".encode("latin-1"), "text"),
    "UTF-16": ("s1 u1 1\n".encode("utf-16"), "text"),
    "another file": ("PK\x03\x04\n", "line 1"),
}


@pytest.mark.parametrize("what", KALDI_SCORES)
def test_bad_kaldi_scores(what: str, tmp_path: Path) -> None:
    content, complaint = KALDI_SCORES[what]
    scores = write(tmp_path / "dev.scores", content)
    trials = write(tmp_path / "key.trials", "s1 u1 target\ns1 u2 nontarget\n")
    assert complaint in refusal(scores, trials=trials)


KALDI_TRIALS: dict[str, tuple[str | bytes, str]] = {
    "no label": ("s1 u1\ns1 u2\n", "line 1, line 2"),
    "too many words": ("s1 u1 target x\ns1 u2 nontarget\n", "line 1"),
    "unknown label": ("\ns1 u2 nontarget\ns1 u1 impostor\n", "neither mated nor nonmated"),
    "0 bytes": ("", "empty"),
    "blank": ("\n\n", "empty"),
    "binary": (b"\xff\xfe\x00", "text"),
}


@pytest.mark.parametrize("what", KALDI_TRIALS)
def test_bad_kaldi_trials(what: str, tmp_path: Path) -> None:
    content, complaint = KALDI_TRIALS[what]
    scores = write(tmp_path / "dev.scores", "s1 u1 2.5\ns1 u2 1\n")
    trials = write(tmp_path / "key.trials", content)
    assert complaint in refusal(scores, names=trials, trials=trials)


@pytest.mark.parametrize("label", ["target", "nontarget"])
def test_kaldi_with_one_class_only(label: str, tmp_path: Path) -> None:
    one = [(e, t, label, s) for e, t, _, s in TRIALS]
    paths = kaldi(tmp_path, one, one)
    assert "no scores" in refusal(paths[0], trials=paths[1])


KALDI_SPEAKERS: dict[str, tuple[str | bytes, str]] = {
    "one word": ("u1\n", ":1: "),
    "three words": ("u1 s1\nu2 s2 s3\n", ":2: "),
    "0 bytes": ("", "empty"),
    "binary": (b"\x80\x81", "text"),
}


@pytest.mark.parametrize("what", KALDI_SPEAKERS)
def test_bad_utt2spk(what: str, tmp_path: Path) -> None:
    content, complaint = KALDI_SPEAKERS[what]
    scores, trials = kaldi(tmp_path)
    known = write(tmp_path / "who.utt2spk", content)
    assert complaint in refusal(scores, names=known, trials=trials, utt2spk=known)


def test_utt2spk_that_contradicts_the_labels(tmp_path: Path) -> None:
    scores, trials = kaldi(tmp_path)
    wrong = write(tmp_path / "utt2spk", "u1 s2\nu2 s2\n")
    message = refusal(scores, trials=trials, utt2spk=wrong)
    assert "two speakers" in message
    assert "line 1" in message


@pytest.mark.parametrize("which", ["scores", "trials", "utt2spk"])
def test_missing_kaldi_files_and_directories(which: str, tmp_path: Path) -> None:
    scores, trials = kaldi(tmp_path)
    files = {"scores": scores, "trials": trials, "utt2spk": write(tmp_path / "u2s", "u1 s1\n")}
    files[which] = tmp_path / "nowhere"
    options = {key: files[key] for key in ("trials", "utt2spk")}
    assert "no such file" in refusal(files["scores"], names=files[which], **options)
    files[which].mkdir()
    refusal(files["scores"], names=files[which], **options)


# =========================================================================== bad tables, any kind

TABLES: dict[str, tuple[str | bytes, str]] = {
    "no header": ("1.5,mated\n0.5,nonmated\n", "no column 'score'"),
    "no score column": ("value,label\n1,mated\n", "no column 'score'"),
    "no label column": ("score,kind\n1,mated\n", "no column 'label'"),
    "header only": ("score,label\n", "no scores"),
    "text in the score column": ("score,label\n1,mated\nhigh,mated\n0,nonmated\n", "line 3"),
    "empty score": ("score,label\n,mated\n0,nonmated\n", "line 2"),
    "comma for a point": ('score,label\n"1,5",mated\n0,nonmated\n', "line 2"),
    "NaN": ("score,label\n1,mated\n0,nonmated\nNaN,nonmated\n", "not finite in line 4"),
    "infinity": ("score,label\n-inf,mated\n0,nonmated\n", "not finite in line 2"),
    "overflow": ("score,label\n1e999,mated\n0,nonmated\n", "not finite in line 2"),
    "only mated": ("score,label\n1,mated\n2,mated\n", "nonmated: no scores"),
    "only non-mated": ("score,label\n1,0\n2,0\n", "mated: no scores"),
    "unknown label": ("score,label\n1,mated\n0,impostor\n", "neither mated nor nonmated in line 3"),
    "empty label": ("score,label\n1,\n0,nonmated\n", "neither mated nor nonmated in line 2"),
    "labels 1 and 2": ("score,label\n1,1\n0,2\n", "neither mated nor nonmated in line 3"),
    "too many fields": ("score,label\n1,mated,7\n0,nonmated\n", ""),
    "too few fields": ("score,label\n1,mated\n0\n", "line 3"),
    "blank lines": ("\n\n\n", ""),
    "open quote": ('score,label\n"1,mated\n0,nonmated\n', ""),
    "0 bytes": ("", "empty"),
    "binary": (bytes(range(256)) * 4, ""),
    "zeros": (b"\0" * 100, ""),
    "Latin-1": ("score,label,enrol\n1,mated,é\n0,nonmated,é\n".encode("latin-1"), ""),
    "UTF-16": ("score,label\n1,mated\n0,nonmated\n".encode("utf-16"), ""),
    "the same pair twice": (
        "score,label,enrol,trial\n1,mated,a,b\n0,nonmated,a,c\n1,mated,a,b\n",
        "same enrol and trial again in line 4",
    ),
    "mated with two speakers": (SPEAKER_ROWS.replace("bram,bram", "bram,cleo"), "line 5"),
    "non-mated with one speaker": (SPEAKER_ROWS.replace("alba,bram", "alba,alba"), "line 3"),
}


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("what", TABLES)
def test_bad_text_tables(what: str, suffix: str, tmp_path: Path) -> None:
    content, complaint = TABLES[what]
    if suffix == ".tsv" and isinstance(content, str):
        content = content.replace(",", "\t")
        content = content.replace('"1\t5"', "1,5")
    assert complaint in refusal(write(tmp_path / f"bad{suffix}", content))


def test_only_the_first_few_lines_are_named(tmp_path: Path) -> None:
    rows = ["score,label", "0,nonmated", *["x,mated"] * 1234]
    message = refusal(write(tmp_path / "bad.csv", "\n".join(rows)))
    assert "line 3, line 4, line 5 and 1,231 more" in message


PARQUETS: dict[str, tuple[pl.DataFrame, str]] = {
    "no score": (pl.DataFrame({"label": ["mated"]}), "no column 'score'"),
    "no label": (pl.DataFrame({"score": [1.0]}), "no column 'label'"),
    "blank in a name": (pl.DataFrame({"score": [1.0], " label": ["1"]}), "(has score, ' label')"),
    "no rows": (table().clear(), ""),
    "NaN mated": (table(np.array([1, np.nan])), "not finite"),
    "NaN non-mated": (table(nonmated=np.array([1, np.nan, 2])), "not finite"),
    "infinite mated": (table(np.array([np.inf, 1])), ""),
    "infinite non-mated": (table(nonmated=np.array([0, -np.inf])), ""),
    "text scores": (table().with_columns(score=pl.lit("high")), ""),
    "lists of scores": (table().with_columns(score=pl.concat_list("score")), ""),
    "only mated": (table().head(40), ""),
    "only non-mated": (table().tail(300), ""),
    "unknown label": (table().with_columns(label=pl.lit("impostor")), "neither mated nor"),
    "unknown label at the end": (
        pl.concat([table(), pl.DataFrame({"score": [1.0], "label": ["?"]})]),
        "neither mated nor nonmated",
    ),
    "no label at the end": (
        pl.concat(
            [table(), pl.DataFrame({"score": [1.0], "label": [None]})], how="vertical_relaxed"
        ),
        "neither mated nor nonmated",
    ),
    "labels 1 and 2": (table().with_columns(label=pl.lit(2)), "neither mated nor nonmated"),
    "lists of labels": (table().with_columns(label=pl.concat_list("label")), ""),
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("what", PARQUETS)
def test_bad_parquet(
    what: str, streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, complaint = PARQUETS[what]
    frame.write_parquet(tmp_path / "bad.parquet")
    monkeypatch.setattr(IN_MEMORY, -1 if streamed else 10**6)
    assert complaint in refusal(tmp_path / "bad.parquet")


@pytest.mark.parametrize("streamed", [False, True])
def test_a_missing_score_in_parquet(
    streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for where in (0, 300):
        frame = table().with_row_index("k")
        hole = pl.when(pl.col("k") != where).then("score").alias("score")
        frame.with_columns(hole).drop("k").write_parquet(tmp_path / "bad.parquet")
        monkeypatch.setattr(IN_MEMORY, 10 if streamed else 10**6)
        refusal(tmp_path / "bad.parquet")


@pytest.mark.parametrize("label", ["mated", "nonmated"])
@pytest.mark.parametrize("bad", [np.nan, -np.inf, None])
def test_a_streamed_score_that_is_not_finite_is_named_as_in_memory(
    bad: float | None, label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks come in any order and hold one class only: the line is that of the whole table."""
    monkeypatch.setattr("sottovoce.measure.readers.parquet.CHUNK", 16)
    frame = table().sample(fraction=1, shuffle=True, seed=3).with_row_index("k", offset=1)
    lines = frame.filter(pl.col("label") == label)["k"].to_list()[-2:]
    holes = pl.when(pl.col("k").is_in(lines)).then(pl.lit(bad, pl.Float64)).otherwise("score")
    frame = frame.with_columns(score=holes).drop("k")
    for k in range(4):
        frame.slice(k * 85, 85).write_parquet(tmp_path / f"{k}.parquet", row_group_size=20)
    messages = []
    for memory in (10**6, 10):
        monkeypatch.setattr(IN_MEMORY, memory)
        messages.append(refusal(tmp_path))
    assert messages[0] == messages[1]
    assert f"in line {lines[0]}, line {lines[1]};" in messages[0]


def test_a_streamed_array_names_the_position_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonmated = NONMATED.copy()
    nonmated[[217, 251, 290]] = np.nan
    np.save(tmp_path / "mated.npy", MATED)
    np.save(tmp_path / "nonmated.npy", nonmated)
    monkeypatch.setattr("sottovoce.measure.readers.numpy_files.CHUNK", 50)
    for ask in (lambda source: source.high, lambda source: nonmated_of(source)):
        with raises_code("not-finite") as caught:
            ask(read_scores(tmp_path))
        assert "3 of 300" in str(caught.value) and "position 217" in str(caught.value)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64])
def test_whole_numbers_that_doubles_round_are_refused(
    kind: Any, streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IN_MEMORY, 1 if streamed else 10**6)
    for large, refused in ((2**53, False), (2**53 + 1, True)):
        scores = pl.Series("score", [1, 5, large, 7], dtype=kind)
        frame = pl.DataFrame({"score": scores, "label": [1, 1, 0, 0]})
        frame.write_parquet(tmp_path / "set.parquet")
        if refused:
            with raises_code("out-of-range"):
                nonmated_of(read_scores(tmp_path / "set.parquet"))
        else:
            assert read_scores(tmp_path / "set.parquet").high == large


def test_shards_that_do_not_fit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table().write_parquet(tmp_path / "a.parquet")
    others = {
        "score as text": table().with_columns(pl.col("score").cast(pl.String)),
        "label as number": table().with_columns(label=pl.lit(1)),
        "no score": table().drop("score"),
    }
    for memory in (10**6, 10):
        monkeypatch.setattr(IN_MEMORY, memory)
        for frame in others.values():
            frame.write_parquet(tmp_path / "b.parquet")
            refusal(tmp_path)


def test_parquet_cut_off_anywhere(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "whole.parquet")
    raw = (tmp_path / "whole.parquet").read_bytes()
    for size in range(0, len(raw), max(1, len(raw) // 40)):
        refusal(write(tmp_path / "bad.parquet", raw[:size]))


# =================================================================================== bad arrays


class Trap:
    """Unpickling this would fail the test."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return pytest.fail, ("unpickled",)


def npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


ARRAYS: dict[str, tuple[Any, str]] = {
    "empty": (np.array([]), "no scores"),
    "one number": (np.array(1.0), "shape ()"),
    "two axes": (np.ones((2, 3)), "(2, 3)"),
    "complex": (np.array([1j, 2]), "complex128"),
    "text": (np.array(["a", "b"]), "<U1"),
    "truth values": (np.array([True]), "bool"),
    "dates": (np.array(["2020-01-01"], "datetime64[D]"), "datetime64"),
    "records": (np.array([(1.0,)], [("a", "f8")]), "'a'"),
    "NaN": (np.array([0.0, np.nan]), "not finite"),
    "infinity": (np.array([-np.inf, 1.0]), "not finite"),
    "single precision NaN": (np.array([1, np.nan], np.float32), "not finite"),
}


@pytest.mark.parametrize("side", ["mated", "nonmated"])
@pytest.mark.parametrize("what", ARRAYS)
def test_bad_arrays_in_npz(what: str, side: str, tmp_path: Path) -> None:
    values, complaint = ARRAYS[what]
    sides = {"mated": MATED, "nonmated": NONMATED, side: values}
    message = refusal(npz(tmp_path / "bad.npz", **sides))
    assert complaint in message
    assert side in message


@pytest.mark.parametrize("side", ["mated", "nonmated"])
@pytest.mark.parametrize("what", ARRAYS)
def test_bad_arrays_in_a_directory(what: str, side: str, tmp_path: Path) -> None:
    values, complaint = ARRAYS[what]
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, array in {"mated": MATED, "nonmated": NONMATED, side: values}.items():
        np.save(folder / f"{name}.npy", array)
    assert complaint in refusal(folder, names=folder if "finite" in complaint else Path(side))


@pytest.mark.parametrize("side", ["mated", "nonmated"])
def test_pickled_arrays_are_never_loaded(side: str, tmp_path: Path) -> None:
    trap = np.array([Trap()], dtype=object)
    sides = {"mated": MATED, "nonmated": NONMATED, side: trap}
    assert "never loaded" in refusal(npz(tmp_path / "bad.npz", **sides))
    for name, array in sides.items():
        np.save(tmp_path / f"{name}.npy", array, allow_pickle=True)
    refusal(tmp_path, names=Path(side))


def test_pickles_under_our_suffixes_are_never_loaded(tmp_path: Path) -> None:
    for name in ("a.npz", "a.csv", "a.parquet"):
        refusal(write(tmp_path / name, pickle.dumps(Trap())))


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"other": MATED}, "no array 'mated' (has other)"),
        ({"mated": MATED}, "no array 'nonmated' (has mated)"),
        ({}, "(has nothing)"),
        ({"Mated": MATED, "nonmated": MATED}, "no array 'mated'"),
    ],
)
def test_npz_without_the_arrays(arrays: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    assert complaint in refusal(npz(tmp_path / "bad.npz", **arrays))


SPEAKER_ARRAYS = {
    "mated_speaker": np.array(["a", "b"]),
    "nonmated_enrol_speaker": np.array(["a", "b"]),
    "nonmated_trial_speaker": np.array(["b", "a"]),
}


@pytest.mark.parametrize("lacking", SPEAKER_ARRAYS)
def test_npz_with_some_speakers_only(lacking: str, tmp_path: Path) -> None:
    some = {name: who for name, who in SPEAKER_ARRAYS.items() if name != lacking}
    message = refusal(npz(tmp_path / "bad.npz", mated=[1.0, 2], nonmated=[0.0, 1], **some))
    assert f"no '{lacking}'" in message
    assert "all three or none" in message


@pytest.mark.parametrize("which", SPEAKER_ARRAYS)
def test_npz_with_speakers_of_another_length(which: str, tmp_path: Path) -> None:
    arrays = {**SPEAKER_ARRAYS, which: np.array(["a", "b", "c"])}
    message = refusal(npz(tmp_path / "bad.npz", mated=[1.0, 2], nonmated=[0.0, 1], **arrays))
    assert "speakers given for" in message


SAID = {
    "mated_speaker": "mated",
    "nonmated_enrol_speaker": "non-mated enrol",
    "nonmated_trial_speaker": "non-mated trial",
}
NAMES = tuple(SAID)


def speaker_arrays() -> dict[str, Any]:
    sides = (np.array(["a", "b"]), np.array(["a", "b", "c"]), np.array(["b", "c", "a"]))
    scores = {"mated": [1.0, 2.0], "nonmated": [0.0, 0.5, 0.25]}
    return {**scores, **dict(zip(NAMES, sides, strict=True))}


def test_npz_with_speakers_as_bytes(tmp_path: Path) -> None:
    arrays = speaker_arrays()
    np.savez(tmp_path / "set.npz", **arrays)
    texts = read_scores(tmp_path / "set.npz").speakers
    np.savez(tmp_path / "set.npz", **{**arrays, **{n: arrays[n].astype("S") for n in NAMES}})
    found = read_scores(tmp_path / "set.npz").speakers
    assert found is not None and texts is not None and found.count == texts.count == 3
    assert found.nonmated_trial.tolist() == texts.nonmated_trial.tolist()


@pytest.mark.parametrize(("name", "words"), SAID.items())
@pytest.mark.parametrize("bad", [np.array([b"\xff"]), np.array([1.5]), np.array([[1]])])
def test_npz_with_speakers_that_are_no_names(
    bad: Any, name: str, words: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "set.npz", **{**speaker_arrays(), name: bad})
    assert f"{words} speakers: " in refusal(tmp_path / "set.npz")


@pytest.mark.parametrize(("name", "words"), SAID.items())
@pytest.mark.parametrize("empty", ["", "  "])
def test_npz_with_empty_names(empty: str, name: str, words: str, tmp_path: Path) -> None:
    arrays = speaker_arrays()
    arrays[name] = arrays[name].astype("U2")
    arrays[name][1] = empty
    np.savez(tmp_path / "set.npz", **arrays)
    message = refusal(tmp_path / "set.npz")
    assert f"{words} speakers: position 1 has an empty name" in message


def test_npz_with_pickled_speakers(tmp_path: Path) -> None:
    arrays = {**SPEAKER_ARRAYS, "mated_speaker": np.array([Trap(), Trap()], dtype=object)}
    refusal(npz(tmp_path / "bad.npz", mated=[1.0, 2], nonmated=[0.0, 1], **arrays))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_cut_off_anywhere(save: Callable[..., None], tmp_path: Path) -> None:
    save(tmp_path / "whole.npz", mated=MATED, nonmated=NONMATED)
    raw = (tmp_path / "whole.npz").read_bytes()
    for size in range(0, len(raw), max(1, len(raw) // 60)):
        refusal(write(tmp_path / "bad.npz", raw[:size]))


def test_npz_with_damaged_contents(tmp_path: Path) -> None:
    """Flipped bytes inside the arrays do not get past the checksum."""
    raw = bytearray(npz(tmp_path / "whole.npz", mated=MATED, nonmated=NONMATED).read_bytes())
    for place in range(200, len(raw) - 400, 97):
        damaged = raw.copy()
        damaged[place] ^= 0xFF
        refusal(write(tmp_path / "bad.npz", bytes(damaged)))


def test_npz_whose_members_are_cut_off(tmp_path: Path) -> None:
    """A sound archive around an array that is not: the checksum does not help here."""
    whole = io.BytesIO()
    np.save(whole, MATED)
    for size in (0, 3, 8, 60, 200):
        with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
            archive.writestr("mated.npy", whole.getvalue()[:size])
            archive.writestr("nonmated.npy", whole.getvalue())
        refusal(tmp_path / "bad.npz")


def test_one_bare_array_under_npz(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, MATED)
    refusal(write(tmp_path / "bad.npz", buffer.getvalue()))


@pytest.mark.parametrize("side", ["mated", "nonmated"])
def test_npy_cut_off_anywhere(side: str, tmp_path: Path) -> None:
    for name in ("mated", "nonmated"):
        np.save(tmp_path / f"{name}.npy", MATED)
    raw = (tmp_path / f"{side}.npy").read_bytes()
    for size in (0, 1, 6, 8, 9, 127, 128, 129, len(raw) - 8, len(raw) - 1):
        write(tmp_path / f"{side}.npy", raw[:size])
        refusal(tmp_path, names=Path(side))


def test_non_mated_scores_are_counted_before_they_are_read(tmp_path: Path) -> None:
    """A header that promises more than the file holds."""
    np.save(tmp_path / "mated.npy", MATED)
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(header, shape)
    write(tmp_path / "nonmated.npy", header.getvalue() + NONMATED.tobytes())
    assert "cut off" in refusal(tmp_path, names=Path("nonmated"))


# ============================================================================ files of any kind

SUFFIXES = [".npz", ".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz"]


def test_every_suffix_has_a_reader() -> None:
    assert list(READERS) == SUFFIXES


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_such_file(suffix: str, tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / f"nowhere{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_0_bytes(suffix: str, tmp_path: Path) -> None:
    assert "0 bytes" in refusal(write(tmp_path / f"bad{suffix}", b""))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("seed", range(6))
def test_junk_under_any_suffix(seed: int, suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    heads = [b"", b"PK\x03\x04", b"PAR1", b"\x93NUMPY\x01\x00", b"score,label\n", b"\xff\xfe"]
    refusal(write(tmp_path / f"bad{suffix}", heads[seed] + rng.bytes(int(rng.integers(1, 3000)))))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("other", SUFFIXES)
def test_a_file_under_another_suffix(suffix: str, other: str, tmp_path: Path) -> None:
    npz(tmp_path / "set.npz", mated=MATED, nonmated=NONMATED)
    table().write_csv(tmp_path / "set.csv")
    table().write_csv(tmp_path / "set.tsv", separator="\t")
    table().write_parquet(tmp_path / "set.parquet")
    for text in (".csv", ".tsv"):
        write(tmp_path / f"set{text}.gz", gzip.compress((tmp_path / f"set{text}").read_bytes()))
    moved = write(tmp_path / f"bad{other}", (tmp_path / f"set{suffix}").read_bytes())
    if suffix == other:
        same_scores(read_scores(moved))
    else:
        refusal(moved)


def test_damaged_text_raises_nothing_else(tmp_path: Path) -> None:
    """Changed bytes give another number or our error, never anything else."""
    table(MATED[:10], NONMATED[:20]).write_csv(tmp_path / "whole.csv")
    raw = (tmp_path / "whole.csv").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(raw)
        for place in rng.integers(0, len(raw), rng.integers(1, 4)):
            damaged[place] = rng.integers(256)
        path = write(tmp_path / "bad.csv", bytes(damaged))
        with contextlib.suppress(InputError):
            read_scores(path)


@pytest.mark.parametrize("name", ["set.txt", "set", "set.npy", "set.json", "set.gz", "set.csv.bz2"])
def test_unknown_kinds_of_files(name: str, tmp_path: Path) -> None:
    message = refusal(write(tmp_path / name, "1"))
    assert "unknown kind of file" in message
    assert ".npz, .csv, .tsv, .parquet" in message


@pytest.mark.parametrize("content", [[], ["mated.npy"], ["nonmated.npy"], ["a.csv"]])
def test_directories_without_scores(content: list[str], tmp_path: Path) -> None:
    for name in content:
        np.save(tmp_path / name, MATED)
    folder = tmp_path
    assert "a directory without scores" in refusal(folder)


def test_names_with_odd_characters(tmp_path: Path) -> None:
    path = tmp_path / "größe 50% {x} #1.csv"
    table().write_csv(path)
    same_scores(read_scores(path))
    refusal(write(tmp_path / "größe {0} %s.csv", "x"))


def test_speakers_of_a_table_make_intervals_by_speaker(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    enrol = np.concatenate((np.arange(40) % 8, rng.integers(0, 8, 300)))
    trial = np.concatenate((np.arange(40) % 8, (enrol[40:] + 1) % 8))
    table(enrol_speaker=enrol, trial_speaker=trial).write_csv(tmp_path / "set.csv")
    found = read_scores(tmp_path / "set.csv")
    expected = Scores(MATED, NONMATED, speakers=Speakers(enrol[:40], enrol[40:], trial[40:], 8))
    one, other = (measure_scores(s, replicates=25).to_dict() for s in (found, expected))
    assert one["interval"]["unit"] == "speaker"
    assert one == {**other, "name": "set"}


@pytest.mark.parametrize("wrong", [None, "maybe"])
def test_labels_in_the_middle_of_a_shard_are_found(
    wrong: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IN_MEMORY, 1)
    monkeypatch.setattr("sottovoce.measure.readers.parquet.END_ROWS", 1)
    labels = sorted(["mated", "target", "1", "nontarget", "0", "nonmated"] * 2)
    frame = pl.DataFrame({"score": np.arange(12.0), "label": labels})
    frame.write_parquet(tmp_path / "good.parquet", row_group_size=2)
    source = read_scores(tmp_path / "good.parquet")
    assert len(source.mated) == source.n_nonmated == 6
    changed = pl.Series([*labels[:5], wrong, *labels[6:]])
    frame.with_columns(label=changed).write_parquet(tmp_path / "bad.parquet")
    with raises_code("bad-label", InputError):
        read_scores(tmp_path / "bad.parquet")
