"""The tables of an audit: every anonymiser and attacker, limits, utility, groups, attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sottovoce.report.page import Markup, breakable, counted, element, joined, table
from sottovoce.report.readings import (
    WEAK,
    Found,
    attack_name,
    crowd,
    informed_first,
    original_utility,
    percent,
)

EER_WARNING = (
    "Careful with the EER: it is a mean over pairs and thresholds. It hardly changes with the "
    "number of people, and people who are easy to find vanish in it. A high EER alone does not "
    "mean that nobody is found."
)


def mark(text: str, kind: str = "") -> Markup:
    """A short remark that stands out."""
    return element("span", text, class_=f"mark {kind}".strip())


def ranged(found: Found | None, shown: Callable[[float | None], str]) -> Markup | str:
    """A value over its interval; a dash where there is none."""
    if found is None or found.get("value") is None:
        return "–"
    value = shown(found["value"])
    if found.get("low") is None or found.get("high") is None:
        return value
    low, high = (shown(found[end]).removesuffix("\u00a0%") for end in ("low", "high"))
    return joined([value, element("small", f"{low} to {high}")])


def exact(value: float | None) -> str:
    """A share with its decimal."""
    return percent(value, exact=True)


def decimals(digits: int) -> Callable[[float | None], str]:
    """A writer of plain numbers."""
    # a zero is added so that nothing is shown as -0.00
    return lambda value: "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def summary_table(findings: Found) -> Markup:
    """One row an anonymiser and attacker, the originals first."""
    rows = [_summary_row("original", findings["originals"], original_utility(findings, "wer"))]
    marks = ["reference"]
    utilities = {one["anonymiser"]: one.get("utility", {}) for one in findings["anonymisers"]}
    for label, own in by_anonymiser(findings).items():
        for i, row in enumerate(own):
            wer = utilities.get(label, {}).get("wer")
            rows.append(_summary_row(label, row, wer, exceeded_by(findings, row)))
            marks.append("" if i else "first")
    linked = crowd(findings["originals"], "linkability")
    people = "" if linked is None else f" of {linked['population']:,}"
    headings = (
        "anonymiser",
        "attacker",
        joined(["Singling Out", element("small", " chance 36.8\u00a0%")]),
        joined([f"Linkability{people}", element("small", f" chance {_chance(linked)}")]),
        joined(["D_ECE in bits", element("small", " chance 0")]),
        "worst case for one pair",
        joined(["EER", element("small", " chance 50\u00a0%")]),
        "WER",
    )
    return table("Every anonymiser under every attacker", headings, rows, words=(1, 5), marks=marks)


def _chance(point: Found | None) -> str:
    return "1/N" if point is None else percent(point["chance"])


def by_anonymiser(findings: Found) -> dict[str, list[Found]]:
    """The attacks on each anonymiser, the best informed first."""
    labels = [one["anonymiser"] for one in findings["anonymisers"]]
    labels += [row["anonymiser"] for row in findings["rows"]]
    return {
        label: informed_first([row for row in findings["rows"] if row["anonymiser"] == label])
        for label in dict.fromkeys(labels)
    }


def _summary_row(
    label: str, row: Found, wer: Found | None, exceeded: Sequence[Found] = ()
) -> list[Any]:
    measures = row["measures"]
    remarks = []
    if "trust" in row and not row["trust"]["trustworthy"]:
        remarks.append(mark(WEAK, "doubt"))
    if exceeded:
        remarks.append(mark(f"{counted(len(exceeded), 'limit')} exceeded", "bad"))
    attacker = joined([_attacker(row), *(joined([element("br"), one]) for one in remarks)])
    return [
        breakable(label),
        attacker,
        ranged(crowd(row, "singling_out"), exact),
        ranged(crowd(row, "linkability"), exact),
        ranged(measures.get("d_ece"), decimals(3)),
        f"{row['tag']}: {row['tag_meaning']}",
        ranged(measures.get("eer"), exact),
        ranged(wer, exact),
    ]


def _attacker(row: Found) -> str:
    if "attacker" not in row:
        return f"on originals ({row['linked_with']})"
    chosen = row["linked_with"]
    return attack_name(row) if row["linkage"] == chosen else f"{attack_name(row)} ({chosen})"


def exceeded_by(findings: Found, row: Found) -> list[Found]:
    """Limits that one attack exceeds."""
    keys = ("anonymiser", "attacker", "linkage")
    return [
        one
        for one in findings.get("limits", [])
        if one["exceeded"] and all(one.get(key) == row.get(key) for key in keys)
    ]


def limits_table(findings: Found) -> Markup | None:
    """Every limit that was set, and whether it holds."""
    limits = findings.get("limits", [])
    if not limits:
        return None
    rows = [
        (
            one["limit"],
            breakable(one["anonymiser"]),
            one["attacker"],
            "–" if one["value"] is None else f"{one['value']:.4g}",
            mark("exceeded", "bad") if one["exceeded"] else mark("kept", "good"),
        )
        for one in sorted(limits, key=lambda one: not one["exceeded"])
    ]
    return table(
        "Limits set in the study",
        ("limit", "anonymiser", "attacker", "value", "state"),
        rows,
        words=(1, 2, 4),
    )


UTILITY: tuple[tuple[str, str, Callable[[float | None], str]], ...] = (
    ("f0_correlation", "F0 correlation", decimals(3)),
    ("duration_ratio", "duration, anonymised : original", decimals(3)),
    ("loudness_difference_db", "loudness difference in dB", decimals(2)),
)


def utility_table(findings: Found) -> Markup:
    """What each anonymiser keeps, beside the originals."""
    rows: list[list[Any]] = []
    for one in findings["anonymisers"]:
        kept = one.get("utility", {})
        rows.append(
            [
                breakable(one["anonymiser"]),
                ranged(kept.get("wer", {}), exact),
                ranged(original_utility(findings, "wer"), exact),
                ranged(kept.get("quality", {}), decimals(2)),
                ranged(original_utility(findings, "quality"), decimals(2)),
                *(ranged(kept.get(key), shown) for key, _, shown in UTILITY),
                ranged(_similarity(one, "gvd_db"), decimals(2)),
                ranged(_similarity(one, "deid"), decimals(3)),
            ]
        )
    headings = (
        "anonymiser",
        "WER",
        "WER of originals",
        "estimated quality, 1 to 5",
        "quality of originals",
        *(label for _, label, _ in UTILITY),
        "voice distinctiveness G_VD in dB",
        "de-identification DeID",
    )
    return table("Each anonymiser, with intervals", headings, rows)


def _similarity(one: Found, name: str) -> Found:
    found = one.get("similarity") or {}
    spread = (found.get("intervals") or {}).get(name) or {}
    return {"value": found.get(name), **spread}


def utility_notes(findings: Found) -> list[str]:
    """Who recognised the words, on how much, and what could not be measured and why."""
    lines: list[str] = []
    for one in findings["anonymisers"]:
        for name, found in one.get("utility", {}).items():
            if "note" in found:
                lines.append(f"{name.replace('_', ' ')}: {found['note']}")
            elif "recogniser" in found:
                lines.append(
                    f"WER: {found['recogniser']}, {found['utterances']:,} utterances, "
                    f"{found['words']:,} words; lower is better"
                )
            elif "model" in found:
                lines.append(
                    f"Quality: {found['model']}, {found['utterances']:,} utterances; made to rate "
                    "noise suppression, so a hint and no listening test; higher is better"
                )
        if "note" in (one.get("similarity") or {}):
            lines.append(f"voice similarity: {one['similarity']['note']}")
    return [f"{line.rstrip('.')}." for line in dict.fromkeys(lines)]


def groups_table(row: Found) -> Markup | None:
    """The risk of groups of speakers, such as women and men."""
    rows = [
        (f"{name}: {value or 'not stated'}", f"{one['speakers']:,}", exact(one["linkability"]))
        for name, groups in row.get("groups", {}).items()
        for value, one in groups.items()
    ]
    caption = "Groups: how often their members are named among everybody"
    return table(caption, ("group", "speakers", "Linkability"), rows) if rows else None


def trust_table(row: Found) -> Markup:
    """What shows whether the attacker can attack at all."""
    evidence, limits = row["trust"]["evidence"], row["trust"].get("limits", {})
    rows = [
        (
            "originals, before anonymisation",
            exact(evidence.get("originals")),
            _most(limits, "originals"),
        ),
        ("its own training vectors", exact(evidence.get("training")), _most(limits, "training")),
        ("training speakers it was not trained on", exact(evidence.get("held_out")), "–"),
        (
            "control: names exchanged",
            exact(evidence.get("control")),
            f"50\u00a0% ± {percent(limits['control'])}" if "control" in limits else "–",
        ),
        ("this attack", exact(evidence.get("attack")), "–"),
    ]
    for words, key in (("linked with {}", "linkages"), ("by the {} attacker", "less_informed")):
        rows += [
            (words.format(name), exact(value), "not clearly lower")
            for name, value in evidence.get(key, {}).items()
        ]
    return table("Can this attacker attack? Its EERs", ("on", "EER", "allowed"), rows)


def _most(limits: Found, name: str) -> str:
    return f"at most {percent(limits[name])}" if name in limits else "–"
