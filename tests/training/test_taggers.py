"""What a tagger learns about the neighbours of hidden words."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.crf import Crf, Weights
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.features import DISTANCES, word_attributes
from sottovoce.anonymise.text.lexicon import LANGUAGES, lexicon
from sottovoce.anonymise.text.taggers import shipped_weights
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.training.tagger_augmentation import hidden_view
from sottovoce.training.taggers import (
    HIDDEN_L2,
    favour_capitals,
    learn_hidden_words,
    swapped_copies,
    train_tagger,
)

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
    views = [hidden_view(sentence, rng) for sentence in SENTENCES for _ in range(30)]
    assert all(len(view.words) == len(view.tags) for view in views)
    assert Sentence(("call", HIDDEN, "now"), ("O", "B-PER", "O")) in views
    assert SENTENCES[0] in views, "some stay"
    outside = [[w for w, t in zip(v.words, v.tags, strict=True) if t == "O"] for v in views]
    assert {tuple(words) for words in outside} == {
        ("call", "now"),
        ("and", "came"),
        ("so", "it", "was"),
    }


def test_expected_counts_equal_observed_counts_at_the_optimum() -> None:
    """At the maximum, expected counts are those of the text less the pull of the prior."""
    old = weights()
    new = learn_hidden_words(old, "en", SENTENCES * 20, np.random.default_rng(1))
    for name, row in old.rows.items():
        assert new.state[new.rows[name]] == pytest.approx(old.state[row])
    rng = np.random.default_rng(1)
    chosen = [sentence for sentence in SENTENCES * 20 if sentence.spans]
    copies = [hidden_view(chosen[int(i)], rng) for i in rng.permutation(len(chosen))]
    crf = Crf(new, lexicon("en"))
    likely = crf.marginals(crf.emissions([sentence.words for sentence in copies]))
    for distance in DISTANCES:
        seen, expected = np.zeros(3), np.zeros(3)
        for sentence, marginals in zip(copies, likely, strict=True):
            words = sentence.words
            for i, tag in enumerate(sentence.tags):
                if 0 <= i + distance < len(words) and words[i + distance] == HIDDEN:
                    seen[LABELS.index(tag)] += 1
                    expected += marginals[i]
        learnt = new.state[new.rows[word_attributes(HIDDEN, distance, crf.lexicon)[0]]]
        assert seen - expected == pytest.approx(HIDDEN_L2 * learnt, abs=0.05)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_shipped_tagger_knows_hidden_words(lang: str) -> None:
    names = {word_attributes(HIDDEN, distance, lexicon(lang))[0] for distance in DISTANCES}
    for path in shipped_weights(lang).values():
        assert names <= Weights.load(path).rows.keys()


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("call █████ now and tell █████ that we meet at █████", "en"),
        ("Call █████ now and tell █████ that we meet at █████.", "en"),
        ("ruf █████ an und sag █████ dass wir uns um █████ treffen", "de"),
        ("appelle █████ et dis à █████ que nous venons", "fr"),
    ],
)
def test_words_beside_hidden_words_are_not_private(text: str, lang: str) -> None:
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
def test_words_beside_an_address_are_not_private(text: str, lang: str, form: str) -> None:
    findings = Detector(lang).find([text.format(form)])[0]
    assert [(finding.start, finding.end) for finding in findings] == [
        (text.index("{"), text.index("{") + len(form))
    ]


def test_the_first_word_of_a_command_is_not_private() -> None:
    texts = ["Call Ann Lee now.", "Email Kate about the invoice.", "Tell Mohammed to come."]
    by_text = Detector("en").find(texts, ["a", "b", "c"])
    assert [texts[i][f.start : f.end] for i, findings in enumerate(by_text) for f in findings] == [
        "Ann Lee",
        "Kate",
        "Mohammed",
    ]


def test_a_first_word_that_may_be_a_name_is_private() -> None:
    texts = ["Mark came home late.", "Rose has the keys.", "Zorbalda has the keys."]
    by_text = Detector("en").find(texts, ["a", "b", "c"])
    assert [bool(findings) and findings[0].start == 0 for findings in by_text] == [True, True, True]


def test_training_without_crfsuite_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with raises_code("missing-extra") as caught:
        train_tagger(SENTENCES * 20, "en", "spoken")
    assert "sottovoce[train]" in str(caught.value)


def test_using_taggers_does_not_import_crfsuite() -> None:
    code = (
        "import sys; from sottovoce.anonymise.text import TextAnonymiser; "
        "TextAnonymiser('en').transform('call ann'); sys.exit('pycrfsuite' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_copies_with_other_names_are_seen_in_lower_case_too() -> None:
    cased = [Sentence(("Call", "Ann", "."), ("O", "B-PER", "O"))] * 5
    written = swapped_copies(cased, "en", "written", np.random.default_rng(0))
    assert len(written) == 10 and {sentence.words[0] for sentence in written} == {"Call", "call"}
    assert all(sentence.words[1].islower() for sentence in written[5:])
    assert len(swapped_copies(cased, "en", "spoken", np.random.default_rng(0))) == 5


def test_favouring_capitals_changes_words_with_a_capital_only() -> None:
    rows = {name: i for i, name in enumerate(["h=Xxx", "h=xx", "w=ann", "-1h=Xxx"])}
    old = Weights(LABELS, rows, np.ones((4, 3), np.float32), np.zeros((3, 3), np.float32))
    new = favour_capitals(old, 2.0)
    changed = np.argwhere(new.state != old.state).tolist()
    assert changed == [[0, 2]] and new.state[0, 2] == -1
    assert old.state.min() == 1
