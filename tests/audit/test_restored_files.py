"""Files of an audit that were lost or damaged: what verify says, and what a new run restores."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from small_corpus import study

from sottovoce.audit.run import run_audit
from sottovoce.audit.verify import verify
from sottovoce.cli import run
from sottovoce.findings.files import read_findings


@pytest.fixture
def copy(audit: Path, tmp_path: Path) -> Path:
    return shutil.copytree(audit, tmp_path / "copy")


def test_lost_and_damaged_scores_are_restored(corpus: Path, audit: Path, copy: Path) -> None:
    findings = read_findings(copy)
    lost, changed, _ = (row.score_file for row in findings.rows)
    cut_off = findings.originals[0].score_file
    (copy / lost).unlink()
    scores = pl.read_parquet(copy / changed)
    scores[5, "score"] = scores[5, "score"] + 0.01
    scores.write_parquet(copy / changed)
    (copy / cut_off).write_bytes((copy / cut_off).read_bytes()[:-50])
    run_audit(study(corpus), copy)
    for name in (lost, changed, cut_off):
        assert (copy / name).read_bytes() == (audit / name).read_bytes()
    assert verify(copy).differences == ()
    assert (copy / "measures.json").read_bytes() == (audit / "measures.json").read_bytes()


@pytest.mark.parametrize("damage", ["lost", "cut off"])
def test_a_missing_file_is_named_once(
    damage: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy / read_findings(copy).rows[0].score_file
    path.write_bytes(path.read_bytes()[:-50])
    if damage == "lost":
        path.unlink()
    assert run(["audit", "verify", str(copy)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.count("attacks") == 1
    assert line.endswith("; run the audit again")
    if damage == "lost":
        assert f"{path}: cannot be read (No such file or directory)" in line


def test_lost_and_damaged_embeddings_are_restored(corpus: Path, audit: Path, copy: Path) -> None:
    files = sorted(copy.glob("embeddings/*.npz"))
    for number, path in enumerate(files):
        if number % 2:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:-50])
    run_audit(study(corpus), copy)
    assert verify(copy).differences == ()
    assert sorted(copy.glob("embeddings/*.npz")) == files
    assert (copy / "measures.json").read_bytes() == (audit / "measures.json").read_bytes()
