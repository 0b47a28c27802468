"""Commands that are imported when they are called, so that ``--help`` is instant."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from sottovoce.core.registry import did_you_mean


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called.

    ``table`` has names and one line of help; ``modules`` says how the module of a name is called,
    such as ``sottovoce.cli.anonymise_{}``. Each module has its command under ``command``.
    """

    def __init__(
        self, *args: object, table: Mapping[str, str], modules: str, **settings: object
    ) -> None:
        super().__init__(*args, **settings)  # type: ignore[arg-type]
        self.table = table
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import one command, or say which one was probably meant."""
        if cmd_name not in self.table:
            raise click.UsageError(did_you_mean("command", cmd_name, list(self.table)), ctx)
        command: click.Command = import_module(self.modules.format(cmd_name)).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))
