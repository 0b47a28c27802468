"""Attacks on listed pairs: a list of trials that somebody else made decides what is compared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.records import Record, dump_json, read_json_record
from sottovoce.corpus.trials import TrialList
from sottovoce.findings import TrialListDescription
from sottovoce.speaker.embeddings import Embeddings

FILE = "trials.json"
"""The list as it was used, in the folder of an audit or of attacks."""


@dataclass(frozen=True, slots=True)
class _StoredTrials(Record):
    """A list of trials with the utterances that enrol each id."""

    enrol_ids: tuple[str, ...]
    trial_ids: tuple[str, ...]
    enrol: tuple[int, ...]
    trial: tuple[int, ...]
    mated: tuple[bool, ...]
    enrolment: dict[str, tuple[str, ...]]


def _as_text(trials: TrialList) -> str:
    record = _StoredTrials(
        trials.enrol_ids,
        trials.trial_ids,
        tuple(trials.enrol.tolist()),
        tuple(trials.trial.tolist()),
        tuple(trials.mated.tolist()),
        dict(trials.enrolment),
    )
    return dump_json(record, indent=None)


def describe_trials(trials: TrialList) -> TrialListDescription:
    """Return size and digest of a list.

    Parameters
    ----------
    trials : TrialList
        Read with its corpus.
    """
    mated = int(trials.mated.sum())
    digest = hashlib.sha256(_as_text(trials).encode()).hexdigest()
    return TrialListDescription(len(trials), mated, digest)


def write_trials(folder: Path, trials: TrialList) -> None:
    """Write a list so that an attack can be repeated without the corpus.

    Parameters
    ----------
    folder : Path
        Gets the file :data:`FILE`.
    trials : TrialList
        Read with its corpus.
    """
    write_text(folder / FILE, _as_text(trials))


def read_stored_trials(folder: Path) -> TrialList:
    """Read a list that :func:`write_trials` wrote.

    Parameters
    ----------
    folder : Path
        With the file :data:`FILE`.
    """
    path = folder / FILE
    stored = read_json_record(_StoredTrials, path, advice="run it again")
    counts = {len(stored.enrol), len(stored.trial), len(stored.mated)}
    enrol, trial = np.array(stored.enrol, np.int64), np.array(stored.trial, np.int64)
    if (
        len(counts) != 1
        or not len(enrol)
        or min(enrol.min(), trial.min()) < 0
        or enrol.max() >= len(stored.enrol_ids)
        or trial.max() >= len(stored.trial_ids)
        or set(stored.enrolment) != set(stored.enrol_ids)
    ):
        raise InputError(f"{path}: not a list of trials; run it again", code="damaged")
    return TrialList(
        stored.enrol_ids,
        stored.trial_ids,
        enrol,
        trial,
        np.array(stored.mated, np.bool_),
        stored.enrolment,
    )


def check_listed(trials: TrialList, enrol: Embeddings, trial: Embeddings) -> None:
    """Refuse a list whose recordings are not in the sets, or that compares one with itself.

    Parameters
    ----------
    trials : TrialList
        Read with its corpus.
    enrol : Embeddings
        Enrolment recordings, with ids.
    trial : Embeddings
        Trial recordings, with ids.

    Raises
    ------
    InputError
        ``not-found`` for recordings that are missing, ``not-disjoint`` for a recording that would
        be compared with itself.
    """
    enrolled = {name for names in trials.enrolment.values() for name in names}
    for embeddings, wanted in ((enrol, enrolled), (trial, set(trials.trial_ids))):
        ids = [] if embeddings.utterances is None else embeddings.utterances.tolist()
        missing = sorted(wanted - set(ids))
        if missing:
            raise InputError(
                f"{embeddings.origin}: no vectors of {first_few(missing, len(missing))}, which the "
                "list of trials names; embed them, or shorten the list",
                code="not-found",
            )
    for i, j in zip(trials.enrol.tolist(), trials.trial.tolist(), strict=True):
        if trials.trial_ids[j] in trials.enrolment[trials.enrol_ids[i]]:
            raise InputError(
                f"{trials.trial_ids[j]}: the list of trials compares this recording with itself; "
                "remove the pair",
                code="not-disjoint",
            )
