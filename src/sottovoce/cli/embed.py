"""``sottovoce embed``: speaker embeddings of a corpus."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.options import (
    JsonCommand,
    column_values,
    json_option,
    progress_bar,
    provenance,
    refuse_ignored,
    where_option,
    write_json,
)


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce embed recordings/ voices.npz",
    short_help="Speaker embeddings of a corpus.",
)
@click.argument("corpus", required=False, type=click.Path(path_type=Path))
@click.argument("target", required=False, type=click.Path(path_type=Path), metavar="OUT.npz")
@click.option(
    "--encoder", default="campplus", show_default=True, help="Name, FILE.onnx or hf:FOLDER."
)
@click.option("--sha256", help="SHA-256 that FILE.onnx (or the weights in FOLDER) must have.")
@click.option("--vad/--no-vad", default=False, show_default=True, help="Remove pauses first.")
@click.option("--split", help="Only utterances of this split, such as enrol or trial.")
@where_option
@click.option("--jobs", default=2, show_default=True, help="Recordings embedded at the same time.")
@engine_options
@click.option("--skip-bad", is_flag=True, help="Leave out recordings that cannot be embedded.")
@click.option(
    "--list", "list_encoders", is_flag=True, help="List encoders with origin and licence."
)
@json_option
def command(
    corpus: Path | None,
    target: Path | None,
    encoder: str,
    sha256: str | None,
    vad: bool,
    split: str | None,
    where: tuple[str, ...],
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
    skip_bad: bool,
    list_encoders: bool,
    json_to: str | None,
) -> None:
    """Turn every recording of CORPUS into a vector that tells who speaks, into OUT.npz.

    CORPUS is a folder with manifest.csv or manifest.parquet, a Kaldi directory, Lhotse manifests, a
    LibriSpeech, VCTK or Common Voice tree, or one with a folder per speaker. A run that was stopped
    continues where it was.

    --vad leaves out what is much quieter than the speech. With the default encoder it does not help
    on clean recordings; it may help where pauses are long and noisy.
    """
    from sottovoce.speaker.encoders import ENCODERS, WithoutPauses, make_encoder

    if list_encoders:
        for name in ENCODERS:
            card = make_encoder(name).card
            click.echo(f"{card.name}: {card.dimension} dimensions, {card.licence}, {card.origin}")
        return
    if corpus is None or target is None:
        raise click.UsageError("give a corpus and the file to write, or --list")
    if jobs < 1:
        raise click.UsageError(f"--jobs {jobs}: must be at least 1")
    if encoder in ENCODERS:  # no file of the user is read
        refuse_ignored(("sha256",), "--encoder FILE.onnx or hf:FOLDER")
    from sottovoce.corpus import open_corpus
    from sottovoce.speaker.corpus_embedding import embed_corpus

    network = make_encoder(encoder, sha256=sha256)
    network = WithoutPauses(network) if vad else network
    recordings = open_corpus(corpus, column_values(where))
    if split is not None:
        splits = sorted({utterance.split for utterance in recordings if utterance.split})
        recordings = recordings.select(split=split)
        if not len(recordings):
            raise click.UsageError(f"--split {split}: the corpus has {', '.join(splits) or 'none'}")
    with (
        engine_of(engine, jobs, worker_memory, scratch) as opened,
        progress_bar("embedding") as progress,
    ):
        summary = embed_corpus(
            recordings, network, target, engine=opened, skip_bad=skip_bad, progress=progress
        )
    for line in summary.bad:
        click.echo(f"left out {line}", err=True)
    if json_to is not None:
        result = {
            "vectors": summary.count,
            "resumed": summary.resumed,
            "left_out": list(summary.bad),
            "provenance": provenance([target], encoder=network.card.to_dict()),
        }
        write_json(result, json_to)
    if json_to != "-":
        click.echo(f"{summary.count:,} vectors of {network.card.name} in {target}")
