"""``sottovoce memorisation exposure``: how far a model has memorised inserted secrets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, provenance, write_json
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.findings import Exposure, ExposureSummary
    from sottovoce.measure.readers.perplexities import CanaryPerplexities


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce memorisation exposure candidates.csv",
    short_help="How far a model has memorised inserted secrets, in bits.",
)
@click.argument("table", metavar="FILE", type=click.Path(path_type=Path))
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
@json_option
def command(table: Path, method: str, space: int | None, json_to: str | None) -> None:
    """Measure the exposure of secrets from log-perplexities of a model.

    FILE (.csv, .tsv or .parquet) has a row for each candidate: canary (name of the secret),
    candidate, log_perplexity (of the candidate after its prefix, in any base) and inserted (true
    for the secret). A secret that the model has never seen has 1.44 bits on average.
    """
    from sottovoce.measure.exposure import summarise_exposures
    from sottovoce.measure.readers.perplexities import read_perplexities

    if (space is None) != (method == "exact"):
        raise UsageError(
            "--space goes with --method sampled or skew-normal, which need it",
            code="missing-option" if space is None else "exclusive-options",
        )
    canaries = read_perplexities(table)
    exposures = {canary.canary: _exposure(canary, method, space) for canary in canaries}
    mean = summarise_exposures(list(exposures.values())) if len(exposures) > 1 else None
    if json_to is not None:
        result = {
            "canaries": {name: exposure.to_dict() for name, exposure in exposures.items()},
            "mean": None if mean is None else mean.to_dict(),
            "provenance": provenance([table], method=method, space=space),
        }
        write_json(result, json_to)
    if json_to != "-":
        _print(exposures, mean)


def _exposure(canary: CanaryPerplexities, method: str, space: int | None) -> Exposure:
    import numpy as np

    from sottovoce.measure.exposure import exact_exposure, fitted_exposure, sampled_exposure

    if space is None:
        return exact_exposure(canary.values, canary.secret)
    estimate = sampled_exposure if method == "sampled" else fitted_exposure
    others = np.delete(canary.values, canary.secret)
    return estimate(float(canary.values[canary.secret]), others, space)


def _print(exposures: dict[str, Exposure], mean: ExposureSummary | None) -> None:
    width = max(len(name) for name in exposures)
    click.echo(f"{'canary':{width}}  exposure of at most  p-value")
    for name, exposure in exposures.items():
        click.echo(
            f"{name:{width}}  {exposure.exposure_bits:8.2f} {exposure.maximum_bits:10.2f}"
            f"  {exposure.p_value:7.2g}"
        )
    method = next(iter(exposures.values())).method
    click.echo(f"Bits, {method}; a secret that was never seen has 1.44 on average.")
    if mean is not None:
        click.echo(
            f"Mean {mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f}), p-value of all "
            f"{mean.secrets} together {mean.p_value:.2g}"
        )
