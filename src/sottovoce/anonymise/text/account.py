"""What was done to texts, for people and for machines; never a word of theirs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sottovoce.anonymise.text.anonymiser import TextAnonymiser, Transformed, count_words
from sottovoce.anonymise.text.documents import Batch
from sottovoce.anonymise.text.entities import REGISTERS, model_id, shipped
from sottovoce.anonymise.text.evaluate import Evaluation
from sottovoce.anonymise.text.guarantee import Guarantee, leak_of_text
from sottovoce.anonymise.text.language import other_language
from sottovoce.anonymise.text.tokens import is_asr_view, tokenise

NAMES = {
    "PER": "persons (PER)",
    "LOC": "places (LOC)",
    "ORG": "organisations (ORG)",
    "DATE": "dates (DATE)",
    "TIME": "times (TIME)",
    "EMAIL": "e-mail addresses (EMAIL)",
    "PHONE": "telephone numbers (PHONE)",
    "URL": "web addresses (URL)",
    "ID": "identifiers, listed phrases (ID)",
    "NUM": "long numbers (NUM)",
    "MISC": "other names (MISC)",
}


@dataclass(frozen=True)
class Account:
    """What was found, by which rule, and what may have been missed."""

    texts: int
    words: int
    found: int
    kept: int
    """Found and left as they were, which has probability 1 − p."""
    by_rule: dict[str, int]
    by_type: dict[str, int]
    spans: list[dict[str, Any]]
    masks: list[dict[str, Any]]
    """Per text the private words by index: what a masker of sound needs."""
    guarantee: Guarantee | None
    models: list[str]
    other_language: str | None
    """What the texts look like, if that is another language than the one asked for."""

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        own = {name: getattr(self, name) for name in ("texts", "words", "found", "kept")}
        told = None if self.guarantee is None else self.guarantee.to_dict()
        return {
            **own,
            "by_type": self.by_type,
            "by_rule": self.by_rule,
            "spans": self.spans,
            "mask": self.masks,
            "guarantee": told,
            "models": self.models,
            "looks_like_language": self.other_language,
        }

    def lines(self) -> list[str]:
        """For a terminal: what was found, what may be left, what a replacement tells."""
        told = [f"found in {self.words:,} words:"]
        told += [f"  {NAMES[kind]:<34}{count:>8,}" for kind, count in self.by_type.items()]
        told += ["by:"] + [f"  {rule:<34}{count:>8,}" for rule, count in self.by_rule.items()]
        if self.kept:
            told.append(f"  of these left as they were (--p)    {self.kept:>8,}")
        if self.other_language:
            told.append(
                f"CAUTION: this looks like {self.other_language!r}; names of another language are "
                "missed: check --lang"
            )
        told.append("what may be left:")
        if self.guarantee is None:
            return [
                *told,
                "  unknown for these taggers: measure it with --evaluate on tagged text",
            ]
        return told + _promise(self.guarantee, self.by_type)


def _promise(one: Guarantee, found: Collection[str]) -> list[str]:
    """What may be left, and what a replacement of each type that was found tells."""
    told = [
        f"  leak: at most {100 * one.leak:.1f} % of private words (δ, 95 % confidence)",
        f"  measured: {100 * one.recall:.1f} % of {one.total:,} private words were found in "
        f"{one.measured_on}",
        f"  a text with 10 private words keeps at least one of them in up to "
        f"{100 * leak_of_text(one.leak, 10):.0f} of 100 cases: read a sample before you publish",
        "  other text, other figures: measure yours with --evaluate tagged.conll",
    ]
    epsilons = {kind: value for kind, value in one.epsilons().items() if kind in found}
    if epsilons:
        told.append("what a replacement tells (ε; 0 is nothing; if misses are random):")
    told += [
        f"  {NAMES[kind]:<34}{value:>8.1f}  drawn from {one.tables[kind]:,}"
        for kind, value in epsilons.items()
    ]
    return told


def account(anonymiser: TextAnonymiser, batch: Batch, done: Sequence[Transformed]) -> Account:
    """Count what was done."""
    spans = [
        {"id": name, **span.to_dict()}
        for name, one in zip(batch.ids, done, strict=True)
        for span in one.spans
    ]
    return Account(
        len(done),
        count_words(batch.texts),
        len(spans),
        sum(span["replacement"] is None for span in spans),
        dict(Counter(str(span["rule"]) for span in spans).most_common()),
        dict(Counter(str(span["kind"]) for span in spans).most_common()),
        spans,
        [
            {"id": name, "words": words}
            for name, text, one in zip(batch.ids, batch.texts, done, strict=True)
            if (words := masked_words(text, one))
        ],
        guarantee_of(anonymiser, written=is_written(batch.texts)),
        _models(anonymiser),
        other_language(batch.texts, anonymiser.lang),
    )


def _models(anonymiser: TextAnonymiser) -> list[str]:
    """The taggers that were asked; a user's by what its card says of its data."""
    detector = anonymiser.detector
    paths = shipped(anonymiser.lang)
    names = [model_id(paths[register]) for register in detector.registers]
    if detector.own is not None:
        told = " ".join(detector.own.card.get("data", ()))
        names.append(detector.own.rule.replace("tagger", "own") + (f": {told}" if told else ""))
    return names


def masked_words(text: str, done: Transformed) -> list[int]:
    """Indexes of the words, split at blanks, that are private at least in part."""
    masked, position, at = [], 0, 0
    spans = done.spans
    for i, word in enumerate(text.split()):
        position = text.index(word, position)
        end = position + len(word)
        while at < len(spans) and spans[at].end <= position:
            at += 1
        if at < len(spans) and spans[at].start < end:
            masked.append(i)
        position = end
    return masked


@cache
def _measured() -> dict[str, Any]:
    path = files("sottovoce.anonymise.text") / "models" / "recall.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def is_written(texts: Sequence[str]) -> bool:
    """Whether most texts have capitals that tell something."""
    plain = [is_asr_view([t.text for t in tokenise(text)]) for text in texts if text.strip()]
    return sum(plain) * 2 < len(plain)


def guarantee_of(anonymiser: TextAnonymiser, *, written: bool = False) -> Guarantee | None:
    """From the recall at the nearest lower τ that was measured; None where nothing was.

    That is so for a tagger of one's own instead of the package's, and for one register alone:
    measured were both together. For written text the figures are those of written test sets, where
    the language has one.
    """
    if anonymiser.detector.registers != REGISTERS:
        return None
    told = _measured()["spoken"][anonymiser.lang]
    if written:
        told = _measured()["written"].get(anonymiser.lang, told)
    rows = told["by_tau"]
    taus = [t for t in rows if float(t) <= anonymiser.detector.tau]
    if not taus:
        return None
    row = rows[max(taus, key=float)]
    replacer = anonymiser.replacer
    return Guarantee(
        replacer.strategy,
        replacer.probability,
        row["missed"],
        row["total"],
        told["set"],
        anonymiser.table_sizes(),
    )


def evaluation_lines(found: Evaluation, tagger: str) -> list[str]:
    """An evaluation for a terminal."""
    tokens, (low, high) = found.tokens, found.interval
    told = [
        f"{found.sentences:,} sentences, {found.words:,} words, {tokens.there:,} of them private",
        f"entities ({tagger}, most probable tags): F1 {100 * found.spans.f1:.1f}, "
        f"precision {100 * found.spans.precision:.1f}, recall {100 * found.spans.recall:.1f}",
    ]
    told += [
        f"  {kind:<6} F1 {100 * one.f1:5.1f}  of {one.there:,}"
        for kind, one in found.by_type.items()
    ]
    told.append(
        f"private words at τ = {found.tau:g}: recall {100 * tokens.recall:.1f} "
        f"[{100 * low:.1f}, {100 * high:.1f}], precision {100 * tokens.precision:.1f}, "
        f"{100 * found.over_masked:.1f} % of other words masked"
    )
    told += [
        f"  {name:<13} recall {100 * one.recall:5.1f}  of {one.there:,}"
        for name, one in found.token_recall.items()
    ]
    told += [
        f"  {name} identifiers found at every mention: {100 * one.recall:.1f} % of {one.there:,}"
        for name, one in found.whole.items()
    ]
    name, worst = found.worst
    told.append(
        f"leak bound δ (95 %) {100 * found.delta:.1f} %; worst group {name}: {100 * worst:.1f} %; "
        f"a text with 10 private words keeps one with probability ≤ "
        f"{leak_of_text(found.delta, 10):.2f}"
    )
    return told
