"""Document 002: voice similarity matrices, de-identification and voice distinctiveness."""

from __future__ import annotations

import numpy as np

from sottovoce.attack import ATTACKERS
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.findings import Similarity
from sottovoce.measure import similarity
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Compared, ItemOutput, paper_table
from sottovoce.papers.speech import SpeechStudy, open_study
from sottovoce.report.similarity import similarity_figure
from sottovoce.report.svg import Axis, Line, arrange, line_chart
from sottovoce.speaker.embeddings import Embeddings

BASELINES = {
    "primary": AnonymiserSpec("xvector"),
    "secondary": AnonymiserSpec("mcadams", {"coefficient": 0.8}),
}
"""The baselines of the VoicePrivacy Challenge 2020 by what stands for them here."""

PUBLISHED = {
    "ldtf": ((99.54, -9.19), (55.41, -1.06)),
    "ldtm": ((100.0, -8.66), (41.23, -1.19)),
    "vdtf": ((99.61, -8.71), (93.26, -3.60)),
    "vdtm": ((100.0, -12.66), (71.19, -2.98)),
    "vdtfc": ((99.51, -7.46), (84.09, -1.39)),
    "vdtmc": ((99.96, -10.30), (43.87, -0.81)),
}
"""Table 2: DeID in % and G_VD in dB of the primary and of the secondary baseline. The document's
table calls vdtfc vdafc."""

SETS = {"f": "ldtf", "m": "ldtm"}
"""The published set that speech of a gender stands beside: LibriSpeech, development trials."""

SPEAKERS, UTTERANCES, DIMENSIONS = 10, 6, 24
"""Of the artificial matrices."""


def artificial_systems(seed: int = 0) -> dict[str, tuple[Embeddings, Embeddings]]:
    """Simulate original and pseudonymised vectors of three systems.

    Parameters
    ----------
    seed : int, default 0
        Of the simulation.

    Returns
    -------
    dict
        ``nothing``: as before. ``one voice``: everybody gets the same voice. ``ideal``: everybody
        gets a voice of their own that has nothing to do with theirs.
    """
    rng = np.random.default_rng(seed)
    names = np.repeat([f"speaker {i + 1}" for i in range(SPEAKERS)], UTTERANCES)
    noise = rng.normal(0, 0.5, (3, SPEAKERS * UTTERANCES, DIMENSIONS))
    voices = rng.normal(0, 1, (SPEAKERS, DIMENSIONS))
    others = rng.normal(0, 1, (SPEAKERS, DIMENSIONS))
    one = np.broadcast_to(rng.normal(0, 1, DIMENSIONS), voices.shape)
    original = Embeddings.of(np.repeat(voices, UTTERANCES, axis=0) + noise[0], names)
    systems = {"nothing": voices, "one voice": one, "ideal": others}
    return {
        name: (
            original,
            original
            if name == "nothing"
            else Embeddings.of(np.repeat(target, UTTERANCES, axis=0) + noise[1], names),
        )
        for name, target in systems.items()
    }


def _figure_1(data: PaperData) -> ItemOutput:
    results = {
        name: similarity(before, after, interval=None)
        for name, (before, after) in artificial_systems(data.seed).items()
    }
    figure = arrange(
        "Three artificial systems",
        "Upper left OO, upper right and lower left OP, lower right PP of each.",
        [similarity_figure(result, title=name) for name, result in results.items()],
        columns=3,
    )
    rows = [(name, _percent(result.deid), result.gvd_db) for name, result in results.items()]
    return ItemOutput(
        f"simulated vectors of {SPEAKERS} speakers; the document gives no numbers",
        tables=[paper_table("The measures of the systems", _HEADINGS, rows, decimals=2)],
        drawings={"figure-1": figure},
        compared=[
            Compared(
                "a: does nothing", "OP like OO, diagonal in PP", _diagonals(results["nothing"])
            ),
            Compared(
                "b: voices are lost", "no diagonal in OP nor PP", _diagonals(results["one voice"])
            ),
            Compared("c: ideal", "no diagonal in OP, one in PP", _diagonals(results["ideal"])),
        ],
        remarks=[
            "Ten speakers are few: a random voice is nearer to one original than to another, which "
            "oracle calibration counts as similarity. So DeID stays below 100 % in b and c."
        ],
    )


_HEADINGS = ("system", "DeID in %", "G_VD in dB")


def _diagonals(result: Similarity) -> str:
    return ", ".join(f"D_diag({kind.upper()}) {value:.2f}" for kind, value in result.d_diag.items())


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _assess(data: PaperData) -> tuple[SpeechStudy, dict[tuple[str, str], Similarity]]:
    """DeID and G_VD by baseline and gender, with PLDA trained on other speakers' originals."""
    study = open_study(data)
    ignorant = ATTACKERS["ignorant"]
    results = {}
    for name, spec in BASELINES.items():
        sets = study.sets(spec, [ignorant])
        linkage = study.trained(sets, ignorant).linkage
        before, after = sets["trial", "original"], sets["trial", "released"]
        for gender in SETS:
            results[name, gender] = similarity(
                _of_gender(before, gender), _of_gender(after, gender), linkage, interval=None
            )
    return study, results


def _of_gender(embeddings: Embeddings, gender: str) -> Embeddings:
    if embeddings.gender is None or not (embeddings.gender == gender).any():
        return embeddings
    return embeddings.rows(embeddings.gender == gender)


_WHY = (
    "Other speakers (not the development set), another encoder, and another x-vector anonymiser, "
    "which also changes the pitch"
)


def _table_2(data: PaperData) -> ItemOutput:
    study, results = _assess(data)
    rows, compared = [], []
    for gender, published in SETS.items():
        for i, name in enumerate(BASELINES):
            result, (deid, gvd) = results[name, gender], PUBLISHED[published][i]
            mine = _percent(result.deid)
            rows.append((f"{gender}, {name}", deid, mine, gvd, result.gvd_db, result.n_speakers))
            compared += [
                Compared(f"DeID in %, {published}, {name}", deid, mine, _WHY),
                Compared(f"G_VD in dB, {published}, {name}", gvd, result.gvd_db, _WHY),
            ]
    headings = (
        "gender and baseline",
        "DeID published",
        "DeID",
        "G_VD published",
        "G_VD",
        "speakers",
    )
    published_rows = [
        (name, *primary, *secondary) for name, (primary, secondary) in PUBLISHED.items()
    ]
    return ItemOutput(
        f"trials of {study.described}",
        tables=[
            paper_table("DeID and G_VD beside those of LibriSpeech", headings, rows, decimals=2),
            paper_table(
                "All published values",
                ("set", "DeID primary", "G_VD primary", "DeID secondary", "G_VD secondary"),
                published_rows,
                decimals=2,
            ),
        ],
        compared=compared,
        remarks=["The VCTK sets run when a VCTK folder is given as --corpus."],
    )


def _figure_2(data: PaperData) -> ItemOutput:
    study, results = _assess(data)
    panels = [
        similarity_figure(results[name, gender], title=f"{name} baseline, {gender}")
        for gender in SETS
        for name in BASELINES
    ]
    rows = [
        (f"{name}, {gender}", _percent(result.deid), result.gvd_db)
        for (name, gender), result in results.items()
    ]
    figure = arrange(
        "Voice similarity matrices of the two baselines",
        "Left the primary, right the secondary baseline; one row a gender.",
        panels,
        columns=2,
    )
    return ItemOutput(
        f"trials of {study.described}",
        tables=[paper_table("The measures of the matrices", _HEADINGS, rows, decimals=2)],
        drawings={"figure-2": figure},
        compared=[
            Compared(
                f"{name} baseline",
                seen,
                "; ".join(_diagonals(results[name, gender]) for gender in SETS),
            )
            for name, seen in (
                ("primary", "OP near 0.5, faint diagonal in PP"),
                ("secondary", "diagonals in OP and PP"),
            )
        ],
    )


def _figure_3(data: PaperData) -> ItemOutput:
    study, results = _assess(data)
    lines = []
    for style, (i, name) in enumerate(enumerate(BASELINES), start=1):
        x = [pair[i][0] for pair in PUBLISHED.values()]
        y = [pair[i][1] for pair in PUBLISHED.values()]
        lines.append(Line(f"{name}, published", x, y, style, points=True, labels=tuple(PUBLISHED)))
    for style, name in enumerate(BASELINES, start=3):
        mine = [results[name, gender] for gender in SETS]
        x = [100 * (result.deid or 0.0) for result in mine]
        y = [result.gvd_db or 0.0 for result in mine]
        labels = tuple(f"{gender} here" for gender in SETS)
        lines.append(Line(f"{name}, here", x, y, style, points=True, labels=labels))
    figure = line_chart(
        "G_VD against DeID",
        "Published sets and ours; right is less linkable, up is more distinct.",
        Axis.nice("DeID in %", 0, 102),
        Axis.nice("G_VD in dB", -15, 1),
        lines,
    )
    rows = [
        (f"{name}, {gender}", _percent(result.deid), result.gvd_db)
        for (name, gender), result in results.items()
    ]
    return ItemOutput(
        f"trials of {study.described}",
        tables=[paper_table("Our points", _HEADINGS, rows, decimals=2)],
        drawings={"figure-3": figure},
        compared=[
            Compared("range of DeID, secondary, %", "41 to 93", _range(results, "deid")),
            Compared("range of G_VD, primary, dB", "−13 to −7.5", _range(results, "gvd_db")),
        ],
    )


def _range(results: dict[tuple[str, str], Similarity], measure: str) -> str:
    name, scale = ("secondary", 100) if measure == "deid" else ("primary", 1)
    values = [
        scale * value
        for (baseline, _), result in results.items()
        if baseline == name and (value := getattr(result, measure)) is not None
    ]
    return f"{min(values):.1f} to {max(values):.1f}" if values else "none"


ITEMS = (
    PaperItem("002-figure-1", "Three artificial similarity matrices", _figure_1),
    PaperItem("002-figure-2", "Voice similarity matrices of the two baselines", _figure_2),
    PaperItem("002-figure-3", "G_VD against DeID of both baselines", _figure_3),
    PaperItem("002-table-2", "DeID and G_VD of both baselines", _table_2),
)
