"""``sottovoce train encoder``: a speaker encoder from a corpus of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.options import JsonCommand, json_option, progress_bar, seed_option, write_json

if TYPE_CHECKING:
    from sottovoce.corpus import Corpus
    from sottovoce.speaker.encoders import OnnxEncoder


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
    help="Network to write, such as mine.onnx; its card goes beside it, into mine.json.",
)
@click.option(
    "--network",
    type=click.Choice(["ecapa", "xvector"]),
    default="ecapa",
    show_default=True,
    help="ECAPA-TDNN, or the lighter network of x-vectors.",
)
@click.option("--width", default=128, show_default=True, help="Channels of the network.")
@click.option("--steps", default=2000, show_default=True, help="Batches to learn from.")
@click.option("--batch", default=32, show_default=True, help="Crops in a batch.")
@click.option("--seconds", default=3.0, show_default=True, help="Length of a crop.")
@click.option("--learning-rate", default=2e-3, show_default=True, help="At its highest.")
@click.option("--held-out", default=0.15, show_default=True, help="Share of speakers to test on.")
@click.option("--split", help="Only utterances of this split, such as train.")
@click.option("--licence", default="", help="Under which the corpus may be used, for the card.")
@seed_option
@json_option
def command(
    corpus: Path,
    out: Path,
    split: str | None,
    licence: str,
    json_to: str | None,
    **settings: Any,
) -> None:
    """Train a speaker encoder on CORPUS and write it as ONNX, with a card beside it.

    Some speakers are held out; how well they are told apart is in the card, and so are the names of
    all speakers seen, since an attack is only worth its figures on others. A run that was stopped
    goes on where it was. Needs the extra: pip install 'sottovoce[train]'.
    """
    from sottovoce.core.files import write_text
    from sottovoce.corpus import open_corpus
    from sottovoce.speaker.encoders import OnnxEncoder
    from sottovoce.training.encoder import TrainingSettings, split_speakers, train_encoder

    chosen = TrainingSettings(**settings)
    voices = open_corpus(corpus)
    voices = voices.select(split=split) if split is not None else voices
    train, held_out = split_speakers(voices, chosen)
    with progress_bar("training") as progress:
        train_encoder(train, chosen, out, progress=progress)
    encoder = OnnxEncoder(out)
    with progress_bar("testing") as progress:
        tested = _held_out_eer(encoder, held_out, progress)
    card = {
        "name": out.stem,
        "dimension": chosen.dimension,
        "licence": licence or "as its data's",
        "origin": f"{chosen.network} trained on {voices.name} by sottovoce train encoder",
        "sha256": encoder.card.sha256,
        "data": voices.name,
        "speakers": list(train.speakers),
        "held_out_speakers": list(held_out.speakers),
        "held_out": tested,
        "settings": chosen.to_dict(),
    }
    write_text(out.with_suffix(".json"), _as_json(card))
    if json_to is not None:
        write_json(card, json_to)
    if json_to != "-":
        click.echo(
            f"{out}: {len(train.speakers)} speakers, {chosen.steps:,} steps; held out: "
            f"{len(held_out.speakers)} speakers, EER {tested['eer']:.1%}"
        )


def _held_out_eer(encoder: OnnxEncoder, held_out: Corpus, progress: Any) -> dict[str, Any]:
    """How often held-out speakers are confused: EER of the cosine over all pairs of utterances."""
    import numpy as np

    from sottovoce.corpus import load_audio
    from sottovoce.measure import Scores, eer

    vectors = []
    for i, one in enumerate(held_out, start=1):
        vectors.append(encoder.embed(load_audio(one), 16000))
        progress(i, len(held_out))
    table = np.stack(vectors).astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    names = np.array([one.speaker for one in held_out])
    first, second = np.triu_indices(len(names), 1)
    scores, same = (table @ table.T)[first, second], names[first] == names[second]
    found = eer(Scores(mated=scores[same], nonmated=scores[~same]))
    return {"eer": found, "n_mated": int(same.sum()), "n_nonmated": int((~same).sum())}


def _as_json(card: dict[str, Any]) -> str:
    import json

    return json.dumps(card, indent=2, ensure_ascii=False) + "\n"
