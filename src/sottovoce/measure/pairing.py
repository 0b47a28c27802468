"""Which trials of several score sets can be compared.

Two anonymisers are attacked with the same speakers, often with the same trials. What makes a
speaker easy to recognise then moves both figures, and cancels in their difference if both sets
are resampled with the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.measure.resampling import (
    MIN_SPEAKERS,
    by_speaker,
)
from sottovoce.measure.scores import Scores, ScoreSource, Speakers

PairedBy = Literal["speaker", "trial", "nothing"]
"""What is resampled together."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedScores:
    """Score sets limited to what they have in common; made by :func:`pair_sets`."""

    names: tuple[str, ...]
    """What to call the sets, all different."""
    sets: tuple[ScoreSource, ...]
    """Paired by speaker, they number speakers alike; by trial, trials stand in the same order."""
    paired_by: PairedBy
    same_trials: bool
    left_out: tuple[int, ...]
    """Trials of each set that are not compared."""
    warnings: tuple[str, ...] = ()


def pair_sets(
    sets: Sequence[ScoreSource], *, names: Sequence[str] | None = None, same_trials: bool = False
) -> PairedScores:
    """Find what score sets have in common, so that they can be resampled together.

    Parameters
    ----------
    sets : sequence of ScoreSource
        Two or more score sets. Sets with named speakers are limited to the speakers in all of them.
    names : sequence of str, optional
        What to call the sets; default their own names, which must then differ.
    same_trials : bool, default False
        Whether the sets hold scores of the same trials in the same order.

    Returns
    -------
    PairedScores
        Paired by speaker if at least five common speakers have mated trials, else by trial if the
        trials are the same, else by nothing, with a warning.

    Raises
    ------
    InputError
        ``too-few`` for a single set, ``duplicate-name`` for two sets of one name, ``mismatch`` for
        sets of different sizes that are said to hold the same trials.

    Examples
    --------
    >>> names = list("abcde")
    >>> who = Speakers.from_names(names, names, list("bcdea"))
    >>> sets = [Scores([1.0] * 5, [0.0] * 5, speakers=who) for _ in range(2)]
    >>> pair_sets(sets, names=["a", "b"]).paired_by
    'speaker'
    """
    if len(sets) < 2:
        raise InputError("a comparison needs two score sets or more", code="too-few")
    names = tuple(scores.name for scores in sets) if names is None else tuple(names)
    if len(set(names)) < len(sets):
        raise InputError(
            "two score sets of one name; give each its name by the argument names",
            code="duplicate-name",
        )
    if same_trials:
        _check_sizes(sets)
    common = _with_common_speakers(sets, same_trials)
    if common is not None and all(map(by_speaker, common)):
        return _paired(names, sets, common, "speaker", same_trials)
    if same_trials and all(isinstance(scores, Scores) for scores in sets):
        return _paired(names, sets, sets, "trial", same_trials)
    known = all(scores.speakers is not None for scores in sets)
    reason = f"fewer than {MIN_SPEAKERS} speakers with mated trials are" if known else "nothing is"
    warning = (
        f"{reason} known to be common to these score sets: they were resampled separately, so "
        "intervals of differences are wider than they need to be; give columns enrol_speaker and "
        "trial_speaker, or enrol and trial, in every set"
    )
    return PairedScores(names, tuple(sets), "nothing", False, (0,) * len(sets), (warning,))


def _check_sizes(sets: Sequence[ScoreSource]) -> None:
    sizes = [(len(scores.mated), scores.n_nonmated) for scores in sets]
    if len(set(sizes)) > 1:
        have = " and ".join(f"{mated:,} + {nonmated:,}" for mated, nonmated in sizes)
        raise InputError(
            f"score sets of the same trials have the same sizes, but these hold {have} trials",
            code="mismatch",
        )


def _paired(
    names: tuple[str, ...],
    sets: Sequence[ScoreSource],
    compared: Sequence[ScoreSource],
    paired_by: PairedBy,
    same_trials: bool,
) -> PairedScores:
    left_out = tuple(
        count_trials(whole) - count_trials(part) for whole, part in zip(sets, compared, strict=True)
    )
    warnings = [
        f"{name}: {count:,} of {count_trials(whole):,} trials are not compared, because the other "
        "score sets do not have their speakers"
        for name, whole, count in zip(names, sets, left_out, strict=True)
        if count
    ]
    return PairedScores(names, tuple(compared), paired_by, same_trials, left_out, tuple(warnings))


def count_trials(scores: ScoreSource) -> int:
    """Return the number of mated and non-mated trials.

    Parameters
    ----------
    scores : ScoreSource
        The scores.
    """
    return len(scores.mated) + scores.n_nonmated


def _with_common_speakers(sets: Sequence[ScoreSource], same_trials: bool) -> list[Scores] | None:
    """Limit the sets to the speakers in all of them; None if there are none, or no names."""
    scores = [source for source in sets if isinstance(source, Scores)]
    speakers = [source.speakers for source in scores if source.speakers is not None]
    if len(speakers) < len(sets):
        return None
    if same_trials and all(_same(speakers[0], other) for other in speakers[1:]):
        return scores
    names = [who.names for who in speakers if who.names is not None]
    if len(names) < len(sets):
        return None
    common: NDArray[np.str_] = reduce(np.intersect1d, names)
    limited = [_limit(source, common) for source in scores]
    return [part for part in limited if part is not None] if None not in limited else None


def _same(who: Speakers, other: Speakers) -> bool:
    """Whether two sets number the speakers of their trials alike."""
    return who.count == other.count and all(
        np.array_equal(getattr(who, side), getattr(other, side))
        for side in ("mated", "nonmated_enrol", "nonmated_trial")
    )


def _limit(scores: Scores, names: NDArray[np.str_]) -> Scores | None:
    """Trials of the named speakers, numbered in the order of the names; None if none are left."""
    who = scores.speakers
    if who is None or who.names is None or not len(names):
        return None
    if np.array_equal(who.names, names):
        return scores
    number = np.full(who.count, -1, np.int64)
    number[np.searchsorted(who.names, names)] = np.arange(len(names))
    mated, enrol, trial = (
        number[side] for side in (who.mated, who.nonmated_enrol, who.nonmated_trial)
    )
    keep_mated, keep_nonmated = mated >= 0, (enrol >= 0) & (trial >= 0)
    if not (keep_mated.any() and keep_nonmated.any()):
        return None
    return Scores(
        scores.mated[keep_mated],
        scores.nonmated[keep_nonmated],
        speakers=Speakers(
            mated[keep_mated], enrol[keep_nonmated], trial[keep_nonmated], len(names), names
        ),
        name=scores.name,
    )


def single_set(scores: ScoreSource, name: str) -> PairedScores:
    """Wrap one score set, so that it can be resampled together with its other conditions.

    Parameters
    ----------
    scores : ScoreSource
        The score set.
    name : str
        What to call it.
    """
    paired_by: PairedBy = (
        "speaker" if isinstance(scores, Scores) and by_speaker(scores) else "nothing"
    )
    return PairedScores((name,), (scores,), paired_by, True, (0,))


def join_conditions(conditions: Sequence[PairedScores]) -> PairedScores | None:
    """Number the speakers of several conditions alike, so that they are resampled together.

    Parameters
    ----------
    conditions : sequence of PairedScores
        Score sets of each condition.

    Returns
    -------
    PairedScores or None
        All sets, condition by condition; None where conditions share no speakers, or speakers are
        not known by name, and each condition is resampled for itself.
    """
    if len(conditions) < 2 or any(paired.paired_by != "speaker" for paired in conditions):
        return None
    names = [_names_of(paired) for paired in conditions]
    if any(not len(known) for known in names):
        return None
    everybody = np.unique(np.concatenate(names))
    if len(everybody) == sum(map(len, names)):
        return None
    sets = [
        _renumber(scores, everybody)
        for paired in conditions
        for scores in paired.sets
        if isinstance(scores, Scores)
    ]
    numbers = tuple(map(str, range(len(sets))))
    return PairedScores(numbers, tuple(sets), "speaker", False, (0,) * len(sets))


def _names_of(paired: PairedScores) -> NDArray[np.str_]:
    """Names of the speakers of score sets that number them alike; none if they are not known."""
    who = paired.sets[0].speakers
    return np.array([], np.str_) if who is None or who.names is None else who.names


def _renumber(scores: Scores, names: NDArray[np.str_]) -> Scores:
    """The same scores, with speakers numbered in the order of these names."""
    who = scores.speakers
    if who is None or who.names is None:
        return scores
    number = np.searchsorted(names, who.names)
    speakers = Speakers(
        number[who.mated],
        number[who.nonmated_enrol],
        number[who.nonmated_trial],
        len(names),
        names,
    )
    return Scores(scores.mated, scores.nonmated, speakers=speakers, name=scores.name)
