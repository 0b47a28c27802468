"""``sottovoce compare``: several score sets side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from sottovoce.cli.options import (
    JsonCommand,
    interval_options,
    json_option,
    only_option,
    progress_bar,
    provenance,
    split_names,
    write_json,
)

MOST = 6
"""Sets that lines in one figure can be told apart for."""


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce compare original.npz mcadams.npz --figures figures/",
    short_help="Several score sets side by side.",
)
@click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--figures", type=click.Path(path_type=Path), metavar="DIR", help="Write SVG figures there."
)
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
        _audits(scores, json_to)
        return
    if audits:
        raise click.UsageError(
            f"{audits[0]}: an audit beside score sets; name audits only, or one of its "
            "attacks/…/scores.parquet"
        )
    from sottovoce.measure import measure_scores
    from sottovoce.measure.readers import read_scores
    from sottovoce.report.score_set import print_comparison, write_figures

    if not 2 <= len(scores) <= MOST:
        raise click.UsageError(f"name 2 to {MOST} score files; for one there is measure")
    sources = [read_scores(path) for path in scores]
    names = distinct_names(scores)
    summaries = []
    for name, source in zip(names, sources, strict=True):
        with progress_bar(name) as progress:
            summary = measure_scores(
                source,
                interval=None if no_interval else interval,
                replicates=resamples,
                only=split_names(only),
                seed=seed,
                progress=progress,
            )
        summaries.append(replace(summary, name=name))
    if figures is not None:
        write_figures(dict(zip(names, sources, strict=True)), figures)
    if json_to is not None:
        made = provenance(
            list(scores),
            only=split_names(only),
            interval=None if no_interval else interval,
            resamples=resamples,
            seed=seed,
        )
        sets = [{"name": one.name, **one.to_dict()} for one in summaries]
        write_json({"sets": sets, "provenance": made}, json_to)
    if json_to != "-":
        print_comparison(summaries)


def _audits(folders: tuple[Path, ...], json_to: str | None) -> None:
    """The rows of several audits in one table."""
    from sottovoce.audit.verify import load
    from sottovoce.report.verdict import print_audits

    named = dict(zip(distinct_names(folders), map(load, folders), strict=True))
    if json_to is not None:
        rows = [{"audit": name, **row} for name, one in named.items() for row in one["rows"]]
        write_json({"rows": rows}, json_to)
    if json_to != "-":
        print_audits(named)


def distinct_names(paths: tuple[Path, ...]) -> list[str]:
    """The end of each path, as short as tells it from the others."""
    for parts in range(1, 1 + max(len(path.parts) for path in paths)):
        names = ["-".join(path.with_suffix("").parts[-parts:]) for path in paths]
        if len(set(names)) == len(paths):
            return names
    raise click.UsageError("the same score file is named twice")
