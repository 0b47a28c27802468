"""Alignment on the built-in corpus, whose word times are exact; and what is not trusted."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise.recording import align as align_module
from sottovoce.anonymise.recording import pronunciation
from sottovoce.anonymise.recording.align import ENGLISH_LIMITS, UnalignedError, align
from sottovoce.anonymise.recording.decoder import Segment
from sottovoce.anonymise.recording.ipa import ipa_to_phones
from sottovoce.anonymise.recording.pronunciation import (
    MAX_PRONUNCIATIONS,
    digit_readings,
    letters_to_phones,
    pronounce,
)
from sottovoce.anonymise.recording.word_times import Alignment
from sottovoce.anonymise.recording.words import Token, spoken_words, word_key
from sottovoce.core.edit_distance import count_edits
from sottovoce.core.errors import UsageError
from sottovoce.core.number_words import number_to_words
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Utterance

pytest.importorskip("pocketsphinx")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=2, utterances=4)


@pytest.fixture(autouse=True)
def no_espeak(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see the same on every machine; one of them is about espeak-ng."""
    if "espeak_answers" not in request.node.name:
        monkeypatch.setattr(pronunciation, "espeak_path", lambda: None)
        monkeypatch.setattr(align_module, "espeak_path", lambda: None)


def exact(corpus: Path) -> dict[str, list[tuple[str, float, float]]]:
    times: dict[str, list[tuple[str, float, float]]] = {}
    for line in (corpus / "words.ctm").read_text().splitlines():
        name, _, start, length, word = line.split()
        times.setdefault(name, []).append((word, float(start), float(start) + float(length)))
    return times


def aligned(utterance: Utterance, text: str | None = None) -> Alignment:
    audio, rate = load_native(utterance)
    return align(audio, rate, utterance.transcript if text is None else text)


def test_words_are_found_where_they_were_put(corpus: Path) -> None:
    """The synthesiser is no human and the model was trained on humans: 50 ms in the median."""
    times = exact(corpus)
    errors = []
    for utterance in read_manifest(corpus).utterances[:4]:
        words, expected = aligned(utterance).words, times[utterance.id]
        assert [word_key(word.text) for word in words] == [word_key(text) for text, *_ in expected]
        for word, (_, start, end) in zip(words, expected, strict=True):
            errors += [abs(word.start - start), abs(word.end - end)]
            assert word.phones[0].start == word.start and word.phones[-1].end == word.end
    assert np.median(errors) < 0.05


def test_a_text_that_was_not_said_is_not_believed(corpus: Path) -> None:
    utterance, other = (read_manifest(corpus).utterances[i] for i in (0, 3))
    try:
        alignment = aligned(utterance, other.transcript)
    except UnalignedError:
        return
    assert not alignment.confident


def test_texts_that_cannot_be_aligned(corpus: Path) -> None:
    utterance = read_manifest(corpus).utterances[0]
    too_long = " ".join(["international"] * 60)
    for text, code in (
        ("", "empty"),
        ("… !?", "empty"),
        ("日本", "unsupported"),
        (too_long, "mismatch"),
    ):
        with raises_code(code, UnalignedError):
            aligned(utterance, text)
    with raises_code("too-long", UnalignedError):
        align(np.ones(601), 1, "good day")
    with raises_code("wrong-type"):
        align(np.full(16000, np.nan), 16000, "good day")


def test_a_pause_that_sounds_like_speech_is_a_doubt() -> None:
    pause = Segment(None, 100, 150, 60.0, ())
    for segment, doubts in (
        (pause, ((1.0, 1.5),)),
        (replace(pause, start=990, end=1001), ((9.9, 10.0),)),
        (replace(pause, cost=50.0), ()),
        (replace(pause, end=107), ()),  # 70 ms are too short to judge
        (replace(pause, word=0), ()),
    ):
        assert align_module._speech_in_pauses([segment], 10.0, ENGLISH_LIMITS) == doubts


def test_the_worst_check_decides_on_a_word() -> None:
    token, segment = Token("hi", 0, 2), Segment(0, 10, 20, 0.0, (("HH", 10, 15), ("AY", 15, 20)))
    at_limit = align_module._timed_word(token, segment, {"sound": 0.2, "length": 1.0}, 1.0)
    assert (at_limit.confidence, at_limit.trusted, at_limit.doubt) == (0.5, True, "")
    beyond = align_module._timed_word(token, segment, {"sound": 1.1, "length": 1.0}, 1.0)
    assert not beyond.trusted and beyond.doubt == "sound"
    assert (beyond.start, beyond.end) == (0.1, 0.2)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with raises_code("missing-program"):
        align(np.ones(16000), 16000, "guten Tag", lang="de")
    with raises_code("unknown-name"):
        align(np.ones(16000), 16000, "x", lang="../etc")
    pronunciation.model_folder.cache_clear()
    pronunciation._cmu_dictionary.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "pocketsphinx", None)
    with raises_code("missing-extra") as error:
        align(np.ones(16000), 16000, "good day")
    assert "sottovoce[align]" in str(error.value)
    pronunciation.model_folder.cache_clear()


def test_words_of_a_text() -> None:
    text = "“Élise” O'Neil-Smith's e-mail: 3.5 % & 555-0199…"
    words = spoken_words(text)
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    expected = ["Élise", "O'Neil-Smith's", "e-mail", "3.5", "%", "&", "555-0199"]
    assert [word.text for word in words] == expected
    assert word_key("ANN’S") == word_key("ann") and word_key("Ann") != word_key("Anna")
    assert word_key("’") == "'"


def test_every_word_can_be_said() -> None:
    words = ["hello", "Zbigniew", "x", "42", "2024", "1,000,000", "O’Brien’s", "&", "KGB", "Ünal"]
    lexicon = pronounce(words)
    assert list(lexicon) == words
    dictionary = pronunciation._cmu_dictionary().values()
    model = {phone for variants in dictionary for phones in variants for phone in phones}
    for variants in lexicon.values():
        assert 0 < len(variants) <= MAX_PRONUNCIATIONS
        assert all(phones and set(phones) <= model for phones in variants)
    assert pronounce(["日本"]) == {}


def test_letters_to_sounds_against_the_dictionary() -> None:
    """At most 30 % of the phones of words the rules have never seen are wrong."""
    entries = pronunciation._cmu_dictionary()
    sample = sorted(word for word in entries if word.isalpha() and len(word) > 3)[::150]
    wrong = sum(
        min(count_edits(letters_to_phones(word), phones).total for phones in entries[word])
        for word in sample
    )
    assert wrong / sum(len(entries[word][0]) for word in sample) < 0.3


def test_numbers() -> None:
    assert " ".join(number_to_words(2_000_317)) == "two million three hundred seventeen"
    assert [" ".join(words) for words in digit_readings("105")] == [
        "one hundred five",
        "one zero five",
        "one oh five",
    ]
    assert "nineteen oh five" in [" ".join(words) for words in digit_readings("1905")]
    assert digit_readings("9" * 20) == [["nine"] * 20]


def test_ipa() -> None:
    phones = "T S V AY UH N T F IH D T S IH HH"
    assert " ".join(ipa_to_phones("tsvˈaɪ ʊntfˈɪɾtsɪç")) == phones
    assert ipa_to_phones("ʃjˈɛ̃") == ("SH", "Y", "EH", "NG")


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_espeak_answers_word_by_word() -> None:
    words = ["Straße", "日", "München", "42", "'", "Übung"]
    lexicon = pronounce(words, "de")
    assert lexicon["München"][0][0] == "M" and len(lexicon["42"][0]) > 6
    with raises_code("unsupported", UsageError) as error:
        pronounce(["a"], "xx")
    assert "'xx'" in str(error.value)
