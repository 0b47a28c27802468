"""What a study says nothing about, for whoever reads its verdicts."""

from __future__ import annotations

from sottovoce.attack import ATTACKERS
from sottovoce.audit.study import Study

ALWAYS = (
    "Attackers with better means to compare voices, more training data or more time than those of "
    "this study.",
    "Recordings of another kind than this corpus: other rooms, devices, languages or people.",
)
DRAWS = "An attacker who also knows the random choices made for the release; keep them secret."


def _words(study: Study) -> str:
    """What of the words was not attacked."""
    if study.text is None and study.slice is None:
        return "What the words themselves reveal; only the voice was attacked."
    tried = []
    if study.text is not None:
        tried.append("traits")
    if study.slice is not None:
        tried.append("which slices follow each other")
    return f"What the words themselves reveal besides {' and '.join(tried)}, such as names."


def not_tested(study: Study) -> tuple[str, ...]:
    """Return what the attacks of a study do not show, one sentence each.

    Parameters
    ----------
    study : Study
        Its attackers and attributes were tried.
    """
    tried = f" than {', '.join(study.attributes)}" if study.attributes else ""
    further = f"What else a voice tells{tried}, such as health, origin, age or mood."
    knows_draws = any(ATTACKERS[entry.name].knows_draws for entry in study.attackers)
    return (*ALWAYS, _words(study), further, *(() if knows_draws else (DRAWS,)))
