"""What an audit would do, and about how long it would take, before it does it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sottovoce.audit.config import Study
from sottovoce.audit.limits import Limit
from sottovoce.audit.measuring import crowds
from sottovoce.audit.scene import divide
from sottovoce.audit.steps import Speech
from sottovoce.audit.vetting import open_outside
from sottovoce.core.errors import SottovoceError
from sottovoce.corpus.audio import load_length
from sottovoce.corpus.utterance import Corpus

SPEED = {"mcadams": 70.0, "voicemask": 16.0, "vtln": 15.0, "xvector": 15.0, "dar": 14.0}
"""Seconds of speech anonymised in a second of one core, as measured; others may be slower."""
SLOWEST = 4.0
EMBEDDING = 45.0
RECOGNISING = 30.0
OTHER = 20.0
"""Seconds of one attack and its measures."""


def plan_lines(study: Study, folder: Path, *, cores: int = 2) -> Iterator[str]:
    """Steps in order, and an estimate."""
    corpus = open_outside(study.corpus, folder)
    others = None if study.train is None else Speech.of(open_outside(study.train, folder))
    parts = divide(Speech.of(corpus), others, seed=study.seed)
    enrol, trial, train = parts.enrol, parts.trial, parts.train
    whole = seconds_of(enrol.corpus) + seconds_of(trial.corpus)
    trained, enrolled = seconds_of(train.corpus), seconds_of(enrol.corpus)
    total = (whole + trained) / EMBEDDING
    yield (
        f"1. read {len(corpus):,} recordings of {len(corpus.speakers)} speakers; attack "
        f"{len(trial.corpus.speakers)}, train on {len(train.corpus.speakers)} others"
        + (f"; leave out {len(parts.left_out):,}" if parts.left_out else "")
    )
    for number, recipe in enumerate(study.recipes, 2):
        again = enrolled + trained if _own(study) else 0.0
        work = (whole + again) * (1 / SPEED.get(recipe.method, SLOWEST) + 1 / EMBEDDING)
        work += len(study.attackers) * len(study.linkage) * OTHER
        work += min(study.utility.utterances, len(trial.corpus)) * 4 / RECOGNISING
        total += work
        yield (
            f"{number}. {recipe.label}: anonymise {(whole + again) / 60:.0f} min of speech, "
            f"{len(study.attackers)} attackers × {len(study.linkage)} linkage functions"
        )
    yield from _unmeasured(study, len(enrol.corpus.speakers))
    yield f"About {max(1, round(total / cores / 60))} min on {cores} cores, if nothing is done yet."


def _unmeasured(study: Study, everybody: int) -> Iterator[str]:
    """Limits on crowds that this corpus does not have."""
    sizes = crowds(study, everybody)
    for limit in (Limit.of(*one) for one in study.limits.items()):
        asked = limit.where.get("population")
        if asked is not None and int(asked) not in sizes:
            listed = ", ".join(f"{size:,}" for size in sizes)
            yield (
                f"The limit {limit.text} will not hold: of {everybody:,} speakers no crowd of "
                f"{int(asked):,} is measured, only {listed}."
            )


def seconds_of(corpus: Corpus) -> float:
    """Length of all recordings, those that cannot be read left out."""
    total = 0.0
    for one in corpus:
        try:
            total += load_length(one).seconds
        except SottovoceError:
            continue
    return total


def _own(study: Study) -> bool:
    return any(name not in ("ignorant",) for name in study.attackers)
