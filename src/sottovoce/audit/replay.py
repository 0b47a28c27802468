"""Attacks of an audit a second time, from the embeddings it stored."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.attack import EmbeddingSets, LinkageTrainer, ScoreTable
from sottovoce.attack.artifacts import (
    ORIGINALS_RECORD,
    PARTS,
    RECORD,
    SCORES,
    attack_record,
    originals_record,
    read_originals_record,
    read_record,
)
from sottovoce.attack.embedding_sets import LinkedSpeech
from sottovoce.attack.embedding_store import FOLDER, EmbeddingStore
from sottovoce.attack.knowledge import Form, Part
from sottovoce.attack.linking import Baseline, attack, attack_originals
from sottovoce.attack.representation import unused_techniques
from sottovoce.attack.techniques import Candidates
from sottovoce.attack.trial_pairs import read_stored_trials
from sottovoce.audit.comparing import compare, compare_tables, read_table
from sottovoce.audit.measuring import (
    Measurement,
    attack_row,
    measure_attack,
    originals_finding,
)
from sottovoce.audit.study import PlannedAttack, Study
from sottovoce.core.errors import InputError
from sottovoce.corpus.trials import TrialList
from sottovoce.findings import (
    FROZEN,
    AttackRecord,
    AttackRow,
    AuditFindings,
    OriginalsFinding,
    OriginalsRecord,
)
from sottovoce.speaker.embeddings import Embeddings


@dataclass(frozen=True, slots=True)
class _StoredRow:
    """One attack of the study and what it left."""

    planned: PlannedAttack
    place: Path
    """Its folder, relative to that of the audit."""
    record: AttackRecord


@dataclass(slots=True)
class Replay:
    """Repeats the attacks of an audit and notes what differs from their files."""

    folder: Path
    study: Study
    rows: list[_StoredRow]
    store: EmbeddingStore
    trials: TrialList | None
    trainer: LinkageTrainer = field(default_factory=LinkageTrainer)
    differences: list[str] = field(default_factory=list)
    """What the attacks left that is not what they leave now."""
    _baselines: dict[str, Baseline] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, study: Study, findings: AuditFindings) -> Replay:
        """Read the records of all attacks.

        Parameters
        ----------
        folder : Path
            Of the audit.
        study : Study
            As the audit ran it.
        findings : AuditFindings
            With one row per attack of the study, in its order.
        """
        rows = [
            _StoredRow(planned, Path(row.folder), read_record(folder / row.folder))
            for planned, row in zip(study.attacks, findings.rows, strict=True)
        ]
        trials = None if study.trials is None else read_stored_trials(folder)
        replay = cls(folder, study, rows, EmbeddingStore(folder / FOLDER), trials)
        replay._check_shared_embeddings()
        return replay

    def row(self, number: int) -> AttackRow:
        """Repeat an attack; what needs labels of the corpus is left out of the row.

        Parameters
        ----------
        number : int
            Position of the attack in the study.
        """
        stored = self.rows[number]
        planned, place = stored.planned, stored.place
        sets = self.sets(number)
        result = attack(
            sets,
            planned.attacker,
            planned.settings,
            trainer=self.trainer,
            baseline=self._baseline(planned.linkage, sets),
            candidates=self._candidates(stored),
        )
        record = attack_record(result, sets)
        self.differences += compare(stored.record, record, str(place / RECORD))
        self._compare_scores(place / SCORES, result.table)
        return attack_row(planned, place, record, self._measure(place, record), {}, {})

    def originals(self, number: int, place: Path) -> OriginalsFinding:
        """Repeat the attack on originals of one linkage function of the study.

        Parameters
        ----------
        number : int
            Position of the linkage function in the study.
        place : Path
            Folder of the attack, relative to that of the audit.
        """
        linkage = self.study.linkages[number]
        settings = self.study.originals_settings(linkage)
        sets = self.sets(0)
        baseline = self._baseline(linkage, sets)
        record = originals_record(baseline, settings, sets)
        stored = read_originals_record(self.folder / place)
        self.differences += compare(stored, record, str(place / ORIGINALS_RECORD))
        self._compare_scores(place / SCORES, baseline.table)
        return originals_finding(linkage, place, record, self._measure(place, record))

    def sets(self, number: int) -> EmbeddingSets:
        """Return the embeddings of an attack, and enrolments of others on the same anonymiser.

        Parameters
        ----------
        number : int
            Position of the attack in the study.
        """
        row = self.rows[number]
        frozen = _linked_roles(row.record, FROZEN)
        sets: dict[tuple[Part, Form], Embeddings] = {
            (part, "original"): self._embeddings(row, f"originals-{part}") for part in PARTS
        }
        for part, form in row.planned.attacker.linked:
            sets.setdefault((part, form), self._embeddings(row, frozen[part]))
        same = [other for other in self.rows if other.planned.anonymiser == row.planned.anonymiser]
        for other in sorted(same, key=lambda other: -other.record.draws):
            key: tuple[Part, Form] = ("enrol", other.planned.attacker.enrolment)
            role = _linked_roles(other.record, FROZEN)["enrol"]
            sets.setdefault(key, self._embeddings(other, role))
        return EmbeddingSets(sets, trials=self.trials)

    def _candidates(self, row: _StoredRow) -> Candidates:
        """The representations that an attack chose from."""
        speech = []
        for representation in row.record.representations:
            roles = _linked_roles(row.record, representation.name)
            enrol, trial, train = (self._embeddings(row, roles[part]) for part in PARTS)
            speech.append(LinkedSpeech(representation, enrol, trial, train))
        unavailable = row.record.unavailable
        unused = unused_techniques(speech, unavailable, self.study.training_spec(row.planned))
        return Candidates(tuple(speech), unavailable, unused)

    def _embeddings(self, row: _StoredRow, role: str) -> Embeddings:
        if role not in row.record.embeddings:
            raise InputError(
                f"{self.folder / row.place / RECORD}: embeddings: no {role}; run the audit again",
                code="wrong-shape",
            )
        return self.store[row.record.embeddings[role]]

    def _check_shared_embeddings(self) -> None:
        """Note attacks that did not use the same originals, or the same released speech."""
        digests: dict[tuple[str, str, Form, int], str] = {}
        for row in self.rows:
            for role, (part, form) in _shared_roles(row).items():
                owner = "" if form == "original" else row.planned.anonymiser.label
                digest = row.record.embeddings.get(role)
                key = (owner, part, form, row.planned.settings.draws)
                if digest and digests.setdefault(key, digest) != digest:
                    self.differences.append(
                        f"{row.place / RECORD}.embeddings.{role}: not the {form} {part} speech of "
                        "the other attacks"
                    )

    def _baseline(self, linkage: str, sets: EmbeddingSets) -> Baseline:
        if linkage not in self._baselines:
            settings = self.study.originals_settings(linkage)
            self._baselines[linkage] = attack_originals(sets, settings, self.trainer)
        return self._baselines[linkage]

    def _measure(self, place: Path, record: AttackRecord | OriginalsRecord) -> Measurement:
        enrol, trial, train = (
            self.store[record.embeddings[role]] for role in ("enrol", "trial", "train")
        )
        trained = record.trained
        linkage = self.trainer.linkage(trained.name, trained.settings, train)
        return measure_attack(self.folder / place, enrol, trial, linkage, self.study)

    def _compare_scores(self, path: Path, table: ScoreTable) -> None:
        stored = read_table(self.folder / path)
        with tempfile.TemporaryDirectory() as scratch:
            table.write(Path(scratch) / path.name)
            repeated = read_table(Path(scratch) / path.name)
        self.differences += compare_tables(stored, repeated, str(path))


def _linked_roles(record: AttackRecord, representation: str) -> dict[Part, str]:
    """The roles of what was linked in one representation."""
    prefix = "" if representation == record.representation else f"{representation}-"
    return {part: f"{prefix}{part}" for part in PARTS}


def _shared_roles(row: _StoredRow) -> dict[str, tuple[Part, Form]]:
    """The roles of what other attacks use too: the encoder as it is."""
    frozen = _linked_roles(row.record, FROZEN)
    roles = {frozen[part]: (part, form) for part, form in row.planned.attacker.linked}
    originals: dict[str, tuple[Part, Form]] = {
        f"originals-{part}": (part, "original") for part in PARTS
    }
    return roles | originals
