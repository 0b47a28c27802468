"""What a hidden word says of its neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.crf import Crf, Weights
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.entities import shipped, shipped_tagger
from sottovoce.anonymise.text.features import DISTANCES, word_attributes
from sottovoce.anonymise.text.lexicon import LANGUAGES, lexicon
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.training.hidden_words import L2, with_hidden
from sottovoce.training.tagger_augmentation import hidden_view

LABELS = ("B-PER", "I-PER", "O")
SENTENCES = [
    Sentence(("call", "ann", "lee", "now"), ("O", "B-PER", "I-PER", "O")),
    Sentence(("ann", "and", "bob", "came"), ("B-PER", "O", "B-PER", "O")),
    Sentence(("so", "it", "was"), ("O", "O", "O")),
]


def weights() -> Weights:
    rng = np.random.default_rng(3)
    rows = {name: i for i, name in enumerate(["w=call", "-1w=call", "1", "-1z=0"])}
    state = rng.normal(size=(4, 3)).astype(np.float32)
    return Weights(LABELS, rows, state, rng.normal(size=(3, 3)).astype(np.float32))


def test_an_entity_is_hidden_behind_one_word() -> None:
    rng = np.random.default_rng(0)
    views = [hidden_view(one, rng) for one in SENTENCES for _ in range(30)]
    assert all(len(one.words) == len(one.tags) for one in views)
    assert Sentence(("call", HIDDEN, "now"), ("O", "B-PER", "O")) in views
    assert SENTENCES[0] in views, "some stay"
    kept = [[w for w, t in zip(v.words, v.tags, strict=True) if t == "O"] for v in views]
    assert {tuple(one) for one in kept} == {("call", "now"), ("and", "came"), ("so", "it", "was")}


def test_what_is_expected_equals_what_is_seen() -> None:
    """At the maximum, expected counts are those of the text less the pull of the prior."""
    old = weights()
    new = with_hidden(old, "en", SENTENCES * 20, np.random.default_rng(1))
    for name, row in old.rows.items():
        assert new.state[new.rows[name]] == pytest.approx(old.state[row])
    rng = np.random.default_rng(1)
    some = [one for one in SENTENCES * 20 if one.spans]
    copies = [hidden_view(some[int(i)], rng) for i in rng.permutation(len(some))]
    crf = Crf(new, lexicon("en"))
    likely = crf.marginals(crf.emissions([one.words for one in copies]))
    for distance in DISTANCES:
        seen, expected = np.zeros(3), np.zeros(3)
        for one, own in zip(copies, likely, strict=True):
            for i, tag in enumerate(one.tags):
                if 0 <= i + distance < len(one.words) and one.words[i + distance] == HIDDEN:
                    seen[LABELS.index(tag)] += 1
                    expected += own[i]
        mine = new.state[new.rows[word_attributes(HIDDEN, distance, crf.lexicon)[0]]]
        assert seen - expected == pytest.approx(L2 * mine, abs=0.05)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_shipped_tagger_knows_hidden_words(lang: str) -> None:
    names = {word_attributes(HIDDEN, distance, lexicon(lang))[0] for distance in DISTANCES}
    for register in shipped(lang):
        assert names <= shipped_tagger(lang, register).crf.weights.rows.keys()


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("call █████ now and tell █████ that we meet at █████", "en"),
        ("Call █████ now and tell █████ that we meet at █████.", "en"),
        ("ruf █████ an und sag █████ dass wir uns um █████ treffen", "de"),
        ("appelle █████ et dis à █████ que nous venons", "fr"),
    ],
)
def test_words_beside_hidden_ones_stay(text: str, lang: str) -> None:
    assert Detector(lang).find([text]) == [[]]


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Schreiben Sie eine E-Mail an {} und rufen Sie an.", "de"),
        ("Skatiet {} par to.", "lv"),
        ("Write to {} and call me back.", "en"),
    ],
)
@pytest.mark.parametrize("form", ["anna.mueller@firma.de", "https://firma.de/x", "www.firma.de"])
def test_words_beside_an_address_stay(text: str, lang: str, form: str) -> None:
    found = Detector(lang).find([text.format(form)])[0]
    assert [(one.start, one.end) for one in found] == [
        (text.index("{"), text.index("{") + len(form))
    ]


def test_the_first_word_of_a_command_is_no_name() -> None:
    texts = ["Call Ann Lee now.", "Email Kate about the invoice.", "Tell Mohammed to come."]
    found = Detector("en").find(texts, ["a", "b", "c"])
    assert [texts[i][f.start : f.end] for i, own in enumerate(found) for f in own] == [
        "Ann Lee",
        "Kate",
        "Mohammed",
    ]


def test_a_first_word_that_may_be_a_name_is_private() -> None:
    texts = ["Mark came home late.", "Rose has the keys.", "Zorbalda has the keys."]
    found = Detector("en").find(texts, ["a", "b", "c"])
    assert [bool(own) and own[0].start == 0 for own in found] == [True, True, True]
