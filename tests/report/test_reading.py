"""Four questions of a reader without statistics, answered from the text of the first page alone.

May I release this? To whom? What would make it better? What was not tested? For an audit whose
attack succeeds, one whose attack fails though it is good, and one whose attack is no good.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from audit_case import findings_in, with_trust

from sottovoce.audit.not_tested import not_tested
from sottovoce.audit.study import Study
from sottovoce.findings import AuditFindings, CurvePoint, LinkabilityBySize, Reidentification
from sottovoce.report.audit import render


def audit_of_forty(
    folder: Path, *, linked: tuple[float, float, float], trustworthy: bool
) -> AuditFindings:
    """Make an audit of one anonymiser and 40 people, linked so often (low, value, high)."""
    findings = findings_in(folder)
    low, value, high = linked
    curve = LinkabilityBySize(1, (2, 20, 40), (0.9, value, 0.03), (0.8, low, 0.0), (1.0, high, 0.1))
    alone = CurvePoint(1, 20, 0.4, 0.368, low=0.37, high=0.43, no_evidence=0.4)
    point = replace(curve.point(20), population=40)
    result = Reidentification(
        40, "plda", by_size=(curve,), linkability=(point,), singling_out=(alone,)
    )
    row = with_trust(replace(findings.rows[1], reidentification=result), trustworthy=trustworthy)
    return replace(
        findings,
        rows=(row,),
        anonymisers=findings.anonymisers[:1],
        limits=(),
        corpus=replace(findings.corpus, speakers=40, attacked_speakers=40),
        not_tested=not_tested(Study.model_validate({})),
    )


def first_page(findings: AuditFindings, folder: Path) -> str:
    """Return what somebody reads who sees the first page and nothing else."""
    page = render(findings, folder, audio=False)
    part = page[page.index('id="decision"') : page.index('id="verdict"')]
    part = re.sub(r"<svg.*?</svg>", " ", part, flags=re.DOTALL)
    text = unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(p|li|h\d)>", "\n", part)))
    return text.replace("\u00a0", " ")


NOT_TESTED = (
    "Attackers with better means to compare voices",
    "What the words themselves reveal",
    "What else a voice tells than gender",
    "An attacker who also knows the random choices",
)


@pytest.mark.parametrize(
    ("linked", "trustworthy", "may_i", "to_whom", "better"),
    [
        (
            (0.6, 0.7, 0.8),
            True,
            "Do not release: among 20 people a semi-informed attacker, who has the same method and "
            "has learnt from its output, names the right one for up to 80 % of single recordings, "
            "where guessing names 5 %",
            "Nothing should be released.",
            "Audit other anonymisers too: only one was tried",
        ),
        (
            (0.03, 0.05, 0.08),
            True,
            "Acceptable for release to anybody, by the limit of this study: among 20 people a "
            "semi-informed attacker, who has the same method and has learnt from its output, names "
            "the right one for up to 8 %",
            "few people are found by the attacks tried here, not that nobody can be found",
            "Audit again when recordings, method or settings change",
        ),
        (
            (0.08, 0.12, 0.16),
            True,
            "Release only to people bound by a contract: among 20 people",
            "Nothing should be published. What bend(by=0.8) made may be given to people bound by a "
            "contract.",
            "Let the recipients sign that they look for nobody",
        ),
        (
            (0.03, 0.05, 0.08),
            False,
            "Do not release yet: this audit cannot decide: among 20 people",
            "The attack is not trustworthy: it failed its own checks, so that it finds few people "
            "shows nothing.",
            "Attack with a stronger attacker before anything is decided",
        ),
    ],
    ids=["found", "fine", "bound", "untrustworthy"],
)
def test_the_first_page_answers_four_questions(
    tmp_path: Path,
    linked: tuple[float, float, float],
    trustworthy: bool,
    may_i: str,
    to_whom: str,
    better: str,
) -> None:
    findings = audit_of_forty(tmp_path, linked=linked, trustworthy=trustworthy)
    text = first_page(findings, tmp_path)
    for words in (may_i, to_whom, better, *NOT_TESTED):
        assert words in text, f"{words}\n\n{text}"
    assert "a speech recogniser gets 8 % wrong, against 5 % before" in text
    assert "anonymous" not in text.lower()


def test_what_was_tried_is_not_listed_as_untested() -> None:
    informed = Study.model_validate({"attackers": ["informed"], "attributes": ["gender", "accent"]})
    lines = " ".join(not_tested(informed))
    assert "random choices" not in lines and "than gender, accent, such as" in lines
    assert "What else a voice tells, such as" in " ".join(
        not_tested(Study.model_validate({"attributes": []}))
    )
