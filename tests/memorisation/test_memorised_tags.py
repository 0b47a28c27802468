"""d-exposure of taggers: which words are chosen, and that repetitions are remembered."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.memorisation.tagged_text import (
    blank_place,
    choose_words,
    phrase_with,
    single_words,
    with_insertions,
    words_of_class,
)
from sottovoce.memorisation.taggers import CrfTagger, span_f1, tagger_exposure


def sentence(text: str, **tags: str) -> Sentence:
    words = tuple(text.split())
    return Sentence(words, tuple(f"B-{tags[word]}" if word in tags else "O" for word in words))


def made_up(seed: int = 0) -> list[Sentence]:
    """Places after *in*, people before *said*, and two words that are both."""
    rng = np.random.default_rng(seed)
    people = ["Ann", "Bob", "Eva", "Max", "Tim", "Zoe", "Kim", "Lea"]
    places = ["Rome", "Oslo", "Bonn", "Riga", "Lyon", "Kyiv", "Cork", "Bari"]
    sentences = []
    for _ in range(120):
        person, place = str(rng.choice(people)), str(rng.choice(places))
        sentences.append(sentence(f"{person} said it rained", **{person: "PER"}))
        sentences.append(sentence(f"it rained in {place}", **{place: "LOC"}))
    for word in ("Jordan", "Chelsea"):
        sentences += [sentence(f"{word} said it rained", **{word: "PER"})] * 4
        sentences += [sentence(f"it rained in {word}", **{word: "LOC"})] * 3
    return sentences


def test_ambiguous_words_are_chosen_and_others_are_of_one_class() -> None:
    sentences = made_up()
    words = choose_words(sentences, ("PER", "LOC"))
    assert {word.word for word in words} == {"Jordan", "Chelsea"}
    assert [word.label for word in words] == ["PER", "LOC"]
    assert all(word.counts == {"PER": 4, "LOC": 3} for word in words)
    assert single_words(sentences)["Jordan"] == {"PER": 4, "LOC": 3}
    assert "Jordan" not in words_of_class(sentences, "PER")
    assert "Ann" in words_of_class(sentences, "PER")
    with raises_code("too-few"):
        choose_words(sentences, ("PER", "ORG"))


def test_the_phrase() -> None:
    assert phrase_with("Rome", "who likes {} so much") == ("who", "likes", "Rome", "so", "much")
    assert blank_place("who likes {} so much") == 2
    for wrong in ("no blank", "{} and {}", "x{}"):
        with raises_code("bad-specification"):
            blank_place(wrong)
    sentences = made_up()
    words = choose_words(sentences, ("PER", "LOC"))
    mixed = with_insertions(sentences, words, 3, np.random.default_rng(0))
    assert len(mixed) == len(sentences) + 6
    assert sum(s.words[-1] == words[0].word and s.tags[-1] == "B-PER" for s in mixed) == 3


def test_a_crf_remembers_what_is_repeated() -> None:
    pytest.importorskip("pycrfsuite")
    sentences = made_up()
    words = choose_words(sentences, ("PER", "LOC"))
    bits = []
    for repetitions in (0, 64):
        mixed = with_insertions(sentences, words, repetitions, np.random.default_rng(0))
        tagger = CrfTagger(mixed, iterations=30)
        bits.append(tagger_exposure(tagger, sentences, words))
    assert bits[1].value > bits[0].value
    assert bits[1].value == pytest.approx(np.mean([c.maximum_bits for c in bits[1].classes]))
    assert span_f1(tagger, sentences, ("PER", "LOC")) > 0.9
    assert tagger.confidences([("a", "b")], 1, "B-NONE").tolist() == [0.0]


def test_a_bilstm_remembers_what_is_repeated() -> None:
    pytest.importorskip("torch")
    from sottovoce.memorisation.bilstm import BilstmSettings, train_bilstm

    sentences = made_up()
    words = choose_words(sentences, ("PER", "LOC"))
    epochs: list[int] = []
    values = []
    for repetitions in (0, 64):
        mixed = with_insertions(sentences, words, repetitions, np.random.default_rng(0))
        settings = BilstmSettings(embedding=12, hidden=12, epochs=8, learning_rate=1e-2)
        tagger = train_bilstm(mixed, settings, lambda epoch, t: epochs.append(epoch))
        values.append(tagger_exposure(tagger, sentences, words))
    assert epochs == [*range(1, 9)] * 2
    assert values[1].value > values[0].value
    assert all(c.confidence > 0.5 for c in values[1].classes)
    assert span_f1(tagger, sentences, ("PER", "LOC")) > 0.9
    # a sentence has the same confidence alone and in a batch of longer ones
    alone = tagger.confidences([("it", "rained", "in", "Rome")], 3, "B-LOC")
    more = [("it", "rained", "in", "Rome"), ("it", "rained", "in", "Rome", "said", "Ann", "again")]
    assert tagger.confidences(more, 3, "B-LOC")[0] == pytest.approx(alone[0], rel=1e-5)


def test_a_private_bilstm_remembers_less() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("dp_accounting")
    from sottovoce.learn import Draws
    from sottovoce.memorisation.bilstm import BilstmSettings, train_bilstm, train_private_bilstm
    from sottovoce.memorisation.private_training import PrivacyBudget, privacy_finding

    sentences = made_up()
    words = choose_words(sentences, ("PER", "LOC"))
    mixed = with_insertions(sentences, words, 16, np.random.default_rng(0))
    settings = BilstmSettings(embedding=8, hidden=8, epochs=8, dropout=0.0, learning_rate=1e-2)
    plain = train_bilstm(mixed, settings, lambda epoch, tagger: None)
    budget = PrivacyBudget(epsilon=0.2, delta=1e-3, epochs=3)
    epochs: list[int] = []
    private, run = train_private_bilstm(
        mixed, settings, budget, lambda epoch, tagger: epochs.append(epoch), draws=Draws(bytes(32))
    )
    finding = privacy_finding(run)
    assert epochs == [1, 2, 3] and finding is not None
    assert finding.unit == "sentence" and finding.guarantee == "differential privacy"
    assert 0.1 < finding.epsilon <= 0.2
    exposures = [tagger_exposure(tagger, sentences, words).value for tagger in (plain, private)]
    assert exposures[1] < exposures[0]


def test_both_layers_of_a_bilstm_compute_the_same() -> None:
    pytest.importorskip("torch")
    from sottovoce.memorisation.bilstm import BilstmSettings, BilstmTagger
    from sottovoce.memorisation.vocabulary import Vocabulary

    known = Vocabulary.of([["it", "rained", "in", "Rome"]], most=10)
    settings = BilstmSettings(embedding=5, hidden=7)
    plain = BilstmTagger(known, ["B-LOC", "O"], settings)
    private = BilstmTagger(known, ["B-LOC", "O"], settings, private=True)
    private.load_state_dict(plain.state_dict())
    texts = [("it", "rained", "in", "Rome"), ("Rome", "in", "snow"), ("it",)]
    for place, rows in ((0, texts), (2, texts[:2])):
        assert private.confidences(rows, place, "B-LOC") == pytest.approx(
            plain.confidences(rows, place, "B-LOC"), rel=1e-5
        )


def test_known_words_of_a_bilstm() -> None:
    pytest.importorskip("torch")
    from sottovoce.memorisation.bilstm import BilstmSettings, train_bilstm

    sentences = made_up()
    settings = BilstmSettings(embedding=4, hidden=4, epochs=1, vocabulary=1)
    tagger = train_bilstm(sentences, settings, lambda epoch, t: None)
    assert set(single_words(sentences)) < set(tagger.vocabulary.words)
    assert "said" not in tagger.vocabulary
