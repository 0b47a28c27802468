"""Pseudo-speakers: voices that nobody has, made from those of a pool.

The choices are those of COMPRISE deliverable D2.3 (2021) and Srivastava et al. 2020: how distance
is taken, how near to the source the voices are, their gender, and for whom a new one is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.pool import Pool
from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray, Vectors

DISTANCES = ("plda", "cosine")
PROXIMITIES = ("dense", "random", "near", "far", "sparse")
GENDERS = ("same", "opposite", "random")
ASSIGNMENTS = ("speaker", "utterance")

CANDIDATES, AVERAGED = 200 / 1160, 100 / 1160
"""N and N* of the paper, as shares of its pool."""
RANKED = 0.3
"""Share of the clusters, the largest or the smallest, of which one is drawn: 10 of some 32."""
MEMBERS = 0.5
"""Share of a cluster's voices that are averaged."""


@dataclass(frozen=True, slots=True, eq=False)
class PseudoSpeaker:
    """A voice that nobody has."""

    vector: Vectors
    members: IntArray
    """Rows of the pool of which it is the mean."""
    gender: str
    pitch: FloatArray
    """Percentiles of F0 in hertz: those of its members, averaged."""


@dataclass(frozen=True, slots=True)
class Selection:
    """How the voices of a pseudo-speaker are chosen."""

    distance: str = "plda"
    proximity: str = "dense"
    gender: str = "same"
    assignment: str = "speaker"
    candidates: int | None = None
    """N, from which near and far draw; by the pool's size unless given."""
    averaged: int | None = None
    """N*, how many are averaged by random, near and far; by the pool's size unless given."""

    def make(
        self, pool: Pool, source: Vectors, gender: str, secret: Secret, speaker: str, utterance: str
    ) -> PseudoSpeaker:
        """A pseudo-speaker for a source vector and gender; the secret and the names decide all.

        Whatever the assignment, a random gender is drawn once for a speaker.
        """
        wanted = self._gender(gender, secret.generator("pseudo-speaker", "gender", speaker))
        names = (speaker,) if self.assignment == "speaker" else (speaker, utterance)
        rng = secret.generator("pseudo-speaker", *names)
        allowed = np.flatnonzero(pool.gender == wanted)
        affinity = pool.affinity(source, self.distance)
        if self.proximity in ("dense", "sparse"):
            members = self._of_cluster(pool, allowed, affinity, rng)
        else:
            members = self._of_ranks(pool, allowed, affinity, rng)
        return PseudoSpeaker(
            mean_voice(pool, members), members, wanted, pool.pitch[members].mean(0)
        )

    def _gender(self, source: str, rng: np.random.Generator) -> str:
        if self.gender == "random":
            return str(rng.choice(("f", "m")))
        other = {"f": "m", "m": "f"}[source]
        return source if self.gender == "same" else other

    def _of_ranks(
        self, pool: Pool, allowed: IntArray, affinity: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        averaged = self.averaged or max(1, round(AVERAGED * len(pool)))
        candidates = self.candidates or max(averaged, round(CANDIDATES * len(pool)))
        if self.proximity != "random":
            order = allowed[np.argsort(affinity[allowed], kind="stable")]
            allowed = order[:candidates] if self.proximity == "far" else order[-candidates:]
        if averaged > len(allowed):
            raise TooFewError(
                f"{averaged} voices are to be averaged, but there are {len(allowed)} to choose "
                "from: lower n_averaged or raise n_candidates"
            )
        return np.sort(rng.choice(allowed, averaged, replace=False))

    def _of_cluster(
        self, pool: Pool, allowed: IntArray, affinity: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """Half of one of the largest or smallest clusters, never of that nearest the source.

        Of a cluster only voices of the wanted gender count, in its size as in its mean.
        """
        clusters = ranked_clusters(pool, allowed, largest=self.proximity == "dense")
        if len(clusters) > 1:
            near = max(range(len(clusters)), key=lambda i: affinity[clusters[i]].mean())
            del clusters[near]
        kept = clusters[: max(1, round(RANKED * len(clusters)))]
        chosen = kept[rng.integers(len(kept))]
        count = max(1, int(MEMBERS * len(chosen)))
        return np.sort(rng.choice(chosen, count, replace=False))


def ranked_clusters(pool: Pool, allowed: IntArray, *, largest: bool) -> list[IntArray]:
    """The clusters of the allowed voices, by size."""
    exemplars = pool.exemplars[allowed]
    found = [allowed[exemplars == one] for one in np.unique(exemplars)]
    return sorted(found, key=len, reverse=largest)


def mean_voice(pool: Pool, members: IntArray) -> Vectors:
    """The mean of some voices, as far from the centre of the pool as voices typically are.

    A mean of many lies near the centre, where all pseudo-speakers would sound alike.
    """
    away = pool.vectors[members].mean(0, dtype=np.float64) - pool.centre
    length = float(np.linalg.norm(away))
    if length > 0:
        away *= pool.norm / length
    return np.asarray(pool.centre + away, np.float32)
