"""``sottovoce compare``: several score sets side by side."""

from __future__ import annotations

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

    SCORES are files or directories as `sottovoce measure` takes them.
    """
    from sottovoce.measure import measure_scores
    from sottovoce.measure.readers import read_scores
    from sottovoce.report.score_set import print_comparison, write_figures

    if len(scores) < 2:
        raise click.UsageError("name at least two score files; for one there is measure")
    sources = [read_scores(path) for path in scores]
    summaries = []
    for source in sources:
        with progress_bar(source.name) as progress:
            summaries.append(
                measure_scores(
                    source,
                    interval=None if no_interval else interval,
                    replicates=resamples,
                    only=split_names(only),
                    seed=seed,
                    progress=progress,
                )
            )
    if figures is not None:
        write_figures(sources, figures)
    if json_to is not None:
        made = provenance(list(scores), only=split_names(only), seed=seed)
        sets = [{"name": one.name, **one.to_dict()} for one in summaries]
        write_json({"sets": sets, "provenance": made}, json_to)
    if json_to != "-":
        print_comparison(summaries)
