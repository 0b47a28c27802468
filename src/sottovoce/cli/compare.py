"""``sottovoce compare``: several score sets side by side, and their differences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from sottovoce.cli.conditions import compare_conditions, condition_options, request
from sottovoce.cli.measure_options import chosen_measures, operating_point_options
from sottovoce.cli.options import (
    JsonCommand,
    figures_option,
    interval_options,
    json_option,
    only_option,
    progress_bar,
    provenance,
    write_json,
)
from sottovoce.core.files import without_ending
from sottovoce.core.records import to_json

MAX_SETS = 6
"""More lines than this cannot be distinguished in a figure."""


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce compare original.npz mcadams.npz --figures figures/",
    short_help="Several score sets side by side.",
)
@click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--trials",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Trials file of SCORES that are lists: one for all, or one for each in order.",
)
@click.option(
    "--utt2spk",
    type=click.Path(path_type=Path),
    help="Speakers of all lists, for intervals by speaker.",
)
@condition_options
@figures_option
@only_option
@operating_point_options
@interval_options
@json_option
def command(
    scores: tuple[Path, ...],
    trials: tuple[Path, ...],
    utt2spk: Path | None,
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
    json_to: str | None,
) -> None:
    """Measure several score sets, and the differences between them.

    Sets that share speakers or trials are resampled together, so that what they have in common
    cancels in their difference.

    SCORES are files or directories as `sottovoce measure` takes them, or folders of audits. With
    --trials all are lists in Kaldi's or VoxCeleb's form.
    """
    audits = [path for path in scores if (path / "measures.json").is_file()]
    if audits and (trials or utt2spk or by or metadata):
        raise click.UsageError(
            "audits have their own trials; leave --trials, --utt2spk, --by and --metadata out"
        )
    if len(audits) == len(scores):
        _compare_audits(scores, None if no_interval else interval, seed, json_to)
        return
    if audits:
        raise click.UsageError(
            f"{audits[0]}: audits and score sets cannot be mixed; name audits only, or one of its "
            "attacks/…/scores.parquet"
        )
    from sottovoce.measure import compare_scores, measure_scores, score_curves
    from sottovoce.measure.readers.score_files import pair_files, read_score_file
    from sottovoce.report.comparisons import print_differences
    from sottovoce.report.scores import print_comparison, write_score_figures

    if not 2 <= len(scores) <= MAX_SETS:
        raise click.UsageError(f"name 2 to {MAX_SETS} score files; use measure for a single one")
    confidence = None if no_interval else interval
    measures = chosen_measures(only, prior, costs, threshold)
    requested = request(
        by, metadata, equal_weights, figures, measures, confidence, resamples, seed, json_to
    )
    if requested is not None:
        lists = _trials_of_each(scores, trials)
        compare_conditions(requested, scores, lists, utt2spk, distinct_names(scores))
        return
    files = [
        read_score_file(path, trials=list_of_trials, utt2spk=utt2spk)
        for path, list_of_trials in zip(scores, _trials_of_each(scores, trials), strict=True)
    ]
    sources = [file.source for file in files]
    names = distinct_names(scores)
    paired = pair_files(files, names)
    del files  # their tables are large
    summaries = []
    for name, source in zip(names, sources, strict=True):
        with progress_bar(name) as progress:
            summary = measure_scores(
                source,
                interval=confidence,
                replicates=resamples,
                only=measures,
                seed=seed,
                progress=progress,
            )
        summaries.append(replace(summary, name=name))
    with progress_bar("differences") as progress:
        comparison = compare_scores(
            paired,
            interval=confidence,
            replicates=resamples,
            only=measures,
            seed=seed,
            progress=progress,
        )
    if figures is not None:
        curves = map(score_curves, sources)
        write_score_figures(dict(zip(names, curves, strict=True)), figures)
    if json_to is not None:
        origin = provenance(
            [*scores, *trials, *([] if utt2spk is None else [utt2spk])],
            only=measures,
            interval=confidence,
            resamples=resamples,
            seed=seed,
        )
        sets = [{"name": summary.name, **summary.to_dict()} for summary in summaries]
        write_json(
            {"sets": sets, "comparison": comparison.to_dict(), "provenance": origin}, json_to
        )
    if json_to != "-":
        print_comparison(summaries)
        print_differences(comparison)


def _trials_of_each(scores: tuple[Path, ...], trials: tuple[Path, ...]) -> tuple[Path | None, ...]:
    if len(trials) not in (0, 1, len(scores)):
        raise click.UsageError(
            f"--trials {len(trials)} times for {len(scores)} score files; name one for all, or one "
            "for each"
        )
    if len(trials) == len(scores):
        return trials
    return (trials[0] if trials else None,) * len(scores)


def _compare_audits(
    folders: tuple[Path, ...], interval: float | None, seed: int, json_to: str | None
) -> None:
    """Show the rows of several audits in one table, and how much they differ."""
    from sottovoce.audit.differences import LocatedRow, compare_rows
    from sottovoce.findings.files import read_findings
    from sottovoce.report.attacks import print_audits
    from sottovoce.report.comparisons import print_rows_comparisons

    names = distinct_names(folders)
    named = dict(zip(names, map(read_findings, folders), strict=True))
    located = [
        LocatedRow(row, folder, name if len(names) > 1 else "")
        for name, folder in zip(names, folders, strict=True)
        for row in named[name].rows
    ]
    with progress_bar("differences") as progress:
        comparisons = (
            ()
            if interval is None
            else compare_rows(located, interval=interval, seed=seed, progress=progress)
        )
    if json_to is not None:
        rows = [
            {"audit": name, **row.to_dict()}
            for name, findings in named.items()
            for row in findings.rows
        ]
        write_json({"rows": rows, "comparisons": to_json(comparisons)}, json_to)
    if json_to != "-":
        print_audits(named)
        print_rows_comparisons(comparisons)


def distinct_names(paths: tuple[Path, ...]) -> list[str]:
    """Shortest ends of paths that differ from each other.

    Parameters
    ----------
    paths : tuple of Path
        Files or folders.

    >>> distinct_names((Path("a/scores.npz"), Path("b/scores.npz")))
    ['a-scores', 'b-scores']
    >>> distinct_names((Path("a.csv.gz"), Path("b.npz")))
    ['a', 'b']
    """
    for parts in range(1, 1 + max(len(path.parts) for path in paths)):
        names = ["-".join(without_ending(path).parts[-parts:]) for path in paths]
        if len(set(names)) == len(paths):
            return names
    raise click.UsageError("the same score file is named twice")
