"""Speech recognisers by name.

The utility of anonymised speech is measured with a recogniser, and masked recordings are attacked
with one. Packages add recognisers through entry points in the group ``sottovoce.recognisers``; an
entry point names a class that follows the protocol :class:`Recogniser`.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from sottovoce.asr.moonshine import MoonshineTiny
from sottovoce.core.languages import language_code
from sottovoce.core.registry import Registry
from sottovoce.core.types import Audio


class Recogniser(Protocol):
    """Turns speech into words; created without arguments."""

    languages: ClassVar[frozenset[str]]
    """Languages that it understands, as two-letter codes (ISO 639-1) in lower case."""

    def transcribe(self, audio: Audio, rate: int) -> str:
        """Return the words that are said in a recording.

        Parameters
        ----------
        audio : Audio
            Samples of one channel.
        rate : int
            Sampling rate in Hz.
        """


DEFAULT_RECOGNISER = "moonshine-tiny"

RECOGNISERS: Registry[type[Recogniser]] = Registry("recogniser", group="sottovoce.recognisers")
"""Recogniser classes by name."""
RECOGNISERS.add("moonshine-tiny", MoonshineTiny)


def make_recogniser(name: str = DEFAULT_RECOGNISER) -> Recogniser:
    """Create the recogniser that is registered under ``name``.

    Parameters
    ----------
    name : str, default "moonshine-tiny"
        A name in :data:`RECOGNISERS`.

    Raises
    ------
    UsageError
        ``unknown-name`` if no recogniser is called that.
    MissingExtraError
        If the recogniser needs a package that is not installed.
    """
    return RECOGNISERS[name]()


def understands(name: str, language: str) -> bool:
    """Tell whether a registered recogniser understands a language, without loading it.

    Parameters
    ----------
    name : str
        A name in :data:`RECOGNISERS`.
    language : str
        Language of an utterance, such as ``en``, ``en-GB``, ``eng`` or ``english``. An empty
        string (the corpus does not say) counts as understood.
    """
    return not language or language_code(language) in RECOGNISERS[name].languages
