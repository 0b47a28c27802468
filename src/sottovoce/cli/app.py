"""The list of commands. Nothing heavy is imported here, so ``--help`` is instant."""

from __future__ import annotations

from importlib import import_module

import click

from sottovoce import __version__
from sottovoce.registry import did_you_mean

COMMANDS = {
    "measure": "All score measures of one score set.",
    "compare": "Several score sets side by side.",
    "similarity": "Voices before and after anonymisation.",
    "reidentify": "Singling Out, Linkability, rank and top-k over population size.",
    "corpus": "Check and describe a corpus of recordings.",
    "embed": "Speaker embeddings of a corpus.",
}
"""Name and one line of help; the command is ``command`` in the module of that name."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import one command, or say which one was probably meant."""
        if cmd_name not in COMMANDS:
            raise click.UsageError(did_you_mean("command", cmd_name, list(COMMANDS)), ctx)
        command: click.Command = import_module(f"sottovoce.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: sottovoce measure --example",
)
@click.version_option(__version__, prog_name="sottovoce")
def app() -> None:
    """Know what a voice still gives away.

    Measures what an adversary can still learn about who speaks. Every command has --help with an
    example and --json; none of them uses the network.
    """
