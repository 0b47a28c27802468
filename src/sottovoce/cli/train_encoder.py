"""``sottovoce train encoder``: train a speaker encoder on a corpus, or retrain the default one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, seed_option, stage_bar, write_json
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sottovoce.core.types import StageProgress, Vectors
    from sottovoce.corpus import Corpus
    from sottovoce.speaker.encoders import OnnxEncoder
    from sottovoce.training.encoder import TrainedEncoderCard
    from sottovoce.training.encoder_retraining import RetrainedEncoderCard

CAMPPLUS = "campplus"
"""The network that is not trained from scratch."""


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce train encoder anonymised/ --out mine.onnx --steps 5000 · "
    "sottovoce train encoder draw1/ draw2/ --network campplus --out mine.onnx",
    short_help="Train a speaker encoder.",
)
@click.argument("corpora", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Network to write, such as mine.onnx; its card is written beside it, to mine.json.",
)
@click.option(
    "--network",
    type=click.Choice(["ecapa", "xvector", CAMPPLUS]),
    default="ecapa",
    show_default=True,
    help="ECAPA-TDNN or the lighter network of x-vectors from scratch, or the default encoder "
    "CAM++ retrained from its present weights.",
)
@click.option("--width", type=int, help="Channels of a network from scratch. [default: 128]")
@click.option("--steps", type=int, help="Number of batches. [default: 2000; campplus 200]")
@click.option("--batch", default=32, show_default=True, help="Crops per batch.")
@click.option("--seconds", type=float, help="Length of a crop. [default: 3.0; campplus 2.0]")
@click.option(
    "--learning-rate", type=float, help="Highest learning rate. [default: 2e-3; campplus 1e-4]"
)
@click.option(
    "--held-out", type=float, help="Share of speakers to test on. [default: 0.15; campplus 0.2]"
)
@click.option("--split", help="Only utterances of this split, such as train.")
@click.option("--licence", default="", help="Licence of the corpus, for the card.")
@seed_option
@json_option
def command(
    corpora: tuple[Path, ...],
    out: Path,
    split: str | None,
    licence: str,
    json_to: str | None,
    network: str,
    width: int | None,
    steps: int | None,
    batch: int,
    seconds: float | None,
    learning_rate: float | None,
    held_out: float | None,
    seed: int,
) -> None:
    """Train a speaker encoder on CORPORA and write it as ONNX, with a card beside it.

    Give several corpora where the same speakers were anonymised several times: an encoder learns
    what is common to all draws. Some speakers are held out; the card says how well they are told
    apart, and with campplus they decide when training stops. It also names all speakers that were
    used, because they must not be attacked with this encoder. A run that was stopped continues
    where it was. Needs the extra: pip install 'sottovoce[train]'.
    """
    from sottovoce.corpus import open_corpus

    if width is not None and network == CAMPPLUS:
        raise UsageError("--width: the width of campplus is fixed; leave it out", code="bad-usage")
    options = {
        "width": width,
        "steps": steps,
        "batch": batch,
        "seconds": seconds,
        "learning_rate": learning_rate,
        "held_out": held_out,
        "seed": seed,
    }
    given = {name: value for name, value in options.items() if value is not None}
    opened = [open_corpus(path) for path in corpora]
    if split is not None:
        opened = [corpus.select(split=split) for corpus in opened]
    train = _retrain if network == CAMPPLUS else _train
    with stage_bar() as show:
        card = train(opened, out, network, given, licence or "as its data's", show)
    if json_to is not None:
        write_json(card.to_dict(), json_to)
    if json_to != "-":
        click.echo(f"{out}: {_summary(card)}")


def _summary(card: TrainedEncoderCard | RetrainedEncoderCard) -> str:
    steps = getattr(card, "chosen_step", card.settings.steps)
    return (
        f"{len(card.speakers)} speakers, {steps:,} steps; held out: "
        f"{len(card.held_out_speakers)} speakers, EER {card.held_out.eer:.1%}"
    )


def _retrain(
    corpora: Sequence[Corpus],
    out: Path,
    network: str,
    options: dict[str, float | int],
    licence: str,
    show: StageProgress,
) -> RetrainedEncoderCard:
    from sottovoce.training.encoder_retraining import RetrainingSettings, retrain_encoder

    settings = RetrainingSettings(**options)  # type: ignore[arg-type]
    return retrain_encoder(corpora, settings, out, licence=licence, progress=show)


def _train(
    corpora: Sequence[Corpus],
    out: Path,
    network: str,
    options: dict[str, float | int],
    licence: str,
    show: StageProgress,
) -> TrainedEncoderCard:
    from sottovoce.core.records import write_json as write_record
    from sottovoce.speaker.encoders import OnnxEncoder
    from sottovoce.training.encoder import TrainedEncoderCard, split_speakers, train_encoder
    from sottovoce.training.encoder_data import TrainingSettings
    from sottovoce.training.held_out_test import held_out_test

    settings = TrainingSettings(network, **options)  # type: ignore[arg-type]
    train, test = split_speakers(corpora, held_out=settings.held_out, seed=settings.seed)
    train_encoder(train, settings, out, held_out=test, progress=show)
    encoder = OnnxEncoder(out)
    card = TrainedEncoderCard(
        name=out.stem,
        dimension=settings.dimension,
        licence=licence,
        origin=f"{network} trained on {corpora[0].name} by sottovoce train encoder",
        sha256=encoder.card.sha256,
        data=", ".join(corpus.name for corpus in corpora),
        speakers=_speakers(train),
        held_out_speakers=_speakers(test),
        held_out=held_out_test(
            [corpus.utterances for corpus in test],
            [_embed(encoder, corpus, show) for corpus in test],
        ),
        settings=settings,
    )
    write_record(out.with_suffix(".json"), card)
    return card


def _speakers(corpora: Sequence[Corpus]) -> tuple[str, ...]:
    return tuple(sorted({name for corpus in corpora for name in corpus.speakers}))


def _embed(encoder: OnnxEncoder, corpus: Corpus, show: StageProgress) -> Vectors:
    import numpy as np

    from sottovoce.corpus import load_audio

    vectors = []
    for done, utterance in enumerate(corpus, start=1):
        vectors.append(encoder.embed(load_audio(utterance), 16000))
        show("testing", done, len(corpus))
    return np.stack(vectors)
