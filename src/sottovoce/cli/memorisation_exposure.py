"""``sottovoce memorisation exposure``: how far a model has memorised inserted secrets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, progress_bar, provenance, write_json
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.findings import CanaryGroup, Exposure, ExposureSummary
    from sottovoce.measure.readers.perplexities import CanaryPerplexities


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce memorisation exposure candidates.csv --report exposure.html",
    short_help="How far a model has memorised inserted secrets, in bits.",
)
@click.argument("table", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--model",
    "model_path",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Ask this model: a Hugging Face folder of a causal language model, or one that "
    "memorisation study kept. FILE is then what memorisation insert wrote.",
)
@click.option(
    "--save-scores",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="With --model: write the log-perplexities of all candidates.",
)
@click.option(
    "--method",
    type=click.Choice(("exact", "sampled", "skew-normal")),
    default="exact",
    show_default=True,
    help="exact: FILE has all values of the space; else it has a random sample of them.",
)
@click.option(
    "--space",
    type=click.IntRange(2),
    metavar="N",
    help="Number of values a secret may have, where FILE has a sample.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="Write a page with a figure and a plain reading.",
)
@json_option
def command(
    table: Path,
    model_path: Path | None,
    save_scores: Path | None,
    method: str,
    space: int | None,
    report: Path | None,
    json_to: str | None,
) -> None:
    """Measure the exposure of secrets from log-perplexities of a model.

    FILE (.csv, .tsv, .parquet or .npz) has a row for each candidate: canary (name of the secret),
    candidate, log_perplexity (of the candidate after its prefix, in any base) and inserted (true
    for the secret). A secret that the model has never seen has 1.44 bits on average. With --model
    the log-perplexities are computed.
    """
    from sottovoce.core.files import write_text
    from sottovoce.measure.exposure import group_exposures, summarise_exposures
    from sottovoce.report.exposure import exposure_page, exposure_readings

    if (space is None) != (method == "exact"):
        raise UsageError(
            "--space goes with --method sampled or skew-normal, which need it",
            code="missing-option" if space is None else "exclusive-options",
        )
    canaries = _perplexities(table, model_path, save_scores)
    exposures = {canary.canary: _exposure(canary, method, space) for canary in canaries}
    mean = summarise_exposures(list(exposures.values())) if len(exposures) > 1 else None
    groups = group_exposures(exposures)
    if report is not None:
        write_text(report, exposure_page(exposures, groups))
    if json_to is not None:
        inputs = [table] if model_path is None else [table, model_path]
        result = {
            "canaries": {name: exposure.to_dict() for name, exposure in exposures.items()},
            "mean": None if mean is None else mean.to_dict(),
            "groups": [group.to_dict() for group in groups],
            "provenance": provenance(inputs, method=method, space=space),
        }
        write_json(result, json_to)
    if json_to != "-":
        _print(exposures, mean, groups)
        for line in exposure_readings(groups):
            click.echo(line)


def _perplexities(
    table: Path, model_path: Path | None, save_scores: Path | None
) -> list[CanaryPerplexities]:
    from sottovoce.measure.readers.perplexities import read_perplexities

    if model_path is None:
        if save_scores is not None:
            raise UsageError("--save-scores goes with --model", code="missing-option")
        return read_perplexities(table)
    from sottovoce.memorisation.asking import ask, open_model, read_candidates, write_scored

    candidates = read_candidates(table)
    model = open_model(model_path)
    with progress_bar("asking the model") as progress:
        scored = ask(model, candidates, progress)
    if save_scores is not None:
        write_scored(save_scores, candidates, scored)
    return scored


def _exposure(canary: CanaryPerplexities, method: str, space: int | None) -> Exposure:
    import numpy as np

    from sottovoce.measure.exposure import exact_exposure, fitted_exposure, sampled_exposure

    if space is None:
        return exact_exposure(canary.values, canary.secret)
    estimate = sampled_exposure if method == "sampled" else fitted_exposure
    others = np.delete(canary.values, canary.secret)
    return estimate(float(canary.values[canary.secret]), others, space)


def _print(
    exposures: dict[str, Exposure], mean: ExposureSummary | None, groups: tuple[CanaryGroup, ...]
) -> None:
    width = max(len(name) for name in exposures)
    click.echo(f"{'canary':{width}}  exposure of at most  p-value")
    for name, exposure in exposures.items():
        click.echo(
            f"{name:{width}}  {exposure.exposure_bits:8.2f} {exposure.maximum_bits:10.2f}"
            f"  {exposure.p_value:7.2g}"
        )
    method = next(iter(exposures.values())).method
    click.echo(f"Bits, {method}; a secret that was never seen has 1.44 on average.")
    summaries = [(f"{g.spec}, {g.repetitions} times", g.summary) for g in groups]
    if mean is not None and len(groups) < 2:
        summaries = [("all", mean)]
    for name, summary in summaries:
        if summary is not None:
            click.echo(
                f"Mean of {name}: {summary.value:.2f} ({summary.low:.2f} to {summary.high:.2f}), "
                f"p-value of all {summary.secrets} together {summary.p_value:.2g}"
            )
