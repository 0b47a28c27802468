"""The attacks of a study: each made once, its files kept, and measured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
from sottovoce.attack.slice_curves import (
    SlicedSets,
    attack_slice_curve,
    originals_slice_curve,
    slice_sets,
)
from sottovoce.attack.slicing import Slicing
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
from sottovoce.core.errors import InputError, SottovoceError
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
    SliceCurve,
    TrialListDescription,
)
from sottovoce.findings.audit import FORMAT


@dataclass(frozen=True, slots=True)
class _Attributes(Record):
    attributes: dict[str, AttributeInference | NotMeasured]


@dataclass(frozen=True, slots=True)
class _Slices(Record):
    curve: SliceCurve | NotMeasured


_SLICES = Step("slices", records_of(_Slices))
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
    _cut: dict[str, list[SlicedSets]] = field(default_factory=dict)
    """Slices of the anonymiser that was attacked last, by the key of its speech."""

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
        row = attack_row(planned, folder, record, measurement, groups, attributes)
        return replace(row, slices=self._slices(key, inputs, sets, planned))

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

    def originals(
        self, linkage: str, inputs: AttackInputs, sets: EmbeddingSets
    ) -> OriginalsFinding:
        """Make and measure the attack on originals.

        Parameters
        ----------
        linkage : str
            A linkage function of the study.
        inputs : AttackInputs
            Speech that it starts from; only the originals are used.
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
        finding = originals_finding(linkage, folder, record, measurement)
        return replace(finding, slices=self._original_slices(key, inputs, sets, settings))

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

    # --------------------------------------------------------------------------------- slices

    def _slices(
        self, key: str, inputs: AttackInputs, sets: EmbeddingSets, planned: PlannedAttack
    ) -> SliceCurve | NotMeasured | None:
        """Linkage of slices under one attack, if the study asks for it."""
        return self._slice_curve(
            key,
            inputs,
            sets,
            lambda sliced, slicing: attack_slice_curve(
                sliced,
                planned.attacker,
                slicing,
                planned.settings,
                confidence=self.study.interval,
                trainer=self.trainer,
            ),
        )

    def _original_slices(
        self, key: str, inputs: AttackInputs, sets: EmbeddingSets, settings: AttackSettings
    ) -> SliceCurve | NotMeasured | None:
        return self._slice_curve(
            key,
            inputs,
            sets,
            lambda sliced, slicing: originals_slice_curve(
                sliced,
                slicing,
                settings,
                confidence=self.study.interval,
                trainer=self.trainer,
            ),
        )

    def _slice_curve(
        self,
        key: str,
        inputs: AttackInputs,
        sets: EmbeddingSets,
        compute: Callable[[list[SlicedSets], Slicing], SliceCurve],
    ) -> SliceCurve | NotMeasured | None:
        if self.study.slice is None:
            return None
        slicing = self.study.slice.slicing

        def measure() -> _Slices:
            try:
                return _Slices(compute(self._sliced(inputs, sets, slicing), slicing))
            except SottovoceError as error:
                return _Slices(NotMeasured(str(error)))

        return self.steps.get(_SLICES, [key, slicing, self.study.interval], measure).curve

    def _sliced(
        self, inputs: AttackInputs, sets: EmbeddingSets, slicing: Slicing
    ) -> list[SlicedSets]:
        """Slices of one anonymiser's speech, cut once for all attackers."""
        if inputs.released.key not in self._cut:
            self._cut = {
                inputs.released.key: slice_sets(
                    inputs, sets, slicing, self.cache, draws=self.study.draws
                )
            }
        return self._cut[inputs.released.key]

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
