"""The lower half of an audit's page: each attack with its figures, and where it all comes from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce import __version__
from sottovoce.measure.catalogue import MEASURES
from sottovoce.measure.readers import read_scores
from sottovoce.measure.tally import Tally
from sottovoce.report.audit_figures import (
    people_figure,
    population_figures,
    score_figures,
    similarity_figure,
)
from sottovoce.report.audit_tables import (
    by_anonymiser,
    decimals,
    exact,
    groups_table,
    mark,
    ranged,
    trust_table,
)
from sottovoce.report.page import Markup, bullets, counted, element, folded, joined, table
from sottovoce.report.readings import WEAK, Found, attack_name, attribute, crowd, percent


def details(findings: Found, folder: Path) -> Markup:
    """Every attack folded, the first shown: figures, people, groups, attributes, trust."""
    originals = Tally.of(read_scores(folder / findings["originals"]["scores"]))
    known = {one["anonymiser"]: one for one in findings["anonymisers"]}
    parts: list[Any] = []
    shown = True
    for label, rows in by_anonymiser(findings).items():
        parts += [element("h3", label), _card(known.get(label, {}))]
        for row in rows:
            scores = read_scores(folder / row["scores"])
            figures = [
                *score_figures(row, scores, originals),
                *population_figures(row, findings["originals"]),
                people_figure(row),
            ]
            parts.append(_attack(row, figures, shown=shown))
            shown = False
        matrices = similarity_figure(known.get(label, {}).get("similarity") or {})
        if matrices is not None:
            heading = f"{label}: voice similarity matrices"
            inside = element("div", matrices, class_="figures")
            parts.append(folded(heading, inside, class_="row"))
    return joined(parts)


def _card(one: Found) -> Markup | None:
    """What the anonymiser does and leaves."""
    card = one.get("card")
    if not card:
        return None
    settings = ", ".join(f"{name} = {value}" for name, value in one.get("settings", {}).items())
    return element(
        "p",
        f"{card['summary']} Keeps {', '.join(card['keeps'])}. {card['leaks']} "
        f"Reversible: {card['reversible']}. ",
        f"Settings: {settings}. " if settings else None,
        element("small", f"{card['reference']}."),
    )


def _attack(row: Found, figures: Sequence[Markup | None], *, shown: bool) -> Markup:
    trusted = row["trust"]["trustworthy"]
    linked = crowd(row, "linkability")
    heading = joined(
        [
            f"{row['anonymiser']}: {attack_name(row)} attacker",
            f", Linkability {percent(linked['value'])}" if linked else None,
            None if trusted else joined([" ", mark(WEAK, "doubt")]),
        ]
    )
    told = [line for one in row.get("attributes", {}).items() for line in attribute(*one)]
    notes = row.get("reidentification", {}).get("notes", [])
    return folded(
        heading,
        element("p", f"This attacker {row['attacker_summary'].rstrip('.')}."),
        bullets([f"Careful: {line}." for line in row.get("warnings", [])]),
        None if trusted else bullets([f"{WEAK}: {why}." for why in row["trust"]["reasons"]]),
        _measures(row),
        element("div", *figures, class_="figures"),
        groups_table(row),
        element("p", " ".join(told)) if told else None,
        folded("Can this attacker be trusted?", trust_table(row), shown=not trusted),
        bullets(notes, class_="soft"),
        shown=shown,
        class_="row",
    )


def _measures(row: Found) -> Markup:
    """All measures of the scores, with chance level and direction."""
    rows = []
    for name, found in row["measures"].items():
        measure = MEASURES[name]
        shown = exact if measure.unit == "%" else decimals(3)
        chance = shown(found.get("chance"))
        rows.append((measure.label, ranged(found, shown), chance, measure.direction))
    whole = table(
        "Measures of the scores", ("measure", "value", "chance", "reads"), rows, words=(3,)
    )
    return folded("All measures of the scores", whole)


def provenance(findings: Found, folder: Path) -> Markup:
    """With what, from what and how: versions, seed, encoder, what was left out, the study."""
    record = _record(folder)
    encoder = findings.get("encoder") or {}
    stated = {
        "sottovoce": record.get("version", __version__),
        "Python": record.get("python"),
        **record.get("libraries", {}),
        "seed": findings.get("study", {}).get("seed"),
        "draws": record.get("draws"),
        "confidence of intervals": percent(findings["confidence"]),
        "encoder": encoder.get("name"),
        "encoder's origin": encoder.get("origin"),
        "encoder's licence": encoder.get("licence"),
        "encoder's SHA-256": encoder.get("sha256"),
        **{f"SHA-256 of {k}": one["sha256"] for k, one in record.get("inputs", {}).items()},
    }
    parts = []
    for name, value in stated.items():
        if value is not None:
            parts += [element("dt", name), element("dd", value)]
    study = json.dumps(findings.get("study", {}), indent=2, ensure_ascii=False)
    return joined(
        [
            element("dl", *parts),
            *(_excluded(findings.get(part) or {}, part) for part in ("corpus", "training")),
            folded("The study as it was given", element("pre", study)),
        ]
    )


def _record(folder: Path) -> dict[str, Any]:
    """What the audit wrote down about its making, if it has done so already."""
    path = folder / "provenance.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _excluded(part: Found, name: str) -> Markup:
    """Recordings that were left out, counted and listed."""
    left = part.get("excluded", [])
    where = f"{part.get('name', name)} ({name})"
    if not left:
        return element("p", f"Left out of {where}: nothing.")
    return folded(f"Left out of {where}: {counted(len(left), 'recording')}", bullets(left))
