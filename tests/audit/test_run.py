"""Whole audits of a small corpus: what is written, what is repeated, what survives being killed."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile
from small_corpus import ATTACKERS, make_corpus, study

from sottovoce.audit.run import run_audit
from sottovoce.cli import run
from sottovoce.core.errors import InputError


def test_what_an_audit_leaves(audit: Path) -> None:
    findings = json.loads((audit / "measures.json").read_text())
    assert [row["attacker"] for row in findings["rows"]] == ATTACKERS
    assert findings["corpus"]["attacked_speakers"] == 4 and findings["training"]["speakers"] == 4
    for row in findings["rows"]:
        assert (audit / row["scores"]).is_file()
        assert row["measures"]["eer"]["value"] is not None
        assert row["reidentification"]["linkability"][0]["chance"] == 0.25
    assert (audit / findings["anonymisers"][0]["speech"] / "manifest.csv").is_file()
    assert "<script" not in (audit / "report.html").read_text()
    made = json.loads((audit / "provenance.json").read_text())
    assert len(made["inputs"]["corpus"]["sha256"]) == 64


def test_the_tidy_table_holds_the_same_figures(audit: Path) -> None:
    table = pl.read_parquet(audit / "measures.parquet")
    findings = json.loads((audit / "measures.json").read_text())
    row = findings["rows"][1]
    chosen = table.filter((pl.col("attacker") == row["attacker"]) & (pl.col("measure") == "eer"))
    assert chosen["value"].item() == row["measures"]["eer"]["value"]
    assert set(table["anonymiser"]) == {"mcadams", "none"}


def test_nothing_is_done_twice(corpus: Path, audit: Path) -> None:
    def stamps() -> dict[Path, int]:
        kept = (
            path
            for part in ("speech", "embeddings", "attacks", "work")
            for path in (audit / part).rglob("*")
            if path.is_file()
        )
        return {path: path.stat().st_mtime_ns for path in kept if path.name[0] != "."}

    before, measures = stamps(), (audit / "measures.json").read_bytes()
    run_audit(study(corpus), audit)
    assert stamps() == before
    assert (audit / "measures.json").read_bytes() == measures


@pytest.fixture
def odd_corpus(tmp_path: Path) -> Path:
    """Everything that a folder of recordings may have wrong with it, but for double ids."""
    folder = make_corpus(tmp_path / "voices")
    audio = folder / "audio"
    (audio / "s00-0.wav").write_bytes((audio / "s00-0.wav").read_bytes()[:30])  # line 2
    (audio / "s01-0.wav").write_bytes(b"")  # line 8
    (audio / "s02-0.wav").unlink()  # line 14
    three = np.random.default_rng(0).normal(0, 0.1, (8000, 3))
    soundfile.write(audio / "s03-0.wav", three, 8000)  # line 20
    with (folder / "manifest.csv").open("a") as manifest:
        manifest.write("lone-0,audio/lone-0.wav,lone,f,\n")  # line 50
    shutil.copy(audio / "s04-0.wav", audio / "lone-0.wav")
    return folder


ODD = {2: "damaged", 8: "empty", 14: "no such", 20: "3 channels", 50: "the only usable"}


def test_odd_recordings_are_left_out_and_counted(odd_corpus: Path, tmp_path: Path) -> None:
    findings = run_audit(study(odd_corpus, attackers=["ignorant"]), tmp_path / "out").findings
    excluded = findings["corpus"]["excluded"]
    assert len(excluded) == len(ODD)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Left out: 5 recordings" in page
    for line, (number, why) in zip(excluded, ODD.items(), strict=True):
        assert f"manifest.csv:{number}: " in line and why in line
        assert f"manifest.csv:{number}: " in page
    assert not {"s00-0", "lone-0"} & set(json.dumps(findings["rows"]).split('"'))


def test_a_check_names_each_of_them(odd_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (odd_corpus / "manifest.csv").open("a") as manifest:
        manifest.write("s05-0,audio/s05-0.wav,s05,f,\n")
    assert run(["corpus", "check", str(odd_corpus)]) == 1
    shown = capsys.readouterr().out.splitlines()
    for number, why in {**ODD, 51: "s05-0 again"}.items():
        assert any(f"manifest.csv:{number}: " in line and why in line for line in shown)
    assert "5 defects" in shown[-1]


def test_duplicate_ids_are_refused(odd_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = odd_corpus / "manifest.csv"
    lines = manifest.read_text().splitlines()
    manifest.write_text("\n".join([*lines, lines[1]]) + "\n")
    assert run(["audit", "--corpus", str(odd_corpus), "--out", str(odd_corpus / "out")]) == 2
    assert "manifest.csv:51: s00-0 again" in capsys.readouterr().err


def test_limits_decide_the_exit_code(
    corpus: Path, audit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(audit, tmp_path / "out")
    arguments = ["audit", "--corpus", str(corpus), "--out", str(out), "--set", "linkage=cosine"]
    arguments += ["--set", "lengths=[1]", "--set", "seed=1"]
    arguments += [part for name in ATTACKERS for part in ("--attacker", name)]
    assert run([*arguments, "--set", "limits={eer: '> 0'}"]) == 0
    assert run([*arguments, "--set", "limits={eer: '> 0.99'}"]) == 1
    assert "exceeded: eer > 0.99" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_an_audit_is_no_part_of_its_corpus(
    more: list[str], corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(corpus.rglob("*"))
    for root in (["--corpus", str(corpus)], ["--train", str(corpus)]):
        assert run(["audit", *root, "--out", str(corpus / "audit"), *more]) == 2
        assert "within the corpus" in capsys.readouterr().err
    assert sorted(corpus.rglob("*")) == before


def test_a_folder_with_other_things_is_refused(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="something else"):
        run_audit(study(corpus), tmp_path)


def test_plan_and_schema(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--corpus", str(corpus), "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "About" in shown
    assert run(["audit", "--corpus", str(corpus), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"plan": shown.splitlines()}
    assert run(["audit", "--schema"]) == 0
    assert "anonymisers" in json.loads(capsys.readouterr().out)["properties"]


def test_audits_side_by_side(
    audit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = shutil.copytree(audit, tmp_path / "other")
    assert run(["compare", str(audit), str(other), "--json", str(tmp_path / "both.json")]) == 0
    shown = capsys.readouterr().out
    assert shown.count("semi-informed") == 2 and "other" in shown
    assert len(json.loads((tmp_path / "both.json").read_text())["rows"]) == 2 * len(ATTACKERS)


def killed(corpus: Path, whole: bytes, folder: Path, times: int, longest: float) -> None:
    """Kill an audit so many times at random moments; in the end its measures are the same."""
    code = (
        "from pathlib import Path; from sottovoce.audit.config import Study; "
        "from sottovoce.audit.run import run_audit; import sys; "
        "run_audit(Study.model_validate_json(sys.argv[1]), Path(sys.argv[2]))"
    )
    arguments = [sys.executable, "-c", code, study(corpus).model_dump_json(), str(folder)]
    draw = random.Random(0)
    for _ in range(times):
        process = subprocess.Popen(arguments)
        time.sleep(draw.uniform(0.8, longest))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(arguments, check=True)
    assert (folder / "measures.json").read_bytes() == whole
    assert not list(folder.rglob("*.tmp*"))


def test_killed_three_times(corpus: Path, audit: Path, tmp_path: Path) -> None:
    killed(corpus, (audit / "measures.json").read_bytes(), tmp_path / "out", 3, 4.0)


@pytest.mark.slow
def test_killed_twenty_times(corpus: Path, audit: Path, tmp_path: Path) -> None:
    killed(corpus, (audit / "measures.json").read_bytes(), tmp_path / "out", 20, 6.0)
