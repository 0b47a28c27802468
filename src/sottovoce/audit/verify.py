"""Whether the figures of an audit follow from the embeddings it stored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from sottovoce.audit.attributes import attributes_of
from sottovoce.audit.comparing import AGAIN, compare, compare_tables, read_table
from sottovoce.audit.config import Study, complaint
from sottovoce.audit.limits import Limit
from sottovoce.audit.measuring import groups_of, similarity_of
from sottovoce.audit.replay import Repetition, steps_of
from sottovoce.audit.tidy import tidy
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.files import read_json
from sottovoce.core.types import StageProgress
from sottovoce.corpus.manifest import NAME, read_manifest
from sottovoce.corpus.utterance import Corpus

FINDINGS = "measures.json"
TABLE = "measures.parquet"
PROVENANCE = "provenance.json"
CHECKED = ("scores", "attacks", "trust", "measures", "similarity", "limits", "measures.parquet")
"""What follows from the stored embeddings."""
UNCHECKED = (
    "whether the embeddings are those of the recordings",
    "utility and examples",
    "what else is told of corpora, encoder and anonymisers",
    "report.html",
)
"""What cannot be told without the recordings."""
LABELLED = "attributes and groups"
"""What can be told if the manifest of the anonymised speech, with its labels, is there."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What differs, and what was not looked at."""

    differences: tuple[str, ...]
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return {name: list(getattr(self, name)) for name in self.__slots__}


def verify(folder: Path, *, progress: StageProgress | None = None) -> Verification:
    """Attack and measure again; what differs, by its file or its place in ``measures.json``."""
    findings = load(folder)
    study = _study(folder / FINDINGS, findings["study"])
    other = _other_study(findings, study)
    if other:
        return Verification(tuple(other), ("rows of the study",), (*CHECKED, LABELLED, *UNCHECKED))
    places = [Path(row["folder"]) for row in findings["rows"]]
    again = Repetition(folder, study, steps_of(study), places)
    rows, differences = [], list[str]()
    originals: dict[str, Any] = {}
    for number, stored in enumerate(findings["rows"]):
        if progress:
            progress("verifying", number, len(places))
        record = again.record(number)
        rows.append(again.row(number, record))
        originals = originals or again.originals(record)
        wanted = {name: stored[name] for name in stored if name not in ("groups", "attributes")}
        differences += compare(wanted, rows[-1], f"rows.{number}")
    wanted = {name: one for name, one in findings["originals"].items() if name != "utility"}
    differences += compare(wanted, originals, "originals")
    found, unlabelled = _of_speech(findings, again, rows)
    differences += found
    limits = [Limit.of(*one) for one in study.limits.items()]
    checked = [one for limit in limits for one in limit.check(rows)]
    differences += compare(findings["limits"], checked, "limits")
    differences += _told(findings, study, again)
    differences += _beside(folder, findings, {"rows": rows, "originals": originals})
    labelled = () if unlabelled else (LABELLED,)
    return Verification(
        tuple(dict.fromkeys([*again.differences, *differences])),
        (*CHECKED, *labelled),
        (*UNCHECKED, *((f"{LABELLED}: {unlabelled} is not there",) if unlabelled else ())),
    )


def _other_study(findings: dict[str, Any], study: Study) -> list[str]:
    """Rows and anonymisers that are not those of the study."""
    steps = [step.to_dict() for step in steps_of(study)]
    recipes = [
        {"anonymiser": one.label, "method": one.method, "settings": dict(one.settings)}
        for one in study.recipes
    ]
    lines = []
    for part, wanted in (("rows", steps), ("anonymisers", recipes)):
        stored = [{name: one[name] for name in wanted[0]} for one in findings[part]]
        lines += compare(stored, wanted, part)
    owners: dict[str, Any] = {}
    for number, (row, step) in enumerate(zip(findings["rows"], steps, strict=False)):
        if owners.setdefault(row["folder"], step) != step:
            lines.append(f"rows.{number}.folder: {row['folder']} is that of another row")
    return lines


def _told(findings: dict[str, Any], study: Study, again: Repetition) -> list[str]:
    """What differs in what is told of the study, and of the speech as far as it was embedded."""
    lines = compare(findings.get("name"), study.name, "name")
    lines += compare(findings["confidence"], study.interval, "confidence")
    material = again.material(0)
    enrol, trial, train = (material[part, "original"] for part in ("enrol", "trial", "train"))
    counts: dict[str, dict[str, int]] = {
        "corpus": {
            "attacked_speakers": len(trial.names),
            "enrol": len(enrol),
            "trial": len(trial),
        },
        "training": {"speakers": len(train.names), "utterances": len(train)},
    }
    for part, wanted in counts.items():
        lines += compare({name: findings[part].get(name) for name in wanted}, wanted, part)
    return lines


def _of_speech(
    findings: dict[str, Any], again: Repetition, rows: list[dict[str, Any]]
) -> tuple[list[str], str]:
    """What differs in similarity, attributes and groups; a manifest that is missing for these."""
    lines, unlabelled = list[str](), ""
    study = again.study
    for number, anonymiser in enumerate(findings["anonymisers"]):
        own = [i for i, row in enumerate(rows) if row["anonymiser"] == anonymiser["anonymiser"]]
        material = again.material(own[0])
        similar = similarity_of(material, study.interval)
        lines += compare(anonymiser["similarity"], similar, f"anonymisers.{number}.similarity")
        trial = material["trial", "theirs"]
        manifest = again.folder / anonymiser["speech"] / NAME
        if not manifest.is_file():
            unlabelled = str(manifest)
            continue
        corpus = _trials(manifest, trial.utterances)
        attributes = attributes_of(trial, corpus, study.attributes, seed=study.seed)
        for i in own:
            groups = groups_of(rows[i]["reidentification"], corpus)
            lines += compare(findings["rows"][i]["groups"], groups, f"rows.{i}.groups")
            stored = findings["rows"][i]["attributes"]
            lines += compare(stored, attributes, f"rows.{i}.attributes")
    return lines, unlabelled


def _trials(manifest: Path, ids: Any) -> Corpus:
    wanted = set() if ids is None else set(ids.tolist())
    return read_manifest(manifest).select(lambda one: one.id in wanted)


def _beside(folder: Path, findings: dict[str, Any], again: dict[str, Any]) -> list[str]:
    """What differs in the files that say the same as ``measures.json``."""
    lines = compare_tables(read_table(folder / TABLE), tidy(again), TABLE)
    made = read_json(folder / PROVENANCE, AGAIN)
    wanted = {name: findings[name] for name in ("study", "encoder")}
    return lines + compare({name: made.get(name) for name in wanted}, wanted, PROVENANCE)


# ============================================================================ what is stored


class _Row(BaseModel):
    anonymiser: str
    method: str
    settings: dict[str, Any]
    attacker: str
    linkage: str
    linked_with: str
    trained: dict[str, Any]
    trust: dict[str, Any]
    folder: str = Field(min_length=1)
    measures: dict[str, dict[str, Any]]
    reidentification: dict[str, Any]
    groups: dict[str, Any]
    attributes: dict[str, Any]


class _Anonymiser(BaseModel):
    anonymiser: str
    method: str
    settings: dict[str, Any]
    speech: str
    similarity: dict[str, Any]


class _Originals(BaseModel):
    linked_with: str
    measures: dict[str, dict[str, Any]]
    reidentification: dict[str, Any]


class _Findings(BaseModel):
    """What every ``measures.json`` has; there is more."""

    study: dict[str, Any]
    corpus: dict[str, Any]
    training: dict[str, Any]
    encoder: dict[str, Any]
    confidence: float
    originals: _Originals
    rows: list[_Row] = Field(min_length=1)
    anonymisers: list[_Anonymiser]
    limits: list[dict[str, Any]]


def load(folder: Path) -> dict[str, Any]:
    """What ``measures.json`` of an audit says."""
    path = folder / FINDINGS
    findings = read_json(path, AGAIN)
    try:
        _Findings.model_validate(findings)
    except ValidationError as error:
        raise InputError(f"{path}: {complaint(error)}; run the audit again") from None
    for number, row in enumerate(findings["rows"]):
        place = Path(row["folder"])
        if place.is_absolute() or ".." in place.parts or "\0" in row["folder"]:
            raise InputError(f"{path}: rows.{number}.folder: {place} is not in the audit")
    return findings


def _study(path: Path, given: dict[str, Any]) -> Study:
    try:
        return Study.model_validate(given).checked()
    except ValidationError as error:
        raise InputError(f"{path}: study.{complaint(error)}; run the audit again") from None
    except UsageError as error:
        raise InputError(f"{path}: study: {error}; run the audit again") from None
