"""``sottovoce slice``: recordings cut into short pieces, shuffled and renamed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from sottovoce.cli.align import open_transcribed
from sottovoce.cli.options import JsonCommand, json_option, progress_bar, write_json
from sottovoce.cli.secrets import find_secret, secret_file, secret_options

if TYPE_CHECKING:
    from sottovoce.anonymise.recording.slice import Remainder

ADVICE = "write a manifest.csv with a column transcript, or cut a corpus with --hard"


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce slice anonymised/ slices/ --seconds 3",
    short_help="Cut recordings into short pieces, shuffled and renamed.",
)
@click.argument("source", metavar="CORPUS", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--seconds", default=3.0, show_default=True, help="Least length of a piece.")
@click.option(
    "--rest",
    type=click.Choice(["merge", "keep", "drop"]),
    default="merge",
    show_default=True,
    help="What to do with a remainder at the end that is too short.",
)
@click.option(
    "--hard",
    type=click.Choice(["first", "all"]),
    help="Cut after --seconds regardless of words: the first piece only, or all.",
)
@click.option(
    "--times",
    type=click.Path(path_type=Path),
    metavar="FILE.ctm",
    help="Word times; without them the recordings are aligned.",
)
@click.option(
    "--lang", default="en", show_default=True, help="Language, if the corpus has none; or auto."
)
@click.option(
    "--no-map",
    is_flag=True,
    help="Do not keep OUT.map.csv, which tells whoever attacks the slices where they came from.",
)
@secret_options
@json_option
def command(
    source: Path,
    target: Path,
    seconds: float,
    rest: Remainder,
    hard: Literal["first", "all"] | None,
    times: Path | None,
    lang: str,
    no_map: bool,
    secret_path: Path | None,
    reproducible: int | None,
    json_to: str | None,
) -> None:
    """Cut the recordings of CORPUS at word boundaries into pieces of at least --seconds, into OUT.

    The pieces get new names, an order that depends on a secret only, and no speaker, so that nobody
    can put them together again. Recordings that cannot be aligned are left out and counted. This
    command masks no words and changes no voices: for that see sottovoce anonymise recording.
    Beside OUT, and not for whoever gets the slices, go OUT.secret and OUT.map.csv; sottovoce attack
    --map takes the map to find out whether the slices still tell who speaks.
    """
    from sottovoce.anonymise.recording.slice import SliceSettings, check_seconds, slice_corpus
    from sottovoce.anonymise.recording.slice_map import map_file
    from sottovoce.core.atomic_directory import delete_on_failure
    from sottovoce.core.errors import InputError
    from sottovoce.core.files import check_exists
    from sottovoce.corpus import open_corpus

    check_seconds(seconds)
    corpus = open_corpus(source) if hard else open_transcribed(source, None, advice=ADVICE)
    if times is not None:
        check_exists(times)
    settings = SliceSettings(seconds, rest, hard, lang)
    map_path = map_file(target)
    if map_path.exists():
        raise InputError(
            f"{map_path}: exists, the map of other slices; name another OUT", code="exists"
        )
    with (
        delete_on_failure(secret_file(target, secret_path)),
        delete_on_failure(map_path),
        progress_bar("cutting") as progress,
    ):
        drawn = find_secret(target, secret_path, reproducible)
        result = slice_corpus(
            corpus,
            target,
            settings,
            secret=drawn.secret,
            times=times,
            map_path=None if no_map else map_path,
            progress=progress,
        )
    if json_to is not None:
        write_json({**result.to_dict(), "out": str(target)}, json_to)
    if json_to != "-":
        click.echo(
            f"{result.pieces:,} pieces of {result.utterances:,} recordings in {target}; "
            f"{len(result.left_out):,} recordings left out"
        )
    for entry in result.left_out:
        click.echo(f"left out {entry.utterance}: {entry.why}", err=True)
    click.echo(drawn.note, err=True)
    if not no_map:
        click.echo(
            f"which slice came from which recording is in {map_path}: keep it as you keep the "
            "secret, and delete it with the secret",
            err=True,
        )
