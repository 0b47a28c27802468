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
