"""Scores in tables: CSV, TSV and Parquet with columns ``score`` and ``label``, and Kaldi's files.

Labels are mated/nonmated, target/nontarget, 1/0 or 1.0/0.0. Optional columns: ``enrol`` and
``trial`` (ids; a pair may occur once) and ``enrol_speaker`` and ``trial_speaker`` (for resampling
by speaker).

Parquet may be one file or shards larger than memory. Large sets are streamed: mated scores are held
in memory, non-mated ones read a batch at a time. Shards whose row groups hold one label each (as
they do when one class is written at a time) are read fastest.

Of Kaldi, a score file has lines ``enrol trial score``; a trials file (the key) ``enrol trial
target`` or ``enrol trial nontarget``. The order of lines means nothing: every trial must have one
score and every score one trial, else nothing is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from sottovoce.core.errors import InputError, first_few, first_line
from sottovoce.core.files import without_ending
from sottovoce.core.types import RealArray
from sottovoce.measure.scores import (
    CHUNK,
    Scores,
    ScoreSource,
    ScoreStream,
    Speakers,
    as_scores,
    check_exact,
    check_finite,
)

MATED = ("mated", "target", "1", "1.0", "true")
NONMATED = ("nonmated", "non-mated", "nontarget", "non-target", "0", "0.0", "false")
SPEAKERS = ("enrol_speaker", "trial_speaker")
IDS = ("enrol", "trial")
USED = ("score", "label", *IDS, *SPEAKERS)
LINE, VALUE, MATED_ROW = "\0line", "\0value", "\0mated"
"""Columns of our own, under names no header can have."""

BAD_LABEL = "label is neither mated nor nonmated"


def read_csv(path: Path) -> Scores:
    """Read scores from a comma- or (``.tsv``) tab-separated file with a header line.

    Blanks around names in the header and around values do not matter, nor do lines without
    content. A file whose name ends in ``.gz`` is decompressed.

    Parameters
    ----------
    path : Path
        The file.
    """
    name = path.name.lower()
    separator = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
    try:
        _check_compression(path, compressed=name.endswith(".gz"))
        table = pl.read_csv(path, separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path}: not a readable table ({first_line(error)})", code="unreadable"
        ) from None
    names = [_DUPLICATED.sub("", column).strip() for column in table.columns]
    check_columns(names, path)
    table = table.rename(
        {column: name for column, name in zip(table.columns, names, strict=True) if name in USED}
    )
    return from_table(_without_blank_lines(table.with_row_index(LINE, offset=2)), path)


_DUPLICATED = re.compile(r"_duplicated_\d+$")
"""What polars appends to a name that the header holds already."""
_COMPRESSED = (b"\x1f\x8b", b"x\x01", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd")
"""How gzip, zlib and Zstandard files start, all of which polars would decompress by itself."""


def _check_compression(path: Path, *, compressed: bool) -> None:
    """Refuse content that contradicts the name, so that only ``.gz`` files grow when read."""
    with path.open("rb") as file:
        start = file.read(4)
    if compressed and not start.startswith(_COMPRESSED[0]):
        raise InputError(
            f"{path}: not compressed with gzip; name it without .gz", code="unknown-format"
        )
    if not compressed and start.startswith(_COMPRESSED):
        raise InputError(
            f"{path}: compressed; compress it with gzip and name it .csv.gz or .tsv.gz",
            code="unknown-format",
        )


def _without_blank_lines(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out rows without any content; of such a row the score or the label is null."""
    if not (table["score"].null_count() or table["label"].null_count()):
        return table
    blank = pl.exclude(LINE).str.strip_chars().fill_null("") == ""
    return table.filter(~pl.all_horizontal(blank))


def from_table(table: pl.DataFrame, path: Path) -> Scores:
    """Check a table of scores and split it by label.

    Messages give the line in the column ``LINE``; without one, rows count from 1.

    Parameters
    ----------
    table : polars.DataFrame
        Columns ``score`` and ``label``; optionally ids and speakers.
    path : Path
        Where it comes from, for messages.
    """
    check_columns(table.columns, path)
    kind = table.schema["score"]
    if not (kind.is_numeric() or kind == pl.String):
        raise InputError(
            f"{path}: column 'score' holds {kind} values; scores must be real numbers",
            code="wrong-type",
        )
    if kind.is_integer() and table["score"].len() > table["score"].null_count():
        low, high = table.select(pl.col("score").min(), high=pl.col("score").max()).row(0)
        check_exact(low, high, f"{path}: column 'score'")
    if LINE not in table.columns:
        table = table.with_row_index(LINE, offset=1)
    score = pl.col("score").str.strip_chars() if kind == pl.String else pl.col("score")
    values = table.with_columns(
        score.cast(pl.Float64, strict=False).alias(VALUE), mated_label().alias(MATED_ROW)
    )
    refuse(
        values.filter(pl.col(VALUE).is_null()), "score is not a number", path, code="not-a-number"
    )
    refuse(
        values.filter(~pl.col(VALUE).is_finite()), "score is not finite", path, code="not-finite"
    )
    refuse(values.filter(pl.col(MATED_ROW).is_null()), BAD_LABEL, path, code="bad-label")
    if set(IDS) <= set(table.columns):
        repeated = values.filter(~pl.struct(IDS).is_first_distinct())
        refuse(repeated, "the same enrol and trial again", path, code="duplicate-id")
    mated, nonmated = values.filter(MATED_ROW), values.filter(~pl.col(MATED_ROW))
    dtype = np.float32 if table.schema["score"] == pl.Float32 else np.float64
    return Scores(
        mated[VALUE].to_numpy().astype(dtype),
        nonmated[VALUE].to_numpy().astype(dtype),
        speakers=_speakers(mated, nonmated, path),
        name=without_ending(path).name,
        origin=str(path),
    )


def mated_label() -> pl.Expr:
    """Whether a row is mated: true, false, or null where the label is neither."""
    label = pl.col("label").cast(pl.String).str.strip_chars().str.to_lowercase()
    return pl.when(label.is_in(MATED)).then(True).when(label.is_in(NONMATED)).then(False)


def check_columns(columns: list[str], path: Path) -> None:
    """Refuse a table without the two columns that are needed, or with two of the same name.

    Parameters
    ----------
    columns : list of str
        Names of the columns.
    path : Path
        Where the table comes from, for messages.
    """
    for name in ("score", "label"):
        if name not in columns:
            have = ", ".join(
                column if column == column.strip() else repr(column) for column in columns[:8]
            )
            raise InputError(
                f"{path}: no column {name!r} (has {have}); name it in the header",
                code="missing-column",
            )
    for name in USED:
        if columns.count(name) > 1:
            raise InputError(
                f"{path}: two columns named {name!r}; keep one", code="duplicate-column"
            )


def refuse(rows: pl.DataFrame, complaint: str, path: Path, *, code: str) -> None:
    """Refuse the table if there are defective rows, naming the first lines.

    Parameters
    ----------
    rows : polars.DataFrame
        The defective rows.
    complaint : str
        What is wrong with them.
    path : Path
        Where the table comes from.
    code : str
        Code of the error.
    """
    if not rows.is_empty():
        lines = (f"line {line}" for line in rows[LINE].head(3))
        where = first_few(lines, len(rows))
        raise InputError(f"{path}: {complaint} in {where}; correct or remove", code=code)


def _speakers(mated: pl.DataFrame, nonmated: pl.DataFrame, path: Path) -> Speakers | None:
    given = [name for name in SPEAKERS if name in mated.columns]
    if not given:
        return None
    if len(given) == 1:
        raise InputError(
            f"{path}: only one of {' and '.join(SPEAKERS)}; give both or neither",
            code="missing-column",
        )
    enrol, trial = (pl.col(name).cast(pl.String).str.strip_chars() for name in SPEAKERS)
    for rows in (mated, nonmated):
        unnamed = enrol.is_null() | trial.is_null() | (enrol == "") | (trial == "")
        refuse(rows.filter(unnamed), "speaker is missing", path, code="missing-name")
    refuse(mated.filter(enrol != trial), "label is mated for two speakers", path, code="bad-label")
    refuse(
        nonmated.filter(enrol == trial), "label is nonmated for one speaker", path, code="bad-label"
    )
    return Speakers.from_names(
        mated.select(enrol).to_series().to_numpy(),
        nonmated.select(enrol).to_series().to_numpy(),
        nonmated.select(trial).to_series().to_numpy(),
    )


IN_MEMORY = 20_000_000
"""Tables of more rows than this are streamed, and resampled by trial only."""


def read_parquet(path: Path, shards: list[Path] | None = None) -> ScoreSource:
    """Read one Parquet file or several shards: into memory if they fit, as a stream if not.

    Parameters
    ----------
    path : Path
        The file, or the directory of the shards.
    shards : list of Path, optional
        The files of a directory.
    """
    files = shards or [path]
    try:
        frame = pl.scan_parquet(files)
        columns = frame.collect_schema().names()
        check_columns(columns, path)
        rows = frame.select(pl.len()).collect().item()
        if rows <= IN_MEMORY:
            return from_table(frame.collect(), path)
        return _stream(path, files, frame, rows)
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"{path}: two columns of the same name ({first_line(error)}); keep one",
            code="duplicate-column",
        ) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(
            f"{path}: not readable as Parquet ({first_line(error)})", code="unreadable"
        ) from None


def _stream(path: Path, files: list[Path], frame: pl.LazyFrame, rows: int) -> ScoreStream:
    is_mated, is_nonmated = _sides(path, files, frame)
    rows_of_mated = frame.filter(is_mated).select("score").collect(engine="streaming")
    mated = as_scores(rows_of_mated["score"].to_numpy(), f"{path}: mated")
    refuse_bad_scores = partial(_refuse_bad_scores, path, frame)
    try:
        check_finite(mated, f"{path}: mated")
    except InputError:
        refuse_bad_scores()
        raise

    def chunks() -> Iterator[RealArray]:
        wanted = frame.filter(is_nonmated).select("score")
        try:
            for batch in wanted.collect_batches(maintain_order=False, chunk_size=CHUNK):
                yield as_scores(batch["score"].to_numpy(), f"{path}: nonmated")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise InputError(
                f"{path}: damaged Parquet ({first_line(error)}); write it again", code="damaged"
            ) from None

    return ScoreStream(
        path.stem,
        str(path),
        mated,
        rows - len(mated),
        read=chunks,
        refuse_bad_scores=refuse_bad_scores,
    )


def _refuse_bad_scores(path: Path, frame: pl.LazyFrame) -> None:
    """Read the scores again to name the rows, counted over all shards, that cannot be used."""
    score = pl.col("score")
    bad = (
        frame.select("score")
        .with_row_index(LINE, offset=1)
        .filter(score.is_null() | ~score.is_finite())
        .collect(engine="streaming")
        .sort(LINE)
    )
    refuse(bad.filter(score.is_null()), "score is not a number", path, code="not-a-number")
    refuse(bad, "score is not finite", path, code="not-finite")


def _sides(path: Path, files: list[Path], frame: pl.LazyFrame) -> list[pl.Expr]:
    """Which rows are mated, and which non-mated.

    The first rows of each shard tell the spelling of the labels; asking for any other label is
    nearly free, because the reader skips row groups whose statistics rule one out. So is asking
    for one label by equality, the reason not to compare with all spellings.
    """
    label = pl.col("label")
    heads = [pl.scan_parquet(file).select("label").head(1000).collect() for file in files]
    seen = pl.concat(heads).unique()
    other = label.is_null() | ~label.is_in(seen["label"].drop_nulls().to_list())
    others = frame.filter(other).select("label").unique()
    kinds = pl.concat([seen, others.collect(engine="streaming")])
    kinds = kinds.with_columns(mated_label().alias("mated"))
    unknown = kinds.filter(pl.col("mated").is_null())["label"].to_list()
    if unknown:
        raise InputError(
            f"{path}: label {unknown[0]!r} is neither mated nor nonmated; correct it",
            code="bad-label",
        )
    sides = []
    for side, word in ((True, "mated"), (False, "nonmated")):
        spellings = kinds.filter(pl.col("mated") == side)["label"].to_list()
        if not spellings:
            raise InputError(
                f"{path}: no scores labelled {word}; add trials of this kind", code="empty"
            )
        single = len(spellings) == 1
        sides.append(label == spellings[0] if single else label.is_in(spellings))
    return sides


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
                f"{path}: listed twice: {_named(again)}; keep one line per pair",
                code="duplicate-id",
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
