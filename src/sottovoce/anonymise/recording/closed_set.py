"""An attacker who knows that a masked word is one of a few: which one does it sound like?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.recording.force import RATE, decoder, listen, pcm, teach
from sottovoce.anonymise.recording.pronounce import lexicon


def pick(
    audio: NDArray[np.float32], rate: int, choices: Sequence[str], rng: np.random.Generator
) -> str:
    """The word that fits the sound best; one at random where none does."""
    import soxr

    sound = audio if rate == RATE else soxr.resample(audio, rate, RATE)
    known = lexicon(choices)
    able = [word for word in choices if word in known]
    heard = _heard(sound, [known[word] for word in able]) if np.any(sound) else None
    return able[heard] if heard is not None else str(rng.choice(list(choices)))


def _heard(sound: NDArray[np.float32], ways: list[tuple[tuple[str, ...], ...]]) -> int | None:
    search = decoder()
    names = teach(search, ways)
    search.add_jsgf_string("words", f"#JSGF V1.0; grammar g; public <one> = {' | '.join(names)};")
    search.activate_search("words")
    listen(search, pcm(sound))
    found = search.hyp()
    name = found.hypstr.split("(")[0] if found is not None else ""
    return int(name[1:]) if name.startswith("w") else None
