"""An audit that uses every extension of the example plug-in that an audit can use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from small_corpus import make_corpus

from sottovoce.cli import app
from sottovoce.findings.files import findings_schema

pytestmark = pytest.mark.usefixtures("plugin")

STUDY = """
name: plug-in
corpus: voices
anonymisers: [spectrum-warp]
attackers: [ignorant, eavesdropper, semi-informed]
linkage: [standardised-cosine, best]
encoder: long-term-spectrum
lengths: [1]
utility: {recogniser: syllable-counter, quality: false, utterances: 4}
limits: {"roc_area@attacker=eavesdropper": "> 0.1"}
seed: 1
"""


@pytest.fixture(scope="module")
def audit_folder(plugin: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the audit."""
    folder = tmp_path_factory.mktemp("plugin-audit")
    voices = make_corpus(folder / "voices")
    manifest = voices / "manifest.csv"
    header, *lines = manifest.read_text(encoding="utf-8").splitlines()
    with_words = [header, *(f"{line}la la" for line in lines)]
    manifest.write_text("\n".join(with_words) + "\n", encoding="utf-8")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    words = ["audit", str(folder / "study.yaml"), "--out", str(folder / "audit")]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder / "audit"


@pytest.fixture(scope="module")
def measures(audit_folder: Path) -> Any:
    """Content of measures.json."""
    return json.loads((audit_folder / "measures.json").read_text(encoding="utf-8"))


def test_every_extension_is_in_the_measures(measures: Any) -> None:
    rows = measures["rows"]
    assert {row["attacker"] for row in rows} == {"ignorant", "eavesdropper", "semi-informed"}
    assert {row["linkage"] for row in rows} == {"standardised-cosine", "best"}
    assert all("spectrum-warp" in row["anonymiser"] for row in rows)
    assert all("roc_area" in row["scores"]["measures"] for row in rows)
    assert measures["encoder"]["name"] == "long-term-spectrum"
    assert "syllable-counter" in json.dumps(measures)


def test_best_tries_the_linkage_function(audit_folder: Path) -> None:
    records = [
        json.loads(path.read_text(encoding="utf-8")) for path in audit_folder.rglob("attack.json")
    ]
    assert len(records) == 6
    tried = [json.dumps(record) for record in records if record["settings"]["linkage"] == "best"]
    assert tried
    assert all("standardised-cosine" in record for record in tried)


def test_the_report_names_every_extension(audit_folder: Path) -> None:
    page = (audit_folder / "report.html").read_text(encoding="utf-8")
    for name in ("spectrum-warp", "eavesdropper", "standardised-cosine", "long-term-spectrum"):
        assert name in page, name
    assert "ROC area" in page
    assert "knows who speaks in some of the released recordings" in page


def test_the_audit_can_be_verified(audit_folder: Path) -> None:
    words = ["audit", "verify", str(audit_folder)]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_the_measures_follow_the_published_schema(measures: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    path = Path(__file__).parents[2] / "docs" / "measures.schema.json"
    published = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(published)
    jsonschema.Draft202012Validator(published).validate(measures)


def test_the_published_schema_is_that_of_the_types() -> None:
    path = Path(__file__).parents[2] / "docs" / "measures.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == findings_schema(), (
        "run: uv run python recipes/write_schema.py"
    )
