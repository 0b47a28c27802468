"""Differences that a verification finds, what it says it does not check, and damaged audits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sottovoce.attack.artifacts import read_record
from sottovoce.audit.comparing import compare_tables
from sottovoce.audit.verify import verify
from sottovoce.cli import run
from sottovoce.findings.files import read_findings

Findings = dict[str, Any]


@pytest.fixture
def copy(audit: Path, tmp_path: Path) -> Path:
    return shutil.copytree(audit, tmp_path / "copy")


def change(path: Path, edit: Callable[[Findings], object]) -> None:
    findings = json.loads(path.read_text(encoding="utf-8"))
    edit(findings)
    path.write_text(json.dumps(findings), encoding="utf-8")


def attacks(folder: Path) -> list[Path]:
    rows = json.loads((folder / "measures.json").read_text())["rows"]
    return [folder / row["folder"] for row in rows]


def the_message(capsys: pytest.CaptureFixture[str]) -> str:
    """The only message besides the progress, which a busy machine prints too."""
    lines = capsys.readouterr().err.splitlines()
    (message,) = [line for line in lines if not line.startswith("verifying: ")]
    return message


def places(folder: Path) -> list[str]:
    return [line.split(":")[0] for line in verify(folder).differences]


def test_an_audit_follows_from_its_embeddings(
    audit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["audit", "verify", str(audit)]) == 0
    printed = capsys.readouterr().out
    assert "measures, comparisons, similarity, limits, measures.parquet, attributes and" in printed
    assert "Not checked: whether the embeddings are those of the recordings; utility" in printed
    assert run(["audit", "verify", str(audit), "--json"]) == 0
    verification = json.loads(capsys.readouterr().out)
    assert verification["differences"] == [] and "report.html" in verification["unchecked"]


def test_every_changed_figure_is_found(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def edit(findings: Findings) -> None:
        first, second, _ = findings["rows"]
        first["scores"]["measures"]["eer"]["value"] += 1e-6
        first["curves"]["ece"]["ece"][3] += 1e-6
        first["trust"]["trustworthy"] = not first["trust"]["trustworthy"]
        first["trained"]["speakers"] += 1
        first["attacker_summary"] = "knows everything"
        second["reidentification"]["linkability"][0]["low"] = 0.0
        second["groups"]["gender"]["f"]["speakers"] += 1
        second["attributes"]["gender"]["accuracy"] += 1e-6
        findings["originals"][0]["scores"]["measures"]["eer"]["value"] += 1e-6
        findings["anonymisers"][0]["similarity"]["deid"] = 0.999
        findings["limits"].append(
            {
                "limit": "eer > 0.3",
                "anonymiser": "mcadams",
                "attacker": "ignorant",
                "linkage": "cosine",
                "value": 0.5,
                "exceeded": False,
            }
        )
        findings["comparisons"][0]["scores"]["differences"]["eer"][0]["value"] = 0.5
        findings["confidence"] = 0.99
        findings["name"] = "another"
        findings["corpus"]["attacked_speakers"] = 400
        findings["training"]["speakers"] = 4000
        findings["encoder"]["sha256"] = "0" * 64

    change(copy / "measures.json", edit)
    table = pl.read_parquet(copy / "measures.parquet")
    table.with_columns(pl.col("value") * 0.5).write_parquet(copy / "measures.parquet")
    assert set(places(copy)) == {
        "rows.0.scores.measures.eer.value",
        "rows.0.curves.ece.ece.3",
        "rows.0.trust.trustworthy",
        "rows.0.trained.speakers",
        "rows.0.attacker_summary",
        "rows.1.reidentification.linkability.0.low",
        "rows.1.groups.gender.f.speakers",
        "rows.1.attributes.gender.accuracy",
        "originals.0.scores.measures.eer.value",
        "comparisons.0.scores.differences.eer.0.value",
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


def test_scores_of_originals_must_follow_too(copy: Path) -> None:
    place = read_findings(copy).originals[0].score_file
    scores = pl.read_parquet(copy / place)
    scores[5, "score"] = scores[5, "score"] + 0.01
    scores.write_parquet(copy / place)
    assert verify(copy).differences[0].startswith(f"{place}: score differs in 1 of ")
    record = (copy / place).parent / "originals.json"
    change(record, lambda file: file.update(eer=0.9))
    assert f"{Path(place).parent / 'originals.json'}.eer" in places(copy)


def test_attacks_must_share_their_originals(copy: Path) -> None:
    """An attack that refers to other enrolment speech as its originals is found."""
    first = attacks(copy)[1] / "attack.json"

    def exchange(record: Findings) -> None:
        embeddings = record["embeddings"]
        embeddings["originals-enrol"] = embeddings["enrol"]

    change(first, exchange)
    place = first.relative_to(copy)
    assert f"{place}.embeddings.originals-enrol" in places(copy)


def test_without_labels_attributes_are_not_checked(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(copy / "speech")
    assert run(["audit", "verify", str(copy)]) == 0
    checked, unchecked = capsys.readouterr().out.splitlines()
    assert checked.endswith("limits, measures.parquet.")
    assert f"attributes and groups: {copy / 'speech'}" in unchecked


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda file: file["rows"].pop(), "rows: 2 stored, 3 recomputed"),
        (
            lambda file: file["study"].update(attackers=["ignorant"]),
            "rows: 3 stored, 1 recomputed",
        ),
        (lambda file: file["originals"].clear(), "originals: 0 stored, 1 recomputed"),
        (
            lambda file: file["rows"][1].update(attacker="informed"),
            "rows.1.attacker: stored ",
        ),
        (lambda file: file["anonymisers"].clear(), "anonymisers: 0 stored, 1 recomputed"),
        (
            lambda file: file["rows"][1].update(folder=file["rows"][0]["folder"]),
            "rows.1.folder: ",
        ),
    ],
)
def test_rows_must_be_those_of_the_study(
    copy: Path, edit: Callable[[Findings], object], message: str
) -> None:
    change(copy / "measures.json", edit)
    verification = verify(copy)
    assert verification.differences[0].startswith(message)
    assert "measures" in verification.unchecked


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda file: file.pop("study"), "study: "),
        (lambda file: file.pop("originals"), "originals: "),
        (lambda file: file.pop("rows"), "rows: "),
        (lambda file: file.update(rows=[]), "rows: there are none"),
        (lambda file: file.update(rows=[1]), "rows.0: "),
        (lambda file: file["rows"][0].pop("folder"), "rows.0.folder: "),
        (lambda file: file["rows"][0].pop("scores"), "rows.0.scores: "),
        (lambda file: file["rows"][0].update(scores=3), "rows.0.scores: "),
        (lambda file: file["rows"][0].update(extra=3), "rows.0.extra: "),
        (
            lambda file: file["rows"][0]["scores"].update(n_mated="3"),
            "rows.0.scores.n_mated: ",
        ),
        (
            lambda file: file["originals"][0].update(score_file="../x/s.parquet"),
            "originals.0.score_file: ",
        ),
        (lambda file: file["anonymisers"][0].update(speech="/etc"), "anonymisers.0.speech: "),
        (lambda file: file["rows"][0].update(folder="../x"), "rows.0.folder: ../x is not in"),
        (lambda file: file["rows"][0].update(folder="/tmp"), "rows.0.folder: /tmp is not in"),
        (lambda file: file["rows"][0].update(folder="a\0b"), "rows.0.folder: "),
        (lambda file: file.update(study={"foo": 1}), "study.foo: no key is called 'foo'"),
        (lambda file: file["study"].update(seed=-1), "study.seed: input should be"),
        (
            lambda file: file["study"].update(attackers=["x"]),
            "study: no attacker is called 'x'",
        ),
        (lambda file: file["study"].update(limits={"eer@length=3": "> 0"}), "study.limits: "),
    ],
)
def test_damaged_measures_are_reported(
    copy: Path,
    capsys: pytest.CaptureFixture[str],
    edit: Callable[[Findings], object],
    message: str,
) -> None:
    change(copy / "measures.json", edit)
    assert run(["audit", "verify", str(copy)]) == 2
    assert f"{copy / 'measures.json'}: {message}" in the_message(capsys)


@pytest.mark.parametrize("text", ["", "[", "[1]", "[" * 100_000, '"a"'])
def test_content_that_is_no_record(
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
    message = the_message(capsys)
    assert f"{path}" in message and "cannot be read" in message


@pytest.mark.parametrize("name", ["measures.parquet", "trial", "scores.parquet"])
def test_a_damaged_file_is_named(copy: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = copy / name if name.startswith("measures") else attacks(copy)[0] / name
    if name == "trial":
        digest = read_record(attacks(copy)[0]).embeddings[name]
        path = copy / "embeddings" / f"{digest}.npz"
    path.write_bytes(path.read_bytes()[:-50])
    assert run(["audit", "verify", str(copy)]) == 2
    assert f"{path}: " in the_message(capsys)


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
