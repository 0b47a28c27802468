"""Sentences of the built-in example: what made-up callers talk about.

They are filled from the templates of the built-in corpus, so nobody said them. Results on them show
that a set-up works, nothing else.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sottovoce.corpus.demo.phones import TEMPLATES, fill

TOPICS = {
    "contact": (0, 1, 8, 20),
    "family": (2, 10, 14, 19),
    "appointment": (3, 4, 17, 23),
    "travel": (5, 9, 12, 11),
    "errand": (6, 7, 13, 15),
    "message": (16, 18, 21, 22),
}
"""The subject of each template, by its number."""
SPEAKERS, SENTENCES = 900, 3
SEED = 20_231


def builtin_sentences() -> pl.DataFrame:
    """Return sentences (``text``) with their subjects (``label``) and made-up ``speaker``.

    A quarter of the words is left out, as in hurried speech, so that the subject is not obvious.
    """
    rng = np.random.default_rng(SEED)
    subjects = {number: topic for topic, numbers in TOPICS.items() for number in numbers}
    rows = []
    for speaker in range(SPEAKERS):
        for _ in range(SENTENCES):
            number = int(rng.integers(len(TEMPLATES)))
            words = [word.text.lower() for word in fill(TEMPLATES[number], rng)]
            kept = [word for word in words if rng.random() > 0.25]
            rows.append((" ".join(kept), subjects[number], f"speaker {speaker}"))
    return pl.DataFrame(rows, schema=["text", "label", "speaker"], orient="row")
