"""The attacks of a study: each made once, its files kept, and measured."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.attack import Attacker, AttackSettings, Baseline, EmbeddingSets, LinkageTrainer
from sottovoce.attack.artifacts import (
    attack_record,
    originals_record,
    read_originals_record,
    read_record,
    write_attack,
    write_originals,
)
from sottovoce.attack.attributes import infer_attributes
from sottovoce.attack.inputs import AttackInputs, SpeechDivision
from sottovoce.attack.linking import attack, attack_originals
from sottovoce.attack.representation import prepare_candidates
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache
from sottovoce.attack.techniques import Candidates
from sottovoce.audit.measuring import (
    Measurement,
    attack_row,
    group_risks,
    measure_attack,
    originals_finding,
)
from sottovoce.audit.study import PlannedAttack, Study
from sottovoce.core.errors import InputError
from sottovoce.core.records import Json, Record, to_json
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.core.types import StageProgress
from sottovoce.findings import (
    AttackRecord,
    AttackRow,
    AttributeInference,
    NotMeasured,
    OriginalsFinding,
    OriginalsRecord,
    TrialListDescription,
)
from sottovoce.findings.audit import FORMAT


@dataclass(frozen=True, slots=True)
class _Attributes(Record):
    attributes: dict[str, AttributeInference | NotMeasured]


_MEASURES = Step("measures", records_of(Measurement))
_ATTRIBUTES = Step("attributes", records_of(_Attributes))


@dataclass(slots=True)
class AttackRunner:
    """Makes and measures the attacks of a study; owns the trained linkage functions."""

    study: Study
    folder: Path
    """Of the audit."""
    cache: SpeechCache
    division: SpeechDivision
    trial_list: TrialListDescription | None
    progress: StageProgress
    trainer: LinkageTrainer = field(default_factory=LinkageTrainer)
    _baselines: dict[str, Baseline] = field(default_factory=dict)

    @property
    def steps(self) -> StepCache:
        """Results of steps that are finished."""
        return self.cache.steps

    def row(self, planned: PlannedAttack, inputs: AttackInputs, sets: EmbeddingSets) -> AttackRow:
        """Make and measure one attack.

        Parameters
        ----------
        planned : PlannedAttack
            The attack.
        inputs : AttackInputs
            Speech that it starts from.
        sets : EmbeddingSets
            What it needs, with the encoder of the study as it is.
        """
        spec, attacker, settings = planned.anonymiser, planned.attacker, planned.settings
        candidates = prepare_candidates(sets, inputs, attacker, settings, self.cache)
        self.progress(f"attacking {spec.label} ({attacker.name})", 0, 1)
        described = [linked.representation for linked in candidates.speech]
        key = self.steps.key(
            self.cache_key_inputs(spec, attacker), settings, described, candidates.unavailable
        )
        folder = Path("attacks") / f"{spec.method}-{attacker.name}-{planned.linkage}-{key}"
        record = self._attack(self.folder / folder, sets, attacker, settings, candidates)
        measurement = self.steps.get(
            _MEASURES,
            [key, self._measure_settings()],
            lambda: self._measure(self.folder / folder, record),
        )
        groups = group_risks(measurement.reidentification, self.division.trial.corpus)
        attributes = self._attributes(spec, sets)
        return attack_row(planned, folder, record, measurement, groups, attributes)

    def _attack(
        self,
        folder: Path,
        sets: EmbeddingSets,
        attacker: Attacker,
        settings: AttackSettings,
        candidates: Candidates,
    ) -> AttackRecord:
        """The record of an attack; the attack is made if its folder holds no usable record."""
        with suppress(InputError):
            return read_record(folder)
        result = attack(
            sets,
            attacker,
            settings,
            trainer=self.trainer,
            baseline=self._baseline(settings.linkage, sets),
            candidates=candidates,
        )
        write_attack(folder, result, attack_record(result, sets), sets, self.cache.store)
        return read_record(folder)

    def originals(self, linkage: str, sets: EmbeddingSets) -> OriginalsFinding:
        """Make and measure the attack on originals.

        Parameters
        ----------
        linkage : str
            A linkage function of the study.
        sets : EmbeddingSets
            Only the originals are used.
        """
        settings = self.study.originals_settings(linkage)
        division = self.division
        key = self.steps.key(
            FORMAT,
            [division.enrol.key, division.trial.key, division.train.key],
            self.cache.encoder.card.sha256,
            self.trial_list,
            settings,
        )
        folder = Path("attacks") / f"originals-{linkage}-{key}"
        record = self._attack_originals(self.folder / folder, sets, settings)
        measurement = self.steps.get(
            _MEASURES,
            ["originals", key, self._measure_settings()],
            lambda: self._measure(self.folder / folder, record),
        )
        return originals_finding(linkage, folder, record, measurement)

    def _attack_originals(
        self, folder: Path, sets: EmbeddingSets, settings: AttackSettings
    ) -> OriginalsRecord:
        """The record of the attack on originals; it is made if there is no usable record."""
        with suppress(InputError):
            return read_originals_record(folder)
        baseline = self._baseline(settings.linkage, sets)
        record = originals_record(baseline, settings, sets)
        write_originals(folder, baseline, record, sets, self.cache.store)
        return read_originals_record(folder)

    def _baseline(self, linkage: str, sets: EmbeddingSets) -> Baseline:
        """The attack on originals, made once a linkage function."""
        if linkage not in self._baselines:
            settings = self.study.originals_settings(linkage)
            self._baselines[linkage] = attack_originals(sets, settings, self.trainer)
        return self._baselines[linkage]

    def _measure(self, folder: Path, record: AttackRecord | OriginalsRecord) -> Measurement:
        store = self.cache.store
        enrol, trial, train = (
            store[record.embeddings[role]] for role in ("enrol", "trial", "train")
        )
        trained = record.trained
        linkage = self.trainer.linkage(trained.name, trained.settings, train)
        return measure_attack(folder, enrol, trial, linkage, self.study)

    def _attributes(
        self, spec: AnonymiserSpec, sets: EmbeddingSets
    ) -> dict[str, AttributeInference | NotMeasured]:
        names, seed = self.study.attributes, self.study.seed
        result = self.steps.get(
            _ATTRIBUTES,
            [self.cache_key_inputs(spec), names],
            lambda: _Attributes(
                infer_attributes(
                    sets["trial", "released"], self.division.trial.corpus, names, seed=seed
                )
            ),
        )
        return result.attributes

    def cache_key_inputs(self, spec: AnonymiserSpec, attacker: Attacker | None = None) -> Json:
        """Return everything that the embeddings of an attack depend on.

        Parameters
        ----------
        spec : AnonymiserSpec
            The anonymiser under attack.
        attacker : Attacker, optional
            Default for what is the same for all attackers.
        """
        division = self.division
        return to_json(
            [
                FORMAT,
                [division.enrol.key, division.trial.key, division.train.key],
                spec.method,
                dict(spec.settings),
                self.cache.encoder.card.sha256,
                self.study.seed,
                self.trial_list,
                None if attacker is None else attacker.describe(),
                None if self.study.similar is None else self.study.similar.model_dump(),
            ]
        )

    def _measure_settings(self) -> Json:
        return to_json([self.study.lengths, self.study.populations, self.study.interval])
