"""A spaCy pipeline that a user has, as a tagger.

A pipeline gives no probabilities, so τ does not move it, and few know recogniser output: it is
asked beside the taggers of the package, never instead of them. What those find stays found, and so
does the leak bound that was measured for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sottovoce.anonymise.text.entities import TYPES, Entity
from sottovoce.core.errors import InputError, UsageError

SPACY = "spacy:"
BATCH = 64
"""Sentences that go through a pipeline together."""
_SAME = {"PERSON": "PER", "PERS": "PER", "GPE": "LOC", "FAC": "LOC", "LOCATION": "LOC"}
_SAME |= {"ORGANIZATION": "ORG", "ORGANISATION": "ORG"}
_NOT_PRIVATE = frozenset(
    [
        "NORP",
        "PRODUCT",
        "EVENT",
        "WORK_OF_ART",
        "LAW",
        "LANGUAGE",
        "MONEY",
        "PERCENT",
        "QUANTITY",
        "ORDINAL",
        "CARDINAL",
        "OTH",
        "OTHER",
    ]
)


def kind_of(label: str) -> str:
    """The type that a label of a pipeline stands for; one that nobody knows is private (ID).

    >>> [kind_of(label) for label in ("PERSON", "GPE", "DATE", "MONEY", "PATIENT")]
    ['PER', 'LOC', 'DATE', 'MISC', 'ID']
    """
    label = label.upper()
    if label in TYPES:
        return label
    return _SAME.get(label, "MISC" if label in _NOT_PRIVATE else "ID")


class SpacyTagger:
    """The entities of a spaCy pipeline, from a package that is installed or from a folder."""

    beside = True
    rule = "tagger spacy"

    def __init__(self, name: str, lang: str) -> None:
        try:
            spacy = import_module("spacy")
            self._doc: Any = import_module("spacy.tokens").Doc
        except ImportError:
            raise UsageError(f"{SPACY}{name}: spaCy is not there; pip install spacy") from None
        try:
            self._pipeline: Any = spacy.load(name)
        except (OSError, ValueError) as error:
            told = str(error).partition("\n")[0][:120]
            raise InputError(f"{SPACY}{name}: no pipeline that spaCy can load ({told})") from None
        if self._pipeline.lang not in (lang, "xx"):
            raise UsageError(f"{SPACY}{name}: for {self._pipeline.lang!r}; --lang is {lang!r}")
        self.kinds = frozenset(map(kind_of, self._labels()))
        if not self.kinds:
            raise InputError(f"{SPACY}{name}: finds no entities; name one with a part 'ner'")
        meta = self._pipeline.meta
        title = f"{meta['lang']}_{meta['name']} {meta['version']}"
        self.card = {"register": "spacy", "data": [title], "licence": meta.get("license") or "?"}

    def _labels(self) -> set[str]:
        """What its parts can say; those that find entities say so."""
        finders = [
            one
            for name, one in self._pipeline.pipeline
            if "doc.ents" in self._pipeline.get_pipe_meta(name).assigns
        ]
        return {label for one in finders for label in one.labels}

    def find(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Entities of every sentence, whatever τ is."""
        found: list[list[Entity]] = [[] for _ in sentences]
        some = [i for i, words in enumerate(sentences) if words]
        docs = (self._doc(self._pipeline.vocab, words=list(sentences[i])) for i in some)
        for i, doc in zip(some, self._pipeline.pipe(docs, batch_size=BATCH), strict=True):
            found[i] = [
                Entity(one.start, one.end, kind_of(one.label_), 1.0, self.rule) for one in doc.ents
            ]
        return found
