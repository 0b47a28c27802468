"""The adversary: what it knows, what it trains, how it links, and whether it is any good."""

from sottovoce.attack.attributes import Inference, infer
from sottovoce.attack.embedding_sets import Material
from sottovoce.attack.knowledge import ATTACKERS, Attacker
from sottovoce.attack.linking import Attack, Manner, attack
from sottovoce.attack.score import Cohort, ScoreTable, score_all
from sottovoce.attack.trust import Evidence, Trust, judge

__all__ = [
    "ATTACKERS",
    "Attack",
    "Attacker",
    "Cohort",
    "Evidence",
    "Inference",
    "Manner",
    "Material",
    "ScoreTable",
    "Trust",
    "attack",
    "infer",
    "judge",
    "score_all",
]
