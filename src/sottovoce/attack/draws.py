"""Speech that an attacker anonymised several times, with draws of its own each time.

An attacker that has the anonymiser can use it as often as it likes. Trained on one pseudo-voice per
speaker, it learns pseudo-voices; trained on several, it learns what the pseudo-voices leave of the
speaker. The first draw is made as the operator makes it, further draws for each utterance anew
where the anonymiser has that choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, attackers_secret
from sottovoce.core.errors import InputError
from sottovoce.core.types import Names
from sottovoce.speaker.embeddings import Embeddings


def anonymise_draws(
    speech: SpeechSet,
    spec: AnonymiserSpec,
    draws: int,
    cache: SpeechCache,
    *,
    seed: int,
    label: str,
) -> tuple[SpeechSet, ...]:
    """Anonymise speech several times, each time with another secret of the attacker.

    Parameters
    ----------
    speech : SpeechSet
        Original recordings.
    spec : AnonymiserSpec
        The anonymiser as the operator uses it.
    draws : int
        How many times, at least 1.
    cache : SpeechCache
        Makes what is not there yet.
    seed : int
        Of the attacker's secrets.
    label : str
        What is anonymised, for the progress.
    """
    anonymised = []
    for draw, drawn in enumerate(drawn_specs(spec, draws), start=1):
        name = label if draw == 1 else f"{label}, draw {draw}"
        anonymised.append(cache.anonymise(speech, drawn, attackers_secret(seed, draw), name))
    return tuple(anonymised)


def drawn_specs(spec: AnonymiserSpec, draws: int) -> list[AnonymiserSpec]:
    """Return the anonymiser of each draw: the first as the operator's, then for each utterance.

    Parameters
    ----------
    spec : AnonymiserSpec
        The anonymiser as the operator uses it.
    draws : int
        How many, at least 1.
    """
    return [spec, *[spec.per_utterance()] * (draws - 1)]


def join_draws(sets: Sequence[Embeddings]) -> Embeddings:
    """Join the embeddings of the same recordings under several draws.

    Parameters
    ----------
    sets : sequence of Embeddings
        One per draw, the first as the operator draws, with ids of the recordings. A draw that
        changes nothing, because the anonymiser draws nothing, is left out.

    Returns
    -------
    Embeddings
        The first set itself where no other is left.
    """
    first = sets[0]
    kept = [first, *(s for s in sets[1:] if not np.array_equal(s.vectors, first.vectors))]
    if len(kept) == 1:
        return first
    numbers = np.repeat(np.arange(1, len(kept) + 1), [len(embeddings) for embeddings in kept])
    speakers = [embeddings.names[embeddings.speakers] for embeddings in kept]
    return Embeddings.of(
        np.concatenate([embeddings.vectors for embeddings in kept]),
        np.concatenate(speakers),
        utterances=np.concatenate([_ids(embeddings) for embeddings in kept]),
        gender=_joined([embeddings.gender for embeddings in kept]),
        draws=numbers,
        blocks=first.blocks,
        name=first.name,
        origin=first.origin,
    )


def _ids(embeddings: Embeddings) -> Names:
    if embeddings.utterances is None:
        raise InputError(
            f"{embeddings.origin}: no utterance ids, which several draws need; embed it again",
            code="missing-ids",
        )
    return embeddings.utterances


def _joined(columns: Sequence[Names | None]) -> Names | None:
    present = [column for column in columns if column is not None]
    return np.concatenate(present) if len(present) == len(columns) else None


def first_draws(embeddings: Embeddings, count: int) -> Embeddings:
    """Return the vectors of the first draws.

    Parameters
    ----------
    embeddings : Embeddings
        Vectors of one or several draws.
    count : int
        Number of draws, at least 1.
    """
    if embeddings.draws is None or count >= embeddings.draws.max():
        return embeddings
    chosen = embeddings.rows(embeddings.draws <= count)
    return replace(chosen, draws=None) if count == 1 else chosen


def number_of_draws(embeddings: Embeddings) -> int:
    """Return how many times the recordings were anonymised.

    Parameters
    ----------
    embeddings : Embeddings
        Vectors of one or several draws.
    """
    return 1 if embeddings.draws is None else int(embeddings.draws.max())
