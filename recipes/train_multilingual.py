"""Train the written tagger for all languages, in one run.

    python recipes/translate_sets.py DATA pt/bosque/train es TRANSLATED/es.bosque.conll.xz
    python recipes/translate_sets.py DATA pt/bosque/train it TRANSLATED/it.bosque.conll.xz
    python recipes/train_multilingual.py DATA TRANSLATED OUT.npz

For time and size, every third sentence is used. Spanish and Italian have no open set of written
text: Portuguese news are translated word by word. The spoken tagger is made by
``train_entities.sh``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, read_conll
from sottovoce.anonymise.text.crf import TaggerCard
from sottovoce.anonymise.text.lexicon import LANGUAGES, MULTILINGUAL
from sottovoce.anonymise.text.taggers import WRITTEN
from sottovoce.training.tagger_augmentation import cased_view
from sottovoce.training.taggers import train_in_one_run, without_small_weights

ITERATIONS = 40
STEP = 3
"""Of so many sentences one is used."""
SMALLEST = 0.08
"""Weights below this are dropped. In the dev parts of EWT and Europeana (de) this raised F1 and
recall slightly and cost 0.7 to 1.8 points of precision."""
PARTS = {
    "en": ("btc/en.train", "btc/en.dev", "wnut17/en.train", "wnut17/en.dev", "wikigold/en.test"),
    "de": ("europeana/de.train", "germeval14/de.test"),
    "fr": ("europeana/fr.train", "europeana/fr.dev"),
    "nl": ("europeana/nl.train", "europeana/nl.dev"),
    "lv": ("fullstack/lv.train", "fullstack/lv.dev"),
    "pt": ("bosque/pt.train", "bosque/pt.dev"),
}


def read_sentences(data: Path, translated: Path, lang: str) -> tuple[list[Sentence], list[str]]:
    """Read written text, and commands with capitals; return the names of the files too."""
    paths = [data / f"{part}.conll.xz" for part in PARTS.get(lang, ())]
    paths = paths or [translated / f"{lang}.bosque.conll.xz"]
    commands = data / "massive" / f"{lang}.dev.conll.xz"
    sentences = [sentence for path in paths for sentence in read_conll(path)]
    sentences += map(cased_view, read_conll(commands))
    order = np.random.default_rng(0).permutation(len(sentences))[::STEP]
    names = [f"{path.parent.name}/{path.name}" for path in (*paths, commands)]
    return [sentences[int(i)] for i in order], names


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("translated", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    sentences: dict[str, list[Sentence]] = {}
    card = TaggerCard(lang=MULTILINGUAL, register=WRITTEN, data=[], licence="CC-BY-SA-4.0")
    for lang in LANGUAGES:
        sentences[lang], names = read_sentences(options.data, options.translated, lang)
        card["data"] += names
    card["entities"] = sum(len(s.spans) for part in sentences.values() for s in part)
    weights = train_in_one_run(sentences, MULTILINGUAL, WRITTEN, iterations=ITERATIONS, card=card)
    weights = without_small_weights(weights, SMALLEST)
    weights.save(options.out)
    print(f"{len(weights.rows):,} attributes, {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
