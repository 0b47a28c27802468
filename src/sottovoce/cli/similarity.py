"""``sottovoce similarity``: voices before and after anonymisation."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.linkage import linkage_from_options, linkage_options
from sottovoce.cli.options import (
    JsonCommand,
    interval_options,
    json_option,
    progress_bar,
    provenance,
    write_json,
)


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce similarity --original o.npz --anonymised p.npz --figures figures/",
    short_help="Voices before and after anonymisation.",
)
@click.option(
    "--original",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Embeddings of the original recordings.",
)
@click.option(
    "--anonymised",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Embeddings of the same recordings, anonymised.",
)
@click.option(
    "--utt2spk", type=click.Path(path_type=Path), help="Speakers of Kaldi .ark embeddings."
)
@linkage_options
@click.option(
    "--figures", type=click.Path(path_type=Path), metavar="DIR", help="Write the heat map there."
)
@interval_options
@json_option
def command(
    original: Path,
    anonymised: Path,
    utt2spk: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
    figures: Path | None,
    interval: float,
    no_interval: bool,
    resamples: int | None,
    seed: int,
    json_to: str | None,
) -> None:
    """Similarity matrices, de-identification DeID and voice distinctiveness G_VD.

    Embeddings are a .npz file (arrays vectors and speakers), a .parquet table, a Kaldi .ark or a
    directory of arrays. Where both sets have utterance ids recordings are matched by id, else row
    by row.
    """
    from sottovoce.measure.similarity import similarity
    from sottovoce.speaker.readers import read_sets

    sets = [path for path in (original, anonymised, train) if path is not None]
    before, after, *taught = read_sets(sets, utt2spk=utt2spk)
    with progress_bar("comparing voices") as progress:
        found = similarity(
            before,
            after,
            linkage_from_options(linkage, *taught, lda=lda, like=before),
            interval=None if no_interval else interval,
            replicates=1000 if resamples is None else resamples,
            seed=seed,
            progress=progress,
        )
    if figures is not None:
        from sottovoce.report.similarity import write_similarity_figure

        write_similarity_figure(found, figures)
    if json_to is not None:
        inputs = sets if utt2spk is None else [*sets, utt2spk]
        made = provenance(inputs, linkage=linkage, seed=seed)
        write_json({**found.to_dict(), "provenance": made}, json_to)
    if json_to != "-":
        from sottovoce.report.similarity import print_similarity

        print_similarity(found)
