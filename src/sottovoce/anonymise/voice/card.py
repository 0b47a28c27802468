"""The card of a voice anonymiser: its settings, capabilities, and what it does not protect."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sottovoce.anonymise.voice.draw_scope import DrawScope
from sottovoce.core.errors import UsageError
from sottovoce.core.records import Json, JsonObject, Record
from sottovoce.core.registry import did_you_mean

SettingValue = float | str | Path | None
"""Value of a setting: a number, a word, or a path that may be absent."""
FitNeed = Literal["unused", "optional", "required"]
"""Whether :meth:`VoiceAnonymiser.fit` does nothing, improves the result, or must be called."""


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
    per_utterance: tuple[str, str] | None = None
    """The setting that says for whom draws are made, and its word for each utterance anew; None
    where there is no such choice."""
    inverse: tuple[str, ...] = ()
    """Numbers with which the change can be undone, at least nearly, by whoever finds them out;
    empty if the method has no inverse. Its instances then follow
    :class:`~sottovoce.anonymise.voice.method.InvertibleAnonymiser`."""

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


def method_record(name: str, settings: Settings, scope: DrawScope | None = None) -> JsonObject:
    """Return method and settings as :meth:`VoiceAnonymiser.record` does; paths by file name only.

    Parameters
    ----------
    name : str
        Name of the method.
    settings : Settings
        Its checked settings.
    scope : DrawScope, optional
        For whom its draws are made; sessions are recorded by a digest.
    """
    plain: JsonObject = {name: plain_value(value) for name, value in settings.items()}
    record: JsonObject = {"method": name, "settings": plain}
    sessions = None if scope is None else scope.fingerprint()
    return record if sessions is None else {**record, "sessions": sessions}


def plain_value(value: SettingValue) -> Json:
    """Return the value of a setting as JSON holds it; of a path only the file name.

    Parameters
    ----------
    value : float, str, Path or None
        A checked value.
    """
    return value.name if isinstance(value, Path) else value
