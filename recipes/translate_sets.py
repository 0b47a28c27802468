"""Translate tagged text word by word, for languages that have no tagged text of a kind.

    python recipes/translate_sets.py DATA pt/bosque/train es OUT.conll.xz

Spanish and Italian have open tagged commands, but no news. Tagged news of another language are
translated word by word (Mayhew et al., *Cheap Translation for Cross-Lingual Named Entity
Recognition*, EMNLP 2017): tags stay with their words. The dictionary is learnt from the commands of
MASSIVE, which are parallel (IBM Model 1). A word that it lacks is replaced by a word of the target
language that is spelt alike, else by one that is as frequent and ends alike, so that lookups and
endings are those of the target language. Names stay; places and the words of organisations are
translated if a word is spelt alike. MISC, which not all sets have, is dropped.
"""

from __future__ import annotations

import argparse
import lzma
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, format_conll, read_conll
from sottovoce.anonymise.text.lexicon import lexicon

ROUNDS = 6
"""Rounds of expectation maximisation."""
MIN_PROBABILITY = 0.15
"""Of a translation in both directions."""
MIN_SKELETON = 3
"""Letters that words spelt alike have in common."""
NULL = ""
_ITALIAN = {"di": "de", "a": "a", "da": "da", "in": "ne", "su": "su"}
_CONTRACTIONS = {
    "es": {("de", "el"): "del", ("a", "el"): "al"},
    "it": {
        (word, article): stem + ending
        for word, stem in _ITALIAN.items()
        for article, ending in (
            ("il", "l"),
            ("lo", "llo"),
            ("la", "lla"),
            ("i", "i"),
            ("gli", "gli"),
            ("le", "lle"),
        )
    },
}


def translations(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> dict[str, dict[str, float]]:
    """Learn P(target word | source word) from parallel sentences with IBM Model 1."""
    words: tuple[dict[str, int], dict[str, int]] = ({NULL: 0}, {})
    for pair in pairs:
        for sentence, ids in zip(pair, words, strict=True):
            for word in sentence:
                ids.setdefault(word, len(ids))
    links = np.array(
        [(position, words[0][s], words[1][t]) for position, (s, t) in enumerate(_links(pairs))]
    )
    tokens = np.cumsum(links[:, 1] == 0) - 1  # the links of a target word begin with NULL
    keys, link = np.unique(links[:, 1] * len(words[1]) + links[:, 2], return_inverse=True)
    source = keys // len(words[1])
    probability = np.ones(len(keys))
    for _ in range(ROUNDS):
        weight = probability[link]
        weight /= np.bincount(tokens, weight)[tokens]
        counts = np.bincount(link, weight)
        probability = counts / np.bincount(source, counts)[source]
    forms = list(words[0]), list(words[1])
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for key, p in zip(keys.tolist(), probability.tolist(), strict=True):
        table[forms[0][key // len(forms[1])]][forms[1][key % len(forms[1])]] = p
    return table


def _links(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> Iterator[tuple[str, str]]:
    """Yield every target word with NULL and each source word of its sentence."""
    for source, target in pairs:
        for word in target:
            yield NULL, word
            for other in source:
                yield other, word


def parallel_commands(data: Path, source: str, target: str) -> list[tuple[list[str], list[str]]]:
    """Read the parallel commands without their entities, which are not always translations."""

    def words(lang: str, part: str) -> list[list[str]]:
        sentences = read_conll(data / "massive" / f"{lang}.{part}.conll.xz")
        return [
            [w for w, tag in zip(s.words, s.tags, strict=True) if tag[2:] not in ("PER", "ORG")]
            for s in sentences
        ]

    return [
        pair
        for part in ("train", "dev")
        for pair in zip(words(source, part), words(target, part), strict=True)
    ]


def dictionary(data: Path, source: str, target: str) -> dict[str, str]:
    """Return the most probable translation of each source word that is probable both ways."""
    pairs = parallel_commands(data, source, target)
    seen = Counter(word for words, _ in pairs for word in set(words))
    forth = translations(pairs)
    back = translations([(b, a) for a, b in pairs])
    best: dict[str, str] = {}
    for word, row in forth.items():
        if seen[word] < 2:
            continue
        scored = {w: p * back.get(w, {}).get(word, 0.0) for w, p in row.items()}
        choice = max(scored, key=lambda w: scored[w])
        if row[choice] >= MIN_PROBABILITY and back[choice].get(word, 0) >= MIN_PROBABILITY / 3:
            best[word] = choice
    return best


_SKELETON = [
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(cao|cion|zione|tion|sion|sao|sione)$", "C"),
        (r"(coes|ciones|zioni|tions|siones|soes|sioni)$", "CS"),
        (r"(dade|dad|tad|ty|te)$", "D"),
        (r"(.)\1", r"\1"),
        (r"ie|ei", "e"),
        (r"u[eo]|ou|au", "o"),
        (r"nh|gn", "n"),
        (r"lh|gl", "l"),
        (r"ph", "f"),
        (r"qu|ch|[kqzç]", "c"),
        (r"[xj]", "s"),
        (r"[vw]", "b"),
        (r"y", "i"),
        (r"h", ""),
        (r"[aeiou]+[mns]?$", ""),
    )
]


def skeleton(word: str) -> str:
    """Return what words of related languages have in common: *governo*, *gobierno* → *gobern*."""
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    for pattern, new in _SKELETON:
        plain = pattern.sub(new, plain)
    return plain


class WordTranslator:
    """Translates words of one language into another."""

    def __init__(self, data: Path, source: str, target: str) -> None:
        self.known = dictionary(data, source, target)
        self.source, self.target = lexicon(source), lexicon(target)
        self.rng = np.random.default_rng(0)
        self._by_skeleton: defaultdict[str, list[str]] = defaultdict(list)
        self._alike: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        for form, zipf in self.target.frequency.items():
            self._by_skeleton[skeleton(form)].append(form)
            if not self.target.name_kind(form) and (form,) not in self.target.places:
                self._alike[zipf, form[-2:]].append(form)
                self._alike[zipf, ""].append(form)

    @cache  # noqa: B019
    def cognate(self, word: str) -> str | None:
        """Return the word of the target language that is spelt most alike, if there is one."""
        core = skeleton(word)
        if len(core) < MIN_SKELETON:
            return None
        same_end = self._by_skeleton.get(core, [])
        return min(
            same_end, key=lambda f: (abs(len(f) - len(word)), f[-1] != word[-1]), default=None
        )

    @cache  # noqa: B019
    def common_word(self, word: str) -> str:
        """Translate a word that is no name; one that cannot be is replaced by one like it."""
        if word in self.known:
            return self.known[word]
        zipf = self.source.frequency.get(word, 0)
        if not zipf or not any(map(str.isalpha, word)):
            return word
        if (alike := self.cognate(word)) is not None:
            return alike
        choices = self._alike.get((zipf, word[-2:])) or self._alike.get((zipf, "")) or [word]
        return choices[int(self.rng.integers(len(choices)))]

    def name_word(self, word: str, kind: str) -> str:
        """Translate a word of a place or an organisation; other names stay."""
        if kind == "PER" or not word.isalpha() or len(word) < MIN_SKELETON:
            return word
        if word in self.known and self.source.is_common(word):
            return self.known[word]
        if kind == "LOC" and (word,) in self.target.places:
            return word
        if not self.source.frequency.get(word):
            return word
        return self.cognate(word) or word

    def __call__(self, sentence: Sentence) -> Sentence:
        """Translate a sentence; capitals stay where they were."""
        words = []
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            low = word.lower()
            if tag == "O":
                new = self.common_word(low)
            else:
                new = low if word.isupper() else self.name_word(low, tag[2:])
            words.append(word if new == low else _like(new, word))
        tags = tuple("O" if tag[2:] == "MISC" else tag for tag in sentence.tags)
        return contract(Sentence(tuple(words), tags), self.target.lang)


def contract(sentence: Sentence, lang: str) -> Sentence:
    """Write prepositions and articles as one word: *de el* → *del*."""
    rules = _CONTRACTIONS.get(lang, {})
    words: list[str] = []
    tags: list[str] = []
    for word, tag in zip(sentence.words, sentence.tags, strict=True):
        joined = rules.get((words[-1].lower(), word.lower())) if words else None
        if joined is not None and tag[2:] == tags[-1][2:]:
            words[-1] = _like(joined, words[-1])
        else:
            words.append(word)
            tags.append(tag)
    return Sentence(tuple(words), tuple(tags))


def _like(new: str, old: str) -> str:
    return (
        new.upper()
        if len(old) > 1 and old.isupper()
        else new.capitalize()
        if old[:1].isupper()
        else new
    )


def main() -> None:
    """Translate a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("part", help="LANG/SET/PART, such as pt/bosque/train")
    parser.add_argument("target", help="language code")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    lang, name, part = options.part.split("/")
    translate = WordTranslator(options.data, lang, options.target)
    sentences = read_conll(options.data / name / f"{lang}.{part}.conll.xz")
    text = format_conll([translate(sentence) for sentence in sentences])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(lzma.compress(text.encode()))
    words = [w.lower() for s in sentences for w, t in zip(s.words, s.tags, strict=True) if t == "O"]
    share = sum(word in translate.known for word in words) / len(words)
    print(f"{len(sentences):,} sentences; {100 * share:.1f} % of the words are in the dictionary")


if __name__ == "__main__":
    main()
