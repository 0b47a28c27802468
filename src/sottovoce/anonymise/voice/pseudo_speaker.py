"""Pseudo-speakers: voices of nobody, averaged from voices of a pool.

The design choices are those of COMPRISE deliverable D2.3 (2021) and Srivastava et al. 2020: the
distance, the proximity of the voices to the source speaker, their gender, and whether a
pseudo-speaker is made for each speaker or each utterance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.pool import Pool
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import FloatArray, IntArray, Vector

DISTANCES = ("plda", "cosine")
PROXIMITIES = ("dense", "random", "near", "far", "sparse")
GENDERS = ("same", "opposite", "random")

CANDIDATES, AVERAGED = 200 / 1160, 100 / 1160
"""N and N* of the paper, as shares of the size of the pool."""
CLUSTER_SHARE = 0.3
"""Share of the clusters, the largest or smallest, from which one is drawn: 10 of about 32."""
MEMBER_SHARE = 0.5
"""Share of the voices of a cluster that are averaged."""
MINIMUM_AVERAGED = 3
"""Fewest voices of a pseudo-speaker: with one, it would be the voice of a real person."""


@dataclass(frozen=True, slots=True, eq=False)
class PseudoSpeaker:
    """An average of voices of a pool."""

    vector: Vector
    members: IntArray
    """Rows of the pool that were averaged."""
    gender: str
    pitch: FloatArray
    """Percentiles of F0 in Hz, averaged over the members."""


@dataclass(frozen=True, slots=True)
class MemberSelection:
    """How the voices of a pseudo-speaker are selected."""

    distance: str = "plda"
    """One of :data:`DISTANCES`."""
    proximity: str = "dense"
    """One of :data:`PROXIMITIES`."""
    gender: str = "same"
    """One of :data:`GENDERS`."""
    candidates: int | None = None
    """N, from which ``near`` and ``far`` draw; by default a share of the pool."""
    averaged: int | None = None
    """N*, how many voices are averaged; by default a share of the pool, or of the cluster."""

    def __post_init__(self) -> None:
        if self.averaged is not None and self.averaged < MINIMUM_AVERAGED:
            raise InputError(
                f"n_averaged {self.averaged}: average at least {MINIMUM_AVERAGED} voices, so that "
                "no pseudo-speaker is the voice of a real person",
                code="out-of-range",
            )
        if self.candidates is not None and self.proximity not in ("near", "far"):
            raise InputError(
                f"n_candidates: proximity={self.proximity} draws from no list of candidates; leave "
                "it out, or choose proximity near or far",
                code="unused-setting",
            )

    def make(
        self, pool: Pool, source: Vector, gender: str, secret: Secret, names: tuple[str, ...]
    ) -> PseudoSpeaker:
        """Make a pseudo-speaker; all draws follow from the secret and the ids.

        Parameters
        ----------
        pool : Pool
            The available voices.
        source : ndarray of float32, shape (d,)
            Vector of the speaker.
        gender : {"f", "m"}
            Gender of the speaker.
        secret : Secret
            The key of the draws.
        names : tuple of str
            Names that key the draws, from
            :meth:`~sottovoce.anonymise.voice.draw_scope.DrawScope.names`.

        Returns
        -------
        PseudoSpeaker
            The averaged voice.

        Raises
        ------
        TooFewError
            If more voices are to be averaged than there are candidates or voices of a cluster.
        """
        target_gender = self._gender(gender, secret.generator("pseudo-speaker", "gender", *names))
        rng = secret.generator("pseudo-speaker", *names)
        allowed = np.flatnonzero(pool.gender == target_gender)
        affinity = pool.affinity(source, self.distance)
        if self.proximity in ("dense", "sparse"):
            members = self._from_cluster(pool, allowed, affinity, rng)
        else:
            members = self._from_ranking(pool, allowed, affinity, rng)
        return PseudoSpeaker(
            average_voice(pool, members), members, target_gender, pool.pitch[members].mean(0)
        )

    def _gender(self, source: str, rng: np.random.Generator) -> str:
        if self.gender == "random":
            return str(rng.choice(("f", "m")))
        opposite = {"f": "m", "m": "f"}[source]
        return source if self.gender == "same" else opposite

    def _from_ranking(
        self, pool: Pool, allowed: IntArray, affinity: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        averaged = self.averaged or max(MINIMUM_AVERAGED, round(AVERAGED * len(pool)))
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

    def _from_cluster(
        self, pool: Pool, allowed: IntArray, affinity: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        """Draw half of one of the largest or smallest clusters, never the one nearest the source.

        Only voices of the target gender count, for the size of a cluster and for its mean. A
        cluster that leaves no choice of voices is no candidate.
        """
        smallest = (self.averaged or MINIMUM_AVERAGED) + 1
        clusters = ranked_clusters(
            pool, allowed, self.distance, largest=self.proximity == "dense", smallest=smallest
        )
        if not clusters:
            raise TooFewError(
                f"pool: no cluster has {smallest} voices of the gender of the pseudo-speaker: use "
                "proximity=random, lower n_averaged or take a larger pool"
            )
        if len(clusters) > 1:
            nearest = max(range(len(clusters)), key=lambda i: affinity[clusters[i]].mean())
            del clusters[nearest]
        eligible = clusters[: max(1, round(CLUSTER_SHARE * len(clusters)))]
        cluster = eligible[rng.integers(len(eligible))]
        count = self.averaged or max(MINIMUM_AVERAGED, int(MEMBER_SHARE * len(cluster)))
        return np.sort(rng.choice(cluster, count, replace=False))


def ranked_clusters(
    pool: Pool, allowed: IntArray, distance: str, *, largest: bool, smallest: int
) -> list[IntArray]:
    """Return the clusters of the allowed voices in order of size.

    Parameters
    ----------
    pool : Pool
        The voices.
    allowed : ndarray of int64
        Rows of the pool.
    distance : {"plda", "cosine"}
        The distance by which the pool was clustered.
    largest : bool
        Whether the largest cluster comes first, instead of the smallest.
    smallest : int
        Clusters with fewer allowed voices are left out.

    Returns
    -------
    list of ndarray of int64
        Rows of each cluster.
    """
    exemplars = pool.exemplars_by(distance)[allowed]
    clusters = [allowed[exemplars == exemplar] for exemplar in np.unique(exemplars)]
    usable = [cluster for cluster in clusters if len(cluster) >= smallest]
    return sorted(usable, key=len, reverse=largest)


def average_voice(pool: Pool, members: IntArray) -> Vector:
    """Average voices, and move the mean to the typical distance from the centre of the pool.

    A mean of many voices is near the centre, where all pseudo-speakers would sound alike.

    Parameters
    ----------
    pool : Pool
        The voices.
    members : ndarray of int64
        Rows that are averaged.

    Returns
    -------
    ndarray of float32, shape (d,)
        The speaker vector of the average.
    """
    offset = pool.vectors[members].mean(0, dtype=np.float64) - pool.centre
    length = float(np.linalg.norm(offset))
    if length > 0:
        offset *= pool.norm / length
    return np.asarray(pool.centre + offset, np.float32)
