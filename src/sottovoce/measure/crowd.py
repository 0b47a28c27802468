"""Test speakers, enrolled or not, and the predicates that are tried on them (Singling Out)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import IntArray, Progress
from sottovoce.measure.population import Conversations, enrolment_numbers
from sottovoce.measure.risk import Settings
from sottovoce.measure.singling_out import (
    LITERAL_DRAWS,
    Draws,
    TestVectors,
    isolations,
    no_evidence,
)
from sottovoce.measure.singling_out import (
    literal as literal_isolations,
)
from sottovoce.speaker import Embeddings, LinkageFunction, recentred


class Crowd:
    """Test speakers, enrolled or not, and the predicates that are tried on them."""

    def __init__(
        self,
        enrol: Embeddings,
        trial: Embeddings,
        tests: Conversations,
        linkage: LinkageFunction,
        settings: Settings,
        rng: np.random.Generator,
    ) -> None:
        who, owners = np.unique(tests.speakers, return_inverse=True)
        self.vectors = TestVectors.of(owners.ravel())
        self.sizes = settings.sizes(len(who))
        enrolled = enrolment_numbers(trial, enrol)[who]
        known = np.flatnonzero(enrolled >= 0)
        if not self.sizes or not len(known):
            raise TooFewError(
                f"{len(who):,} speakers have two conversations, {len(known):,} of them enrolled; "
                "a crowd needs at least 2, one of them enrolled"
            )
        self.chosen = np.sort(rng.permutation(known)[: settings.enrolled])
        means, counts = _predicates(enrol, enrolled[self.chosen], settings.enrol_utterances, rng)
        linkage = recentred(linkage, means)
        self.models = linkage.enrol(means, counts)
        self.tests = linkage.trial(tests.vectors, counts)
        draws = LITERAL_DRAWS if settings.literal else settings.draws
        self.draws = Draws.make(len(who), len(self.chosen), draws, rng)
        self.outcome = literal_isolations if settings.literal else isolations

    def isolations(self, progress: Progress | None) -> NDArray[np.float64]:
        """Share of isolations (predicates × sizes)."""
        found = np.empty((len(self.chosen), len(self.sizes)))
        for start in range(0, len(self.chosen), 64):
            scores = self.models[start : start + 64] @ self.tests.T
            for i, row in enumerate(scores, start=start):
                true = int(self.chosen[i])
                drawn = self.outcome(row, self.vectors, true, i, self.draws, self.sizes)
                found[i] = drawn.mean(axis=0)
                if progress:
                    progress(i + 1, len(self.chosen))
        return found

    def no_evidence(self, size: int) -> float:
        """What scores without evidence would give."""
        each = float(self.vectors.counts.mean()) - 1
        kept, weights = np.unique(self.vectors.counts[self.chosen] - 1, return_counts=True)
        levels = [no_evidence(size, int(k), each) for k in kept]
        return float(np.average(levels, weights=weights))


def _predicates(
    enrol: Embeddings, speakers: IntArray, utterances: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], IntArray | int]:
    """Means of up to so many random utterances of each enrolment speaker, and of how many."""
    order = np.lexsort((rng.random(len(enrol)), enrol.speakers))
    first = np.cumsum(enrol.counts) - enrol.counts
    counts = np.minimum(enrol.counts, utterances)[speakers]
    means = [
        enrol.vectors[order[first[s] : first[s] + count]].mean(axis=0, dtype=np.float64)
        for s, count in zip(speakers, counts, strict=True)
    ]
    same = bool(np.all(counts == counts[0]))
    return np.array(means, np.float32), int(counts[0]) if same else counts
