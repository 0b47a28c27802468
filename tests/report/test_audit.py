"""The page of an audit: complete, honest, escaped, and readable with nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import soundfile
from audit_case import findings_in
from numpy.typing import NDArray

from sottovoce.findings import AuditFindings, TrialListDescription
from sottovoce.report import listening
from sottovoce.report.audit import render
from sottovoce.report.audit_tables import exceeded_by
from sottovoce.report.audit_verdicts import WEAK
from sottovoce.report.html import style_source
from sottovoce.report.panels import population_panels

VOID = ("meta", "br", "wbr")


class Reader(HTMLParser):
    """Elements with their attributes, and text; refuses what is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditFindings, Path]:
    folder = tmp_path_factory.mktemp("audit")
    return findings_in(folder), folder


@pytest.fixture(scope="module")
def page(case: tuple[AuditFindings, Path]) -> str:
    return render(*case)


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_nothing_runs_and_nothing_is_fetched(page: str, read: Reader) -> None:
    names = {name for name, _ in read.elements}
    assert not names & {"script", "link", "img", "iframe", "object", "form", "use", "image"}
    for _, attributes in read.elements:
        assert not any(key.startswith("on") or key == "style" for key in attributes)
        for key in ("src", "href"):
            assert re.match(r"#|data:audio/flac;base64,|$", attributes.get(key) or "")
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style and "@import" not in style
    assert "default-src &#x27;none&#x27;" in page


def test_the_policy_allows_the_style_of_the_page_and_no_other(page: str) -> None:
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert style_source() == f"'sha256-{digest}'"
    assert f"style-src {escape(style_source())};" in page


def test_a_limit_counts_for_the_attack_that_exceeds_it(case: tuple[AuditFindings, Path]) -> None:
    findings, _ = case
    assert [len(exceeded_by(findings, row)) for row in findings.rows] == [0, 1, 0]
    kept = replace(findings, limits=(replace(findings.limits[0], exceeded=False),))
    assert exceeded_by(kept, findings.rows[1]) == []


def test_figures_over_populations_stand_beside_the_originals(
    case: tuple[AuditFindings, Path],
) -> None:
    findings, _ = case
    originals = findings.originals[0].reidentification
    beside = population_panels(findings.rows[1].reidentification, originals)[0]
    alone = population_panels(findings.rows[1].reidentification)[0]
    assert beside.count("<td>97.0\u00a0%</td>") == 4  # two lengths, two populations
    assert "97.0" not in alone


def test_the_verdict_comes_first_and_every_part_follows(page: str) -> None:
    places = [
        page.index(f'id="{section}"')
        for section in (
            "decision",
            "verdict",
            "questions",
            "numbers",
            "details",
            "utility",
            "listen",
            "methods",
            "provenance",
            "glossary",
        )
    ]
    assert places == sorted(places)
    assert page.index("What was not tested") < places[1]


def test_numbers_of_the_findings_are_on_the_page(read: Reader) -> None:
    text = "".join(read.texts).replace("\u00a0", " ")
    for words in (
        "for 90 % (85 % to 95 %) of single recordings. Guessing names 12.5 %",
        "without anonymisation it is 97 %",
        "by chance, in 36.8 %",
        "Gender is told right for 90 % (80 % to 95 %)",
        "8 of 8 people are named in at least half",
        "1 limit exceeded",
        "Left out of voices (corpus): 1 recording",
        "Apache-2.0",
        "Vauquier, Srivastava, Hosseini and Vincent",
    ):
        assert words in text, words


def test_a_list_of_trials_is_named(case: tuple[AuditFindings, Path], page: str) -> None:
    listed = replace(case[0], trial_list=TrialListDescription(1200, 300, "c0ffee"))
    text = render(listed, case[1], audio=False)
    assert "a list of 1,200 pairs, 300 of them of one speaker" in text
    assert "<dt>SHA-256 of the trial list</dt><dd>c0ffee</dd>" in text
    assert "trial list" not in page


def test_words_of_the_study_are_escaped(page: str, read: Reader) -> None:
    text = "".join(read.texts)
    for words in ("<mask> & co", "a<b>.wav", "What the <words> give away.", "Bends <voices>."):
        assert words in text
    assert {"mask", "words", "voices", "b"} & {name for name, _ in read.elements} == set()
    assert "<mask>" not in page


def test_a_weak_attacker_marks_all_that_rests_on_it(page: str) -> None:
    verdict = page[page.index('id="verdict"') : page.index('id="questions"')]
    card = verdict[verdict.index("<h3>&lt;mask&gt;") :]
    assert f"No conclusion; {WEAK}" in card and "on originals its" in card and "is 40%" in card
    summary = page[page.index('id="numbers"') : page.index('id="details"')]
    assert summary.count(WEAK) == 1
    assert page[page.index('id="details"') :].count(WEAK) >= 2


def test_nothing_is_called_anonymous(page: str) -> None:
    assert "anonymous" not in page.lower()


def test_synthetic_speech_is_marked(case: tuple[AuditFindings, Path], page: str) -> None:
    synthetic = render(replace(case[0], synthetic=True), case[1], audio=False)
    assert "Synthetic speech" in synthetic and "synthetic voices" in synthetic
    assert "ynthetic" not in page[: page.index('id="methods"')]


def test_every_figure_has_title_description_and_table(page: str) -> None:
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    # three attacks with eight figures, two matrices, three trade-offs
    assert len(figures) == 3 * 8 + 2 + 3
    for figure in figures:
        for tag in ("<title>", "<desc>", "<figcaption>"):
            assert figure.count(tag) == 1
        assert '<details class="data">' in figure and "<table>" in figure


def test_one_attack_is_unfolded_the_best_informed(page: str) -> None:
    rows = re.findall(r'<details( open)? class="row"><summary>([^<]*)', page)
    assert [name for shown, name in rows if shown] == [
        "bend(by=0.8): semi-informed attacker, Linkability 90\u00a0%"
    ]


def test_ids_are_unique(read: Reader) -> None:
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_recordings_are_bounded_and_can_be_left_out(
    case: tuple[AuditFindings, Path], page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page.count("<audio") == 2 * 2 * listening.PAIRS
    assert sum(map(len, re.findall(r'src="(data:[^"]*)"', page))) <= listening.BUDGET
    silent = render(*case, audio=False)
    assert "<audio" not in silent and 'id="listen"' not in silent and "#listen" not in silent
    monkeypatch.setattr(listening, "BUDGET", 60_000)
    short = listening.listening(case[0].anonymisers, case[1])
    assert sum(map(len, short.values())) < 70_000
    assert any("left out to keep the page small" in players for players in short.values())


def test_a_recording_is_cut_after_some_seconds(case: tuple[AuditFindings, Path]) -> None:
    players = listening.listening(case[0].anonymisers, case[1])["bend(by=0.8)"]
    seconds = [len(samples) / listening.RATE for samples in played(players)]
    assert seconds == [6.0, 6.0, 0.5, 0.5, 0.5, 0.5]


def played(players: str) -> list[NDArray[np.float64]]:
    """Decode the recordings in a part of the page."""
    data = re.findall(r"base64,([^\"]*)", players)
    return [soundfile.read(io.BytesIO(base64.b64decode(sound)))[0] for sound in data]


def test_a_recording_that_is_gone_is_said(case: tuple[AuditFindings, Path]) -> None:
    findings, folder = case
    anonymiser = findings.anonymisers[0]
    example = replace(anonymiser.examples[0], anonymised="speech/gone.wav")
    players = listening.listening([replace(anonymiser, examples=(example,))], folder)
    assert "Cannot be played" in players["bend(by=0.8)"]
    assert "gone.wav" in players["bend(by=0.8)"]


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [(7.0, None, 1.0), (1.0, None, 6.0), (1.0, 1.5, 0.5), (0.5, 7.5, 6.0), (None, 0.25, 0.25)],
)
def test_an_utterance_inside_a_longer_recording_is_played_alone(
    case: tuple[AuditFindings, Path], start: float | None, end: float | None, seconds: float
) -> None:
    findings, folder = case
    anonymiser = findings.anonymisers[0]
    example = replace(anonymiser.examples[0], start=start, end=end)
    players = listening.listening([replace(anonymiser, examples=(example,))], folder)
    original, _ = played(players["bend(by=0.8)"])
    recording, rate = soundfile.read(example.original)
    first = round((start or 0.0) * rate)
    assert len(original) == round(seconds * rate)
    assert np.abs(original - recording[first : first + len(original)]).max() < 1e-3


def test_the_same_findings_give_the_same_page(case: tuple[AuditFindings, Path], page: str) -> None:
    assert render(*case) == page


def test_many_anonymisers_are_folded(case: tuple[AuditFindings, Path]) -> None:
    findings, folder = case
    labels = [f"bend(by={i})" for i in range(9)]
    many = replace(
        findings,
        rows=tuple(replace(findings.rows[1], anonymiser=label) for label in labels),
        anonymisers=tuple(replace(findings.anonymisers[0], anonymiser=label) for label in labels),
    )
    page = render(many, folder, audio=False)
    assert page.count("<article") == 9 and "3 more anonymisers" in page
