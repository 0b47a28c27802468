"""``sottovoce anonymise destroy``: remove a secret for good."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.options import JsonCommand, json_option, write_json


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce anonymise destroy anonymised.secret",
    short_help="Destroy a secret.",
)
@click.argument("secret", type=click.Path(path_type=Path))
@json_option
def command(secret: Path, json_to: str | None) -> None:
    """Overwrite and remove the file SECRET of an anonymisation.

    Afterwards nobody can repeat its draws, add to it, or find out which id became which. Copies in
    backups have to be destroyed too.
    """
    from sottovoce.anonymise import Secret

    Secret.destroy(secret)
    if json_to is not None:
        write_json({"destroyed": str(secret)}, json_to)
    if json_to != "-":
        click.echo(f"{secret} is destroyed; destroy copies of it in backups too")
