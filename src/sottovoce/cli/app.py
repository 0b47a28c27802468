"""The list of commands. Nothing heavy is imported here, so ``--help`` is instant."""

from __future__ import annotations

import click

from sottovoce import __version__
from sottovoce.cli.lazy import LazyGroup

COMMANDS = {
    "audit": "Anonymise, attack, measure and report: a whole study.",
    "measure": "All score measures of one score set.",
    "compare": "Several score sets side by side.",
    "similarity": "Voices before and after anonymisation.",
    "reidentify": "Singling Out, Linkability, rank and top-k over population size.",
    "anonymise": "Anonymise voices, words and whole recordings.",
    "attack": "Attack anonymised speech as an adversary would.",
    "align": "When each word and phone was said.",
    "slice": "Cut recordings into short pieces, shuffled and renamed.",
    "serve": "The services over HTTP, with a page for the browser.",
    "embed": "Speaker embeddings of a corpus.",
    "train": "Train models of attackers and anonymisers.",
    "corpus": "Check and describe a corpus of recordings.",
}
"""Name and help line of each command, which is ``command`` in the module of that name."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="sottovoce.cli.{}",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: sottovoce audit",
)
@click.version_option(__version__, prog_name="sottovoce")
def app() -> None:
    """Know what a voice still gives away.

    Anonymises speech, attacks the result as an adversary would, and measures what still leaks
    about the speaker. Every command has --help with an example, and --json if it has a result.
    No command uses the network.
    """
