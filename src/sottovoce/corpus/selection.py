"""Selection of speakers and recordings for a population, by net speech and noise.

A population as in COMPRISE deliverable D2.3 (2021), section 4.2.5: speakers with more than 10 s of
speech without pauses, at most 2 minutes of each, no noisy recordings, and 20 of them with more than
5 minutes whose remaining recordings are attacked. The sets A and B of Vauquier et al. 2025, Table 1
are made the same way: A to enrol, B the remaining recordings of speakers who have enough of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sottovoce.core.atomic_directory import atomic_directory
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import write_text
from sottovoce.core.parallel import map_ahead
from sottovoce.core.records import Record, dump_json
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.level import SHIFT, speech_frames
from sottovoce.signal.noise_level import wada_snr

RATE = 16_000
"""Sample rate in Hz at which recordings are heard."""
RECORD = "selection.json"
"""File with limits and counts of a selection."""


@dataclass(frozen=True, slots=True)
class SpeechAmount:
    """Net speech and noise of a recording."""

    utterance: Utterance
    seconds: float
    """Of speech, without pauses."""
    snr: float
    """WADA-SNR in dB."""


@dataclass(frozen=True, slots=True)
class SelectionRule(Record):
    """Which speakers and recordings are selected; seconds are of speech without pauses."""

    enrol_seconds: float = 10.0
    """A speaker needs more than this to be in the population."""
    enrol_most: float = 120.0
    """Seconds of a speaker to enrol, at most: recordings are drawn until this is reached."""
    trial_seconds: float = 0.0
    """Speakers whose remaining recordings have more than this get trials."""
    trial_speakers: int | None = None
    """How many of those are drawn; None for all."""
    lowest_snr: float | None = None
    """Recordings below this WADA-SNR in dB are left out."""
    gender: str = ""
    """``f`` or ``m`` for one gender only; empty for everybody."""
    seed: int = 0

    def __post_init__(self) -> None:
        for option, seconds in (
            ("--min-speech", self.enrol_seconds),
            ("--max-speech", self.enrol_most),
            ("--trial-speech", self.trial_seconds),
        ):
            if not 0 <= seconds < np.inf:
                raise InputError(
                    f"{option} {seconds:g}: must be a finite number of seconds, 0 or more",
                    code="out-of-range",
                )
        if self.lowest_snr is not None and not np.isfinite(self.lowest_snr):
            raise InputError(
                f"--min-snr {self.lowest_snr:g}: must be a finite number of dB; leave it out to "
                "keep noisy recordings",
                code="out-of-range",
            )
        if self.enrol_most < self.enrol_seconds:
            raise InputError(
                f"--max-speech {self.enrol_most:g} is less than --min-speech "
                f"{self.enrol_seconds:g}: raise the former or lower the latter",
                code="out-of-range",
            )


@dataclass(frozen=True, slots=True)
class Selected:
    """A selection: recordings of the splits ``enrol`` and ``trial``, and what was left out."""

    corpus: Corpus
    counts: SelectionCounts


@dataclass(frozen=True, slots=True)
class SelectionCounts(Record):
    """What was selected and what was left out."""

    speakers: int
    """In the population."""
    trial_speakers: int
    enrol_utterances: int
    trial_utterances: int
    enrol_hours: float
    """Of speech without pauses."""
    trial_hours: float
    noisy_utterances: int
    """Below the lowest signal-to-noise ratio."""
    unreadable_utterances: int
    short_speakers: int
    """With too little speech."""
    other_speakers: int
    """Of another gender, or of none that is known."""


def measure_speech(
    corpus: Corpus, *, jobs: int = 2, progress: Progress | None = None
) -> tuple[list[SpeechAmount], int]:
    """Measure net speech and noise of all recordings.

    Parameters
    ----------
    corpus : Corpus
        The recordings.
    jobs : int, default 2
        Recordings that are read at a time.
    progress : callable, optional
        Called with the recordings done and to do.

    Returns
    -------
    amounts : list of SpeechAmount
        Of the recordings that can be read.
    unreadable : int
        How many cannot.
    """
    amounts = []
    measured = map_ahead(_amount, corpus, workers=jobs, ahead=2 * jobs)
    for done, (_, amount) in enumerate(measured, 1):
        if amount is not None:
            amounts.append(amount)
        if progress is not None:
            progress(done, len(corpus))
    return amounts, len(corpus) - len(amounts)


def _amount(utterance: Utterance) -> SpeechAmount | None:
    try:
        audio = load_audio(utterance, RATE)
    except InputError:
        return None
    seconds = float(speech_frames(audio, RATE).sum()) * SHIFT
    return SpeechAmount(utterance, seconds, wada_snr(audio))


def select_speakers(
    corpus: Corpus, amounts: Sequence[SpeechAmount], rule: SelectionRule, *, unreadable: int = 0
) -> Selected:
    """Select a population and trials.

    Parameters
    ----------
    corpus : Corpus
        Where the recordings come from.
    amounts : sequence of SpeechAmount
        What :func:`measure_speech` measured.
    rule : SelectionRule
        Which are selected.
    unreadable : int, default 0
        Recordings that could not be read, for the counts.

    Raises
    ------
    TooFewError
        If fewer than two speakers are left, or fewer than ``trial_speakers`` have trials.
    """
    clean = [a for a in amounts if rule.lowest_snr is None or a.snr >= rule.lowest_snr]
    of_gender = [a for a in clean if rule.gender in ("", a.utterance.gender)]
    by_speaker: dict[str, list[SpeechAmount]] = {}
    for amount in of_gender:
        by_speaker.setdefault(amount.utterance.speaker, []).append(amount)
    kept = {
        speaker: _divided(recordings, rule, [rule.seed, number])
        for number, (speaker, recordings) in enumerate(sorted(by_speaker.items()))
        if sum(recording.seconds for recording in recordings) > rule.enrol_seconds
    }
    if len(kept) < 2:
        raise TooFewError(
            f"{corpus.name}: {len(kept)} of {len(corpus.speakers):,} speakers have more than "
            f"{rule.enrol_seconds:g} s of speech in recordings that are clean enough: lower the "
            "limits"
        )
    tested = _tested(kept, rule, corpus.name)
    enrol = [amount for first, _ in kept.values() for amount in first]
    trial = [amount for speaker in tested for amount in kept[speaker][1]]
    counts = SelectionCounts(
        speakers=len(kept),
        trial_speakers=len(tested),
        enrol_utterances=len(enrol),
        trial_utterances=len(trial),
        enrol_hours=sum(amount.seconds for amount in enrol) / 3600,
        trial_hours=sum(amount.seconds for amount in trial) / 3600,
        noisy_utterances=len(amounts) - len(clean),
        unreadable_utterances=unreadable,
        short_speakers=len(by_speaker) - len(kept),
        other_speakers=len({a.utterance.speaker for a in clean} - set(by_speaker)),
    )
    chosen = (*_with_split(enrol, "enrol"), *_with_split(trial, "trial"))
    return Selected(Corpus(corpus.name, corpus.root, chosen), counts)


def _divided(
    recordings: list[SpeechAmount], rule: SelectionRule, seed: list[int]
) -> tuple[list[SpeechAmount], list[SpeechAmount]]:
    """Recordings to enrol, in random order until there are enough, and the remaining ones."""
    order = np.random.default_rng(seed).permutation(len(recordings))
    shuffled = [recordings[i] for i in order]
    before = np.cumsum([0.0, *(recording.seconds for recording in shuffled)])
    last = int(np.searchsorted(before, rule.enrol_most, side="right")) - 1
    first = max(1, min(last, len(shuffled)))
    return shuffled[:first], shuffled[first:]


def _tested(
    kept: dict[str, tuple[list[SpeechAmount], list[SpeechAmount]]], rule: SelectionRule, name: str
) -> list[str]:
    """Speakers with enough recordings left, or as many of them as the rule asks for."""
    able = [
        speaker
        for speaker, (_, remaining) in kept.items()
        if remaining and sum(amount.seconds for amount in remaining) > rule.trial_seconds
    ]
    if rule.trial_speakers is None:
        return able
    if len(able) < rule.trial_speakers:
        raise TooFewError(
            f"{name}: {len(able)} speakers have more than {rule.trial_seconds:g} s of speech left "
            f"for trials, {rule.trial_speakers} are wanted: lower one of the two"
        )
    rng = np.random.default_rng([rule.seed, len(kept)])
    drawn = rng.choice(len(able), rule.trial_speakers, replace=False)
    return [able[i] for i in np.sort(drawn)]


def _with_split(amounts: Sequence[SpeechAmount], split: str) -> tuple[Utterance, ...]:
    return tuple(replace(amount.utterance, split=split) for amount in amounts)


def write_selection(selected: Selected, rule: SelectionRule, folder: Path) -> None:
    """Write a selection as a new folder with a manifest and ``selection.json``.

    Parameters
    ----------
    selected : Selected
        What :func:`select_speakers` selected.
    rule : SelectionRule
        How it was selected.
    folder : Path
        The folder; it must not exist, or be empty.
    """
    with atomic_directory(folder) as temporary:
        write_manifest(selected.corpus, temporary)
        record = {"rule": rule.to_dict(), "counts": selected.counts.to_dict()}
        write_text(temporary / RECORD, dump_json(record))
