"""The language model of studies: candidates by the tree equal sentences one by one."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise.keys import Secret
from sottovoce.measure.exposure import exact_exposure
from sottovoce.memorisation.canaries import CanarySpec
from sottovoce.memorisation.demo_text import demo_sentences
from sottovoce.memorisation.vocabulary import Vocabulary
from sottovoce.memorisation.word_vectors import read_vectors

torch = pytest.importorskip("torch")

from sottovoce.learn.gradients import per_sample_gradients  # noqa: E402
from sottovoce.memorisation.language_model import (  # noqa: E402
    LanguageModel,
    LanguageModelSettings,
    _cut_padding,
    candidate_perplexities,
    encode,
    new_model,
    perplexity,
    sentence_loss,
    train_model,
)
from sottovoce.memorisation.model_study import insert_canaries  # noqa: E402

SENTENCES = [line.split() for line in demo_sentences(60)]
SMALL = LanguageModelSettings(embedding=6, hidden=7, epochs=1, vocabulary=80)


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    vocabulary = Vocabulary.of(SENTENCES, most=80, always=[*"0123456789"])
    model = new_model(vocabulary, SMALL)
    model.eval()
    return model


def test_the_tree_equals_one_candidate_at_a_time(model: LanguageModel) -> None:
    """Slow definition: -log2 of the probabilities of the value's words in the whole sentence."""
    prefix = ["the", "lamp", "is"]
    values = [["1", "2"], ["1", "3"], ["2", "2"], ["7"], ["never-seen", "1"]]
    expected = []
    for value in values:
        inputs, targets = encode([[*prefix, *value]], model.vocabulary)
        logs = torch.log_softmax(model(inputs), dim=2)[0].detach()
        places = range(len(prefix), len(prefix) + len(value))
        expected.append(-sum(float(logs[i, targets[0, i]]) for i in places) / math.log(2))
    found = candidate_perplexities(model, prefix, values)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_perplexity_is_that_of_the_loss(model: LanguageModel) -> None:
    loss = float(sentence_loss(model, *encode(SENTENCES, model.vocabulary)).detach())
    assert perplexity(model, SENTENCES) == pytest.approx(math.exp(loss), rel=1e-4)


def test_cut_padding_changes_no_gradient(model: LanguageModel) -> None:
    texts = [["the", "lamp"], ["the"], ["lamp"] * 9]
    inputs, targets = encode(texts, model.vocabulary)
    cut = _cut_padding((inputs[:2], targets[:2]))
    assert cut[0].shape == cut[1].shape == (2, 3)
    whole = per_sample_gradients(model, sentence_loss, (inputs[:2], targets[:2]))
    short = per_sample_gradients(model, sentence_loss, cut)
    for name, gradient in whole.items():
        torch.testing.assert_close(short[name], gradient)


def test_a_model_is_read_back(model: LanguageModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    again = LanguageModel.load(tmp_path)
    values = [["1"], ["2"]]
    np.testing.assert_array_equal(
        candidate_perplexities(model, ["the"], values),
        candidate_perplexities(again, ["the"], values),
    )
    (tmp_path / "language_model.npz").write_bytes(b"no model")
    with raises_code("damaged"):
        LanguageModel.load(tmp_path)


def test_training_memorises_what_is_repeated() -> None:
    spec = CanarySpec.model_validate(
        {
            "id": "pin",
            "template": "the code of {name} is {}",
            "names": ["ada", "bob"],
            "space": {"digits": 2, "spaced": True},
            "repetitions": [0, 16],
            "canaries": 1,
        }
    )
    text = insert_canaries(
        "demo", SENTENCES, SENTENCES[:5], (spec,), Secret.reproducible(1), vocabulary=300
    )
    assert text.description.inserted == 16 and len(text.train) == 76
    settings = LanguageModelSettings(embedding=16, hidden=32, epochs=12, learning_rate=1e-2)
    model = new_model(text.vocabulary, settings)
    losses: list[float] = []
    train_model(
        model, text.train, settings, lambda epoch, m: losses.append(perplexity(m, text.train))
    )
    assert losses[-1] < losses[0] / 2
    bits = {}
    for canary in text.canaries:
        prefix = canary.template.split(" {}")[0].split()
        values = [list(f"{i:02}") for i in range(100)]
        scores = candidate_perplexities(model, prefix, values)
        bits[canary.repetitions] = exact_exposure(scores, canary.number).exposure_bits
    assert bits[16] == pytest.approx(math.log2(100))


def test_given_vectors_stay(tmp_path: Path) -> None:
    vocabulary = Vocabulary.of(SENTENCES, most=20)
    words = vocabulary.words[4:8]
    (tmp_path / "v.txt").write_text("".join(f"{word} 1 {i} 0\n" for i, word in enumerate(words)))
    vectors = read_vectors(tmp_path / "v.txt", vocabulary)
    assert vectors.shape == (len(vocabulary), 3)
    model = new_model(vocabulary, SMALL, vectors)
    before = model.vectors.weight.clone()
    train_model(model, SENTENCES[:8], SMALL, lambda epoch, m: None)
    assert torch.equal(before, model.vectors.weight)
    (tmp_path / "v.txt").write_text("unheard-of 1 2 3\n")
    with raises_code("empty"):
        read_vectors(tmp_path / "v.txt", vocabulary)
    (tmp_path / "v.txt").write_text("the 1 2 3\nlamp 1\n")
    with raises_code("damaged"):
        read_vectors(tmp_path / "v.txt", vocabulary)
