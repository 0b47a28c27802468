"""Remote files through fsspec, and tables whose folders name columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from error_codes import raises_code

pytest.importorskip("fsspec")

import fsspec

from sottovoce.core import remote_files
from sottovoce.core.engine import LocalEngine
from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists, fingerprint
from sottovoce.core.parquet_files import find_shards, scan_files
from sottovoce.core.records import dump_json
from sottovoce.core.remote_files import is_folder, local_file, remote_address
from sottovoce.measure import measure_scores
from sottovoce.measure.readers import parquet, read_scores
from sottovoce.measure.readers.conditions import divide_file
from sottovoce.measure.readers.score_files import read_score_file
from sottovoce.measure.score_stream import ScoreStream, with_engine
from sottovoce.speaker.readers import read_embeddings


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Four shards of scores in folders of two methods and two genders."""
    rng = np.random.default_rng(3)
    for method, shift in (("dar", 1.0), ("mcadams", 2.0)):
        for gender in ("f", "m"):
            score = np.concatenate([rng.normal(shift, 1, 60), rng.normal(0, 1, 900)])
            table = pl.DataFrame(
                {
                    "score": score.astype(np.float32),
                    "label": np.repeat(["mated", "nonmated"], [60, 900]),
                }
            )
            folder = tmp_path / "scores" / f"method={method}" / f"gender={gender}"
            folder.mkdir(parents=True)
            table.write_parquet(folder / "0.parquet")
    (tmp_path / "scores" / "other").mkdir()
    (tmp_path / "scores" / "other" / "no.parquet").write_bytes(b"not a shard")
    return tmp_path / "scores"


@pytest.fixture
def bucket(folders: Path, tmp_path: Path) -> Iterator[Path]:
    """The same in fsspec's file system in memory, under a new name."""
    memory = fsspec.filesystem("memory")
    memory.put(str(folders), f"/{tmp_path.name}/scores", recursive=True)
    yield Path(f"memory://{tmp_path.name}/scores")
    memory.store.clear()


@pytest.mark.parametrize(
    ("path", "address"),
    [
        (Path("s3://bucket/a"), "s3://bucket/a"),
        ("gs://b/c.parquet", "gs://b/c.parquet"),
        (Path("file:///data/a"), "file:///data/a"),
        (Path("/data/a"), None),
        (Path("scores"), None),
        ("C:/scores", None),
    ],
)
def test_addresses_survive_being_paths(path: Path | str, address: str | None) -> None:
    assert remote_address(path) == address


@pytest.mark.parametrize("where", [None, {"method": "dar"}, {"gender": "m", "method": "dar"}])
def test_remote_shards_measure_like_local_ones(
    folders: Path, bucket: Path, where: dict[str, str] | None
) -> None:
    local, remote = (
        dump_json(measure_scores(read_scores(path, where=where), replicates=50))
        for path in (folders, bucket)
    )
    assert local == remote


def test_remote_shards_are_streamed_in_parts(
    folders: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = dump_json(measure_scores(read_scores(folders), interval=None))
    monkeypatch.setattr(parquet, "IN_MEMORY", 100)
    monkeypatch.setattr(parquet, "PART_ROWS", 500)
    for path in (folders, bucket):
        source = read_scores(path)
        assert isinstance(source, ScoreStream) and len(tuple(source.parts)) == 8
        source = with_engine(source, LocalEngine(2))
        assert dump_json(measure_scores(source, interval=None)) == whole


def test_only_the_selected_folders_are_opened(bucket: Path) -> None:
    memory = fsspec.filesystem("memory")
    damaged = bucket / "method=mcadams" / "gender=f" / "0.parquet"
    memory.pipe_file(str(damaged).removeprefix("memory:"), b"damaged")
    assert read_scores(bucket, where={"method": "dar"}).n_nonmated == 1800
    with raises_code("unreadable", InputError):
        read_scores(bucket)


def test_folders_are_conditions(folders: Path, bucket: Path) -> None:
    for path in (folders, bucket):
        file = read_score_file(path, where={"method": "dar"})
        assert set(divide_file(file, "gender").conditions) == {"f", "m"}


def test_large_sets_are_divided_by_their_folders(
    bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "IN_MEMORY", 100)
    divided = divide_file(read_score_file(bucket), "method")
    assert {name: source.n_nonmated for name, source in divided.sources.items()} == {
        "dar": 1800,
        "mcadams": 1800,
    }


@pytest.mark.parametrize(
    ("where", "code"), [({"language": "en"}, "unknown-name"), ({"method": "x"}, "empty")]
)
def test_selections_of_nothing(bucket: Path, where: dict[str, str], code: str) -> None:
    with raises_code(code, InputError):
        find_shards(bucket, where)


def test_a_file_has_no_folders_to_select(folders: Path) -> None:
    with raises_code("unneeded-selection", InputError):
        read_scores(next(folders.rglob("0.parquet")), where={"method": "dar"})


def test_rows_and_columns_are_chosen_while_reading(bucket: Path) -> None:
    frame = scan_files(find_shards(bucket), bucket)
    chosen = frame.filter(pl.col("label") == "mated", pl.col("gender") == "m").select("score")
    assert chosen.collect().shape == (120, 1)
    assert frame.select(pl.len()).collect().item() == 3840


def test_embeddings(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.savez(tmp_path / "e.npz", vectors=vectors, speakers=np.array(list("abab")))
    memory.put(str(tmp_path / "e.npz"), f"/{tmp_path.name}/e.npz")
    path = Path(f"memory://{tmp_path.name}/e.npz")
    read = read_embeddings(path)
    assert read.name == "e" and np.array_equal(read.vectors, vectors)
    assert fingerprint(path) == fingerprint(tmp_path / "e.npz")
    memory.store.clear()


def test_what_is_not_there(bucket: Path) -> None:
    assert is_folder(bucket) and not is_folder(bucket / "none")
    with raises_code("not-found", InputError):
        check_exists(bucket / "none")
    with raises_code("not-found", InputError):
        local_file(bucket / "none.parquet")
    with raises_code("unreadable", InputError):
        local_file(Path("nosuchscheme://bucket/a"))


def test_errors_name_the_address(tmp_path: Path) -> None:
    fsspec.filesystem("memory").pipe_file(f"/{tmp_path.name}/e.npz", b"damaged")
    with pytest.raises(InputError, match=f"memory://{tmp_path.name}/e.npz"):
        read_embeddings(Path(f"memory://{tmp_path.name}/e.npz"))


def test_few_fetched_files_are_kept(bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "KEPT_BYTES", 0)
    monkeypatch.setattr(remote_files, "KEPT_FILES", 1)
    first, *_, last = (local_file(file) for file in find_shards(bucket))
    assert last.exists() and not first.exists()


def test_a_remote_file_that_has_changed_is_fetched_anew(bucket: Path) -> None:
    file = bucket / "note.txt"
    memory = fsspec.filesystem("memory")
    for content in (b"first", b"other"):
        memory.pipe_file(str(remote_address(file)), content)
        assert local_file(file).read_bytes() == content
        assert local_file(file) == local_file(file)
