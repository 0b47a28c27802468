"""``sottovoce calibrate``: likelihood ratios from scores, by a calibration learnt elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from sottovoce.cli.options import (
    JsonCommand,
    interval_options,
    json_option,
    progress_bar,
    provenance,
    write_json,
)

if TYPE_CHECKING:
    from sottovoce.findings import ScoreSummary
    from sottovoce.measure.held_out_calibration import LlrMap, Method
    from sottovoce.measure.scores import ScoreSource

MEASURES = ("cllr", "min_cllr", "dcf_0.05", "min_dcf_0.05", "dcf_0.01", "min_dcf_0.01", "dev_pav")
"""What is shown of the scores before and after."""


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce calibrate dev.csv eval.csv --out llrs.csv",
    short_help="Likelihood ratios from scores, by a calibration learnt from others.",
)
@click.argument("train", type=click.Path(path_type=Path))
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "--out",
    "target",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Likelihood ratios to write: .parquet, .csv, .tsv, or .txt (enrol trial llr).",
)
@click.option(
    "--method",
    type=click.Choice(["logistic", "pav"]),
    default="logistic",
    show_default=True,
    help="Logistic regression, or a step map by PAV with Laplace's rule.",
)
@click.option(
    "--prior",
    type=float,
    default=0.5,
    show_default=True,
    help="Prior that logistic regression weighs both classes by.",
)
@click.option(
    "--train-trials", type=click.Path(path_type=Path), help="Trials file, if TRAIN is a list."
)
@click.option("--trials", type=click.Path(path_type=Path), help="Trials file, if SCORES is a list.")
@click.option(
    "--utt2spk", type=click.Path(path_type=Path), help="Speakers of the lists, for intervals."
)
@interval_options
@json_option
def command(
    train: Path,
    scores: Path,
    target: Path,
    method: str,
    prior: float,
    train_trials: Path | None,
    trials: Path | None,
    utt2spk: Path | None,
    interval: float,
    no_interval: bool,
    resamples: int | None,
    seed: int,
    json_to: str | None,
) -> None:
    """Learn a calibration from TRAIN and apply it to SCORES.

    Both are files as `sottovoce measure` takes them. The result holds natural-log likelihood
    ratios as scores, with the ids and speakers of SCORES. TRAIN must be of other speakers: a
    calibration that has seen the labels of SCORES says what `sottovoce measure` says anyway.
    """
    from sottovoce.measure.held_out_calibration import fit_calibration
    from sottovoce.measure.readers.calibrated import (
        calibrated_batches,
        calibrated_source,
        check_held_out,
    )
    from sottovoce.measure.readers.score_files import read_score_file
    from sottovoce.measure.readers.writing import check_score_target, write_score_table

    learnt_from = read_score_file(
        train, trials=train_trials, utt2spk=utt2spk if train_trials else None
    )
    applied_to = read_score_file(scores, trials=trials, utt2spk=utt2spk if trials else None)
    check_score_target(target, [] if applied_to.table is None else applied_to.table.columns)
    unchecked = check_held_out(learnt_from, applied_to)
    calibration = fit_calibration(learnt_from.source, cast("Method", method), prior=prior)
    write_score_table(calibrated_batches(applied_to, calibration), target)
    confidence = None if no_interval else interval
    before, after = (
        _summary(source, name, confidence, resamples, seed)
        for name, source in (
            ("before", applied_to.source),
            ("after", calibrated_source(applied_to.source, calibration)),
        )
    )
    if json_to is not None:
        optional = (train_trials, trials, utt2spk)
        files = [train, scores, *(path for path in optional if path is not None)]
        origin = provenance(
            files, method=method, prior=prior, interval=confidence, resamples=resamples, seed=seed
        )
        result = {
            "method": method,
            "calibration": calibration.to_dict(),
            "before": before.to_dict(),
            "after": after.to_dict(),
            "notes": [unchecked] if unchecked else [],
            "provenance": origin,
        }
        write_json(result, json_to)
    if json_to != "-":
        _print(before, after, calibration, target, unchecked)


def _summary(
    source: ScoreSource, name: str, confidence: float | None, resamples: int | None, seed: int
) -> ScoreSummary:
    from sottovoce.measure import measure_scores

    with progress_bar(name) as progress:
        summary = measure_scores(
            source,
            interval=confidence,
            replicates=resamples,
            only=MEASURES,
            seed=seed,
            progress=progress,
        )
    return replace(summary, name=name)


def _print(
    before: ScoreSummary, after: ScoreSummary, calibration: LlrMap, target: Path, unchecked: str
) -> None:
    from sottovoce.measure.held_out_calibration import LogisticCalibration
    from sottovoce.report.scores import print_comparison

    print_comparison([before, after])
    count = f"{after.n_mated + after.n_nonmated:,} likelihood ratios (natural log) in {target}"
    if isinstance(calibration, LogisticCalibration):
        click.echo(f"{count}: {calibration.slope:.6g} · score {calibration.offset:+.6g}")
        if calibration.slope <= 0:
            click.echo("Careful: the slope is not positive; the scores point the wrong way.")
    else:
        click.echo(f"{count}: PAV with Laplace's rule")
    if unchecked:
        click.echo(f"Careful: {unchecked}.")
