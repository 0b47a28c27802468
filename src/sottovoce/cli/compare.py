"""``sottovoce compare``: several score sets side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from sottovoce.cli.options import (
    JsonCommand,
    figures_option,
    interval_options,
    json_option,
    only_option,
    progress_bar,
    provenance,
    split_names,
    write_json,
)
from sottovoce.core.files import without_ending

MAX_SETS = 6
"""More lines than this cannot be distinguished in a figure."""


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce compare original.npz mcadams.npz --figures figures/",
    short_help="Several score sets side by side.",
)
@click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
@figures_option
@only_option
@interval_options
@json_option
def command(
    scores: tuple[Path, ...],
    figures: Path | None,
    only: str | None,
    interval: float,
    no_interval: bool,
    resamples: int | None,
    seed: int,
    json_to: str | None,
) -> None:
    """Measure several score sets and show them in one table and one ECE figure.

    SCORES are files or directories as `sottovoce measure` takes them, or folders of audits.
    """
    audits = [path for path in scores if (path / "measures.json").is_file()]
    if len(audits) == len(scores):
        _compare_audits(scores, json_to)
        return
    if audits:
        raise click.UsageError(
            f"{audits[0]}: audits and score sets cannot be mixed; name audits only, or one of its "
            "attacks/…/scores.parquet"
        )
    from sottovoce.measure import measure_scores, score_curves
    from sottovoce.measure.readers import read_scores
    from sottovoce.report.scores import print_comparison, write_score_figures

    if not 2 <= len(scores) <= MAX_SETS:
        raise click.UsageError(f"name 2 to {MAX_SETS} score files; use measure for a single one")
    confidence = None if no_interval else interval
    sources = [read_scores(path) for path in scores]
    names = distinct_names(scores)
    summaries = []
    for name, source in zip(names, sources, strict=True):
        with progress_bar(name) as progress:
            summary = measure_scores(
                source,
                interval=confidence,
                replicates=resamples,
                only=split_names(only),
                seed=seed,
                progress=progress,
            )
        summaries.append(replace(summary, name=name))
    if figures is not None:
        curves = map(score_curves, sources)
        write_score_figures(dict(zip(names, curves, strict=True)), figures)
    if json_to is not None:
        origin = provenance(
            list(scores),
            only=split_names(only),
            interval=confidence,
            resamples=resamples,
            seed=seed,
        )
        sets = [{"name": summary.name, **summary.to_dict()} for summary in summaries]
        write_json({"sets": sets, "provenance": origin}, json_to)
    if json_to != "-":
        print_comparison(summaries)


def _compare_audits(folders: tuple[Path, ...], json_to: str | None) -> None:
    """Show the rows of several audits in one table."""
    from sottovoce.findings.files import read_findings
    from sottovoce.report.attacks import print_audits

    named = dict(zip(distinct_names(folders), map(read_findings, folders), strict=True))
    if json_to is not None:
        rows = [
            {"audit": name, **row.to_dict()}
            for name, findings in named.items()
            for row in findings.rows
        ]
        write_json({"rows": rows}, json_to)
    if json_to != "-":
        print_audits(named)


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
