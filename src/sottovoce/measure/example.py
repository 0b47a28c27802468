"""A score set for a first look: simulated, so nobody's voice is in it."""

from __future__ import annotations

import numpy as np

from sottovoce.measure.scores import Scores, Speakers


def example_scores(speakers: int = 40, utterances: int = 8) -> Scores:
    """Simulate log-likelihood ratios of a weak anonymiser, with speakers of varying risk.

    Every utterance is compared with an enrolment of each speaker. Some speakers are easier to
    recognise than others, so trials of one speaker rise and fall together.

    Parameters
    ----------
    speakers : int, default 40
        Enrolled speakers, who all speak in trials.
    utterances : int, default 8
        Trials a speaker.
    """
    rng = np.random.default_rng(20201025)
    ease = rng.normal(0.0, 0.8, speakers)
    enrol, trial = np.divmod(np.arange(speakers * speakers * utterances), speakers * utterances)
    trial //= utterances
    mated = enrol == trial
    spread = rng.normal(0.0, 1.7, len(enrol))
    scores = np.where(mated, 1.6 + ease[enrol], -1.6 - 0.4 * (ease[enrol] + ease[trial])) + spread
    who = Speakers(enrol[mated], enrol[~mated], trial[~mated], speakers)
    return Scores(scores[mated], scores[~mated], speakers=who, name="example (simulated)")
