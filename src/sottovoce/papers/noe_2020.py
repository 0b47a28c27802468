"""Document 002: voice similarity matrices, de-identification and voice distinctiveness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.attack import ATTACKERS
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.core.errors import TooFewError
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import Similarity
from sottovoce.measure import similarity
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, paper_table
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

LEAST_SPEAKERS = 2
"""Of a similarity matrix."""

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


@dataclass(frozen=True, slots=True)
class BaselineStudy:
    """DeID and G_VD of both baselines, for the genders that the corpus has enough speakers of."""

    study: SpeechStudy
    speakers: dict[str, int]
    """By gender, those with two or more trial recordings."""
    results: dict[tuple[str, str], Similarity]
    """By baseline and gender."""

    @property
    def genders(self) -> list[str]:
        """The genders that were measured."""
        return [gender for gender, count in self.speakers.items() if count >= LEAST_SPEAKERS]

    def rows(self) -> list[tuple[Cell, ...]]:
        """Return baseline and gender, DeID in % and G_VD in dB."""
        return [
            (f"{name}, {gender}", _percent(result.deid), result.gvd_db)
            for (name, gender), result in self.results.items()
        ]

    def why(self, name: str) -> str:
        """Say what differs from the document's measurement of a baseline.

        Parameters
        ----------
        name : str
            The baseline.
        """
        training = len(self.study.division.train.corpus.speakers)
        return (
            f"{_ANONYMISERS[name]}; other speakers (not the document's sets), another encoder, "
            f"and a PLDA trained on {training} speakers"
        )

    def remarks(self) -> list[str]:
        """Say what was left out, and which numbers are missing."""
        left_out = [
            f"{SETS[gender]} is left out: speakers of gender {gender} with two or more recordings: "
            f"{count}, and a similarity matrix needs {LEAST_SPEAKERS}."
            for gender, count in self.speakers.items()
            if gender not in self.genders
        ]
        missing = [
            f"{name} baseline, {gender}: {reason}; no point is drawn."
            for (name, gender), result in self.results.items()
            if (reason := _why_missing(result))
        ]
        return left_out + missing


_ANONYMISERS = {
    "primary": "Another x-vector anonymiser, which also changes the pitch",
    "secondary": "McAdams coefficients here too",
}


def _why_missing(result: Similarity) -> str:
    """Why there is no DeID or no G_VD; empty if there are both."""
    if result.deid is None:
        return "no DeID and no G_VD, since the scores do not tell the original voices apart"
    if result.gvd_db is None:
        return (
            "no G_VD, since D_diag(PP) is 0: no distinctiveness is left, for which there is no "
            "number of dB"
        )
    return ""


def _assess(data: PaperData) -> BaselineStudy:
    """DeID and G_VD by baseline and gender, with PLDA trained on other speakers' originals."""
    study = open_study(data)
    speakers = {gender: _count_speakers(study.division.trial.corpus, gender) for gender in SETS}
    if max(speakers.values()) < LEAST_SPEAKERS:
        raise TooFewError(
            f"{study.division.trial.corpus.name}: speakers of a known gender with two or more "
            f"trial recordings: {sum(speakers.values())}; a similarity matrix needs "
            f"{LEAST_SPEAKERS} of one gender: add the column gender, or speakers"
        )
    ignorant = ATTACKERS["ignorant"]
    results = {}
    for name, spec in BASELINES.items():
        sets = study.sets(spec, [ignorant])
        linkage = study.trained(sets, ignorant).linkage
        before, after = sets["trial", "original"], sets["trial", "released"]
        for gender in SETS:
            if speakers[gender] >= LEAST_SPEAKERS:
                results[name, gender] = similarity(
                    _of_gender(before, gender), _of_gender(after, gender), linkage, interval=None
                )
    return BaselineStudy(study, speakers, results)


def _count_speakers(corpus: Corpus, gender: str) -> int:
    """Speakers of a gender with two or more recordings."""
    recordings = Counter(u.speaker for u in corpus if u.gender == gender)
    return sum(count >= 2 for count in recordings.values())


def _of_gender(embeddings: Embeddings, gender: str) -> Embeddings:
    if embeddings.gender is None:
        raise ValueError("embeddings without genders")
    return embeddings.rows(embeddings.gender == gender)


def _table_2(data: PaperData) -> ItemOutput:
    baselines = _assess(data)
    rows: list[tuple[Cell, ...]] = []
    compared = []
    for gender in baselines.genders:
        for i, name in enumerate(BASELINES):
            result, (deid, gvd) = baselines.results[name, gender], PUBLISHED[SETS[gender]][i]
            mine = _percent(result.deid)
            rows.append((f"{gender}, {name}", deid, mine, gvd, result.gvd_db, result.n_speakers))
            why = baselines.why(name)
            compared += [
                Compared(f"DeID in %, {SETS[gender]}, {name}", deid, mine, why),
                Compared(f"G_VD in dB, {SETS[gender]}, {name}", gvd, result.gvd_db, why),
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
        f"trials of {baselines.study.described}",
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
        remarks=[
            *baselines.remarks(),
            "Whatever the corpus is, it stands beside ldtf and ldtm, the sets of LibriSpeech; the "
            "sets of VCTK are not computed.",
        ],
    )


@dataclass(frozen=True, slots=True)
class SeenDiagonals:
    """What the document sees in the matrices of a baseline, as limits of D_diag / D_diag(OO)."""

    words: str
    op: tuple[float, float]
    pp: tuple[float, float]

    def fits(self, result: Similarity) -> bool:
        """Tell whether our matrices look so.

        Parameters
        ----------
        result : Similarity
            Of the baseline.
        """
        oo = result.d_diag["oo"]
        return all(
            low * oo <= result.d_diag[kind] <= high * oo
            for kind, (low, high) in (("op", self.op), ("pp", self.pp))
        )


SEEN = {
    "primary": SeenDiagonals("OP near 0.5, faint diagonal in PP", (0.0, 0.1), (0.0, 0.5)),
    "secondary": SeenDiagonals("diagonals in OP and PP", (0.05, 1.0), (0.05, 1.0)),
}
"""The document's words; the limits are ours. It calls a diagonal perceptible with DeID = 93 %, that
is with D_diag(OP) = 0.07 D_diag(OO)."""


def _figure_2(data: PaperData) -> ItemOutput:
    baselines = _assess(data)
    results, genders = baselines.results, baselines.genders
    panels = [
        similarity_figure(results[name, gender], title=f"{name} baseline, {gender}")
        for gender in genders
        for name in BASELINES
    ]
    figure = arrange(
        "Voice similarity matrices of the two baselines",
        "Left the primary, right the secondary baseline; one row a gender.",
        panels,
        columns=2,
    )
    compared = []
    for name, seen in SEEN.items():
        alike = all(seen.fits(results[name, gender]) for gender in genders)
        ours = "; ".join(f"{gender}: {_diagonals(results[name, gender])}" for gender in genders)
        why = "" if alike else baselines.why(name)
        compared.append(Compared(f"{name} baseline", seen.words, ours, why))
    return ItemOutput(
        f"trials of {baselines.study.described}",
        tables=[
            paper_table("The measures of the matrices", _HEADINGS, baselines.rows(), decimals=2)
        ],
        drawings={"figure-2": figure},
        compared=compared,
        remarks=baselines.remarks(),
    )


def _figure_3(data: PaperData) -> ItemOutput:
    baselines = _assess(data)
    figure = line_chart(
        "G_VD against DeID",
        "Published sets and ours; right is less linkable, up is more distinct.",
        Axis.nice("DeID in %", 0, 102),
        Axis.nice("G_VD in dB", -15, 1),
        [*_published_points(), *_our_points(baselines)],
    )
    six = "the published range is of six sets, four of them of VCTK"
    return ItemOutput(
        f"trials of {baselines.study.described}",
        tables=[paper_table("Our points", _HEADINGS, baselines.rows(), decimals=2)],
        drawings={"figure-3": figure},
        compared=[
            Compared(
                "range of DeID, secondary, %",
                "41 to 93",
                _range(_measured(baselines, "secondary", "deid"), 100),
                f"{baselines.why('secondary')}; {six}",
            ),
            Compared(
                "range of G_VD, primary, dB",
                "−13 to −7.5",
                _range(_measured(baselines, "primary", "gvd_db"), 1),
                f"{baselines.why('primary')}; {six}",
            ),
        ],
        remarks=baselines.remarks(),
    )


def _published_points() -> Iterator[Line]:
    for i, name in enumerate(BASELINES):
        x = [pair[i][0] for pair in PUBLISHED.values()]
        y = [pair[i][1] for pair in PUBLISHED.values()]
        yield Line(f"{name}, published", x, y, i + 1, points=True, labels=tuple(PUBLISHED))


def _our_points(baselines: BaselineStudy) -> Iterator[Line]:
    """A line a baseline, of the genders that have both numbers."""
    for style, name in enumerate(BASELINES, start=3):
        points = [
            (100 * result.deid, result.gvd_db, f"{gender} here")
            for gender in baselines.genders
            if (result := baselines.results[name, gender]).deid is not None
            and result.gvd_db is not None
        ]
        if points:
            x, y, labels = zip(*points, strict=True)
            yield Line(f"{name}, here", x, y, style, points=True, labels=labels)


def _measured(baselines: BaselineStudy, name: str, measure: str) -> list[float]:
    """A measure of a baseline for the genders that have it."""
    values = (getattr(baselines.results[name, gender], measure) for gender in baselines.genders)
    return [value for value in values if value is not None]


def _range(values: Sequence[float], scale: float) -> str | None:
    if not values:
        return None
    return f"{_signed(scale * min(values))} to {_signed(scale * max(values))}"


def _signed(value: float) -> str:
    return f"{value:.1f}".replace("-", "−")


ITEMS = (
    PaperItem("002-figure-1", "Three artificial similarity matrices", _figure_1, whole=True),
    PaperItem("002-figure-2", "Voice similarity matrices of the two baselines", _figure_2),
    PaperItem("002-figure-3", "G_VD against DeID of both baselines", _figure_3),
    PaperItem("002-table-2", "DeID and G_VD of both baselines", _table_2),
)
