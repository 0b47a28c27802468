"""Reading embeddings: every format back as it was written, every bad file one clear line."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sottovoce.core.errors import SottovoceError
from sottovoce.speaker import Embeddings
from sottovoce.speaker.readers import READERS, read_embeddings, read_sets

VECTORS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
WHO = ["bob", "ann", "bob", "cyd", "ann"]
IDS = [f"utt-{i}" for i in range(5)]
GENDER = ["m", "f", "m", "f", "f"]
PAIRS = list(zip(IDS, WHO, strict=True))


class Trap:
    """Fails the test if it is ever unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("unpickled",)


def same(found: Embeddings, *, ids: bool = True, gender: bool = True) -> None:
    np.testing.assert_array_equal(found.vectors, VECTORS)
    assert found.names[found.speakers].tolist() == WHO
    assert (found.utterances is not None and found.utterances.tolist() == IDS) is ids
    assert (found.gender is not None and found.gender.tolist() == GENDER) is gender


def refusal(path: Path, *, names: Path | None = None, **options: Any) -> str:
    """Read a bad file: nothing but our own error, in one line that names the file."""
    with pytest.raises(SottovoceError) as caught:
        read_embeddings(path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1, message
    assert str(names or path) in message, message
    return message


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def npz(path: Path, **changes: Any) -> Path:
    arrays = {"vectors": VECTORS, "speakers": WHO, "utterances": IDS, "gender": GENDER, **changes}
    kept: dict[str, Any] = {name: value for name, value in arrays.items() if value is not None}
    np.savez(path, **kept)
    return path


def parquet(path: Path, **changes: Any) -> Path:
    vectors = pl.Series(VECTORS.tolist(), dtype=pl.List(pl.Float32))
    columns = {"vector": vectors, "speaker": WHO, "utterance": IDS, "gender": GENDER, **changes}
    frame = pl.DataFrame({name: value for name, value in columns.items() if value is not None})
    frame.write_parquet(path)
    return path


def folder(path: Path, *, text: bool = False, **changes: Any) -> Path:
    path.mkdir()
    arrays = {"speakers": WHO, "utterances": IDS, "gender": GENDER, **changes}
    np.save(path / "vectors.npy", arrays.pop("vectors", VECTORS))
    for name, value in arrays.items():
        if value is not None and text:
            write(path / f"{name}.txt", "\n".join(value) + "\n")
        elif value is not None:
            np.save(path / f"{name}.npy", value)
    return path


def entry(name: str, vector: Any, kind: str = "FV") -> bytes:
    """A vector as Kaldi writes it."""
    vector = np.asarray(vector)
    if kind == "text":
        return f"{name}  [ {' '.join(map(repr, vector.tolist()))} ]\n".encode()
    numbers: bytes = vector.astype("<f4" if kind[0] == "F" else "<f8").tobytes()
    head = f"{name} ".encode() + b"\0B" + f"{kind} ".encode()
    return head + b"\4" + struct.pack("<i", len(vector)) + numbers


def ark(path: Path, kind: str = "FV", vectors: Any = VECTORS) -> Path:
    return write(path, b"".join(entry(i, v, kind) for i, v in zip(IDS, vectors, strict=True)))


def utt2spk(folder: Path, pairs: list[tuple[str, str]] = PAIRS) -> Path:
    return write(folder / "utt2spk", "".join(f"{u} {s}\n" for u, s in pairs))


# ===================================================================================== round trips


def test_npz(tmp_path: Path) -> None:
    found = read_embeddings(npz(tmp_path / "set.npz", unrelated=np.zeros(2)))
    same(found)
    assert (found.name, found.origin) == ("set", str(tmp_path / "set.npz"))
    same(
        read_embeddings(str(npz(tmp_path / "set.npz", utterances=None, gender=None))),
        ids=False,
        gender=False,
    )


def test_parquet(tmp_path: Path) -> None:
    same(read_embeddings(parquet(tmp_path / "set.parquet")))
    path = parquet(tmp_path / "set.parquet", utterance=None, gender=None, note=[1] * 5)
    same(read_embeddings(path), ids=False, gender=False)


@pytest.mark.parametrize("kind", [pl.List(pl.Float64), pl.Array(pl.Float32, 3)])
def test_parquet_of_other_lists(kind: Any, tmp_path: Path) -> None:
    column = pl.Series(VECTORS.tolist(), dtype=kind)
    who = pl.Series(WHO, dtype=pl.Categorical)
    same(read_embeddings(parquet(tmp_path / "set.parquet", vector=column, speaker=who)))


@pytest.mark.parametrize("text", [False, True])
def test_directory_is_mapped(text: bool, tmp_path: Path) -> None:
    found = read_embeddings(folder(tmp_path / "set", text=text))
    same(found)
    assert isinstance(found.vectors, np.memmap)
    assert found.name == "set"
    bare = folder(tmp_path / "bare", text=text, utterances=None, gender=None)
    same(read_embeddings(bare), ids=False, gender=False)


def test_text_names_of_any_line_end(tmp_path: Path) -> None:
    path = folder(tmp_path / "set", speakers=None)
    write(path / "speakers.txt", "\ufeff" + "\r\n".join(WHO))
    same(read_embeddings(path))


@pytest.mark.parametrize("kind", ["FV", "DV", "text"])
def test_ark(kind: str, tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark", kind)
    same(read_embeddings(path, utt2spk=utt2spk(tmp_path)), gender=False)


def test_ark_in_any_order_of_utt2spk_and_with_blank_lines(tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark", "text")
    write(path, path.read_bytes().replace(b"\n", b"\n\n") + b"\n")
    same(read_embeddings(path, utt2spk=utt2spk(tmp_path, PAIRS[::-1])), gender=False)


def test_binary_numbers_that_look_like_blanks(tmp_path: Path) -> None:
    """0x20202020 is a float; stripping the file would cut it off."""
    blank = np.append(np.float32(1), np.frombuffer(b"    " * 2, "<f4"))
    path = ark(tmp_path / "set.ark", "FV", [*VECTORS[:4], blank])
    found = read_embeddings(path, utt2spk=utt2spk(tmp_path))
    np.testing.assert_array_equal(found.vectors[4], blank)


# ======================================================================================= bad files


def test_files_that_are_not_there_or_not_known(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "set.npz")
    assert "0 bytes" in refusal(write(tmp_path / "set.npz", b""))
    assert "unknown kind" in refusal(write(tmp_path / "set.txt", "x"))
    assert "cannot be read" in refusal(tmp_path / ("x" * 300))
    assert set(READERS) == {".npz", ".parquet"}


def test_utt2spk_goes_with_archives_only(tmp_path: Path) -> None:
    speakers = utt2spk(tmp_path)
    assert "leave it out" in refusal(npz(tmp_path / "set.npz"), utt2spk=speakers)
    path = ark(tmp_path / "set.ark")
    assert "name its utt2spk" in refusal(path)
    refusal(path, utt2spk=tmp_path / "none", names=tmp_path / "none")


def damaged(whole: bytes) -> list[bytes]:
    return [whole[:keep] for keep in (1, 9, len(whole) // 3, len(whole) // 2, len(whole) - 1)]


@pytest.mark.parametrize("make", [npz, parquet])
def test_cut_off(make: Callable[[Path], Path], tmp_path: Path) -> None:
    suffix = ".npz" if make is npz else ".parquet"
    path = make(tmp_path / f"set{suffix}")
    for part in [*damaged(path.read_bytes()), b"x" * 100, pickle.dumps(Trap())]:
        refusal(write(path, part))


@pytest.mark.parametrize("name", ["vectors", "speakers", "utterances"])
def test_cut_off_arrays_of_a_directory(name: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "set") / f"{name}.npy"
    for part in [b"", *damaged(path.read_bytes()), b"PK\3\4" + b"x" * 50, pickle.dumps(Trap())]:
        write(path, part)
        refusal(path.parent, names=path)


@pytest.mark.parametrize("kind", ["FV", "DV", "text"])
def test_cut_off_archives(kind: str, tmp_path: Path) -> None:
    path, speakers = ark(tmp_path / "set.ark", kind), utt2spk(tmp_path)
    whole = path.read_bytes()
    ends = np.cumsum([len(entry(*one, kind)) for one in zip(IDS, VECTORS, strict=True)])
    if kind == "text":  # whole without its line end, too
        ends = np.concatenate((ends - 1, ends))
    for keep in sorted(set(range(1, len(whole))) - set(ends.tolist())):
        write(path, whole[:keep])
        with pytest.raises(SottovoceError, match=r"set\.ark"):
            read_embeddings(path, utt2spk=speakers)


def test_python_objects_are_never_loaded(tmp_path: Path) -> None:
    trap = np.array([Trap()] * 5, object)
    assert "Python objects" in refusal(npz(tmp_path / "set.npz", speakers=trap))
    path = folder(tmp_path / "set", speakers=trap)
    assert "Python objects" in refusal(path, names=path / "speakers.npy")
    path = folder(tmp_path / "other", vectors=trap)
    assert "Python objects" in refusal(path, names=path / "vectors.npy")


def test_missing_parts(tmp_path: Path) -> None:
    assert "no array 'speakers' (has vectors" in refusal(npz(tmp_path / "a.npz", speakers=None))
    assert "no array 'vectors'" in refusal(npz(tmp_path / "a.npz", vectors=None))
    assert "no column 'speaker'" in refusal(parquet(tmp_path / "a.parquet", speaker=None))
    assert "no column 'vector'" in refusal(parquet(tmp_path / "a.parquet", vector=None))
    (tmp_path / "empty").mkdir()
    assert "without vectors.npy" in refusal(tmp_path / "empty")
    assert "say who speaks" in refusal(folder(tmp_path / "set", speakers=None))
    write(folder(tmp_path / "two") / "speakers.txt", "\n".join(WHO))
    assert "both speakers.npy and speakers.txt" in refusal(tmp_path / "two")


BAD = [
    (np.where(np.eye(5, 3) > 0, np.nan, VECTORS), "row 0 is not finite"),
    (VECTORS * (np.arange(5) != 2)[:, None], "row 2 is all zero"),
]


@pytest.mark.parametrize(("vectors", "complaint"), BAD)
def test_bad_vectors(vectors: Any, complaint: str, tmp_path: Path) -> None:
    vectors = vectors.astype(np.float32)
    assert complaint in refusal(npz(tmp_path / "set.npz", vectors=vectors))
    assert complaint in refusal(parquet(tmp_path / "set.parquet", vector=vectors.tolist()))
    assert complaint in refusal(folder(tmp_path / "set", vectors=vectors))
    speakers = utt2spk(tmp_path)
    for kind in ("FV", "DV", "text"):
        path = ark(tmp_path / "set.ark", kind, vectors)
        assert complaint in refusal(path, utt2spk=speakers)


def test_wrong_lengths(tmp_path: Path) -> None:
    assert "for 5 vectors" in refusal(npz(tmp_path / "set.npz", speakers=WHO[:4]))
    assert "for 5 vectors" in refusal(folder(tmp_path / "set", text=True, speakers=WHO[:4]))
    assert "shape (15,)" in refusal(npz(tmp_path / "set.npz", vectors=VECTORS.ravel()))
    mixed = [*VECTORS.tolist()[:4], [1.0, 2.0]]
    assert "dimensions (2, 3)" in refusal(parquet(tmp_path / "set.parquet", vector=mixed))
    path = ark(tmp_path / "set.ark", vectors=mixed)
    assert "dimensions (2, 3)" in refusal(path, utt2spk=utt2spk(tmp_path))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"vector": [1.0] * 5}, "lists of float32"),
        ({"vector": [["a"]] * 5}, "lists of String"),
        ({"vector": [[1.0]] * 4 + [None]}, "'vector' is missing in 1 rows"),
        ({"vector": [[1.0]] * 4 + [[None]]}, "row 4 is not finite"),
        ({"vector": pl.Series([[]] * 5, dtype=pl.List(pl.Float32))}, "shape (5, 0)"),
        ({"speaker": [*WHO[:4], None]}, "'speaker' is missing in 1 rows"),
        ({"speaker": [*WHO[:4], ""]}, "row 4 has an empty name"),
        ({"speaker": [1.5] * 5}, "'speaker' holds Float64"),
        ({"utterance": ["a"] * 5}, "occur twice: a"),
    ],
)
def test_bad_columns(changes: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    assert complaint in refusal(parquet(tmp_path / "set.parquet", **changes))


def test_empty_table(tmp_path: Path) -> None:
    schema: dict[str, Any] = {"vector": pl.List(pl.Float32), "speaker": pl.String}
    pl.DataFrame(schema=schema).write_parquet(tmp_path / "set.parquet")
    assert "no vectors" in refusal(tmp_path / "set.parquet")


def test_bad_text_names(tmp_path: Path) -> None:
    path = folder(tmp_path / "set", text=True)
    write(path / "speakers.txt", "bob\n\nbob\ncyd\nann\n")
    assert "row 1 has an empty name" in refusal(path)
    write(path / "speakers.txt", b"\xff\xfe")
    assert "not a readable text" in refusal(path, names=path / "speakers.txt")
    write(path / "speakers.txt", b"")
    assert "0 bytes" in refusal(path, names=path / "speakers.txt")


# =========================================================================================== Kaldi


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"  \n \n", "no vectors"),
        (b"utt-0\n", "no utterance id at byte 0"),
        (b"utt-0 [ 1 2 x ]\n", "not all numbers"),
        (b"utt-0 [ ]\n", "not a vector"),
        (b"utt-0  [\n  1 2 3\n  4 5 6 ]\n", "not a vector"),
        (b"utt-0 1 2 3\n", "not a vector"),
        (entry("utt-0", [1.0], "FM"), "floats or doubles"),
        (b"utt-0 \0BFV \x08" + bytes(30), "floats or doubles"),
        (b"utt-0 \0BFV \4" + struct.pack("<i", -1) + bytes(30), "cut off"),
        (b"utt-0 \0BFV \4" + struct.pack("<i", 0) + bytes(30), "cut off"),
        (b"utt-0 \0BFV \4" + struct.pack("<i", 2**31 - 1) + bytes(30), "cut off"),
        (entry("utt-0", [1.0]) + b"\0\1\2 \0BFV ", "no utterance id at byte 20"),
        (b"\xff\xfe [ 1 ]\n", "no utterance id"),
        (entry("utt-0", [1.0]) + entry("utt-0", [2.0]), "occur twice: utt-0"),
        (pickle.dumps(Trap()), ""),
    ],
)
def test_bad_archives(content: bytes, complaint: str, tmp_path: Path) -> None:
    path = write(tmp_path / "set.ark", content)
    assert complaint in refusal(path, utt2spk=utt2spk(tmp_path, [("utt-0", "ann")]))


def test_utt2spk_may_be_that_of_a_whole_corpus(tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark")
    speakers = utt2spk(tmp_path, [("utt-9", "dan"), *PAIRS])
    found = read_embeddings(path, utt2spk=speakers)
    same(found, gender=False)
    assert "dan" not in found.names


def test_utt2spk_goes_to_the_archives_of_several_sets(tmp_path: Path) -> None:
    archive, arrays = ark(tmp_path / "set.ark"), npz(tmp_path / "set.npz")
    speakers = utt2spk(tmp_path)
    first, second = read_sets((arrays, archive), utt2spk=speakers)
    same(first)
    same(second, gender=False)
    for one in read_sets((arrays, arrays)):
        same(one)
    with pytest.raises(SottovoceError, match=r"utt2spk: goes with Kaldi archives .*set\.npz"):
        read_sets((arrays, arrays), utt2spk=speakers)
    with pytest.raises(SottovoceError, match=r"set\.ark: .* name its utt2spk file too"):
        read_sets((arrays, archive))


def test_every_utterance_of_an_archive_needs_a_speaker(tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark")
    speakers = utt2spk(tmp_path, PAIRS[4:])
    message = refusal(path, utt2spk=speakers)
    assert "utt-0, utt-1, utt-2 and 1 more" in message and str(speakers) in message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("utt-0\n", "utt2spk:1: "),
        ("utt-0 ann\nutt-1 ann x\n", "utt2spk:2: "),
        ("utt-0 ann\n\nutt-0 bob\n", "utt2spk:3: "),
        (b"\xff\n", "UTF-8"),
        (b"", "0 bytes"),
    ],
)
def test_bad_utt2spk(text: Any, complaint: str, tmp_path: Path) -> None:
    path, speakers = ark(tmp_path / "set.ark"), write(tmp_path / "utt2spk", text)
    assert complaint in refusal(path, utt2spk=speakers, names=speakers)
