"""Kaldi score and trials files, joined by id.

A score file has lines ``enrol trial score``; a trials file (the key) ``enrol trial target`` or
``enrol trial nontarget``. The order of lines means nothing: every trial must have one score and
every score one trial, else nothing is computed.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sottovoce.core.errors import InputError, first_few, first_line
from sottovoce.measure.readers.tables import (
    BAD_LABEL,
    LINE,
    from_table,
    mated_label,
    refuse,
)
from sottovoce.measure.scores import Scores

PAIR = ["enrol", "trial"]


def read_kaldi(scores: Path, trials: Path, utt2spk: Path | None = None) -> Scores:
    """Read a score file with its trials file.

    ``utt2spk`` (lines ``utterance speaker``) tells who speaks in each trial, for resampling by
    speaker; an id that is not in it is taken for a speaker's own.

    Parameters
    ----------
    scores, trials : Path
        Lines ``enrol trial score`` and ``enrol trial target|nontarget``.
    utt2spk : Path, optional
        Lines ``utterance speaker``.
    """
    scored = _columns(scores, [*PAIR, "score"])
    keyed = _columns(trials, [*PAIR, "label"])
    refuse(keyed.filter(mated_label().is_null()), BAD_LABEL, trials, code="bad-label")
    for table, path in ((scored, scores), (keyed, trials)):
        again = table.filter(~pl.struct(PAIR).is_first_distinct())
        if not again.is_empty():
            raise InputError(
                f"{path}: listed twice: {_named(again)}; keep one line a pair", code="duplicate-id"
            )
    _refuse_alone(scored, keyed, scores, f"has no trial in {trials}")
    _refuse_alone(keyed, scored, trials, f"has no score in {scores}")
    table = scored.join(keyed.drop(LINE), on=PAIR, how="inner", maintain_order="left")
    if utt2spk is not None:
        table = _with_speakers(table, utt2spk)
    return from_table(table, scores)


def _columns(path: Path, names: list[str]) -> pl.DataFrame:
    """Columns of a file of white-space separated words, with line numbers."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: not a readable text file ({first_line(error)})", code="unreadable"
        ) from None
    lines = pl.DataFrame({"text": text.split("\n")}, schema={"text": pl.String})
    lines = lines.with_row_index(LINE, offset=1).filter(pl.col("text").str.contains(r"\S"))
    if lines.is_empty():
        raise InputError(f"{path}: empty; expected lines of {' '.join(names)!r}", code="empty")
    words = r"\s+".join(rf"(?<{name}>\S+)" for name in names)
    groups = pl.col("text").str.extract_groups(rf"^\s*{words}\s*$")
    parts = lines.select(LINE, groups).unnest("text")
    incomplete = parts.filter(pl.col(names[0]).is_null())
    refuse(incomplete, f"not {' '.join(names)!r}", path, code="bad-line")
    return parts


def _refuse_alone(table: pl.DataFrame, other: pl.DataFrame, path: Path, complaint: str) -> None:
    alone = table.join(other, on=PAIR, how="anti", maintain_order="left")
    if not alone.is_empty():
        raise InputError(
            f"{path}: {_named(alone)} {complaint}; the two files must match", code="mismatch"
        )


def _named(rows: pl.DataFrame) -> str:
    names = (f"{r['enrol']} {r['trial']} (line {r[LINE]})" for r in rows.head(3).to_dicts())
    return first_few(names, len(rows))


def _with_speakers(table: pl.DataFrame, utt2spk: Path) -> pl.DataFrame:
    from sottovoce.corpus.kaldi import read_utt2spk

    speaker_of = read_utt2spk(utt2spk)
    return table.with_columns(
        pl.col("enrol").replace(speaker_of).alias("enrol_speaker"),
        pl.col("trial").replace(speaker_of).alias("trial_speaker"),
    )
