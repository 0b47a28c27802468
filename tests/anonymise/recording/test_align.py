"""Alignment on the built-in corpus, whose word times are exact; and what is not believed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from sottovoce.anonymise.recording import align as align_module
from sottovoce.anonymise.recording import pronounce
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.ipa import to_phones
from sottovoce.anonymise.recording.spelling import cardinal, readings, sounds
from sottovoce.anonymise.recording.timing import Alignment
from sottovoce.anonymise.recording.words import key, tokens
from sottovoce.core.errors import MissingExtraError, UsageError
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.demo.builtin import builtin_corpus
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
        monkeypatch.setattr(pronounce, "espeak_path", lambda: None)
        monkeypatch.setattr(align_module, "espeak_path", lambda: None)


def exact(corpus: Path) -> dict[str, list[tuple[str, float, float]]]:
    times: dict[str, list[tuple[str, float, float]]] = {}
    for line in (corpus / "words.ctm").read_text().splitlines():
        name, _, start, length, word = line.split()
        times.setdefault(name, []).append((word, float(start), float(start) + float(length)))
    return times


def aligned(one: Utterance, text: str | None = None) -> Alignment:
    audio, rate = load_native(one)
    return align(audio, rate, one.transcript if text is None else text)


def test_words_are_found_where_they_were_put(corpus: Path) -> None:
    """The synthesiser is no human and the model was trained on humans: 50 ms in the median."""
    times = exact(corpus)
    errors = []
    for one in read_manifest(corpus).utterances[:4]:
        found = aligned(one)
        assert [key(word.text) for word in found.words] == [key(w) for w, *_ in times[one.id]]
        for word, (_, start, end) in zip(found.words, times[one.id], strict=True):
            errors += [abs(word.start - start), abs(word.end - end)]
            assert word.phones[0].start == word.start and word.phones[-1].end == word.end
    assert np.median(errors) < 0.05


def test_a_text_that_was_not_said_is_not_believed(corpus: Path) -> None:
    one, other = (read_manifest(corpus).utterances[i] for i in (0, 3))
    try:
        found = aligned(one, other.transcript)
    except UnalignedError:
        return
    assert not found.confident


def test_no_words_no_times(corpus: Path) -> None:
    one = read_manifest(corpus).utterances[0]
    for text, why in (("", "no words"), ("… !?", "no words"), ("日本", "pronounced|do not fit")):
        with pytest.raises(UnalignedError, match=why):
            aligned(one, text)
    long = " ".join(["international"] * 60)
    with pytest.raises(UnalignedError, match="do not fit"):
        aligned(one, long)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="needs the program espeak-ng"):
        align(np.ones(16000), 16000, "guten Tag", lang="de")
    with pytest.raises(UsageError, match="such as en"):
        align(np.ones(16000), 16000, "x", lang="../etc")
    pronounce.model_folder.cache_clear()
    pronounce.cmudict.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "pocketsphinx", None)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[align\]"):
        align(np.ones(16000), 16000, "good day")
    pronounce.model_folder.cache_clear()


def test_words_of_a_text() -> None:
    text = "“Élise” O'Neil-Smith's e-mail: 3.5 % & 555-0199…"
    found = tokens(text)
    assert [text[one.begin : one.stop] for one in found] == [one.text for one in found]
    said = ["Élise", "O'Neil-Smith's", "e-mail", "3.5", "%", "&", "555-0199"]
    assert [one.text for one in found] == said
    assert key("ANN’S") == key("ann") and key("Ann") != key("Anna")
    assert key("’") == "'"


def test_every_word_can_be_said() -> None:
    words = ["hello", "Zbigniew", "x", "42", "2024", "1,000,000", "O’Brien’s", "&", "KGB", "Ünal"]
    known = pronounce.lexicon(words)
    assert list(known) == words
    model = {phone for ways in pronounce.cmudict().values() for way in ways for phone in way}
    for ways in known.values():
        assert 0 < len(ways) <= pronounce.MOST and all(way and set(way) <= model for way in ways)
    assert pronounce.lexicon(["日本"]) == {}


def test_letters_to_sounds_against_the_dictionary() -> None:
    """At most 30 % of the phones of words the rules have never seen are wrong."""
    known = {w: ways for w, ways in pronounce.cmudict().items() if w.isalpha() and len(w) > 3}
    chosen = sorted(known)[::150]
    wrong = sum(min(_distance(sounds(w), way) for way in known[w]) for w in chosen)
    assert wrong / sum(len(known[w][0]) for w in chosen) < 0.3


def _distance(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def test_numbers() -> None:
    assert " ".join(cardinal(2_000_317)) == "two million three hundred seventeen"
    assert [" ".join(way) for way in readings("105")] == [
        "one hundred five",
        "one zero five",
        "one oh five",
    ]
    assert "nineteen oh five" in [" ".join(way) for way in readings("1905")]
    assert readings("9" * 20) == [["nine"] * 20]


def test_ipa() -> None:
    said = "T S V AY UH N T F IH D T S IH HH"
    assert " ".join(to_phones("tsvˈaɪ ʊntfˈɪɾtsɪç")) == said
    assert to_phones("ʃjˈɛ̃") == ("SH", "Y", "EH", "NG")


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_espeak_answers_word_by_word() -> None:
    words = ["Straße", "日", "München", "42", "'", "Übung"]
    known = pronounce.lexicon(words, "de")
    assert known["München"][0][0] == "M" and len(known["42"][0]) > 6
    with pytest.raises(UsageError, match="no voice for language 'xx'"):
        pronounce.lexicon(["a"], "xx")
