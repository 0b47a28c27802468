"""``sottovoce anonymise pool``: the voices of a corpus, to average pseudo-speakers from."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.options import JsonCommand, json_option, progress_bar, provenance, write_json


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce anonymise pool readers/ mine.npz, then "
    "sottovoce anonymise voice in/ out/ --method xvector --set pool=mine.npz",
    short_help="A pool of voices for the x-vector anonymiser.",
)
@click.argument("corpus", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path), metavar="OUT.npz")
@click.option("--guess-gender", is_flag=True, help="Guess the gender of speakers that have none.")
@click.option(
    "--licence",
    default="not stated",
    show_default=True,
    help="Licence of the recordings, for the card.",
)
@json_option
def command(
    corpus: Path, target: Path, guess_gender: bool, licence: str, json_to: str | None
) -> None:
    """Write the voices of CORPUS to OUT.npz: vectors, gender, pitch, clusters, and no names.

    About a minute of each speaker is analysed. At least four women and four men are needed, better
    a hundred of each. A run that was stopped continues where it was. Speakers of the pool should
    have agreed: an average of few voices may resemble one of them.
    """
    from sottovoce.anonymise.voice.pool_build import build_pool
    from sottovoce.corpus import open_corpus
    from sottovoce.speaker.encoders import campplus

    if target.suffix != ".npz":
        raise click.UsageError(f"{target}: the name of a pool must end in .npz")
    recordings = open_corpus(corpus)
    with progress_bar("analysing speakers") as progress:
        pool = build_pool(
            recordings,
            campplus(),
            target,
            licence=licence,
            guess_gender=guess_gender,
            progress=progress,
        )
    women = int((pool.gender == "f").sum())
    clusters = len(set(pool.exemplars.tolist()))
    if json_to is not None:
        result = {
            "speakers": len(pool),
            "women": women,
            "men": len(pool) - women,
            "clusters": clusters,
            "left_out": len(recordings.speakers) - len(pool),
            "provenance": provenance([target], card=pool.card.to_dict()),
        }
        write_json(result, json_to)
    if json_to != "-":
        click.echo(
            f"{len(pool)} voices ({women} women, {len(pool) - women} men) in {clusters} clusters "
            f"in {target}"
        )
