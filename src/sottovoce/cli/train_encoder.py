"""``sottovoce train encoder``: train a speaker encoder on a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, progress_bar, seed_option, write_json

if TYPE_CHECKING:
    from sottovoce.core.types import Progress
    from sottovoce.corpus import Corpus
    from sottovoce.speaker.encoders import OnnxEncoder
    from sottovoce.training.encoder import HeldOutTest


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce train encoder anonymised/ --out mine.onnx --steps 5000",
    short_help="Train a speaker encoder.",
)
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Network to write, such as mine.onnx; its card is written beside it, to mine.json.",
)
@click.option(
    "--network",
    type=click.Choice(["ecapa", "xvector"]),
    default="ecapa",
    show_default=True,
    help="ECAPA-TDNN, or the lighter network of x-vectors.",
)
@click.option("--width", default=128, show_default=True, help="Channels of the network.")
@click.option("--steps", default=2000, show_default=True, help="Number of batches.")
@click.option("--batch", default=32, show_default=True, help="Crops per batch.")
@click.option("--seconds", default=3.0, show_default=True, help="Length of a crop in seconds.")
@click.option("--learning-rate", default=2e-3, show_default=True, help="Highest learning rate.")
@click.option("--held-out", default=0.15, show_default=True, help="Share of speakers to test on.")
@click.option("--split", help="Only utterances of this split, such as train.")
@click.option("--licence", default="", help="Licence of the corpus, for the card.")
@seed_option
@json_option
def command(
    corpus: Path,
    out: Path,
    split: str | None,
    licence: str,
    json_to: str | None,
    network: str,
    width: int,
    steps: int,
    batch: int,
    seconds: float,
    learning_rate: float,
    held_out: float,
    seed: int,
) -> None:
    """Train a speaker encoder on CORPUS and write it as ONNX, with a card beside it.

    Some speakers are held out; the card says how well they are told apart. It also names all
    speakers that were used, because they must not be attacked with this encoder. A run that was
    stopped continues where it was. Needs the extra: pip install 'sottovoce[train]'.
    """
    from sottovoce.core.records import write_json as write_record
    from sottovoce.corpus import open_corpus
    from sottovoce.speaker.encoders import OnnxEncoder
    from sottovoce.training.encoder import TrainedEncoderCard, split_speakers, train_encoder
    from sottovoce.training.encoder_data import TrainingSettings

    settings = TrainingSettings(
        network=network,
        width=width,
        steps=steps,
        batch=batch,
        seconds=seconds,
        learning_rate=learning_rate,
        held_out=held_out,
        seed=seed,
    )
    recordings = open_corpus(corpus)
    recordings = recordings.select(split=split) if split is not None else recordings
    train, test = split_speakers(recordings, settings)
    with progress_bar("training") as progress:
        train_encoder(train, settings, out, progress=progress)
    encoder = OnnxEncoder(out)
    with progress_bar("testing") as progress:
        test_result = _held_out_test(encoder, test, progress)
    card = TrainedEncoderCard(
        name=out.stem,
        dimension=settings.dimension,
        licence=licence or "as its data's",
        origin=f"{settings.network} trained on {recordings.name} by sottovoce train encoder",
        sha256=encoder.card.sha256,
        data=recordings.name,
        speakers=tuple(train.speakers),
        held_out_speakers=tuple(test.speakers),
        held_out=test_result,
        settings=settings,
    )
    write_record(out.with_suffix(".json"), card)
    if json_to is not None:
        write_json(card.to_dict(), json_to)
    if json_to != "-":
        click.echo(
            f"{out}: {len(train.speakers)} speakers, {settings.steps:,} steps; held out: "
            f"{len(test.speakers)} speakers, EER {test_result.eer:.1%}"
        )


def _held_out_test(encoder: OnnxEncoder, corpus: Corpus, progress: Progress) -> HeldOutTest:
    """EER of the cosine over all pairs of utterances of held-out speakers."""
    import numpy as np

    from sottovoce.corpus import load_audio
    from sottovoce.measure import Scores, eer
    from sottovoce.training.encoder import HeldOutTest

    vectors = []
    for done, utterance in enumerate(corpus, start=1):
        vectors.append(encoder.embed(load_audio(utterance), 16000))
        progress(done, len(corpus))
    table = np.stack(vectors).astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    names = np.array([utterance.speaker for utterance in corpus])
    first, second = np.triu_indices(len(names), 1)
    scores, mated = (table @ table.T)[first, second], names[first] == names[second]
    rate = eer(Scores(mated=scores[mated], nonmated=scores[~mated]))
    return HeldOutTest(rate, int(mated.sum()), int((~mated).sum()))
