"""``sottovoce score``: scores of listed pairs of embeddings, or of all pairs of recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.linkage import kaldi_options, linkage_from_options, linkage_options
from sottovoce.cli.options import JsonCommand, json_option, progress_bar, provenance, write_json
from sottovoce.core.types import Progress

if TYPE_CHECKING:
    import polars as pl

    from sottovoce.core.types import Names
    from sottovoce.speaker import Embeddings, LinkageFunction
    from sottovoce.speaker.trial_scoring import ScoredPairs

COLUMNS = ("score", "label", "enrol", "trial", "enrol_speaker", "trial_speaker")


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce score --enrol e.npz --trial t.npz --trials list.txt --out s.csv",
    short_help="Scores of pairs of embeddings: those of a trial list, or all.",
)
@click.option(
    "--enrol", required=True, type=click.Path(path_type=Path), help="Embeddings of known speakers."
)
@click.option(
    "--trial", required=True, type=click.Path(path_type=Path), help="Embeddings of speech to link."
)
@click.option(
    "--trials",
    type=click.Path(path_type=Path),
    metavar="LIST",
    help="Pairs: `enrol trial target|nontarget` (Kaldi) or `1|0 enrol trial` (VoxCeleb). "
    "[default: each recording of --enrol with each of --trial]",
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
    trials: Path | None,
    target: Path,
    utt2spk: Path | None,
    scp_root: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
    shrinkage: float | None,
    json_to: str | None,
) -> None:
    """Score pairs with a linkage function, for `sottovoce measure` or other tools.

    Embeddings are .npz, .parquet, Kaldi's .ark or .scp, or directories; --enrol and --trial may be
    the same. Ids of LIST are utterances; an enrolment may also be a speaker, whose recordings are
    averaged except those that the list tries. Without LIST all pairs of recordings are scored, and
    written some at a time, so there may be many. Embeddings in --train must be of other speakers.
    """
    from sottovoce.measure.readers.writing import check_score_target, write_score_table
    from sottovoce.speaker.readers import embedding_files, read_sets

    check_score_target(target, COLUMNS)
    sets = [path for path in (enrol, trial, train) if path is not None]
    enrolment, tried, *training = read_sets(sets, utt2spk=utt2spk, scp_root=scp_root)
    function = linkage_from_options(
        linkage, *training, lda=lda, shrinkage=shrinkage, evaluated=(enrolment, tried)
    )
    sides = _all_pairs(enrolment, tried) if trials is None else _listed(trials, enrolment, tried)
    counts = _Counts()
    with progress_bar("scoring") as progress:
        write_score_table(_batches(sides, function, counts, progress), target)
    if json_to is not None:
        files = [*embedding_files(sets, scp_root=scp_root), *([] if trials is None else [trials])]
        inputs = files if utt2spk is None else [*files, utt2spk]
        result = {
            "n_mated": counts.mated,
            "n_nonmated": counts.pairs - counts.mated,
            "linkage": function.name,
            "enrolments": len(sides.enrol_ids),
            "trials": len(sides.trial_ids),
            "provenance": provenance(inputs, linkage=linkage, lda=lda, shrinkage=shrinkage),
        }
        write_json(result, json_to)
    if json_to != "-":
        click.echo(f"{counts.pairs:,} scores of {function.name} in {target}")


@dataclass(slots=True)
class _Counts:
    """Pairs that were written."""

    pairs: int = 0
    mated: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Sides:
    """What is compared: ids and speakers of both sides, and the pairs with their scores."""

    enrol_ids: Sequence[str]
    trial_ids: Sequence[str]
    enrol_speakers: Names
    trial_speakers: Names
    pairs: int
    """An upper limit, for the progress bar."""
    score: Callable[[LinkageFunction], Iterator[ScoredPairs]]


def _listed(path: Path, enrol: Embeddings, trial: Embeddings) -> _Sides:
    from sottovoce.corpus.trials import read_trials
    from sottovoce.speaker.trial_scoring import match_trials, score_trials

    listed = match_trials(read_trials(path), enrol, trial)
    return _Sides(
        listed.trials.enrol_ids,
        listed.trials.trial_ids,
        listed.model_speakers,
        listed.tried_speakers,
        len(listed.trials),
        partial(score_trials, listed),
    )


def _all_pairs(enrol: Embeddings, trial: Embeddings) -> _Sides:
    from sottovoce.speaker.trial_scoring import score_recordings

    return _Sides(
        enrol.recording_ids.tolist(),
        trial.recording_ids.tolist(),
        enrol.names[enrol.speakers],
        trial.names[trial.speakers],
        len(enrol) * len(trial),
        partial(score_recordings, enrol, trial),
    )


def _batches(
    sides: _Sides, linkage: LinkageFunction, counts: _Counts, progress: Progress
) -> Iterator[pl.DataFrame]:
    """Rows of the score table, some at a time."""
    import polars as pl

    enrol_ids, trial_ids = pl.Series(sides.enrol_ids), pl.Series(sides.trial_ids)
    enrol_speakers, trial_speakers = (
        pl.Series(sides.enrol_speakers),
        pl.Series(sides.trial_speakers),
    )
    for pairs in sides.score(linkage):
        enrol_speaker, trial_speaker = enrol_speakers[pairs.enrol], trial_speakers[pairs.trial]
        mated = enrol_speaker == trial_speaker
        counts.pairs += len(mated)
        counts.mated += int(mated.sum())
        progress(counts.pairs, sides.pairs)
        yield pl.DataFrame(
            {
                "score": pairs.scores,
                "label": mated.replace_strict({True: "mated", False: "nonmated"}),
                "enrol": enrol_ids[pairs.enrol],
                "trial": trial_ids[pairs.trial],
                "enrol_speaker": enrol_speaker,
                "trial_speaker": trial_speaker,
            }
        )
