"""``sottovoce train``: fit what attackers and anonymisers use to data of your own."""

from __future__ import annotations

import click

from sottovoce.cli.lazy import LazyGroup

COMMANDS = {
    "entities": "A tagger of private words, from tagged text.",
    "encoder": "A speaker encoder, for an attacker that knows the anonymiser.",
    "synthesiser": "The synthesiser and voice pool of the x-vector anonymiser.",
}


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="sottovoce.cli.train_{}",
    epilog="Example: sottovoce train synthesiser corpus/ --pool pool/ --out mine/",
    short_help="Train what the attackers and anonymisers use.",
)
def command() -> None:
    """Train a model on data of your own.

    Encoders and synthesisers need the extra: pip install 'sottovoce[train]'.
    """
