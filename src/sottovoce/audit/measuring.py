"""The attack of one row and what is measured of it, from files that stay in the audit's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.attack import Manner, Material, attack
from sottovoce.attack.folder import RECORD, voices_of
from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.audit.config import Study
from sottovoce.audit.steps import Recipe
from sottovoce.core.errors import SottovoceError
from sottovoce.core.files import read_json, write_text
from sottovoce.corpus.utterance import Corpus
from sottovoce.measure import measure_scores
from sottovoce.measure.readers import read_scores
from sottovoce.measure.reidentification import reidentify
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.measure.similarity import similarity
from sottovoce.speaker.linkage import make_linkage
from sottovoce.speaker.readers import read_embeddings


def attack_once(
    material: Material, attacker: Attacker, manner: Manner, folder: Path
) -> dict[str, Any]:
    """The attack's record; scores and embeddings beside it. The record is written last."""
    path = folder / RECORD
    if not path.is_file():
        found = attack(material, attacker, manner)
        found.table.write(folder / "scores.parquet")
        found.originals.write(folder / "originals.parquet")
        for name, what in stored_files(attacker).items():
            material[what].write(folder / f"{name}.npz")
        write_text(path, json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n")
    return read_json(path, "remove it and run the audit again")


def stored_files(attacker: Attacker) -> dict[str, tuple[Part, Form]]:
    """The embeddings an attack leaves, by the name of the file."""
    return {
        **voices_of(attacker),
        "originals-enrol": ("enrol", "original"),
        "originals-trial": ("trial", "original"),
        "originals-train": ("train", "original"),
    }


def measured(
    folder: Path, study: Study, record: dict[str, Any], *, originals: bool
) -> dict[str, Any]:
    """Score measures and re-identification of an attack, from the files it left."""
    scores = read_scores(folder / ("originals.parquet" if originals else "scores.parquet"))
    found = measure_scores(scores, interval=study.interval, seed=study.seed).to_dict()
    prefix = "originals-" if originals else ""
    enrol, trial, train = (
        read_embeddings(folder / f"{prefix}{name}.npz") for name in ("enrol", "trial", "train")
    )
    trained = record["trained_on_originals" if originals else "trained"]
    linkage = make_linkage(trained["name"], train, like=enrol, **trained["settings"])
    settings = ReidentificationSettings(
        lengths=_possible(study.lengths, trial.counts),
        populations=_sizes(study.populations, len(enrol.names)),
        confidence=study.interval,
        seed=study.seed,
    )
    found["reidentification"] = reidentify(enrol, trial, linkage, settings=settings).to_dict()
    return found


def _possible(lengths: list[int], counts: Any) -> tuple[int, ...]:
    """Lengths that some speaker has utterances for; at least the shortest."""
    most = int(np.max(counts))
    return tuple(one for one in lengths if one <= most) or (min(lengths),)


def _sizes(populations: list[int] | None, everybody: int) -> tuple[int, ...] | None:
    if populations is None:
        return None
    return tuple(sorted({min(one, everybody) for one in populations}))


def crowds(study: Study, everybody: int) -> list[int]:
    """Sizes of the crowds that figures are measured for, of so many enrolled speakers."""
    return ReidentificationSettings(populations=_sizes(study.populations, everybody)).sizes(
        everybody
    )


def row_of(
    recipe: Recipe,
    attacker: Attacker,
    linkage: str,
    folder: Path,
    record: dict[str, Any],
    found: dict[str, Any],
) -> dict[str, Any]:
    """Who attacked what, how good the attacker was, and what was measured."""
    return {
        "anonymiser": recipe.label,
        "method": recipe.method,
        "settings": dict(recipe.settings),
        "attacker": attacker.name,
        "attacker_summary": attacker.summary,
        "linkage": linkage,
        "linked_with": record["trained"]["name"],
        "trained": record["trained"],
        "trust": record["trust"],
        "folder": str(folder),
        "scores": str(folder / "scores.parquet"),
        **found,
    }


def originals_of(found: dict[str, Any], folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """What the same attacker does to speech that nobody anonymised."""
    return {
        **found,
        "scores": str(folder / "originals.parquet"),
        "linkage": record["manner"]["linkage"],
        "linked_with": record["trained_on_originals"]["name"],
    }


def similarity_of(material: Material, confidence: float) -> dict[str, Any]:
    """DeID and G_VD of the trials, or why there is none."""
    try:
        found = similarity(
            material["trial", "original"],
            material["trial", "theirs"],
            interval=confidence,
        )
    except SottovoceError as error:
        return {"note": str(error)}
    return found.to_dict() | {"name": "trials"}


def groups_of(found: dict[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Mean risk of the speakers of each gender, at the shortest conversation."""
    gender = {one.speaker: one.gender for one in corpus if one.gender}
    shortest = min((one["length"] for one in found["speakers"]), default=1)
    shares: dict[str, list[float]] = {}
    for one in found["speakers"]:
        if one["length"] == shortest and one["speaker"] in gender:
            shares.setdefault(gender[one["speaker"]], []).append(one["linkability"])
    return {
        "gender": {
            name: {"speakers": len(own), "linkability": float(np.mean(own))}
            for name, own in sorted(shares.items())
        }
    }
