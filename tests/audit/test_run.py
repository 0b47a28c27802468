"""Audits of a small corpus: what is written, what is done once, and runs that are killed."""

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
from error_codes import raises_code
from small_corpus import ATTACKERS, make_corpus, study

from sottovoce.audit.run import run_audit
from sottovoce.audit.verify import verify
from sottovoce.cli import run
from sottovoce.findings import AttackRow, OriginalsFinding, SliceCurve
from sottovoce.findings.attack import AttributeInference
from sottovoce.findings.files import read_findings, read_provenance


def test_the_files_of_an_audit(audit: Path) -> None:
    findings = read_findings(audit)
    assert [row.attacker for row in findings.rows] == ATTACKERS
    assert [row.attacker_rank for row in findings.rows] == [0, 2, 3]
    assert findings.corpus.attacked_speakers == 4 and findings.training.speakers == 4
    rows: list[AttackRow | OriginalsFinding] = [*findings.rows, *findings.originals]
    for row in rows:
        assert (audit / row.score_file).is_file()
        assert row.scores.measures["eer"].value is not None
        assert row.curves.eer == row.scores.measures["eer"].value
        assert row.reidentification.linkability[-1].chance == 0.25
    assert [originals.linkage for originals in findings.originals] == ["cosine"]
    (attackers,) = findings.comparisons
    assert (attackers.subject, attackers.under) == ("attackers", "mcadams")
    assert [part.name.split(", ")[0] for part in attackers.scores.sets] == ATTACKERS
    assert attackers.scores.paired_by == "trial"  # of four speakers
    assert attackers.scores.same_trials
    assert len(attackers.scores.differences["eer"]) == len(attackers.linkability) == 3
    assert (audit / findings.anonymisers[0].speech / "manifest.csv").is_file()
    assert "<script" not in (audit / "report.html").read_text()
    provenance = read_provenance(audit)
    assert len(provenance.inputs["corpus"].sha256) == 64


def test_the_tidy_table_holds_the_same_figures(audit: Path) -> None:
    table = pl.read_parquet(audit / "measures.parquet")
    row = read_findings(audit).rows[1]
    chosen = table.filter((pl.col("attacker") == row.attacker) & (pl.col("measure") == "eer"))
    assert chosen["value"].item() == row.scores.measures["eer"].value
    assert set(table["anonymiser"]) == {"mcadams", "none"}


def test_a_second_run_repeats_nothing(corpus: Path, audit: Path) -> None:
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


def test_other_draws_of_the_release_leave_the_attackers_as_they_are(
    corpus: Path, audit: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "audit"
    shutil.copytree(audit, folder)
    before = {path.name for path in (folder / "speech").iterdir()}
    findings = run_audit(study(corpus, release_seed=2), folder)
    (released,) = {path.name for path in (folder / "speech").iterdir()} - before
    assert Path(findings.anonymisers[0].speech).name == released
    first = read_findings(audit)
    for row, other in zip(first.rows, findings.rows, strict=True):
        assert row.trained == other.trained
        assert row.scores != other.scores
    assert run_audit(study(corpus, release_seed=1), folder).rows == first.rows


def test_labels_that_were_corrected_count_in_a_second_run(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "voices", speakers=12, takes=4)
    folder, manifest = tmp_path / "audit", corpus / "manifest.csv"
    plain = {"attackers": ["ignorant"], "utility": {"wer": False, "quality": False}}
    small = study(corpus, attributes=["accent"], **plain)
    header, *lines = manifest.read_text().splitlines()
    for accents in (("north", "south"), ("east", "west")):
        labelled = [f"{line},{accents[',f,' in line]}" for line in lines]
        manifest.write_text("\n".join([f"{header},accent", *labelled]) + "\n")
        inferred = run_audit(small, folder).rows[0].attributes["accent"]
        assert isinstance(inferred, AttributeInference) and inferred.values == accents


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
    utility = {"wer": False, "f0": False, "quality": False}
    quick = study(odd_corpus, attackers=["ignorant"], utility=utility)
    findings = run_audit(quick, tmp_path / "out")
    excluded = findings.corpus.excluded
    assert len(excluded) == len(ODD)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Left out: 5 recordings" in page
    for line, (number, reason) in zip(excluded, ODD.items(), strict=True):
        assert f"manifest.csv:{number}: " in line and reason in line
        assert f"manifest.csv:{number}: " in page
    rows = [row.to_dict() for row in findings.rows]
    assert not {"s00-0", "lone-0"} & set(json.dumps(rows).split('"'))


def test_a_check_names_each_of_them(odd_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (odd_corpus / "manifest.csv").open("a") as manifest:
        manifest.write("s05-0,audio/s05-0.wav,s05,f,\n")
    assert run(["corpus", "check", str(odd_corpus)]) == 1
    lines = capsys.readouterr().out.splitlines()
    for number, reason in {**ODD, 51: "s05-0 again"}.items():
        assert any(f"manifest.csv:{number}: " in line and reason in line for line in lines)
    assert "5 defects" in lines[-1]


def test_duplicate_ids_are_refused(odd_corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = odd_corpus / "manifest.csv"
    lines = manifest.read_text().splitlines()
    manifest.write_text("\n".join([*lines, lines[1]]) + "\n")
    assert run(["audit", "--corpus", str(odd_corpus), "--out", str(odd_corpus / "out")]) == 2
    assert "manifest.csv:51: s00-0 again" in capsys.readouterr().err


def test_damaged_results_are_computed_again(corpus: Path, audit: Path, tmp_path: Path) -> None:
    out = shutil.copytree(audit, tmp_path / "out")
    damaged = [*sorted(out.glob("embeddings/*.npz"))[:2], *sorted(out.glob("attacks/*/*.json"))]
    assert len(damaged) > 3
    for path in damaged:
        path.write_bytes(path.read_bytes()[:100])
    (out / "measures.json").unlink()
    run_audit(study(corpus), out)
    assert (out / "measures.json").read_bytes() == (audit / "measures.json").read_bytes()


def test_limits_decide_the_exit_code(
    corpus: Path, audit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shutil.copytree(audit, tmp_path / "out")
    arguments = ["audit", "--corpus", str(corpus), "--out", str(out), "--set", "linkage=cosine"]
    arguments += ["--set", "lengths=[1]", "--set", "seed=1", "--set", "utility.utterances=4"]
    arguments += [part for name in ATTACKERS for part in ("--attacker", name)]
    arguments += ["--anonymiser", "mcadams"]
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
    with raises_code("exists"):
        run_audit(study(corpus), tmp_path)
    with raises_code("exists"):
        run_audit(study(corpus), tmp_path / "notes.txt")


def test_plan_and_schema(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--corpus", str(corpus), "--dry-run"]) == 0
    plan = capsys.readouterr().out
    assert "About" in plan
    assert run(["audit", "--corpus", str(corpus), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"plan": plan.splitlines()}
    assert run(["audit", "--schema"]) == 0
    assert "anonymisers" in json.loads(capsys.readouterr().out)["properties"]


def test_audits_side_by_side(
    audit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = shutil.copytree(audit, tmp_path / "other")
    assert run(["compare", str(audit), str(other), "--json", str(tmp_path / "both.json")]) == 0
    table = capsys.readouterr().out
    assert table.count("semi-informed") == 2 and "other" in table
    assert "Which protects better" in table
    both = json.loads((tmp_path / "both.json").read_text())
    assert len(both["rows"]) == 2 * len(ATTACKERS)
    subjects = [comparison["subject"] for comparison in both["comparisons"]]
    assert subjects == ["anonymisers"] * len(ATTACKERS) + ["attackers"] * 2
    for pairs in both["comparisons"][0]["scores"]["differences"].values():
        assert all(pair["value"] in (0, None) for pair in pairs)  # the second audit is a copy


def check_kills(corpus: Path, expected: bytes, folder: Path, times: int, longest: float) -> None:
    """Kill an audit several times at random moments; in the end its measures are the same."""
    code = (
        "from pathlib import Path; from sottovoce.audit.study import Study; "
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
    assert (folder / "measures.json").read_bytes() == expected
    assert not list(folder.rglob("*.tmp*"))


def test_killed_three_times(corpus: Path, audit: Path, tmp_path: Path) -> None:
    check_kills(corpus, (audit / "measures.json").read_bytes(), tmp_path / "out", 3, 4.0)


@pytest.mark.slow
def test_killed_twenty_times(corpus: Path, audit: Path, tmp_path: Path) -> None:
    check_kills(corpus, (audit / "measures.json").read_bytes(), tmp_path / "out", 20, 6.0)


def test_slices_and_words_are_part_of_a_study(tmp_path: Path) -> None:
    """Slices of two lengths, traits from transcripts, a page with both, and an audit to verify."""
    corpus = make_corpus(tmp_path / "corpus", speakers=6, takes=4)
    manifest = corpus / "manifest.csv"
    lines = manifest.read_text().splitlines()
    sentences = ["the pie is lovely and warm", "we went home by the old road"]
    spoken = [f"{line}{sentences[i % 2]}" for i, line in enumerate(lines[1:])]
    manifest.write_text("\n".join([lines[0], *spoken]) + "\n")
    changes = {
        "attackers": ["ignorant"],
        "slice": {"seconds": [0.3, 0.6]},
        "text": {"strategies": ["redact"]},
        "utility": {"wer": False, "f0": False, "quality": False},
    }
    findings = run_audit(study(corpus, **changes), tmp_path / "audit", jobs=1, audio=False)
    for curve in (findings.rows[0].slices, findings.originals[0].slices):
        assert isinstance(curve, SliceCurve)
        assert [point.seconds for point in curve.points] == [0.3, 0.6]
    assert isinstance(findings.slice_texts, tuple)
    assert {text.score for text in findings.slice_texts} == {"mutual", "joint"}
    assert isinstance(findings.text_traits, tuple)
    assert findings.text_traits[0].transformation == "redact"
    page = (tmp_path / "audit" / "report.html").read_text()
    assert (
        "over the length of slices" in page
        and "gender from text, redact" in page
        and "What the slices&#x27; words give away" in page
    )
    assert any("besides traits and which slices" in line for line in findings.not_tested)
    assert read_findings(tmp_path / "audit") == findings
    assert verify(tmp_path / "audit").differences == ()
