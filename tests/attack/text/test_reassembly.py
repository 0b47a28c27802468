"""Slices that belong together are linked, shuffled ones are not; ARPA files and the command."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.attack.text.arpa import read_arpa, write_arpa
from sottovoce.attack.text.reassembly import (
    SLICE_SCORES,
    Slices,
    make_slices,
    reassemble,
    score_pairs,
    slice_scores,
)
from sottovoce.attack.text.trigrams import TrigramModel, train_trigrams
from sottovoce.cli import run
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure import measure_scores


def chain(count: int, seed: int, length: int = 40) -> list[list[str]]:
    """Documents of a random walk over words: what follows depends on the last word."""
    rng = np.random.default_rng(seed)
    follow = np.random.default_rng(99).integers(0, 120, (120, 3))
    documents = []
    for _ in range(count):
        state, words = int(rng.integers(120)), []
        for _ in range(length):
            words.append(f"w{state}")
            state = int(follow[state, rng.integers(3)])
        documents.append(words)
    return documents


MODEL = train_trigrams(chain(400, 0))
SLICES = make_slices(chain(60, 1), MODEL, words=5)


def test_slices_have_the_words_at_their_edges() -> None:
    document = [f"w{i}" for i in range(11)]
    slices = make_slices([document, ["w1", "w2"]], MODEL, words=4)
    assert slices.document.tolist() == [0, 0, 0, 1]
    assert [MODEL.words[i] for i in slices.last[0]] == ["w2", "w3"]
    assert [MODEL.words[i] for i in slices.first[1]] == ["w4", "w5"]
    assert slices.followed.tolist() == [0, 1]
    with raises_code("too-few", TooFewError):
        make_slices([["w1", "w2"]], MODEL, words=4)


def test_scores_are_the_definition() -> None:
    before, after = np.array([0, 3]), np.array([1, 9])
    joint = score_pairs(SLICES, before, after, MODEL, "joint")
    mutual = score_pairs(SLICES, before, after, MODEL, "mutual")
    for row in range(2):
        a, b = SLICES.last[before[row]]
        c, d = SLICES.first[after[row]]
        numbers = [np.array([n]) for n in (a, b, c, d)]
        one, two, three, four = numbers
        p = MODEL.log_probability
        left, right = p(one) + p(one, two), p(three) + p(three, four)
        whole = p(one) + p(one, two) + p(one, two, three) + p(two, three, four)
        assert joint[row] == pytest.approx(float(whole[0]))
        assert mutual[row] == pytest.approx(float((whole - left - right)[0]))


def test_successive_slices_are_linked() -> None:
    eer = {
        name: measure_scores(slice_scores(SLICES, MODEL, name), interval=None).measures["eer"].value
        for name in SLICE_SCORES
    }
    assert eer["mutual"] is not None and eer["joint"] is not None
    assert eer["mutual"] < 0.15 and eer["joint"] < 0.15
    found = reassemble(SLICES, MODEL, most=200)
    first, ten = found.hits
    assert first.value > 5 * first.chance and ten.value > first.value and found.slices <= 200


def test_shuffled_slices_are_not() -> None:
    order = np.random.default_rng(3).permutation(len(SLICES))
    shuffled = Slices(SLICES.last[order], SLICES.first[order], SLICES.document)
    summary = measure_scores(slice_scores(shuffled, MODEL, "mutual"), interval=0.95)
    corrected = summary.measures["d_sys_corrected"]
    assert corrected.low is not None and corrected.low <= 0.02
    first, _ = reassemble(shuffled, MODEL, most=300).hits
    assert first.low <= first.chance


def test_arpa_keeps_the_model(tmp_path: Path) -> None:
    write_arpa(MODEL, tmp_path / "m.arpa")
    again = read_arpa(tmp_path / "m.arpa")
    assert again.words == MODEL.words
    rng = np.random.default_rng(0)
    words = rng.integers(2, len(MODEL.words), (3, 500))
    expected = MODEL.log_probability(*words)
    assert again.log_probability(*words) == pytest.approx(expected, abs=1e-4)


def test_a_model_of_another_program() -> None:
    text = (
        "\\data\\\nngram 1=4\nngram 2=2\nngram 3=1\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n"
        "-0.5\ta\t-0.2\n-0.4\tb\n\n\\2-grams:\n-0.2\t<s> a\t-0.1\n-0.3\ta b\n\n\\3-grams:\n"
        "-0.1\t<s> a b\n\n\\end\\\n"
    )
    model = _read(text)
    a, b = model.numbers(["a", "b"])
    value = model.log_probability(np.array([b]), np.array([a]), np.array([b]))
    assert value[0] / np.log(10) == pytest.approx(-0.3)  # the context b a was never seen
    value = model.log_probability(np.array([a]), np.array([a]))
    assert value[0] / np.log(10) == pytest.approx(-0.2 - 0.5)


def _read(text: str) -> TrigramModel:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.arpa"
        path.write_text(text)
        return read_arpa(path)


@pytest.mark.parametrize(
    "text",
    ["\\data\\\n\\1-grams:\nx a\n\\end\\\n", "\\1-grams:\n-1\n", "\\4-grams:\n-1 a b c d\n"],
)
def test_damaged_models(text: str) -> None:
    with raises_code("damaged", InputError):
        _read(text)


def test_an_empty_model() -> None:
    with raises_code("empty", InputError):
        _read("")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, documents in (("text", chain(40, 1)), ("train", chain(200, 0))):
        (tmp_path / f"{name}.txt").write_text("\n".join(" ".join(d) for d in documents))
    text, train, model = (str(tmp_path / name) for name in ("text.txt", "train.txt", "m.arpa"))
    options = ["--words", "5", "--resamples", "200", "--json"]
    assert run(["reassemble", text, "--train", train, "--save-model", model, *options]) == 0
    trained = json.loads(capsys.readouterr().out)
    assert set(trained["scores"]) == {"mutual", "joint"}
    assert trained["scores"]["mutual"]["measures"]["d_sys"]["value"] > 0.5
    assert run(["reassemble", text, "--model", model, *options]) == 0
    read = json.loads(capsys.readouterr().out)
    value = trained["scores"]["mutual"]["measures"]["eer"]["value"]
    assert read["scores"]["mutual"]["measures"]["eer"]["value"] == pytest.approx(value, abs=0.01)
    assert run(["reassemble", text]) == 2 and run(["reassemble", text, "--model", text]) == 2
    assert run(["reassemble", text, "--train", train, "--words", "5", "--resamples", "200"]) == 0
    assert "guessing" in capsys.readouterr().out
