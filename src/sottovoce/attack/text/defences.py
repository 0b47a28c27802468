"""What is done to text before it is released, to be compared under attack.

A defence is a callable from texts to as many texts: a strategy of the text anonymiser, a command
that reads lines and writes lines, or anybody's paraphraser.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Sequence

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import InputError, UsageError

TextDefence = Callable[[Sequence[str]], Sequence[str]]


def strategy_defence(
    strategy: str, *, lang: str = "en", secret: Secret | None = None
) -> TextDefence:
    """Return a defence that replaces private words.

    Parameters
    ----------
    strategy : str
        As in ``sottovoce anonymise text --strategy``.
    lang : str, default "en"
        Language of the texts.
    secret : Secret, optional
        What draws depend on; default a new one.

    Raises
    ------
    UsageError
        With the code ``unknown-name``.
    """
    from sottovoce.anonymise.text import STRATEGIES, TextAnonymiser

    STRATEGIES[strategy]

    def defend(texts: Sequence[str]) -> Sequence[str]:
        anonymiser = TextAnonymiser(lang, strategy=strategy, secret=secret)
        names = [str(number) for number in range(len(texts))]
        return [result.text for result in anonymiser.transform_all(texts, names)]

    return defend


def command_defence(command: str, *, seconds: float = 3600.0) -> TextDefence:
    """Return a defence that is somebody's program: a line in, a line out.

    Parameters
    ----------
    command : str
        Program and arguments, split as a shell does; no shell is started.
    seconds : float, default 3600
        After which it is ended.

    Raises
    ------
    UsageError
        ``wrong-shape`` for an empty command.
    """
    words = shlex.split(command)
    if not words:
        raise UsageError("the command of the paraphraser is empty", code="wrong-shape")

    def defend(texts: Sequence[str]) -> Sequence[str]:
        lines = "".join(f"{' '.join(text.split())}\n" for text in texts)
        try:
            done = subprocess.run(  # noqa: S603
                words, input=lines, capture_output=True, text=True, timeout=seconds, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise InputError(
                f"{words[0]}: the paraphraser failed ({type(error).__name__}); run it by hand",
                code="command-failed",
            ) from None
        changed = done.stdout.splitlines()
        if len(changed) != len(texts):
            raise InputError(
                f"{words[0]}: {len(changed):,} lines for {len(texts):,} texts; a paraphraser "
                "writes one line for each",
                code="mismatch",
            )
        return changed

    return defend
