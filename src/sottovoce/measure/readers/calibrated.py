"""Scores turned into likelihood ratios by a calibration that was learnt from other scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.types import FloatArray, IntArray
from sottovoce.measure.held_out_calibration import LlrMap
from sottovoce.measure.readers.score_files import ScoreFile
from sottovoce.measure.readers.tables import IDS, MATED_ROW, SPEAKERS, VALUE
from sottovoce.measure.score_stream import ScoreStream
from sottovoce.measure.scores import Scores, ScoreSource

ROWS = 1 << 20
"""Rows that are calibrated at a time."""


def check_held_out(train: ScoreFile, scores: ScoreFile) -> str:
    """Refuse training scores that are, or share pairs or speakers with, the scores to calibrate.

    Parameters
    ----------
    train : ScoreFile
        What the calibration is learnt from.
    scores : ScoreFile
        What is calibrated.

    Returns
    -------
    str
        What could not be checked; empty if the names of all speakers are known.

    Raises
    ------
    InputError
        With the code ``not-disjoint``.
    """
    if train.path.resolve() == scores.path.resolve():
        raise InputError(
            f"{train.path}: the same file twice; learn the calibration from scores of other "
            "speakers",
            code="not-disjoint",
        )
    _refuse_shared_pairs(train, scores)
    names = [_speaker_names(file.source) for file in (train, scores)]
    if not (names[0] and names[1]):
        return (
            "speakers are not known on both sides: whether the calibration was learnt from other "
            "speakers was not checked"
        )
    common = sorted(names[0] & names[1])
    if common:
        raise InputError(
            f"{train.path}: speakers that are in {scores.path} too: "
            f"{first_few(common, len(common))}; learn the calibration from other speakers",
            code="not-disjoint",
        )
    return ""


def _speaker_names(source: ScoreSource) -> set[str]:
    speakers = source.speakers
    return set() if speakers is None or speakers.names is None else set(speakers.names.tolist())


def _refuse_shared_pairs(train: ScoreFile, scores: ScoreFile) -> None:
    tables = [file.table for file in (train, scores)]
    pairs = [
        table.select(pl.col(IDS).cast(pl.String))
        for table in tables
        if table is not None and set(IDS) <= set(table.columns)
    ]
    if len(pairs) < 2:
        return
    common = pairs[0].join(pairs[1], on=IDS, how="semi")
    if not common.is_empty():
        listed = first_few((" ".join(row) for row in common.head(3).iter_rows()), len(common))
        raise InputError(
            f"{train.path}: pairs that are in {scores.path} too: {listed}; learn the calibration "
            "from other speakers",
            code="not-disjoint",
        )


def calibrated_source(source: ScoreSource, calibration: LlrMap) -> ScoreSource:
    """Return a score set with likelihood ratios in place of its scores.

    Parameters
    ----------
    source : ScoreSource
        The scores, in memory or streamed.
    calibration : LlrMap
        What they are turned into likelihood ratios by.
    """
    if isinstance(source, Scores):
        return Scores(
            calibration.llr(source.mated),
            calibration.llr(source.nonmated),
            speakers=source.speakers,
            name=source.name,
        )
    return ScoreStream(
        source.name,
        source.name,
        calibration.llr(source.mated),
        source.n_nonmated,
        parts=(lambda: (calibration.llr(chunk) for chunk in source.nonmated_chunks()),),
        refuse_bad_scores=lambda: None,
    )


def calibrated_batches(file: ScoreFile, calibration: LlrMap) -> Iterator[pl.DataFrame]:
    """Go through calibrated scores, as rows of a score table.

    Parameters
    ----------
    file : ScoreFile
        The scores. Rows of a table keep their order, ids and speakers; of other files, mated pairs
        come first.
    calibration : LlrMap
        What they are turned into likelihood ratios by.
    """
    if file.table is None:
        yield from _batches_of_arrays(file.source, calibration)
        return
    kept = [name for name in (*IDS, *SPEAKERS) if name in file.table.columns]
    for rows in file.table.iter_slices(ROWS):
        llrs = pl.Series(calibration.llr(rows[VALUE].to_numpy()))
        label = pl.when(pl.col(MATED_ROW)).then(pl.lit("mated")).otherwise(pl.lit("nonmated"))
        yield rows.select(llrs.alias("score"), label.alias("label"), *kept)


def _batches_of_arrays(source: ScoreSource, calibration: LlrMap) -> Iterator[pl.DataFrame]:
    speakers = source.speakers
    names = None if speakers is None else speakers.names
    known = speakers is not None and names is not None
    for start in range(0, len(source.mated), ROWS):
        rows = slice(start, start + ROWS)
        who = speakers.mated[rows] if speakers is not None and known else None
        yield _rows(calibration.llr(source.mated[rows]), "mated", names, who, who)
    done = 0
    for chunk in source.nonmated_chunks():
        rows = slice(done, done + len(chunk))
        done += len(chunk)
        enrol = speakers.nonmated_enrol[rows] if speakers is not None and known else None
        trial = speakers.nonmated_trial[rows] if speakers is not None and known else None
        yield _rows(calibration.llr(chunk), "nonmated", names, enrol, trial)


def _rows(
    llrs: FloatArray,
    label: str,
    names: np.ndarray[tuple[int], np.dtype[np.str_]] | None,
    enrol: IntArray | None,
    trial: IntArray | None,
) -> pl.DataFrame:
    table = pl.DataFrame({"score": llrs}).with_columns(pl.lit(label).alias("label"))
    if names is None or enrol is None or trial is None:
        return table
    return table.with_columns(
        pl.Series("enrol_speaker", names[enrol]), pl.Series("trial_speaker", names[trial])
    )
