"""Traits from text: found where they are, not found where labels are exchanged."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from error_codes import raises_code

from sottovoce.attack.logistic import log_probabilities, train_logistic
from sottovoce.attack.text.defences import command_defence, strategy_defence
from sottovoce.attack.text.traits import (
    LabelledText,
    _macro_f1,
    anonymised_by,
    defended,
    infer_text_trait,
    labelled_texts,
)
from sottovoce.attack.text.word_counts import TextVectors
from sottovoce.cli import run
from sottovoce.corpus.utterance import Corpus, Utterance

COMMON = [
    "the",
    "of",
    "to",
    "and",
    "in",
    "it",
    "was",
    "that",
    "he",
    "said",
    "then",
    "went",
    "house",
]


def texts(seed: int = 0, speakers: int = 24, each: int = 6) -> list[LabelledText]:
    """Speakers of value a say *lovely* now and then, those of b *indeed*."""
    rng = np.random.default_rng(seed)
    made = []
    for speaker in range(speakers):
        label = "ab"[speaker % 2]
        for _ in range(each):
            words = rng.choice(COMMON, 8).tolist()
            if rng.random() < 0.5:
                words.insert(4, "lovely" if label == "a" else "indeed")
            made.append(LabelledText(f"s{speaker}", label, " ".join(words)))
    return made


def test_what_words_tell_is_found_and_pooling_helps() -> None:
    result = infer_text_trait(texts(), pooled=(1, 3, None))
    single, three, whole = result.scores
    assert (single.answers, three.answers, whole.answers) == (144, 48, 24)
    assert 0.6 < single.macro_f1 < three.macro_f1 <= whole.macro_f1
    assert whole.macro_f1 > 0.9 and whole.p_value <= 0.01 and whole.low <= whole.macro_f1
    assert 0.3 < result.majority_f1 < 0.45 and 0.4 < single.chance < 0.6
    assert result.transformation is None and result.changed is None
    assert result.score("original", "original", 30) is None


def test_a_defence_that_removes_the_words_removes_the_trait() -> None:
    def paraphrase(lines: list[str]) -> list[str]:
        return [line.replace("lovely", "well").replace("indeed", "well") for line in lines]

    result = infer_text_trait(
        defended(texts(), paraphrase),  # type: ignore[arg-type]
        transformation="rules",
        pooled=(None,),
    )
    table = {(s.trained_on, s.tested_on): s for s in result.scores}
    assert len(table) == 4
    assert table["original", "original"].macro_f1 > 0.9
    anonymised = table["anonymised", "anonymised"]
    assert anonymised.low <= anonymised.chance <= anonymised.high
    assert result.changed is not None and 0.3 < result.changed < 0.7


def test_exchanged_labels_give_chance() -> None:
    inside = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels = dict(enumerate(rng.permutation(["a", "b"] * 8).tolist()))
        shuffled = [replace(t, label=labels[int(t.speaker[1:])]) for t in texts(seed, 16)]
        score = infer_text_trait(shuffled, pooled=(1,), seed=seed).scores[0]
        inside += score.low <= 0.5 <= score.high
    assert inside >= 2


def test_the_division_by_utterance_flatters_whoever_knows_the_speaker() -> None:
    rng = np.random.default_rng(3)
    labels = rng.permutation(["a", "b"] * 10)
    own = [
        LabelledText(f"s{s}", str(labels[s]), f"{' '.join(rng.choice(COMMON, 6))} word{s} name{s}")
        for s in range(20)
        for _ in range(8)
    ]
    by_speaker = infer_text_trait(own, pooled=(1,)).scores[0]
    by_utterance = infer_text_trait(own, pooled=(1,), split="utterance").scores[0]
    assert by_utterance.macro_f1 > 0.9 > 0.65 > by_speaker.macro_f1


@pytest.mark.parametrize(
    "table", [[[3, 1], [2, 4]], [[5, 0], [5, 0]], [[2, 0, 1], [0, 3, 0], [1, 1, 1]]]
)
def test_macro_f1_by_its_definition(table: list[list[int]]) -> None:
    counts = np.array(table)
    expected = []
    for value in range(len(counts)):
        right = counts[value, value]
        told, true = counts[:, value].sum(), counts[value].sum()
        precision = right / told if told else 0.0
        recall = right / true if true else 0.0
        both = precision + recall
        expected.append(2 * precision * recall / both if both else 0.0)
    assert _macro_f1(counts) == pytest.approx(np.mean(expected))


def test_sparse_and_dense_regression_agree() -> None:
    lines = [text.original for text in texts(1, 8)]
    answers = np.array([i % 2 for i in range(len(lines))])
    sparse = TextVectors.learn(lines).transform(lines)
    dense = np.asarray(sparse.todense())
    first = train_logistic(sparse, answers, 2, penalty=0.5)
    second = train_logistic(dense, answers, 2, penalty=0.5)
    np.testing.assert_allclose(
        log_probabilities(sparse, first), log_probabilities(dense, second), atol=1e-4
    )
    np.testing.assert_allclose(np.linalg.norm(dense, axis=1), 1.0)


def test_defences() -> None:
    upper = [sys.executable, "-c", "'import sys; [print(l.strip().upper()) for l in sys.stdin]'"]
    assert list(command_defence(" ".join(upper))(["a b", "c"])) == ["A B", "C"]
    assert list(strategy_defence("redact")(["wake me at nine am"])) == ["wake me at █████"]
    with raises_code("mismatch"):
        command_defence(f"{sys.executable} -c pass")(["a"])
    with raises_code("command-failed"):
        command_defence("no-such-program-anywhere")(["a"])
    with raises_code("wrong-shape"):
        command_defence("  ")
    with raises_code("unknown-name"):
        strategy_defence("no such strategy")


def test_refusals() -> None:
    with raises_code("too-few"):
        infer_text_trait([replace(text, label="a") for text in texts()])
    with raises_code("too-few"):
        infer_text_trait([replace(text, speaker="unknown") for text in texts()])
    with raises_code("too-few"):
        infer_text_trait([LabelledText("s", "a", "too short")])


def test_each_text_is_anonymised_in_its_language() -> None:
    english = "My name is Peter Miller and I live in London"
    german = "Ich heiße Jürgen Schröder und wohne in Wuppertal"
    corpus = Corpus(
        "two",
        Path(),
        (
            Utterance("a", Path("a.wav"), "s", gender="f", transcript=english, language="en-GB"),
            Utterance("b", Path("b.wav"), "t", gender="m", transcript=german),
        ),
    )
    mixed = labelled_texts(corpus, "gender")
    assert [text.language for text in mixed] == ["en", ""]
    for lang in ("de", "auto"):
        first, second = anonymised_by(mixed, "redact", lang=lang)
        assert first.anonymised is not None and second.anonymised is not None
        assert "Miller" not in first.anonymised and "London" not in first.anonymised
        assert "Schröder" not in second.anonymised and "Wuppertal" not in second.anonymised
        assert first.anonymised.startswith("My name is")
        assert second.anonymised.startswith("Ich heiße")
    with raises_code("unknown-name"):
        anonymised_by(mixed, "redact", lang="xx")


def test_the_command_takes_a_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(1600), 16000)
    names = ("Schröder", "Wuppertal", "Jürgen Müller")
    lines = ["utterance,path,speaker,gender,transcript"]
    for speaker in range(6):
        for number, name in enumerate(names):
            text = f"gestern hat uns {name} wieder einmal besucht"
            lines.append(f"u{speaker}{number},a.wav,s{speaker},{'fm'[speaker % 2]},{text}")
    (tmp_path / "manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpus = str(tmp_path)
    words = ["attack", "--original", corpus, "--anonymised", corpus, "--from", "text"]
    words += ["--strategy", "redact", "--out", str(tmp_path / "out")]
    assert run([*words, "--lang", "de", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["text_traits"]
    assert found["transformation"] == "redact" and found["changed"] == 1.0
    assert json.loads((tmp_path / "out" / "traits.json").read_text())["text_traits"] == [found]
    assert run([*words, "--lang", "xx"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
