"""``sottovoce score``: scores of listed pairs of embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.linkage import kaldi_options, linkage_from_options, linkage_options
from sottovoce.cli.options import JsonCommand, json_option, progress_bar, provenance, write_json
from sottovoce.core.types import Progress

if TYPE_CHECKING:
    import polars as pl

    from sottovoce.speaker import LinkageFunction
    from sottovoce.speaker.trial_scoring import ListedEmbeddings

COLUMNS = ("score", "label", "enrol", "trial", "enrol_speaker", "trial_speaker")


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce score --enrol e.npz --trial t.npz --trials list.txt --out s.csv",
    short_help="Scores of the pairs of a trial list, from embeddings.",
)
@click.option(
    "--enrol", required=True, type=click.Path(path_type=Path), help="Embeddings of known speakers."
)
@click.option(
    "--trial", required=True, type=click.Path(path_type=Path), help="Embeddings of speech to link."
)
@click.option(
    "--trials",
    required=True,
    type=click.Path(path_type=Path),
    metavar="LIST",
    help="Pairs: `enrol trial target|nontarget` (Kaldi) or `1|0 enrol trial` (VoxCeleb).",
)
@click.option(
    "--out",
    "target",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Scores to write: .parquet, .csv, .tsv, or .txt (enrol trial score).",
)
@kaldi_options
@linkage_options
@json_option
def command(
    enrol: Path,
    trial: Path,
    trials: Path,
    target: Path,
    utt2spk: Path | None,
    scp_root: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
    shrinkage: float | None,
    json_to: str | None,
) -> None:
    """Score every pair of LIST with a linkage function, for `sottovoce measure` or other tools.

    Embeddings are .npz, .parquet, Kaldi's .ark or .scp, or directories; --enrol and --trial may be
    the same. Ids are utterances; an enrolment may also be a speaker, whose recordings are averaged
    except those that the list tries. Embeddings in --train must be of other speakers.
    """
    from sottovoce.corpus.trials import read_trials
    from sottovoce.measure.readers.writing import check_score_target, write_score_table
    from sottovoce.speaker.readers import embedding_files, read_sets
    from sottovoce.speaker.trial_scoring import match_trials

    check_score_target(target, COLUMNS)
    sets = [path for path in (enrol, trial, train) if path is not None]
    enrolment, tried, *training = read_sets(sets, utt2spk=utt2spk, scp_root=scp_root)
    listed = match_trials(read_trials(trials), enrolment, tried)
    function = linkage_from_options(
        linkage, *training, lda=lda, shrinkage=shrinkage, evaluated=(enrolment, tried)
    )
    with progress_bar("scoring") as progress:
        write_score_table(_batches(listed, function, progress), target)
    n_mated = int(listed.trials.mated.sum())
    if json_to is not None:
        files = [*embedding_files(sets, scp_root=scp_root), trials]
        inputs = files if utt2spk is None else [*files, utt2spk]
        result = {
            "n_mated": n_mated,
            "n_nonmated": len(listed.trials) - n_mated,
            "linkage": function.name,
            "enrolments": len(listed.trials.enrol_ids),
            "trials": len(listed.trials.trial_ids),
            "provenance": provenance(inputs, linkage=linkage, lda=lda, shrinkage=shrinkage),
        }
        write_json(result, json_to)
    if json_to != "-":
        click.echo(f"{len(listed.trials):,} scores of {function.name} in {target}")


def _batches(
    listed: ListedEmbeddings, linkage: LinkageFunction, progress: Progress
) -> Iterator[pl.DataFrame]:
    """Rows of the score table, some at a time."""
    import polars as pl

    from sottovoce.speaker.trial_scoring import score_trials

    trials = listed.trials
    sides = {
        "enrol": pl.Series(trials.enrol_ids),
        "trial": pl.Series(trials.trial_ids),
        "enrol_speaker": pl.Series(listed.model_speakers),
        "trial_speaker": pl.Series(listed.tried_speakers),
    }
    for pairs in score_trials(listed, linkage):
        enrol, trial = trials.enrol[pairs.rows], trials.trial[pairs.rows]
        mated = pl.Series(trials.mated[pairs.rows])
        columns = {
            "score": pl.Series(pairs.scores),
            "label": mated.replace_strict({True: "mated", False: "nonmated"}),
            **{name: ids[enrol if "enrol" in name else trial] for name, ids in sides.items()},
        }
        progress(pairs.rows.stop, len(trials))
        yield pl.DataFrame(columns)
