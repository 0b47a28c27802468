"""Scores and labels in two lists of text, joined by the ids of each pair.

In Kaldi's form the value is last: ``enrol trial score`` and ``enrol trial target|nontarget``; in
VoxCeleb's it is first: ``score enrol trial`` and ``1|0 enrol trial``. Each file has its form, which
its first line tells. The order of lines means nothing: every trial must have one score and every
score one trial, else nothing is computed.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sottovoce.core.errors import InputError, first_few, first_line
from sottovoce.measure.readers.delimited import COMPRESSED
from sottovoce.measure.readers.tables import (
    BAD_LABEL,
    LINE,
    all_distinct,
    from_table,
    mated_label,
    refuse,
)
from sottovoce.measure.scores import Scores

PAIR = ["enrol", "trial"]
WORDS = ["first", "second", "third"]
_ENDS = (WORDS[0], WORDS[2])
"""Where a line may have its score or label."""


def read_scored_list(scores: Path, trials: Path, utt2spk: Path | None = None) -> Scores:
    """Read a score file with its trials file, each in Kaldi's or VoxCeleb's form.

    Parameters
    ----------
    scores, trials, utt2spk : Path
        The files; see :func:`read_joined_lists`.
    """
    return from_table(read_joined_lists(scores, trials, utt2spk), scores)


def read_joined_lists(scores: Path, trials: Path, utt2spk: Path | None = None) -> pl.DataFrame:
    """Read a score file with its trials file as one table.

    ``utt2spk`` (lines ``utterance speaker``) tells who speaks in each trial, for resampling by
    speaker; an id that is not in it is taken for a speaker's own.

    Parameters
    ----------
    scores, trials : Path
        Lines ``enrol trial score`` or ``score enrol trial``, and ``enrol trial target|nontarget``
        or ``1|0 enrol trial``.
    utt2spk : Path, optional
        Lines ``utterance speaker``.
    """
    words = _words(scores, "enrol trial score")
    keyed = _labelled_pairs(trials)
    scored = _named_columns(words, "score", value_first=_score_is_first(words, keyed, scores))
    del words  # as text, its ids take several times the memory
    if keyed.select(pl.col("label").unique()).select(mated_label().has_nulls()).item():
        refuse(keyed.filter(mated_label().is_null()), BAD_LABEL, trials, code="bad-label")
    table = scored.join(keyed.drop(LINE), on=PAIR, how="inner", maintain_order="left")
    if not (len(table) == len(scored) == len(keyed) and all_distinct(table, PAIR)):
        _refuse_repeated(scored, scores)
        _refuse_repeated(keyed, trials)
        _refuse_alone(scored, keyed, scores, f"has no trial in {trials}")
        _refuse_alone(keyed, scored, trials, f"has no score in {scores}")
    if utt2spk is not None:
        table = _with_speakers(table, utt2spk)
    return table


# =========================================================================================== forms


def _labelled_pairs(trials: Path) -> pl.DataFrame:
    words = _words(trials, "enrol trial label")
    return _named_columns(words, "label", value_first=_label_is_first(words))


def _label_is_first(words: pl.DataFrame) -> bool:
    """Tell the form of a trials file; where both ends of its first line are labels, all decide."""
    first, last = (_all_labels(words.head(1), name) for name in _ENDS)
    if not (first and last):
        return first
    return not _all_labels(words, WORDS[2]) and _all_labels(words, WORDS[0])


def _all_labels(words: pl.DataFrame, column: str) -> bool:
    return bool(words.select(mated_label(column).is_not_null().all()).item())


def _score_is_first(words: pl.DataFrame, keyed: pl.DataFrame, path: Path) -> bool:
    """Tell the form of a score file; where ids are numbers too, the trials file decides."""
    first, last = (
        words[name].head(1).cast(pl.Float64, strict=False).is_not_null()[0] for name in _ENDS
    )
    if not (first and last):
        return bool(first)
    as_last, as_first = (
        _named_columns(words, "score", value_first=value_first).join(keyed, on=PAIR, how="semi")
        for value_first in (False, True)
    )
    if len(as_first) == len(as_last) > 0:
        raise InputError(
            f"{path}: both 'enrol trial score' and 'score enrol trial' fit the trials; give ids "
            "that are not numbers",
            code="ambiguous",
        )
    return len(as_first) > len(as_last)


def _named_columns(words: pl.DataFrame, value: str, *, value_first: bool) -> pl.DataFrame:
    """Name the columns by what they hold; ids, which repeat, are kept once and numbered."""
    names = [value, *PAIR] if value_first else [*PAIR, value]
    table = words.rename(dict(zip(WORDS, names, strict=True)))
    return table.with_columns(pl.col(PAIR).cast(pl.Categorical))


def _words(path: Path, form: str) -> pl.DataFrame:
    """Columns of a file of three words per line, separated by white space, with line numbers."""
    parts = _single_spaced(path)
    if parts is None:
        parts = _spaced(path, form)
    return parts


_CONTROL = bytes(set(range(32)) - {10})
"""Control characters, some of them white space, apart from the end of a line."""
_UNICODE_SPACE = tuple(
    space.encode() for space in "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
) + tuple(chr(code).encode() for code in range(0x2000, 0x200B))
_PART = 1 << 24


def _single_spaced(path: Path) -> pl.DataFrame | None:
    """Words of a file with one blank between words and no other white space; None if not so.

    Read as a table, several times faster and in less memory than lines of text.
    """
    try:
        if _has_other_space(path):
            return None
        words = pl.read_csv(
            path,
            separator=" ",
            has_header=False,
            new_columns=WORDS,
            infer_schema=False,
            quote_char=None,
        )
    except (pl.exceptions.PolarsError, OSError):  # the slower reader says what is wrong
        return None
    if words.columns != WORDS or any(words.null_count().row(0)):
        return None
    return words.with_row_index(LINE, offset=1)


def _has_other_space(path: Path) -> bool:
    """Whether a file has blank lines, white space other than blanks, or is compressed."""
    before = b"\n"
    with path.open("rb") as file:
        while part := file.read(_PART):
            if b"\n\n" in before + part[:1] or b"\n\n" in part or part.startswith(COMPRESSED):
                return True
            if len(part.translate(None, _CONTROL)) < len(part):
                return True
            if not part.isascii() and any(space in part for space in _UNICODE_SPACE):
                return True
            before = part[-1:]
    return False


def _spaced(path: Path, form: str) -> pl.DataFrame:
    """Words of a file, separated by white space of any kind."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: not a readable text file ({first_line(error)})", code="unreadable"
        ) from None
    lines = pl.DataFrame({"text": text.split("\n")}, schema={"text": pl.String})
    lines = lines.with_row_index(LINE, offset=1).filter(pl.col("text").str.contains(r"\S"))
    if lines.is_empty():
        raise InputError(f"{path}: empty; expected lines of {form!r}", code="empty")
    pattern = r"\s+".join(rf"(?<{name}>\S+)" for name in WORDS)
    groups = pl.col("text").str.extract_groups(rf"^\s*{pattern}\s*$")
    parts = lines.select(LINE, groups).unnest("text")
    incomplete = parts.filter(pl.col(WORDS[0]).is_null())
    refuse(incomplete, f"not {form!r}", path, code="bad-line")
    return parts


# ============================================================================================ join


def _refuse_repeated(table: pl.DataFrame, path: Path) -> None:
    again = table.filter(~pl.struct(PAIR).is_first_distinct())
    if not again.is_empty():
        raise InputError(
            f"{path}: listed twice: {_named(again)}; keep one line per pair", code="duplicate-id"
        )


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
