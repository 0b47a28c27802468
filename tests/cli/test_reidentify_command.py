"""``sottovoce reidentify``: table, JSON, figures, linkage functions, and one line for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sottovoce.cli import run
from sottovoce.report.reidentification import CURVES

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enrolment, trial and training embeddings, and some that are not right."""
    path = tmp_path_factory.mktemp("embeddings")
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(24), 6)
    names = np.array([f"s{i:02d}" for i in who])
    ids = np.array([f"u{i:03d}" for i in range(len(who))])
    places = rng.normal(size=(24, 12))
    enrol = places[who] + rng.normal(size=(len(who), 12))
    trial = places[who] + rng.normal(size=(len(who), 12))
    others = np.repeat(np.arange(40), 5)
    train = rng.normal(size=(40, 12))[others] + rng.normal(size=(200, 12))

    def save(name: str, vectors: Any, speakers: Any, utterances: Any = None) -> None:
        more = {} if utterances is None else {"utterances": utterances}
        np.savez(path / f"{name}.npz", vectors=vectors, speakers=speakers, **more)

    save("e", enrol, names, ids)
    save("t", trial, names, ids)
    save("train", train, others)
    zero = trial.copy()
    zero[7] = 0.0
    save("zero", zero, names, ids)
    save("twice", trial, names, np.where(ids == "u001", "u000", ids))
    save("narrow", trial[:, :5], names, ids)
    save("alone", enrol[:6], names[:6])
    save("strangers", trial, [f"x{name}" for name in names])
    np.savez(path / "nameless.npz", vectors=trial)
    (path / "cut.npz").write_bytes((path / "t.npz").read_bytes()[:300])
    (path / "text.txt").write_text("nothing\n", "utf-8")
    return path


def arguments(folder: Path, *more: str, enrol: str = "e.npz", trial: str = "t.npz") -> list[str]:
    files = ["--enrol", str(folder / enrol), "--trial", str(folder / trial)]
    return ["reidentify", *files, "--lengths", "1,2", "--draws", "5", *more]


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_table_and_plain_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(folder)) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    text = " ".join(shown.out.split())
    for words in (
        "Conversations of 1 utterance, 24 enrolled speakers, cosine",
        "Conversations of 2 utterances, 24 enrolled speakers, cosine",
        "population",
        "Linkability",
        "Singling Out",
        "1 − ROCCH-EER",
        "top-20",
        "mean rank",
        "normalised rank",
        "rank disclosure",
        "Most exposed speakers",
        "Higher = more disclosed, except for ranks",
        "a random predicate isolates someone in 36.8 % of populations",
    ):
        assert words in text, words
    assert "nan" not in text.lower()


def test_json_keeps_the_contract(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(folder, "--json", "--populations", "5,24,10", "--top", "3")) == 0
    found = printed(capsys)
    for curve in ("linkability", "singling_out", "one_minus_rocch_eer", "rank", "top_k"):
        points = found[curve]
        assert [(p["length"], p["population"]) for p in points] == [
            (length, size) for length in (1, 2) for size in (5, 10, 24)
        ]
        for point in points:
            assert {"length", "population", "value", "chance"} <= set(point)
            assert point["low"] <= point["value"] <= point["high"]
    assert {p["k"] for p in found["top_k"]} == {3}
    assert found["linkability"][0]["chance"] == 0.2
    assert found["enrolled_speakers"] == 24 and found["linkage"] == "cosine"
    inputs = found["provenance"]["inputs"]
    assert [one["name"] for one in inputs] == ["e.npz", "t.npz"]
    assert found["provenance"]["settings"]["seed"] == 0


def test_the_same_seed_prints_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = []
    for seed in ("3", "3", "4"):
        assert run(arguments(folder, "--json", "--no-interval", "--seed", seed)) == 0
        outcomes.append(capsys.readouterr().out)
    assert outcomes[0] == outcomes[1] != outcomes[2]


def test_json_to_a_file_beside_the_table(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "study.json"
    assert run(arguments(folder, "--no-interval", "--json", str(target))) == 0
    assert "Linkability" in capsys.readouterr().out
    found = json.loads(target.read_text("utf-8"))
    assert all("low" not in point for point in found["linkability"])


def test_figures_are_valid_svg(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "figures"
    assert run(arguments(folder, "--figures", str(target))) == 0
    names = {f"{name}.svg" for name in CURVES} | {"speakers.svg"}
    assert {path.name for path in target.iterdir()} == names
    for path in target.iterdir():
        root = ElementTree.parse(path).getroot()
        assert root.tag == f"{SVG}svg" and root.findtext(f"{SVG}desc"), path.name
        assert "nan" not in path.read_text("utf-8").lower(), path.name


def test_one_population_has_a_curve_where_all_sizes_follow(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "figures"
    options = ["--figures", str(target), "--populations", "10", "--no-interval"]
    assert run(arguments(folder, *options)) == 0
    assert sorted(path.name for path in target.iterdir()) == ["linkability.svg", "speakers.svg"]


@pytest.mark.parametrize("linkage", ["cosine", "euclidean", "plda"])
def test_back_ends_with_training_data(
    linkage: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--linkage", linkage, "--train", str(folder / "train.npz"), "--json"]
    assert run(arguments(folder, *options, "--no-interval")) == 0
    found = printed(capsys)
    assert found["linkage"] == linkage
    assert found["linkability"][-1]["value"] > 0.5
    assert len(found["provenance"]["inputs"]) == 3


def test_plain_cosine_says_that_it_learnt_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "cosine without a centre"
    assert run(arguments(folder, "--no-interval")) == 0
    assert words in " ".join(capsys.readouterr().out.split())
    for options in (["--train", str(folder / "train.npz")], ["--linkage", "euclidean"]):
        assert run(arguments(folder, "--no-interval", "--json", *options)) == 0
        assert not any(words in note for note in printed(capsys)["notes"])


def test_kaldi_archives(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One utt2spk for both archives, or for one beside an .npz; the same numbers as from .npz."""
    speakers = []
    for side in ("e", "t", "train"):
        with np.load(folder / f"{side}.npz") as arrays:
            vectors, who = arrays["vectors"], arrays["speakers"]
        ids = [f"{side}-{row}" for row in range(len(who))]
        np.savez(tmp_path / f"{side}.npz", vectors=vectors, speakers=who, utterances=ids)
        rows = zip(ids, vectors.tolist(), strict=True)
        lines = [f"{name}  [ {' '.join(map(repr, vector))} ]\n" for name, vector in rows]
        (tmp_path / f"{side}.ark").write_text("".join(lines), "utf-8")
        speakers += [f"{name} {one}\n" for name, one in zip(ids, who, strict=True)]
    (tmp_path / "utt2spk").write_text("".join(speakers), "utf-8")
    found = []
    named = ["--utt2spk", str(tmp_path / "utt2spk")]
    kinds: list[tuple[str, str, list[str]]] = [
        ("npz", "npz", []),
        ("ark", "ark", named),
        ("npz", "ark", named),
        ("npz", "npz", [*named, "--train", str(tmp_path / "train.ark")]),
        ("npz", "npz", ["--train", str(tmp_path / "train.npz")]),
    ]
    for known, unknown, more in kinds:
        sides = {"enrol": f"e.{known}", "trial": f"t.{unknown}"}
        line = arguments(tmp_path, *more, "--no-interval", "--json", **sides)
        assert run(line) == 0, capsys.readouterr().err
        found.append(printed(capsys))
    assert found[0]["linkability"] == found[1]["linkability"] == found[2]["linkability"]
    assert found[3]["linkability"] == found[4]["linkability"]
    assert [one["name"] for one in found[1]["provenance"]["inputs"]] == [
        "e.ark",
        "t.ark",
        "utt2spk",
    ]


def test_the_published_protocol(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(folder, "--literal", "--json", "--no-interval")) == 0
    found = printed(capsys)
    assert found["provenance"]["settings"]["literal"] is True
    trials = 24 * 5  # one conversation a speaker, five draws
    for point in found["linkability"]:
        assert (point["value"] * trials) == pytest.approx(round(point["value"] * trials))


def test_who_is_left_out_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with np.load(folder / "t.npz") as arrays:
        vectors, speakers = arrays["vectors"], arrays["speakers"].copy()
    speakers[:6] = "stranger"
    keep = np.arange(len(speakers)) != 11
    for first in (13, 14, 15, 16, 17):
        keep[first] = False  # one utterance of s02 is left
    np.savez(tmp_path / "t.npz", vectors=vectors[keep], speakers=speakers[keep])
    line = arguments(folder, "--no-interval")
    line[line.index("--trial") + 1] = str(tmp_path / "t.npz")
    assert run(line) == 0
    said = capsys.readouterr().out
    assert "Left out at length 1: 1 speakers not enrolled." in said
    assert "Left out at length 2: 1 speakers with too few utterances." in said


def bad_arguments(folder: Path) -> dict[str, list[str]]:
    trials = ("zero", "twice", "narrow", "nameless", "cut", "missing", "strangers")
    bad = {f"{name}.npz": arguments(folder, trial=f"{name}.npz") for name in trials}
    return {
        **bad,
        "row 7 is all zero": arguments(folder, trial="zero.npz"),
        "utterance ids occur twice: u000": arguments(folder, enrol="twice.npz"),
        "vectors of dimension 5": arguments(folder, trial="narrow.npz"),
        "one speaker": arguments(folder, enrol="alone.npz"),
        "unknown kind of file": arguments(folder, enrol="text.txt"),
        "--lengths a,b": arguments(folder, "--lengths", "a,b"),
        "--lengths 1.5": arguments(folder, "--lengths", "1.5"),
        "lengths (0,)": arguments(folder, "--lengths", "0"),
        "--lengths ,": arguments(folder, "--lengths", ","),
        "length 99": arguments(folder, "--lengths", "99"),
        "--populations x": arguments(folder, "--populations", "x"),
        "population 25: must be 2 to 24": arguments(folder, "--populations", "25"),
        "population 1:": arguments(folder, "--populations", "1,5"),
        "k 0": arguments(folder, "--top", "0"),
        "draws 0": arguments(folder, "--draws", "0"),
        "between 0 and 1": arguments(folder, "--interval", "95"),
        "--train": arguments(folder, "--linkage", "plda"),
        "embed both with the same encoder": arguments(
            folder, "--train", str(folder / "narrow.npz")
        ),
        "--linkage": arguments(folder, "--linkage", "lda"),
        "--trial": arguments(folder)[:3],
        "name --enrol and --trial, or --attack": ["reidentify"],
        "--enrol cannot be combined": arguments(folder, "--attack", str(folder)),
        "--linkage cannot": ["reidentify", "--attack", str(folder), "--linkage", "cosine"],
        "no attack.json": ["reidentify", "--attack", str(folder)],
        "nowhere: no such file": ["reidentify", "--attack", str(folder / "nowhere")],
        "goes with Kaldi's files": arguments(folder, "--utt2spk", str(folder / "text.txt")),
    }


def test_bad_input_is_one_line_and_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, line in bad_arguments(folder).items():
        assert run(line) == 2, words
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1, words
        assert words in said.err, said.err


@pytest.mark.parametrize(
    "options",
    [("--seed", "-1"), ("--lengths", "99999999999999999999")],
    ids=lambda options: options[0],
)
def test_these_are_the_users_mistakes_too(options: tuple[str, str], folder: Path) -> None:
    assert run(arguments(folder, *options)) == 2


def test_nothing_is_written_when_input_is_bad(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "study.json"
    options = ["--json", str(target), "--figures", str(tmp_path / "figures")]
    assert run(arguments(folder, *options, trial="zero.npz")) == 2
    assert list(tmp_path.iterdir()) == []


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reidentify", "--help"]) == 0
    assert "Example: sottovoce reidentify --enrol" in " ".join(capsys.readouterr().out.split())


def test_few_speakers_are_warned_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(folder)) == 0
    assert "Careful: mated trials of 24 speakers only" in " ".join(capsys.readouterr().out.split())
    assert run(arguments(folder, "--json", "-")) == 0
    assert printed(capsys)["warning_codes"] == ["few-speakers"]
    assert run(arguments(folder, "--json", "-", "--no-interval")) == 0
    assert printed(capsys)["warning_codes"] == []
