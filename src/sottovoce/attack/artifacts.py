"""The folder of an attack: the only place that writes and reads its files.

An attack leaves ``scores.parquet`` and ``attack.json``, and the attack on originals
``scores.parquet`` and ``originals.json``. The records refer to embedding sets by digest; these lie
in ``embeddings/`` beside the folders of attacks, each once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.attack.embedding_sets import EmbeddingSets
from sottovoce.attack.embedding_store import EmbeddingStore
from sottovoce.attack.knowledge import Part
from sottovoce.attack.linking import Attack, Baseline
from sottovoce.attack.training import LinkageTrainer
from sottovoce.attack.trial_pairs import describe_trials
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import check_exists, read_json
from sottovoce.core.records import from_json, read_json_record, write_json
from sottovoce.findings import AttackRecord, AttackReport, AttackSettings, OriginalsRecord
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import LINKAGES
from sottovoce.speaker.linkage_functions import LinkageFunction

RECORD = "attack.json"
ORIGINALS_RECORD = "originals.json"
SCORES = "scores.parquet"
PARTS: tuple[Part, ...] = ("enrol", "trial", "train")

Role = str
"""``enrol``, ``trial`` or ``train``; of originals, with the prefix ``originals-``, and of other
representations than the chosen one with their name."""

_ADVICE = "run the attack again"
_OVER = {
    "mean": "the mean score over recordings",
    "max": "the largest score over recordings",
    "utterance": "each recording for itself instead",
}


def stored_embeddings(attack: Attack, sets: EmbeddingSets) -> dict[Role, Embeddings]:
    """Return which embedding set has which role in an attack.

    Parameters
    ----------
    attack : Attack
        The attack.
    sets : EmbeddingSets
        What it used, with the encoder as it is.

    Returns
    -------
    dict of str to Embeddings
        ``enrol``, ``trial`` and ``train`` of the representation that was chosen; of the others, the
        encoder as it is always among them, with their name in front, such as ``frozen-train``; and
        originals.
    """
    roles = {f"originals-{part}": sets[part, "original"] for part in PARTS}
    frozen = sets.linked_by(attack.attacker, attack.settings.draws)
    for linked in (frozen, *attack.candidates.speech):
        chosen = linked.representation.name == attack.linked.representation.name
        prefix = "" if chosen else f"{linked.representation.name}-"
        by_part = (linked.enrol, linked.trial, linked.train)
        roles |= {f"{prefix}{part}": e for part, e in zip(PARTS, by_part, strict=True)}
    return roles


def attack_record(attack: Attack, sets: EmbeddingSets) -> AttackRecord:
    """Return the record of an attack.

    Parameters
    ----------
    attack : Attack
        The attack.
    sets : EmbeddingSets
        What it used, with the encoder as it is.
    """
    linked = attack.linked
    return AttackRecord(
        attacker=attack.attacker.describe(),
        settings=attack.settings,
        enrolled_speakers=len(np.unique(attack.table.enrolled)),
        trials=len(attack.table.trials),
        trained=attack.trained.record,
        trained_on_originals=attack.baseline.trained.record,
        eer=attack.trust.evidence.attack,
        eer_on_originals=attack.trust.evidence.originals,
        trust=attack.trust,
        embeddings={
            role: embeddings.digest()
            for role, embeddings in stored_embeddings(attack, sets).items()
        },
        representation=linked.representation.name,
        draws=linked.draws,
        representations=tuple(other.representation for other in attack.candidates.speech),
        techniques=attack.techniques,
        unavailable=attack.candidates.unavailable,
        evidence=attack.evidence,
        trial_list=None if sets.trials is None else describe_trials(sets.trials),
    )


def originals_record(
    baseline: Baseline, settings: AttackSettings, sets: EmbeddingSets
) -> OriginalsRecord:
    """Return the record of an attack on originals.

    Parameters
    ----------
    baseline : Baseline
        The attack on originals.
    settings : AttackSettings
        How it linked.
    sets : EmbeddingSets
        What it used.
    """
    return OriginalsRecord(
        settings=settings,
        enrolled_speakers=len(np.unique(baseline.table.enrolled)),
        trials=len(baseline.table.trials),
        trained=baseline.trained.record,
        eer=baseline.eer,
        embeddings={part: sets[part, "original"].digest() for part in PARTS},
        trial_list=None if sets.trials is None else describe_trials(sets.trials),
    )


def write_attack(
    folder: Path, attack: Attack, record: AttackRecord, sets: EmbeddingSets, store: EmbeddingStore
) -> None:
    """Write the files of an attack; the record last, so that it says that the rest is there.

    Parameters
    ----------
    folder : Path
        Of the attack.
    attack : Attack
        Its scores are written.
    record : AttackRecord
        As :func:`attack_record` returns, or an :class:`~sottovoce.findings.AttackReport`.
    sets : EmbeddingSets
        What it used; sets that the store does not have are added.
    store : EmbeddingStore
        Where embeddings are.
    """
    attack.table.write(folder / SCORES)
    for embeddings in stored_embeddings(attack, sets).values():
        store.add(embeddings)
    write_json(folder / RECORD, record)


def write_originals(
    folder: Path,
    baseline: Baseline,
    record: OriginalsRecord,
    sets: EmbeddingSets,
    store: EmbeddingStore,
) -> None:
    """Write the files of an attack on originals; the record last.

    Parameters
    ----------
    folder : Path
        Of the attack on originals.
    baseline : Baseline
        Its scores are written.
    record : OriginalsRecord
        As :func:`originals_record` returns.
    sets : EmbeddingSets
        What it used; sets that the store does not have are added.
    store : EmbeddingStore
        Where embeddings are.
    """
    baseline.table.write(folder / SCORES)
    for part in PARTS:
        store.add(sets[part, "original"])
    write_json(folder / ORIGINALS_RECORD, record)


def read_record(folder: Path) -> AttackRecord:
    """Read the record of an attack.

    Parameters
    ----------
    folder : Path
        Of the attack.

    Returns
    -------
    AttackRecord
        An :class:`~sottovoce.findings.AttackReport` where ``sottovoce attack`` wrote it.

    Raises
    ------
    InputError
        ``not-found``, ``not-json`` or ``wrong-shape``.
    """
    path = folder / RECORD
    content = read_json(path, _ADVICE)
    kind = AttackReport if "corpora" in content else AttackRecord
    return from_json(kind, content, source=str(path))


def read_originals_record(folder: Path) -> OriginalsRecord:
    """Read the record of an attack on originals.

    Parameters
    ----------
    folder : Path
        Of the attack on originals.
    """
    return read_json_record(OriginalsRecord, folder / ORIGINALS_RECORD, advice=_ADVICE)


@dataclass(frozen=True, slots=True, eq=False)
class StoredAttack:
    """An attack as read from its folder, with its linkage function trained again as it was."""

    record: AttackRecord
    enrol: Embeddings
    trial: Embeddings
    linkage: LinkageFunction
    notes: tuple[str, ...]
    """How the attack's scores differ from those of ``linkage``, if they do."""
    files: tuple[Path, ...]
    """What was read."""


def read_attack(
    folder: Path, *, store: EmbeddingStore | None = None, trainer: LinkageTrainer | None = None
) -> StoredAttack:
    """Read an attack, so that others can link with the very same attacker.

    Parameters
    ----------
    folder : Path
        Of the attack.
    store : EmbeddingStore, optional
        Where its embeddings are; default the one near ``folder``.
    trainer : LinkageTrainer, optional
        Owns the trained linkage functions; default a new one.

    Raises
    ------
    InputError
        ``not-found`` for a missing file, ``mismatch`` where the record does not agree with the
        embeddings, ``unknown-name`` for a linkage function or settings that cannot be trained, and
        those of :func:`read_record`.
    """
    _check_folder(folder)
    path = folder / RECORD
    record = read_record(folder)
    store = store or EmbeddingStore.near(folder)
    missing = {"enrol", "trial", "train"} - set(record.embeddings)
    if missing:
        raise InputError(
            f"{path}: embeddings: no {first_few(sorted(missing), len(missing))}; {_ADVICE}",
            code="wrong-shape",
        )
    digests = [record.embeddings[role] for role in ("enrol", "trial", "train")]
    enrol, trial, train = (store[digest] for digest in digests)
    _check_counts(record, path, enrol, trial, train)
    trained = record.trained
    _check_linkage(trained.name, set(trained.settings), path)
    linkage = (trainer or LinkageTrainer()).linkage(trained.name, trained.settings, train)
    files = (*(store.path(digest) for digest in digests), path)
    return StoredAttack(record, enrol, trial, linkage, _differences(record), files)


def _check_folder(folder: Path) -> None:
    check_exists(folder)
    if (folder / RECORD).is_file():
        check_exists(folder / RECORD)
        return
    attackers = sorted(path.parent.name for path in folder.glob(f"*/{RECORD}"))
    hint = "name the folder of one attacker, OUT/ATTACKER of sottovoce attack"
    if attackers:
        hint = f"name the folder of one attacker in it: {first_few(attackers, len(attackers))}"
    raise InputError(f"{folder}: no {RECORD}; {hint}", code="not-an-attack")


def _check_counts(
    record: AttackRecord, path: Path, enrol: Embeddings, trial: Embeddings, train: Embeddings
) -> None:
    recorded = record.enrolled_speakers, record.trials, record.trained.vectors
    stored = len(enrol.names), len(trial), len(train)
    if recorded != stored:
        raise InputError(
            f"{path}: {recorded[0]} speakers, {recorded[1]} trials and {recorded[2]} training "
            f"vectors, but the embeddings hold {stored[0]}, {stored[1]} and {stored[2]}; "
            f"{_ADVICE}",
            code="mismatch",
        )


def _check_linkage(name: str, settings: set[str], path: Path) -> None:
    """Refuse a name or settings that no attack chooses and nothing can be trained with."""
    choices = LINKAGES[name].candidate_settings if name in LINKAGES else ()
    if settings not in [set(choice) for choice in choices]:
        raise InputError(
            f"{path}: no linkage function {name!r} has the settings "
            f"{first_few(sorted(settings), len(settings)) or '(none)'}; {_ADVICE}",
            code="unknown-name",
        )


def _differences(record: AttackRecord) -> tuple[str, ...]:
    settings, notes = record.settings, []
    if record.trial_list is not None:
        notes.append(
            f"the attack compared the {record.trial_list.pairs:,} pairs of a list; here every "
            "trial is compared with every enrolled speaker"
        )
    if settings.over != "model":
        notes.append(
            f"the attack took {_OVER.get(settings.over, settings.over)} of a speaker; here a "
            "speaker is the mean vector, so scores differ from the attack's"
        )
    if settings.norm != "none":
        notes.append(
            f"the attack normalised its scores ({settings.norm}), which is not done here, so "
            "scores differ from the attack's"
        )
    return tuple(notes)
