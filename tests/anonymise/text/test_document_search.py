"""Texts that are read in chunks give what texts in memory give, whatever the size of the chunks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text import Detector, Finding, TextAnonymiser
from sottovoce.anonymise.text import source_text as source_text_module
from sottovoce.anonymise.text.document_search import search_documents, with_findings
from sottovoce.anonymise.text.finding_store import IN_MEMORY, FindingStore
from sottovoce.anonymise.text.source_text import SourceText, chunks, split_text, split_texts
from sottovoce.anonymise.text.text_languages import OneLanguage

DETECTOR = Detector("en", deny={"zorbalda quint": "PER"})
LISTS_ONLY = Detector("en", 0.01, ("PER",), deny={"zorbalda quint": "PER"})
"""Its τ is so low that the taggers find next to nothing."""
WORDS = ("call", "Zorbalda", "Quint", "zorbalda", "quint", "Ann", "Lee", "at", "nine", "am", "rome")
texts_of_words = st.lists(
    st.lists(st.sampled_from((*WORDS, ",", "."))).map(" ".join), min_size=1, max_size=8
)


def find(
    texts: list[SourceText], chunk_size: int, detector: Detector = LISTS_ONLY
) -> list[list[Finding]]:
    found = search_documents(detector, lambda: texts, chunk_size=chunk_size)
    return [findings for _, findings, _ in with_findings(texts, found)]


@settings(max_examples=40, deadline=None)
@given(texts_of_words, st.integers(1, 200), st.lists(st.sampled_from("ab"), min_size=8))
def test_findings_do_not_depend_on_the_chunks(texts: list[str], size: int, names: str) -> None:
    sources = [SourceText(text, names[i]) for i, text in enumerate(texts)]
    in_chunks = find(sources, size, DETECTOR)
    assert in_chunks == find(sources, 10**9, DETECTOR)
    assert in_chunks == DETECTOR.find(texts, names[: len(texts)])


def test_a_name_of_the_last_text_is_found_in_the_first_one() -> None:
    texts = [SourceText("so quint came"), *[SourceText("so be it")] * 9]
    texts.append(SourceText("ask Zorbalda Quint"))
    for size in (1, 10, 10**6):
        assert [finding.rule for finding in find(texts, size)[0]] == ["document"]
    assert not find(texts[:-1], 10)[0]


def test_the_texts_of_other_documents_are_left_alone() -> None:
    texts = [SourceText("so quint came", "a"), SourceText("ask Zorbalda Quint", "b")]
    assert [len(findings) for findings in find(texts, 1)] == [0, 1]


def test_a_label_is_private_and_searched_in_its_document() -> None:
    texts = [SourceText("so borbalunga came"), SourceText(" Borbalunga ", kind="PER")]
    first, second = find(texts, 1)
    assert [(f.start, f.end, f.rule) for f in first] == [(3, 13, "document")]
    assert [(f.start, f.end, f.rule) for f in second] == [(1, 11, "label")]


def test_the_texts_are_read_anew_in_every_pass_and_never_held() -> None:
    readings = 0

    def read() -> Iterator[SourceText]:
        nonlocal readings
        readings += 1
        return iter([SourceText("ask Zorbalda Quint"), SourceText("so quint came")])

    anonymiser = TextAnonymiser("en", strategy="typed", deny={"zorbalda quint": "PER"})
    prepared = anonymiser.prepare(read)
    assert readings == prepared.passes + 1 == 3
    assert [new.text for new in prepared.rewrite(read())] == ["ask [PER]", "so [PER] came"]


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet="ab. \n", max_size=400))
def test_parts_of_a_text_sum_to_the_text(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_text_module, "MAX_PART", 20)
        patch.setattr(source_text_module, "_LAST_TENTH", 5)
        parts = split_text(text)
        assert "".join(parts) == text
        assert all(0 < len(part) <= 20 for part in parts) or not text


def test_a_long_text_is_cut_between_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text_module, "MAX_PART", 40)
    monkeypatch.setattr(source_text_module, "_LAST_TENTH", 30)
    text = "So be it. Ask Zorbalda Quint today. And tomorrow ask Zorbalda Quint. " * 3
    whole = DETECTOR.find([text])[0]
    assert [text[f.start : f.end] for f in whole if f.kind == "PER"] == ["Zorbalda Quint"] * 6
    assert len(split_text(text)) > 3 and all(part[-1] in " ." for part in split_text(text))
    anonymiser = TextAnonymiser(
        "en", strategy="full", deny={"zorbalda quint": "PER"}, secret=Secret.reproducible(1)
    )
    new = anonymiser.transform_all([text, "so be it"])
    assert len(new) == 2 and "Quint" not in new[0].text
    for span in new[0].spans:
        assert new[0].text[span.new_start : span.new_end] == span.replacement


def test_a_chunk_ends_when_it_is_full() -> None:
    parts = list(split_texts([SourceText("abc")] * 5, OneLanguage("en")))
    assert [len(chunk) for chunk in chunks(parts, 8)] == [2, 2, 1]
    assert list(chunks([], 8)) == []


def test_findings_are_stored_exactly() -> None:
    store = FindingStore()
    rows = [[Finding(i, i + 3, "PER", i / 7, f"rule {i % 5}")] * (i % 3) for i in range(100)]
    for row in rows:
        store.append(row)
    assert list(store) == rows and list(store) == rows


def test_many_findings_are_on_disk() -> None:
    store = FindingStore()
    finding = Finding(1, 2, "PER", 0.5, "x")
    for _ in range(50):
        store.append([finding] * (IN_MEMORY // 20 // 40))
    assert store._file._rolled  # type: ignore[attr-defined]
    assert sum(map(len, store)) == 50 * (IN_MEMORY // 20 // 40)
