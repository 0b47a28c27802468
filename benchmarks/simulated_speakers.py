"""Simulated scores, embeddings and ranks of speakers, with true values that are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sottovoce.measure import Scores, Speakers, measure_scores
from sottovoce.speaker import Embeddings

DIMENSION = 16
EXPOSED = 0.1
"""Share of the speakers who are unlike the others."""


@dataclass(frozen=True)
class Mixture:
    """Mated scores: most have the mean ``usual``, a share of the speakers has ``exposed``."""

    usual: float
    exposed: float = 0.0
    share: float = 0.0

    def means(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        return np.where(rng.random(count) < self.share, self.exposed, self.usual)

    def true_values(self, names: Sequence[str]) -> dict[str, float]:
        """From quantiles of both distributions; D_sys and minDCF from their formulas."""
        count = 200_000
        parts = ((1 - self.share, self.usual), (self.share, self.exposed))
        mated = np.concatenate([mean + quantiles(round(count * share)) for share, mean in parts])
        scores = Scores(mated, quantiles(count))
        summary = measure_scores(scores, interval=None, only=names)
        values = {name: one.value or 0.0 for name, one in summary.measures.items()}
        x = np.linspace(-9, 16, 100_001)
        p = sum(share * density(x - mean) for share, mean in parts)
        q = density(x)
        terms = np.where(p > q, p * (p - q) / (p + q), 0.0)
        d_sys = float(terms.sum() * (x[1] - x[0]))
        costs = {name: self.min_dcf(name) for name in names if name.startswith("min_dcf")}
        return {**values, **costs, "d_sys": d_sys, "d_sys_corrected": d_sys}

    def min_dcf(self, name: str) -> float:
        """The lowest normalised cost over all thresholds, of a measure such as ``min_dcf_0.05``."""
        prior = float(name.removeprefix("min_dcf_"))
        threshold = np.linspace(-9, 40, 200_001)
        parts = ((1 - self.share, self.usual), (self.share, self.exposed))
        misses = sum(share * ndtr(threshold - mean) for share, mean in parts)
        costs = prior * misses + (1 - prior) * ndtr(-threshold)
        return float(costs.min() / min(prior, 1 - prior))


def quantiles(count: int) -> NDArray[np.float64]:
    return np.asarray(ndtri((np.arange(count) + 0.5) / max(count, 1)))


def density(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


def independent_trials(mated: int, nonmated: int, mixture: Mixture) -> Callable[..., Scores]:
    def draw(rng: np.random.Generator) -> Scores:
        return Scores(rng.normal(mixture.usual, 1, mated), rng.normal(0, 1, nonmated))

    return draw


def trials_of_speakers(
    speakers: int, mixture: Mixture, *, mated_trials: int = 10, withheld: bool = False
) -> Callable[..., Scores]:
    """Mated trials of each speaker; scores with an effect of each speaker and of each pair.

    Both classes have the variance 1. A quarter of that of mated scores is between speakers.
    """
    repeats = mated_trials * (10 if speakers <= 10 else 3 if speakers <= 20 else 1) // 10

    def draw(rng: np.random.Generator) -> Scores:
        ease = rng.normal(0, 0.5, speakers)
        means = mixture.means(rng, speakers) + ease
        who = np.repeat(np.arange(speakers), mated_trials)
        mated = means[who] + np.sqrt(0.75) * rng.normal(size=len(who))
        first, second = np.repeat(np.where(~np.eye(speakers, dtype=bool)), repeats, axis=1)
        pair = rng.normal(0, 0.3, (speakers, speakers))
        effects = 0.35 * (ease[first] + ease[second]) + pair[first, second]
        rest = np.sqrt(1 - 2 * (0.35 * 0.5) ** 2 - 0.3**2)
        nonmated = effects + rest * rng.normal(size=len(first))
        known = None if withheld else Speakers(who, first, second, speakers)
        return Scores(mated, nonmated, speakers=known)

    return draw


def named(scores: Scores, condition: str) -> Scores:
    """Scores of speakers who are in no other condition."""
    who = scores.speakers
    if who is None:
        return scores
    names = np.array([f"{condition} {number:03d}" for number in range(who.count)])
    speakers = Speakers(who.mated, who.nonmated_enrol, who.nonmated_trial, who.count, names)
    return Scores(scores.mated, scores.nonmated, speakers=speakers)


def embeddings(
    rng: np.random.Generator, speakers: int, utterances: int, evidence: float
) -> tuple[Embeddings, Embeddings]:
    """Enrolment and trial vectors that share a voice of this strength against noise of 1."""
    voices = evidence * rng.normal(size=(speakers, DIMENSION))
    who = np.repeat(np.arange(speakers), utterances)
    names = np.array([f"s{number:05d}" for number in who])
    sides = (voices[who] + rng.normal(size=(len(who), DIMENSION)) for _ in range(2))
    first, second = (Embeddings.of(side.astype(np.float32), names) for side in sides)
    return first, second


def places_of_speakers(
    rng: np.random.Generator, speakers: int, *, hidden: bool
) -> NDArray[np.float64]:
    """Mean places of five trials a speaker: how many of the others, as a share, rank before.

    Either one speaker in ten ranks anywhere and the others near the top, or one in ten ranks first
    and the others anywhere.
    """
    anywhere = (rng.random(speakers) < EXPOSED) == hidden
    near_top = rng.beta(1, 30, (speakers, 5)) if hidden else np.zeros((speakers, 5))
    places = np.where(anywhere[:, None], rng.random((speakers, 5)), near_top)
    return np.asarray(places.mean(axis=1))
