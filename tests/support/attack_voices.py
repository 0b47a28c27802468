"""Simulated embeddings for the tests: voices, and an anonymiser that hides them in part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.attack import EmbeddingSets
from sottovoce.attack.knowledge import Form, Part
from sottovoce.speaker.embeddings import Embeddings

SIZE = 24
HIDING = 8
"""Directions that draws for each recording hide; draws for each speaker change as many others."""


def simulated(
    seed: int = 0,
    evaluated: int = 20,
    trained: int = 24,
    each: int = 4,
    noise: float = 0.7,
    shift: float = 4.0,
) -> EmbeddingSets:
    """Every part in every form; enrolment and trial of ``evaluated`` speakers."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(SIZE, SIZE)))[0]
    similar = np.linalg.qr(turn + 0.1 * rng.normal(size=(SIZE, SIZE)))[0]
    sets: dict[tuple[Part, Form], Embeddings] = {}
    people = {"e": rng.normal(size=(evaluated, SIZE)), "t": rng.normal(size=(trained, SIZE))}
    draws = {
        (form, group): rng.normal(size=(len(places), HIDING))
        for form in ("attacker", "similar", "released")
        for group, places in people.items()
    }
    parts: Sequence[tuple[Part, str]] = (("enrol", "e"), ("trial", "e"), ("train", "t"))
    forms: Sequence[Form] = ("original", "attacker", "similar", "released")
    for part, group in parts:
        speakers = np.repeat(np.arange(len(people[group])), each)
        recorded = people[group][speakers] + noise * rng.normal(size=(len(speakers), SIZE))
        for form in forms:
            vectors = recorded.copy()
            if form != "original":
                vectors = vectors @ (similar if form == "similar" else turn)
                vectors[:, :HIDING] += shift * rng.normal(size=(len(speakers), HIDING))
                vectors[:, HIDING : 2 * HIDING] += draws[form, group][speakers]
            sets[part, form] = Embeddings.of(
                vectors + 0.5,
                [f"{group}{speaker:02}" for speaker in speakers],
                utterances=[f"{part}-{number}" for number in range(len(speakers))],
                name=f"{part}-{form}",
            )
    return EmbeddingSets(sets)
