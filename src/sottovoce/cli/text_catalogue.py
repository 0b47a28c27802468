"""What ``sottovoce anonymise text --list`` shows: strategies, taggers, kinds of text."""

from __future__ import annotations

import click

from sottovoce.cli.options import write_json


def list_choices(json_to: str | None) -> None:
    """Print strategies, taggers and kinds of text, or write them as JSON.

    Parameters
    ----------
    json_to : str or None
        Value of ``--json``.
    """
    from sottovoce.anonymise.text import STRATEGIES, TAGGERS
    from sottovoce.anonymise.text.crf import Weights
    from sottovoce.anonymise.text.known_leaks import measured_kinds
    from sottovoce.anonymise.text.lexicon import LANGUAGES, MULTILINGUAL
    from sottovoce.anonymise.text.taggers import shipped_weights

    strategies = {name: STRATEGIES[name].description for name in STRATEGIES}
    kinds = {name: TAGGERS[name] for name in TAGGERS}
    choices = {
        f"{name}:{kind.argument}" if kind.argument else name: kind.description
        for name, kind in kinds.items()
    }
    cards = [
        (path.name, Weights.load(path).card)
        for lang in (*LANGUAGES, MULTILINGUAL)
        for path in shipped_weights(lang).values()
    ]
    kinds_by_lang = {lang: list(measured_kinds(lang)) for lang in LANGUAGES}
    if json_to is not None:
        taggers = [{"name": name, **card} for name, card in cards]
        listed = {
            "strategies": strategies,
            "taggers": taggers,
            "other_taggers": choices,
            "kinds": kinds_by_lang,
        }
        write_json(listed, json_to)
    if json_to != "-":
        for name, description in strategies.items():
            click.echo(f"{name:<11} {description}")
        for _, card in cards:
            data = " ".join(card["data"])
            click.echo(f"{card['lang']} {card['register']:<8} {card['licence']:<13} {data}")
        for choice, description in choices.items():
            click.echo(f"--tagger {choice:<15} {description}")
        for lang, measured in kinds_by_lang.items():
            click.echo(f"--kind in {lang}: {', '.join(measured)}")
