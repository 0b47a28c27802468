"""Train the written tagger of a language whose written text is translated word by word.

    pip install wordfreq==3.1.1
    python recipes/train_translated.py DATA TRANSLATED es OUT.npz

TRANSLATED has <lang>.<set>.conll.xz of ``translate_sets.py``. How much capitals are favoured was
chosen on Portuguese news (the dev part of Bosque), with a tagger that was trained without
Portuguese news.

A translator only knows words of the lookups, so that names would be nearly the only words of the
training text that are not in them, and any rare word would be taken for a name. So some words that
are no names are replaced by rarer words with the same ending, from the list that the lookups are
the beginning of.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import wordfreq
from translate_sets import like

from sottovoce.anonymise.text.conll import Sentence, read_conll
from sottovoce.anonymise.text.crf import TaggerCard
from sottovoce.anonymise.text.lexicon import Lexicon, lexicon
from sottovoce.training.tagger_augmentation import cased_view
from sottovoce.training.taggers import favour_capitals, train_in_one_run

ITERATIONS = 35
CAPITALS = 2.0
"""By how much capitals are favoured."""
LOWER_CASE_ODDS = 4.0
"""How many times the odds of being private count in sentences without capitals. Chosen on 75
sentences of Italian speeches and letters (the De Gasperi part of KIND, Paccosi and Palmero Aprosio
2022, read for development only): the largest of 1, 2, 3, 4, 6 and 8 whose precision there is at
least a third."""
SETS = ("bosque", "wikigold", "ewt")
RARE_SHARE = 0.3
"""Share of replaceable words that are replaced by rarer ones."""
MAX_ZIPF = 9
"""Twice the Zipf frequency of words that are replaced, at most."""
LISTED = 300_000
"""Words of the list of frequencies."""
MIN_LETTERS, ENDING, STEM = 6, 3, 5
"""Letters of a replaced word, of its ending, and of the stem that a rare word has in common with a
listed word that is no name (*sconfessata*, *sconfessare*): otherwise it may be a name."""


class RareWords:
    """Replaces words that are no names by rarer words with the same ending."""

    def __init__(self, lang: str) -> None:
        self.lookups = lexicon(lang)
        self.rng = np.random.default_rng(0)
        self.by_ending: dict[str, list[str]] = {}
        stems = {
            form[:STEM]
            for form in self.lookups.frequency
            if len(form) >= MIN_LETTERS and not is_name(form, self.lookups)
        }
        for form in wordfreq.top_n_list(lang, LISTED, wordlist="large"):
            if (
                form not in self.lookups.frequency
                and form.isalpha()
                and len(form) >= MIN_LETTERS
                and form[:STEM] in stems
                and not is_name(form, self.lookups)
            ):
                self.by_ending.setdefault(form[-ENDING:], []).append(form)

    def __call__(self, sentence: Sentence) -> Sentence:
        """Copy a sentence with rarer words."""
        words = [
            self._replace(word) if tag == "O" else word
            for word, tag in zip(sentence.words, sentence.tags, strict=True)
        ]
        return Sentence(tuple(words), sentence.tags)

    def _replace(self, word: str) -> str:
        low = word.lower()
        choices = self.by_ending.get(low[-ENDING:], ())
        if len(low) < MIN_LETTERS or not choices or self.rng.random() >= RARE_SHARE:
            return word
        if not 0 < self.lookups.frequency.get(low, 0) <= MAX_ZIPF:
            return word
        return like(choices[int(self.rng.integers(len(choices)))], word)


def is_name(form: str, lookups: Lexicon) -> bool:
    """Tell whether a word is a listed name or place."""
    return bool(lookups.name_kind(form)) or (form,) in lookups.places


def read_sentences(data: Path, translated: Path, lang: str) -> tuple[list[Sentence], list[str]]:
    """Read translated text, and commands with capitals; return the names of the files too."""
    paths = [translated / f"{lang}.{name}.conll.xz" for name in SETS]
    sentences = [sentence for path in paths for sentence in read_conll(path)]
    commands = data / "massive" / f"{lang}.dev.conll.xz"
    names = [f"{path.parent.name}/{path.name}" for path in (*paths, commands)]
    return [*sentences, *map(cased_view, read_conll(commands))], names


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("translated", type=Path)
    parser.add_argument("lang")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    sentences, names = read_sentences(options.data, options.translated, options.lang)
    rarer = RareWords(options.lang)
    order = np.random.default_rng(0).permutation(len(sentences))
    chosen = [rarer(sentences[int(i)]) for i in order]
    card = TaggerCard(lang=options.lang, register="written", data=names, licence="CC-BY-SA-4.0")
    card["entities"] = sum(len(sentence.spans) for sentence in chosen)
    card["lower_case_odds"] = LOWER_CASE_ODDS
    weights = train_in_one_run(
        {options.lang: chosen}, options.lang, "written", iterations=ITERATIONS, card=card
    )
    favour_capitals(weights, CAPITALS).save(options.out)


if __name__ == "__main__":
    main()
