"""The adversary: what it knows, what it trains, how it links, and how good it is."""

from sottovoce.attack.attributes import infer_attribute
from sottovoce.attack.embedding_sets import EmbeddingSets
from sottovoce.attack.knowledge import ATTACKERS, Attacker
from sottovoce.attack.linking import Attack, Baseline, attack, attack_originals
from sottovoce.attack.score import Cohort, ScoreTable, score_all
from sottovoce.attack.training import LinkageTrainer, TrainedLinkage
from sottovoce.attack.trust import judge
from sottovoce.findings import AttackSettings, Trust, TrustEvidence

__all__ = [
    "ATTACKERS",
    "Attack",
    "AttackSettings",
    "Attacker",
    "Baseline",
    "Cohort",
    "EmbeddingSets",
    "LinkageTrainer",
    "ScoreTable",
    "TrainedLinkage",
    "Trust",
    "TrustEvidence",
    "attack",
    "attack_originals",
    "infer_attribute",
    "judge",
    "score_all",
]
