"""What an audit found, in plain words: who could do what to whom, how often, against guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.attack.knowledge import ATTACKERS

Found = Mapping[str, Any]
"""A part of ``measures.json``."""

WEAK = "not trustworthy: attacker too weak"


def percent(value: float | None, *, exact: bool = False) -> str:
    """A share for a sentence, or with its decimal (``exact``) for a column.

    >>> percent(0.95), percent(0.9512), percent(0.00012)
    ('95\\xa0%', '95.1\\xa0%', '0.012\\xa0%')
    """
    if value is None:
        return "–"
    shown = f"{100 * value:.1f}" if value >= 0.001 or value <= 0 else f"{100 * value:.2g}"
    return f"{shown if exact else shown.removesuffix('.0')}\u00a0%"


def between(found: Found) -> str:
    """The interval of a share in brackets, if it has one."""
    if found.get("low") is None or found.get("high") is None:
        return ""
    return f" ({percent(found['low'])} to {percent(found['high'])})"


def crowd(found: Found, curve: str) -> Found | None:
    """A curve's point for the shortest conversations among the most people."""
    points: list[Found] = found.get("reidentification", {}).get(curve) or []
    if not points:
        return None
    shortest = min(one["length"] for one in points)
    own = [one for one in points if one["length"] == shortest]
    return max(own, key=lambda one: int(one["population"]))


def original_utility(findings: Found, name: str) -> Found:
    """The word error rate or quality before anonymisation; empty where it was not measured."""
    found: Found = findings["originals"].get("utility", {}).get(name, {})
    return found


def knowledge(row: Found) -> int:
    """A place in the order of attackers, the best informed last."""
    known = list(ATTACKERS)
    return known.index(row["attacker"]) if row["attacker"] in known else len(known)


def informed_first(rows: Sequence[Found]) -> list[Found]:
    """Rows by what their attackers know, the most first."""
    return sorted(rows, key=knowledge, reverse=True)


def strongest(rows: Sequence[Found]) -> Found:
    """The attack that links most, whatever its attacker was supposed to know."""

    def success(row: Found) -> tuple[float, float]:
        linked = crowd(row, "linkability")
        eer = row["measures"].get("eer", {}).get("value")
        return (linked["value"] if linked else -1.0, -(1.0 if eer is None else eer))

    return max(informed_first(rows), key=success)


def above_chance(row: Found) -> bool:
    """Whether linking, isolating or telling pairs apart surely beats guessing.

    The whole interval must lie on the far side of chance; without an interval, the value.
    """
    for curve in ("linkability", "singling_out"):
        point = crowd(row, curve)
        if point is not None:
            level = max(point["chance"], point.get("no_evidence") or 0.0)
            if point.get("low", point["value"]) > level:
                return True
    eer = row["measures"].get("eer", {})
    top = eer.get("high", eer.get("value"))
    return top is not None and top < eer.get("chance", 0.5)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said first about one anonymiser."""

    kind: str
    """``bad``: people are found again; ``doubt``: nothing can be concluded; ``good``: neither."""
    headline: str
    finding: str
    further: tuple[str, ...]
    doubts: tuple[str, ...]
    """Why attackers are too weak to be trusted, those that are."""


def verdict(rows: Sequence[Found], originals: Found) -> Verdict:
    """The verdict on one anonymiser from all attacks on it."""
    row = strongest(rows)
    found = any(above_chance(one) for one in rows)
    trusted = _trusted(rows)
    if found:
        kind, headline = "bad", "Voices still give people away"
    elif trusted:
        kind, headline = "good", "No better than guessing, for the attackers tried here"
    else:
        kind, headline = "doubt", f"No conclusion; {WEAK}"
    further = [
        who(row),
        *_longer(row),
        *_isolated(row),
        *_people(row),
        *_worst_case(row),
        *(line for one in row.get("attributes", {}).items() for line in attribute(*one)),
        *_others(rows, row),
    ]
    if found and not trusted:
        further.append("At least that much: better attackers will do no worse.")
    if kind == "good":
        further.append("Better attackers may exist; see what was not tested.")
    return Verdict(kind, headline, _linked(row, originals), tuple(further), _doubts(rows))


def _trusted(rows: Sequence[Found]) -> bool:
    """Whether the best informed attacker has shown that it can attack."""
    most = max(knowledge(one) for one in rows)
    return any(one["trust"]["trustworthy"] for one in rows if knowledge(one) == most)


def _doubts(rows: Sequence[Found]) -> tuple[str, ...]:
    """The first reason against each attacker that is not trusted."""
    lines = []
    for one in informed_first(rows):
        reasons = one["trust"]["reasons"]
        more = f" (and {len(reasons) - 1} more, below)" if len(reasons) > 1 else ""
        lines += [f"{attack_name(one)}: {reason}{more}" for reason in reasons[:1]]
    return tuple(lines)


def who(row: Found) -> str:
    """What the attacker knows."""
    return f"This attacker {row['attacker_summary'].rstrip('.')}."


def _linked(row: Found, originals: Found) -> str:
    point = crowd(row, "linkability")
    if point is None:
        eer = row["measures"]["eer"]
        return (
            f"The {row['attacker']} attacker tells pairs of one speaker from others with an EER of "
            f"{percent(eer['value'])}{between(eer)}; guessing: 50\u00a0%."
        )
    before = same_point(originals, point)
    clear = f"; without anonymisation it is {percent(before['value'])}" if before else ""
    return (
        f"The {row['attacker']} attacker names the right one of {point['population']:,} people for "
        f"{percent(point['value'])}{between(point)} of {speech(point['length'])}. "
        f"Guessing names {percent(point['chance'])}{clear}."
    )


def same_point(found: Found, point: Found) -> Found | None:
    """The point of another study at the same length and population."""
    points = found.get("reidentification", {}).get("linkability") or []
    here = (point["length"], point["population"])
    return next((one for one in points if (one["length"], one["population"]) == here), None)


def speech(length: int) -> str:
    """What a conversation of so many recordings is called."""
    return "single recordings" if length == 1 else f"conversations of {length} recordings"


def _longer(row: Found) -> list[str]:
    """The same among as many people, with more speech."""
    points = row.get("reidentification", {}).get("linkability") or []
    first = crowd(row, "linkability")
    longest = max((one["length"] for one in points), default=0)
    if first is None or longest == first["length"]:
        return []
    point = max((p for p in points if p["length"] == longest), key=lambda p: int(p["population"]))
    return [
        f"With more speech, {speech(longest)} and {point['population']:,} people: "
        f"{percent(point['value'])}{between(point)}."
    ]


def _isolated(row: Found) -> list[str]:
    point = crowd(row, "singling_out")
    if point is None:
        return []
    return [
        f"Singling Out: one person alone is isolated in {percent(point['value'])}"
        f"{between(point)} of crowds of {point['population']:,}; by chance, in "
        f"{percent(point['chance'])}."
    ]


def _people(row: Found) -> list[str]:
    """How many people are found again more often than not, and who most."""
    risks = row.get("reidentification", {}).get("speakers") or []
    shortest = min((one["length"] for one in risks), default=0)
    own = [one for one in risks if one["length"] == shortest]
    if not own:
        return []
    exposed = [one for one in own if one["linkability"] >= 0.5]
    return [
        f"{len(exposed):,} of {len(own):,} people are named in at least half of their recordings."
    ]


def _worst_case(row: Found) -> list[str]:
    return [f"Worst case for any one pair, category {row['tag']}: {row['tag_meaning']}."]


def attribute(name: str, found: Found) -> list[str]:
    """How well an attribute is told, against the most frequent answer."""
    if "note" in found:
        return [f"{_capital(name)}: not tried, {found['note']}."]
    guess = "" if found["better_than_guessing"] else "; not surely better than guessing"
    return [
        f"{_capital(name)} is told right for {percent(found['accuracy'])}{between(found)}; always "
        f"guessing the most frequent: {percent(found['majority'])}{guess}."
    ]


def _others(rows: Sequence[Found], row: Found) -> list[str]:
    """Who else attacked, and how far they got."""
    found = []
    for one in informed_first(rows):
        point = crowd(one, "linkability")
        if one is not row and point is not None:
            weak = "" if one["trust"]["trustworthy"] else ", too weak to be trusted"
            found.append(f"{attack_name(one)} {percent(point['value'])}{weak}")
    return [f"Other attackers: {'; '.join(found)}."] if found else []


def attack_name(row: Found) -> str:
    """The attacker, with the linkage function where one was asked for by name."""
    asked = row.get("linkage", "best")
    return row["attacker"] if asked == "best" else f"{row['attacker']}, {asked}"


def overall(anonymisers: Mapping[str, Sequence[Found]]) -> str:
    """All verdicts in one or two sentences."""
    tried = {label: rows for label, rows in anonymisers.items() if rows}
    if not tried:
        return "Nothing was attacked."
    found = sum(any(above_chance(one) for one in rows) for rows in tried.values())
    text = f"Of {len(tried):,} anonymisers tried, {found:,} let people be found again."
    if len(tried) == 1:
        text = f"The anonymiser tried {'lets' if found else 'did not let'} people be found again."
    points = {label: crowd(strongest(rows), "linkability") for label, rows in tried.items()}
    linked = {label: point for label, point in points.items() if point is not None}
    if len(linked) > 1:
        best = min(linked, key=lambda label: float(linked[label]["value"]))
        text += (
            f" Fewest are found behind {best}: {percent(linked[best]['value'])} of "
            f"{speech(linked[best]['length'])} under the strongest attack, guessing "
            f"{percent(linked[best]['chance'])}."
        )
    return text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
