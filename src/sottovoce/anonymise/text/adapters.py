"""Taggers that users bring: weights of ``train entities``, a spaCy pipeline, a GLiNER model."""

from __future__ import annotations

from pathlib import Path

from sottovoce.anonymise.text.crf import Weights
from sottovoce.anonymise.text.entities import Finder, Tagger
from sottovoce.anonymise.text.gliner_tagger import GLINER, GlinerTagger
from sottovoce.anonymise.text.spacy_tagger import SPACY, SpacyTagger


def own_tagger(name: Path | str, lang: str) -> Finder:
    """The tagger in a file of ``train entities``, of ``spacy:NAME``, or of ``gliner:FOLDER``."""
    kind = str(name)
    if kind.startswith(SPACY):
        return SpacyTagger(kind.removeprefix(SPACY), lang)
    if kind.startswith(GLINER):
        return GlinerTagger(kind.removeprefix(GLINER))
    return Tagger(Weights.load(Path(name)), lang)
