"""What a voice anonymiser is: its protocol, its card, its settings, and how one is made by name.

A package adds its own with an entry point in the group ``sottovoce.voice``: a class with a ``card``
that takes a :class:`~sottovoce.anonymise.keys.Secret` and the settings of the card.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import Registry, did_you_mean
from sottovoce.core.types import Audio
from sottovoce.corpus.utterance import Corpus


class VoiceAnonymiser(Protocol):
    """Changes the voice of recordings; what it draws follows from its secret and the names."""

    @property
    def name(self) -> str:
        """As in the registry."""

    def fit(self, corpus: Corpus) -> Self:
        """Learn what is needed of the speakers to be anonymised; often nothing."""

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """The recording in another voice: same length, rate and loudness, finite, within ±1.

        May be called from several threads at once.
        """

    def record(self) -> dict[str, Any]:
        """Method and settings, for the record; never the secret or what was drawn with it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a method: what it may be, and in one line what it does.

    >>> share = Setting("share", 0.5, "How much.", low=0, high=1, words=("all",))
    >>> share.checked("0.25", "example"), share.checked("all", "example")
    (0.25, 'all')
    >>> share.range
    '0 to 1 | all'
    """

    name: str
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    words: tuple[str, ...] = ()
    """Words that may stand there, instead of a number or as the only choices."""
    whole: bool = False
    path: bool = False
    """A file or folder, or None."""

    @property
    def range(self) -> str:
        """What it may be, for a person."""
        choices = [f"{self.low:g} to {self.high:g}"] if self.low is not None else []
        return " | ".join([*choices, *self.words, *(["PATH"] if self.path else [])])

    def checked(self, value: Any, method: str) -> Any:
        """The value in its own type, or an error that names the range."""
        if isinstance(value, str) and value in self.words:
            return value
        if self.path:
            return None if value is None else Path(value)
        number = None if self.low is None else _number(value)
        if number is None or not self.low <= number <= self.high:  # type: ignore[operator]
            wanted = did_you_mean("choice", value, list(self.words)) if self._word(value) else ""
            hint = wanted or f"use {self.range}"
            raise UsageError(f"{method}: {self.name}={value}: {hint}")
        if self.whole and number != int(number):
            raise UsageError(f"{method}: {self.name}={value}: use a whole number")
        return int(number) if self.whole else number

    def _word(self, value: Any) -> bool:
        return isinstance(value, str) and self.low is None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class MethodCard:
    """What has to be known of a method before it is used."""

    name: str
    summary: str
    """One sentence."""
    settings: tuple[Setting, ...]
    keeps: tuple[str, ...]
    """What of a recording is kept, such as ``duration``; each is also what still leaks."""
    leaks: str
    """One sentence: what an attacker can go by."""
    reversible: str
    """Whether someone who knows the draws gets the voice back."""
    reference: str

    def checked(self, **given: Any) -> dict[str, Any]:
        """All settings, those not given by default; an unknown name or value is an error."""
        known = {one.name: one for one in self.settings}
        for name in given:
            if name not in known:
                raise UsageError(f"{self.name}: {did_you_mean('setting', name, list(known))}")
        return {
            name: one.checked(given[name], self.name) if name in given else one.default
            for name, one in known.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "settings"}
        settings = {
            one.name: {"default": one.default, "range": one.range, "help": one.help}
            for one in self.settings
        }
        return {**plain, "keeps": list(self.keeps), "settings": settings}


class MethodClass(Protocol):
    """A class that makes an anonymiser from a secret and settings."""

    card: MethodCard

    def __call__(self, *args: Any, **settings: Any) -> VoiceAnonymiser:
        """Called with the secret and, by name, the settings."""


METHODS: Registry[MethodClass] = Registry("voice anonymiser", group="sottovoce.voice")


def make_method(name: str, secret: Secret | None = None, **settings: Any) -> VoiceAnonymiser:
    """An anonymiser by name; settings may be text as a person types it.

    Without a secret a new one is made, and the draws can never be repeated.
    """
    made = METHODS[name]
    given = made.card.checked(**settings)
    return made(secret or Secret.generate(), **{key: given[key] for key in settings})


def recorded(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Name and settings as they go into a record: files by their name only."""
    plain = {key: one.name if isinstance(one, Path) else one for key, one in settings.items()}
    return {"method": name, "settings": plain}
