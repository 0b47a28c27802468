"""Undoing: draws are recognised from speech of other speakers, and inverted before embedding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from small_speech import Bands, small_corpus

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.corpus import anonymise_corpus
from sottovoce.anonymise.voice.mcadams import McAdams
from sottovoce.attack.draw_estimation import DrawEstimator, fit_ridge, long_term_spectrum
from sottovoce.attack.undoing import DrawnSpeech, UndoneEncoder, learn_draws
from sottovoce.core.errors import TooFewError
from sottovoce.core.records import from_json
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus

RATE = 16_000


def drawn(corpus: Corpus, folder: Path, seed: int) -> DrawnSpeech:
    secret = Secret.reproducible(seed)
    method = McAdams(secret)
    anonymised = anonymise_corpus(corpus, method, folder, secret=secret, jobs=1).corpus
    return DrawnSpeech(anonymised, method)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[DrawEstimator, McAdams]:
    folder = tmp_path_factory.mktemp("undoing")
    corpus = small_corpus(folder / "train", speakers=12, prefix="t")
    speech = [drawn(corpus, folder / f"draw{seed}", seed) for seed in (1, 2)]
    return learn_draws(corpus, speech), McAdams(Secret.reproducible(1))


def test_draws_of_other_speakers_are_recognised(
    known: tuple[DrawEstimator, McAdams], tmp_path: Path
) -> None:
    estimator, _ = known
    corpus = small_corpus(tmp_path / "others", speakers=6, prefix="o")
    released = drawn(corpus, tmp_path / "released", 7)
    true, estimated = [], []
    for original, anonymised in zip(corpus, released.anonymised, strict=True):
        audio = load_audio(anonymised, RATE)
        names = {"speaker": original.speaker, "utterance": original.id}
        true.append(released.method.change_of(audio, RATE, **names)[0])
        estimated.append(estimator.numbers(long_term_spectrum(audio, RATE))[0])
    assert np.corrcoef(true, estimated)[0, 1] > 0.8
    assert np.abs(np.subtract(true, estimated)).mean() < 0.6 * np.std(true)


def test_originals_are_embedded_as_they_are_and_anonymised_ones_are_not(
    known: tuple[DrawEstimator, McAdams], tmp_path: Path
) -> None:
    estimator, method = known
    corpus = small_corpus(tmp_path / "others", speakers=4, prefix="o")
    released = drawn(corpus, tmp_path / "released", 7).anonymised
    encoder = UndoneEncoder(Bands(), method, estimator, frozenset({"t1"}))
    kept, changed = (
        [
            np.array_equal(encoder.embed(audio, RATE), Bands().embed(audio, RATE))
            for audio in (load_audio(utterance, RATE) for utterance in side)
        ]
        for side in (corpus, released)
    )
    assert np.mean(kept) >= 0.9
    assert np.mean(changed) <= 0.1


def test_the_card_names_what_was_undone_and_whom_it_was_learnt_from(
    known: tuple[DrawEstimator, McAdams],
) -> None:
    estimator, method = known
    encoder = UndoneEncoder(Bands(), method, estimator, frozenset({"t1"}))
    assert encoder.card.name == "bands, mcadams undone"
    assert encoder.card.sha256 != Bands().card.sha256
    assert encoder.trained_on == {"t1"}
    same = from_json(DrawEstimator, estimator.to_dict(), source="test")
    assert UndoneEncoder(Bands(), method, same, frozenset()).card == encoder.card


def test_few_speakers_are_refused(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "train", speakers=4, each=2)
    with raises_code("too-few", TooFewError):
        learn_draws(corpus, [drawn(corpus, tmp_path / "drawn", 1)])


def test_ridge_equals_the_normal_equations_and_its_error_is_of_left_out_speakers() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 3)) * [1, 10, 0.1] + [5, 0, -2]
    targets = features @ [[1.0], [0.2], [30.0]] + 0.01 * rng.normal(size=(80, 1))
    speakers = np.repeat(np.arange(8), 10).astype(np.str_)
    ridge = fit_ridge(features, targets, speakers)
    np.testing.assert_allclose(ridge(features), targets, atol=0.3)
    assert 0 < ridge.error[0] < 0.3
    shuffled = fit_ridge(
        features, rng.permutation(targets), np.repeat(np.arange(8), 10).astype(str)
    )
    assert shuffled.error[0] > 0.6 * np.abs(targets - targets.mean()).mean()
