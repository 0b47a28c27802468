"""What an attack leaves in its folder, so that others link with the very same attacker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.attack.embedding_sets import Material
from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import check_exists, read_json
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import LINKAGES, LinkageFunction, make_linkage
from sottovoce.speaker.readers import read_embeddings

RECORD = "attack.json"
VOICES = ("enrol", "trial", "train")
_OVER = {"mean": "the mean score over recordings", "max": "the largest score over recordings"}


@dataclass(frozen=True, slots=True, eq=False)
class AttackFolder:
    """The embeddings of an attack and its linkage function, trained again as it was."""

    enrol: Embeddings
    trial: Embeddings
    linkage: LinkageFunction
    settings: dict[str, float]
    """Of the linkage function."""
    notes: tuple[str, ...]
    """How the attack's own scores differ from those of ``linkage``, if they do."""
    files: tuple[Path, ...]
    """What was read."""


def write_voices(folder: Path, material: Material, attacker: Attacker) -> None:
    """The embeddings behind an attack's scores and those it trained on."""
    for name, what in voices_of(attacker).items():
        material[what].write(folder / f"{name}.npz")


def voices_of(attacker: Attacker) -> dict[str, tuple[Part, Form]]:
    """The same by the name of their files."""
    return {
        "enrol": ("enrol", attacker.enrolment),
        "trial": ("trial", "theirs"),
        "train": ("train", attacker.training),
    }


def read_attack(folder: Path) -> AttackFolder:
    """Read what an attack left; its linkage function learns again from the same voices."""
    path = folder / RECORD
    record = _read_record(path)
    files = tuple(folder / f"{part}.npz" for part in VOICES)
    for file in files:
        if not file.is_file():
            raise InputError(f"{file}: no such file; run sottovoce attack again, which writes it")
    enrol, trial, train = (read_embeddings(file) for file in files)
    try:
        trained, manner = record["trained"], record["manner"]
        name, settings = trained["name"], dict(trained["settings"])
        over, norm = str(manner["over"]), str(manner["norm"])
        counts = record["enrolled_speakers"], record["trials"], trained["vectors"]
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: not the record of an attack; run the attack again") from None
    if counts != (len(enrol.names), len(trial), len(train)):
        raise InputError(
            f"{path}: tells of {counts[0]} speakers, {counts[1]} trials and {counts[2]} training "
            f"vectors, {', '.join(file.name for file in files)} hold {len(enrol.names)}, "
            f"{len(trial)} and {len(train)}; run the attack again"
        )
    _check_settings(name, settings, path)
    linkage = make_linkage(name, train, like=enrol, **settings)
    notes = _differences(over, norm)
    return AttackFolder(enrol, trial, linkage, settings, notes, (*files, path))


def _read_record(path: Path) -> dict[str, Any]:
    folder = path.parent
    check_exists(folder)
    if not path.is_file():
        attackers = sorted(one.parent.name for one in folder.glob(f"*/{RECORD}"))
        hint = "name the folder of one attacker, OUT/ATTACKER of sottovoce attack"
        if attackers:
            hint = f"name the folder of one attacker in it: {first_few(attackers, len(attackers))}"
        raise InputError(f"{folder}: no {RECORD}; {hint}")
    check_exists(path)
    return read_json(path, "run the attack again")


def _check_settings(name: Any, settings: dict[str, Any], path: Path) -> None:
    """Refuse what no attack would have chosen: a name or settings nobody can train with."""
    known = (
        [set(one) for one in LINKAGES[name].candidate_settings] if name in list(LINKAGES) else []
    )
    numbers = all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in settings.values()
    )
    if set(settings) not in known or not numbers:
        raise InputError(f"{path}: no linkage function {name!r} with such settings; attack again")


def _differences(over: str, norm: str) -> tuple[str, ...]:
    notes = []
    if over != "model":
        notes.append(
            f"the attack took {_OVER.get(over, over)} of a speaker; here a speaker is the mean "
            "vector, so scores differ from the attack's"
        )
    if norm != "none":
        notes.append(
            f"the attack normalised its scores ({norm}), which is not done here, so scores differ "
            "from the attack's"
        )
    return tuple(notes)
