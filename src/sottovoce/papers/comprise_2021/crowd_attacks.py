"""Attacks on a large crowd, each made once for Figures 12 to 14."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sottovoce.attack import ATTACKERS, Attacker
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.findings import Reidentification
from sottovoce.measure import ReidentificationSettings, reidentify
from sottovoce.papers.data import PaperData
from sottovoce.papers.speech import ORIGINALS, SpeechStudy, open_study
from sottovoce.speaker.embeddings import Embeddings

ANONYMISERS = (AnonymiserSpec("xvector"), AnonymiserSpec("mcadams"))
"""The document's anonymiser, and a second that hides less."""
ATTACKER_NAMES = ("ignorant", "lazy-informed", "semi-informed")
"""In rising order of what they know."""
BASELINE = "baseline"
"""Name of the attack on originals."""
ATTACKS = {
    f"{spec.label}, {name}": (spec, ATTACKERS[name])
    for spec in ANONYMISERS
    for name in ATTACKER_NAMES
}
"""Attacks on anonymised speech by their names in the figures; each can be left out."""
TOP = 20
CORE, CORE_TRIALS = 20, 60
"""Test speakers of the document, and the fewest trials; with fewer there is no D_sys."""

Curves = Mapping[str, Reidentification]

_REIDENTIFIED = Step("reidentified", records_of(Reidentification))


def check_attacks(names: Sequence[str]) -> None:
    """Refuse names of attacks that cannot be left out.

    Parameters
    ----------
    names : sequence of str
        Attacks that the user wants to leave out.

    Raises
    ------
    UsageError
        ``conflict`` for the attack on originals, ``unknown-name`` for a name of no attack.
    """
    for name in names:
        if name == BASELINE:
            raise UsageError(
                f"--skip {name}: all attacks are compared with it; leave out another",
                code="conflict",
            )
        if name not in ATTACKS:
            raise UsageError(did_you_mean("attack", name, list(ATTACKS)), code="unknown-name")


def left_out(data: PaperData) -> list[str]:
    """List the attacks that the user leaves out.

    Parameters
    ----------
    data : PaperData
        With the names to skip.
    """
    return [name for name in data.skip if name in ATTACKS]


def crowd_curves(data: PaperData) -> tuple[SpeechStudy, Curves]:
    """Attack originals and two anonymisers in populations of every size.

    Parameters
    ----------
    data : PaperData
        The crowd is attacked, or the corpus where no crowd is named.
    """
    study = open_study(data, crowd=True)
    steps = StepCache(data.work / "steps")
    runs: dict[str, tuple[AnonymiserSpec | None, Attacker]] = {BASELINE: (None, ORIGINALS)}
    runs |= {name: run for name, run in ATTACKS.items() if name not in data.skip}
    curves = {}
    for name, (spec, attacker) in runs.items():
        key = [*study.key, name, data.seed, "crowd", CORE]
        curves[name] = steps.get(
            _REIDENTIFIED,
            key,
            lambda s=spec, a=attacker: _attack(study, s, a),  # type: ignore[misc]
        )
    return study, curves


def _attack(
    study: SpeechStudy, spec: AnonymiserSpec | None, attacker: Attacker
) -> Reidentification:
    sets = study.sets(spec, [attacker])
    trained = study.trained(sets, attacker, "best")
    enrol, trial = sets["enrol", attacker.enrolment], sets["trial", "released"]
    settings = ReidentificationSettings(
        lengths=(1,),
        populations=_sizes(len(enrol.names)),
        k=TOP,
        confidence=0.95,
        draws=1,  # Singling Out is not drawn here
        enrolled=1,
        seed=study.seed,
    )
    result = reidentify(enrol, trial, trained.linkage, settings=settings)
    core = core_of(trial)
    if len(core.names) < len(enrol.names):  # some test speakers, who are in every population
        known = replace(settings, core=True, confidence=None)
        result = replace(
            result, open_set=reidentify(enrol, core, trained.linkage, settings=known).open_set
        )
    return result


def core_of(trial: Embeddings) -> Embeddings:
    """Take the trials of so many speakers, evenly spread, that there are at least 60.

    Parameters
    ----------
    trial : Embeddings
        Trials of all speakers.
    """
    count = max(CORE, -(-CORE_TRIALS * len(trial.names) // len(trial)))
    places = np.arange(count) * len(trial.names) // count
    return trial.of_speakers(np.unique(places)) if count < len(trial.names) else trial


def _sizes(everybody: int) -> tuple[int, ...]:
    """Populations that double from 20, as in the document, and everybody."""
    sizes = [min(20, everybody)]
    while 2 * sizes[-1] < everybody:
        sizes.append(2 * sizes[-1])
    return (*sizes, everybody) if sizes[-1] < everybody else tuple(sizes)
