"""``--by COLUMN`` of ``measure`` and ``compare``: results by condition, and pooled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from sottovoce.cli.options import provenance, score_inputs, stage_bar, write_json

if TYPE_CHECKING:
    from sottovoce.measure.conditions import ConditionSettings

P = ParamSpec("P")
R = TypeVar("R")


def condition_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--by``, ``--metadata`` and ``--equal-weights`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``by``, a str or None, ``metadata``, a Path or
        None, and ``equal_weights``, a bool.
    """
    for option in (
        click.option(
            "--equal-weights",
            is_flag=True,
            help="With --by: each condition counts the same, as VoicePrivacy averages genders.",
        ),
        click.option(
            "--metadata",
            type=click.Path(path_type=Path),
            help="Table of speakers or utterances (such as a manifest) that has the column of "
            "--by.",
        ),
        click.option(
            "--by",
            metavar="COLUMN",
            help="Results by condition (gender, language, device, …) and their mean by speaker; "
            "a column of the scores or of --metadata.",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class ConditionRequest:
    """What a command was asked for by condition."""

    column: str
    metadata: Path | None
    equal_weights: bool
    measures: Sequence[str] | None
    confidence: float | None
    resamples: int | None
    seed: int
    json_to: str | None

    def provenance(self, inputs: Sequence[Path | None]) -> Mapping[str, object]:
        """Describe inputs and options.

        Parameters
        ----------
        inputs : sequence of Path or None
            Files that were read besides the metadata.
        """
        return provenance(
            [path for path in (*inputs, self.metadata) if path is not None],
            by=self.column,
            equal_weights=self.equal_weights,
            only=self.measures,
            interval=self.confidence,
            resamples=self.resamples,
            seed=self.seed,
        )


def request(
    by: str | None,
    metadata: Path | None,
    equal_weights: bool,
    figures: Path | None,
    measures: Sequence[str] | None,
    confidence: float | None,
    resamples: int | None,
    seed: int,
    json_to: str | None,
) -> ConditionRequest | None:
    """Check the options of a command; None if it was not asked for conditions.

    Parameters
    ----------
    by, metadata, equal_weights, figures, measures, confidence, resamples, seed, json_to
        Values of the options of a command.
    """
    if by is None:
        if metadata is not None:
            raise click.UsageError("--metadata goes with --by; name its column")
        if equal_weights:
            raise click.UsageError("--equal-weights goes with --by; name a column")
        return None
    if figures is not None:
        raise click.UsageError(
            "figures show all trials together; leave --figures out, or --by, or give the file of "
            "one condition"
        )
    return ConditionRequest(
        by, metadata, equal_weights, measures, confidence, resamples, seed, json_to
    )


def measure_conditions(
    requested: ConditionRequest,
    scores: Path,
    trials: Path | None,
    utt2spk: Path | None,
    where: Mapping[str, str] | None = None,
) -> None:
    """Measure one score set by condition.

    Parameters
    ----------
    requested : ConditionRequest
        The options.
    scores, trials, utt2spk : Path or None
        Files of the command.
    where : mapping of str to str, optional
        Shards that are read of a directory.
    """
    from sottovoce.measure.conditions import measure_by_condition
    from sottovoce.measure.readers.conditions import divide_file
    from sottovoce.measure.readers.score_files import read_score_file
    from sottovoce.report.conditions import print_measures_by_condition

    file = read_score_file(scores, trials=trials, utt2spk=utt2spk, where=where)
    divided = divide_file(file, requested.column, requested.metadata)
    with stage_bar() as progress:
        result = measure_by_condition(
            file.source.name,
            divided.sources,
            divided.left_out,
            _settings(requested),
            progress=progress,
        )
    if requested.json_to is not None:
        origin = requested.provenance([*score_inputs(scores, where), trials, utt2spk])
        write_json({**result.to_dict(), "provenance": origin}, requested.json_to)
    if requested.json_to != "-":
        print_measures_by_condition(result)


def compare_conditions(
    requested: ConditionRequest,
    scores: Sequence[Path],
    trials: Sequence[Path | None],
    utt2spk: Path | None,
    names: Sequence[str],
) -> None:
    """Compare several score sets by condition.

    Parameters
    ----------
    requested : ConditionRequest
        The options.
    scores : sequence of Path
        Score files.
    trials : sequence of Path or None
        The trials file of each.
    utt2spk : Path or None
        Speakers of lists of scores.
    names : sequence of str
        What to call the score sets.
    """
    from sottovoce.measure.conditions import compare_by_condition
    from sottovoce.measure.readers.conditions import divide_file, pair_conditions
    from sottovoce.measure.readers.score_files import read_score_file
    from sottovoce.report.conditions import print_comparison_by_condition

    divided = [
        divide_file(
            read_score_file(path, trials=list_of_trials, utt2spk=utt2spk),
            requested.column,
            requested.metadata,
        )
        for path, list_of_trials in zip(scores, trials, strict=True)
    ]
    with stage_bar() as progress:
        result = compare_by_condition(
            pair_conditions(divided, names),
            {name: part.left_out for name, part in zip(names, divided, strict=True)},
            _settings(requested),
            progress=progress,
        )
    if requested.json_to is not None:
        origin = requested.provenance([*scores, *dict.fromkeys(trials), utt2spk])
        write_json({**result.to_dict(), "provenance": origin}, requested.json_to)
    if requested.json_to != "-":
        print_comparison_by_condition(result)


def _settings(requested: ConditionRequest) -> ConditionSettings:
    from sottovoce.measure.conditions import ConditionSettings

    return ConditionSettings(
        requested.column,
        interval=requested.confidence,
        replicates=requested.resamples,
        only=None if requested.measures is None else tuple(requested.measures),
        seed=requested.seed,
        equal_weights=requested.equal_weights,
    )
