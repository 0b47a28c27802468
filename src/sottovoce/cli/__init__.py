"""The command line: a module per command, imported when the command is called.

Nothing heavy is imported here, so that ``--help`` is instant.

Exit codes: 0 done, 1 a limit was exceeded, 2 bad input or usage (one line on standard error),
70 a fault of the program itself, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

import click
from click.exceptions import NoArgsIsHelpError

from sottovoce import __version__
from sottovoce.core.errors import SottovoceError
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
        if cmd_name in self.commands:
            return self.commands[cmd_name]
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


COMMANDS = {
    "audit": "Anonymise, attack, measure and report: a whole study.",
    "measure": "All score measures of one score set.",
    "compare": "Several score sets side by side.",
    "calibrate": "Likelihood ratios from scores, by a calibration learnt from others.",
    "similarity": "Voices before and after anonymisation.",
    "reidentify": "Singling Out, Linkability, rank and top-k over population size.",
    "anonymise": "Anonymise voices, words and whole recordings.",
    "attack": "Attack anonymised speech as an adversary would.",
    "reassemble": "Whether slices of text can be put together again.",
    "align": "When each word and phone was said.",
    "slice": "Cut recordings into short pieces, shuffled and renamed.",
    "serve": "The services over HTTP, with a page for the browser.",
    "embed": "Speaker embeddings of a corpus.",
    "score": "Scores of pairs of embeddings: those of a trial list, or all.",
    "train": "Train models of attackers and anonymisers.",
    "corpus": "Check, describe and select from a corpus of recordings.",
    "memorisation": "What a model remembers of its training text.",
    "paper": "A table or figure of a paper, published numbers beside ours.",
}
"""Help line of each command by name. A command is ``command`` in the module of that name; the
groups ``anonymise``, ``train`` and ``memorisation`` are below."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="sottovoce.cli.{}",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: sottovoce audit",
)
@click.version_option(__version__, prog_name="sottovoce")
@click.option("--quiet", is_flag=True, help="Show no progress: sottovoce --quiet COMMAND …")
def app(quiet: bool) -> None:
    """Know what a voice still gives away.

    Anonymises speech, attacks the result as an adversary would, and measures what still leaks
    about the speaker. Every command has --help with an example, and --json if it has a result.
    No command reaches the network unless you name a remote file or cluster.
    """


ANONYMISE_COMMANDS = {
    "voice": "Make voices hard to recognise.",
    "text": "Find private words in text and replace them.",
    "recording": "Mask private words in sound and text; change the voice.",
    "pool": "A pool of voices for the x-vector anonymiser.",
    "destroy": "Destroy a secret, so that nobody can repeat its draws.",
}
TRAIN_COMMANDS = {
    "entities": "A tagger of private words, from tagged text.",
    "encoder": "A speaker encoder, for an attacker that knows the anonymiser.",
    "synthesiser": "The synthesiser and voice pool of the x-vector anonymiser.",
    "recogniser": "A recogniser on original or anonymised speech, tested on both.",
    "private": "Models that hardly depend on any single record or person.",
}

MEMORISATION_COMMANDS = {
    "insert": "Put invented secrets into training text.",
    "exposure": "How far a model has memorised inserted secrets, in bits.",
    "study": "Insert secrets, train models, measure and report: a whole study.",
}


@app.group(
    cls=LazyGroup,
    table=ANONYMISE_COMMANDS,
    modules="sottovoce.cli.anonymise_{}",
    epilog="Example: sottovoce anonymise voice recordings/ anonymised/ --method mcadams",
)
def anonymise() -> None:
    """Anonymise speech: its voice, its words, or both in one recording."""


@app.group(
    cls=LazyGroup,
    table=MEMORISATION_COMMANDS,
    modules="sottovoce.cli.memorisation_{}",
    epilog="Example: sottovoce memorisation exposure candidates.csv",
)
def memorisation() -> None:
    """Find out what a model remembers of its training text."""


@app.group(
    cls=LazyGroup,
    table=TRAIN_COMMANDS,
    modules="sottovoce.cli.train_{}",
    epilog="Example: sottovoce train synthesiser corpus/ --pool pool/ --out mine/",
)
def train() -> None:
    """Train a model on your own data.

    Encoders, synthesisers and recognisers need the extra: pip install 'sottovoce[train]', private
    training needs 'sottovoce[learn]'.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; by default those of the process.
    """
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; every error becomes one line on standard error and an exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; by default those of the process.

    Returns
    -------
    int
        The exit code; see the module.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # show ? for characters that a terminal lacks
            stream.reconfigure(errors="replace")
    words = sys.argv[1:] if arguments is None else arguments
    if "" in words:  # an empty path would mean the current folder
        return _fail("an argument is empty; is a shell variable not set?", 2)
    try:
        outcome = app.main(arguments, prog_name="sottovoce", standalone_mode=False)
        sys.stdout.flush()
    except NoArgsIsHelpError as error:  # a group without a command prints its help
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        hint = f"; see {where} --help" if where else ""
        return _fail(f"{error.format_message().rstrip('.')}{hint}", 2)
    except SottovoceError as error:
        return _fail(str(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", 130)
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # files have their own messages
        return _fail(f"output cannot be written ({error.strerror}); check where it goes", 2)
    except MemoryError:
        return _fail("not enough memory; docs/file-formats.md lists streamed inputs", 2)
    except Exception as error:
        if os.environ.get("SOTTOVOCE_DEBUG"):
            raise
        kind = type(error).__name__
        return _fail(
            f"a fault in sottovoce itself ({kind}); run again with SOTTOVOCE_DEBUG=1 to see where, "
            "and please report it",
            70,
        )
    return outcome if isinstance(outcome, int) else 0


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"sottovoce: {line}", file=sys.stderr)
    return code
