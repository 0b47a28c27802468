"""The fast reader of lists gives what the general one gives, or leaves the file to it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError
from sottovoce.measure.readers import scored_lists
from sottovoce.measure.readers.scored_lists import read_joined_lists, read_scored_list

FAST = {
    "plain": b"a x 1\nb y 2\n",
    "no end of line": b"a x 1\nb y 2",
    "quotes": b'"a x 1\nb\' y" 2\n',
    "commas and marks": b"a,b #x 1e-3\n-;- \\y nan\n",
    "not ASCII": "é x 1\nß 名 2\n".encode(),
    "byte order mark": b"\xef\xbb\xbfa x 1\nb y 2\n",
}
GENERAL = {
    "tabs": b"a\tx\t1\nb\ty\t2\n",
    "tab inside": b"a x\t1\nb y 2\n",
    "two blanks": b"a  x 1\nb y 2\n",
    "blank at the end": b"a x 1 \nb y 2\n",
    "blank at the start": b" a x 1\nb y 2\n",
    "Windows": b"a x 1\r\nb y 2\r\n",
    "blank line": b"a x 1\n\nb y 2\n",
    "blank line first": b"\na x 1\nb y 2\n",
    "blank line last": b"a x 1\nb y 2\n\n",
    "no-break space": "a\xa0x 1\nb y 2\n".encode(),
    "line separator": "a x 1\u2028\nb y 2\n".encode(),
}


@pytest.mark.parametrize("case", FAST | GENERAL)
def test_both_readers_agree(case: str, tmp_path: Path) -> None:
    path = tmp_path / "scores"
    path.write_bytes((FAST | GENERAL)[case])
    fast = scored_lists._single_spaced(path)
    assert (fast is not None) == (case in FAST)
    general = scored_lists._spaced(path, "enrol trial score")
    assert scored_lists._words(path, "enrol trial score").equals(general)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"a x\nb y\n", "bad-line"),
        (b"a x 1 2\nb y 2 3\n", "bad-line"),
        (b"a x 1\nb y 2 3\n", "bad-line"),
        (b"a x 1\nb y\n", "bad-line"),
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"a x 1\n\xff\xfe y 2\n", "unreadable"),
        (b"\x1f\x8b\x08\x00abc", "unreadable"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_as_before(
    content: bytes, code: str, tmp_path: Path
) -> None:
    path = tmp_path / "scores"
    path.write_bytes(content)
    with raises_code(code, InputError):
        scored_lists._words(path, "enrol trial score")


@pytest.mark.parametrize(
    ("scores", "trials", "code"),
    [
        ("a x 1\na x 2\n", "a x target\nb y nontarget\n", "duplicate-id"),
        ("a x 1\nb y 2\n", "a x target\na x target\n", "duplicate-id"),
        ("a x 1\nb y 2\nc z 3\n", "a x target\nb y nontarget\n", "mismatch"),
        ("a x 1\nb y 2\n", "a x target\nb y nontarget\nc z target\n", "mismatch"),
        ("a x 1\nb y 2\n", "a x target\nb z nontarget\n", "mismatch"),
        ("a x 1\nb y 2\n", "a x target\nb y maybe\n", "bad-label"),
    ],
)
def test_lists_that_do_not_match_are_refused(
    scores: str, trials: str, code: str, tmp_path: Path
) -> None:
    """Among them those whose join has as many rows as both files."""
    (tmp_path / "scores").write_text(scores)
    (tmp_path / "trials").write_text(trials)
    with raises_code(code, InputError):
        read_joined_lists(tmp_path / "scores", tmp_path / "trials")


def test_large_lists_keep_the_order_of_the_scores(tmp_path: Path) -> None:
    rows = 5000
    table = pl.DataFrame({"e": range(rows), "t": range(rows)}).with_columns(
        pl.format("e{}", "e").alias("e"), pl.format("t{}", "t").alias("t")
    )
    scored = table.with_columns(s=pl.int_range(rows).cast(pl.Float64))
    keyed = table.with_columns(
        k=pl.when(pl.int_range(rows) % 3 == 0).then(pl.lit("target")).otherwise(pl.lit("nontarget"))
    )
    for name, part in (("scores", scored), ("trials", keyed.reverse())):
        part.write_csv(tmp_path / name, separator=" ", include_header=False)
    scores = read_scored_list(tmp_path / "scores", tmp_path / "trials")
    assert scores.mated.tolist() == list(range(0, rows, 3))
    assert scores.n_nonmated == rows - len(scores.mated)
