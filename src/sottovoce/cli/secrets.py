"""The secret of commands that draw: options, the file that holds it, and a note for the user."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from sottovoce.anonymise import Secret

P = ParamSpec("P")
R = TypeVar("R")


class Drawn(NamedTuple):
    """A secret, and a note for the user about it."""

    secret: Secret
    note: str
    new: Path | None = None
    """File to save it to; None if it is in a file already or follows from a public seed."""

    def save(self) -> None:
        """Save a new secret to its file."""
        if self.new is not None:
            self.secret.save(self.new)

    def forget(self) -> None:
        """Delete the file of a new secret, because nothing was drawn with it."""
        if self.new is not None:
            self.new.unlink(missing_ok=True)


def secret_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--secret FILE`` and ``--reproducible SEED`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``secret_path`` and ``reproducible``.
    """
    for option in (
        click.option(
            "--reproducible",
            type=click.IntRange(min=0),
            metavar="SEED",
            help="Public seed instead of a secret: for studies; the record says so.",
        ),
        click.option(
            "--secret",
            "secret_path",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="File of the secret that keys the draws; created if new. [default: OUT.secret]",
        ),
    ):
        command = option(command)
    return command


def secret_file(target: Path, secret_path: Path | None) -> Path:
    """File of the secret of a run.

    Parameters
    ----------
    target : Path
        File or folder that the run writes; the secret is beside it by default.
    secret_path : Path or None
        Value of ``--secret``.
    """
    if secret_path is not None:
        return secret_path
    named = target.resolve() if target.name in ("", "..") else target
    if not named.name:
        raise click.UsageError(f"{target}: no file can be beside it; use --secret FILE")
    return named.with_name(f"{named.name}.secret")


def find_secret(target: Path, secret_path: Path | None, reproducible: int | None) -> Drawn:
    """As :func:`draw_secret`, but a new secret is saved at once.

    Parameters
    ----------
    target, secret_path, reproducible
        As in :func:`draw_secret`.
    """
    drawn = draw_secret(target, secret_path, reproducible)
    drawn.save()
    return drawn


def draw_secret(target: Path, secret_path: Path | None, reproducible: int | None) -> Drawn:
    """Secret of a run: from a public seed, from its file, or newly generated.

    Parameters
    ----------
    target : Path
        File or folder that the run writes.
    secret_path : Path or None
        Value of ``--secret``.
    reproducible : int or None
        Value of ``--reproducible``, a public seed.

    Raises
    ------
    click.UsageError
        If both options are given, or the secret would be inside ``target``.
    """
    from sottovoce.anonymise import Secret

    if reproducible is not None:
        if secret_path is not None:
            raise click.UsageError("--secret and --reproducible exclude each other; choose one")
        return Drawn(
            Secret.reproducible(reproducible),
            f"drawn from the public seed {reproducible}: whoever knows it knows the draws",
        )
    path = secret_file(target, secret_path)
    if path.resolve().is_relative_to(target.resolve()):
        raise click.UsageError(f"--secret {path}: within {target}; keep the secret apart from it")
    if path.exists():
        return Drawn(Secret.load(path), f"drawn with the secret in {path}")
    return Drawn(
        Secret.generate(),
        f"the secret behind the draws is in {path}: keep it apart from the data to go on later, "
        f"or destroy it: sottovoce anonymise destroy {shlex.quote(str(path))}",
        path,
    )
