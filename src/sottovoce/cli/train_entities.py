"""``sottovoce train entities``: train a tagger of private words on tagged text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sottovoce.anonymise.text.conll import Sentence

from sottovoce.cli.options import (
    JsonCommand,
    json_option,
    progress_bar,
    provenance,
    seed_option,
    write_json,
)
from sottovoce.core.errors import UsageError


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce train entities train.conll --lang lv --register spoken --out lv.npz",
    short_help="Train a tagger of private words.",
)
@click.argument("data", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--lang", required=True, help="en de es fr it lv nl pt, or multi for several.")
@click.option(
    "--register",
    type=click.Choice(["spoken", "written"]),
    required=True,
    help="Spoken: lower case, no punctuation. Written: as printed, and lower case too.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option("--licence", default="", help="Licence of the weights, written into the file.")
@seed_option
@json_option
def command(
    data: tuple[Path, ...],
    lang: str,
    register: str,
    out: Path,
    licence: str,
    seed: int,
    json_to: str | None,
) -> None:
    """Train a tagger on DATA: CoNLL files, one word per line with its tag (B-PER, I-PER, O …).

    Use the result with: sottovoce anonymise text --tagger FILE. It takes one core and less than a
    minute for 10,000 utterances. With --lang multi the names of the files begin with the language
    of each, as in de.train.conll. Needs the extra: pip install 'sottovoce[train]'.
    """
    from sottovoce.anonymise.text.crf import TaggerCard
    from sottovoce.anonymise.text.lexicon import MULTILINGUAL, check_language
    from sottovoce.training.taggers import train_multilingual_tagger, train_tagger

    if lang != MULTILINGUAL:
        check_language(lang)
    sentences: dict[str, list[Sentence]] = {}
    for path in data:
        code = _language_of(path) if lang == MULTILINGUAL else lang
        sentences.setdefault(code, []).extend(_read(path, register))
    names = [f"{path.parent.name}/{path.name}" for path in data]
    card = TaggerCard(data=names, licence=licence or "as its data's")
    with progress_bar("training") as progress:
        if lang == MULTILINGUAL:
            weights = train_multilingual_tagger(
                sentences, register, card=card, seed=seed, progress=progress
            )
        else:
            weights = train_tagger(
                sentences[lang], lang, register, card=card, seed=seed, progress=progress
            )
    weights.save(out)
    if json_to is not None:
        result = {
            "sentences": sum(map(len, sentences.values())),
            "attributes": len(weights.rows),
            "card": weights.card,
        }
        sources = provenance(list(data), lang=lang, register=register, seed=seed)
        write_json({**result, "provenance": sources}, json_to)
    if json_to != "-":
        size = out.stat().st_size / 1e6
        click.echo(f"{out}: {lang} {register}, {len(weights.rows):,} attributes, {size:.2f} MB")


def _language_of(path: Path) -> str:
    """Return the language that the name of a file begins with."""
    from sottovoce.anonymise.text.lexicon import LANGUAGES

    lang = path.name.partition(".")[0]
    if lang not in LANGUAGES:
        raise UsageError(
            f"{path}: with --lang multi the name must begin with its language "
            f"({', '.join(LANGUAGES)}), as in de.train.conll",
            code="unknown-name",
        )
    return lang


def _read(path: Path, register: str) -> list[Sentence]:
    """Read the sentences of a file; a written tagger gets capitals where a file has none."""
    from sottovoce.anonymise.text.conll import read_conll
    from sottovoce.anonymise.text.taggers import WRITTEN
    from sottovoce.training.tagger_augmentation import cased_view

    sentences = read_conll(path)
    capitals = any(word[:1].isupper() for sentence in sentences for word in sentence.words)
    if register == WRITTEN and not capitals:
        return [cased_view(sentence) for sentence in sentences]
    return sentences
