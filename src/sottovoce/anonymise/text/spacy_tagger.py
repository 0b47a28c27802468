"""A spaCy pipeline of the user, as a tagger.

A pipeline gives no probabilities, so τ does not change what it finds, and few pipelines know ASR
output: it is used in addition to the taggers of the package, never instead of them. What those find
stays found, and the leak bound that was measured for them still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Protocol

from sottovoce.anonymise.text.crf import TaggerCard
from sottovoce.anonymise.text.entities import TYPES, Entity
from sottovoce.anonymise.text.taggers import TaggerInfo
from sottovoce.core.errors import InputError, UsageError, first_line

BATCH = 64
"""Sentences that go through a pipeline together."""
_EQUIVALENT = {"PERSON": "PER", "PERS": "PER", "GPE": "LOC", "FAC": "LOC", "LOCATION": "LOC"}
_EQUIVALENT |= {"ORGANIZATION": "ORG", "ORGANISATION": "ORG"}
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


class _SpacySpan(Protocol):
    start: int
    end: int
    label_: str


class _Doc(Protocol):
    ents: Sequence[_SpacySpan]


class _Component(Protocol):
    labels: Sequence[str]


class _ComponentMeta(Protocol):
    assigns: Sequence[str]


class _Pipeline(Protocol):
    """What is used of ``spacy.Language``."""

    lang: str
    meta: dict[str, str]
    vocab: object
    pipeline: Sequence[tuple[str, _Component]]

    def get_pipe_meta(self, name: str) -> _ComponentMeta: ...

    def pipe(self, docs: Iterable[_Doc], *, batch_size: int) -> Iterator[_Doc]: ...


def kind_of(label: str) -> str:
    """Return the type that a label of a pipeline stands for; an unknown label is private (ID).

    Parameters
    ----------
    label : str
        The label, in any case.

    Examples
    --------
    >>> [kind_of(label) for label in ("PERSON", "GPE", "DATE", "MONEY", "PATIENT")]
    ['PER', 'LOC', 'DATE', 'MISC', 'ID']
    """
    label = label.upper()
    if label in TYPES:
        return label
    return _EQUIVALENT.get(label, "MISC" if label in _NOT_PRIVATE else "ID")


class SpacyTagger:
    """The entities of a spaCy pipeline.

    Parameters
    ----------
    name : str
        An installed package, or a folder.
    lang : str
        Language code; the pipeline must be for this language or for several.

    Raises
    ------
    UsageError
        ``missing-package`` without spaCy, ``wrong-language`` for a pipeline of another language.
    InputError
        ``unloadable`` if spaCy cannot load it, ``no-entities`` if it finds none.
    """

    def __init__(self, name: str, lang: str) -> None:
        try:
            spacy = import_module("spacy")
            self._make_doc = import_module("spacy.tokens").Doc
        except ImportError:
            raise UsageError(
                f"spacy:{name}: spaCy is not installed; pip install spacy", code="missing-package"
            ) from None
        try:
            self._pipeline: _Pipeline = spacy.load(name)
        except (OSError, ValueError) as error:
            raise InputError(
                f"spacy:{name}: not a pipeline that spaCy can load ({first_line(error)})",
                code="unloadable",
            ) from None
        if self._pipeline.lang not in (lang, "xx"):
            raise UsageError(
                f"spacy:{name}: the pipeline is for {self._pipeline.lang!r}; --lang is {lang!r}",
                code="wrong-language",
            )
        kinds = frozenset(map(kind_of, self._labels()))
        if not kinds:
            raise InputError(
                f"spacy:{name}: finds no entities; name a pipeline with a component 'ner'",
                code="no-entities",
            )
        meta = self._pipeline.meta
        title = f"{meta['lang']}_{meta['name']} {meta['version']}"
        card = TaggerCard(register="spacy", data=[title], licence=meta.get("license") or "?")
        self.info = TaggerInfo(name="spacy", kinds=kinds, card=card)

    def _labels(self) -> set[str]:
        """Return the labels of the components that assign entities."""
        components = [
            component
            for name, component in self._pipeline.pipeline
            if "doc.ents" in self._pipeline.get_pipe_meta(name).assigns
        ]
        return {label for component in components for label in component.labels}

    def tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Find the entities of every sentence.

        Parameters
        ----------
        sentences : sequence of sequence of str
            The words of each sentence.
        tau : float or None
            Ignored: a pipeline gives no probabilities.
        """
        entities: list[list[Entity]] = [[] for _ in sentences]
        filled = [i for i, words in enumerate(sentences) if words]
        docs = (self._make_doc(self._pipeline.vocab, words=list(sentences[i])) for i in filled)
        for i, doc in zip(filled, self._pipeline.pipe(docs, batch_size=BATCH), strict=True):
            entities[i] = [
                Entity(span.start, span.end, kind_of(span.label_), 1.0, self.info.rule)
                for span in doc.ents
            ]
        return entities
