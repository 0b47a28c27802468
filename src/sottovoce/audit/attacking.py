"""The attacks of a study: each made once, its files kept, and measured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.attack import Attacker, AttackSettings, Baseline, EmbeddingSets, LinkageTrainer
from sottovoce.attack.artifacts import (
    SCORES,
    attack_record,
    originals_record,
    read_originals_record,
    read_record,
    write_attack,
    write_originals,
)
from sottovoce.attack.attributes import attribute_labels, infer_attributes
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
from sottovoce.core.files import fingerprint, write_bytes
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


@dataclass(frozen=True, slots=True)
class OriginalsWork:
    """An attack on originals that is to be made; of the speech only the originals are used."""

    inputs: AttackInputs
    sets: EmbeddingSets
    linkage: str
    """A linkage function of the study."""


@dataclass(frozen=True, slots=True)
class RowWork:
    """An attack that is to be made."""

    inputs: AttackInputs
    sets: EmbeddingSets
    planned: PlannedAttack
    candidates: Candidates
    """The representations of speech that it may choose from."""


def _digest_of_scores(folder: Path) -> bytes:
    return str(fingerprint(folder / SCORES)["sha256"]).encode()


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody sees."""


@dataclass(slots=True)
class AttackRunner:
    """Makes and measures the attacks of a study; owns the trained linkage functions.

    It can be sent to workers that share the folder of the audit.
    """

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

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.study, self.folder, self.cache, self.division, self.trial_list, _silent)
        return AttackRunner, parts  # workers train their own linkage functions

    def prepare(self, planned: PlannedAttack, inputs: AttackInputs, sets: EmbeddingSets) -> RowWork:
        """Make everything that an attack needs, up to what it links.

        Parameters
        ----------
        planned : PlannedAttack
            The attack.
        inputs : AttackInputs
            Speech that it starts from.
        sets : EmbeddingSets
            What it needs, with the encoder of the study as it is.
        """
        attacker, settings = planned.attacker, planned.settings
        candidates = prepare_candidates(sets, inputs, attacker, settings, self.cache)
        self.progress(f"attacking {planned.anonymiser.label} ({attacker.name})", 0, 1)
        return RowWork(inputs, sets, planned, candidates)

    def __call__(self, work: RowWork | OriginalsWork) -> AttackRow | OriginalsFinding:
        """Make and measure an attack, on any worker.

        Parameters
        ----------
        work : RowWork or OriginalsWork
            What is attacked, and how.

        Returns
        -------
        AttackRow or OriginalsFinding
            Without slices.
        """
        if isinstance(work, OriginalsWork):
            return self._originals(work)
        planned = work.planned
        key = self._row_key(work)
        spec, settings = planned.anonymiser, planned.settings
        folder = Path("attacks") / f"{spec.method}-{planned.attacker.name}-{planned.linkage}-{key}"
        record = self._attack(
            self.folder / folder, work.sets, planned.attacker, settings, work.candidates
        )
        measurement = self.steps.get(
            _MEASURES,
            [key, self._measure_settings()],
            lambda: self._measure(self.folder / folder, record),
        )
        groups = group_risks(measurement.reidentification, self.division.trial.corpus)
        attributes = self._attributes(spec, work.sets)
        return attack_row(planned, folder, record, measurement, groups, attributes)

    def _row_key(self, work: RowWork) -> str:
        planned, candidates = work.planned, work.candidates
        described = [linked.representation for linked in candidates.speech]
        return self.steps.key(
            self.cache_key_inputs(planned.anonymiser, planned.attacker),
            planned.settings,
            described,
            candidates.unavailable,
        )

    def _attack(
        self,
        folder: Path,
        sets: EmbeddingSets,
        attacker: Attacker,
        settings: AttackSettings,
        candidates: Candidates,
    ) -> AttackRecord:
        """The record of an attack; the attack is made if its files are not there and whole."""
        with suppress(InputError):
            record = read_record(folder)
            if self._has_intact_scores(folder) and self._has_embeddings(record):
                return record
        result = attack(
            sets,
            attacker,
            settings,
            trainer=self.trainer,
            baseline=self._baseline(settings.linkage, sets),
            candidates=candidates,
        )
        write_attack(folder, result, attack_record(result, sets), sets, self.cache.store)
        self._keep_digest_of_scores(folder)
        return read_record(folder)

    def _originals(self, work: OriginalsWork) -> OriginalsFinding:
        """Make and measure the attack on originals."""
        settings = self.study.originals_settings(work.linkage)
        key = self._originals_key(settings)
        folder = Path("attacks") / f"originals-{work.linkage}-{key}"
        record = self._attack_originals(self.folder / folder, work.sets, settings)
        measurement = self.steps.get(
            _MEASURES,
            ["originals", key, self._measure_settings()],
            lambda: self._measure(self.folder / folder, record),
        )
        return originals_finding(work.linkage, folder, record, measurement)

    def _originals_key(self, settings: AttackSettings) -> str:
        division = self.division
        return self.steps.key(
            FORMAT,
            [division.enrol.key, division.trial.key, division.train.key],
            self.cache.encoder.card.sha256,
            self.trial_list,
            settings,
        )

    def _attack_originals(
        self, folder: Path, sets: EmbeddingSets, settings: AttackSettings
    ) -> OriginalsRecord:
        """The record of the attack on originals; it is made if its files are not whole."""
        with suppress(InputError):
            record = read_originals_record(folder)
            if self._has_intact_scores(folder) and self._has_embeddings(record):
                return record
        baseline = self._baseline(settings.linkage, sets)
        record = originals_record(baseline, settings, sets)
        write_originals(folder, baseline, record, sets, self.cache.store)
        self._keep_digest_of_scores(folder)
        return read_originals_record(folder)

    def _has_intact_scores(self, folder: Path) -> bool:
        """Whether the scores of an attack are the bytes that it wrote."""
        with suppress(OSError):
            return self._digest_file(folder).read_bytes() == _digest_of_scores(folder)
        return False

    def _has_embeddings(self, record: AttackRecord | OriginalsRecord) -> bool:
        """Whether all embeddings of an attack can be read; a damaged file is deleted."""
        store, damaged = self.cache.store, False
        for digest in record.embeddings.values():
            path = store.path(digest)
            try:
                store[digest]
            except InputError:
                path.unlink(missing_ok=True)
                damaged = True
        return not damaged

    def _keep_digest_of_scores(self, folder: Path) -> None:
        write_bytes(self._digest_file(folder), _digest_of_scores(folder))

    def _digest_file(self, folder: Path) -> Path:
        return self.steps.path("scores", folder.name, ".sha256")

    # --------------------------------------------------------------------------------- slices

    def slices(self, work: RowWork | OriginalsWork) -> SliceCurve | NotMeasured | None:
        """Measure the linkage of slices under an attack, if the study asks for it.

        Parameters
        ----------
        work : RowWork or OriginalsWork
            What is attacked, and how.
        """
        if self.study.slice is None:
            return None
        if isinstance(work, OriginalsWork):
            settings = self.study.originals_settings(work.linkage)
            return self._slice_curve(
                # slices are cut from released speech too, and what was released may refuse that
                self.steps.key(self._originals_key(settings), work.inputs.released.key),
                work,
                lambda sliced, slicing: originals_slice_curve(
                    sliced,
                    slicing,
                    settings,
                    confidence=self.study.interval,
                    trainer=self.trainer,
                ),
            )
        planned = work.planned
        return self._slice_curve(
            self._row_key(work),
            work,
            lambda sliced, slicing: attack_slice_curve(
                sliced,
                planned.attacker,
                slicing,
                planned.settings,
                confidence=self.study.interval,
                trainer=self.trainer,
            ),
        )

    def _slice_curve(
        self,
        key: str,
        work: RowWork | OriginalsWork,
        compute: Callable[[list[SlicedSets], Slicing], SliceCurve],
    ) -> SliceCurve | NotMeasured | None:
        if self.study.slice is None:
            return None
        slicing = self.study.slice.slicing

        def measure() -> _Slices:
            try:
                return _Slices(compute(self._sliced(work.inputs, work.sets, slicing), slicing))
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
        corpus = self.division.trial.corpus
        result = self.steps.get(
            _ATTRIBUTES,
            [self.cache_key_inputs(spec), names, attribute_labels(corpus, names)],
            lambda: _Attributes(
                infer_attributes(sets["trial", "released"], corpus, names, seed=seed)
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
                [self.study.seed, self.study.operators_seed],
                self.trial_list,
                None if attacker is None else attacker.describe(),
                None if self.study.similar is None else self.study.similar.model_dump(),
            ]
        )

    def _measure_settings(self) -> Json:
        return to_json([self.study.lengths, self.study.populations, self.study.interval])
