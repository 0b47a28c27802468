from __future__ import annotations

import logging
import time
from collections.abc import Sequence

import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text import (
    STRATEGIES,
    AnonymisedText,
    Detector,
    Finding,
    TextAnonymiser,
    find_private,
)
from sottovoce.anonymise.text.lexicon import LANGUAGES
from sottovoce.anonymise.text.phrases import PhraseMatcher
from sottovoce.anonymise.text.replacer import Replacer
from sottovoce.anonymise.text.review import propose
from sottovoce.anonymise.text.surrogates import Table
from sottovoce.anonymise.text.taggers import CrfTagger
from sottovoce.anonymise.text.tokens import HIDDEN, tokenise
from sottovoce.core.errors import UsageError

NAMES = ("anna", "Zorbalda Quint", "Berlin", "ann.lee@x.org", "nine am", "é́", "😀", "王", "Кот")
WORDS = ("call", "the", "Flight", "to", "l'eau", "can't", "x1", ",", ".", "\t", "  ", "is", "555")
TEXTS = st.lists(st.sampled_from([*NAMES, *WORDS]) | st.text(max_size=6), max_size=12).map(" ".join)
SECRET = Secret.reproducible(3)
PLACEHOLDERS = [name for name in STRATEGIES if STRATEGIES[name].placeholder]


def make(strategy: str, lang: str = "en", **settings: object) -> TextAnonymiser:
    return TextAnonymiser(lang, strategy=strategy, secret=SECRET, **settings)  # type: ignore[arg-type]


def outside(text: str, done: AnonymisedText) -> tuple[str, str]:
    """What is between the spans, before and after."""
    old, new, a, b = [], [], 0, 0
    for span in done.spans:
        old.append(text[a : span.start])
        new.append(done.text[b : span.new_start])
        a, b = span.end, span.new_end
    return "\n".join([*old, text[a:]]), "\n".join([*new, done.text[b:]])


@given(TEXTS, st.sampled_from(list(STRATEGIES)))
def test_what_is_not_private_is_unchanged(text: str, strategy: str) -> None:
    done = make(strategy).transform(text)
    before, after = outside(text, done)
    assert before == after
    for span in done.spans:
        assert done.text[span.new_start : span.new_end] == span.replacement
        assert 0 <= span.start < span.end <= len(text)


@given(TEXTS, st.sampled_from(["full", "typed"]))
def test_offsets_map_back(text: str, strategy: str) -> None:
    done = make(strategy).transform(text)
    for i, letter in enumerate(done.text):
        back = done.original_offset(i)
        assert back is None or text[back] == letter
    inside = sum(span.new_end - span.new_start for span in done.spans)
    assert sum(done.original_offset(i) is None for i in range(len(done.text))) == inside


@given(TEXTS, st.sampled_from(PLACEHOLDERS))
def test_transforming_twice_changes_nothing_more(text: str, strategy: str) -> None:
    once = make(strategy).transform(text).text
    again = make(strategy).transform(once)
    assert again.text == once and again.spans == ()


@given(TEXTS)
def test_what_is_found_does_not_depend_on_the_strategy(text: str) -> None:
    spans = {
        strategy: [(s.start, s.end, s.kind) for s in make(strategy).transform(text).spans]
        for strategy in ("redact", "full", "hmac")
    }
    assert spans["redact"] == spans["full"] == spans["hmac"]


@given(TEXTS)
def test_with_p_zero_nothing_changes(text: str) -> None:
    done = make("full", p=0.0).transform(text)
    assert done.text == text
    assert all(span.replacement is None for span in done.spans)


def test_p_is_the_share_that_is_replaced() -> None:
    replacer = Replacer("en", "redact", Secret.reproducible(1), "none", 0.3)
    done = [replacer("anna", "PER", "", "") for _ in range(4000)]
    assert sum(replacement is not None for replacement in done) / 4000 == pytest.approx(
        0.3, abs=0.03
    )


def test_a_draw_equals_the_original_as_often_as_any_other_value() -> None:
    """With N values, one draw in N; the count is within four standard deviations of it."""
    values = {("PER", "B"): Table((tuple("abcd"),))}
    replacer = Replacer("en", "word", Secret.reproducible(2), "none", corpus_tables=values)
    runs = 2000
    same = sum(replacer("a", "PER", "", "") == "a" for _ in range(runs))
    assert abs(same - runs / 4) < 4 * (runs * 3 / 16) ** 0.5


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s not in ("word", "full", "named")])
def test_strategies_without_draws_never_emit_an_original(strategy: str) -> None:
    text = "call anna zorbalda in marseille on friday at nine am"
    done = make(strategy).transform(text)
    assert len(done.spans) >= 4
    for span in done.spans:
        assert f" {text[span.start : span.end]} " not in f" {done.text} "


def test_strategies_on_the_sentence_of_comprise_d2_3() -> None:
    """COMPRISE D2.3 (2021), table 3, with its own spans."""
    text = (
        "Hi Mister Miller, the Lufthansa flight from Frankfurt Airport to Rome is leaving by six pm"
    )
    tagged = {"Miller": "PER", "Lufthansa": "ORG", "Frankfurt Airport": "LOC", "Rome": "LOC"}
    tagged["six pm"] = "TIME"
    spans = [Finding(text.index(v), text.index(v) + len(v), k, 1, "") for v, k in tagged.items()]

    def rewrite(strategy: str) -> str:
        return make(strategy).rewrite(text, propose(spans), "", "").text

    x = HIDDEN
    assert rewrite("redact") == f"Hi Mister {x}, the {x} flight from {x} to {x} is leaving by {x}"
    assert rewrite("typed") == (
        "Hi Mister [PER], the [ORG] flight from [LOC] to [LOC] is leaving by [TIME]"
    )
    assert rewrite("named") == (
        "Hi Mister Smith, the SAP flight from London to London is leaving by afternoon"
    )
    assert rewrite("instance").count("[LOC_2]") == 1
    assert len(rewrite("word").split()) >= len(text.split())


# ------------------------------------------------------------------------------ consistency

TWO = ["call zorbalda quint today", "did zorbalda quint call", "quint is here"]
DENY = {"zorbalda quint": "PER", "quint": "PER"}


def replaced(scope: str, documents: list[str], strategy: str = "full") -> list[str]:
    anonymiser = TextAnonymiser("en", strategy=strategy, scope=scope, deny=DENY)
    done = anonymiser.transform_all(TWO, documents)
    return [next(str(s.replacement) for s in text.spans if s.rule == "list") for text in done]


def test_scopes() -> None:
    first, second, last = replaced("document", ["a", "a", "a"])
    assert first == second
    assert last == first.split()[-1]
    first, second, _ = replaced("document", ["a", "b", "c"])
    assert first != second
    first, second, _ = replaced("corpus", ["a", "b", "c"])
    assert first == second
    first, second, _ = replaced("utterance", ["a", "a", "a"])
    assert first != second
    first, second, _ = replaced("none", ["a", "a", "a"])
    assert first != second
    assert replaced("document", ["a", "a", "a"], "instance") == ["[PER_1]"] * 3


def test_two_runs_differ_and_reproducible_ones_agree() -> None:
    text = "call anna in marseille on friday"
    first, second = (TextAnonymiser("en").transform(text).text for _ in range(2))
    assert first != second
    assert make("full").transform(text) == make("full").transform(text)


# ------------------------------------------------------------------------------ surface, lists


def test_case_clitics_and_marks_are_kept() -> None:
    deny = {"Zorbalda": "PER"}
    say = TextAnonymiser("fr", strategy="full", deny=deny, secret=SECRET).transform
    text = "Le frère d'Zorbalda, oui"
    span = next(s for s in say(text).spans if s.rule == "list")
    assert text[span.start - 2 : span.start] == "d'" and text[span.end] == ","
    assert str(span.replacement)[0].isupper()
    loud = next(s for s in say("ZORBALDA VIENT").spans if s.rule == "list")
    assert str(loud.replacement).isupper()
    low = next(s for s in say("zorbalda vient").spans if s.rule == "list")
    assert str(low.replacement).islower()


def test_deny_wins_over_allow_and_allow_over_taggers() -> None:
    text = "call anna on friday"
    allowed = TextAnonymiser("en", strategy="typed", allow=("anna", "friday")).transform(text)
    assert allowed.text == text
    both = TextAnonymiser("en", strategy="typed", allow=("anna",), deny={"anna": "ID"})
    assert "[ID]" in both.transform(text).text


def test_allow_wins_over_a_name_of_the_document() -> None:
    texts = ["please call quint now", "tell him about the quint meeting and quint"]
    detector = Detector("en", deny={"call quint": "PER"}, allow=("the quint meeting",))
    assert [finding.start for finding in detector.find(texts)[1]] == [37]


def test_a_name_is_found_in_every_text_of_its_document() -> None:
    texts = ["please call zorbalda now", "zorbalda"]
    detector = Detector("en", deny={"call zorbalda": "PER"})
    assert [len(findings) for findings in detector.find(texts, ["a", "a"])] == [1, 1]


def test_names_propagate_within_their_document_only() -> None:
    """A name that taggers miss in one text is private there because another text reveals it."""
    texts = ["please call zorbalda now", "the zorbalda is here", "the zorbalda is here"]
    deny = {"call zorbalda": "PER"}
    detector = Detector("en", deny=deny, types=["PER"], tau=0.01)
    findings = detector.find(texts, ["a", "a", "b"])
    rules = [[(texts[i][f.start : f.end], f.rule) for f in findings[i]] for i in range(3)]
    assert rules == [[("call zorbalda", "list")], [("zorbalda", "document")], []]
    quiet = Detector("en", deny=deny, types=["PER"], tau=0.01, propagate=False)
    assert [len(findings) for findings in quiet.find(texts, ["a", "a", "b"])] == [1, 0, 0]


def test_unknown_names_of_settings() -> None:
    with raises_code("unknown-name", UsageError):
        TextAnonymiser("en", strategy="fulll")
    with raises_code("unknown-name", UsageError):
        TextAnonymiser("en", scope="world")
    with raises_code("out-of-range", UsageError):
        TextAnonymiser("en", p=2.0)
    with raises_code("out-of-range", UsageError):
        TextAnonymiser("en", tau=1.0)
    with raises_code("unknown-name", UsageError) as caught:
        TextAnonymiser("xx")
    assert "'xx'" in str(caught.value)
    with raises_code("unknown-name", UsageError) as caught:
        TextAnonymiser("en", types=["NAME"])
    assert "'NAME'" in str(caught.value)


# ------------------------------------------------------------------------------ words, odd texts


def test_private_words_by_index() -> None:
    detector = Detector("en", deny={"anna": "PER"}, tau=0.01)
    private = find_private(["Call", "Anna,", "or", "ann@x.org!"], "en", detector=detector)
    spans = [(words.start, words.end, words.kind) for words in private]
    assert spans == [(1, 2, "PER"), (3, 4, "EMAIL")]
    assert find_private([], "en") == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_handles_text_of_other_languages(lang: str) -> None:
    done = make("typed", lang).transform("anna ann@x.org 王さん позвони 👩‍👩‍👧 مرحبا Straße")
    assert "[EMAIL]" in done.text and "@" not in done.text
    full = make("full", lang).transform("ann@x.org")
    assert full.text.endswith("@example.com")


def test_empty_texts() -> None:
    assert make("full").transform("") == AnonymisedText("", ())
    assert make("full").transform_all([]) == []
    assert make("redact").transform(" \n\t ").text == " \n\t "


def test_a_line_of_a_megabyte() -> None:
    begin = time.process_time()
    text = "please call anna at nine am and " * 3_000 + "@" * 20_000 + "1" * 900_000
    done = make("redact").transform(text)
    assert "anna" not in done.text
    assert time.process_time() - begin < 60


def test_nothing_is_logged(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        make("full").transform("call zorbalda at ann@x.org")
    assert caplog.text == "" and capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("the zeus-team met", "the [ID] met"),
        ("the pre-zeus era", "the [ID] era"),
        ("the zeus_project so", "the [ID] so"),
        ("the non-titan zeus's", "the non-titan [ID]'s"),
        ("so x-ann lee-y is", "so [ID] is"),
        ("so ann-lee is", "so [ID] is"),
        ("so ann_lee’s is", "so [ID]’s is"),
        ("so www.zeus.com is", "so [ID] is"),
        ("the zeusy-team met", "the zeusy-team met"),
        ("the ann-x lee met", "the ann-x lee met"),
    ],
)
def test_denied_phrases_match_inside_words(text: str, left: str) -> None:
    listed = {"Zeus": "ID", "ann lee": "ID"}
    quiet = make("typed", deny=listed, types=["MISC"], tau=0.01, propagate=False)
    assert quiet.transform(text).text == left


def test_allowed_phrases_match_whole_words_only() -> None:
    listed = make("typed", allow=["zorbalda"], deny={"zorbalda-quint": "PER"}, types=["MISC"])
    assert listed.transform("zorbalda-quint").text == "[PER]"
    phrases = PhraseMatcher({"zorbalda": ""})
    assert phrases.covered_words(["zorbalda-quint", "zorbalda"]) == {1}


@pytest.mark.parametrize("unit", ["a@", "a@b.c", "www.a@", "http://", ".@", "a.", "www.<"])
def test_unterminated_addresses_stay_few_tokens(unit: str) -> None:
    few, many = ([t.text for t in tokenise(unit * count)] for count in (1000, 2000))
    assert "".join(many) == unit * 2000
    assert len(many) <= (3 if unit in ("a@", "a@b.c", "www.a@", "http://") else 2 * len(few))


def test_every_address_in_a_chunk_is_a_token() -> None:
    words = [token.text for token in tokenise("<ann@b.org>,bob@c.org;www.d.org/x.")]
    assert words == ["<", "ann@b.org", ">", ",", "bob@c.org", ";", "www.d.org/x", "."]


def test_no_sentence_is_shown_to_a_tagger_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, tuple[str, ...]]] = []
    original = CrfTagger.tag

    def tag(self: CrfTagger, sentences: Sequence[Sequence[str]], tau: float | None) -> object:
        shown.extend((self.info.name, tuple(words)) for words in sentences)
        return original(self, sentences, tau)

    monkeypatch.setattr(CrfTagger, "tag", tag)
    quiet = "Nothing else was said here. " * 3 + "They all went home again. "
    Detector("en").find([quiet + "Anna Miller of Berlin was there. " + quiet] * 2)
    assert len(shown) == len(set(shown)) > 4
