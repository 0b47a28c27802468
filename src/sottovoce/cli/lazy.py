"""A group of commands that are imported only when they are called, so ``--help`` is instant."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from sottovoce.core.registry import did_you_mean


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called.

    Parameters
    ----------
    table : mapping of str to str
        Help line of each command by name, in the order of the list.
    modules : str
        Module of a command with ``{}`` for its name, such as ``sottovoce.cli.anonymise_{}``. The
        module holds the command as ``command``.
    """

    def __init__(
        self, *args: object, table: Mapping[str, str], modules: str, **settings: object
    ) -> None:
        super().__init__(*args, **settings)  # type: ignore[arg-type]
        self.table = table
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, in the order of the table.

        Parameters
        ----------
        ctx : click.Context
            Context of the group.
        """
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import a command.

        Parameters
        ----------
        ctx : click.Context
            Context of the group.
        cmd_name : str
            Name that the user wrote.

        Raises
        ------
        click.UsageError
            If no command has that name; the message suggests the nearest one.
        """
        if cmd_name not in self.table:
            raise click.UsageError(did_you_mean("command", cmd_name, list(self.table)), ctx)
        command: click.Command = import_module(self.modules.format(cmd_name)).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them.

        Parameters
        ----------
        ctx : click.Context
            Context of the group.
        formatter : click.HelpFormatter
            Where the list is written.
        """
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))
