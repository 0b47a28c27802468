"""Lists of trials that somebody else made: pairs of utterances, or of a speaker and an utterance.

They are read in two forms, with any of the labels of :mod:`sottovoce.core.trial_labels`:

    enrol trial target|nontarget      Kaldi, VoicePrivacy
    1|0 enrol trial                   VoxCeleb
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError, first_few
from sottovoce.core.trial_labels import mated_by_label
from sottovoce.core.types import IntArray
from sottovoce.corpus.reading import Defects, numbered_lines, place
from sottovoce.corpus.splits import ENROL_SPLITS
from sottovoce.corpus.utterance import Corpus, Utterance


@dataclass(frozen=True, slots=True, eq=False)
class TrialList:
    """Pairs of an enrolment and a trial from a file, in the order of its lines."""

    enrol_ids: tuple[str, ...]
    """Utterances or speakers that are enrolled, each once."""
    trial_ids: tuple[str, ...]
    """Utterances that are tried, each once."""
    enrol: IntArray
    """Of each pair, the position of its enrolment in ``enrol_ids``."""
    trial: IntArray
    """Of each pair, the position of its trial in ``trial_ids``."""
    mated: NDArray[np.bool_]
    """Of each pair, whether both are the same speaker."""
    enrolment: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By enrolment id, the utterances that enrol it; empty if the list was read without a corpus.

    Those of a speaker are the utterances of an enrolment split, if the speaker has some, or else
    all that the list does not try.
    """

    def __len__(self) -> int:
        return len(self.mated)


def read_trials(path: Path | str, corpus: Corpus | None = None) -> TrialList:
    """Read a list of trials in Kaldi's or VoxCeleb's form, recognised by its first line.

    Parameters
    ----------
    path : Path or str
        A text file of one pair per line.
    corpus : Corpus, optional
        If given, a trial must be one of its utterances and an enrolment an utterance or a speaker,
        and every label must agree with its speakers. An id may end like a file name, as VoxCeleb's
        ids do.

    Returns
    -------
    TrialList
        Its ids are those of the corpus.

    Raises
    ------
    InputError
        With the number of the line and the code ``malformed-line``, ``duplicate-pair``,
        ``unknown-name``, ``mismatch`` (of label and speakers), or ``empty``.
    """
    path = Path(path)
    trials, lines = _parse(path)
    _refuse_duplicates(trials, lines, path)
    return trials if corpus is None else _match(trials, corpus, lines, path)


class _Ids:
    """Ids in the order of their first occurrence, and the number of each occurrence's id."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._numbers = array("q")

    def add(self, name: str) -> None:
        self._numbers.append(self.known.setdefault(name, len(self.known)))

    @property
    def numbers(self) -> IntArray:
        return np.frombuffer(self._numbers, np.int64)


def _parse(path: Path) -> tuple[TrialList, IntArray]:
    """Return the list as it stands in the file, and the line of each pair."""
    defects = Defects(listed_by="")
    enrol, trial = _Ids(), _Ids()
    mated = array("b")
    lines = array("q")
    numbered = numbered_lines(path)
    label_first = bool(numbered) and _label_is_first(numbered, path)
    for number, line in numbered:
        words = line.split()
        label, *ids = words if label_first else (*words[-1:], *words[:-1])
        same_speaker = mated_by_label(label)
        if len(ids) != 2 or same_speaker is None:
            form = "'1|0 enrol trial'" if label_first else "'enrol trial target|nontarget'"
            defects.add(path, number, f"not {form}; correct the line")
            continue
        enrol.add(ids[0])
        trial.add(ids[1])
        mated.append(same_speaker)
        lines.append(number)
    defects.refuse_any()
    if not mated:
        raise InputError(
            f"{path}: no trials; write lines 'enrol trial target|nontarget'", code="empty"
        )
    same = np.frombuffer(mated, np.int8).astype(np.bool_)
    trials = TrialList(tuple(enrol.known), tuple(trial.known), enrol.numbers, trial.numbers, same)
    return trials, np.frombuffer(lines, np.int64)


def _label_is_first(lines: Sequence[tuple[int, str]], path: Path) -> bool:
    """Tell the form of a list; where both ends of its first line are labels, all lines decide."""
    number, text = lines[0]
    words = text.split()
    first, last = (mated_by_label(words[i]) is not None for i in (0, -1))
    if len(words) != 3 or not (first or last):
        raise InputError(
            f"{place(path, number)}: not a trial; write 'enrol trial target|nontarget' (Kaldi) or "
            "'1|0 enrol trial'",
            code="malformed-line",
        )
    if not (first and last):
        return first
    all_first, all_last = (
        all(mated_by_label(line.split()[i]) is not None for _, line in lines) for i in (0, -1)
    )
    return all_first and not all_last


def _refuse_duplicates(trials: TrialList, lines: IntArray, path: Path) -> None:
    pair = trials.enrol * len(trials.trial_ids) + trials.trial
    _, first = np.unique(pair, return_index=True)
    if len(first) < len(pair):
        repeated = np.setdiff1d(np.arange(len(pair)), first)
        where = place(path, int(lines[repeated[0]]))
        raise InputError(
            f"{where}: the same pair again; keep one line per pair", code="duplicate-pair"
        )


def _match(trials: TrialList, corpus: Corpus, lines: IntArray, path: Path) -> TrialList:
    """Return the list with ids of the corpus; its labels are checked against the speakers."""
    speaker_of = {utterance.id: utterance.speaker for utterance in corpus}
    enrol_ids, trial_ids = (
        tuple(_utterance_id(name, speaker_of) for name in names)
        for names in (trials.enrol_ids, trials.trial_ids)
    )
    known = speaker_of.keys() | set(corpus.speakers)
    unknown = [
        *_unknown(enrol_ids, lines[np.unique(trials.enrol, return_index=True)[1]], known),
        *_unknown(trial_ids, lines[np.unique(trials.trial, return_index=True)[1]], speaker_of),
    ]
    defects = Defects(listed_by="")
    for name, line in unknown:
        message = f"{name} is not in {corpus.name}; correct the id"
        defects.add(path, line, message, code="unknown-name")
    defects.refuse_any()
    enrol_speakers = np.array([speaker_of.get(name, name) for name in enrol_ids], np.str_)
    trial_speakers = np.array([speaker_of[name] for name in trial_ids], np.str_)
    same = enrol_speakers[trials.enrol] == trial_speakers[trials.trial]
    _refuse_wrong_labels(np.flatnonzero(same != trials.mated), lines, path)
    enrolment = _enrolment(enrol_ids, trial_ids, corpus, path)
    return TrialList(enrol_ids, trial_ids, trials.enrol, trials.trial, trials.mated, enrolment)


def _unknown(
    names: Sequence[str], first_lines: IntArray, known: Collection[str]
) -> list[tuple[str, int]]:
    """Return the names that are not known, with the line each first occurs in."""
    occurrences = zip(names, first_lines.tolist(), strict=True)
    return [(name, line) for name, line in occurrences if name not in known]


def _utterance_id(name: str, speaker_of: Mapping[str, str]) -> str:
    """Return an id without the ending of a file name, if only that is an utterance."""
    stem = os.path.splitext(name)[0]
    return stem if name not in speaker_of and stem in speaker_of else name


def _refuse_wrong_labels(wrong: IntArray, lines: IntArray, path: Path) -> None:
    if len(wrong):
        places = (place(path, int(lines[i])) for i in wrong)
        raise InputError(
            f"{first_few(places, len(wrong))}: the label contradicts the speakers; correct it",
            code="mismatch",
        )


def _enrolment(
    enrol_ids: Sequence[str], trial_ids: Sequence[str], corpus: Corpus, path: Path
) -> dict[str, tuple[str, ...]]:
    """Return the utterances that enrol each id."""
    ids = {utterance.id for utterance in corpus}
    by_speaker = corpus.by_speaker()
    tried = set(trial_ids)
    enrolment = {
        name: (name,) if name in ids else _enrol_speaker(by_speaker[name], tried)
        for name in enrol_ids
    }
    for name, utterances in enrolment.items():
        if not utterances:
            raise TooFewError(
                f"{path}: all utterances of {name} in {corpus.name} are trials; none is left to "
                "enrol the speaker: add recordings"
            )
    return enrolment


def _enrol_speaker(utterances: Sequence[Utterance], tried: set[str]) -> tuple[str, ...]:
    """Return the utterances of an enrolment split or, without one, all that are not tried."""
    split = tuple(
        utterance.id for utterance in utterances if utterance.split.lower() in ENROL_SPLITS
    )
    return split or tuple(utterance.id for utterance in utterances if utterance.id not in tried)
