"""Kaldi score and trials files, joined by id.

A score file has lines ``enrol trial score``; a trials file (the key) ``enrol trial target`` or
``enrol trial nontarget``. The order of lines means nothing: every trial must have one score and
every score one trial, else nothing is computed.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sottovoce.errors import InputError, first_few
from sottovoce.measure.readers.table import brief, from_table
from sottovoce.measure.scores import Scores

PAIR = ["enrol", "trial"]


def read_kaldi(scores: Path, trials: Path, utt2spk: Path | None = None) -> Scores:
    """Read a score file with its trials file.

    ``utt2spk`` (lines ``utterance speaker``) tells who speaks in each trial, for resampling by
    speaker; an id that is not in it is taken for a speaker's own.
    """
    scored = _columns(scores, [*PAIR, "score"]).rename({"line": "score_line"})
    keyed = _columns(trials, [*PAIR, "label"]).rename({"line": "key_line"})
    _refuse_duplicates(scored, "score_line", scores)
    _refuse_duplicates(keyed, "key_line", trials)
    _refuse_alone(scored, keyed, "score_line", scores, f"has no trial in {trials}")
    _refuse_alone(keyed, scored, "key_line", trials, f"has no score in {scores}")
    table = scored.join(keyed, on=PAIR, how="inner", maintain_order="left")
    if utt2spk is not None:
        table = _with_speakers(table, utt2spk)
    return from_table(table.drop("key_line", "score_line"), scores, first_line=1)


def _columns(path: Path, names: list[str]) -> pl.DataFrame:
    """Columns of a file of white-space separated words, with line numbers."""
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a readable text file ({brief(error)})") from None
    lines = pl.DataFrame({"text": text.splitlines()}, schema={"text": pl.String})
    lines = lines.with_row_index("line", offset=1).filter(pl.col("text").str.contains(r"\S"))
    if lines.is_empty():
        raise InputError(f"{path}: empty; expected lines of {' '.join(names)!r}")
    words = r"\s+".join(rf"(?<{name}>\S+)" for name in names)
    parts = lines.select("line", pl.col("text").str.extract_groups(rf"^\s*{words}\s*$")).unnest(
        "text"
    )
    wrong = parts.filter(pl.col(names[0]).is_null())
    if not wrong.is_empty():
        where = first_few((f"line {line}" for line in wrong["line"].head(3)), len(wrong))
        raise InputError(f"{path}: expected {' '.join(names)!r}, found otherwise in {where}")
    return parts


def _refuse_duplicates(table: pl.DataFrame, line: str, path: Path) -> None:
    again = table.filter(~pl.struct(PAIR).is_first_distinct())
    if not again.is_empty():
        raise InputError(f"{path}: listed twice: {_named(again, line)}; keep one line a pair")


def _refuse_alone(
    table: pl.DataFrame, other: pl.DataFrame, line: str, path: Path, complaint: str
) -> None:
    alone = table.join(other, on=PAIR, how="anti", maintain_order="left")
    if not alone.is_empty():
        raise InputError(f"{path}: {_named(alone, line)} {complaint}; the two files must match")


def _named(rows: pl.DataFrame, line: str) -> str:
    names = (f"{r['enrol']} {r['trial']} (line {r[line]})" for r in rows.head(3).to_dicts())
    return first_few(names, len(rows))


def _with_speakers(table: pl.DataFrame, utt2spk: Path) -> pl.DataFrame:
    known = _columns(utt2spk, ["utterance", "speaker"])
    speaker_of = dict(zip(known["utterance"], known["speaker"], strict=True))
    return table.with_columns(
        pl.col("enrol").replace(speaker_of).alias("enrol_speaker"),
        pl.col("trial").replace(speaker_of).alias("trial_speaker"),
    )
