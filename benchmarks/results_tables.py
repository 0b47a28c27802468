"""Tables and the figure of docs/results.md, from the findings of benchmarks/results_run.py.

    uv run python benchmarks/results_tables.py /tmp/results/findings /tmp/results/audit --docs docs

Every block between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` in ``docs/results.md`` is
written anew, and so is ``docs/images/frontier.svg``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from results_data import Results, read_runs

from sottovoce.core.files import write_text
from sottovoce.findings import AttackRow, Estimate, UtilityEstimate
from sottovoce.findings.attack import AttributeInference
from sottovoce.report.svg import Axis, Line, line_chart

METHODS = ("mcadams", "voicemask", "vtln", "xvector", "dar")
ATTACKERS = ("ignorant", "lazy-informed", "semi-informed", "informed")
VARIANTS = ("frozen", "fused", "undone", "retrained", "strongest")
SINGLE = VARIANTS[:-1]
PUBLISHED = (("VoicePrivacy 2022 B1.b", 4.43, 0.769), ("VoicePrivacy 2022 B2", 4.58, 0.929))
"""WER in % and D_sys (mean of women and men, not corrected) of baselines on other trials of
LibriSpeech test-clean, semi-informed attacker, recogniser trained on anonymised speech: from
baseline/results of the repository of the challenge."""
MEASURED_BEFORE = (("voicemask, before", 10.1, 0.90), ("dar, before", 14.6, 0.86))
"""WER in % and D_sys of methods that were attacked with an earlier state of the attacks."""
FIGURES = {"eer": 100.0, "d_sys_corrected": 1.0}
"""Score measures that are shown, and what their values are multiplied by."""

Table = list[list[str]]


# ---------------------------------------------------------------------------------------- cells


def number(
    estimate: Estimate | UtilityEstimate | AttributeInference | None,
    scale: float,
    places: int,
    *,
    value: float | None = None,
) -> str:
    """Write a value with its interval in brackets."""
    if estimate is None:
        return "–"
    shown = value if value is not None else getattr(estimate, "value", None)
    if shown is None:
        return "–"
    text = f"{scale * shown:.{places}f}"
    if estimate.low is None or estimate.high is None:
        return text
    fewer = max(0, places - 1) if scale > 1 else places
    return f"{text} ({scale * estimate.low:.{fewer}f}–{scale * estimate.high:.{fewer}f})"


def measure(row: AttackRow | None, name: str) -> str:
    """Write a score measure of a row; EERs in per cent."""
    places = 1 if name == "eer" else 2
    return "–" if row is None else number(row.scores.measures[name], FIGURES[name], places)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [header, ["---" for _ in header], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


# --------------------------------------------------------------------------------------- tables


def strongest_table(results: Results, corpus: str) -> str:
    """The strongest attack of each knowledge on each method."""
    rows: Table = _originals(results, corpus)
    for method in METHODS:
        for attacker in ATTACKERS:
            row = results.row(method, attacker, "strongest", corpus=corpus)
            if row is not None:
                rows.append([method, attacker, *_strongest_cells(row)])
    header = ["anonymiser", "attacker", "EER %", "D_sys", "D_ECE", "worst case"]
    header += ["Linkability %", "chosen", "trustworthy"]
    return markdown(header, rows)


def _strongest_cells(row: AttackRow) -> list[str]:
    linkability = row.reidentification.linkability[-1]
    share = f"{100 * linkability.value:.0f}"
    if linkability.low is not None and linkability.high is not None:
        share += f" ({100 * linkability.low:.0f}–{100 * linkability.high:.0f})"
    d_ece = row.scores.measures["d_ece"].value
    return [
        measure(row, "eer"),
        measure(row, "d_sys_corrected"),
        "–" if d_ece is None else f"{d_ece:.3f}",
        row.scores.tag or "–",
        share,
        f"{row.linked_with} of {row.representation}",
        "yes" if row.trust.trustworthy else "no",
    ]


def _originals(results: Results, corpus: str) -> Table:
    findings = results.findings(corpus)
    if findings is None:
        return []
    entry = next(entry for entry in findings.originals if entry.linkage == "best")
    measures, linkability = entry.scores.measures, entry.reidentification.linkability[-1]
    cells = [
        "none",
        "on originals",
        number(measures["eer"], 100, 1),
        number(measures["d_sys_corrected"], 1, 2),
        f"{measures['d_ece'].value:.3f}",
        entry.scores.tag or "–",
        f"{100 * linkability.value:.0f}",
        entry.linked_with,
        "–",
    ]
    return [cells]


def attacks_table(results: Results, corpus: str, name: str) -> str:
    """One measure of every attack."""
    rows = []
    for method in METHODS:
        for attacker in ATTACKERS:
            found = [results.row(method, attacker, kind, corpus=corpus) for kind in VARIANTS]
            if any(found):
                rows.append([method, attacker, *(measure(row, name) for row in found)])
    return markdown(["anonymiser", "attacker", *VARIANTS], rows)


def evidence_table(results: Results, attacker: str) -> str:
    """What each kind of evidence alone links: first guess right and EER, by method."""
    fused = {m: results.row(m, attacker, "fused") for m in METHODS}
    present = {method: row for method, row in fused.items() if row is not None}
    names = [link.name for link in next(iter(present.values())).evidence] if present else []
    rows = []
    for name in names:
        cells = []
        for row in present.values():
            link = next(link for link in row.evidence if link.name == name)
            cells.append(f"{100 * link.top_1:.0f} / {100 * link.eer:.0f} / {100 * link.share:.0f}")
        rows.append([name, *cells])
    rows.append(["all, fused", *(_fused_cell(row) for row in present.values())])
    return markdown(["evidence", *present], rows)


def _fused_cell(row: AttackRow) -> str:
    eer = row.scores.measures["eer"].value
    return f"{100 * row.reidentification.linkability[-1].value:.0f} / {100 * (eer or 0):.0f}"


def choice_table(results: Results, corpus: str) -> str:
    """Whether ``strongest`` is at least as strong as every single attack of the same knowledge."""
    rows = []
    for method in METHODS:
        for attacker in ATTACKERS:
            strongest = results.row(method, attacker, "strongest", corpus=corpus)
            singles = {
                kind: row
                for kind in SINGLE
                if (row := results.row(method, attacker, kind, corpus=corpus)) is not None
            }
            if strongest is not None and singles:
                cells = [_against_best(results, strongest, singles, name) for name in FIGURES]
                rows.append([method, attacker, *cells])
    return markdown(["anonymiser", "attacker", "EER, points", "D_sys"], rows)


def _against_best(
    results: Results, strongest: AttackRow, singles: dict[str, AttackRow], name: str
) -> str:
    """Difference to the single attack that is the strongest on the attacked speakers."""
    weaker = -1.0 if name == "eer" else 1.0
    best = max(singles, key=lambda kind: weaker * (singles[kind].scores.measures[name].value or 0))
    return f"{_difference(results, strongest, singles[best], name)} to {best}"


def _difference(results: Results, first: AttackRow, second: AttackRow, name: str) -> str:
    """First minus second, paired by speaker, with its interval."""
    places, scale = (1, 100.0) if name == "eer" else (2, 1.0)
    if _technique(first) == _technique(second):
        return f"{0:.{places}f}"
    (difference,) = results.compare(first, second).scores.differences[name]
    ends = (difference.value, difference.low, difference.high)
    value, low, high = (f"{scale * (end or 0.0):+.{places}f}" for end in ends)
    return f"{value} ({low} to {high})"


def _technique(row: AttackRow) -> tuple[str, str, str, str]:
    """What makes two attacks of a method the same."""
    return row.attacker, row.representation, row.linked_with, str(row.trained.settings)


def knowledge_table(results: Results) -> str:
    """Semi-informed minus lazy-informed, for the same attack."""
    rows = []
    for method in METHODS:
        for kind in ("frozen", "fused", "strongest"):
            semi = results.row(method, "semi-informed", kind)
            lazy = results.row(method, "lazy-informed", kind)
            if semi is not None and lazy is not None:
                cells = [_difference(results, semi, lazy, name) for name in FIGURES]
                rows.append([method, kind, *cells])
    return markdown(["anonymiser", "attack", "EER, points", "D_sys"], rows)


def seeds_table(results: Results, corpus: str) -> str:
    """The strongest attacks for each seed of the draws of the released speech."""
    seeds = sorted({run.seed for run in results.runs if run.corpus == corpus})
    rows = []
    for method in METHODS:
        for attacker in ATTACKERS:
            found = [
                row
                for seed in seeds
                if (row := results.row(method, attacker, "strongest", corpus=corpus, seed=seed))
            ]
            if len(found) > 1:
                rows.append([method, attacker, *_seed_cells(found)])
    return markdown(["anonymiser", "attacker", "EER %", "D_sys", "Linkability %"], rows)


def _seed_cells(rows: Sequence[AttackRow]) -> list[str]:
    """Values of each measure for each seed, one after the other."""
    columns = [
        [f"{100 * (row.scores.measures['eer'].value or 0):.1f}" for row in rows],
        [f"{row.scores.measures['d_sys_corrected'].value or 0:.2f}" for row in rows],
        [f"{100 * row.reidentification.linkability[-1].value:.0f}" for row in rows],
    ]
    return [" / ".join(column) for column in columns]


def utility_table(results: Results, corpus: str) -> str:
    """What is kept of speech."""
    originals = results.findings(corpus)
    if originals is None:
        return ""
    kept = originals.original_utility
    rows: Table = [["none", number(kept["wer"], 100, 1), number(kept["quality"], 1, 2), "1", "–"]]
    for method in METHODS:
        findings = results.findings(corpus, method)
        if findings is None:
            continue
        utility = findings.anonymisers[0].utility
        gender = findings.rows[0].attributes["gender"]
        told = "–"
        if isinstance(gender, AttributeInference):
            told = number(gender, 100, 0, value=gender.accuracy)
        correlation = utility["f0_correlation"].value
        rows.append(
            [
                method,
                number(utility["wer"], 100, 1),
                number(utility["quality"], 1, 2),
                "–" if correlation is None else f"{correlation:.2f}",
                told,
            ]
        )
    header = ["anonymiser", "WER %", "quality", "F0 correlation", "gender told right %"]
    return markdown(header, rows)


# --------------------------------------------------------------------------------------- figure


def frontier(results: Results) -> str:
    """WER against D_sys of the strongest semi-informed attacker, as SVG."""
    lines = []
    originals = results.findings("libri40")
    points: list[tuple[str, float, float]] = []
    if originals is not None:
        entry = next(entry for entry in originals.originals if entry.linkage == "best")
        points.append(_point("originals", entry.scores.measures, originals.original_utility))
    for method in METHODS:
        row = results.row(method, "semi-informed", "strongest")
        findings = results.findings("libri40", method)
        if row is not None and findings is not None:
            utility = findings.anonymisers[0].utility
            points.append(_point(method, row.scores.measures, utility))
    points += (*MEASURED_BEFORE, *PUBLISHED)
    for style, (name, wer, d_sys) in enumerate(points):
        lines.append(Line(name, [wer], [d_sys], style, points=True, labels=(name,)))
    widest = max((wer for _, wer, _ in points), default=10.0)
    chart = line_chart(
        "Words lost, and what still links",
        "Word error rate against D_sys of the strongest semi-informed attacker, one point per "
        "anonymiser; down and to the left is better. The baselines of VoicePrivacy 2022 were "
        "measured on other data, with another recogniser and attacker.",
        Axis.nice("word error rate, %", 0, 5 * (widest // 5 + 1)),
        Axis.nice("D_sys", 0, 1),
        lines,
    )
    return chart.svg


def _point(
    name: str, measures: Mapping[str, Estimate], utility: Mapping[str, UtilityEstimate]
) -> tuple[str, float, float]:
    return name, 100 * (utility["wer"].value or 0), measures["d_sys_corrected"].value or 0


# ----------------------------------------------------------------------------------------- docs

BLOCKS: dict[str, Callable[[Results], str]] = {
    "strongest": lambda results: strongest_table(results, "libri40"),
    "eer": lambda results: attacks_table(results, "libri40", "eer"),
    "d_sys": lambda results: attacks_table(results, "libri40", "d_sys_corrected"),
    "choice": lambda results: choice_table(results, "libri40"),
    "knowledge": knowledge_table,
    "evidence": lambda results: evidence_table(results, "semi-informed"),
    "seeds": lambda results: seeds_table(results, "libri40"),
    "digit-seeds": lambda results: seeds_table(results, "audiomnist60"),
    "utility": lambda results: utility_table(results, "libri40"),
    "digits": lambda results: strongest_table(results, "audiomnist60"),
}
"""What stands in each block of the page."""


def fill(page: str, results: Results) -> str:
    """Write every block of a page anew."""
    for name, make in BLOCKS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if pattern.search(page):
            text = f"{begin}\n\n{make(results)}\n\n{end}"
            page = pattern.sub(text.replace("\\", r"\\"), page)
    return page


def main() -> None:
    """Write the page and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("findings", type=Path)
    parser.add_argument("audit", type=Path)
    parser.add_argument("--docs", type=Path, required=True)
    options = parser.parse_args()
    results = Results(read_runs(options.findings), options.audit)
    page = options.docs / "results.md"
    write_text(page, fill(page.read_text(encoding="utf-8"), results))
    write_text(options.docs / "images" / "frontier.svg", frontier(results))


if __name__ == "__main__":
    main()
