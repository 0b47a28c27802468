"""What each kind of evidence links, in words and as a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from audit_case import findings_in

from sottovoce.findings import EvidenceLink
from sottovoce.report.audit_details import attack_details
from sottovoce.report.evidence import evidence_sentences, evidence_table

VOICE = EvidenceLink(
    "campplus", "the voice (campplus)", "", 192, "plda", 0.7, 0.1, 0.2, 0.5, 0.4, 0.025
)
PITCH = EvidenceLink("pitch", "pitch (range)", "", 26, "plda", 0.2, 0.3, 0.35, None, 0.2, 0.025)
WORDS = EvidenceLink("words", "the words", "a topic", 257, "cosine", 0.1, 0.4, 0.4, 0.1, 0.1, 0.025)
NOTHING = replace(PITCH, name="rhythm", phrase="rhythm", top_1=0.03)


def test_sentences_name_what_links_clearly_more_often_than_a_guess() -> None:
    lines = evidence_sentences([NOTHING, WORDS, PITCH, VOICE])
    assert [line.split(" alone")[0] for line in lines] == [
        "The voice (campplus)",
        "Pitch (range)",
        "The words",
    ]
    assert "20\u00a0%" in lines[1] and "2.5\u00a0%" in lines[1]
    assert lines[2].endswith("Careful: a topic")
    assert "Careful" not in lines[1]


def test_the_table_has_the_strongest_first_and_a_dash_for_what_was_not_measured() -> None:
    table = evidence_table([WORDS, PITCH, VOICE], "semi-informed")
    assert [row[0] for row in table.rows] == [VOICE.phrase, PITCH.phrase, WORDS.phrase]
    assert table.rows[1][3] == "–"
    assert table.rows[0][3] == "0.50"
    assert "semi-informed" in table.caption


def test_the_report_shows_the_table_only_where_something_was_fused(tmp_path: Path) -> None:
    findings = findings_in(tmp_path)
    assert "alone links" not in str(attack_details(findings))
    rows = (replace(findings.rows[0], evidence=(VOICE, PITCH)), *findings.rows[1:])
    page = str(attack_details(replace(findings, rows=rows)))
    assert "What each part alone links" in page
    assert "Pitch (range) alone links" in page
