"""Manifests in Parquet: the same corpus as from CSV, or the chosen part of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.corpus import open_corpus


def table(count: int = 40) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "utterance": [f"u{number:03}" for number in range(count)],
            "path": [f"audio/u{number:03}.flac" for number in range(count)],
            "speaker": [number % 4 for number in range(count)],
            "transcript": [None if number % 3 else "said, so" for number in range(count)],
            "start": [0.5] * count,
            "part": [str(number % 2) for number in range(count)],
        }
    )


def test_the_same_corpus_as_from_csv(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    table().write_csv(tmp_path / "a" / "manifest.csv")
    table().write_parquet(tmp_path / "b" / "manifest.parquet")
    (tmp_path / "c" / "manifest.parquet").mkdir()
    for number in range(2):
        rows = table().slice(number * 20, 20)
        rows.write_parquet(tmp_path / "c" / "manifest.parquet" / f"{number}.parquet")
    csv, file, shards = (open_corpus(tmp_path / name) for name in "abc")

    def facts(corpus: object) -> list[tuple[object, ...]]:
        return [
            (u.id, u.path.name, u.speaker, u.transcript, u.start, dict(u.extra))
            for u in corpus  # type: ignore[attr-defined]
        ]

    assert facts(csv) == facts(file) == facts(shards)
    assert file.name == "b" and file.utterances[3].path == tmp_path / "b" / "audio" / "u003.flac"


def test_only_selected_rows_become_utterances(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "manifest.parquet")
    corpus = open_corpus(tmp_path, {"part": "1", "speaker": "3"})
    assert [u.id for u in corpus] == [f"u{number:03}" for number in range(3, 40, 4)]
    assert corpus.where(0).endswith(":4")
    with raises_code("unknown-name", InputError):
        open_corpus(tmp_path, {"language": "en"})
    with raises_code("empty", InputError):
        open_corpus(tmp_path, {"part": "2"})


def test_other_folders_are_not_opened(tmp_path: Path) -> None:
    for part in ("0", "1"):
        folder = tmp_path / "manifest.parquet" / f"part={part}"
        folder.mkdir(parents=True)
        table().filter(pl.col("part") == part).drop("part").write_parquet(folder / "a.parquet")
    assert len(open_corpus(tmp_path)) == 40
    (tmp_path / "manifest.parquet" / "part=1" / "a.parquet").write_bytes(b"damaged")
    corpus = open_corpus(tmp_path, {"part": "0"})
    assert len(corpus) == 20 and corpus.utterances[0].extra["part"] == "0"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (pl.lit("").alias("speaker"), "defects"),
        (pl.lit("u1").alias("utterance"), "defects"),
        (pl.lit("soon").alias("start"), "defects"),
    ],
)
def test_defects_are_listed(tmp_path: Path, change: pl.Expr, code: str) -> None:
    table().with_columns(change).write_parquet(tmp_path / "manifest.parquet")
    with pytest.raises(SottovoceError):
        open_corpus(tmp_path)


def test_columns_are_checked(tmp_path: Path) -> None:
    table().drop("speaker").write_parquet(tmp_path / "manifest.parquet")
    with raises_code("missing-column", InputError):
        open_corpus(tmp_path)
    table().write_csv(tmp_path / "manifest.csv")
    (tmp_path / "manifest.parquet").unlink()
    with raises_code("unneeded-selection", InputError):
        open_corpus(tmp_path, {"part": "1"})
