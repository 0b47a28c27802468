"""What the commands share: options, the progress bar, JSON output with provenance."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import click

from sottovoce.core.errors import UsageError
from sottovoce.core.files import fingerprint, write_text
from sottovoce.core.types import Progress, StageProgress

F = TypeVar("F", bound=Callable[..., Any])


class JsonCommand(click.Command):
    """A command with ``--json [FILE|-]``, where a FILE must end in .json.

    Without that rule ``--json scores.npz`` would take the scores for the file to be written.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give a bare ``--json`` its value before the usual parsing."""
        for i, word in enumerate(args):
            value = args[i + 1] if i + 1 < len(args) else ""
            if word == "--json" and not (value == "-" or value.endswith(".json")):
                args = [*args[:i], "--json=-", *args[i + 1 :]]
            if word.startswith("--json=") and not word.endswith((".json", "=-")):
                raise click.UsageError(f"{word}: name a file that ends in .json, or -", ctx)
        return super().parse_args(ctx, args)


def json_option(command: F) -> F:
    """``--json [FILE|-]``."""
    return click.option(
        "--json",
        "json_to",
        metavar="[FILE.json|-]",
        help="Print JSON instead of a table, or write it to FILE.json.",
    )(command)


def seed_option(command: F) -> F:
    """``--seed``."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of everything that is drawn.",
    )(command)


def interval_options(command: F) -> F:
    """``--interval``, ``--no-interval``, ``--resamples`` and ``--seed``."""
    for option in (
        seed_option,
        click.option("--resamples", type=int, help="Resamples behind an interval. [default: 1000]"),
        click.option("--no-interval", is_flag=True, help="Leave the intervals out (faster)."),
        click.option(
            "--interval",
            default=0.95,
            show_default=True,
            help="Confidence of the intervals, between 0 and 1.",
        ),
    ):
        command = option(command)
    return command


def only_option(command: F) -> F:
    """``--only NAMES``."""
    return click.option(
        "--only", metavar="NAMES", help="Only these measures, e.g. eer,d_ece (default: all)."
    )(command)


def split_names(names: str | None) -> list[str] | None:
    """Names from a comma-separated list; None stays None."""
    if names is None:
        return None
    found = [name.strip() for name in names.split(",") if name.strip()]
    if not found:
        raise UsageError(f"{names!r} names nothing; write e.g. one,another")
    return found


def key_values(pairs: Iterable[str], option: str = "--set") -> dict[str, str]:
    """Settings of an anonymiser as they are given on the command line.

    >>> key_values(["coefficient=0.8"])
    {'coefficient': '0.8'}
    """
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{option} {pair}: write it as KEY=VALUE, e.g. coefficient=0.8")
        found[key.strip()] = value.strip()
    return found


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """A bar with the time left, on a terminal only and on standard error."""
    with stage_bar() as show:
        yield lambda done, total: show(label, done, total)


@contextmanager
def stage_bar() -> Iterator[StageProgress]:
    """A bar with the time left that names what is being done."""
    if not sys.stderr.isatty():
        yield lambda name, done, total: None
        return
    from rich import progress as rich_progress
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with rich_progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        yield show


def write_json(data: dict[str, Any], to: str) -> None:
    """Print JSON, or write it to a file whole."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if to == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(to), text)


def provenance(inputs: list[Path], **settings: Any) -> dict[str, Any]:
    """What made a result: versions, inputs by SHA-256, settings."""
    libraries = ("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr")
    return {
        "tool": "sottovoce",
        "version": version("sottovoce"),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in libraries},
        "inputs": [fingerprint(path) for path in inputs],
        "settings": settings,
    }
