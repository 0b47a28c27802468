"""The risk of each speaker: how often they are linked, and the crowd in which they vanish."""

from __future__ import annotations

import numpy as np

from sottovoce.findings import SpeakerRisk
from sottovoce.measure.identification import mean_by_speaker, top_k
from sottovoce.measure.population import Standing
from sottovoce.measure.population_sizes import all_populations
from sottovoce.speaker import Embeddings


def speaker_risks(standing: Standing, enrol: Embeddings, length: int) -> list[SpeakerRisk]:
    """Compute each speaker's risk, the most exposed first.

    Parameters
    ----------
    standing : Standing
        How the true speaker of each conversation ranks.
    enrol : Embeddings
        The enrolled speakers, whose names are given.
    length : int
        Utterances of a conversation.
    """
    sizes = np.array(all_populations(standing.models))
    # a crowd is drawn at random, whoever else is part of every population of the study
    standing = standing.without_core()
    linked = mean_by_speaker(top_k(standing, sizes.tolist()), standing.speakers)
    hidden = linked < 0.5
    vanishing = np.where(hidden.any(axis=1), sizes[np.argmax(hidden, axis=1)], 0)
    speakers, trials = np.unique(standing.speakers, return_counts=True)
    names = enrol.names[speakers]
    order = np.lexsort((np.where(vanishing, -vanishing, -np.inf), -linked[:, -1]))
    return [
        SpeakerRisk(
            str(names[i]), length, int(trials[i]), float(linked[i, -1]), int(vanishing[i]) or None
        )
        for i in order
    ]
