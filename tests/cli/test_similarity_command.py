"""``sottovoce similarity``: table, JSON, figure, linkage functions, and one line for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.cli import run
from sottovoce.cli.linkage import linkage_from_options
from sottovoce.speaker import Embeddings
from sottovoce.speaker.readers import read_embeddings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Original, anonymised and training embeddings."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(10), 6)
    places = rng.normal(size=(10, 32))
    before = places[who] + 0.6 * rng.normal(size=(60, 32))
    after = rng.normal(size=(10, 32))[who] + 0.6 * rng.normal(size=(60, 32))
    after[:6] = before[:6]  # speaker p0 is left as it was
    names = np.array([f"p{i}" for i in who])
    ids = np.array([f"u{i}" for i in range(60)])
    np.savez(tmp_path / "o.npz", vectors=before, speakers=names, utterances=ids)
    order = rng.permutation(60)
    np.savez(tmp_path / "p.npz", vectors=after[order], speakers=names[order], utterances=ids[order])
    others = np.repeat(np.arange(30), 6)
    train = rng.normal(size=(30, 32))[others] + 0.6 * rng.normal(size=(180, 32))
    np.savez(tmp_path / "t.npz", vectors=train, speakers=others)
    return tmp_path


def arguments(folder: Path, *more: str) -> list[str]:
    files = ["--original", str(folder / "o.npz"), "--anonymised", str(folder / "p.npz")]
    return ["similarity", *files, *more]


def test_table_and_plain_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(folder, "--resamples", "50")) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in (
        "de-identification DeID",
        "voice distinctiveness G_VD",
        "95 % interval",
        "lower = more disclosed",
        "no link between original and anonymised voices left",
        "10 speakers, 60 recordings",
        "Still like themselves after anonymisation: ",
        "that with others: p0 (",
    ):
        assert words in shown


def test_json_keeps_the_contract(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(folder, "--json", "--resamples", "50")) == 0
    printed = json.loads(capsys.readouterr().out)
    for name in ("deid", "gvd_db"):
        spread = printed["intervals"][name]
        assert spread["low"] <= printed[name] <= spread["high"]
    assert set(printed["d_diag"]) == set(printed["matrices"]) == {"oo", "op", "pp"}
    assert printed["standing_out"][0]["speaker"] == "p0"
    assert printed["excluded"]["speakers"] == [] and printed["interval"]["replicates"] == 50
    inputs = printed["provenance"]["inputs"]
    assert [one["name"] for one in inputs] == ["o.npz", "p.npz"]
    assert printed["provenance"]["settings"] == {
        "linkage": "cosine",
        "lda": None,
        "shrinkage": None,
        "seed": 0,
    }


def test_every_key_is_documented(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(folder, "--json", "--resamples", "50")) == 0
    printed = json.loads(capsys.readouterr().out)
    text = (Path(__file__).parents[2] / "docs" / "file-formats.md").read_text("utf-8")
    section = text.partition("## JSON of `sottovoce similarity`")[2].partition("\n## ")[0]
    inner = (printed["excluded"], printed["readings"]["deid"], printed["interval"])
    for name in {*printed, *(key for one in inner for key in one)}:
        assert f"`{name}`" in section, name


def test_no_interval_and_figure(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "figures"
    assert run(arguments(folder, "--no-interval", "--figures", str(target))) == 0
    assert "interval" not in capsys.readouterr().out.lower()
    (figure,) = target.iterdir()
    assert figure.name == "similarity.svg"
    assert ElementTree.parse(figure).getroot().findtext("{http://www.w3.org/2000/svg}desc")


def test_nothing_done_is_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = ["--original", str(folder / "o.npz"), "--anonymised", str(folder / "o.npz")]
    assert run(["similarity", *same, "--json", "--no-interval"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["deid"], printed["gvd_db"]) == (0.0, 0.0)


@pytest.mark.parametrize("linkage", ["cosine", "euclidean", "plda"])
def test_back_ends_with_training_data(
    linkage: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--linkage", linkage, "--train", str(folder / "t.npz"), "--json", "--no-interval"]
    assert run(arguments(folder, *options)) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["linkage"] == linkage and 0.2 < printed["deid"] < 1.0
    assert len(printed["provenance"]["inputs"]) == 3


def test_the_centre_is_the_mean_of_the_training_vectors(folder: Path) -> None:
    before, train = (read_embeddings(folder / name) for name in ("o.npz", "t.npz"))
    centred = linkage_from_options("cosine", train, lda=None, evaluated=(before,))
    centre = np.load(folder / "t.npz")["vectors"].mean(axis=0)
    vectors = (centre + np.eye(32)).astype(np.float32)
    assert np.allclose(centred.enrol(vectors, 1), np.eye(32), atol=1e-5)


def test_kaldi_archives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same vectors as .ark give the same numbers, on one side or on both."""
    with np.load(folder / "o.npz") as o:
        speakers = "".join(
            f"{u} {s}\n" for u, s in zip(o["utterances"], o["speakers"], strict=True)
        )
    (folder / "utt2spk").write_text(speakers + "further someone\n", "utf-8")
    for side in ("o", "p"):
        with np.load(folder / f"{side}.npz") as arrays:
            rows = zip(arrays["utterances"], arrays["vectors"].tolist(), strict=True)
            lines = [f"{who}  [ {' '.join(map(repr, vector))} ]\n" for who, vector in rows]
        (folder / f"{side}.ark").write_text("".join(lines), "utf-8")

    def asked(original: str, anonymised: str, *more: str) -> list[str]:
        files = ["--original", str(folder / original), "--anonymised", str(folder / anonymised)]
        return ["similarity", *files, "--json", "--no-interval", *more]

    found = []
    names = ["--utt2spk", str(folder / "utt2spk")]
    for line in (
        asked("o.npz", "p.npz"),
        asked("o.npz", "p.ark", *names),
        asked("o.ark", "p.ark", *names),
    ):
        assert run(line) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["deid"] == found[1]["deid"] == found[2]["deid"]
    assert [one["name"] for one in found[1]["provenance"]["inputs"]] == [
        "o.npz",
        "p.ark",
        "utt2spk",
    ]
    assert run(asked("o.npz", "p.ark")) == 2
    assert "give its utt2spk file too" in capsys.readouterr().err
    assert run(asked("o.npz", "p.npz", *names)) == 2
    assert "goes with Kaldi's files" in capsys.readouterr().err


def test_the_nearest_linkage_function_is_suggested() -> None:
    with raises_code("unknown-name") as caught:
        voices = Embeddings.of(np.eye(3), ["a", "b", "c"])
        linkage_from_options("cosin", lda=None, evaluated=(voices,))
    assert "'cosine'" in str(caught.value)


def bad_arguments(folder: Path) -> dict[str, list[str]]:
    with np.load(folder / "o.npz") as arrays:
        vectors, speakers = arrays["vectors"], arrays["speakers"]
    np.savez(folder / "narrow.npz", vectors=vectors[:, :5], speakers=speakers)
    np.savez(folder / "short.npz", vectors=vectors[:9], speakers=speakers[:9])
    np.savez(folder / "nameless.npz", vectors=vectors)
    np.savez(folder / "other.npz", vectors=vectors, speakers=speakers[::-1])
    (folder / "cut.npz").write_bytes((folder / "o.npz").read_bytes()[:200])
    names = ("narrow", "short", "nameless", "other", "cut", "missing")
    bad = {f"{name}.npz": [*arguments(folder)[:-1], str(folder / f"{name}.npz")] for name in names}
    training = str(folder / "narrow.npz")
    return {
        **bad,
        "--train": arguments(folder, "--linkage", "plda"),
        "vectors of dimension 5": arguments(folder, "--train", training),
        "--linkage": arguments(folder, "--linkage", "lda"),
        "--anonymised": arguments(folder)[:3],
        "between 0 and 1": arguments(folder, "--interval", "95"),
        "at least 20": arguments(folder, "--resamples", "2"),
    }


def test_bad_input_is_one_line_and_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, line in bad_arguments(folder).items():
        assert run(line) == 2, words
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1, words
        assert words in said.err, said.err


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["similarity", "--help"]) == 0
    assert "Example: sottovoce similarity --original" in " ".join(capsys.readouterr().out.split())
