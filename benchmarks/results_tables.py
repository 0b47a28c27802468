"""Tables and the figure of docs/results.md, from the findings of benchmarks/results_run.py.

    uv run python benchmarks/results_tables.py --docs docs \
        --findings /tmp/results/findings --audit /tmp/results/audit

The figures in ``docs/results.json`` are replaced by those of the findings, as far as there are any;
then every block between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` in ``docs/results.md`` is
written anew from that file, and so is ``docs/images/frontier.svg``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from results_data import (
    MEASURES,
    NONE,
    AttackFigures,
    Difference,
    Figure,
    Results,
    read_findings,
    read_results,
    seeds_of,
    write_results,
)

from sottovoce.core.files import write_text
from sottovoce.report.svg import Axis, Line, line_chart

METHODS = ("mcadams", "voicemask", "vtln", "xvector", "dar")
ATTACKERS = ("ignorant", "lazy-informed", "semi-informed", "informed")
ATTACKS = ("frozen", "fused", "undone", "retrained", "strongest")
PUBLISHED = (("VoicePrivacy 2022 B1.b", 4.43, 0.769), ("VoicePrivacy 2022 B2", 4.58, 0.929))
"""WER in % and D_sys (mean of women and men, not corrected) of baselines on other trials of
LibriSpeech test-clean, semi-informed attacker, recogniser trained on anonymised speech: from
baseline/results of the repository of the challenge."""
SCALE = {"eer": 100.0, "d_sys_corrected": 1.0}
"""What the values of measures are multiplied by."""

Table = list[list[str]]


# ---------------------------------------------------------------------------------------- cells


def number(figure: Figure | None, scale: float, places: int) -> str:
    """Write a value with its interval in brackets."""
    if figure is None or figure.value is None:
        return "–"
    text = f"{scale * figure.value:.{places}f}"
    if figure.low is None or figure.high is None:
        return text
    fewer = max(0, places - 1) if scale > 1 else places
    return f"{text} ({scale * figure.low:.{fewer}f}–{scale * figure.high:.{fewer}f})"


def measured(entry: AttackFigures | None, name: str) -> str:
    """Write a score measure of an attack; EERs in per cent."""
    places = 1 if name == "eer" else 2
    return "–" if entry is None else number(entry.measures[name], SCALE[name], places)


def difference(entry: Difference, name: str) -> str:
    """Write a difference with its interval; that of one technique to itself without."""
    places, scale = (1, 100.0) if name == "eer" else (2, 1.0)
    if entry.same:
        return f"{0:.{places}f}"
    figure = entry.figure
    ends = (figure.value, figure.low, figure.high)
    value, low, high = (f"{scale * (0.0 if end is None else end):+.{places}f}" for end in ends)
    return f"{value} ({low} to {high})"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [header, ["---" for _ in header], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


# --------------------------------------------------------------------------------------- tables


def strongest_table(results: Results, corpus: str) -> str:
    """The strongest attack of each knowledge on each method."""
    rows: Table = []
    originals = results.attack(NONE, "on originals", "strongest", corpus=corpus)
    if originals is not None:
        rows.append([NONE, "on originals", *_strongest_cells(originals)])
    for method in METHODS:
        for attacker in ATTACKERS:
            entry = results.attack(method, attacker, "strongest", corpus=corpus)
            if entry is not None:
                rows.append([method, attacker, *_strongest_cells(entry)])
    header = ["anonymiser", "attacker", "EER %", "D_sys", "D_ECE", "worst case"]
    header += ["Linkability %", "chosen", "trustworthy"]
    return markdown(header, rows)


def _strongest_cells(entry: AttackFigures) -> list[str]:
    chosen = entry.linked_with or "–"
    return [
        measured(entry, "eer"),
        measured(entry, "d_sys_corrected"),
        "–" if entry.d_ece is None else f"{entry.d_ece:.3f}",
        entry.worst_case or "–",
        number(entry.linkability, 100, 0),
        chosen if entry.representation is None else f"{chosen} of {entry.representation}",
        "–" if entry.trustworthy is None else "yes" if entry.trustworthy else "no",
    ]


def attacks_table(results: Results, corpus: str, name: str) -> str:
    """One measure of every attack."""
    rows = []
    for method in METHODS:
        for attacker in ATTACKERS:
            entries = [results.attack(method, attacker, kind, corpus=corpus) for kind in ATTACKS]
            if any(entries):
                rows.append([method, attacker, *(measured(entry, name) for entry in entries)])
    return markdown(["anonymiser", "attacker", *ATTACKS], rows)


def evidence_table(results: Results, attacker: str) -> str:
    """What each kind of evidence alone links: first guess right, EER and weight, by method."""
    fused = {m: entry for m in METHODS if (entry := results.attack(m, attacker, "fused"))}
    names = list(dict.fromkeys(e.name for entry in fused.values() for e in entry.evidence))
    rows = []
    for name in names:
        cells = []
        for entry in fused.values():
            part = next((e for e in entry.evidence if e.name == name), None)
            shares = () if part is None else (part.top_1, part.eer, part.share)
            cells.append(" / ".join(f"{100 * share:.0f}" for share in shares) or "–")
        rows.append([name, *cells])
    rows.append(["all, fused", *(_fused_cell(entry) for entry in fused.values())])
    return markdown(["evidence", *fused], rows)


def _fused_cell(entry: AttackFigures) -> str:
    figures = (entry.linkability, entry.measures["eer"])
    values = ("–" if f is None or f.value is None else f"{100 * f.value:.0f}" for f in figures)
    return " / ".join(values)


def choice_table(results: Results, corpus: str) -> str:
    """Whether ``strongest`` is at least as strong as every single attack of the same knowledge."""
    rows = []
    for method in METHODS:
        for attacker in ATTACKERS:
            entry = results.attack(method, attacker, "strongest", corpus=corpus)
            if entry is not None and entry.to_best:
                changes = [(entry.to_best[name], name) for name in MEASURES]
                cells = [f"{difference(change, name)} to {change.to}" for change, name in changes]
                rows.append([method, attacker, *cells])
    return markdown(["anonymiser", "attacker", "EER, points", "D_sys"], rows)


def knowledge_table(results: Results) -> str:
    """Semi-informed minus lazy-informed, for the same attack."""
    rows = []
    for method in METHODS:
        for attack in ("frozen", "fused", "strongest"):
            entry = results.attack(method, "semi-informed", attack)
            if entry is not None and entry.to_lazy:
                cells = [difference(entry.to_lazy[name], name) for name in MEASURES]
                rows.append([method, attack, *cells])
    return markdown(["anonymiser", "attack", "EER, points", "D_sys"], rows)


def seeds_table(results: Results, corpus: str) -> str:
    """The strongest attacks for each seed of the draws of the released speech."""
    seeds = seeds_of(results.attacks, corpus)
    rows = []
    for method in METHODS:
        for attacker in ATTACKERS:
            entries = [
                entry
                for seed in seeds
                if (
                    entry := results.attack(method, attacker, "strongest", corpus=corpus, seed=seed)
                )
            ]
            if len(entries) > 1:
                rows.append([method, attacker, *_seed_cells(entries)])
    return markdown(["anonymiser", "attacker", "EER %", "D_sys", "Linkability %"], rows)


def _seed_cells(entries: Sequence[AttackFigures]) -> list[str]:
    """Values of each measure for each seed, one after the other."""
    columns = [
        [number(Figure(entry.measures["eer"].value), 100, 1) for entry in entries],
        [number(Figure(entry.measures["d_sys_corrected"].value), 1, 2) for entry in entries],
        [number(e.linkability and Figure(e.linkability.value), 100, 0) for e in entries],
    ]
    return [" / ".join(column) for column in columns]


def utility_table(results: Results, corpus: str) -> str:
    """What is kept of speech."""
    rows: Table = []
    for method in (NONE, *METHODS):
        entry = results.kept(method, corpus)
        if entry is None:
            continue
        correlation = "–" if entry.f0_correlation is None else f"{entry.f0_correlation:.2f}"
        cells = [number(entry.wer, 100, 1), number(entry.quality, 1, 2)]
        cells += ["1" if method == NONE else correlation, number(entry.gender, 100, 0)]
        rows.append([method, *cells])
    header = ["anonymiser", "WER %", "quality", "F0 correlation", "gender told right %"]
    return markdown(header, rows)


# --------------------------------------------------------------------------------------- figure


def frontier(results: Results) -> str:
    """WER against D_sys of the strongest semi-informed attacker, as SVG."""
    lines = []
    points: list[tuple[str, float, float]] = []
    attackers = {NONE: "on originals", **dict.fromkeys(METHODS, "semi-informed")}
    for method, attacker in attackers.items():
        entry = results.attack(method, attacker, "strongest")
        kept = results.kept(method, "libri40")
        if entry is not None and kept is not None:
            name = "originals" if method == NONE else method
            d_sys = entry.measures["d_sys_corrected"].value or 0
            points.append((name, 100 * (kept.wer.value or 0), d_sys))
    points += PUBLISHED
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


# ----------------------------------------------------------------------------------------- docs

BLOCKS: dict[str, Callable[[Results], str]] = {
    "strongest": lambda results: strongest_table(results, "libri40"),
    "eer": lambda results: attacks_table(results, "libri40", "eer"),
    "d_sys": lambda results: attacks_table(results, "libri40", "d_sys_corrected"),
    "choice": lambda results: choice_table(results, "libri40"),
    "knowledge": knowledge_table,
    "evidence": lambda results: evidence_table(results, "semi-informed"),
    "seeds": lambda results: seeds_table(results, "libri40"),
    "utility": lambda results: utility_table(results, "libri40"),
    "digits": lambda results: strongest_table(results, "audiomnist60"),
    "digit-eer": lambda results: attacks_table(results, "audiomnist60", "eer"),
    "digit-d_sys": lambda results: attacks_table(results, "audiomnist60", "d_sys_corrected"),
    "digit-choice": lambda results: choice_table(results, "audiomnist60"),
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
    """Write the figures, the page and the drawing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--docs", type=Path, required=True)
    parser.add_argument("--findings", type=Path, help="folder with findings of new runs")
    parser.add_argument("--audit", type=Path, help="folder of the audit behind them")
    options = parser.parse_args()
    if (options.findings is None) != (options.audit is None):
        parser.error("--findings and --audit belong together")
    figures = options.docs / "results.json"
    results = read_results(figures)
    if options.findings is not None:
        results = results.updated(read_findings(options.findings, options.audit))
        write_results(figures, results)
    page = options.docs / "results.md"
    write_text(page, fill(page.read_text(encoding="utf-8"), results))
    write_text(options.docs / "images" / "frontier.svg", frontier(results))


if __name__ == "__main__":
    main()
