"""``sottovoce train``: train the models of attackers and anonymisers on your own data."""

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
    short_help="Train models of attackers and anonymisers.",
)
def command() -> None:
    """Train a model on your own data.

    Encoders and synthesisers need the extra: pip install 'sottovoce[train]'.
    """
