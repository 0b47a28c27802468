"""``sottovoce train synthesiser``: train the networks of the neural voice anonymisers."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.options import JsonCommand, json_option, provenance, stage_bar, write_json


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce train synthesiser corpus/ --pool pool/ --out mine/",
    short_help="Train the synthesiser and voice pool of the neural anonymisers.",
)
@click.argument(
    "corpora", metavar="CORPUS...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--pool",
    required=True,
    type=click.Path(path_type=Path),
    help="Corpus of the voices of pseudo-speakers; must have gender f or m.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--model",
    type=click.Choice(["xvector", "dar"]),
    default="xvector",
    show_default=True,
    help="Method that the network is for.",
)
@click.option("--steps", default=20_000, show_default=True, help="Training steps.")
@click.option(
    "--listener-steps",
    default=3_000,
    show_default=True,
    help="Training steps of the listener, which judges whether words are kept.",
)
@click.option(
    "--held-out",
    metavar="SPEAKER",
    multiple=True,
    help="Speaker that is not trained on; repeat it for more. Default: every tenth.",
)
@click.option(
    "--licence",
    default="not stated",
    show_default=True,
    help="Licence of the recordings, for the card.",
)
@click.option("--threads", default=1, show_default=True, help="Threads used for training.")
@json_option
def command(
    corpora: tuple[Path, ...],
    pool: Path,
    out: Path,
    model: str,
    steps: int,
    listener_steps: int,
    held_out: tuple[str, ...],
    licence: str,
    threads: int,
    json_to: str | None,
) -> None:
    """Train on corpora and the pool; write network (ONNX), card (JSON) and voice pool to a folder.

    Held-out speakers give the figures on the card. The learning curves are written as CSV files. If
    a run was stopped, the same command continues it. Use the results with
    anonymise voice --set synthesiser=OUT/xvector.onnx --set pool=OUT/pool.npz.
    """
    if min(steps, listener_steps, threads) < 1:
        raise click.UsageError("--steps, --listener-steps and --threads must be at least 1")
    try:
        import onnx  # noqa: F401
        import torch
    except ImportError:
        from sottovoce.core.errors import MissingExtraError

        raise MissingExtraError("training", "train") from None
    from sottovoce.corpus import open_corpus
    from sottovoce.speaker.encoders import campplus
    from sottovoce.training.synthesiser_build import train_synthesiser

    torch.set_num_threads(threads)
    with stage_bar() as show:
        card = train_synthesiser(
            [open_corpus(corpus) for corpus in corpora],
            open_corpus(pool),
            campplus(),
            out,
            model=model,
            steps=steps,
            listener_steps=listener_steps,
            licence=licence,
            held_out=held_out,
            show=show,
        )
    if json_to is not None:
        origin = provenance([out / f"{model}.onnx"], steps=steps, licence=licence)
        write_json({**card, "provenance": origin}, json_to)
    if json_to != "-":
        click.echo(f"{out / model}.onnx: {card['held out']}")
