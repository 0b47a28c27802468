"""What a verification finds, what it says it does not look at, and damaged audits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sottovoce.audit.comparing import compare_tables
from sottovoce.audit.verify import verify
from sottovoce.cli import run

Findings = dict[str, Any]


@pytest.fixture
def copy(audit: Path, tmp_path: Path) -> Path:
    return shutil.copytree(audit, tmp_path / "copy")


def change(path: Path, how: Callable[[Findings], object]) -> None:
    findings = json.loads(path.read_text(encoding="utf-8"))
    how(findings)
    path.write_text(json.dumps(findings), encoding="utf-8")


def attacks(folder: Path) -> list[Path]:
    rows = json.loads((folder / "measures.json").read_text())["rows"]
    return [folder / row["folder"] for row in rows]


def places(folder: Path) -> list[str]:
    return [line.split(":")[0] for line in verify(folder).differences]


def test_an_audit_follows_from_its_embeddings(
    audit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["audit", "verify", str(audit)]) == 0
    shown = capsys.readouterr().out
    assert "trust, measures, similarity, limits, measures.parquet, attributes and groups" in shown
    assert "Not checked: whether the embeddings are those of the recordings; utility" in shown
    assert run(["audit", "verify", str(audit), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differences"] == [] and "report.html" in found["unchecked"]


def test_every_changed_figure_is_found(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def edit(findings: Findings) -> None:
        first, second, _ = findings["rows"]
        first["measures"]["eer"]["value"] += 1e-6
        first["trust"]["trustworthy"] = not first["trust"]["trustworthy"]
        first["trained"]["speakers"] += 1
        first["attacker_summary"] = "knows everything"
        second["reidentification"]["linkability"][0]["low"] = 0.0
        second["groups"]["gender"]["f"]["speakers"] += 1
        second["attributes"]["gender"]["more"] = 1
        findings["originals"]["measures"]["eer"]["value"] += 1e-6
        findings["anonymisers"][0]["similarity"]["deid"] = 0.999
        findings["limits"].append({"limit": "eer > 0.3", "value": 0.5, "exceeded": False})
        findings["confidence"] = 0.99
        findings["name"] = "another"
        findings["corpus"]["attacked_speakers"] = 400
        findings["training"]["speakers"] = 4000
        findings["encoder"]["sha256"] = "0" * 64

    change(copy / "measures.json", edit)
    table = pl.read_parquet(copy / "measures.parquet")
    table.with_columns(pl.col("value") * 0.5).write_parquet(copy / "measures.parquet")
    assert set(places(copy)) == {
        "rows.0.measures.eer.value",
        "rows.0.trust.trustworthy",
        "rows.0.trained.speakers",
        "rows.0.attacker_summary",
        "rows.1.reidentification.linkability.0.low",
        "rows.1.groups.gender.f.speakers",
        "rows.1.attributes.gender.more",
        "originals.measures.eer.value",
        "anonymisers.0.similarity.deid",
        "limits",
        "confidence",
        "name",
        "corpus.attacked_speakers",
        "training.speakers",
        "measures.parquet",
        "provenance.json.encoder.sha256",
    }


def test_scores_and_records_must_follow_too(copy: Path) -> None:
    """Figures that agree with changed scores, and a changed record, are found by attacking."""
    first, second, _ = attacks(copy)
    scores = pl.read_parquet(first / "scores.parquet")
    scores[5, "score"] = scores[5, "score"] + 0.01
    scores.write_parquet(first / "scores.parquet")
    change(second / "attack.json", lambda record: record["trust"]["evidence"].update(control=0.5))
    change(second / "attack.json", lambda record: record["trained"]["settings"].update(foo=1))
    lines = verify(copy).differences
    name = first.relative_to(copy) / "scores.parquet"
    assert lines[0].startswith(f"{name}: score differs in 1 of ") and "row 6" in lines[0]
    record = second.relative_to(copy) / "attack.json"
    assert f"{record}.trained.settings.foo: only on one side" in lines
    assert any(line.startswith(f"{record}.trust.evidence.control: ") for line in lines)


def test_embeddings_that_were_stored_twice_must_agree(copy: Path) -> None:
    first = attacks(copy)[0]
    with np.load(first / "enrol.npz") as stored:
        arrays = dict(stored)
    np.savez(first / "enrol.npz", **{**arrays, "vectors": arrays["vectors"][:, ::-1]})
    name = first.relative_to(copy) / "originals-enrol.npz"
    assert f"{name}: not the same as the attack's original enrol" in verify(copy).differences


def test_without_labels_attributes_are_not_checked(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(copy / "speech")
    assert run(["audit", "verify", str(copy)]) == 0
    said, unsaid = capsys.readouterr().out.splitlines()
    assert said.endswith("limits, measures.parquet.")
    assert f"attributes and groups: {copy / 'speech'}" in unsaid


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (lambda found: found["rows"].pop(), "rows: 2 stored, 3 found"),
        (lambda found: found["study"].update(attackers=["ignorant"]), "rows: 3 stored, 1 found"),
        (lambda found: found["rows"][1].update(attacker="informed"), "rows.1.attacker: stored "),
        (lambda found: found["anonymisers"].clear(), "anonymisers: 0 stored, 1 found"),
        (
            lambda found: found["rows"][1].update(folder=found["rows"][0]["folder"]),
            "rows.1.folder: ",
        ),
    ],
)
def test_rows_must_be_those_of_the_study(
    copy: Path, how: Callable[[Findings], object], said: str
) -> None:
    change(copy / "measures.json", how)
    found = verify(copy)
    assert found.differences[0].startswith(said)
    assert "measures" in found.unchecked


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (lambda found: found.pop("study"), "study: field required"),
        (lambda found: found.pop("originals"), "originals: field required"),
        (lambda found: found.pop("rows"), "rows: field required"),
        (lambda found: found.update(rows=[]), "rows: list should have at least 1 item"),
        (lambda found: found.update(rows=[1]), "rows.0: input should be"),
        (lambda found: found["rows"][0].pop("folder"), "rows.0.folder: field required"),
        (lambda found: found["rows"][0].pop("measures"), "rows.0.measures: field required"),
        (lambda found: found["rows"][0].update(measures=3), "rows.0.measures: input should be"),
        (lambda found: found["rows"][0].update(folder="../x"), "rows.0.folder: ../x is not in"),
        (lambda found: found["rows"][0].update(folder="/tmp"), "rows.0.folder: /tmp is not in"),
        (lambda found: found["rows"][0].update(folder="a\0b"), "rows.0.folder: "),
        (lambda found: found.update(study={"foo": 1}), "study.foo: no key is called 'foo'"),
        (lambda found: found["study"].update(seed=-1), "study.seed: input should be"),
        (lambda found: found["study"].update(attackers=["x"]), "study: no attacker is called 'x'"),
        (lambda found: found["study"].update(limits={"eer@length=3": "> 0"}), "study.limits: "),
    ],
)
def test_damaged_measures_are_told(
    copy: Path,
    capsys: pytest.CaptureFixture[str],
    how: Callable[[Findings], object],
    said: str,
) -> None:
    change(copy / "measures.json", how)
    assert run(["audit", "verify", str(copy)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and f"{copy / 'measures.json'}: {said}" in lines[0]


@pytest.mark.parametrize("text", ["", "[", "[1]", "[" * 100_000, '"a"'])
def test_what_is_no_record_is_told(
    copy: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (copy / "measures.json").write_text(text)
    assert run(["audit", "verify", str(copy)]) == 2
    assert f"{copy / 'measures.json'}: not " in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    ["measures.json", "measures.parquet", "provenance.json", "attack.json", "scores.parquet", ""],
)
def test_a_missing_file_is_named(copy: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = copy / name if name.startswith(("measures", "prov")) else attacks(copy)[0] / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert run(["audit", "verify", str(copy)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and f"{path}" in lines[0] and "cannot be read" in lines[0]


@pytest.mark.parametrize("name", ["measures.parquet", "trial.npz", "scores.parquet"])
def test_a_damaged_file_is_named(copy: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = copy / name if name.startswith("measures") else attacks(copy)[0] / name
    path.write_bytes(path.read_bytes()[:-50])
    assert run(["audit", "verify", str(copy)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and f"{path}: " in lines[0]


def test_tables() -> None:
    stored = pl.DataFrame({"measure": ["eer", "cllr"], "value": [0.25, None], "length": [1, None]})
    assert compare_tables(stored, stored.with_columns(pl.col("value") + 1e-12), "t") == []
    for other in (
        stored.with_columns(pl.col("value") + 1e-6),
        stored.with_columns(pl.col("value").fill_null(0.0)),
        stored.with_columns(pl.col("value").cast(pl.String)),
        stored.with_columns(measure=pl.Series(["eer", None])),
        stored.with_columns(measure=pl.Series([[1], [2]])),
        stored.head(1),
        stored.drop("length"),
    ):
        assert len(compare_tables(other, stored, "t")) == 1
