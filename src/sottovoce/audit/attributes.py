"""Attributes of speakers from embeddings, with the labels a corpus has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sottovoce.attack.attributes import infer
from sottovoce.core.errors import TooFewError
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.embeddings import Embeddings

OWN = ("gender", "language", "session")


def attributes_of(
    embeddings: Embeddings, corpus: Corpus, names: Iterable[str], *, seed: int = 0
) -> dict[str, Any]:
    """Each attribute's inference; where there is too little to learn from, why there is none."""
    by_id = {one.id: one for one in corpus}
    ids = [] if embeddings.utterances is None else embeddings.utterances.tolist()
    found: dict[str, Any] = {}
    for name in names:
        labels = [_label(by_id[one], name) if one in by_id else "" for one in ids]
        try:
            found[name] = infer(embeddings, labels, attribute=name, seed=seed).to_dict()
        except TooFewError as error:
            found[name] = {"note": str(error)}
    return found


def _label(utterance: Any, name: str) -> str:
    return str(getattr(utterance, name) if name in OWN else utterance.extra.get(name, ""))
