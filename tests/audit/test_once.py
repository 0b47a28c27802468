"""What an audit does once: reading and writing embeddings, and training linkage functions."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_codes import raises_code
from small_corpus import make_corpus, study
from small_speech import small_corpus

from sottovoce.attack import embedding_store, training
from sottovoce.audit.corpora import digest_corpus
from sottovoce.audit.measuring import group_risks, measure_attack
from sottovoce.audit.run import run_audit
from sottovoce.audit.verify import verify
from sottovoce.cli import run
from sottovoce.findings import AttackRow, OriginalsFinding, Reidentification, SpeakerRisk
from sottovoce.findings.files import read_findings
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import make_linkage
from sottovoce.speaker.readers import read_embeddings

NO_UTILITY = {"wer": False, "f0": False, "quality": False}


def test_each_thing_is_done_once(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: Counter[str] = Counter()
    trainings: Counter[tuple[str, ...]] = Counter()
    measured: list[str] = []

    def counting_read(path: Path, **options: Any) -> Embeddings:
        embeddings = read_embeddings(path, **options)
        reads[embeddings.digest()] += 1
        return embeddings

    def counting_training(name: str, train: Embeddings, **settings: Any) -> Any:
        numbers = {key: value for key, value in settings.items() if key != "like"}
        trainings[name, json.dumps(numbers, sort_keys=True), train.digest()] += 1
        return make_linkage(name, train, **settings)

    writes: Counter[str] = Counter()
    write = Embeddings.write

    def counting_write(self: Embeddings, path: Path) -> None:
        writes[self.digest()] += 1
        write(self, path)

    monkeypatch.setattr(embedding_store, "read_embeddings", counting_read)
    monkeypatch.setattr(training, "make_linkage", counting_training)
    monkeypatch.setattr(Embeddings, "write", counting_write)

    def counting_measure(folder: Path, *arguments: Any) -> Any:
        measured.append(folder.name.rsplit("-", 1)[0])
        return measure_attack(folder, *arguments)

    monkeypatch.setattr("sottovoce.audit.attacking.measure_attack", counting_measure)
    small = study(
        corpus, linkage=["best", "plda"], attackers=["ignorant", "informed"], utility=NO_UTILITY
    )
    findings = run_audit(small, tmp_path / "out")
    # originals: enrolment, trial, training; released: enrolment, trial; attacker's: training, with
    # two draws, which are also joined
    assert len(reads) == 7 and set(reads.values()) == {1}
    assert len(writes) == 1 and set(writes.values()) == {1}
    files = sorted(path.stem for path in (tmp_path / "out" / "embeddings").iterdir())
    assert files == sorted([*reads, *writes])
    assert trainings and set(trainings.values()) == {1}
    assert len(findings.originals) == 2
    assert sorted(measured) == sorted(
        f"{name}-{linkage}"
        for name in ("originals", "mcadams-ignorant", "mcadams-informed")
        for linkage in ("best", "plda")
    )


# ======================================================================== audits of other versions


@pytest.fixture
def old_audit(audit: Path, tmp_path: Path) -> Path:
    """An audit as the version before wrote it: no format, another shape."""
    folder = shutil.copytree(audit, tmp_path / "old")
    path = folder / "measures.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["format"]
    content["originals"] = {**content["originals"][0], "utility": content.pop("original_utility")}
    for row in content["rows"]:
        row["measures"] = row.pop("scores")["measures"]
        row["scores"] = row.pop("score_file")
    path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_an_audit_of_another_version_is_refused(
    old_audit: Path, audit: Path, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in old_audit.rglob("*") if path.is_file()}
    for reader in (read_findings, verify, lambda folder: run_audit(study(corpus), folder)):
        with raises_code("old-format"):
            reader(old_audit)
    for arguments in (
        ["audit", "verify", str(old_audit)],
        ["audit", "--corpus", str(corpus), "--out", str(old_audit)],
        ["compare", str(audit), str(old_audit)],
    ):
        assert run(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert str(old_audit / "measures.json") in line and "format 1" in line
    after = {path: path.stat().st_mtime_ns for path in old_audit.rglob("*") if path.is_file()}
    assert after == before


# ============================================================================== parts of findings


def test_the_digest_of_a_corpus_covers_the_audio(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "in", speakers=2, each=2)
    before = digest_corpus(corpus)
    assert before.utterances == 4 and before == digest_corpus(corpus)
    path = corpus.utterances[2].path
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    changed = digest_corpus(corpus)
    assert changed.sha256 != before.sha256
    path.unlink()
    assert digest_corpus(corpus).sha256 not in (before.sha256, changed.sha256)


def test_groups_are_compared_at_the_shortest_conversation(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "in", speakers=4, each=1)
    risks = [
        SpeakerRisk(f"s{speaker}", length, 3, risk, None)
        for length, risk in ((2, 0.25), (5, 1.0))
        for speaker in range(4)
    ]
    risks[0] = replace(risks[0], linkability=0.75)
    groups = group_risks(Reidentification(4, "cosine", speakers=tuple(risks)), corpus)
    assert groups["gender"]["m"].linkability == 0.5  # speakers 0 and 2
    assert groups["gender"]["f"].linkability == 0.25
    assert groups["gender"]["m"].speakers == groups["gender"]["f"].speakers == 2


# =================================================================================== trial lists


def test_a_study_with_a_list_of_trials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = make_corpus(tmp_path / "voices", speakers=8, takes=3)
    pairs = [(f"s{i:02}", f"s{j:02}-2", i == j) for i in range(4) for j in range(4)]
    lines = [f"{a} {b} {'target' if mated else 'nontarget'}" for a, b, mated in pairs]
    (tmp_path / "pairs.txt").write_text("\n".join(lines) + "\n")
    listed = study(
        corpus,
        trials=str(tmp_path / "pairs.txt"),
        attackers=["ignorant"],
        utility=NO_UTILITY,
        examples=0,
    )
    findings = run_audit(listed, tmp_path / "out")
    assert findings.trial_list is not None and findings.trial_list.pairs == 16
    assert findings.corpus.attacked_speakers == findings.training.speakers == 4
    rows: list[AttackRow | OriginalsFinding] = [*findings.rows, *findings.originals]
    for row in rows:
        assert (row.scores.n_mated, row.scores.n_nonmated) == (4, 12)
    assert run(["audit", "verify", str(tmp_path / "out")]) == 0, capsys.readouterr().err
    path = tmp_path / "out" / "trials.json"
    content = json.loads(path.read_text())
    content["trial"] = content["trial"][::-1]
    path.write_text(json.dumps(content))
    assert run(["audit", "verify", str(tmp_path / "out")]) == 1
    assert "trial_list.sha256" in capsys.readouterr().err


def test_a_study_of_all_pairs_of_recordings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = make_corpus(tmp_path / "voices", speakers=8, takes=4)
    pairs = study(corpus, over="utterance", attackers=["ignorant"], utility=NO_UTILITY, examples=0)
    findings = run_audit(pairs, tmp_path / "out")
    (row,) = findings.rows
    for scores in (row.scores, findings.originals[0].scores):
        assert (scores.n_mated, scores.n_nonmated) == (4 * 2 * 2, 4 * 3 * 2 * 2)
    assert run(["audit", "verify", str(tmp_path / "out")]) == 0, capsys.readouterr().err
