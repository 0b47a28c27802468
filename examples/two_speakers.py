"""How an anonymiser can fool a threshold: Maouche et al. 2020, Figure 3.

Each utterance of speaker A is moved to a left or a right pseudo-voice at random, every utterance
of speaker B to one in the middle. Distances between utterances then come in three clean groups:
small (one voice) and large (left to right) ones are mated, those in between are non-mated. Anyone
who looks at the distribution links nearly every pair; no threshold does.

The paper gives D_sys 0.99 and Cllr_min 0.81 but neither the numbers of utterances nor the linkage
function. Cllr_min 0.81 means that two thirds of the mated scores lie below the non-mated ones,
which is so for distances with 100 utterances of A and 71 of B, the numbers used here.

    uv run python examples/two_speakers.py
"""

from __future__ import annotations

import numpy as np

from sottovoce.measure import Scores, linkability, min_cllr


def distances(a: int = 100, b: int = 71, seed: int = 0) -> Scores:
    """Distances between all pairs of utterances of the two speakers."""
    rng = np.random.default_rng(seed)
    voices = np.concatenate((rng.choice([-1.0, 1.0], a), np.zeros(b)))
    vectors = np.stack((voices, np.zeros(a + b)), axis=1) + rng.normal(0, 0.12, (a + b, 2))
    speaker = np.arange(a + b) < a
    first, second = np.triu_indices(a + b, k=1)
    apart = np.linalg.norm(vectors[first] - vectors[second], axis=1)
    same = speaker[first] == speaker[second]
    return Scores(apart[same], apart[~same], name="two speakers, three voices")


if __name__ == "__main__":
    scores = distances()
    print(f"D_sys {linkability(scores).d_sys:.2f}, Cllr_min {min_cllr(scores):.2f}")
