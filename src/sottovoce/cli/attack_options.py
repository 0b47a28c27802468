"""Options of ``sottovoce attack`` that depend on others: refused where they would be ignored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sottovoce.cli.options import given_options, refuse_ignored

if TYPE_CHECKING:
    from sottovoce.attack import Attacker
    from sottovoce.attack.knowledge import Form, Part
    from sottovoce.attack.slicing import Slicing

PREPARED: tuple[tuple[Form, Part], ...] = (
    ("attacker", "enrol"),
    ("attacker", "train"),
    ("similar", "enrol"),
    ("similar", "train"),
)
"""Speech that may have been made elsewhere; its options are ``--FORM-PART CORPUS``."""
_VOICE_OPTIONS = (
    *("names", "train", "trials", "anonymiser", "settings", "similar"),
    *(f"{form}_{part}" for form, part in PREPARED),
    *("linkage", "over", "norm", "slice_seconds", "cut", "map_path", "encoder", "draws"),
    *("engine", "worker_memory", "scratch"),
)
"""Parameters that attacks on transcripts do not have."""


def refuse_unused(
    sources: Sequence[str],
    attackers: Sequence[Attacker],
    strategies: Sequence[str],
    slicing: Slicing | None,
) -> None:
    """Refuse options that the other options leave without an effect.

    Parameters
    ----------
    sources : sequence of str
        Values of ``--from``.
    attackers : sequence of Attacker
        Those that ``--attacker`` names.
    strategies : sequence of str
        Values of ``--strategy``.
    slicing : Slicing or None
        What ``--slice``, ``--cut`` and ``--lang`` say.

    Raises
    ------
    UsageError
        ``missing-option`` for the first such option.
    """
    if "text" not in sources:
        refuse_ignored(("strategies", "paraphraser"), "--from text")
    if "voice" not in sources:
        refuse_ignored(_VOICE_OPTIONS, "--from voice")
    if slicing is None:
        refuse_ignored(("cut",), "--slice SECONDS")
    if not strategies and (slicing is None or slicing.cut != "words"):
        refuse_ignored(("lang",), "--strategy or --cut words")
    if not any(attacker.anonymises for attacker in attackers):
        from sottovoce.attack import ATTACKERS

        able = [name for name in ATTACKERS if ATTACKERS[name].anonymises]
        refuse_ignored(("draws",), f"--attacker {' or '.join(able)}")
    needs = {need for attacker in attackers for need in attacker.needs}
    _refuse_unneeded("similar", {("enrol", "similar"), ("train", "similar")}, needs)
    for form, part in PREPARED:
        _refuse_unneeded(f"{form}_{part}", {(part, form)}, needs)


def _refuse_unneeded(
    name: str, given: set[tuple[Part, Form]], needs: set[tuple[Part, Form]]
) -> None:
    """Refuse an option that gives speech which no attacker needs."""
    if given & needs or not given_options([name]):
        return
    from sottovoce.attack import ATTACKERS

    able = [attacker for attacker in ATTACKERS if given & set(ATTACKERS[attacker].needs)]
    refuse_ignored((name,), f"--attacker {' or '.join(able)}")
