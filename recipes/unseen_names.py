"""Make the test set of unseen names: replace the persons and places of a tagged file by new ones.

    python recipes/unseen_names.py test.conll.xz --lang en --seen train.conll.xz --out unseen.conll

Persons get names that ``build_lexicon.py`` held out of every list; places get towns of fewer than
15,000 people that are in no list. No word of a new name occurs in the training files. Needs the
packages of ``build_lexicon.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from build_lexicon import COUNTRIES, LANGUAGE_LOCALES, cities, is_held_out, is_latin, people

from sottovoce.anonymise.text.conll import format_conll, read_conll
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.training.tagger_augmentation import NameSwap


def new_names(lang: str, seen: set[str]) -> tuple[list[str], list[str], list[str]]:
    """Return given names, family names and towns that are in no list and no training text."""
    lookups = lexicon(lang)
    given: set[str] = set()
    family: set[str] = set()
    for locale in LANGUAGE_LOCALES[lang].split():
        women, men, last = people(locale)
        given |= {n.lower() for n in women | men if is_held_out(n)}
        family |= {n.lower() for n in last if is_held_out(n)}
    towns = {
        str(city["name"]).lower()
        for city in cities(500)
        if city["countrycode"] in COUNTRIES[lang].split() and is_latin(str(city["name"]))
    }
    towns = {t for t in towns if tuple(t.split()) not in lookups.places}

    def unseen(names: set[str]) -> list[str]:
        return sorted(
            n for n in names if not seen.intersection(n.split()) and not lookups.is_common(n)
        )

    return unseen(given), unseen(family), unseen(towns)


class ListedNameSwap(NameSwap):
    """Replaces names by names of given lists only, never by invented ones."""

    def __init__(self, lists: dict[str, list[str]], rng: np.random.Generator) -> None:
        self.lists, self.rng, self.organisations = lists, rng, ()

    def _draw(self, kind: str) -> str:
        return self._pick(self.lists[kind])


def main() -> None:
    """Write the test set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", type=Path)
    parser.add_argument("--lang", required=True)
    parser.add_argument("--seen", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    seen = {w.lower() for path in options.seen for s in read_conll(path) for w in s.words}
    given, family, places = new_names(options.lang, seen)
    swap = ListedNameSwap(
        {"given": given, "family": family, "place": places}, np.random.default_rng(1)
    )
    swapped = [swap(sentence) for sentence in read_conll(options.test)]
    options.out.write_text(format_conll(swapped), encoding="utf-8")
    print(
        f"{options.lang}: {len(given)} given and {len(family)} family names, {len(places)} places"
    )


if __name__ == "__main__":
    main()
