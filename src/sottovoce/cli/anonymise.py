"""``sottovoce anonymise``: change voices, words or whole recordings."""

from __future__ import annotations

import click

from sottovoce.cli.lazy import LazyGroup

COMMANDS = {
    "voice": "Make voices hard to recognise.",
    "text": "Find private words in text and replace them.",
    "recording": "Mask private words in sound and text; change the voice.",
    "destroy": "Destroy a secret, so that nobody can repeat its draws.",
}


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="sottovoce.cli.anonymise_{}",
    epilog="Example: sottovoce anonymise voice recordings/ anonymised/ --method mcadams",
    short_help="Anonymise voices, words and whole recordings.",
)
def command() -> None:
    """Anonymise speech: its voice, its words, or both in one recording."""
