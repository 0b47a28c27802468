"""What each kind of evidence links alone, so that a reader learns what leaked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sottovoce.attack.embedding_sets import LinkedSpeech
from sottovoce.attack.evidence import EVIDENCE
from sottovoce.attack.score import ScoreTable
from sottovoce.attack.techniques import Attempt, link
from sottovoce.core.errors import SottovoceError
from sottovoce.corpus.trials import TrialList
from sottovoce.findings import AttackSettings, EvidenceLink
from sottovoce.measure import eer, linkability
from sottovoce.measure.scores import Scores
from sottovoce.speaker.concatenation import select_block
from sottovoce.speaker.fused import Fused, FusedBlock


def evidence_links(
    attempts: Sequence[Attempt], settings: AttackSettings, trials: TrialList | None
) -> tuple[EvidenceLink, ...]:
    """Attack with each kind of evidence of the best fusion alone.

    Fusions with other evidence than the voice come first, so that it is told what else links even
    where the attack is made with the voice alone.

    Parameters
    ----------
    attempts : sequence of Attempt
        Everything that was tried; among several fusions, held-out training speakers choose.
    settings : AttackSettings
        How to link.
    trials : TrialList or None
        Pairs that are compared; None for every enrolled speaker with every trial.

    Returns
    -------
    tuple of EvidenceLink
        In the order of the blocks; empty where nothing was fused.
    """
    fusions = [attempt for attempt in attempts if attempt.linked.train.blocks]
    if not fusions:
        return ()
    best = min(fusions, key=lambda attempt: (attempt.linked.joint, attempt.trained.merit))
    fused = best.trained.linkage
    if not isinstance(fused, Fused):
        return ()
    total = sum(part.contribution for part in fused.blocks)
    return tuple(
        _link_alone(part, part.contribution / total, best, settings, trials)
        for part in fused.blocks
    )


def _link_alone(
    part: FusedBlock,
    share: float,
    attempt: Attempt,
    settings: AttackSettings,
    trials: TrialList | None,
) -> EvidenceLink:
    name = part.block.name
    linked: LinkedSpeech = attempt.linked
    enrol, trial, train = (
        select_block(embeddings, name) for embeddings in (linked.enrol, linked.trial, linked.train)
    )
    alone = replace(attempt.trained, linkage=part.linkage)
    table = link(enrol, trial, alone, train, settings, trials)
    kind = EVIDENCE.get(name)
    return EvidenceLink(
        name=name,
        phrase=kind.phrase if kind else f"the voice ({name})",
        caution=kind.caution if kind else "",
        dimension=part.block.dimension,
        linkage=part.linkage.name,
        share=share,
        held_out_eer=eer(Scores(part.mated, part.nonmated)),
        eer=eer(table.scores()),
        d_sys=_d_sys(table),
        top_1=top_1(table),
        chance=1 / len(np.unique(table.enrolled)),
    )


def _d_sys(table: ScoreTable) -> float | None:
    try:
        return linkability(table.scores()).d_sys
    except SottovoceError:  # too few scores
        return None


def top_1(table: ScoreTable) -> float:
    """Return the share of trials whose speaker has the highest score.

    Parameters
    ----------
    table : ScoreTable
        With one row per enrolled speaker or id. Of k equal highest scores, each counts as 1 / k;
        where a list of trials was given, only its pairs are compared.
    """
    values = table.values if table.listed is None else np.where(table.listed, table.values, -np.inf)
    highest = values == values.max(axis=0)
    right = highest & (table.enrolled[:, None] == table.speakers[None])
    return float((right.sum(axis=0) / highest.sum(axis=0)).mean())
