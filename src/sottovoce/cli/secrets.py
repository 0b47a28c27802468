"""Where a command that draws gets its secret from: options, a file apart from the data, a line."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from sottovoce.anonymise import Secret

F = TypeVar("F", bound=Callable[..., Any])


class Drawn(NamedTuple):
    """A secret, and what a person should know about it."""

    secret: Secret
    note: str
    new: Path | None = None
    """Where it is to be saved, if it is in no file yet."""

    def save(self) -> None:
        """Put a new one into its file."""
        if self.new is not None:
            self.secret.save(self.new)

    def forget(self) -> None:
        """Remove a new one again: nothing was drawn with it."""
        if self.new is not None:
            self.new.unlink(missing_ok=True)


def secret_options(command: F) -> F:
    """``--secret FILE`` and ``--reproducible SEED``."""
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
    """Where the secret of a run into ``target`` is: as named, else beside it."""
    if secret_path is not None:
        return secret_path
    named = target.resolve() if target.name in ("", "..") else target
    if not named.name:
        raise click.UsageError(f"{target}: nothing is beside it; name another, or --secret FILE")
    return named.with_name(f"{named.name}.secret")


def find_secret(target: Path, secret_path: Path | None, reproducible: int | None) -> Drawn:
    """As :func:`draw_secret`, and a new one is saved at once."""
    drawn = draw_secret(target, secret_path, reproducible)
    drawn.save()
    return drawn


def draw_secret(target: Path, secret_path: Path | None, reproducible: int | None) -> Drawn:
    """The secret of a run into ``target``: from its seed, from its file, or new."""
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
