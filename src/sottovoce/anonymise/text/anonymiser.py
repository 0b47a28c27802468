"""The text anonymiser: finds what is private, replaces it, and says what it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.detect import BOTH_REGISTERS, Detector
from sottovoce.anonymise.text.entities import PRIVATE_TYPES
from sottovoce.anonymise.text.guarantee import Guarantee, measured_recall
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.replacer import DEFAULT_STRATEGY, Replacer, count_corpus_tables
from sottovoce.anonymise.text.taggers import DEFAULT_TAU, REGISTERS
from sottovoce.core.records import Record


@dataclass(frozen=True, slots=True)
class ReplacedSpan(Record):
    """A private value: where it was, where its replacement is, and why; never the value itself."""

    start: int
    """First character in the original text."""
    end: int
    """The character after the last in the original text."""
    new_start: int
    """First character in the new text."""
    new_end: int
    """The character after the last in the new text."""
    kind: str
    """Entity type, such as ``PER``."""
    rule: str
    """What found it, such as ``tagger spoken``."""
    strategy: str
    """Name of the strategy that replaced it."""
    score: float
    """How sure the rule was, from 0 to 1."""
    replacement: str | None
    """None if it was found and kept, which has probability 1 − p."""


@dataclass(frozen=True, slots=True)
class AnonymisedText(Record):
    """A text with its private values replaced."""

    text: str
    spans: tuple[ReplacedSpan, ...]

    def original_offset(self, offset: int) -> int | None:
        """Return where a character of the new text was in the original.

        Parameters
        ----------
        offset : int
            Position in the new text.

        Returns
        -------
        int or None
            Position in the original; None inside a replacement.
        """
        shift = 0
        for span in self.spans:
            if offset < span.new_start:
                break
            if offset < span.new_end and span.replacement is not None:
                return None
            shift = span.end - span.new_end
        return offset + shift


class TextAnonymiser:
    """Finds and replaces private words in texts of one language.

    Parameters
    ----------
    lang : str, default "en"
        Language code.
    strategy : str, default "full"
        Name of a registered strategy: what replaces private values.
    policy : mapping of str to str, optional
        Strategies of single types, by type.
    tau : float, default 0.95
        A word is private if a tagger's P(O) is below τ; a higher τ finds more.
    scope : {"none", "utterance", "document", "corpus"}, default "document"
        Where the same value gets the same replacement.
    p : float, default 1
        Probability that a value that was found is replaced.
    types : sequence of str, optional
        Private types; by default all but MISC.
    register : {"both", "spoken", "written"}, default "both"
        Taggers of the package that are used.
    deny : mapping of str to str, optional
        Phrases that are always private, with their type.
    allow : iterable of str, optional
        Phrases that are never private, unless they are denied.
    tagger : Path or str, optional
        Another tagger, see :func:`.taggers.make_tagger`.
    propagate : bool, default True
        Search names that were found in one text in all texts of its document.
    secret : Secret, optional
        What draws depend on. By default a new one; ``Secret.reproducible(seed)`` gives draws that
        anybody who knows the seed can repeat.

    Examples
    --------
    >>> anonymiser = TextAnonymiser("en", strategy="typed")
    >>> anonymiser.transform("call ann at nine pm").text
    'call [PER] at [TIME]'
    """

    def __init__(
        self,
        lang: str = "en",
        *,
        strategy: str = DEFAULT_STRATEGY,
        policy: Mapping[str, str] | None = None,
        tau: float = DEFAULT_TAU,
        scope: str = "document",
        p: float = 1.0,
        types: Sequence[str] = PRIVATE_TYPES,
        register: str = BOTH_REGISTERS,
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

    def transform(self, text: str, *, document: str | None = None) -> AnonymisedText:
        """Anonymise one text.

        Parameters
        ----------
        text : str
            The text.
        document : str, optional
            Name of its document; by default each call is a document of its own.
        """
        self._texts += 1
        name = f"text {self._texts}" if document is None else document
        return self.transform_all([text], [name])[0]

    def transform_all(
        self,
        texts: Sequence[str],
        documents: Sequence[str] | None = None,
        *,
        use_corpus_tables: bool = False,
    ) -> list[AnonymisedText]:
        """Anonymise the texts of one corpus.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        documents : sequence of str, optional
            Name of the document of each text; by default all texts are one document.
        use_corpus_tables : bool, default False
            Draw values from the texts themselves where at least five of them share a value. This
            keeps the distribution of the words and publishes those values.
        """
        names = documents if documents is not None else [""] * len(texts)
        findings_by_text = self.detector.find(texts, names)
        if use_corpus_tables:
            tables = count_corpus_tables(texts, findings_by_text)
            self.replacer = replace(self.replacer, corpus_tables=tables)
        for i, (text, findings) in enumerate(zip(texts, findings_by_text, strict=True)):
            self.replacer.note_full_names(text, findings, names[i], str(i))
        return [
            self._rewrite(text, findings, names[i], str(i))
            for i, (text, findings) in enumerate(zip(texts, findings_by_text, strict=True))
        ]

    def _rewrite(
        self, text: str, findings: Sequence[Finding], document: str, utterance: str
    ) -> AnonymisedText:
        pieces: list[str] = []
        spans: list[ReplacedSpan] = []
        done = length = 0
        for finding in findings:
            original = text[finding.start : finding.end]
            replacement = self.replacer(original, finding.kind, document, utterance)
            written = original if replacement is None else replacement
            pieces += [text[done : finding.start], written]
            start = length + finding.start - done
            span = ReplacedSpan(
                start=finding.start,
                end=finding.end,
                new_start=start,
                new_end=start + len(written),
                kind=finding.kind,
                rule=finding.rule,
                strategy=self.replacer.strategy_of(finding.kind),
                score=round(finding.score, 4),
                replacement=replacement,
            )
            spans.append(span)
            length, done = span.new_end, finding.end
        pieces.append(text[done:])
        return AnonymisedText("".join(pieces), tuple(spans))

    def guarantee(self, *, written: bool = False) -> Guarantee | None:
        """Return what is guaranteed, from the measured recall of the package's taggers.

        Parameters
        ----------
        written : bool, default False
            Take the recall on written test sets, where the language has one.

        Returns
        -------
        Guarantee or None
            None where nothing was measured: for a tagger used instead of the package's, for one
            register alone (both together were measured), and for a very low τ.
        """
        if self.detector.registers != REGISTERS:
            return None
        measured = measured_recall(self.lang, self.detector.tau, written=written)
        if measured is None:
            return None
        test_set, words = measured
        return Guarantee(
            strategy=self.replacer.strategy,
            probability=self.replacer.probability,
            missed=words["missed"],
            total=words["total"],
            measured_on=test_set,
            tables=self.replacer.table_sizes(self.detector.types),
        )


@dataclass(frozen=True, slots=True)
class PrivateWords:
    """Words of a list that are private, from ``start`` to before ``end``."""

    start: int
    end: int
    kind: str
    """Entity type, such as ``PER``."""
    rule: str
    """What found them."""


def find_private(
    words: Sequence[str], lang: str, *, detector: Detector | None = None
) -> list[PrivateWords]:
    """Find which words of an utterance are private, by index: for words that have times.

    A word is private if any of its characters is.

    Parameters
    ----------
    words : sequence of str
        The words of the utterance.
    lang : str
        Language code.
    detector : Detector, optional
        By default a :class:`Detector` of the language with its default settings.

    Examples
    --------
    >>> private = find_private(["call", "ann", "lee"], "en")
    >>> [(words.start, words.end, words.kind) for words in private]
    [(1, 3, 'PER')]
    """
    findings = (detector or Detector(lang)).find([" ".join(words)])[0]
    starts, position = [], 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    private: list[PrivateWords] = []
    for finding in findings:
        inside = [
            i
            for i, (start, word) in enumerate(zip(starts, words, strict=True))
            if start < finding.end and finding.start < start + len(word)
        ]
        first = max(inside[0], private[-1].end) if private else inside[0]
        if first <= inside[-1]:
            private.append(PrivateWords(first, inside[-1] + 1, finding.kind, finding.rule))
    return private
