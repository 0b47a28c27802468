"""Document 001: EER, Cllr_min and linkability on simulated and on anonymised scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from sottovoce.attack import ATTACKERS, Attacker
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.core.records import Record
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.core.types import FloatArray
from sottovoce.measure import Scores, eer, linkability, min_cllr
from sottovoce.papers.data import PaperData, PartSize
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Compared, ItemOutput, paper_table
from sottovoce.papers.speech import INFORMED_AS_PUBLISHED, SpeechStudy, open_study
from sottovoce.report.points import Dot, dot_chart
from sottovoce.report.svg import Axis, Figure, Line, arrange, line_chart

DISCRETE = {
    "case 1": ("NNHNHNHH", 0.50, 0.25),
    "case 2": ("NNHNHHNH", 0.59, 0.25),
    "case 3": ("NNHNHHHN", 0.65, 0.25),
}
"""Table 1: H = mated, N = non-mated, for the scores 1 … 8; published Cllr_min and EER."""
MISPRINTED = ("case 3", 0.6556)
"""The Cllr_min that is known to deviate from the printed one, and what it is."""

KEYS = {
    "mated higher": ("NNH", "NHH"),
    "non-mated higher": ("HNN", "HHN"),
    "mated in between": ("NHN",),
    "non-mated in between": ("HNH",),
}
"""Figure 2: which of the three Gaussians gives mated scores (H)."""
SPREADS = (0.1, 0.5, 1.0, 1.5)
EACH = 5000

UTTERANCES_OF_A, UTTERANCES_OF_B = 100, 71
"""Figure 3: the document gives no numbers; 71 was chosen for its Cllr_min = 0.81."""

ANONYMISERS = (
    AnonymiserSpec("voicemask"),
    *(AnonymiserSpec("vtln", {"selection": name}) for name in ("const", "perm", "rand")),
    *(AnonymiserSpec("dar", {"selection": name}) for name in ("const", "perm", "rand")),
    AnonymiserSpec("xvector"),
)
ATTACKERS_OF_72 = (ATTACKERS["ignorant"], ATTACKERS["lazy-informed"], INFORMED_AS_PUBLISHED)
"""The document's ignorant, semi-informed and informed attacker; all train on originals."""
LINKAGES = ("plda", "cosine", "euclidean")
QUICK_PART = PartSize(speakers=12, enrol=2, trial=3)


def discrete_scores(labels: str) -> Scores:
    """Return the scores 1, 2, … as mated or non-mated ones.

    Parameters
    ----------
    labels : str
        ``H`` for a mated and ``N`` for a non-mated score, in rising order of the scores.
    """
    places = np.arange(1, len(labels) + 1)
    mated = np.array([label == "H" for label in labels])
    return Scores(places[mated], places[~mated])


def _table_1(data: PaperData) -> ItemOutput:
    rows, compared = [], []
    for case, (labels, cost, error) in DISCRETE.items():
        scores = discrete_scores(labels)
        mine = (min_cllr(scores), eer(scores))
        rows.append((case, labels, cost, mine[0], error, mine[1]))
        compared += [
            Compared(f"Cllr_min, {case}", cost, mine[0], _why_deviates(case, cost, mine[0])),
            Compared(f"EER, {case}", error, mine[1], _why_deviates("EER", error, mine[1])),
        ]
    headings = ("case", "labels of 1 … 8", "Cllr_min published", "Cllr_min", "EER published", "EER")
    return ItemOutput(
        "the scores and labels of the document",
        tables=[paper_table("Cllr_min and EER of discrete scores", headings, rows, decimals=4)],
        compared=compared,
        remarks=["The text of the document says 0.69 for case 3, its table 0.65; it is 0.656."],
    )


def _why_deviates(quantity: str, published: float, ours: float) -> str:
    """Empty where the numbers agree as printed; only the known deviation is explained."""
    if round(ours, 2) == published:
        return ""
    if (quantity, round(ours, 4)) == MISPRINTED:
        return f"printed one hundredth lower; it is {MISPRINTED[1]}"
    return "unexpected: the same scores should give the published number"


def gaussian_scores(key: str, spreads: tuple[float, ...], rng: np.random.Generator) -> Scores:
    """Draw 5,000 mated and 5,000 non-mated scores, shared among the Gaussians of each kind.

    Parameters
    ----------
    key : str
        For each Gaussian with the means 1, 2, 3, whether it gives mated (H) or other scores (N).
    spreads : tuple of float
        Their standard deviations.
    rng : numpy.random.Generator
        Draws the scores.
    """
    sides = {}
    for side in "HN":
        places = [i for i, label in enumerate(key) if label == side]
        shares = np.array_split(np.arange(EACH), len(places))
        parts = [
            rng.normal(i + 1, spreads[i], len(share))
            for i, share in zip(places, shares, strict=True)
        ]
        sides[side] = np.concatenate(parts)
    return Scores(sides["H"], sides["N"], name=key)


def gaussian_experiment(
    seed: int = 0,
) -> Iterator[tuple[str, tuple[float, ...], float, float]]:
    """Generate case, standard deviations, Cllr_min and D_sys of all 384 sets.

    Parameters
    ----------
    seed : int, default 0
        Of the scores.
    """
    rng = np.random.default_rng(seed)
    for case, keys in KEYS.items():
        for key, spreads in product(keys, product(SPREADS, repeat=3)):
            scores = gaussian_scores(key, spreads, rng)
            yield case, spreads, min_cllr(scores), linkability(scores, permutations=0).d_sys


def _figure_2(data: PaperData) -> ItemOutput:
    results = list(gaussian_experiment(data.seed))
    lines = [Line("equal", [0, 1], [0, 1], 0)]
    rows = []
    for style, case in enumerate(KEYS, start=1):
        costs = [cost for name, _, cost, _ in results if name == case]
        links = [d_sys for name, _, _, d_sys in results if name == case]
        lines.append(Line(case, [1 - d for d in links], costs, style, points=True))
        gap = float(np.mean([abs(c - 1 + d) for c, d in zip(costs, links, strict=True)]))
        rows.append((case, len(costs), min(costs), max(costs), min(links), max(links), gap))
    figure = line_chart(
        "Cllr_min against 1 − D_sys on simulated Gaussian scores",
        "Each mark is a set of scores. On the diagonal the two measures agree, which they do only "
        "where mated scores are the higher ones.",
        Axis.nice("1 − D_sys", 0, 1),
        Axis.nice("Cllr_min", 0, 1.05),
        lines,
    )
    between = min(row[2] for row in rows[2:])
    return ItemOutput(
        "the distributions of the document, 384 sets of 5,000 + 5,000 scores",
        tables=[
            paper_table(
                "Ranges by case",
                ("case", "sets", "Cllr_min least", "most", "D_sys least", "most", "mean gap"),
                rows,
            )
        ],
        drawings={"figure-2": figure},
        compared=[
            Compared("lower bound of Cllr_min, in between", 0.6, between),
            Compared("Cllr_min, non-mated higher", "always close to 1", rows[1][2]),
        ],
    )


@dataclass(frozen=True, slots=True)
class TwoSpeakers:
    """Simulated vectors of two speakers who share three pseudo-voices."""

    vectors: FloatArray
    is_first: FloatArray
    """1 for utterances of speaker A, 0 for those of B."""

    @classmethod
    def draw(cls, a: int = UTTERANCES_OF_A, b: int = UTTERANCES_OF_B, seed: int = 0) -> TwoSpeakers:
        """Map utterances of A to a left or right voice at random, those of B to one in the middle.

        Parameters
        ----------
        a, b : int, default 100 and 71
            Utterances of the speakers; with the defaults two thirds of the mated pairs lie below
            the non-mated ones, which Cllr_min = 0.81 of the document means.
        seed : int, default 0
            Of the draws.
        """
        rng = np.random.default_rng(seed)
        voices = np.concatenate((rng.choice([-1.0, 1.0], a), np.zeros(b)))
        vectors = np.stack((voices, np.zeros(a + b)), axis=1) + rng.normal(0, 0.12, (a + b, 2))
        return cls(vectors, np.concatenate((np.ones(a), np.zeros(b))))

    def distances(self) -> Scores:
        """Return the distances between all pairs of utterances as scores."""
        first, second = np.triu_indices(len(self.vectors), k=1)
        apart = np.linalg.norm(self.vectors[first] - self.vectors[second], axis=1)
        same = self.is_first[first] == self.is_first[second]
        return Scores(apart[same], apart[~same], name="two speakers, three voices")


def _figure_3(data: PaperData) -> ItemOutput:
    simulated = TwoSpeakers.draw(seed=data.seed)
    scores = simulated.distances()
    result = linkability(scores)
    mine = (result.d_sys, min_cllr(scores))
    x = np.repeat(result.edges, 2)[1:-1]
    histogram = line_chart(
        "Distances between utterances",
        "Mated pairs are the nearest and the farthest, non-mated ones lie in between.",
        Axis.nice("distance", float(result.edges[0]), float(result.edges[-1])),
        Axis.nice("share", 0, 1.08 * float(max(result.mated.max(), result.nonmated.max()))),
        [
            Line("mated", x, np.repeat(result.mated, 2), 2, fill=True),
            Line("non-mated", x, np.repeat(result.nonmated, 2), 1, fill=True),
        ],
    )
    figure = arrange(
        f"Non-mated in between: D_sys = {mine[0]:.2f}, Cllr_min = {mine[1]:.2f}",
        "Left the vectors, right the scores.",
        [_two_dimensions(simulated), histogram],
        columns=2,
    )
    why = "The document gives neither the numbers of utterances nor the linkage function"
    return ItemOutput(
        f"simulated vectors: {UTTERANCES_OF_A} utterances of A, {UTTERANCES_OF_B} of B, a number "
        "that was chosen for Cllr_min = 0.81; the document gives no numbers",
        drawings={"figure-3": figure},
        compared=[
            Compared("D_sys", 0.99, mine[0], why if round(mine[0], 2) != 0.99 else ""),
            Compared(
                "Cllr_min, chosen by the utterances of B",
                0.81,
                mine[1],
                why if round(mine[1], 2) != 0.81 else "",
            ),
        ],
        remarks=[
            f"That Cllr_min is 0.81 confirms nothing: {UTTERANCES_OF_B} utterances of B were "
            "chosen so that it is. What the figure shows is that D_sys is high and Cllr_min is "
            "high too, so that the two metrics disagree."
        ],
    )


def _two_dimensions(simulated: TwoSpeakers) -> Figure:
    lines = []
    for style, (name, side) in enumerate((("speaker A", 1), ("speaker B", 0)), start=1):
        x, y = simulated.vectors[simulated.is_first == side].T
        lines.append(Line(name, x, y, style, points=True))
    return line_chart(
        "Vectors in two dimensions",
        "Utterances of A lie left and right, those of B in the middle.",
        Axis.nice("first dimension", -1.5, 1.5),
        Axis.nice("second dimension", -1.0, 1.0),
        lines,
    )


@dataclass(frozen=True, slots=True)
class Combination(Record):
    """Measures of one anonymiser, attacker and linkage function."""

    anonymiser: str
    attacker: str
    linkage: str
    eer: float
    min_cllr: float
    d_sys: float
    difference_of_means: float
    """μ − μ̄, of scores divided by their standard deviation."""


_COMBINATION = Step("combination", records_of(Combination))


def combinations(data: PaperData) -> tuple[SpeechStudy, list[Combination]]:
    """Attack eight anonymisers as three attackers with three linkage functions.

    Parameters
    ----------
    data : PaperData
        The corpora.
    """
    study = open_study(data, QUICK_PART)
    steps = StepCache(data.work / "steps")
    results = []
    everything = list(product(ANONYMISERS, ATTACKERS_OF_72, LINKAGES))
    for done, (spec, attacker, linkage) in enumerate(everything):
        if data.progress:
            data.progress("attacks of 72 combinations", done, len(everything))
        key = [*study.key, spec, attacker.describe(), linkage]
        results.append(
            steps.get(
                _COMBINATION,
                [key, data.seed],
                lambda s=spec, a=attacker, n=linkage: _combination(study, s, a, n),  # type: ignore[misc]
            )
        )
    return study, results


def _combination(
    study: SpeechStudy, spec: AnonymiserSpec, attacker: Attacker, linkage: str
) -> Combination:
    scores = study.table(spec, attacker, linkage=linkage, over="utterance").scores()
    spread = float(np.std(np.concatenate((scores.mated, scores.nonmated))))
    return Combination(
        spec.label,
        attacker.name,
        linkage,
        eer(scores),
        min_cllr(scores),
        linkability(scores, permutations=0).d_sys,
        float(scores.mated.mean() - scores.nonmated.mean()) / (spread or 1.0),
    )


def _figure_4(data: PaperData) -> ItemOutput:
    study, results = combinations(data)
    dots = [Dot(c.eer, c.min_cllr, c.difference_of_means, _label(c)) for c in results]
    figure = dot_chart(
        "Cllr_min against EER on real data",
        f"{len(dots)} combinations of anonymiser, attacker and linkage function; the two measures "
        "rise together.",
        Axis.nice("EER", 0, 0.6),
        Axis.nice("Cllr_min", 0, 1.05),
        dots,
        scale="μ − μ̄",
    )
    correlation = _rank_correlation([c.eer for c in results], [c.min_cllr for c in results])
    return _output(study, results, "figure-4", figure, "EER", correlation)


def _figure_5(data: PaperData) -> ItemOutput:
    study, results = combinations(data)
    dots = [Dot(1 - c.d_sys, c.min_cllr, c.difference_of_means, _label(c)) for c in results]
    figure = dot_chart(
        "Cllr_min against 1 − D_sys on real data",
        f"{len(dots)} combinations of anonymiser, attacker and linkage function; on the dashed "
        "line the two measures agree.",
        Axis.nice("1 − D_sys", 0, 1),
        Axis.nice("Cllr_min", 0, 1.05),
        dots,
        scale="μ − μ̄",
        diagonal=(0, 0, 1, 1),
    )
    correlation = _rank_correlation([1 - c.d_sys for c in results], [c.min_cllr for c in results])
    return _output(study, results, "figure-5", figure, "1 − D_sys", correlation)


def _label(c: Combination) -> str:
    return f"{c.anonymiser}, {c.attacker}, {c.linkage}: EER {c.eer:.3f}, D_sys {c.d_sys:.3f}"


def _rank_correlation(x: list[float], y: list[float]) -> float:
    import scipy

    return float(scipy.stats.spearmanr(x, y).statistic)


def _output(
    study: SpeechStudy, results: list[Combination], name: str, figure: Figure, x: str, rho: float
) -> ItemOutput:
    lower = sum(c.difference_of_means < 0 for c in results)
    rows = [
        (c.anonymiser, c.attacker, c.linkage, c.eer, c.min_cllr, c.d_sys, c.difference_of_means)
        for c in results
    ]
    return ItemOutput(
        study.described,
        tables=[
            paper_table(
                "All combinations",
                ("anonymiser", "attacker", "linkage", "EER", "Cllr_min", "D_sys", "μ − μ̄"),
                rows,
            )
        ],
        drawings={name: figure},
        compared=[
            Compared("combinations", 72.0, float(len(results))),
            Compared(
                f"relation of {x} and Cllr_min", "clear, monotone", f"rank correlation {rho:.3f}"
            ),
            Compared("sets in which mated scores are not higher", "few", f"{lower} of 72"),
        ],
        remarks=[
            "All pairs of an enrolment and a trial recording are trials, as in the document. Its "
            "informed attacker trains on originals, unlike ours; μ − μ̄ is in standard deviations "
            "of the scores, since PLDA, cosine and distances have other units.",
        ],
    )


ITEMS = (
    PaperItem("001-table-1", "Cllr_min and EER with discrete scores", _table_1, whole=True),
    PaperItem(
        "001-figure-2",
        "Cllr_min against 1 − D_sys on simulated Gaussian scores",
        _figure_2,
        whole=True,
    ),
    PaperItem("001-figure-3", "Simulated non-mated in-between data", _figure_3, whole=True),
    PaperItem("001-figure-4", "Cllr_min against EER on real data", _figure_4),
    PaperItem("001-figure-5", "Cllr_min against 1 − D_sys on real data", _figure_5),
)
