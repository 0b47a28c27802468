"""The protocol of a voice anonymiser, its card and settings, and construction by name.

A third-party package adds a method with an entry point in the group ``sottovoce.voice``. The entry
point names a class that has a class attribute ``card`` (:class:`MethodCard`), is called with a
:class:`~sottovoce.anonymise.keys.Secret` and the settings of the card as keyword arguments, and
whose instances follow :class:`VoiceAnonymiser`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, Self

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import UsageError
from sottovoce.core.records import Json, JsonObject, Record
from sottovoce.core.registry import Registry, did_you_mean
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Corpus, Utterance

SettingValue = float | str | Path | None
"""Value of a setting: a number, a word, or a path that may be absent."""
FitNeed = Literal["unused", "optional", "required"]
"""Whether :meth:`VoiceAnonymiser.fit` does nothing, improves the result, or must be called."""


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


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a method: the values it accepts and a line of help.

    >>> share = Setting("share", 0.5, "How much.", low=0, high=1, words=("all",))
    >>> share.checked("0.25", "example"), share.checked("all", "example")
    (0.25, 'all')
    >>> share.range
    '0 to 1 | all'
    """

    name: str
    default: SettingValue
    help: str
    low: float | None = None
    """Smallest number; None if the setting is not a number."""
    high: float | None = None
    """Largest number; None if the setting is not a number."""
    words: tuple[str, ...] = ()
    """Words that are accepted instead of a number, or as the only choices."""
    integer: bool = False
    """Whether the number must be an integer."""
    path: bool = False
    """Whether the value is a file or folder, or None."""

    @property
    def range(self) -> str:
        """The accepted values as text."""
        choices = [f"{self.low:g} to {self.high:g}"] if self.low is not None else []
        return " | ".join([*choices, *self.words, *(["PATH"] if self.path else [])])

    def checked(self, value: SettingValue, method: str) -> SettingValue:
        """Convert a value to the type of the setting and check its range.

        Parameters
        ----------
        value : float, str, Path or None
            The value, also as text typed by a user.
        method : str
            Name of the method, for error messages.

        Returns
        -------
        float, str, Path or None
            The value in its type.

        Raises
        ------
        UsageError
            If the value is not accepted (``out-of-range``).
        """
        if isinstance(value, str) and value in self.words:
            return value
        if self.path:
            return None if value is None else Path(str(value))
        number = _number(value)
        if number is None or not self._contains(number):
            raise UsageError(
                f"{method}: {self.name}={value}: {self._hint(value)}", code="out-of-range"
            )
        if self.integer and number != int(number):
            raise UsageError(
                f"{method}: {self.name}={value}: use a whole number", code="out-of-range"
            )
        return int(number) if self.integer else number

    def _contains(self, number: float) -> bool:
        return self.low is not None and self.high is not None and self.low <= number <= self.high

    def _hint(self, value: SettingValue) -> str:
        if isinstance(value, str) and self.low is None:
            return did_you_mean("choice", value, list(self.words))
        return f"use {self.range}"


def _number(value: SettingValue) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


class Settings(dict[str, SettingValue]):
    """Checked settings of a method by name, with access by type."""

    def number(self, name: str) -> float:
        """Return a setting that is a number.

        Parameters
        ----------
        name : str
            Name of the setting.
        """
        value = self[name]
        if not isinstance(value, int | float):
            raise TypeError(f"the setting {name} is not a number")
        return value

    def count(self, name: str) -> int | None:
        """Return a setting that is an integer, or None where a word stands for it.

        Parameters
        ----------
        name : str
            Name of the setting.
        """
        value = self[name]
        return value if isinstance(value, int) else None

    def word(self, name: str) -> str:
        """Return a setting that is a word.

        Parameters
        ----------
        name : str
            Name of the setting.
        """
        value = self[name]
        if not isinstance(value, str):
            raise TypeError(f"the setting {name} is not a word")
        return value

    def path(self, name: str) -> Path | None:
        """Return a setting that is a path.

        Parameters
        ----------
        name : str
            Name of the setting.
        """
        value = self[name]
        if value is not None and not isinstance(value, Path):
            raise TypeError(f"the setting {name} is not a path")
        return value


@dataclass(frozen=True, slots=True)
class MethodCard(Record):
    """Description of a method: settings, capabilities, and what it does not protect."""

    name: str
    summary: str
    """One sentence."""
    settings: tuple[Setting, ...]
    keeps: tuple[str, ...]
    """Properties of a recording that are kept, such as ``duration``; each of them still leaks."""
    leaks: str
    """One sentence: what an attacker can use."""
    reversible: str
    """Whether somebody who knows the draws can recover the voice."""
    reference: str
    fit: FitNeed = "required"
    """Whether ``fit`` is unused, optional (speakers unknown to it work too) or required."""
    draws: tuple[str, ...] = ()
    """What is drawn with the secret, such as ``target speaker``; empty if nothing is."""

    def checked(self, **values: SettingValue) -> Settings:
        """Check settings and add the defaults of those that are not given.

        Parameters
        ----------
        **values : float, str, Path or None
            Settings by name, also as text typed by a user.

        Returns
        -------
        Settings
            All settings of the method.

        Raises
        ------
        UsageError
            If a name is unknown (``unknown-name``) or a value not accepted (``out-of-range``).
        """
        known = {setting.name: setting for setting in self.settings}
        for name in values:
            if name not in known:
                hint = did_you_mean("setting", name, list(known))
                raise UsageError(f"{self.name}: {hint}", code="unknown-name")
        settings = Settings({name: setting.default for name, setting in known.items()})
        settings.update({name: known[name].checked(values[name], self.name) for name in values})
        return settings

    def to_dict(self) -> JsonObject:
        """Return the fields by name; settings as default, range and help by name."""
        settings: JsonObject = {
            setting.name: {
                "default": plain_value(setting.default),
                "range": setting.range,
                "help": setting.help,
            }
            for setting in self.settings
        }
        return {**Record.to_dict(self), "settings": settings}


class MethodClass(Protocol):
    """A class that makes an anonymiser from a secret and settings."""

    card: MethodCard

    def __call__(self, *args: Any, **settings: Any) -> VoiceAnonymiser:
        """Make an anonymiser; called with the secret and, by name, the settings of the card."""


METHODS: Registry[MethodClass] = Registry("voice anonymiser", group="sottovoce.voice")


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


def method_record(name: str, settings: Settings) -> JsonObject:
    """Return method and settings as :meth:`VoiceAnonymiser.record` does; paths by file name only.

    Parameters
    ----------
    name : str
        Name of the method.
    settings : Settings
        Its checked settings.
    """
    plain: JsonObject = {name: plain_value(value) for name, value in settings.items()}
    return {"method": name, "settings": plain}


def plain_value(value: SettingValue) -> Json:
    """Return the value of a setting as JSON holds it; of a path only the file name.

    Parameters
    ----------
    value : float, str, Path or None
        A checked value.
    """
    return value.name if isinstance(value, Path) else value
