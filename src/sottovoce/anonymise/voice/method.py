"""The protocol of a voice anonymiser, construction by name, and single recordings.

A third-party package adds a method with an entry point in the group ``sottovoce.voice``. The entry
point names a class that has a class attribute ``card``
(:class:`~sottovoce.anonymise.voice.card.MethodCard`), is called with a
:class:`~sottovoce.anonymise.keys.Secret` and the settings of the card as keyword arguments, and
whose instances follow :class:`VoiceAnonymiser`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.card import MethodCard, SettingValue
from sottovoce.core.engine import HERE, SPEECH_MEMORY, Engine
from sottovoce.core.records import JsonObject
from sottovoce.core.registry import Registry
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Corpus, Utterance

L = TypeVar("L")
"""What a method learns about a speaker."""


class VoiceAnonymiser(Protocol):
    """A method that changes the voice of recordings.

    The program calls the methods in this order:

    1. The class with a secret and settings. All random draws must follow from the secret and
       from the names of speaker and utterance
       (:meth:`~sottovoce.anonymise.keys.Secret.generator`), so that the same secret repeats them.
    2. :meth:`fit`, exactly once, with all recordings that are going to be anonymised: the corpus,
       or a corpus of one utterance where a single recording is anonymised. Commands, audits and
       the service always call it before the first :meth:`transform`, so a method may rely on it.
       In Python the caller is responsible for it; :func:`transform_recording` does both steps
       for a single recording.
    3. :meth:`transform` for each recording, possibly from several threads at once.
    4. :meth:`record` at any time.
    """

    @property
    def name(self) -> str:
        """Name of the method in the registry."""

    def fit(self, corpus: Corpus) -> Self:
        """Learn what the method needs to know about the speakers; often nothing.

        A recording that cannot be read must be skipped here: ``transform`` reports it.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.

        Returns
        -------
        Self
            The method itself.
        """

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """Return the recording in another voice. Must be safe to call from several threads.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            One channel, samples within ±1.
        rate : int
            Sample rate in Hz.
        speaker : str
            Id of the speaker; it may be unknown to ``fit``.
        utterance : str
            Id of the utterance.

        Returns
        -------
        ndarray of float32, shape (n,)
            As many samples at the same rate and loudness, finite and within ±1.

        Raises
        ------
        InputError
            If the recording cannot be anonymised.
        """

    def record(self) -> JsonObject:
        """Return method and settings for ``anonymisation.json``.

        The record never contains the secret or anything drawn with it. Two methods with different
        output for the same secret must have different records: finished files are reused when the
        record is the same.
        """


@runtime_checkable
class InvertibleAnonymiser(VoiceAnonymiser, Protocol):
    """A method whose change of a recording is described by a few numbers and can be undone.

    An attacker who has the method anonymises speech of its own, learns to recognise the numbers
    from the result, and undoes the change in the speech it attacks. The card names the numbers
    (:attr:`~sottovoce.anonymise.voice.card.MethodCard.inverse`).
    """

    def change_of(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> FloatArray:
        """Return the numbers that describe what :meth:`transform` does to a recording.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            The original recording.
        rate : int
            Sample rate in Hz.
        speaker : str
            Id of the speaker.
        utterance : str
            Id of the utterance.

        Returns
        -------
        ndarray of float64, shape (numbers,)
            In the order of the card.
        """

    def undo(self, audio: Audio, rate: int, change: FloatArray) -> Audio:
        """Return a recording with a change undone.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            An anonymised recording.
        rate : int
            Sample rate in Hz.
        change : ndarray of float64, shape (numbers,)
            The numbers of the change; values out of range are moved into it.

        Returns
        -------
        ndarray of float32, shape (n,)
            As many samples at the same rate and loudness.
        """


@runtime_checkable
class RetimingAnonymiser(VoiceAnonymiser, Protocol):
    """A method that depends on its settings in whether words stay where they were."""

    @property
    def keeps_times(self) -> bool:
        """Whether every sound stays at its time in the recording."""


def keeps_times(method: VoiceAnonymiser) -> bool:
    """Tell whether words stay where they were, so that their times in the original hold.

    A method says so itself (:class:`RetimingAnonymiser`), or its card does: it keeps ``duration``
    and ``rhythm``.

    Parameters
    ----------
    method : VoiceAnonymiser
        The method.
    """
    if isinstance(method, RetimingAnonymiser):
        return method.keeps_times
    card: MethodCard | None = getattr(method, "card", None)
    return card is not None and {"duration", "rhythm"} <= set(card.keeps)


class SpeakerwiseAnonymiser(ABC, Generic[L]):
    """A method whose fit learns about each speaker from that speaker's recordings alone.

    What is learnt of different speakers can then be learnt at the same time, by
    :func:`fit_method`.
    """

    def __init__(self) -> None:
        self.learnt: dict[str, L] = {}
        """What is known about each speaker; nothing of those without usable recordings."""

    def fit(self, corpus: Corpus) -> Self:
        """Learn about the corpus and about all speakers.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.
        """
        fit_method(self, corpus)
        return self

    @abstractmethod
    def begin_fit(self, corpus: Corpus) -> None:
        """Learn what concerns the corpus as a whole, without opening recordings.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.
        """

    @abstractmethod
    def learn_speaker(self, speaker: str, utterances: Sequence[Utterance]) -> L | None:
        """Learn about one speaker without changing the method.

        Parameters
        ----------
        speaker : str
            Id of the speaker.
        utterances : sequence of Utterance
            All recordings of the speaker.

        Returns
        -------
        object or None
            None for a speaker without usable recordings.
        """

    def accept_speaker(self, speaker: str, learnt: L | None) -> None:
        """Keep what was learnt about a speaker.

        Parameters
        ----------
        speaker : str
            Id of the speaker.
        learnt : object or None
            What :meth:`learn_speaker` returned.
        """
        if learnt is not None:
            self.learnt[speaker] = learnt


SpeakerRecordings = tuple[str, Sequence[Utterance]]
"""A speaker and all recordings of this speaker."""


@dataclass(frozen=True, slots=True)
class LearnSpeaker:
    """Learns about a speaker, on any worker."""

    method: SpeakerwiseAnonymiser[Any]

    def __call__(self, recordings: SpeakerRecordings) -> Any:
        """Return what is learnt.

        Parameters
        ----------
        recordings : tuple of str and sequence of Utterance
            A speaker and the recordings.
        """
        return self.method.learn_speaker(*recordings)


def fit_method(
    method: VoiceAnonymiser | SpeakerwiseAnonymiser[Any], corpus: Corpus, engine: Engine = HERE
) -> None:
    """Fit a method, its speakers side by side if it learns about each of them separately.

    Parameters
    ----------
    method : VoiceAnonymiser or SpeakerwiseAnonymiser
        The method.
    corpus : Corpus
        All recordings that are going to be anonymised.
    engine : Engine, optional
        What learns about speakers; default this thread.
    """
    if not isinstance(method, SpeakerwiseAnonymiser):
        method.fit(corpus)
        return
    method.begin_fit(corpus)
    work = LearnSpeaker(method)
    speakers = corpus.by_speaker().items()
    for (speaker, _), learnt in engine.map(work, speakers, label="fitting", memory=SPEECH_MEMORY):
        method.accept_speaker(speaker, learnt)


class MethodClass(Protocol):
    """A class that makes an anonymiser from a secret and settings."""

    card: MethodCard

    def __call__(self, *args: Any, **settings: Any) -> VoiceAnonymiser:
        """Make an anonymiser; called with the secret and, by name, the settings of the card."""


METHODS: Registry[MethodClass] = Registry("voice anonymiser", group="sottovoce.voice")
"""Classes of voice anonymisers by name."""


def make_method(
    name: str, secret: Secret | None = None, **settings: SettingValue
) -> VoiceAnonymiser:
    """Make a voice anonymiser by name.

    Parameters
    ----------
    name : str
        A registered method, such as ``mcadams``.
    secret : Secret, optional
        The key of all draws. By default a new one is generated, and the draws can never be
        repeated.
    **settings : float, str, Path or None
        Settings of the method's card, also as text typed by a user.

    Returns
    -------
    VoiceAnonymiser
        The method, before :meth:`VoiceAnonymiser.fit`.

    Raises
    ------
    UsageError
        If the method or a setting is unknown, or a value is out of range.
    """
    method_class = METHODS[name]
    checked = method_class.card.checked(**settings)
    chosen = {setting: checked[setting] for setting in settings}
    return method_class(secret or Secret.generate(), **chosen)


def fit_recording(method: VoiceAnonymiser, utterance: Utterance) -> None:
    """Make a method ready for a single recording: fit it on a corpus of that recording alone.

    Parameters
    ----------
    method : VoiceAnonymiser
        A method that has not been fitted.
    utterance : Utterance
        The recording, with the ids that ``transform`` is going to be called with.
    """
    method.fit(Corpus(utterance.path.name, utterance.path.parent, (utterance,)))


def transform_recording(method: VoiceAnonymiser, utterance: Utterance) -> tuple[Audio, int]:
    """Anonymise a single recording that belongs to no corpus.

    Parameters
    ----------
    method : VoiceAnonymiser
        A method that has not been fitted; it is fitted on the recording.
    utterance : Utterance
        The recording and the ids of utterance and speaker.

    Returns
    -------
    audio : ndarray of float32, shape (n,)
        The recording in another voice.
    rate : int
        Its sample rate in Hz.

    Raises
    ------
    InputError
        If the recording cannot be read or anonymised.
    """
    audio, rate = load_native(utterance)
    fit_recording(method, utterance)
    changed = method.transform(audio, rate, speaker=utterance.speaker, utterance=utterance.id)
    return changed, rate
