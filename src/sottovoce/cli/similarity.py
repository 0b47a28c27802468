"""``sottovoce similarity``: voices before and after anonymisation."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.linkage import kaldi_options, linkage_from_options, linkage_options
from sottovoce.cli.options import (
    JsonCommand,
    figures_option,
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
@kaldi_options
@linkage_options
@figures_option
@interval_options
@json_option
def command(
    original: Path,
    anonymised: Path,
    utt2spk: Path | None,
    scp_root: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
    shrinkage: float | None,
    figures: Path | None,
    interval: float,
    no_interval: bool,
    resamples: int | None,
    seed: int,
    json_to: str | None,
) -> None:
    """Similarity matrices, de-identification DeID and voice distinctiveness G_VD.

    Embeddings are a .npz file (arrays vectors and speakers), a .parquet table, Kaldi's .ark or
    .scp, or a directory of arrays. Recordings are matched by utterance id if both sets have ids,
    else row by row.
    """
    from sottovoce.measure.similarity import similarity
    from sottovoce.speaker.readers import embedding_files, read_sets

    sets = [path for path in (original, anonymised, train) if path is not None]
    before, after, *training = read_sets(sets, utt2spk=utt2spk, scp_root=scp_root)
    with progress_bar("comparing voices") as progress:
        result = similarity(
            before,
            after,
            linkage_from_options(
                linkage, *training, lda=lda, shrinkage=shrinkage, evaluated=(before, after)
            ),
            interval=None if no_interval else interval,
            replicates=1000 if resamples is None else resamples,
            seed=seed,
            progress=progress,
        )
    if figures is not None:
        from sottovoce.report.similarity import write_similarity_figure

        write_similarity_figure(result, figures)
    if json_to is not None:
        files = embedding_files(sets, scp_root=scp_root)
        inputs = files if utt2spk is None else [*files, utt2spk]
        origin = provenance(inputs, linkage=linkage, lda=lda, shrinkage=shrinkage, seed=seed)
        write_json({**result.to_dict(), "provenance": origin}, json_to)
    if json_to != "-":
        from sottovoce.report.similarity import print_similarity

        print_similarity(result)
