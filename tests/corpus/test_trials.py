"""Lists of trials in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.corpus import Corpus, Utterance
from sottovoce.corpus.reading import DefectsError
from sottovoce.corpus.trials import TrialList, read_trials


def write(folder: Path, text: str) -> Path:
    path = folder / "trials"
    path.write_text(text)
    return path


def pairs_of(trials: TrialList) -> list[tuple[str, str]]:
    return [
        (trials.enrol_ids[i], trials.trial_ids[j])
        for i, j in zip(trials.enrol, trials.trial, strict=True)
    ]


@pytest.fixture
def corpus() -> Corpus:
    utterances = [Utterance(f"{name}/{i}", Path("x"), name) for name in "ab" for i in (1, 2)]
    return Corpus("four", Path("."), tuple(utterances))


@pytest.mark.parametrize(
    "text",
    [
        "a/1 a/2 target\na/1 b/1 nontarget\n\nb/2 a/2 nontarget\n",
        "1 a/1.wav a/2.wav\n0 a/1.wav b/1.wav\n0 b/2.wav a/2.wav\n",
        "1.0 a/1.wav a/2.wav\n0.0 a/1.wav b/1.wav\n0 b/2.wav a/2.wav\n",
        "a/1 a/2 1.0\na/1 b/1 0.0\nb/2 a/2 Non-Target\n",
        "Mated a/1 a/2\nnonmated a/1 b/1\nFALSE b/2 a/2\n",
    ],
)
def test_both_forms_are_read(tmp_path: Path, text: str, corpus: Corpus) -> None:
    trials = read_trials(write(tmp_path, text), corpus)
    assert pairs_of(trials) == [("a/1", "a/2"), ("a/1", "b/1"), ("b/2", "a/2")]
    assert trials.mated.tolist() == [True, False, False]
    assert trials.enrolment == {"a/1": ("a/1",), "b/2": ("b/2",)}


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("1 7 0\n0 8 9\n", [("7", "0"), ("8", "9")]),
        ("1 7 0\n5 8 1\n", [("1", "7"), ("5", "8")]),
        ("1 7 0\n0 8 1\n", [("1", "7"), ("0", "8")]),
    ],
)
def test_ids_that_look_like_labels(tmp_path: Path, text: str, pairs: list[tuple[str, str]]) -> None:
    """All lines decide; where both forms fit, Kaldi's is meant."""
    assert pairs_of(read_trials(write(tmp_path, text))) == pairs


def test_a_list_is_read_without_a_corpus(tmp_path: Path) -> None:
    trials = read_trials(write(tmp_path, "1 a/1.wav a/2.wav\n0 a/1.wav b/1.wav\n"))
    assert pairs_of(trials) == [("a/1.wav", "a/2.wav"), ("a/1.wav", "b/1.wav")]
    assert len(trials) == 2 and not trials.enrolment


def test_enrolment_by_speaker_uses_what_is_not_tried(tmp_path: Path, corpus: Corpus) -> None:
    trials = read_trials(write(tmp_path, "a a/2 target\nb a/2 nontarget\n"), corpus)
    assert trials.enrol_ids == ("a", "b") and trials.trial_ids == ("a/2",)
    assert trials.enrolment == {"a": ("a/1",), "b": ("b/1", "b/2")}


def test_enrolment_by_speaker_follows_an_enrolment_split(tmp_path: Path) -> None:
    splits = {"a/1": "Enrol", "a/2": "enroll", "a/3": "trial", "a/4": "train", "b/1": "", "b/2": ""}
    utterances = [
        Utterance(name, Path("x"), name[0], split=split) for name, split in splits.items()
    ]
    corpus = Corpus("c", Path("."), tuple(utterances))
    trials = read_trials(write(tmp_path, "a a/2 target\nb a/2 nontarget\nb b/1 target\n"), corpus)
    assert trials.enrolment == {"a": ("a/1", "a/2"), "b": ("b/2",)}


def test_an_id_with_an_ending_may_be_the_utterance_itself(tmp_path: Path) -> None:
    utterances = [Utterance(name, Path("x"), "a") for name in ("u.1", "u", "v")]
    corpus = Corpus("c", Path("."), tuple(utterances))
    trials = read_trials(write(tmp_path, "u.1 v.wav target\nu.2 v target\n"), corpus)
    assert pairs_of(trials) == [("u.1", "v"), ("u", "v")]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("a b\n", 1, "malformed-line"),
        ("a/1 a/2 target\na/1 b/1 2\n", 2, "malformed-line"),
        ("a/1 a/2 target\n0 a/1 b/1\n", 2, "malformed-line"),
        ("1 a/1 a/2\n2 a/1 b/1\n", 2, "malformed-line"),
        ("a/1 a/2 target\n\na/1 a/2 target\n", 3, "duplicate-pair"),
        ("a/1 a/2 target\na/1 c/1 nontarget\n", 2, "unknown-name"),
        ("a/1 a/2 target\n\nc/1 a/2 nontarget\n", 3, "unknown-name"),
        ("a/1 a/2 target\na/1 b nontarget\n", 2, "unknown-name"),
        ("a/1 a/2 target\na/1 b/1 target\n", 2, "mismatch"),
        ("a a/2 nontarget\n", 1, "mismatch"),
        ("\n", None, "empty"),
        ("a a/1 target\na a/2 target\n", None, "too-few"),
    ],
)
def test_defects_have_their_line_and_code(
    tmp_path: Path, text: str, line: int | None, code: str, corpus: Corpus
) -> None:
    path = write(tmp_path, text)
    with raises_code(code) as caught:
        read_trials(path, corpus)
    assert str(caught.value).startswith(f"{path}: " if line is None else f"{path}:{line}: ")


def test_all_malformed_lines_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(DefectsError) as caught:
        read_trials(write(tmp_path, "a b target\nc\nd e f\n"))
    assert len(caught.value.defects) == 2 and "(1 more)" in str(caught.value)


def test_the_same_id_twice_is_stored_once(tmp_path: Path) -> None:
    lines = [f"e{i % 7} t{i} {'target' if i % 2 else 'nontarget'}\n" for i in range(100)]
    trials = read_trials(write(tmp_path, "".join(lines)))
    assert len(trials.enrol_ids) == 7 and len(trials.trial_ids) == 100
    assert trials.enrol.tolist() == [i % 7 for i in range(100)]
    assert np.array_equal(trials.mated, np.arange(100) % 2 == 1)
