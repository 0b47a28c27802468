"""Trials: which pairs of utterances are compared, and whether they are of one speaker.

Pairs are rows of whole numbers, not objects, and a plan makes them a block at a time: ten billion
pairs need no more memory than a million. Lists in files are read in two forms:

    enrol trial target|nontarget      Kaldi
    1|0 enrol trial                   VoxCeleb
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, UsageError, first_few
from sottovoce.core.types import IntArray
from sottovoce.corpus.defects import Defects, place
from sottovoce.corpus.lines import numbered
from sottovoce.corpus.utterance import Corpus, Utterance

Seed = int | np.random.Generator

BLOCK = 1 << 20
"""Pairs looked at together."""
IN_MEMORY = 50_000_000
"""More pairs than this are only to be had a block at a time."""

ENROL = ("enrol", "enroll", "enrolment", "enrollment")
TRIAL = ("trial", "trials", "test")
"""Splits that say which side an utterance is on."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Some pairs: positions of both utterances, and whether their speaker is the same."""

    enrol: IntArray
    trial: IntArray
    mated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.mated)


# ========================================================================================== lists


@dataclass(frozen=True, slots=True, eq=False)
class TrialList:
    """Pairs from a file: positions in ``enrol_ids`` and ``trial_ids``."""

    enrol_ids: tuple[str, ...]
    trial_ids: tuple[str, ...]
    pairs: Pairs


KALDI = {"target": True, "nontarget": False}
VOXCELEB = {"1": True, "0": False}


def read_trials(path: Path | str, corpus: Corpus | None = None) -> TrialList:
    """Read a list of trials in Kaldi's or VoxCeleb's form, told by its first line.

    With a ``corpus`` every id must be one of its utterances or, as Kaldi's enrolment ids often
    are, a speaker, and the labels must agree with its speakers. The ending of a file name, which
    VoxCeleb's ids have, does not matter then.
    """
    path = Path(path)
    defects = Defects()
    enrol, trial = _Ids(), _Ids()
    labels = array("b")
    lines = array("q")
    form = None
    for number, line in numbered(path):
        words = line.split()
        form = form or _form(words, place(path, number))
        label, pair = (words[-1], words[:-1]) if form is KALDI else (words[0], words[1:])
        if len(words) != 3 or label not in form:
            what = "'enrol trial target|nontarget'" if form is KALDI else "'1|0 enrol trial'"
            defects.add(path, number, f"not {what}; correct the line")
            continue
        enrol.add(pair[0])
        trial.add(pair[1])
        labels.append(form[label])
        lines.append(number)
    defects.refuse_any()
    if not len(labels):
        raise InputError(f"{path}: no trials; write lines 'enrol trial target|nontarget'")
    pairs = Pairs(enrol.numbers, trial.numbers, np.frombuffer(labels, np.int8).astype(np.bool_))
    found = TrialList(tuple(enrol.known), tuple(trial.known), pairs)
    where = np.frombuffer(lines, np.int64)
    _refuse_again(found, where, path)
    return found if corpus is None else _matched(found, corpus, where, path)


class _Ids:
    """Ids in the order they first occur, and the number of each as it comes."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._numbers = array("q")

    def add(self, name: str) -> None:
        self._numbers.append(self.known.setdefault(name, len(self.known)))

    @property
    def numbers(self) -> IntArray:
        return np.frombuffer(self._numbers, np.int64)


def _form(words: list[str], where: str) -> Mapping[str, bool]:
    if len(words) == 3 and words[2] in KALDI:
        return KALDI
    if len(words) == 3 and words[0] in VOXCELEB:
        return VOXCELEB
    raise InputError(
        f"{where}: not a trial; write 'enrol trial target|nontarget' (Kaldi) or '1|0 enrol trial'"
    )


def _refuse_again(found: TrialList, lines: IntArray, path: Path) -> None:
    code = found.pairs.enrol * len(found.trial_ids) + found.pairs.trial
    _, first = np.unique(code, return_index=True)
    if len(first) < len(code):
        again = np.setdiff1d(np.arange(len(code)), first)
        line = lines[again[0]]
        raise InputError(f"{place(path, int(line))}: the same pair again; keep one line a pair")


def _matched(found: TrialList, corpus: Corpus, lines: IntArray, path: Path) -> TrialList:
    """The list with ids of the corpus, its labels checked against the speakers."""
    speaker_of = {one.id: one.speaker for one in corpus}
    names = set(corpus.speakers)
    defects = Defects()
    sides = []
    for ids, numbers in (
        (found.enrol_ids, found.pairs.enrol),
        (found.trial_ids, found.pairs.trial),
    ):
        short = [os.path.splitext(one)[0] for one in ids]
        own = [
            a if a in speaker_of or b not in speaker_of else b
            for a, b in zip(ids, short, strict=True)
        ]
        for i, one in enumerate(own):
            if one not in speaker_of and one not in names:
                line = int(lines[np.argmax(numbers == i)])
                defects.add(path, line, f"{one} is not in {corpus.name}; correct the id")
        sides.append(own)
    defects.refuse_any()
    _check_labels(
        found.pairs, [[speaker_of.get(one, one) for one in own] for own in sides], lines, path
    )
    return TrialList(tuple(sides[0]), tuple(sides[1]), found.pairs)


def _check_labels(pairs: Pairs, speakers: list[list[str]], lines: IntArray, path: Path) -> None:
    enrol, trial = (np.array(names, np.str_) for names in speakers)
    wrong = np.flatnonzero((enrol[pairs.enrol] == trial[pairs.trial]) != pairs.mated)
    if len(wrong):
        where = (place(path, int(lines[i])) for i in wrong)
        raise InputError(
            f"{first_few(where, len(wrong))}: the label contradicts the speakers; correct it"
        )


# ========================================================================================== sides


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """A corpus divided into enrolment and trial utterances, by their positions in it."""

    enrol: IntArray
    trial: IntArray
    how: Mapping[str, int]
    """Of how many speakers the division followed ``split``, ``session`` or was ``random``."""
    left_out: tuple[str, ...]
    """Speakers that are on no side, because they have one utterance."""


def split_sides(corpus: Corpus, *, enrol_share: float = 0.5, seed: Seed = 0) -> Sides:
    """Divide each speaker's utterances into enrolment and trial.

    Where utterances have the splits ``enrol`` and ``trial`` (or ``test``) these decide, for all
    speakers; what is in another split is on no side. Else a speaker with two sessions or more has
    each session on one side only, and one with a single session is divided at random. About
    ``enrol_share`` of a speaker's utterances, at least one and not all, are for enrolment.
    """
    if not 0 < enrol_share < 1:
        raise UsageError(f"enrol_share {enrol_share}; choose one between 0 and 1")
    splits = [one.split.lower() for one in corpus]
    if set(splits) & set(ENROL) and set(splits) & set(TRIAL):
        return _by_split(corpus, splits)
    rng = np.random.default_rng(seed)
    enrol: list[int] = []
    trial: list[int] = []
    how: Counter[str] = Counter()
    alone = []
    for name, own in _positions(corpus).items():
        if len(own) < 2:
            alone.append(name)
            continue
        sessions = _sessions(corpus, own)
        how["session" if len(sessions) > 1 else "random"] += 1
        units = sessions if len(sessions) > 1 else [[i] for i in own]
        first = _draw(units, enrol_share * len(own), rng)
        enrol += first
        trial += sorted(set(own) - set(first))
    return Sides(_sorted(enrol), _sorted(trial), dict(how), tuple(alone))


def _by_split(corpus: Corpus, splits: list[str]) -> Sides:
    enrol = [i for i, split in enumerate(splits) if split in ENROL]
    trial = [i for i, split in enumerate(splits) if split in TRIAL]
    speakers = {corpus.utterances[i].speaker for i in (*enrol, *trial)}
    out = tuple(name for name in corpus.speakers if name not in speakers)
    return Sides(_sorted(enrol), _sorted(trial), {"split": len(speakers)}, out)


def _positions(corpus: Corpus) -> dict[str, list[int]]:
    """Where each speaker's utterances are, in order of id, so that the list's order is nothing."""
    own: dict[str, list[int]] = {name: [] for name in corpus.speakers}
    for i in sorted(range(len(corpus)), key=lambda i: corpus.utterances[i].id):
        own[corpus.utterances[i].speaker].append(i)
    return own


def _sessions(corpus: Corpus, own: Sequence[int]) -> list[list[int]]:
    """One speaker's utterances by session; those without one count as one more."""
    found: dict[str, list[int]] = {}
    for i in own:
        found.setdefault(corpus.utterances[i].session, []).append(i)
    return [found[name] for name in sorted(found)]


def _draw(units: list[list[int]], wanted: float, rng: np.random.Generator) -> list[int]:
    """Units in random order until about ``wanted`` items are drawn: at least one unit, not all."""
    drawn: list[int] = []
    for position, unit in enumerate(rng.permutation(len(units))):
        more = units[unit]
        nearer = abs(len(drawn) + len(more) - wanted) < abs(len(drawn) - wanted)
        if position and (position == len(units) - 1 or not nearer):
            break
        drawn += more
    return drawn


def _sorted(numbers: list[int]) -> IntArray:
    return np.array(sorted(numbers), np.int64)


# ========================================================================================== plans


@dataclass(frozen=True, slots=True, eq=False)
class TrialPlan:
    """All pairs of some enrolment and trial utterances that meet some conditions.

    >>> said = [Utterance(f"u{i}", Path(f"u{i}.wav"), who) for i, who in enumerate("aabb")]
    >>> plan = all_pairs(Corpus("four", Path("."), tuple(said)))
    >>> plan.count()
    (2, 4)
    >>> plan.pairs().enrol
    array([0, 0, 0, 1, 1, 2])
    """

    corpus: Corpus
    enrol: IntArray
    trial: IntArray
    once: bool
    """Both sides are the same, and a pair is taken in one order only."""
    same_gender: bool
    across_sessions: bool

    def blocks(self, size: int = BLOCK) -> Iterator[Pairs]:
        """The pairs in order of enrolment, then trial; about ``size`` are looked at at a time."""
        speaker, gender, session = _codes(self.corpus)
        rows = max(1, size // max(1, len(self.trial)))
        for start in range(0, len(self.enrol), rows):
            enrol = self.enrol[start : start + rows, None]
            mated = speaker[enrol] == speaker[self.trial]
            keep = enrol < self.trial if self.once else enrol != self.trial
            if self.same_gender:
                keep &= mated | (gender[enrol] == gender[self.trial])
            if self.across_sessions:
                keep &= ~(mated & (session[enrol] >= 0) & (session[enrol] == session[self.trial]))
            row, column = np.nonzero(keep)
            yield Pairs(enrol[row, 0], self.trial[column], mated[row, column])

    def count(self) -> tuple[int, int]:
        """How many pairs are mated, and how many are not."""
        mated = total = 0
        for block in self.blocks():
            mated += int(block.mated.sum())
            total += len(block)
        return mated, total - mated

    def pairs(self) -> Pairs:
        """All pairs at once, if they fit into memory."""
        total = sum(self.count())
        if total > IN_MEMORY:
            raise InputError(
                f"{self.corpus.name}: {total:,} pairs; at most {IN_MEMORY:,} are made at once: "
                "take them from blocks()"
            )
        blocks = list(self.blocks())
        if not blocks:
            return Pairs(_sorted([]), _sorted([]), np.zeros(0, np.bool_))
        return Pairs(
            np.concatenate([block.enrol for block in blocks]),
            np.concatenate([block.trial for block in blocks]),
            np.concatenate([block.mated for block in blocks]),
        )


def all_pairs(
    corpus: Corpus, *, same_gender: bool = False, across_sessions: bool = False
) -> TrialPlan:
    """Every pair of two utterances once, the earlier as enrolment.

    ``same_gender`` leaves out pairs of different genders; everybody's must then be known.
    ``across_sessions`` leaves out pairs of one speaker in one session, which a recording room or a
    microphone may link as well as a voice does.
    """
    everyone = np.arange(len(corpus), dtype=np.int64)
    _refuse_unknown_genders(corpus, everyone, same_gender)
    return TrialPlan(corpus, everyone, everyone, True, same_gender, across_sessions)


def cross_pairs(
    corpus: Corpus, sides: Sides, *, same_gender: bool = False, across_sessions: bool = False
) -> TrialPlan:
    """Every enrolment with every trial utterance; conditions as in :func:`all_pairs`."""
    _refuse_unknown_genders(corpus, np.union1d(sides.enrol, sides.trial), same_gender)
    return TrialPlan(corpus, sides.enrol, sides.trial, False, same_gender, across_sessions)


def _refuse_unknown_genders(corpus: Corpus, positions: IntArray, same_gender: bool) -> None:
    if same_gender:
        unknown = sorted({one.speaker for one in _at(corpus, positions) if not one.gender})
        if unknown:
            raise InputError(
                f"{corpus.name}: gender is unknown for {first_few(unknown, len(unknown))}; "
                "fill it in, or compare across genders"
            )


def _at(corpus: Corpus, positions: IntArray) -> Iterator[Utterance]:
    return (corpus.utterances[i] for i in positions)


def _codes(corpus: Corpus) -> tuple[IntArray, IntArray, IntArray]:
    """Speakers, genders and sessions as numbers; −1 where the session is unknown."""
    speakers, genders, sessions = _Ids(), _Ids(), _Ids()
    for one in corpus:
        speakers.add(one.speaker)
        genders.add(one.gender)
        sessions.add(one.session)
    session = sessions.numbers.copy()
    session[session == sessions.known.get("", -1)] = -1
    return speakers.numbers, genders.numbers, session


# ====================================================================================== partition


def partition_speakers(
    corpus: Corpus, *, share: float = 0.5, seed: Seed = 0
) -> tuple[Corpus, Corpus]:
    """Two corpora without a common speaker, e.g. to train on one and attack the other.

    About ``share`` of the speakers of each gender, at least one speaker and not all, are in the
    first.
    """
    names = corpus.speakers
    if not 0 < share < 1:
        raise UsageError(f"share {share}; choose one between 0 and 1")
    if len(names) < 2:
        raise InputError(f"{corpus.name}: {len(names)} speakers; two sets of them need at least 2")
    rng = np.random.default_rng(seed)
    genders: dict[str, list[str]] = {}
    for name, own in corpus.by_speaker().items():
        gender = next((one.gender for one in own if one.gender), "")
        genders.setdefault(gender, []).append(name)
    order = [name for gender in sorted(genders) for name in rng.permutation(genders[gender])]
    wanted = min(max(round(share * len(names)), 1), len(names) - 1)
    # taken at even distances in an order by gender, so that each gender gives its share
    taken = {str(order[i * len(names) // wanted]) for i in range(wanted)}
    return (
        corpus.select(speakers=taken),
        corpus.select(speakers=set(names) - taken),
    )
