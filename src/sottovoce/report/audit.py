"""The report of an audit: one page that a person can read, print and act on.

The verdict comes first, in plain words; then every number; then what it rests on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sottovoce import __version__
from sottovoce.report.audit_details import details, provenance
from sottovoce.report.audit_tables import (
    EER_WARNING,
    by_anonymiser,
    exceeded_by,
    limits_table,
    mark,
    summary_table,
    utility_notes,
    utility_table,
)
from sottovoce.report.gauge import gauge
from sottovoce.report.listening import listening
from sottovoce.report.page import Markup, bullets, counted, document, element, folded, joined
from sottovoce.report.readings import (
    WEAK,
    Found,
    crowd,
    overall,
    percent,
    speech,
    strongest,
    verdict,
)
from sottovoce.report.sources import METHODS
from sottovoce.report.tradeoff import tradeoffs

CONTENTS = {
    "verdict": "Verdict",
    "numbers": "All attacks",
    "details": "Attack by attack",
    "utility": "What is kept",
    "listen": "Listen",
    "methods": "Methods",
    "provenance": "Provenance",
}

CARDS = 6
"""Verdicts shown at once; those of further anonymisers are folded."""


def render(findings: dict[str, Any], folder: Path, *, audio: bool = True) -> str:
    """The page of an audit whose score sets and recordings lie in ``folder``.

    ``findings`` is what ``measures.json`` holds.
    """
    heard = listening(findings, folder) if audio else {}
    return document(
        f"{findings['name']}: what voices still give away",
        _header(findings, audio),
        element(
            "main",
            _section("verdict", _verdicts(findings), _untested(findings), _limits(findings)),
            _section("numbers", _numbers(findings)),
            _section("details", details(findings, folder)),
            _section("utility", _utility(findings)),
            _section("listen", _listen(heard)) if heard else None,
            _section("methods", _methods()),
            _section("provenance", provenance(findings, folder)),
        ),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def _section(name: str, *content: Any) -> Markup:
    heading = element("h2", CONTENTS[name], id=name)
    return element("section", heading, *content, aria_labelledby=name)


def _header(findings: Found, audio: bool) -> Markup:
    links = [
        element("a", words, href=f"#{name}")
        for name, words in CONTENTS.items()
        if audio or name != "listen"
    ]
    made_up = (
        "Synthetic speech: the voices of this study were made by a computer. Its figures show that "
        "the tools work; they say nothing about people."
    )
    return element(
        "header",
        element("p", "sottovoce audit", class_="kicker"),
        element("h1", f"{findings['name']}: what voices still give away"),
        element("p", _about(findings)),
        element("p", made_up, class_="notice") if findings.get("synthetic") else None,
        element("nav", bullets(links), aria_label="Contents"),
    )


def _about(findings: Found) -> str:
    corpus, training = findings["corpus"], findings.get("training") or {}
    genders = {"f": "women", "m": "men", "": "not stated"}
    listed = ", ".join(
        f"{count:,} {genders.get(name, name)}"
        for name, count in corpus.get("genders", {}).items()
        if count
    )
    kind = "synthetic voices" if findings.get("synthetic") else "people"
    text = (
        f"{corpus['name']}: {corpus['speakers']:,} {kind}{f' ({listed})' if listed else ''}, "
        f"{corpus['utterances']:,} recordings, {_duration(corpus['hours'])}."
    )
    attacked = corpus.get("attacked_speakers", corpus["speakers"])
    whose = "" if attacked == corpus["speakers"] else f" of {attacked:,} of them"
    text += (
        f" Attacked: {counted(corpus['trial'], 'recording')}{whose}; the attacker knows "
        f"{counted(corpus['enrol'], 'other')} of the same speakers."
    )
    if training:
        same = training.get("part_of_corpus")
        where = "the same corpus" if same else training["name"]
        text += (
            f" Attackers trained on {counted(training['speakers'], 'other speaker')} "
            f"({counted(training['utterances'], 'recording')}) of {where}."
        )
    if corpus.get("excluded"):
        left = counted(len(corpus["excluded"]), "recording")
        text += f" Left out: {left}, listed under provenance."
    return text


def _duration(hours: float) -> str:
    """Hours, minutes or seconds, whichever says it in a small number."""
    for unit, size in (("h", 1.0), ("min", 60.0)):
        if hours * size >= 1:
            return f"{hours * size:.3g} {unit}"
    return f"{hours * 3600:.0f} s"


def _verdicts(findings: Found) -> Markup:
    tried = by_anonymiser(findings)
    cards = [_card(findings, label, rows) for label, rows in tried.items() if rows]
    rest = [element("div", *cards[CARDS:], class_="verdicts")] if cards[CARDS:] else []
    return joined(
        [
            element("p", overall(tried), class_="lead"),
            element("div", *cards[:CARDS], class_="verdicts"),
            *(
                folded(f"{len(cards) - CARDS:,} more anonymisers", one, class_="row")
                for one in rest
            ),
            element(
                "p",
                f"In brackets: {percent(findings['confidence'])} intervals over "
                "speakers. Each verdict rests on the strongest attack that was tried; it is a "
                "lower limit of the risk, never an upper one.",
                class_="soft",
            ),
        ]
    )


def _card(findings: Found, label: str, rows: list[Found]) -> Markup:
    found = verdict(rows, findings["originals"])
    synthetic = mark("synthetic", "doubt") if findings.get("synthetic") else None
    over = sum(len(exceeded_by(findings, row)) for row in rows)
    limits = mark(f"{counted(over, 'limit')} exceeded", "bad") if over else None
    doubts = joined(
        [element("p", mark(WEAK, "doubt")), bullets(found.doubts)] if found.doubts else []
    )
    return element(
        "article",
        element("h3", label, " ", synthetic),
        element("p", mark(found.headline, found.kind), " ", limits),
        element("p", found.finding, class_="finding"),
        gauge(strongest(rows), findings["originals"]),
        bullets(found.further),
        doubts,
        class_=f"card {found.kind}",
    )


def _limits(findings: Found) -> Markup | None:
    found = limits_table(findings)
    if found is None:
        return None
    broken = sum(one["exceeded"] for one in findings["limits"])
    words = f"{broken:,} of {len(findings['limits']):,} exceeded"
    return folded(f"Limits of this study: {words}", found, shown=bool(broken))


def _untested(findings: Found) -> Markup:
    given = bullets(findings.get("not_tested", []))
    return joined(
        [
            element("h3", "What was not tested"),
            given or element("p", "The study does not say."),
        ]
    )


def _numbers(findings: Found) -> Markup:
    smallest = crowd(findings["originals"], "linkability")
    length = "" if smallest is None else f" Of {speech(smallest['length'])}."
    return joined(
        [
            summary_table(findings),
            element("p", "This table scrolls sideways.", class_="soft narrow"),
            element("p", "Small: intervals over speakers.", length, class_="soft"),
            element("p", EER_WARNING),
        ]
    )


def _utility(findings: Found) -> Markup:
    drawn = tradeoffs(findings)
    return joined(
        [
            utility_table(findings),
            bullets(utility_notes(findings), class_="soft"),
            element("h3", "Risk against what is kept") if drawn else None,
            element("div", *drawn, class_="figures") if drawn else None,
        ]
    )


def _listen(heard: dict[str, Markup]) -> Markup:
    parts: list[Any] = []
    for label, pairs in heard.items():
        parts += [element("h3", label), pairs]
    return joined(parts)


def _methods() -> Markup:
    parts = []
    for name, words, papers in METHODS:
        source = element("small", f" {papers}.") if papers else None
        parts += [element("dt", name), element("dd", words, source)]
    return element("dl", *parts)
