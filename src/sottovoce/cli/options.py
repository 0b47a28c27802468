"""Shared parts of the commands: options, the progress bar, and JSON output with provenance."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

import click
from click.core import ParameterSource

from sottovoce.cli.progress_lines import ProgressLines
from sottovoce.core.errors import UsageError
from sottovoce.core.files import fingerprint, write_text
from sottovoce.core.records import JsonObject, dump_json, to_json
from sottovoce.core.types import Progress, StageProgress

if TYPE_CHECKING:
    from rich.progress import TaskID

P = ParamSpec("P")
R = TypeVar("R")

_LIBRARIES = ("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr")


class JsonCommand(click.Command):
    """A command with ``--json [FILE|-]``, where FILE must end in .json.

    Without this rule ``--json scores.npz`` would overwrite the scores.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give a bare ``--json`` the value ``-`` before click parses the arguments.

        Parameters
        ----------
        ctx : click.Context
            Context of the command.
        args : list of str
            Arguments as the user wrote them.
        """
        for i, word in enumerate(args):
            value = args[i + 1] if i + 1 < len(args) else ""
            if word == "--json" and not (value == "-" or value.endswith(".json")):
                args = [*args[:i], "--json=-", *args[i + 1 :]]
            if word.startswith("--json=") and not word.endswith((".json", "=-")):
                raise click.UsageError(f"{word}: name a file that ends in .json, or -", ctx)
        return super().parse_args(ctx, args)


def json_option(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--json [FILE|-]`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``json_to``: ``-``, a file name or None.
    """
    return click.option(
        "--json",
        "json_to",
        metavar="[FILE.json|-]",
        help="Print JSON instead of a table, or write it to FILE.json.",
    )(command)


def seed_option(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--seed`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``seed``, an int.
    """
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of all random draws.",
    )(command)


def confidence_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--interval``, ``--no-interval`` and ``--seed`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``interval``, ``no_interval`` and ``seed``.
    """
    for option in (
        seed_option,
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


def interval_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--resamples`` and the options of :func:`confidence_options` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it also receives ``resamples``, an int or None.
    """
    resamples = click.option(
        "--resamples", type=int, help="Number of resamples behind an interval. [default: 1000]"
    )
    return confidence_options(resamples(command))


def only_option(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--only NAMES`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``only``, a str or None, for :func:`split_names`.
    """
    return click.option(
        "--only", metavar="NAMES", help="Only these measures, e.g. eer,d_ece (default: all)."
    )(command)


def figures_option(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--figures DIR`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``figures``, a Path or None.
    """
    return click.option(
        "--figures",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Write SVG figures to this folder.",
    )(command)


def where_option(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--where COLUMN=VALUE`` to a command, which may be repeated.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``where``, a tuple of str, for
        :func:`column_values`.
    """
    return click.option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Only these of a large table: shards in folders COLUMN=VALUE, rows of a manifest.",
    )(command)


def score_inputs(scores: Path | None, where: Mapping[str, str] | None) -> list[Path]:
    """List the files whose content the provenance of a score set names.

    Parameters
    ----------
    scores : Path or None
        A file or a directory.
    where : mapping of str to str, optional
        Shards that are read of a directory.
    """
    from sottovoce.core.remote_files import is_folder, remote_address
    from sottovoce.measure.readers import parquet_shards

    if scores is None:
        return []
    if is_folder(scores) and (where or remote_address(scores)):
        return parquet_shards(scores, where)
    return [scores]


def split_names(names: str | None) -> list[str] | None:
    """Split a comma-separated list of names.

    Parameters
    ----------
    names : str or None
        Value of an option; None is returned as it is.

    Raises
    ------
    UsageError
        If the list holds no name (``empty``).
    """
    if names is None:
        return None
    parts = [name.strip() for name in names.split(",") if name.strip()]
    if not parts:
        raise UsageError(f"{names!r} holds no name; write e.g. first,second", code="empty")
    return parts


def split_numbers(option: str, text: str) -> tuple[int, ...]:
    """Split a comma-separated list of whole numbers.

    Parameters
    ----------
    option : str
        Name of the option, for the error message.
    text : str
        Its value.

    Raises
    ------
    UsageError
        If a part is not a whole number (``wrong-type``).

    >>> split_numbers("--lengths", "1,3")
    (1, 3)
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"{option} {text}: use whole numbers separated by commas, e.g. 20,100",
            code="wrong-type",
        ) from None


def key_values(
    pairs: Iterable[str],
    option: str = "--set",
    *,
    form: str = "KEY=VALUE",
    example: str = "coefficient=0.8",
) -> dict[str, str]:
    """Read settings that are written as KEY=VALUE.

    Parameters
    ----------
    pairs : iterable of str
        Values of an option that can be repeated.
    option : str, default "--set"
        Its name, for the error message.
    form : str, default "KEY=VALUE"
        How the help of the option writes a pair, for the error message.
    example : str, default "coefficient=0.8"
        A pair for the error message.

    Raises
    ------
    UsageError
        If a pair has no ``=`` or no key (``wrong-shape``).

    >>> key_values(["coefficient=0.8"])
    {'coefficient': '0.8'}
    """
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                f"{option} {pair}: write it as {form}, e.g. {example}", code="wrong-shape"
            )
        settings[key.strip()] = value.strip()
    return settings


def column_values(where: Sequence[str]) -> dict[str, str] | None:
    """Read the pairs of ``--where``; None if there are none.

    Parameters
    ----------
    where : sequence of str
        Pairs that are written as COLUMN=VALUE.

    Raises
    ------
    UsageError
        As :func:`key_values`.
    """
    if not where:
        return None
    return key_values(where, "--where", form="COLUMN=VALUE", example="language=en")


def given_options(names: Iterable[str]) -> list[str]:
    """Return the spelling of those options of the running command that the user wrote.

    Parameters
    ----------
    names : iterable of str
        Names of parameters of the command.
    """
    context = click.get_current_context()
    spelling = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    return [
        spelling[name]
        for name in names
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]


def refuse_ignored(names: Iterable[str], needed: str) -> None:
    """Refuse options that the user wrote and that would have no effect.

    Parameters
    ----------
    names : iterable of str
        Names of parameters of the running command.
    needed : str
        What would give them an effect, such as ``--slice SECONDS``.

    Raises
    ------
    UsageError
        ``missing-option`` for the first of them that the user wrote.
    """
    for option in given_options(names):
        raise UsageError(
            f"{option} goes with {needed}: use that, or leave {option} out",
            code="missing-option",
        )


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Show a progress bar with the time left, as :func:`stage_bar` does.

    Parameters
    ----------
    label : str
        Text before the bar.

    Yields
    ------
    Progress
        Function that is called with the number of finished steps and of all steps.
    """
    with stage_bar() as show:
        yield lambda done, total: show(label, done, total)


@contextmanager
def stage_bar() -> Iterator[StageProgress]:
    """Show one progress bar per stage on a terminal, else a line now and then (standard error).

    Yields
    ------
    StageProgress
        Function that is called with the stage's name, finished steps and all steps. What follows
        `` · `` in a name is shown, but may change without making another bar.
    """
    context = click.get_current_context(silent=True)
    if context is not None and context.find_root().params.get("quiet"):
        yield lambda name, done, total: None
        return
    if not sys.stderr.isatty():
        yield ProgressLines().show
        return
    from rich import progress as rich_progress
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with rich_progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int, total: int) -> None:
            stage = name.partition(" · ")[0]
            if stage not in tasks:
                tasks[stage] = bar.add_task(name, total=total)
            bar.update(tasks[stage], description=name, completed=done, total=total)

        yield show


def write_json(content: Mapping[str, object], json_to: str) -> None:
    """Print JSON, or write it to a file completely or not at all.

    Parameters
    ----------
    content : mapping
        What :func:`sottovoce.core.records.to_json` takes.
    json_to : str
        ``-`` for standard output, else a file name.
    """
    text = dump_json(content, indent=2)
    if json_to == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(json_to), text)


def provenance(inputs: Sequence[Path], **settings: object) -> JsonObject:
    """Describe how a result was made: versions, inputs by SHA-256, settings.

    Parameters
    ----------
    inputs : sequence of Path
        Files or folders that the result depends on.
    **settings
        Settings of the command; anything that :func:`sottovoce.core.records.to_json` takes.
    """
    content = {
        "tool": "sottovoce",
        "version": version("sottovoce"),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in _LIBRARIES},
        "inputs": [fingerprint(path) for path in inputs],
        "settings": settings,
    }
    return cast("JsonObject", to_json(content))
