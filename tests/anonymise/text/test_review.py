"""Decisions are read strictly, replayed exactly, and never applied to another text."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.decisions import (
    Decision,
    DecisionCounts,
    Decisions,
    DocumentDecisions,
    StretchDecision,
    count_decisions,
    parse_decisions,
    read_decisions,
    text_digest,
    write_decisions,
)
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.review import Review, propose, resolve_decisions
from sottovoce.anonymise.text.source_text import SourceText

TEXT = "Ann Lee met Bob in Rome; ann's friend Zed paid."


def place(word: str, text: str = TEXT) -> tuple[int, int]:
    return text.index(word), text.index(word) + len(word)


def person(word: str, *, mask: bool = True, everywhere: bool = False) -> Decision:
    return Decision(*place(word), "PER", mask=mask, by="person", everywhere=everywhere)


def reviewed(*decisions: Decision, text: str = TEXT, text_id: str = "1") -> Decisions:
    return Decisions((DocumentDecisions(text_id, text_digest(text), decisions),))


def decided(
    decisions: Decisions, *findings: Finding, texts: tuple[str, ...] = (TEXT,)
) -> list[str]:
    """The masked words of all texts."""
    review = Review.of([SourceText(text, id=str(i + 1)) for i, text in enumerate(texts)], decisions)
    return [
        text[decision.start : decision.end]
        for index, text in enumerate(texts)
        for decision in review.decide(index, text, findings if index == 0 else ())
        if decision.mask
    ]


BOB = Finding(*place("Bob"), "PER", 0.9, "tagger spoken")
ROME = Finding(*place("Rome"), "LOC", 1.0, "pattern place")


def test_a_person_has_the_last_word() -> None:
    assert decided(reviewed(), BOB, ROME) == ["Bob", "Rome"]
    assert decided(reviewed(person("Bob", mask=False), person("Zed")), BOB, ROME) == ["Rome", "Zed"]
    wide = Finding(place("met")[0], place("Rome")[1], "MISC", 1.0, "list")
    assert decided(reviewed(person("Bob", mask=False)), wide) == ["met", "in Rome"]
    both = reviewed(person("Ann Lee", mask=False), person("Lee"))
    assert decided(both) == ["Lee"], "of two decisions of a person, the later one counts"


def test_what_nobody_decided_on_is_masked() -> None:
    recorded = Decision(*place("Rome"), "LOC", mask=True, by="model", rule="tagger written")
    assert decided(reviewed(recorded), BOB) == ["Bob", "Rome"]


def test_a_decision_may_hold_everywhere() -> None:
    texts = (TEXT, "ANN and Ann-Marie, with ann.")
    everywhere = reviewed(person("Ann", everywhere=True))
    assert decided(everywhere, texts=texts) == ["Ann", "ann", "ANN", "ann"]
    kept = reviewed(person("Ann", mask=False, everywhere=True))
    found = [Finding(0, 7, "PER", 1.0, "list"), Finding(25, 28, "PER", 1.0, "document"), BOB]
    assert decided(kept, *found) == ["Lee", "Bob"]


def test_decisions_on_lines_may_come_from_the_whole_text() -> None:
    lines = ("call Bob", "or Ann Lee", "today")
    whole = "\n".join(lines)
    decisions = reviewed(
        Decision(*place("Ann Lee", whole), "PER", mask=True, by="person"), text=whole, text_id="x"
    )
    assert decided(decisions, Finding(5, 8, "PER", 1.0, "list"), texts=lines) == ["Bob", "Ann Lee"]


def test_decisions_on_other_texts_are_refused() -> None:
    with raises_code("changed-text"):
        decided(reviewed(person("Bob")), texts=(TEXT + " Indeed.",))
    with raises_code("mismatch"):
        decided(reviewed(person("Bob"), text_id="9"), texts=(TEXT + " Indeed.", "other"))
    assert decided(reviewed(person("Bob"), text_id="9"), texts=("other", TEXT)) == ["Bob"]
    with raises_code("out-of-range"):
        decided(reviewed(replace(person("paid"), end=len(TEXT) + 1)))


spans = st.lists(
    st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 12), st.booleans()), max_size=6
)


@given(spans)
def test_the_first_of_overlapping_decisions_counts(drawn: list[tuple[int, int, bool]]) -> None:
    """Slow definition: each letter is decided by the first decision that covers it."""
    decisions = [
        Decision(start, min(start + size, len(TEXT)), "PER", mask=mask, by="rule", rule=str(i))
        for i, (start, size, mask) in enumerate(drawn)
    ]
    resolved = resolve_decisions(TEXT, decisions)
    for before, after in pairwise(resolved):
        assert before.end <= after.start
    for i, letter in enumerate(TEXT):
        covering = [decision for decision in decisions if decision.start <= i < decision.end]
        owner = [decision for decision in resolved if decision.start <= i < decision.end]
        if letter.isalnum():
            assert [d.rule for d in owner] == [d.rule for d in covering[:1]]


def test_a_replay_gives_the_same_bytes() -> None:
    texts = ["my name is Ann Lee from Bonn", "Ann called at nine pm", "write to ann@example.org"]

    def run(decisions: Decisions | None) -> tuple[list[str], Decisions]:
        anonymiser = TextAnonymiser("en", secret=Secret.reproducible(5))
        results = anonymiser.transform_all(texts, decisions=decisions)
        documents = [
            DocumentDecisions(str(i), text_digest(text), result.decisions)
            for i, (text, result) in enumerate(zip(texts, results, strict=True))
        ]
        return [result.text for result in results], Decisions(tuple(documents))

    first, proposed = run(None)
    assert all(text not in first for text in texts)
    assert run(proposed)[0] == first
    head = proposed.documents[0]
    off = replace(head.decisions[-1], mask=False, by="person")
    marked = Decision(3, 7, "MISC", mask=True, by="person")
    changed = replace(head, decisions=(marked, *head.decisions[:-1], off))
    reviewed_once = replace(proposed, documents=(changed, *proposed.documents[1:]))
    second, recorded = run(reviewed_once)
    assert second[0].endswith("from Bonn") and second[1:] == first[1:]
    assert (second, recorded) == run(recorded) == run(parse_decisions(as_bytes(recorded)))
    counts = count_decisions(d for document in recorded.documents for d in document.decisions)
    assert counts.person == 1 and counts.kept_by_person == 1
    assert counts.rule >= 1 and counts.model >= 1


def as_bytes(decisions: Decisions) -> bytes:
    return json.dumps(decisions.to_dict()).encode()


def test_counts_by_who_decided() -> None:
    decisions = [*propose([BOB, ROME]), person("Zed"), person("met", mask=False)]
    counts = count_decisions(decisions, [StretchDecision(0.5, 1.0)])
    assert counts == DecisionCounts(rule=1, model=1, person=2, kept_by_person=1)
    assert counts + counts == DecisionCounts(2, 2, 4, 2)


def test_a_file_has_no_words_and_is_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "decisions.json"
    decisions = reviewed(*propose([BOB]), person("Zed"))
    write_decisions(path, decisions)
    assert read_decisions(path) == decisions
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_text().lower()
    assert not any(word.lower() in content.split('"') for word in TEXT.split())
    assert json.loads(content)["version"] == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"version": 2}, "unsupported"),
        ({"format": "notes"}, "wrong-shape"),
        ({"more": 1}, "wrong-shape"),
        (
            {"documents": [{"id": "1", "sha256": "", "decisions": [{"start": 5, "end": 5}]}]},
            "wrong-shape",
        ),
    ],
)
def test_a_damaged_file_is_refused(change: dict[str, object], code: str) -> None:
    content = {**reviewed(person("Bob")).to_dict(), **change}
    with raises_code(code):
        parse_decisions(json.dumps(content).encode())
    with raises_code("not-json"):
        parse_decisions(b"{")


@pytest.mark.parametrize(
    "wrong", [{"start": -1}, {"end": 1}, {"kind": "a name"}, {"by": "me"}, {"start": 1.5}]
)
def test_a_wrong_decision_is_refused(wrong: dict[str, object]) -> None:
    content = reviewed(person("Bob")).to_dict()
    content["documents"][0]["decisions"][0].update(wrong)
    with raises_code("wrong-shape"):
        parse_decisions(json.dumps(content).encode())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with raises_code("unreadable"):
        read_decisions(tmp_path / "none.json")
