"""Reading embeddings: every format as it was written, every bad file refused in one line."""

from __future__ import annotations

import contextlib
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from error_codes import raises_code
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.core.errors import SottovoceError
from sottovoce.speaker import Embeddings
from sottovoce.speaker.readers import READERS, embedding_files, read_embeddings, read_sets

VECTORS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
SPEAKERS = ["bob", "ann", "bob", "cyd", "ann"]
IDS = [f"utt-{i}" for i in range(5)]
GENDER = ["m", "f", "m", "f", "f"]
PAIRS = list(zip(IDS, SPEAKERS, strict=True))


class Trap:
    """Fails the test if it is ever unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("unpickled",)


def assert_content(embeddings: Embeddings, *, ids: bool = True, gender: bool = True) -> None:
    np.testing.assert_array_equal(embeddings.vectors, VECTORS)
    assert embeddings.names[embeddings.speakers].tolist() == SPEAKERS
    assert (embeddings.utterances is not None and embeddings.utterances.tolist() == IDS) is ids
    assert (embeddings.gender is not None and embeddings.gender.tolist() == GENDER) is gender


def refusal(path: Path, *, file: Path | None = None, **options: Any) -> SottovoceError:
    """Read a bad file: it must raise our own error, with the file in one line."""
    with pytest.raises(SottovoceError) as caught:
        read_embeddings(path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1, message
    assert str(file or path) in message, message
    return caught.value


def assert_refused(
    path: Path, code: str, detail: str = "", *, file: Path | None = None, **options: Any
) -> None:
    """Expect an error of this code whose message holds ``detail``."""
    error = refusal(path, file=file, **options)
    assert error.code == code, f"{error.code}: {error}"
    assert detail in str(error)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def npz(path: Path, **changes: Any) -> Path:
    arrays = {
        "vectors": VECTORS,
        "speakers": SPEAKERS,
        "utterances": IDS,
        "gender": GENDER,
        **changes,
    }
    present: dict[str, Any] = {name: value for name, value in arrays.items() if value is not None}
    np.savez(path, **present)
    return path


def parquet(path: Path, **changes: Any) -> Path:
    vectors = pl.Series(VECTORS.tolist(), dtype=pl.List(pl.Float32))
    columns = {
        "vector": vectors,
        "speaker": SPEAKERS,
        "utterance": IDS,
        "gender": GENDER,
        **changes,
    }
    frame = pl.DataFrame({name: value for name, value in columns.items() if value is not None})
    frame.write_parquet(path)
    return path


def folder(path: Path, *, text: bool = False, **changes: Any) -> Path:
    path.mkdir()
    arrays = {"speakers": SPEAKERS, "utterances": IDS, "gender": GENDER, **changes}
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
    embeddings = read_embeddings(npz(tmp_path / "set.npz", unrelated=np.zeros(2)))
    assert_content(embeddings)
    assert (embeddings.name, embeddings.origin) == ("set", str(tmp_path / "set.npz"))
    assert_content(
        read_embeddings(str(npz(tmp_path / "set.npz", utterances=None, gender=None))),
        ids=False,
        gender=False,
    )


def test_parquet(tmp_path: Path) -> None:
    assert_content(read_embeddings(parquet(tmp_path / "set.parquet")))
    path = parquet(tmp_path / "set.parquet", utterance=None, gender=None, note=[1] * 5)
    assert_content(read_embeddings(path), ids=False, gender=False)


@pytest.mark.parametrize("kind", [pl.List(pl.Float64), pl.Array(pl.Float32, 3)])
def test_parquet_of_other_lists(kind: Any, tmp_path: Path) -> None:
    column = pl.Series(VECTORS.tolist(), dtype=kind)
    speakers = pl.Series(SPEAKERS, dtype=pl.Categorical)
    path = parquet(tmp_path / "set.parquet", vector=column, speaker=speakers)
    assert_content(read_embeddings(path))


@pytest.mark.parametrize("text", [False, True])
def test_directory_is_mapped(text: bool, tmp_path: Path) -> None:
    embeddings = read_embeddings(folder(tmp_path / "set", text=text))
    assert_content(embeddings)
    assert isinstance(embeddings.vectors, np.memmap)
    assert embeddings.name == "set"
    bare = folder(tmp_path / "bare", text=text, utterances=None, gender=None)
    assert_content(read_embeddings(bare), ids=False, gender=False)


def test_text_names_of_any_line_end(tmp_path: Path) -> None:
    path = folder(tmp_path / "set", speakers=None)
    write(path / "speakers.txt", "\ufeff" + "\r\n".join(SPEAKERS))
    assert_content(read_embeddings(path))


@pytest.mark.parametrize("blank", ["\n", "\n\n\n", "\r\n \r\n"])
def test_blank_lines_after_the_last_name(blank: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "set", speakers=None)
    write(path / "speakers.txt", "\n".join(SPEAKERS) + blank)
    assert_content(read_embeddings(path))
    write(path / "speakers.txt", "\n".join([*SPEAKERS[:2], "", *SPEAKERS[2:]]) + blank)
    assert_refused(path, "wrong-shape")


def test_unknown_gender_of_the_last_vector_is_not_a_blank_line(tmp_path: Path) -> None:
    path = folder(tmp_path / "set", gender=None)
    write(path / "gender.txt", "f\nf\nm\nm\n\n")
    assert read_embeddings(path).gender is not None


@pytest.mark.parametrize("capitals", [str.upper, str.title])
def test_endings_in_capitals(capitals: Any, tmp_path: Path) -> None:
    for path, has_gender in (
        (npz(tmp_path / "set.npz"), True),
        (parquet(tmp_path / "set.parquet"), True),
        (ark(tmp_path / "set.ark"), False),
    ):
        renamed = path.rename(path.with_suffix(capitals(path.suffix)))
        speakers = None if has_gender else utt2spk(tmp_path)
        assert_content(read_embeddings(renamed, utt2spk=speakers), gender=has_gender)
        assert_content(read_sets([renamed], utt2spk=speakers)[0], gender=has_gender)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "set.parquet", speakex=["x"] * 5)
    assert_content(read_embeddings(path))
    write(path, path.read_bytes().replace(b"speakex", b"speaker"))
    assert_refused(path, "duplicate-column")
    path = npz(tmp_path / "set.npz")
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("speakers.npy", archive.read("utterances.npy"))
    assert_refused(path, "duplicate-array")


@pytest.mark.parametrize("kind", ["FV", "DV", "text"])
def test_ark(kind: str, tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark", kind)
    assert_content(read_embeddings(path, utt2spk=utt2spk(tmp_path)), gender=False)


def test_ark_in_any_order_of_utt2spk_and_with_blank_lines(tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark", "text")
    write(path, path.read_bytes().replace(b"\n", b"\n\n") + b"\n")
    assert_content(read_embeddings(path, utt2spk=utt2spk(tmp_path, PAIRS[::-1])), gender=False)


def test_binary_numbers_that_look_like_blanks(tmp_path: Path) -> None:
    """0x20202020 is a float; stripping the file would cut it off."""
    blank = np.append(np.float32(1), np.frombuffer(b"    " * 2, "<f4"))
    path = ark(tmp_path / "set.ark", "FV", [*VECTORS[:4], blank])
    embeddings = read_embeddings(path, utt2spk=utt2spk(tmp_path))
    np.testing.assert_array_equal(embeddings.vectors[4], blank)


# ======================================================================================= bad files


def test_missing_and_unknown_files(tmp_path: Path) -> None:
    assert_refused(tmp_path / "set.npz", "not-found")
    assert_refused(write(tmp_path / "set.npz", b""), "empty")
    assert_refused(write(tmp_path / "set.txt", "x"), "unknown-format")
    assert_refused(tmp_path / ("x" * 300), "unreadable")
    assert set(READERS) == {".npz", ".parquet"}


def test_utt2spk_goes_with_archives_only(tmp_path: Path) -> None:
    speakers = utt2spk(tmp_path)
    assert_refused(npz(tmp_path / "set.npz"), "unneeded-utt2spk", utt2spk=speakers)
    path = ark(tmp_path / "set.ark")
    assert_refused(path, "missing-utt2spk")
    assert_refused(path, "not-found", utt2spk=tmp_path / "none", file=tmp_path / "none")


def cut_off(data: bytes) -> list[bytes]:
    return [data[:size] for size in (1, 9, len(data) // 3, len(data) // 2, len(data) - 1)]


@pytest.mark.parametrize("make", [npz, parquet])
def test_cut_off(make: Callable[[Path], Path], tmp_path: Path) -> None:
    suffix = ".npz" if make is npz else ".parquet"
    path = make(tmp_path / f"set{suffix}")
    for part in [*cut_off(path.read_bytes()), b"x" * 100, pickle.dumps(Trap())]:
        refusal(write(path, part))


@pytest.mark.parametrize("name", ["vectors", "speakers", "utterances"])
def test_cut_off_arrays_of_a_directory(name: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "set") / f"{name}.npy"
    for part in [b"", *cut_off(path.read_bytes()), b"PK\3\4" + b"x" * 50, pickle.dumps(Trap())]:
        write(path, part)
        refusal(path.parent, file=path)


@pytest.mark.parametrize("kind", ["FV", "DV", "text"])
def test_cut_off_archives(kind: str, tmp_path: Path) -> None:
    path, speakers = ark(tmp_path / "set.ark", kind), utt2spk(tmp_path)
    data = path.read_bytes()
    ends = np.cumsum(
        [len(entry(name, vector, kind)) for name, vector in zip(IDS, VECTORS, strict=True)]
    )
    if kind == "text":  # complete without its line end, too
        ends = np.concatenate((ends - 1, ends))
    for size in sorted(set(range(1, len(data))) - set(ends.tolist())):
        refusal(write(path, data[:size]), utt2spk=speakers)


def test_python_objects_are_never_loaded(tmp_path: Path) -> None:
    trap = np.array([Trap()] * 5, object)
    assert_refused(npz(tmp_path / "set.npz", speakers=trap), "pickled")
    path = folder(tmp_path / "set", speakers=trap)
    assert_refused(path, "pickled", file=path / "speakers.npy")
    path = folder(tmp_path / "other", vectors=trap)
    assert_refused(path, "pickled", file=path / "vectors.npy")


def test_missing_parts(tmp_path: Path) -> None:
    assert_refused(npz(tmp_path / "a.npz", speakers=None), "missing-array", "'speakers'")
    assert_refused(npz(tmp_path / "a.npz", vectors=None), "missing-array", "'vectors'")
    assert_refused(parquet(tmp_path / "a.parquet", speaker=None), "missing-column", "'speaker'")
    assert_refused(parquet(tmp_path / "a.parquet", vector=None), "missing-column", "'vector'")
    (tmp_path / "empty").mkdir()
    assert_refused(tmp_path / "empty", "missing-array", "vectors.npy")
    assert_refused(folder(tmp_path / "set", speakers=None), "missing-array", "speakers.npy")
    write(folder(tmp_path / "two") / "speakers.txt", "\n".join(SPEAKERS))
    assert_refused(tmp_path / "two", "ambiguous", "speakers.txt")


BAD_VECTORS = [
    (np.where(np.eye(5, 3) > 0, np.nan, VECTORS), "not-finite", "row 0 "),
    (VECTORS * (np.arange(5) != 2)[:, None], "all-zero", "row 2 "),
]


@pytest.mark.parametrize(("vectors", "code", "row"), BAD_VECTORS)
def test_bad_vectors(vectors: Any, code: str, row: str, tmp_path: Path) -> None:
    vectors = vectors.astype(np.float32)
    assert_refused(npz(tmp_path / "set.npz", vectors=vectors), code, row)
    assert_refused(parquet(tmp_path / "set.parquet", vector=vectors.tolist()), code, row)
    assert_refused(folder(tmp_path / "set", vectors=vectors), code, row)
    speakers = utt2spk(tmp_path)
    for kind in ("FV", "DV", "text"):
        path = ark(tmp_path / "set.ark", kind, vectors)
        assert_refused(path, code, row, utt2spk=speakers)


def test_wrong_lengths(tmp_path: Path) -> None:
    four = SPEAKERS[:4]
    assert_refused(npz(tmp_path / "set.npz", speakers=four), "wrong-shape", "speakers: ")
    path = folder(tmp_path / "set", text=True, speakers=four)
    assert_refused(path, "wrong-shape", "speakers: ")
    assert_refused(npz(tmp_path / "set.npz", vectors=VECTORS.ravel()), "wrong-shape", "(15,)")
    mixed = [*VECTORS.tolist()[:4], [1.0, 2.0]]
    assert_refused(parquet(tmp_path / "set.parquet", vector=mixed), "mixed-lengths", "(2, 3)")
    path = ark(tmp_path / "set.ark", vectors=mixed)
    assert_refused(path, "mixed-lengths", "(2, 3)", utt2spk=utt2spk(tmp_path))


@pytest.mark.parametrize(
    ("changes", "code", "detail"),
    [
        ({"vector": [1.0] * 5}, "wrong-type", "'vector' holds Float64"),
        ({"vector": [["a"]] * 5}, "wrong-type", "'vector' holds List(String)"),
        ({"vector": [[1.0]] * 4 + [None]}, "missing-value", "'vector' is missing in 1 rows"),
        ({"vector": [[1.0]] * 4 + [[None]]}, "not-finite", "row 4 "),
        ({"vector": pl.Series([[]] * 5, dtype=pl.List(pl.Float32))}, "wrong-shape", "(5, 0)"),
        ({"speaker": [*SPEAKERS[:4], None]}, "missing-value", "'speaker' is missing in 1 rows"),
        ({"speaker": [*SPEAKERS[:4], ""]}, "empty-name", "row 4 "),
        ({"speaker": [1.5] * 5}, "wrong-type", "'speaker' holds Float64"),
        ({"utterance": ["a"] * 5}, "duplicate-id", ": a;"),
    ],
)
def test_bad_columns(changes: dict[str, Any], code: str, detail: str, tmp_path: Path) -> None:
    assert_refused(parquet(tmp_path / "set.parquet", **changes), code, detail)


def test_empty_table(tmp_path: Path) -> None:
    schema: dict[str, Any] = {"vector": pl.List(pl.Float32), "speaker": pl.String}
    pl.DataFrame(schema=schema).write_parquet(tmp_path / "set.parquet")
    assert_refused(tmp_path / "set.parquet", "empty")


def test_bad_text_names(tmp_path: Path) -> None:
    path = folder(tmp_path / "set", text=True)
    write(path / "speakers.txt", "bob\n\nbob\ncyd\nann\n")
    assert_refused(path, "empty-name", "row 1 ")
    write(path / "speakers.txt", b"\xff\xfe")
    assert_refused(path, "not-utf8", file=path / "speakers.txt")
    write(path / "speakers.txt", b"")
    assert_refused(path, "empty", file=path / "speakers.txt")


# =========================================================================================== Kaldi


@pytest.mark.parametrize(
    ("content", "code", "detail"),
    [
        (b"  \n \n", "empty", ""),
        (b"utt-0\n", "unknown-format", "at byte 0"),
        (b"utt-0 [ 1 2 x ]\n", "malformed-line", "utt-0"),
        (b"utt-0 [ ]\n", "malformed-line", "utt-0"),
        (b"utt-0  [\n  1 2 3\n  4 5 6 ]\n", "malformed-line", "utt-0"),
        (b"utt-0 1 2 3\n", "malformed-line", "utt-0"),
        (entry("utt-0", [1.0], "FM"), "wrong-type", "utt-0"),
        (b"utt-0 \0BFV \x08" + bytes(30), "wrong-type", "utt-0"),
        (b"utt-0 \0BFV \4" + struct.pack("<i", -1) + bytes(30), "damaged", "utt-0"),
        (b"utt-0 \0BFV \4" + struct.pack("<i", 0) + bytes(30), "damaged", "utt-0"),
        (b"utt-0 \0BFV \4" + struct.pack("<i", 2**31 - 1) + bytes(30), "damaged", "utt-0"),
        (entry("utt-0", [1.0]) + b"\0\1\2 \0BFV ", "unknown-format", "at byte 20"),
        (b"\xff\xfe [ 1 ]\n", "unknown-format", "at byte 0"),
        (entry("utt-0", [1.0]) + entry("utt-0", [2.0]), "duplicate-id", ": utt-0;"),
    ],
)
def test_bad_archives(content: bytes, code: str, detail: str, tmp_path: Path) -> None:
    path = write(tmp_path / "set.ark", content)
    assert_refused(path, code, detail, utt2spk=utt2spk(tmp_path, [("utt-0", "ann")]))


def test_an_archive_is_never_unpickled(tmp_path: Path) -> None:
    path = write(tmp_path / "set.ark", pickle.dumps(Trap()))
    refusal(path, utt2spk=utt2spk(tmp_path, [("utt-0", "ann")]))


def test_utt2spk_may_be_that_of_a_whole_corpus(tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark")
    speakers = utt2spk(tmp_path, [("utt-9", "dan"), *PAIRS])
    embeddings = read_embeddings(path, utt2spk=speakers)
    assert_content(embeddings, gender=False)
    assert "dan" not in embeddings.names


def test_utt2spk_goes_to_the_archives_of_several_sets(tmp_path: Path) -> None:
    archive, arrays = ark(tmp_path / "set.ark"), npz(tmp_path / "set.npz")
    speakers = utt2spk(tmp_path)
    first, second = read_sets((arrays, archive), utt2spk=speakers)
    assert_content(first)
    assert_content(second, gender=False)
    for embeddings in read_sets((arrays, arrays)):
        assert_content(embeddings)
    with raises_code("unneeded-utt2spk") as caught:
        read_sets((arrays, arrays), utt2spk=speakers)
    assert str(speakers) in str(caught.value) and "set.npz" in str(caught.value)
    with raises_code("missing-utt2spk") as caught:
        read_sets((arrays, archive))
    assert "set.ark" in str(caught.value)


def test_every_utterance_of_an_archive_needs_a_speaker(tmp_path: Path) -> None:
    path = ark(tmp_path / "set.ark")
    speakers = utt2spk(tmp_path, PAIRS[4:])
    error = refusal(path, utt2spk=speakers)
    assert error.code == "missing-speaker"
    assert "utt-0, utt-1, utt-2 and 1 more" in str(error) and str(speakers) in str(error)


@pytest.mark.parametrize(
    ("text", "code", "detail"),
    [
        ("utt-0\n", "malformed-line", "utt2spk:1: "),
        ("utt-0 ann\nutt-1 ann x\n", "malformed-line", "utt2spk:2: "),
        ("utt-0 ann\n\nutt-0 bob\n", "duplicate-id", "utt2spk:3: "),
        (b"\xff\n", "not-utf8", "utt2spk"),
        (b"", "empty", "utt2spk"),
    ],
)
def test_bad_utt2spk(text: Any, code: str, detail: str, tmp_path: Path) -> None:
    path, speakers = ark(tmp_path / "set.ark"), write(tmp_path / "utt2spk", text)
    assert_refused(path, code, detail, utt2spk=speakers, file=speakers)


# ================================================================================ lists and parts


def scp(path: Path, archives: dict[str, bytes], *, text: str = "{archive}:{start}") -> Path:
    """A list of all vectors of these archives, which are written beside it."""
    lines = []
    for name, content in archives.items():
        (path.parent / name).parent.mkdir(exist_ok=True)
        write(path.parent / name, content)
        for utterance in IDS:
            at = content.find(utterance.encode() + b" ")
            if at >= 0:
                start = at + len(utterance) + 1
                lines.append(f"{utterance} {text.format(archive=name, start=start)}\n")
    return write(path, "".join(lines))


def parts(kind: str = "FV", split: int = 2) -> dict[str, bytes]:
    entries = [entry(name, vector, kind) for name, vector in zip(IDS, VECTORS, strict=True)]
    return {"xvector.1.ark": b"".join(entries[:split]), "xvector.2.ark": b"".join(entries[split:])}


@pytest.mark.parametrize("kind", ["FV", "DV", "text"])
def test_a_list_points_into_several_archives(kind: str, tmp_path: Path) -> None:
    path, speakers = scp(tmp_path / "xvector.scp", parts(kind)), utt2spk(tmp_path)
    assert_content(read_embeddings(path, utt2spk=speakers), gender=False)
    assert_content(read_embeddings(tmp_path, utt2spk=speakers), gender=False)
    assert_content(read_embeddings(tmp_path / "xvector.*.ark", utt2spk=speakers), gender=False)
    assert embedding_files([path]) == [path, *(tmp_path / name for name in parts())]
    assert embedding_files([tmp_path]) == [tmp_path / name for name in parts()]
    lines = path.read_text().splitlines()
    write(path, "\n".join(lines[::-1]))
    assert read_embeddings(path, utt2spk=speakers).vectors.tolist() == VECTORS[::-1].tolist()
    write(path, "\n".join(lines[3:]))
    assert read_embeddings(path, utt2spk=speakers).vectors.tolist() == VECTORS[3:].tolist()
    renamed = path.rename(tmp_path / "X.SCP")
    assert len(read_sets([renamed], utt2spk=speakers)[0]) == 2


def test_parts_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = [f"utt-{i}" for i in range(12)]
    vectors = np.random.default_rng(1).normal(size=(12, 3)).astype(np.float32)
    for i, (name, vector) in enumerate(zip(names, vectors, strict=True)):
        write(tmp_path / f"xvector.{i + 1}.ark", entry(name, vector))
    speakers = utt2spk(tmp_path, [(name, name) for name in names])
    read = read_embeddings(tmp_path / "xvector.*.ark", utt2spk=speakers)
    assert read.utterances is not None and read.utterances.tolist() == names
    (tmp_path / "xvector.7.ark").unlink()
    for path in (tmp_path / "xvector.*.ark", tmp_path):
        with raises_code("missing-part"):
            read_embeddings(path, utt2spk=speakers)
    with raises_code("not-found"):
        read_embeddings(tmp_path / "ivector.*.ark", utt2spk=speakers)


def test_paths_of_a_list_start_in_a_given_folder(tmp_path: Path) -> None:
    """Kaldi writes them relative to the folder a recipe was started in."""
    (tmp_path / "exp").mkdir()
    path = scp(tmp_path / "exp" / "xvector.scp", parts(), text="exp/{archive}:{start}")
    speakers = utt2spk(tmp_path)
    with raises_code("not-found"):
        read_embeddings(path, utt2spk=speakers)
    read = read_embeddings(path, utt2spk=speakers, scp_root=tmp_path)
    assert_content(read, gender=False)
    absolute = scp(path, parts(), text=str(tmp_path / "exp" / "{archive}:{start}"))
    assert_content(read_embeddings(absolute, utt2spk=speakers), gender=False)


@pytest.mark.parametrize("linked", [False, True])
def test_no_path_of_a_list_leads_out_of_its_folder(linked: bool, tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    outside = "../xvector.1.ark"
    path = scp(tmp_path / "lists" / "x.scp", {outside: parts()["xvector.1.ark"]})
    if linked:
        (tmp_path / "lists" / "xvector.1.ark").symlink_to(outside)
        write(path, path.read_text().replace("../", ""))
    for folder in (None, tmp_path / "lists"):
        assert_refused(path, "outside", utt2spk=utt2spk(tmp_path), scp_root=folder)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("utt-0 copy-vector ark:x ark:- |", "unsupported"),
        ("utt-0 xvector.1.ark:6[0:1]", "unsupported"),
        ("utt-0", "malformed-line"),
        ("utt-0 none.ark:6", "not-found"),
        ("utt-0 .:6", "not-found"),
        ("utt-0 x\0.ark:6", "malformed-line"),
        (f"utt-0 {'x' * 300}.ark:6", "malformed-line"),
        ("utt-0 xvector.1.ark:999999", "damaged"),
        ("utt-0 xvector.1.ark:7", "mismatch"),
        ("utt-1 xvector.1.ark:6", "mismatch"),
        ("utt-0 xvector.1.ark", "malformed-line"),
        ("utt-0 xvector.1.ark:6\nutt-0 xvector.1.ark:6", "duplicate-id"),
        ("", "empty"),
    ],
)
def test_bad_lists(line: str, code: str, tmp_path: Path) -> None:
    path = scp(tmp_path / "x.scp", parts())
    assert_refused(write(path, line + "\n"), code, utt2spk=utt2spk(tmp_path))


def test_a_file_of_one_vector_needs_no_byte(tmp_path: Path) -> None:
    write(tmp_path / "mean.vec", entry("", [1.0, 2.0])[1:])
    path = write(tmp_path / "x.scp", "utt-0 mean.vec\n")
    assert read_embeddings(path, utt2spk=utt2spk(tmp_path)).vectors.tolist() == [[1.0, 2.0]]


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_damaged_lists_and_archives_are_refused_or_read(
    tmp_path: Path, data: st.DataObject
) -> None:
    """Whatever bytes change, there is a set of embeddings or our own error."""
    path = scp(tmp_path / "x.scp", parts(data.draw(st.sampled_from(["FV", "text"]))))
    victim = data.draw(st.sampled_from([path, tmp_path / "xvector.1.ark"]))
    content = bytearray(victim.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    write(victim, bytes(content[: data.draw(st.integers(1, len(content)))]))
    with contextlib.suppress(SottovoceError):
        read_embeddings(path, utt2spk=utt2spk(tmp_path))


@pytest.mark.parametrize("name", ["spk_xvector.ark", "means.ark"])
def test_archives_keyed_by_speaker(name: str, tmp_path: Path) -> None:
    content = entry("bob", VECTORS[0]) + entry("ann", VECTORS[1])
    path, speakers = write(tmp_path / name, content), utt2spk(tmp_path)
    for who in [speakers, None] if name.startswith("spk_") else [speakers]:
        read = read_embeddings(path, utt2spk=who)
        assert read.names[read.speakers].tolist() == ["bob", "ann"]
    if name == "means.ark":
        write(path, content + entry("utt-0", VECTORS[2]))
        assert_refused(path, "missing-speaker", utt2spk=speakers)
