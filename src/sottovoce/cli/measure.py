"""``sottovoce measure``: all score measures of one score set."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.conditions import condition_options, measure_conditions, request
from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.measure_options import chosen_measures, operating_point_options
from sottovoce.cli.options import (
    JsonCommand,
    column_values,
    figures_option,
    interval_options,
    json_option,
    only_option,
    progress_bar,
    provenance,
    score_inputs,
    where_option,
    write_json,
)


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce measure scores.npz --figures figures/",
    short_help="All score measures of one score set.",
)
@click.argument("scores", required=False, type=click.Path(path_type=Path))
@click.option("--example", is_flag=True, help="Use the built-in example (simulated scores).")
@click.option(
    "--trials",
    type=click.Path(path_type=Path),
    help="Trials file; SCORES is then a list of scores (Kaldi's or VoxCeleb's form).",
)
@click.option(
    "--utt2spk", type=click.Path(path_type=Path), help="Speakers of the trials, for intervals."
)
@where_option
@condition_options
@figures_option
@only_option
@operating_point_options
@interval_options
@click.option("--jobs", default=1, show_default=True, help="Parts of a large set read together.")
@engine_options
@json_option
def command(
    scores: Path | None,
    example: bool,
    trials: Path | None,
    utt2spk: Path | None,
    where: tuple[str, ...],
    by: str | None,
    metadata: Path | None,
    equal_weights: bool,
    figures: Path | None,
    only: str | None,
    prior: str | None,
    costs: str | None,
    threshold: str | None,
    interval: float,
    no_interval: bool,
    resamples: int | None,
    seed: int,
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
    json_to: str | None,
) -> None:
    """Every score measure of SCORES with interval, chance level and direction.

    SCORES is a .npz file (arrays mated and nonmated), a .csv, .tsv or .parquet table (columns
    score and label), a directory of Parquet shards, or with --trials a list of lines `enrol trial
    score` (Kaldi) or `score enrol trial` (VoxCeleb). Tables and shards may be remote (s3://…).
    """
    from sottovoce.measure import measure_scores
    from sottovoce.measure.readers import read_scores
    from sottovoce.measure.score_stream import with_engine
    from sottovoce.measure.scores import example_scores

    if (scores is None) == (not example):
        raise click.UsageError("name one score file, or --example for the built-in scores")
    if example and (trials or utt2spk or where):
        raise click.UsageError(
            "--example has its own trials; leave --trials, --utt2spk and --where out"
        )
    selection = column_values(where)
    names = chosen_measures(only, prior, costs, threshold)
    confidence = None if no_interval else interval
    requested = request(
        by, metadata, equal_weights, figures, names, confidence, resamples, seed, json_to
    )
    if requested is not None:
        if scores is None:
            raise click.UsageError("the built-in scores have no conditions; leave --by out")
        measure_conditions(requested, scores, trials, utt2spk, selection)
        return
    source = (
        example_scores()
        if scores is None
        else read_scores(scores, trials=trials, utt2spk=utt2spk, where=selection)
    )
    with (
        engine_of(engine, jobs, worker_memory, scratch) as opened,
        progress_bar("resampling") as progress,
    ):
        source = with_engine(source, opened)
        summary = measure_scores(
            source,
            interval=confidence,
            replicates=resamples,
            only=names,
            seed=seed,
            progress=progress,
        )
    if figures is not None:
        from sottovoce.measure import score_curves
        from sottovoce.report.scores import write_score_figures

        write_score_figures({source.name: score_curves(source)}, figures)
    if json_to is not None:
        origin = provenance(
            [*score_inputs(scores, selection), *(f for f in (trials, utt2spk) if f is not None)],
            only=names,
            **({"where": selection} if selection else {}),
            interval=confidence,
            resamples=resamples,
            seed=seed,
            example=example,
        )
        write_json({**summary.to_dict(), "provenance": origin}, json_to)
    if json_to != "-":
        from sottovoce.report.scores import print_summary

        print_summary(summary)
