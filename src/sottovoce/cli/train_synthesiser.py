"""``sottovoce train synthesiser``: the neural anonymisers from a corpus of your own."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.options import JsonCommand, json_option, provenance, stage_bar, write_json


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce train synthesiser corpus/ --pool pool/ --out mine/",
    short_help="The synthesiser and voice pool of the x-vector anonymiser.",
)
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option(
    "--pool",
    required=True,
    type=click.Path(path_type=Path),
    help="Corpus of voices from which pseudo-speakers are made; gender f or m is needed.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--model",
    type=click.Choice(["xvector", "dar"]),
    default="xvector",
    show_default=True,
    help="For which method.",
)
@click.option("--steps", default=20_000, show_default=True, help="Steps of training.")
@click.option("--licence", default="not stated", show_default=True, help="Of the recordings.")
@click.option("--threads", default=1, show_default=True, help="Threads of the training.")
@json_option
def command(
    corpus: Path,
    pool: Path,
    out: Path,
    model: str,
    steps: int,
    licence: str,
    threads: int,
    json_to: str | None,
) -> None:
    """Train on CORPUS and the pool, into a folder: network (ONNX), card (JSON), voice pool.

    Every tenth speaker of CORPUS is held out for the figures on the card. A run that was stopped
    goes on where it was when the same command is given again. Use the results with
    anonymise voice --set synthesiser=OUT/xvector.onnx --set pool=OUT/pool.npz.
    """
    if steps < 1 or threads < 1:
        raise click.UsageError("--steps and --threads must be at least 1")
    try:
        import onnx  # noqa: F401
        import torch
    except ImportError:
        from sottovoce.core.errors import MissingExtraError

        raise MissingExtraError("training", "train") from None
    from sottovoce.corpus import open_corpus
    from sottovoce.speaker.encoders import campplus
    from sottovoce.training.synthesiser_build import build

    torch.set_num_threads(threads)
    with stage_bar() as show:
        card = build(
            open_corpus(corpus),
            open_corpus(pool),
            campplus(),
            out,
            model=model,
            steps=steps,
            licence=licence,
            show=show,
        )
    if json_to is not None:
        made = provenance([out / f"{model}.onnx"], steps=steps, licence=licence)
        write_json({**card, "provenance": made}, json_to)
    if json_to != "-":
        click.echo(f"{out / model}.onnx: {card['held out']}")
