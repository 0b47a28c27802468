"""Apply a person's decisions to what rules and models propose to mask.

A person's decisions come first, then those that the file recorded of rules and models, then what
is proposed now. So a run with the decisions of an earlier run masks the same words, and a word that
is proposed for the first time is masked too: nothing that nobody has decided on is released.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sottovoce.anonymise.decisions import (
    Decision,
    Decisions,
    DocumentDecisions,
    decided_by,
    text_digest,
)
from sottovoce.anonymise.text.lexicon import clitics
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.phrases import PhraseMatcher
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.anonymise.text.tokens import tokenise
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.unicode_offsets import NormalisedText

PERSON_RULE = "person"
"""Rule of what a person decided to mask."""
MAX_JOINED = 1 << 21
"""Characters of texts up to which decisions on all of them as one text are recognised."""


def propose(findings: Iterable[Finding]) -> tuple[Decision, ...]:
    """Turn findings into decisions of the rules and models that found them.

    Parameters
    ----------
    findings : iterable of Finding
        What is private in a text, disjoint and in order.
    """
    return tuple(
        Decision(
            finding.start,
            finding.end,
            finding.kind,
            mask=True,
            by=decided_by(finding.rule),
            rule=finding.rule,
            score=round(finding.score, 4),
        )
        for finding in findings
    )


def masked_findings(decisions: Iterable[Decision]) -> list[Finding]:
    """Return what is to be masked.

    Parameters
    ----------
    decisions : iterable of Decision
        On a text, disjoint and in order.
    """
    return [
        Finding(decision.start, decision.end, decision.kind, decision.score, decision.rule)
        if decision.by != "person"
        else Finding(decision.start, decision.end, decision.kind, 1.0, PERSON_RULE)
        for decision in decisions
        if decision.mask
    ]


@dataclass(slots=True)
class Review:
    """Decisions of a file, replayed on the texts of a run.

    Pass all texts to :meth:`note`, then each of them to :meth:`decide`, in the same order.
    """

    decisions: Decisions
    _by_text: dict[str, list[int]] = field(init=False)
    """Reviewed texts by their digest."""
    _names: set[str] = field(init=False)
    _by_index: dict[int, DocumentDecisions] = field(default_factory=dict)
    """Decisions on the texts of the run."""
    _used: set[int] = field(default_factory=set)
    """Reviewed texts that are among those of the run."""
    _changed: set[str] = field(default_factory=set)
    """Ids of texts that have other content than the reviewed ones."""
    _phrases: dict[str, Decision] = field(default_factory=dict)
    """What was decided on everywhere."""
    _matchers: list[tuple[PhraseMatcher, Decision]] = field(default_factory=list)
    _joined: list[str] | None = field(default_factory=list)
    """The texts, while they may be the lines of a single reviewed text."""
    _noted: int = 0

    def __post_init__(self) -> None:
        self._by_text = {}
        self._names = {document.id for document in self.decisions.documents}
        for number, document in enumerate(self.decisions.documents):
            self._by_text.setdefault(document.sha256, []).append(number)

    @classmethod
    def of(cls, texts: Iterable[SourceText], decisions: Decisions) -> Review:
        """Look up all texts of a run.

        Parameters
        ----------
        texts : iterable of SourceText
            The texts of the run.
        decisions : Decisions
            What was decided.

        Raises
        ------
        InputError
            As :meth:`finish_noting`.
        """
        review = cls(decisions)
        for source in texts:
            review.note(source.id, source.text)
        review.finish_noting()
        return review

    def note(self, text_id: str, text: str) -> None:
        """Look a text up among those that were reviewed.

        Parameters
        ----------
        text_id : str
            Its id.
        text : str
            The text.
        """
        documents = self.decisions.documents
        same_text = self._by_text.get(text_digest(text), [])
        same_id = [number for number in same_text if documents[number].id == text_id]
        if same_text:
            number = [*same_id, *same_text][0]
            self._used.add(number)
            self._enter(self._noted, documents[number], text)
        if text_id in self._names and not same_id:
            self._changed.add(text_id)
        self._noted += 1
        if self._joined is not None:
            self._joined.append(text)
            if len(documents) != 1 or sum(map(len, self._joined)) > MAX_JOINED:
                self._joined = None

    def finish_noting(self) -> None:
        """Refuse decisions on texts that are not among those of the run, or have changed.

        Raises
        ------
        InputError
            ``changed-text`` if a text with the id of a reviewed one has other content,
            ``mismatch`` if none of the reviewed texts is among those of the run.
        """
        if not self._used and self._joined is not None:
            self._split_joined(self._joined)
        self._joined = None
        documents = enumerate(self.decisions.documents)
        names = [d.id for number, d in documents if number not in self._used]
        if changed := [name for name in names if name in self._changed]:
            raise InputError(
                f"{len(changed):,} texts have changed since they were reviewed: "
                f"{first_few(changed, len(changed))}; review them again",
                code="changed-text",
            )
        if not self._used:
            raise InputError(
                "the decisions are on other texts than these; name the file that was written for "
                "these texts",
                code="mismatch",
            )
        self._matchers = [
            (PhraseMatcher({phrase: decision.kind}), decision)
            for phrase, decision in self._phrases.items()
        ]

    def document(self, index: int) -> DocumentDecisions | None:
        """Return the decisions of the file on a text, if it was reviewed.

        Parameters
        ----------
        index : int
            Its place among the texts that were noted.
        """
        return self._by_index.get(index)

    def decide(self, index: int, text: str, findings: Iterable[Finding]) -> tuple[Decision, ...]:
        """Return all decisions on a text: those of the file, and on what is proposed besides.

        Parameters
        ----------
        index : int
            Its place among the texts that were noted.
        text : str
            The text.
        findings : iterable of Finding
            What is proposed to be masked.
        """
        document = self._by_index.get(index)
        recorded = document.decisions if document else ()
        by_person = [decision for decision in recorded if decision.by == "person"]
        others = [decision for decision in recorded if decision.by != "person"]
        layers = [*reversed(by_person), *self._occurrences(text), *others, *propose(findings)]
        return resolve_decisions(text, layers)

    def _enter(self, index: int, document: DocumentDecisions, text: str) -> None:
        for decision in document.decisions:
            if decision.end > len(text):
                raise InputError(
                    f"{document.id}: a decision on characters {decision.start} to {decision.end} "
                    f"of {len(text)}; correct it",
                    code="out-of-range",
                )
            if decision.everywhere:
                self._phrases[text[decision.start : decision.end]] = decision
        self._by_index[index] = document

    def _split_joined(self, texts: Sequence[str]) -> None:
        """Take decisions on all texts as one, joined by line breaks, for those on each text."""
        document = self.decisions.documents[0]
        whole = "\n".join(texts)
        if text_digest(whole) != document.sha256:
            return
        self._used.add(0)
        start = 0
        for index, text in enumerate(texts):
            inside = tuple(
                replace(d, start=max(d.start - start, 0), end=min(d.end - start, len(text)))
                for d in document.decisions
                if d.start < start + len(text) and start < d.end
            )
            self._enter(index, replace(document, decisions=inside), text)
            start += len(text) + 1

    def _occurrences(self, text: str) -> list[Decision]:
        """Apply the decisions that hold everywhere to a text."""
        if not self._matchers:
            return []
        normalised = NormalisedText.of(text)
        tokens = tokenise(normalised.text)
        words = [token.text for token in tokens]
        decisions = []
        for matcher, decision in self._matchers:
            for entity in matcher.find(words):
                first, last = tokens[entity.start], tokens[entity.end - 1]
                begin = first.start + clitics(first.text)[0]
                after = max(last.start + clitics(last.text)[1], begin + 1)
                start, end = normalised.source_span(begin, after)
                decisions.append(replace(decision, start=start, end=end, everywhere=False))
        return decisions


def resolve_decisions(text: str, decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Make decisions disjoint: where two overlap, the first one counts.

    Parameters
    ----------
    text : str
        The text.
    decisions : iterable of Decision
        The most important first.

    Returns
    -------
    tuple of Decision
        In the order of the text. What is left of a decision beside a more important one is
        dropped if it has neither letter nor digit.
    """
    ordered = list(decisions)
    owners = [-1] * len(text)
    for number, decision in enumerate(ordered):
        for i in range(decision.start, decision.end):
            if owners[i] < 0:
                owners[i] = number
    parts = [part for pair in enumerate(ordered) for part in _parts_left(text, *pair, owners)]
    return tuple(sorted(parts, key=lambda part: part.start))


def _parts_left(
    text: str, number: int, decision: Decision, owners: Sequence[int]
) -> list[Decision]:
    """Return the parts of a decision that are left to it, without what surrounds their words."""
    if all(owners[i] == number for i in range(decision.start, decision.end)):
        return [decision]
    parts: list[list[int]] = []
    for i in range(decision.start, decision.end):
        if owners[i] == number:
            if not parts or parts[-1][-1] != i - 1:
                parts.append([])
            parts[-1].append(i)
    words = [[i for i in part if text[i].isalnum()] for part in parts]
    return [replace(decision, start=part[0], end=part[-1] + 1) for part in words if part]
