"""How well private words are found, on text that people have tagged.

Entities count as in the CoNLL scorer (exact words and type); words count whether or not the type is
right, since a private word is hidden either way. Recall on words is the figure for privacy: what it
lacks to 1 is what leaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, Span
from sottovoce.anonymise.text.guarantee import effective_words, leak_bound, leak_of_text
from sottovoce.anonymise.text.known_leaks import MissedWords
from sottovoce.anonymise.text.lexicon import listed_names
from sottovoce.anonymise.text.multilingual_detector import AnyDetector
from sottovoce.anonymise.text.taggers import Tagger
from sottovoce.core.errors import TooFewError
from sottovoce.core.records import JsonObject
from sottovoce.core.types import IntArray

RESAMPLES = 1000
MIN_GROUP_WORDS = 30
"""Private words that a group must have to be named as the worst one."""
DIRECT_TYPES = frozenset({"PER", "EMAIL", "PHONE", "ID", "URL"})
"""Types that identify one person by themselves; the others do so together."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Correct predictions among what was predicted and what is tagged."""

    correct: int
    predicted: int
    tagged: int

    @property
    def precision(self) -> float:
        """Share of the predictions that are correct."""
        return self.correct / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """Share of what is tagged that was predicted."""
        return self.correct / self.tagged if self.tagged else 1.0

    @property
    def missed(self) -> int:
        """Number of tagged items that were not predicted."""
        return self.tagged - self.correct

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.predicted + self.tagged
        return 2 * self.correct / total if total else 1.0

    def to_dict(self) -> JsonObject:
        """Return counts and rates."""
        return {
            "hits": self.correct,
            "found": self.predicted,
            "there": self.tagged,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


@dataclass(frozen=True)
class Evaluation:
    """What was found in tagged text, at one τ."""

    sentences: int
    words: int
    tau: float
    entities: MatchCounts
    """Exact entities of the tagger's most probable tags."""
    entities_by_type: dict[str, MatchCounts]
    tokens: MatchCounts
    """Private words that the whole detector finds at τ."""
    token_recall: dict[str, MatchCounts]
    """By type, and for names that are in the lists or the given training text, and in neither."""
    whole_values: dict[str, MatchCounts]
    """Distinct values of which every mention was found: direct and indirect identifiers."""
    over_masked: float
    """Share of words that are not private and were masked."""
    interval: tuple[float, float]
    """95 % interval of the recall on words, from resamples of sentences."""
    effective: float
    """Independent private words that would tell as much, see :func:`.guarantee.effective_words`."""

    @property
    def delta(self) -> float:
        """The leak bound; misses that cluster in sentences make it larger."""
        return leak_bound(self.tokens.missed, self.tokens.tagged, effective=self.effective)

    @property
    def missed_words(self) -> MissedWords:
        """Counts of private words, for a guarantee."""
        return MissedWords(self.tokens.missed, self.tokens.tagged, self.effective)

    @property
    def worst_group(self) -> tuple[str, float]:
        """Name and leak bound of the group of at least 30 words with the largest leak bound."""
        bounds = {
            name: leak_bound(counts.missed, counts.tagged)
            for name, counts in self.token_recall.items()
            if counts.tagged >= MIN_GROUP_WORDS
        }
        name = max(bounds, key=lambda n: bounds[n], default="all")
        return name, bounds.get(name, self.delta)

    def to_dict(self) -> JsonObject:
        """Return counts, rates and bounds by name."""
        name, bound = self.worst_group
        return {
            "sentences": self.sentences,
            "words": self.words,
            "tau": self.tau,
            "entities": self.entities.to_dict(),
            "entities_by_type": _dicts(self.entities_by_type),
            "tokens": {
                **self.tokens.to_dict(),
                "recall_low": self.interval[0],
                "recall_high": self.interval[1],
                "effective": self.effective,
                "delta": self.delta,
            },
            "token_recall": _dicts(self.token_recall),
            "whole_values": _dicts(self.whole_values),
            "over_masked": self.over_masked,
            "worst_group": {"group": name, "delta": bound},
        }

    def lines(self, tagger: str) -> list[str]:
        """Return the evaluation as lines for a terminal.

        Parameters
        ----------
        tagger : str
            Name of the tagger whose entities were counted.
        """
        tokens, entities, (low, high) = self.tokens, self.entities, self.interval
        lines = [
            f"{self.sentences:,} sentences, {self.words:,} words, "
            f"{tokens.tagged:,} of them private",
            f"entities ({tagger}, most probable tags): F1 {100 * entities.f1:.1f}, "
            f"precision {100 * entities.precision:.1f}, recall {100 * entities.recall:.1f}",
        ]
        lines += [
            f"  {kind:<6} F1 {100 * counts.f1:5.1f}  of {counts.tagged:,}"
            for kind, counts in self.entities_by_type.items()
        ]
        lines.append(
            f"private words at τ = {self.tau:g}: recall {100 * tokens.recall:.1f} "
            f"[{100 * low:.1f}, {100 * high:.1f}], precision {100 * tokens.precision:.1f}, "
            f"{100 * self.over_masked:.1f} % of other words masked"
        )
        lines += [
            f"  {name:<13} recall {100 * counts.recall:5.1f}  of {counts.tagged:,}"
            for name, counts in self.token_recall.items()
        ]
        lines += [
            f"  {name} identifiers found at every mention: {100 * counts.recall:.1f} % of "
            f"{counts.tagged:,}"
            for name, counts in self.whole_values.items()
        ]
        name, bound = self.worst_group
        lines.append(
            f"leak bound δ (95 %) {100 * self.delta:.1f} %; worst group {name}: "
            f"{100 * bound:.1f} %; a text with 10 private words keeps one with probability ≤ "
            f"{leak_of_text(self.delta, 10):.2f}"
        )
        return lines


def _dicts(groups: dict[str, MatchCounts]) -> JsonObject:
    return {name: counts.to_dict() for name, counts in groups.items()}


def evaluate(
    sentences: Sequence[Sentence],
    detector: AnyDetector,
    tagger: Tagger,
    *,
    seen: Collection[str] = (),
    seed: int = 0,
) -> Evaluation:
    """Compare what is found with the tags.

    Entities of types that the text has no tags for are left out of their precision.

    Parameters
    ----------
    sentences : sequence of Sentence
        Tagged text.
    detector : AnyDetector
        Finds private words.
    tagger : Tagger
        Its most probable tags are compared as entities.
    seen : collection of str, optional
        Words of the training text; names among them do not count as unseen.
    seed : int, default 0
        Seed of the resamples behind the interval.

    Raises
    ------
    TooFewError
        If no private word is tagged.
    """
    private = [[span for span in s.spans if span[2] in detector.types] for s in sentences]
    if not any(private):
        raise TooFewError("no private word is tagged; check the tags (B-PER, I-PER, O …)")
    words = [sentence.words for sentence in sentences]
    kinds = tagger.info.kinds & {kind for s in sentences for _, _, kind in s.spans}
    gold = [[span for span in s.spans if span[2] in kinds] for s in sentences]
    predicted = [
        [(e.start, e.end, e.kind) for e in entities if e.kind in kinds]
        for entities in tagger.tag(words, None)
    ]
    masked = _masked_words(words, detector)
    inside = [_covered(spans) for spans in private]
    hits = np.array([len(a & b) for a, b in zip(masked, inside, strict=True)])
    tagged = np.array([len(indexes) for indexes in inside])
    correct, all_tagged, all_masked = int(hits.sum()), int(tagged.sum()), sum(map(len, masked))
    total = sum(map(len, words))
    return Evaluation(
        sentences=len(sentences),
        words=total,
        tau=detector.tau,
        entities=_count(gold, predicted),
        entities_by_type={
            kind: _count(_of_kind(gold, kind), _of_kind(predicted, kind)) for kind in sorted(kinds)
        },
        tokens=MatchCounts(correct, all_masked, all_tagged),
        token_recall=_token_recall(sentences, private, masked, seen),
        whole_values=_whole_values(sentences, private, masked),
        over_masked=(all_masked - correct) / max(1, total - all_tagged),
        interval=_recall_interval(hits, tagged, seed),
        effective=effective_words(tagged - hits, tagged),
    )


def _covered(spans: Sequence[Span]) -> set[int]:
    return {i for start, end, _ in spans for i in range(start, end)}


def _of_kind(sentences: Sequence[Sequence[Span]], kind: str) -> list[list[Span]]:
    return [[span for span in spans if span[2] == kind] for spans in sentences]


def _count(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]]) -> MatchCounts:
    correct = sum(len(set(a) & set(b)) for a, b in zip(gold, predicted, strict=True))
    return MatchCounts(correct, sum(map(len, predicted)), sum(map(len, gold)))


def _masked_words(sentences: Sequence[Sequence[str]], detector: AnyDetector) -> list[set[int]]:
    """Return the words of which at least one character is hidden; a sentence is a document."""
    texts = [" ".join(words) for words in sentences]
    by_text = detector.find(texts, [str(i) for i in range(len(texts))])
    masked = []
    for words, findings in zip(sentences, by_text, strict=True):
        position, hidden = 0, set()
        for i, word in enumerate(words):
            if any(f.start < position + len(word) and position < f.end for f in findings):
                hidden.add(i)
            position += len(word) + 1
        masked.append(hidden)
    return masked


def _token_recall(
    sentences: Sequence[Sentence],
    private: Sequence[Sequence[Span]],
    masked: Sequence[set[int]],
    seen: Collection[str],
) -> dict[str, MatchCounts]:
    known = listed_names().union(word.casefold() for word in seen)
    correct: Counter[str] = Counter()
    tagged: Counter[str] = Counter()
    for sentence, spans, hidden in zip(sentences, private, masked, strict=True):
        for start, end, kind in spans:
            for i in range(start, end):
                low = sentence.words[i].casefold()
                listed = low in known
                groups = [kind]
                if kind in ("PER", "LOC"):
                    groups.append("seen names" if listed else "unseen names")
                tagged.update(groups)
                correct.update(groups if i in hidden else ())
    return _recall_counts(correct, tagged)


def _recall_counts(correct: Counter[str], tagged: Counter[str]) -> dict[str, MatchCounts]:
    return {
        name: MatchCounts(correct[name], correct[name], tagged[name]) for name in sorted(tagged)
    }


def _whole_values(
    sentences: Sequence[Sentence],
    private: Sequence[Sequence[Span]],
    masked: Sequence[set[int]],
) -> dict[str, MatchCounts]:
    """Count the values all of whose mentions were found completely."""
    complete: dict[tuple[str, str], bool] = {}
    for sentence, spans, hidden in zip(sentences, private, masked, strict=True):
        for start, end, kind in spans:
            group = "direct" if kind in DIRECT_TYPES else "indirect"
            key = (group, " ".join(sentence.words[start:end]).casefold())
            covered = hidden.issuperset(range(start, end))
            complete[key] = complete.get(key, True) and covered
    tagged = Counter(group for group, _ in complete)
    correct = Counter(group for (group, _), covered in complete.items() if covered)
    return _recall_counts(correct, tagged)


def _recall_interval(hits: IntArray, tagged: IntArray, seed: int) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of recall over sentences with private words."""
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(tagged)
    chosen = rows[rng.integers(len(rows), size=(RESAMPLES, len(rows)))]
    recalls = hits[chosen].sum(axis=1) / tagged[chosen].sum(axis=1)
    low, high = np.quantile(recalls, (0.025, 0.975))
    return float(low), float(high)
