"""Options that add score measures at given priors, costs and thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click

from sottovoce.cli.options import split_names
from sottovoce.core.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")


def operating_point_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--prior``, ``--costs`` and ``--threshold`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``prior``, ``costs`` and ``threshold``, each a str
        or None, for :func:`chosen_measures`.
    """
    for option in (
        click.option(
            "--threshold",
            metavar="NUMBERS",
            help="Also FMR and FNMR at these thresholds, e.g. 0.5,1.2.",
        ),
        click.option(
            "--costs",
            metavar="MISS,FALSE_ALARM",
            help="Costs of both errors at each --prior. [default: 1,1]",
        ),
        click.option(
            "--prior",
            metavar="NUMBERS",
            help="Also minDCF and DCF at these priors, e.g. 0.001,0.1 (0.05 and 0.01 are always "
            "there).",
        ),
    ):
        command = option(command)
    return command


def chosen_measures(
    only: str | None, prior: str | None, costs: str | None, threshold: str | None
) -> list[str] | None:
    """Return the names of the score measures that options choose.

    Parameters
    ----------
    only, prior, costs, threshold : str or None
        Values of the options of the same names.

    Returns
    -------
    list of str or None
        None for all measures that are computed by default.

    Raises
    ------
    UsageError
        ``wrong-type`` for a list that does not hold numbers, ``missing-option`` for costs without
        a prior.
    """
    names = split_names(only)
    if costs is not None and prior is None:
        raise UsageError("--costs goes with --prior; name a prior too", code="missing-option")
    if prior is None and threshold is None:
        return names
    from sottovoce.measure.catalogue import MEASURES

    both_costs = _split_reals("--costs", costs or "1,1")
    if len(both_costs) != 2:
        raise UsageError(
            f"--costs {costs}: two numbers, of a miss and of a false alarm", code="wrong-type"
        )
    numbers: list[tuple[str, tuple[float, ...]]] = [
        (family, (number, *both_costs))
        for family in ("min_dcf", "dcf")
        for number in _split_reals("--prior", prior or "")
    ]
    numbers += [
        (family, (number,))
        for family in ("fmr_at", "fnmr_at")
        for number in _split_reals("--threshold", threshold or "")
    ]
    added = [MEASURES.member(family, *values).name for family, values in numbers]
    return list(dict.fromkeys([*(MEASURES.defaults() if names is None else names), *added]))


def _split_reals(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise UsageError(
            f"{option} {text}: use numbers separated by commas, e.g. 0.01,0.05", code="wrong-type"
        ) from None
