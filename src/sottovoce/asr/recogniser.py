"""Speech recognisers by name: what the words of anonymised speech are measured with.

Packages add theirs through entry points in the group ``sottovoce.recognisers``.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.registry import Registry


class Recogniser(Protocol):
    """Turns audio into words."""

    def transcribe(self, audio: NDArray[np.float32], rate: int) -> str:
        """What is said in a recording of one channel."""


RECOGNISERS: Registry[Any] = Registry("recogniser", group="sottovoce.recognisers")
"""Functions without arguments that make a recogniser."""


def moonshine_tiny() -> Recogniser:
    """The default; needs the extra ``asr``."""
    from sottovoce.asr.moonshine import MoonshineTiny

    return MoonshineTiny()


RECOGNISERS.add("moonshine-tiny", moonshine_tiny)


def make_recogniser(name: str = "moonshine-tiny") -> Recogniser:
    """A recogniser by name."""
    recogniser: Recogniser = RECOGNISERS[name]()
    return recogniser
