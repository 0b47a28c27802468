"""Attacks of an audit a second time, from the embeddings it stored."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.attack import AttackSettings, EmbeddingSets, LinkageTrainer, ScoreTable
from sottovoce.attack.artifacts import (
    ORIGINALS_RECORD,
    RECORD,
    SCORES,
    attack_record,
    embedding_roles,
    originals_record,
    read_originals_record,
    read_record,
)
from sottovoce.attack.embedding_store import FOLDER, EmbeddingStore
from sottovoce.attack.knowledge import Form, Part
from sottovoce.attack.linking import Baseline, attack, attack_originals
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
        settings = AttackSettings(planned.linkage, seed=self.study.seed)
        sets = self.sets(number)
        result = attack(
            sets,
            planned.attacker,
            settings,
            trainer=self.trainer,
            baseline=self._baseline(settings, sets),
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
        linkage = self.study.linkage[number]
        settings = AttackSettings(linkage, seed=self.study.seed)
        sets = self.sets(0)
        baseline = self._baseline(settings, sets)
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
        sets: dict[tuple[Part, Form], Embeddings] = {}
        for role, key in embedding_roles(row.planned.attacker).items():
            sets.setdefault(key, self._embeddings(row, role))
        for other in self.rows:
            if other.planned.anonymiser == row.planned.anonymiser:
                key = ("enrol", other.planned.attacker.enrolment)
                if key not in sets:
                    sets[key] = self._embeddings(other, "enrol")
        return EmbeddingSets(sets, trials=self.trials)

    def _embeddings(self, row: _StoredRow, role: str) -> Embeddings:
        if role not in row.record.embeddings:
            raise InputError(
                f"{self.folder / row.place / RECORD}: embeddings: no {role}; run the audit again",
                code="wrong-shape",
            )
        return self.store[row.record.embeddings[role]]

    def _check_shared_embeddings(self) -> None:
        """Note attacks that did not use the same originals, or the same released speech."""
        digests: dict[tuple[str, Part, Form], str] = {}
        for row in self.rows:
            for role, (part, form) in embedding_roles(row.planned.attacker).items():
                owner = "" if form == "original" else row.planned.anonymiser.label
                digest = row.record.embeddings.get(role)
                if digest and digests.setdefault((owner, part, form), digest) != digest:
                    self.differences.append(
                        f"{row.place / RECORD}.embeddings.{role}: not the {form} {part} speech of "
                        "the other attacks"
                    )

    def _baseline(self, settings: AttackSettings, sets: EmbeddingSets) -> Baseline:
        if settings.linkage not in self._baselines:
            self._baselines[settings.linkage] = attack_originals(sets, settings, self.trainer)
        return self._baselines[settings.linkage]

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
