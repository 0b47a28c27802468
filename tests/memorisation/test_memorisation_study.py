"""A study of memorisation in one file: its results, its page, and that it resumes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from error_codes import raises_code

from sottovoce.cli import run
from sottovoce.core.records import from_json
from sottovoce.findings import MemorisationFindings
from sottovoce.memorisation.study import builtin_study, read_memorisation_study

SMALL = """
name: small
text: builtin
sentences: 80
canaries:
  - {id: pin, template: "the pin of {name} is {}", names: [arthur, bianca],
     space: {digits: 2, spaced: true}, repetitions: [0, 4], canaries: 1}
language_model: {epochs: 2, check: [1, 2], vocabulary: 100, embedding: 4, hidden: 8, controls: 30,
  sample: 50, privacy: [none, {epochs: 1, delta: 0.001}]}
"""


def write(folder: Path, content: str) -> str:
    path = folder / "study.yaml"
    path.write_text(content)
    return str(path)


def test_a_small_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("dp_accounting")
    words = ["memorisation", "study", write(tmp_path, SMALL), "--out", str(tmp_path / "out")]
    assert run([*words, "--json"]) == 0
    findings = from_json(MemorisationFindings, json.loads(capsys.readouterr().out))
    plain, private = findings.language_models
    assert [check.epoch for check in plain.checks] == [1, 2]
    assert plain.privacy is None and private.privacy is not None
    assert private.privacy.guarantee == "differential privacy"
    assert private.privacy.epsilon <= 10
    assert [group.repetitions for group in plain.last.groups] == [0, 4]
    assert plain.controls[0].summary.secrets == 30
    check = plain.estimators[0]
    assert check.exact.space == 100 and check.sampled.scored == 51
    stored = (tmp_path / "out" / "memorisation.json").read_text()
    assert from_json(MemorisationFindings, json.loads(stored)) == findings
    table = pl.read_parquet(tmp_path / "out" / "memorisation.parquet")
    assert len(table) == 2 * 2 + 2  # two epochs of one model, one of the other, two canaries each
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Language model, without privacy" in page and "Synthetic text" in page
    models = sorted((tmp_path / "out" / "models").iterdir())
    before = [path.stat().st_mtime_ns for path in (tmp_path / "out" / "work").rglob("*.json")]
    assert run(words) == 0
    after = [path.stat().st_mtime_ns for path in (tmp_path / "out" / "work").rglob("*.json")]
    assert before == after and len(models) == 2
    _ask(tmp_path, models[0], capsys)


def _ask(folder: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that a study kept is asked by a command."""
    capsys.readouterr()
    rows = [
        f"pin-4x-1,{i} {j},the pin of arthur is {i} {j},{str(i + j == 0).lower()}"
        for i in range(10)
        for j in range(10)
    ]
    table = folder / "candidates.csv"
    table.write_text("canary,candidate,text,inserted\n" + "\n".join(rows) + "\n")
    scored, page = folder / "scored.csv", folder / "page.html"
    words = ["memorisation", "exposure", str(table), "--model", str(model)]
    assert run([*words, "--save-scores", str(scored), "--report", str(page), "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)["canaries"]
    assert run(["memorisation", "exposure", str(scored), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["canaries"] == asked
    assert "<svg" in page.read_text()


@pytest.mark.parametrize(
    "change",
    [
        ("language_model:", "nothing:"),
        ("is {}", "is"),
        ("digits: 2", "digits: 0"),
        ("names: [arthur, bianca]", "names: [arthur]"),
        ("{epochs: 2", "{epochs: none"),
    ],
)
def test_what_is_wrong_with_a_study(
    change: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, SMALL.replace(*change))
    with raises_code("wrong-shape"):
        read_memorisation_study(Path(path))
    assert run(["memorisation", "study", path, "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "out").exists()


def test_other_bad_input(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "full")]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    assert run(["memorisation", "study", write(tmp_path, SMALL), *out]) == 2
    assert run(["memorisation", "study", str(tmp_path / "nowhere.yaml")]) == 2
    (tmp_path / "bad.yaml").write_text("a: [")
    with raises_code("not-yaml"):
        read_memorisation_study(tmp_path / "bad.yaml")


TAGGERS = """
name: tags
text: null
taggers:
  data: tags.conll
  test: tags.conll
  kinds: [bilstm]
  classes: [PER, LOC]
  repetitions: [0, 8]
  epochs: [1, 2]
  embedding: 4
  hidden: 4
  vocabulary: 3
  privacy: [none, {epsilon: 5, delta: 0.001, epochs: 1}]
"""


def _tagged(folder: Path) -> None:
    """Places after *in*, people before *said*, and two words that are both."""
    rows = []
    for number in range(40):
        rows.append(f"P{number} B-PER\nsaid O\nit O\n")
        rows.append(f"it O\nrained O\nin O\nL{number} B-LOC\n")
    for word in ("Jordan", "Chelsea"):
        rows += [f"{word} B-PER\nsaid O\nit O\n", f"rained O\nin O\n{word} B-LOC\n"] * 3
    (folder / "tags.conll").write_text("\n".join(rows))


def test_taggers_with_privacy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("dp_accounting")
    _tagged(tmp_path)
    out = tmp_path / "out"
    assert run(["memorisation", "study", write(tmp_path, TAGGERS), "--out", str(out)]) == 0
    findings = from_json(MemorisationFindings, json.loads((out / "memorisation.json").read_text()))
    assert findings.taggers is not None
    found = [(check.tagger, check.repetitions, check.epoch) for check in findings.taggers.checks]
    private = "bilstm, private, ε = 5"
    assert found == [
        *(("bilstm", count, epoch) for count in (0, 8) for epoch in (1, 2)),
        *((private, count, 1) for count in (0, 8)),
    ]
    plain, last = findings.taggers.checks[0], findings.taggers.checks[-1]
    assert plain.privacy is None and last.privacy is not None
    assert last.privacy.guarantee == "differential privacy" and last.privacy.epsilon <= 5
    page = (out / "report.html").read_text()
    assert private in page and "Guaranteed for every sentence" in page
    assert private in capsys.readouterr().out


def test_taggers_with_given_vectors(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    _tagged(tmp_path)
    (tmp_path / "vectors.txt").write_text("said 1 0 2\nit 0 1 3\nJordan 0.5 0.5 1\n")
    content = TAGGERS.replace("epochs: [1, 2]", "epochs: [1]").replace("[0, 8]", "[0]")
    path = write(tmp_path, content.split("  privacy")[0] + "  vectors: [random, vectors.txt]\n")
    out = tmp_path / "out"
    assert run(["memorisation", "study", path, "--out", str(out)]) == 0
    findings = from_json(MemorisationFindings, json.loads((out / "memorisation.json").read_text()))
    assert findings.taggers is not None
    names = [check.tagger for check in findings.taggers.checks]
    assert names == ["bilstm", "bilstm, vectors.txt"]
    assert str(tmp_path) not in json.dumps(findings.to_dict())
    alone = read_memorisation_study(Path(write(tmp_path, content + "  vectors: random\n")))
    assert alone.taggers is not None and alone.taggers.vectors == [None]


def test_a_crf_with_privacy_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _tagged(tmp_path)
    path = write(tmp_path, TAGGERS.replace("[bilstm]", "[crf, bilstm]"))
    with raises_code("wrong-shape"):
        read_memorisation_study(Path(path))
    assert run(["memorisation", "study", path, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "privacy" in error and not (tmp_path / "out").exists()


def test_the_built_in_study_and_paths(tmp_path: Path) -> None:
    study = builtin_study()
    assert study.language_model is not None and len(study.language_model.privacy) == 2
    path = write(tmp_path, SMALL.replace("text: builtin", "text: train.txt"))
    read = read_memorisation_study(Path(path))
    assert read.text == str(tmp_path / "train.txt")
    assert read.public_settings()["text"] == "train.txt"
