"""Whether the figures of an audit follow from the embeddings it stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from sottovoce.attack.attributes import infer_attributes
from sottovoce.attack.trial_pairs import describe_trials
from sottovoce.audit.comparing import compare, compare_tables, read_table
from sottovoce.audit.differences import LocatedRow, compare_rows
from sottovoce.audit.measuring import group_risks, similarity_of_trials
from sottovoce.audit.replay import Replay
from sottovoce.audit.study import Study
from sottovoce.audit.study_file import describe_defect
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.records import Record
from sottovoce.core.types import Names, StageProgress
from sottovoce.corpus.manifest import NAME, read_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import AttackRow, AuditFindings, OriginalsFinding
from sottovoce.findings.files import (
    MEASURES,
    PROVENANCE,
    TABLE,
    findings_table,
    read_findings,
    read_provenance,
)

CHECKED = ("scores", "attacks", "trust", "measures", "comparisons", "similarity", "limits", TABLE)
"""What follows from the stored embeddings."""
UNCHECKED = (
    "whether the embeddings are those of the recordings",
    "utility and examples, slices, and what transcripts tell",
    "other descriptions of corpora, encoder and anonymisers",
    "report.html",
)
"""What cannot be checked without the recordings."""
LABELLED = "attributes and groups"
"""What can be checked if the manifest of the anonymised speech, with its labels, is there."""


@dataclass(frozen=True, slots=True)
class Verification(Record):
    """What differs, what was checked and what was not."""

    differences: tuple[str, ...]
    """Each with its file or its place in ``measures.json``."""
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]


def verify(folder: Path, *, progress: StageProgress | None = None) -> Verification:
    """Repeat attacks and measures from the stored embeddings, and compare.

    Parameters
    ----------
    folder : Path
        Of the audit.
    progress : StageProgress, optional
        Called before each attack.

    Raises
    ------
    InputError
        For a file that is missing or damaged; ``old-format`` for an audit of another version.
    """
    findings = read_findings(folder)
    _check_places(findings, folder / MEASURES)
    study = _study(folder / MEASURES, findings.study)
    mismatches = _compare_with_study(findings, study)
    if mismatches:
        unchecked = (*CHECKED, LABELLED, *UNCHECKED)
        return Verification(tuple(mismatches), ("rows of the study",), unchecked)
    return _Verifier(folder, study, findings).verify(progress)


class _Verifier:
    """Compares the findings of an audit with those of a replay."""

    def __init__(self, folder: Path, study: Study, findings: AuditFindings) -> None:
        self.folder, self.study, self.findings = folder, study, findings
        self.replay = Replay.of(folder, study, findings)

    def verify(self, progress: StageProgress | None) -> Verification:
        stored_rows = self.findings.rows
        rows: list[AttackRow] = []
        differences: list[str] = []
        for number, stored in enumerate(stored_rows):
            if progress:
                progress("verifying", number, len(stored_rows))
            rows.append(self.replay.row(number))
            unlabelled = replace(stored, groups={}, attributes={}, slices=None)
            differences += compare(unlabelled, rows[-1], f"rows.{number}")
        originals = [
            self.replay.originals(number, Path(stored.score_file).parent)
            for number, stored in enumerate(self.findings.originals)
        ]
        whole = [replace(stored, slices=None) for stored in self.findings.originals]
        differences += compare(whole, originals, "originals")
        comparisons = compare_rows(
            [LocatedRow(row, self.folder) for row in rows],
            interval=self.study.interval,
            seed=self.study.seed,
        )
        differences += compare(self.findings.comparisons, comparisons, "comparisons")
        labelled, missing_manifest = self._compare_speech(rows)
        differences += labelled
        results = [result for limit in self.study.parsed_limits for result in limit.check(rows)]
        differences += compare(self.findings.limits, results, "limits")
        differences += self._compare_descriptions()
        differences += self._compare_other_files(rows, originals)
        checked = CHECKED if missing_manifest else (*CHECKED, LABELLED)
        missing = (f"{LABELLED}: {missing_manifest} is not there",) if missing_manifest else ()
        return Verification(
            tuple(dict.fromkeys([*self.replay.differences, *differences])),
            checked,
            (*UNCHECKED, *missing),
        )

    def _compare_speech(self, rows: Sequence[AttackRow]) -> tuple[list[str], str]:
        """Differences in similarity, attributes and groups; a manifest that is missing."""
        lines: list[str] = []
        missing_manifest = ""
        for number, anonymiser in enumerate(self.findings.anonymisers):
            numbers = [i for i, row in enumerate(rows) if row.anonymiser == anonymiser.anonymiser]
            sets = self.replay.sets(numbers[0])
            similarity = similarity_of_trials(sets, self.study.interval)
            lines += compare(anonymiser.similarity, similarity, f"anonymisers.{number}.similarity")
            trial = sets["trial", "released"]
            manifest = self.folder / anonymiser.speech / NAME
            if not manifest.is_file():
                missing_manifest = str(manifest)
                continue
            corpus = _read_trials(manifest, trial.utterances)
            attributes = infer_attributes(
                trial, corpus, self.study.attributes, seed=self.study.seed
            )
            for i in numbers:
                stored = self.findings.rows[i]
                groups = group_risks(rows[i].reidentification, corpus)
                lines += compare(stored.groups, groups, f"rows.{i}.groups")
                lines += compare(stored.attributes, attributes, f"rows.{i}.attributes")
        return lines, missing_manifest

    def _compare_descriptions(self) -> list[str]:
        """Differences in what is said of the study and, as far as embedded, of the speech."""
        findings = self.findings
        lines = compare(findings.name, self.study.name, "name")
        lines += compare(findings.confidence, self.study.interval, "confidence")
        lines += compare(findings.release, self.study.release.limits, "release")
        trials = self.replay.trials
        description = None if trials is None else describe_trials(trials)
        lines += compare(findings.trial_list, description, "trial_list")
        sets = self.replay.sets(0)
        enrol, trial, train = (
            sets["enrol", "original"],
            sets["trial", "original"],
            sets["train", "original"],
        )
        for place, stored, counted in (
            ("corpus.attacked_speakers", findings.corpus.attacked_speakers, len(trial.names)),
            ("corpus.enrol", findings.corpus.enrol, len(enrol)),
            ("corpus.trial", findings.corpus.trial, len(trial)),
            ("training.speakers", findings.training.speakers, len(train.names)),
            ("training.utterances", findings.training.utterances, len(train)),
        ):
            lines += compare(stored, counted, place)
        return lines

    def _compare_other_files(
        self, rows: Sequence[AttackRow], originals: Sequence[OriginalsFinding]
    ) -> list[str]:
        """Differences in the files that say the same as ``measures.json``."""
        recomputed = replace(self.findings, rows=tuple(rows), originals=tuple(originals))
        table = findings_table(recomputed)
        lines = compare_tables(read_table(self.folder / TABLE), table, TABLE)
        provenance = read_provenance(self.folder)
        lines += compare(provenance.study, self.findings.study, f"{PROVENANCE}.study")
        lines += compare(provenance.encoder, self.findings.encoder, f"{PROVENANCE}.encoder")
        return lines


def _compare_with_study(findings: AuditFindings, study: Study) -> list[str]:
    """Rows, originals and anonymisers that are not those of the study."""
    planned = [
        {
            "anonymiser": attack.anonymiser.label,
            "method": attack.anonymiser.method,
            "settings": dict(attack.anonymiser.settings),
            "attacker": attack.attacker.name,
            "encoder": attack.settings.encoder,
            "linkage": attack.linkage,
        }
        for attack in study.attacks
    ]
    rows = [
        {
            "anonymiser": row.anonymiser,
            "method": row.method,
            "settings": row.settings,
            "attacker": row.attacker,
            "encoder": row.encoder,
            "linkage": row.linkage,
        }
        for row in findings.rows
    ]
    lines = compare(rows, planned, "rows")
    lines += compare(
        [(entry.anonymiser, entry.method, entry.settings) for entry in findings.anonymisers],
        [(spec.label, spec.method, dict(spec.settings)) for spec in study.anonymiser_specs],
        "anonymisers",
    )
    linkages = [originals.linkage for originals in findings.originals]
    lines += compare(linkages, study.linkages, "originals")
    owners: dict[str, int] = {}
    for number, row in enumerate(findings.rows[: len(planned)]):
        owner = owners.setdefault(row.folder, number)
        if planned[owner] != planned[number]:
            lines.append(f"rows.{number}.folder: {row.folder} is that of another row")
    return lines


def _check_places(findings: AuditFindings, path: Path) -> None:
    """Refuse places of files that are not in the audit, and an audit without rows."""
    if not findings.rows:
        raise InputError(f"{path}: rows: there are none; run the audit again", code="wrong-shape")
    places = {
        **{f"rows.{i}.folder": row.folder for i, row in enumerate(findings.rows)},
        **{f"originals.{i}.score_file": o.score_file for i, o in enumerate(findings.originals)},
        **{f"anonymisers.{i}.speech": a.speech for i, a in enumerate(findings.anonymisers)},
    }
    for name, text in places.items():
        place = Path(text)
        if not text or place.is_absolute() or ".." in place.parts or "\0" in text:
            raise InputError(
                f"{path}: {name}: {place} is not in the audit", code="outside-the-audit"
            )


def _read_trials(manifest: Path, ids: Names | None) -> Corpus:
    wanted = set() if ids is None else set(ids.tolist())
    return read_manifest(manifest).select(lambda utterance: utterance.id in wanted)


def _study(path: Path, content: Mapping[str, object]) -> Study:
    try:
        study = Study.model_validate(content)
        study.check()
    except ValidationError as error:
        raise InputError(
            f"{path}: study.{describe_defect(error)}; run the audit again", code="wrong-shape"
        ) from None
    except UsageError as error:
        raise InputError(f"{path}: study: {error}; run the audit again", code=error.code) from None
    return study
