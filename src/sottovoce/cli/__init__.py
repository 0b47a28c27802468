"""The command line: one module a command, imported when the command is called.

Exit codes: 0 done, 1 a limit was exceeded, 2 bad input or usage (one line on standard error),
70 a fault of the program itself, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click
from click.exceptions import NoArgsIsHelpError

from sottovoce.cli.app import app
from sottovoce.core.errors import SottovoceError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; every error becomes one line and a code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign shows another
            stream.reconfigure(errors="replace")
    if "" in (sys.argv[1:] if arguments is None else arguments):  # would count as this folder
        return _say("an argument is empty; is a variable of the shell not set?", 2)
    try:
        outcome = app.main(arguments, prog_name="sottovoce", standalone_mode=False)
        sys.stdout.flush()
    except NoArgsIsHelpError as error:  # a group alone: its help, as it is
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        hint = f"; see {where} --help" if where else ""
        return _say(f"{error.format_message().rstrip('.')}{hint}", 2)
    except SottovoceError as error:
        return _say(str(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", 130)
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # all reading and writing of files has its own message
        return _say(f"output cannot be written ({error.strerror}); check where it goes", 2)
    except MemoryError:
        return _say("not enough memory; docs/file-formats.md tells which inputs are streamed", 2)
    except Exception as error:
        if os.environ.get("SOTTOVOCE_DEBUG"):
            raise
        kind = type(error).__name__
        return _say(
            f"a fault in sottovoce itself ({kind}); run again with SOTTOVOCE_DEBUG=1 to see where, "
            "and please report it",
            70,
        )
    return outcome if isinstance(outcome, int) else 0


def _say(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"sottovoce: {line}", file=sys.stderr)
    return code
