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
from dataclasses import dataclass
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
from sottovoce.report.svg import Axis, Line, arrange, line_chart
from sottovoce.report.svg import Figure as Drawing

METHODS = ("mcadams", "voicemask", "vtln", "xvector", "dar")
ATTACKERS = ("ignorant", "lazy-informed", "semi-informed", "informed")
ATTACKS = ("frozen", "fused", "undone", "retrained", "strongest")


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline of VoicePrivacy under a semi-informed attacker, as the organisers measured it."""

    label: str
    system: str
    eer: float
    """In %, the mean of women and men on trials of LibriSpeech test-clean."""
    wer: float
    """In %, on test utterances of LibriSpeech."""
    d_sys: float | None = None
    """Not corrected, the mean of women and men; None where it was not published."""


BASELINES = (
    Baseline("2022 B1.a", "x-vectors and neural source filter; B1 of 2020", 10.47, 4.75, 0.739),
    Baseline("2022 B1.b", "x-vectors and neural vocoder", 8.64, 4.43, 0.769),
    Baseline("2022 B2", "McAdams", 4.12, 4.58, 0.929),
    Baseline("2024 B2", "McAdams", 4.52, 9.99),
    Baseline("2024 B3", "phones and artificial voices", 27.09, 4.33),
    Baseline("2024 B5", "quantised content (wav2vec 2.0)", 34.34, 4.37),
    Baseline("2024 B6", "quantised content", 21.14, 9.10),
)
"""From the files of results in the repositories of the challenges, those of 2024 as of 29 March
2024. The recognisers were trained on anonymised speech in 2022, on originals in 2024."""
PUBLISHED = "VoicePrivacy "
"""What their names in the legend begin with."""
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


def baselines_table() -> str:
    """What the organisers of VoicePrivacy measured of their baselines."""
    rows = [
        [f"{b.label}, {b.system}", f"{b.eer:.1f}", number(Figure(b.d_sys), 1, 2), f"{b.wer:.1f}"]
        for b in BASELINES
    ]
    return markdown(["system", "EER %", "D_sys (not corrected)", "WER %"], rows)


# --------------------------------------------------------------------------------------- figure

Point = tuple[str, float, float]
"""Name, word error rate in %, and what links."""


def frontier(results: Results) -> str:
    """WER against what the strongest semi-informed attacker links, as SVG."""
    published = [(PUBLISHED + b.label, b) for b in BASELINES]
    d_sys = _points(results, "d_sys_corrected")
    d_sys += [(name, b.wer, b.d_sys) for name, b in published if b.d_sys is not None]
    eer = _points(results, "eer") + [(name, b.wer, b.eer) for name, b in published]
    panels = [
        _panel("D_sys", "down and to the left is better", Axis.nice("D_sys", 0, 1), d_sys),
        _panel("EER", "up and to the left is better", Axis.nice("EER, %", 0, 50), eer),
    ]
    whole = arrange(
        "Words lost, and what still links",
        "One point per anonymiser, under the strongest semi-informed attacker. The baselines of "
        "VoicePrivacy were measured on other data, with other recognisers and attackers.",
        panels,
        columns=2,
    )
    return whole.svg


def _points(results: Results, measure: str) -> list[Point]:
    """Originals and our methods; what was not measured has no point, which at 0 would hide all."""
    points = []
    attackers = {NONE: "on originals", **dict.fromkeys(METHODS, "semi-informed")}
    for method, attacker in attackers.items():
        entry = results.attack(method, attacker, "strongest")
        kept = results.kept(method, "libri40")
        linked = None if entry is None else entry.measures[measure].value
        lost = None if kept is None else kept.wer.value
        if linked is not None and lost is not None:
            name = "originals" if method == NONE else method
            points.append((name, 100 * lost, SCALE[measure] * linked))
    return points


def _panel(title: str, better: str, axis: Axis, points: Sequence[Point]) -> Drawing:
    widest = max(wer for _, wer, _ in points)
    return line_chart(
        f"Word error rate against {title}",
        f"Word error rate against {title}; {better}.",
        Axis.nice("word error rate, %", 0, 5 * (widest // 5 + 1)),
        axis,
        [
            Line(name, [wer], [linked], style, points=True, labels=(name.removeprefix(PUBLISHED),))
            for style, (name, wer, linked) in enumerate(points)
        ],
    )


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
    "baselines": lambda _: baselines_table(),
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
