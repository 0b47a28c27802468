"""Texts whose language is decided sentence by sentence: ``auto`` and ``multi``."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.languages import transcript_languages
from sottovoce.anonymise.recording.private_words import (
    detect_private,
    find_targets,
    replace_with,
)
from sottovoce.anonymise.text import Detector, Finding, TextAnonymiser, find_private
from sottovoce.anonymise.text import language_identification as identification
from sottovoce.anonymise.text.document_search import search_documents, with_findings
from sottovoce.anonymise.text.evaluate import evaluate
from sottovoce.anonymise.text.labelling import HEADER, checked_sentences, read_labels
from sottovoce.anonymise.text.lexicon import LANGUAGES, lexicon
from sottovoce.anonymise.text.multilingual_detector import (
    MIXED_LANGUAGES,
    MultilingualDetector,
    UnionSearch,
    make_detector,
    tagger_of,
)
from sottovoce.anonymise.text.run_summary import SummaryCollector
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.anonymise.text.text_languages import DecidedLanguages
from sottovoce.core.errors import UsageError

SENTENCES = {
    "en": "Please call {} tomorrow and tell her that the train to the city is late again.",
    "de": "Bitte ruf morgen {} an und sag ihr, dass der Zug in die Stadt zu spät kommt.",
    "es": "Por favor llama mañana a {} y dile que el tren a la ciudad llega tarde otra vez.",
    "fr": "Appelle {} demain et dis lui que le train pour la ville est encore en retard.",
    "it": "Per favore chiama domani {} e dille che il treno è ancora in ritardo oggi.",
    "lv": "Lūdzu, piezvani rīt {} un pasaki, ka vilciens uz pilsētu atkal kavējas.",
    "nl": "Bel morgen {} en zeg haar dat de trein naar de stad alweer te laat is.",
    "pt": "Por favor liga amanhã a {} e diz que o comboio para a cidade está atrasado.",
}
NAMES = ("Ann Lee", "Hans Müller", "Zorbalda Quint", "María García", "Ozols")
sentences = st.tuples(st.sampled_from(list(SENTENCES)), st.sampled_from(NAMES))
mixed_texts = st.lists(
    st.lists(st.one_of(sentences, st.sampled_from(NAMES)), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)
SECRET = Secret.reproducible(5)


def written(parts: list[tuple[str, str] | str]) -> str:
    """Write sentences in their languages one after the other; a name alone is a short one."""
    return " ".join(
        f"{part}." if isinstance(part, str) else SENTENCES[part[0]].format(part[1])
        for part in parts
    )


def decided(*texts: str) -> list[list[tuple[str, tuple[str, ...]]]]:
    """Return each part of each text with its languages."""
    languages = DecidedLanguages(SourceText(text) for text in texts)
    result = []
    for text, spans in zip(texts, languages, strict=True):
        starts = (0, *(span.end for span in spans))
        result.append(
            [(text[a : s.end], s.candidates) for a, s in zip(starts, spans, strict=False)]
        )
    return result


# ================================================================================== decisions


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lower", [False, True])
def test_a_sentence_is_in_its_language(lang: str, lower: bool) -> None:
    text = SENTENCES[lang].format("Ann Lee")
    assert decided(text.lower() if lower else text) == [
        [(text.lower() if lower else text, (lang,))]
    ]


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(LANGUAGES, 2)))
def test_the_language_changes_between_sentences(first: str, second: str) -> None:
    parts = [SENTENCES[lang].format("Ann Lee") for lang in (first, second)]
    (found,) = decided(" ".join(parts))
    assert [(text.strip(), langs[0]) for text, langs in found] == [
        (parts[0], first),
        (parts[1], second),
    ]


def test_a_short_text_takes_the_language_of_its_neighbours() -> None:
    german = SENTENCES["de"].format("Anna")
    texts = [german, german, "Hans Müller", german]
    assert [langs for ((_, langs),) in decided(*texts)] == [("de",)] * 4
    alone = decided("Zorbalda")[0][0][1]
    assert set(alone) == set(LANGUAGES), "nothing is known of it: every language is searched"


def test_documents_tell_nothing_about_each_other() -> None:
    german = SENTENCES["de"].format("Anna")
    languages = DecidedLanguages([SourceText(german, "a"), SourceText("Zorbalda", "b")])
    assert [len(spans[0].candidates) for spans in languages] == [1, len(LANGUAGES)]


def test_placeholders_count_for_nothing() -> None:
    evidence = identification.language_evidence
    assert evidence("call [PER] at [TIME] █████ PER_ABCDEFGH") == pytest.approx(evidence("call at"))


def test_evidence_is_the_sum_over_words_of_tempered_log_frequencies() -> None:
    zipf = np.array([[lexicon(lang).frequency.get(w, 4) for lang in LANGUAGES]
                     for w in ("tomorrow", "le", "train")])  # fmt: skip
    expected = zipf.sum(axis=0) / 2 * np.log(10) * 0.7
    found = identification.language_evidence("Tomorrow, le train 77")
    assert found - found.max() == pytest.approx(expected - expected.max())


def forward_backward(evidence: np.ndarray, reach: int) -> np.ndarray:
    """Probabilities by summing over all sequences of languages within reach, slowly."""
    count, size = evidence.shape
    result = np.zeros_like(evidence)
    for i in range(count):
        low, high = max(i - reach, 0), min(i + reach + 1, count)
        for path in itertools.product(range(size), repeat=high - low):
            score = sum(evidence[low + k, lang] for k, lang in enumerate(path))
            same = sum(a == b for a, b in itertools.pairwise(path))
            changes = len(path) - 1 - same
            stay = identification.STAY
            likely = np.exp(score) * stay**same * ((1 - stay) / (size - 1)) ** changes
            result[i, path[i - low]] += likely
    return np.asarray(result / result.sum(axis=1, keepdims=True))


def test_probabilities_equal_the_sum_over_all_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "LANGUAGES", ("en", "de", "es"))
    monkeypatch.setattr(identification, "REACH", 2)
    evidence = np.random.default_rng(1).normal(size=(6, 3)) * 3
    found = identification.language_probabilities(evidence, ["a"] * 6)
    assert found == pytest.approx(forward_backward(evidence, 2))
    parts = [identification.language_probabilities(evidence[i : i + 3], ["a"] * 3) for i in (0, 3)]
    apart = identification.language_probabilities(evidence, ["a"] * 3 + ["b"] * 3)
    assert apart == pytest.approx(np.concatenate(parts))


@settings(max_examples=20, deadline=None)
@given(mixed_texts, st.integers(1, 5))
def test_decisions_do_not_depend_on_the_blocks(
    texts: list[list[tuple[str, str] | str]], block: int
) -> None:
    sources = [SourceText(written(parts)) for parts in texts * 4]
    rows = [
        list(identification.judge_sentences(identification.sentences_of(sources), size))
        for size in (block, 10**6)
    ]
    assert [row[:2] for row in rows[0]] == [row[:2] for row in rows[1]]
    for a, b in zip(*rows, strict=True):
        assert a.probabilities == pytest.approx(b.probabilities)


# =================================================================================== findings


@settings(max_examples=25, deadline=None)
@given(mixed_texts, st.sampled_from(MIXED_LANGUAGES), st.sampled_from(["typed", "full"]))
def test_what_is_not_private_is_unchanged_and_offsets_map_back(
    texts: list[list[tuple[str, str] | str]], lang: str, strategy: str
) -> None:
    originals = [written(parts) for parts in texts]
    anonymiser = TextAnonymiser(lang, strategy=strategy, secret=SECRET)
    for text, done in zip(originals, anonymiser.transform_all(originals), strict=True):
        for i, letter in enumerate(done.text):
            back = done.original_offset(i)
            assert back is None or text[back] == letter
        inside = sum(span.new_end - span.new_start for span in done.spans)
        assert len(done.text) - inside == len(text) - sum(s.end - s.start for s in done.spans)
        assert [part.end for part in done.languages][-1] == len(text)
        assert done.languages[0].start == 0
        assert all(a.end == b.start for a, b in itertools.pairwise(done.languages))


@settings(max_examples=25, deadline=None)
@given(mixed_texts, st.sampled_from(MIXED_LANGUAGES), st.sampled_from(["redact", "typed"]))
def test_transforming_twice_changes_nothing_more(
    texts: list[list[tuple[str, str] | str]], lang: str, strategy: str
) -> None:
    anonymiser = TextAnonymiser(lang, strategy=strategy, secret=SECRET)
    once = [done.text for done in anonymiser.transform_all(list(map(written, texts)))]
    assert [done.text for done in anonymiser.transform_all(once)] == once


@settings(max_examples=10, deadline=None)
@given(mixed_texts, st.integers(1, 300))
def test_findings_do_not_depend_on_the_chunks(
    texts: list[list[tuple[str, str] | str]], size: int
) -> None:
    detector = MultilingualDetector("auto")
    sources = [SourceText(written(parts)) for parts in texts]
    found = search_documents(detector, lambda: sources, chunk_size=size)
    in_chunks = [findings for _, findings, _ in with_findings(sources, found)]
    assert in_chunks == detector.find([source.text for source in sources])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_text_in_one_language_is_searched_as_if_it_were_given(lang: str) -> None:
    texts = [SENTENCES[lang].format(name) for name in ("Ann Lee", "Ozols")]
    assert make_detector("auto").find(texts) == Detector(lang).find(texts)


def test_what_is_private_in_one_of_the_languages_is_private() -> None:
    texts = ["Hans Müller aus Berlin", "meet ann at nine", "viņu sauc Ozols"]
    langs = ("de", "en", "lv")
    both = UnionSearch(tuple(Detector(lang) for lang in langs))
    findings: list[list[Finding]] = [[] for _ in texts]
    both.search(texts, findings)
    for lang in langs:
        for text, single, union in zip(texts, Detector(lang).find(texts), findings, strict=True):
            covered = {i for f in union for i in range(f.start, f.end)}
            for finding in single:
                private = range(finding.start, finding.end)
                assert all(i in covered for i in private if text[i].isalnum()), (text, lang)
    for union in findings:
        ordered = sorted(union)
        assert all(a.end <= b.start for a, b in itertools.pairwise(ordered))


def test_a_name_of_one_language_is_found_in_texts_of_another_unless_it_is_a_word_there() -> None:
    english = SENTENCES["en"].format("Thomas Mann and Zorbalda Quint")
    german = "Der Mann mit dem Hut wartet dort, und quint kommt auch gleich zu uns nach Hause."
    found = make_detector("auto").find([english, german])[1]
    words = {german[finding.start : finding.end] for finding in found}
    assert "quint" in words and "Mann" not in words


@pytest.mark.parametrize("lang", MIXED_LANGUAGES)
def test_private_words_by_index(lang: str) -> None:
    words = ["bitte", "ruf", "morgen", "die", "hannelore", "schmidt", "an"]
    covered = {i for part in find_private(words, lang) for i in range(part.start, part.end)}
    assert {4, 5} <= covered


# =============================================================================== replacements


@pytest.mark.parametrize("lang", MIXED_LANGUAGES)
def test_a_name_gets_one_replacement_in_all_languages(lang: str) -> None:
    texts = [SENTENCES[code].format("Zorbalda Quint") for code in LANGUAGES]
    anonymiser = TextAnonymiser(lang, secret=SECRET, deny={"Zorbalda Quint": "PER"})
    new = {
        span.replacement
        for text, done in zip(texts, anonymiser.transform_all(texts), strict=True)
        for span in done.spans
        if text[span.start : span.end] == "Zorbalda Quint"
    }
    assert len(new) == 1


def test_dates_are_in_the_language_of_their_sentence() -> None:
    texts = [SENTENCES[code].format("Ann Lee") for code in ("en", "de")]
    done = TextAnonymiser("auto", strategy="named", secret=SECRET).transform_all(texts)
    dates = [[s.replacement for s in each.spans if s.kind == "DATE"] for each in done]
    single = [
        [s.replacement for s in TextAnonymiser(code, strategy="named").transform(text).spans
         if s.kind == "DATE"]
        for code, text in zip(("en", "de"), texts, strict=True)
    ]  # fmt: skip
    assert dates == single and dates[0] != dates[1]


def test_instances_are_numbered_over_all_languages() -> None:
    texts = [SENTENCES[code].format(name) for code, name in (("en", "Ann Lee"), ("de", "Bob Ray"))]
    deny = {"Ann Lee": "PER", "Bob Ray": "PER"}
    done = TextAnonymiser("auto", strategy="instance", deny=deny).transform_all([*texts, texts[0]])
    numbers = [[s.replacement for s in each.spans if s.kind == "PER"] for each in done]
    assert numbers == [["[PER_1]"], ["[PER_2]"], ["[PER_1]"]]


# ==================================================================================== reports


def test_the_summary_says_what_was_taken_as_which_language() -> None:
    anonymiser = TextAnonymiser("auto", secret=SECRET)
    texts = [SENTENCES["en"].format("Ann Lee"), SENTENCES["lv"].format("Ozols"), "Zorbalda"]
    sources = [SourceText(text, str(i), str(i + 1)) for i, text in enumerate(texts)]
    collector = SummaryCollector(anonymiser)
    for source, done in zip(
        sources, anonymiser.transform_all(texts, [s.document for s in sources]), strict=True
    ):
        collector.add(source, done)
    summary = collector.summary()
    languages = json.loads(json.dumps(summary.to_dict()["languages"]))
    assert languages["words"]["en"] >= 15 and languages["words"]["lv"] == 12
    assert languages["unsure_words"] == 1
    assert [(p["first"], p["last"], len(p["searched"])) for p in languages["parts"]] == [
        ("1", "1", 1),
        ("2", "2", 1),
        ("3", "3", len(LANGUAGES)),
    ]
    assert summary.guarantee is None and summary.worst_leak is not None
    assert any("taken as" in line for line in summary.lines())
    assert len(summary.models) == 2 * len(LANGUAGES)


def test_nothing_is_claimed_for_taggers_that_were_not_measured() -> None:
    multi = TextAnonymiser("multi")
    assert multi.worst_leak() is None
    for lang in MIXED_LANGUAGES:
        with raises_code("unknown-name", UsageError):
            TextAnonymiser(lang).guarantee("commands")


@pytest.mark.parametrize("lang", MIXED_LANGUAGES)
def test_a_sample_of_several_languages_is_measured(lang: str, tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    lines = [SENTENCES[code].format("[PER Ann Lee]") for code in ("en", "de", "fr")]
    labels.write_text("\n".join([HEADER, *(f"= {line}" for line in lines)]))
    detector = make_detector(lang, types=("PER",))
    tagged = checked_sentences(read_labels(labels))
    result = evaluate(tagged, detector, tagger_of(lang, "written"))
    assert result.tokens.tagged == 6 and result.tokens.recall > 0.8


def test_bad_choices() -> None:
    with raises_code("unknown-name", UsageError):
        make_detector("xx")
    with raises_code("exclusive-options", UsageError):
        make_detector("auto", tagger="own.npz")


# ================================================================================== recordings


def test_transcripts_of_recordings_may_be_in_several_languages() -> None:
    texts = [SENTENCES[code].format("Zorbalda Quint") for code in ("en", "de")] + ["ja gern"]
    langs = ["auto"] * 3
    assert transcript_languages(texts, langs) == ["en", "de", "de"]
    assert transcript_languages(texts, ["auto", "fr", "multi"]) == ["en", "fr", "de"]
    spans = detect_private(texts, langs)
    names = [{text[s.start : s.end] for s in each} for text, each in zip(texts, spans, strict=True)]
    assert "Zorbalda Quint" in names[0] and not names[2]


@pytest.mark.parametrize("lang", ["auto", "en"])
def test_transcripts_get_names_for_names(lang: str) -> None:
    texts = [SENTENCES[code].format("Zorbalda Quint") for code in ("en", "de")]
    targets = find_targets(texts, ["auto"] * 2, listed=["Zorbalda Quint"], finder=detect_private)
    new = replace_with(lang, SECRET)(texts, targets)
    assert all("Quint" not in text for text in new)
    assert new[0].startswith("Please call ") and new[1].startswith("Bitte ruf ")
