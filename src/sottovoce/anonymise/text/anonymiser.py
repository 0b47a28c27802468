"""The text anonymiser: find what is private, replace it, say what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.entities import PRIVATE, TAU
from sottovoce.anonymise.text.replace import Replacer, corpus_tables, table_sizes
from sottovoce.anonymise.text.tokens import tokenise
from sottovoce.anonymise.text.view import Finding
from sottovoce.core.unicode_offsets import composed


@dataclass(frozen=True, slots=True)
class Span:
    """One private value: where it stood, where its replacement stands, and why."""

    start: int
    end: int
    """Characters of the original text."""
    new_start: int
    new_end: int
    """Characters of the new text."""
    kind: str
    rule: str
    strategy: str
    score: float
    replacement: str | None
    """None if it was found and kept, which has probability 1 − p."""

    def to_dict(self) -> dict[str, Any]:
        """By name; the original words are not part of it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Transformed:
    """A text with its private values replaced."""

    text: str
    spans: tuple[Span, ...]

    def original_offset(self, offset: int) -> int | None:
        """Where a character of the new text stood before; None inside a replacement."""
        shift = 0
        for span in self.spans:
            if offset < span.new_start:
                break
            if offset < span.new_end and span.replacement is not None:
                return None
            shift = span.end - span.new_end
        return offset + shift

    def to_dict(self) -> dict[str, Any]:
        """The new text and its spans."""
        return {"text": self.text, "spans": [span.to_dict() for span in self.spans]}


class TextAnonymiser:
    """Finds and replaces private words in texts of one language.

    >>> anonymiser = TextAnonymiser("en", strategy="typed")
    >>> anonymiser.transform("call ann at nine pm").text
    'call [PER] at [TIME]'

    Draws come from a new secret unless one is given; ``Secret.reproducible(seed)`` repeats them
    and hides nothing from who knows the seed.
    """

    def __init__(
        self,
        lang: str = "en",
        *,
        strategy: str = "full",
        policy: Mapping[str, str] | None = None,
        tau: float = TAU,
        scope: str = "document",
        p: float = 1.0,
        types: Sequence[str] = PRIVATE,
        register: str = "both",
        deny: Mapping[str, str] | None = None,
        allow: Iterable[str] = (),
        tagger: Path | str | None = None,
        propagate: bool = True,
        secret: Secret | None = None,
    ) -> None:
        self.detector = Detector(
            lang, tau, tuple(types), register, deny or {}, tuple(allow), tagger, propagate
        )
        secret = secret or Secret.generate()
        self.replacer = Replacer(lang, strategy, secret, scope, p, policy or {})
        self.lang = lang
        self._texts = 0

    def transform(self, text: str, *, document: str | None = None) -> Transformed:
        """One text; each call is a document of its own unless documents are named."""
        self._texts += 1
        name = f"text {self._texts}" if document is None else document
        return self.transform_all([text], [name])[0]

    def transform_all(
        self,
        texts: Sequence[str],
        documents: Sequence[str] | None = None,
        *,
        use_corpus_tables: bool = False,
    ) -> list[Transformed]:
        """Texts of one corpus; without names they are one document.

        With ``use_corpus_tables`` values are drawn from the texts themselves where at least five
        of them share a value: this keeps the words' distribution and publishes those values.
        """
        names = documents if documents is not None else [""] * len(texts)
        found = self.detector.find(texts, names)
        if use_corpus_tables:
            self.replacer = replace(self.replacer, corpus=self._counted(texts, found))
        for i, (text, own) in enumerate(zip(texts, found, strict=True)):
            self.replacer.learn(text, own, names[i], str(i))
        return [
            self._rewrite(text, own, names[i], str(i))
            for i, (text, own) in enumerate(zip(texts, found, strict=True))
        ]

    def _rewrite(
        self, text: str, findings: Sequence[Finding], document: str, utterance: str
    ) -> Transformed:
        pieces: list[str] = []
        spans: list[Span] = []
        done = length = 0
        for one in findings:
            original = text[one.start : one.end]
            new = self.replacer(original, one.kind, document, utterance)
            written = original if new is None else new
            pieces += [text[done : one.start], written]
            length += one.start - done
            strategy = self.replacer.strategy_of(one.kind)
            end = length + len(written)
            told = (one.kind, one.rule, strategy, round(one.score, 4), new)
            spans.append(Span(one.start, one.end, length, end, *told))
            length, done = end, one.end
        pieces.append(text[done:])
        return Transformed("".join(pieces), tuple(spans))

    def _counted(self, texts: Sequence[str], found: Sequence[Sequence[Finding]]) -> Any:
        counts: dict[tuple[str, str], dict[str, set[str]]] = {}
        for i, (text, own) in enumerate(zip(texts, found, strict=True)):
            for one in own:
                value = composed(text[one.start : one.end])
                parts = [("FULL", value)]
                parts += [("I" if j else "B", word) for j, word in enumerate(value.split())]
                for part, word in parts:
                    users = counts.setdefault((one.kind, part), {})
                    users.setdefault(word, set()).add(str(i))
        return corpus_tables(counts)

    def table_sizes(self) -> dict[str, int]:
        """N by type: how many values a replacement is drawn from."""
        return table_sizes(self.replacer, tuple(self.detector.types))


@dataclass(frozen=True, slots=True)
class PrivateWords:
    """Words of a list that are private, from ``start`` to before ``end``."""

    start: int
    end: int
    kind: str
    rule: str


def find_private(
    words: Sequence[str], lang: str, *, detector: Detector | None = None, **settings: Any
) -> list[PrivateWords]:
    """Which words of an utterance are private, by index: for words that have times.

    A word is private if any of its characters is. Settings are those of :class:`Detector`.

    >>> [(one.start, one.end, one.kind) for one in find_private(["call", "ann", "lee"], "en")]
    [(1, 3, 'PER')]
    """
    text = " ".join(words)
    found = (detector or Detector(lang, **settings)).find([text])[0]
    starts, position = [], 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    private: list[PrivateWords] = []
    for one in found:
        inside = [
            i
            for i, (start, word) in enumerate(zip(starts, words, strict=True))
            if start < one.end and one.start < start + len(word)
        ]
        first = max(inside[0], private[-1].end) if private else inside[0]
        if first <= inside[-1]:
            private.append(PrivateWords(first, inside[-1] + 1, one.kind, one.rule))
    return private


def count_words(texts: Sequence[str]) -> int:
    """Words of texts, marks not counted."""
    return sum(any(c.isalnum() for c in t.text) for text in texts for t in tokenise(text))
