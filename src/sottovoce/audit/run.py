"""Running a study: every step once, its result kept, and one folder of evidence at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
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
from sottovoce.attack.inputs import AttackInputs, divide_speech, prepare_embeddings
from sottovoce.attack.linking import attack, attack_originals
from sottovoce.attack.run import describe_encoder, describe_method
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, operators_secret
from sottovoce.attack.trial_pairs import describe_trials, write_trials
from sottovoce.audit.corpora import (
    describe_corpus,
    describe_provenance,
    describe_training,
    open_outside,
    vet,
)
from sottovoce.audit.measuring import (
    Measurement,
    attack_row,
    group_risks,
    measure_attack,
    originals_finding,
    similarity_of_trials,
)
from sottovoce.audit.study import PlannedAttack, Study
from sottovoce.audit.utility import UtilityMeter, sample_utterances
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.core.locks import locked
from sottovoce.core.records import Json, Record, to_json
from sottovoce.core.step_cache import Step, records_of
from sottovoce.core.types import Progress, StageProgress
from sottovoce.corpus.formats import BUILTIN
from sottovoce.corpus.trials import read_trials
from sottovoce.corpus.utterance import Utterance
from sottovoce.findings import (
    AnonymiserFinding,
    AttackRecord,
    AttackRow,
    AttributeInference,
    AuditFindings,
    Example,
    NotMeasured,
    OriginalsFinding,
    OriginalsRecord,
    Similarity,
    UtilityEstimate,
)
from sottovoce.findings.audit import FORMAT
from sottovoce.findings.files import REPORT, check_audit_folder, write_findings
from sottovoce.speaker.encoders import make_encoder

NOT_TESTED = (
    "Attackers with better encoders, more training data or more time than those of this study.",
    "What the words themselves reveal; only the voice was attacked.",
    "Attributes other than those listed, such as health, accent or mood.",
    "Recordings of another kind than this corpus: other rooms, devices, languages or people.",
)


@dataclass(frozen=True, slots=True)
class _SimilarityResult(Record):
    similarity: Similarity | NotMeasured


@dataclass(frozen=True, slots=True)
class _Attributes(Record):
    attributes: dict[str, AttributeInference | NotMeasured]


_MEASURES = Step("measures", records_of(Measurement))
_SIMILARITY = Step("similarity", records_of(_SimilarityResult))
_ATTRIBUTES = Step("attributes", records_of(_Attributes))
_UTILITY = Step("utility", records_of(dict[str, UtilityEstimate]))

UtterancePair = tuple[Utterance, Utterance]
"""An original recording and the same anonymised."""


def run_audit(
    study: Study,
    folder: Path,
    *,
    jobs: int = 2,
    audio: bool = True,
    progress: StageProgress | None = None,
) -> AuditFindings:
    """Anonymise a corpus, attack the result, measure it and write a report.

    Parameters
    ----------
    study : Study
        What to do.
    folder : Path
        Where everything is written; steps that an interrupted run finished there are not repeated.
    jobs : int, default 2
        How many recordings are processed at a time.
    audio : bool, default True
        Whether the report holds recordings.
    progress : StageProgress, optional
        Called with the name of a stage and how far it is.

    Raises
    ------
    InputError
        ``exists`` for a folder with other content, ``old-format`` for an audit of another version,
        ``locked`` while another run writes into it, and whatever is wrong with the corpus.
    """
    study.check()
    check_audit_folder(folder)
    with locked(folder):
        run = _Run(study, folder, jobs, progress or (lambda stage, done, total: None))
        findings = run.findings()
        if run.trials is not None:
            write_trials(folder, run.trials)
        _write(findings, folder, study, audio)
    return findings


class _Run:
    """A study in a folder: owns the speech, the embeddings and the trained linkage functions."""

    def __init__(self, study: Study, folder: Path, jobs: int, progress: StageProgress) -> None:
        self.study, self.folder, self.progress = study, folder, progress
        corpus = open_outside(study.corpus, folder)
        train = None if study.train is None else open_outside(study.train, folder)
        self.cache = SpeechCache(folder, make_encoder(study.encoder), jobs, progress)
        self.steps = self.cache.steps
        self.trainer = LinkageTrainer()
        self.meter = UtilityMeter(study.utility.recogniser, confidence=study.interval, jobs=jobs)
        self.vetted = vet(corpus, self.steps, jobs=jobs, progress=progress)
        self.vetted_train = (
            None if train is None else vet(train, self.steps, jobs=jobs, progress=progress)
        )
        train_speech = None if self.vetted_train is None else self.vetted_train.speech
        self.trials = (
            None if study.trials is None else read_trials(study.trials, self.vetted.speech.corpus)
        )
        self.trial_list = None if self.trials is None else describe_trials(self.trials)
        self.division = divide_speech(
            self.vetted.speech, train_speech, seed=study.seed, trials=self.trials
        )
        self._baselines: dict[str, Baseline] = {}

    def findings(self) -> AuditFindings:
        """Everything that ``measures.json`` holds."""
        rows: list[AttackRow] = []
        anonymisers: list[AnonymiserFinding] = []
        originals: list[OriginalsFinding] = []
        for spec in self.study.anonymiser_specs:
            inputs = self._inputs(spec)
            planned = self.study.attacks_on(spec)
            attackers = [plan.attacker for plan in planned]
            sets = prepare_embeddings(inputs, attackers, self.cache)
            anonymisers.append(self._anonymiser(spec, inputs, sets))
            originals = originals or [
                self._originals(linkage, sets) for linkage in self.study.linkage
            ]
            rows += [self._row(plan, sets) for plan in planned]
        return AuditFindings(
            name=self.study.name,
            synthetic=self.study.corpus == BUILTIN,
            study=self.study.public_settings(),
            corpus=describe_corpus(self.vetted, self.division),
            training=describe_training(self.division.train.corpus, self.vetted_train),
            encoder=describe_encoder(self.cache.encoder),
            confidence=self.study.interval,
            originals=tuple(originals),
            original_utility=self._original_utility(),
            rows=tuple(rows),
            anonymisers=tuple(anonymisers),
            limits=tuple(
                result for limit in self.study.parsed_limits for result in limit.check(rows)
            ),
            not_tested=NOT_TESTED,
            trial_list=self.trial_list,
        )

    # ------------------------------------------------------------------------------ attacks

    def _inputs(self, spec: AnonymiserSpec) -> AttackInputs:
        division = self.division
        attacked = self.vetted.speech.with_ids(division.enrol.ids | division.trial.ids)
        secret = operators_secret(self.study.seed)
        return AttackInputs(
            division.enrol,
            division.trial,
            division.train,
            self.cache.anonymise(attacked, spec, secret, spec.label),
            spec,
            self.study.similar_spec,
            trials=self.trials,
            seed=self.study.seed,
        )

    def _row(self, planned: PlannedAttack, sets: EmbeddingSets) -> AttackRow:
        spec, attacker = planned.anonymiser, planned.attacker
        settings = AttackSettings(planned.linkage, seed=self.study.seed)
        self.progress(f"attacking {spec.label} ({attacker.name})", 0, 1)
        key = self.steps.key(self._cache_key_inputs(spec, attacker), settings)
        name = f"{spec.method}-{attacker.name}-{planned.linkage}-{key}"
        folder = Path("attacks") / name
        record = self._attack(self.folder / folder, sets, attacker, settings)
        measurement = self.steps.get(
            _MEASURES,
            [key, self._measure_settings()],
            lambda: self._measure(self.folder / folder, record),
        )
        groups = group_risks(measurement.reidentification, self.division.trial.corpus)
        attributes = self._attributes(spec, sets)
        return attack_row(planned, folder, record, measurement, groups, attributes)

    def _attack(
        self, folder: Path, sets: EmbeddingSets, attacker: Attacker, settings: AttackSettings
    ) -> AttackRecord:
        """The record of an attack; the attack is made if its folder holds no usable record."""
        with suppress(InputError):
            return read_record(folder)
        baseline = self._baseline(settings, sets)
        result = attack(sets, attacker, settings, trainer=self.trainer, baseline=baseline)
        write_attack(folder, result, attack_record(result, sets), sets, self.cache.store)
        return read_record(folder)

    def _originals(self, linkage: str, sets: EmbeddingSets) -> OriginalsFinding:
        settings = AttackSettings(linkage, seed=self.study.seed)
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
        baseline = self._baseline(settings, sets)
        record = originals_record(baseline, settings, sets)
        write_originals(folder, baseline, record, sets, self.cache.store)
        return read_originals_record(folder)

    def _baseline(self, settings: AttackSettings, sets: EmbeddingSets) -> Baseline:
        """The attack on originals, made once a linkage function."""
        if settings.linkage not in self._baselines:
            self._baselines[settings.linkage] = attack_originals(sets, settings, self.trainer)
        return self._baselines[settings.linkage]

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
            [self._cache_key_inputs(spec), names],
            lambda: _Attributes(
                infer_attributes(
                    sets["trial", "released"], self.division.trial.corpus, names, seed=seed
                )
            ),
        )
        return result.attributes

    # --------------------------------------------------------------------------- anonymisers

    def _anonymiser(
        self, spec: AnonymiserSpec, inputs: AttackInputs, sets: EmbeddingSets
    ) -> AnonymiserFinding:
        released = {utterance.id: utterance for utterance in inputs.released.corpus}
        pairs = [(utterance, released[utterance.id]) for utterance in self._utility_sample()]
        key = [self._cache_key_inputs(spec), self._utility_settings()]
        utility = self.steps.get(_UTILITY, key, lambda: self._utility(pairs, spec.label))
        return AnonymiserFinding(
            anonymiser=spec.label,
            method=spec.method,
            settings=dict(spec.settings),
            card=describe_method(spec.method),
            speech=inputs.released.corpus.root.relative_to(self.folder).as_posix(),
            similarity=self.steps.get(
                _SIMILARITY,
                key,
                lambda: _SimilarityResult(similarity_of_trials(sets, self.study.interval)),
            ).similarity,
            utility=utility,
            examples=tuple(self._examples(pairs)),
        )

    def _utility_sample(self) -> list[Utterance]:
        return sample_utterances(
            self.division.trial.corpus, self.study.utility.utterances, self.study.seed
        )

    def _utility(self, pairs: list[UtterancePair], label: str) -> dict[str, UtilityEstimate]:
        estimates: dict[str, UtilityEstimate] = {}
        if self.study.utility.f0:
            stage = self._stage(f"comparing {label}")
            estimates |= self.meter.similarity_to_originals(pairs, stage)
        return estimates | self._absolute_utility([released for _, released in pairs], label)

    def _absolute_utility(
        self, utterances: list[Utterance], label: str
    ) -> dict[str, UtilityEstimate]:
        """Utility that needs no originals to compare with."""
        estimates: dict[str, UtilityEstimate] = {}
        if self.study.utility.wer:
            stage = self._stage(f"recognising {label}")
            estimates["wer"] = self.meter.word_error_rate(utterances, stage)
        if self.study.utility.quality:
            stage = self._stage(f"rating {label}")
            estimates["quality"] = self.meter.quality(utterances, stage)
        return estimates

    def _original_utility(self) -> dict[str, UtilityEstimate]:
        utterances = self._utility_sample()
        return self.steps.get(
            _UTILITY,
            ["originals", self.division.trial.key, self._utility_settings()],
            lambda: self._absolute_utility(utterances, "originals"),
        )

    def _examples(self, pairs: list[UtterancePair]) -> Iterator[Example]:
        step = max(1, len(pairs) // max(1, self.study.examples))
        for original, released in pairs[::step][: self.study.examples]:
            yield Example(
                original.id,
                original.speaker,
                str(original.path),
                released.path.relative_to(self.folder).as_posix(),
                start=original.start,
                end=original.end,
                channel=original.channel,
            )

    # ------------------------------------------------------------------------------ settings

    def _cache_key_inputs(self, spec: AnonymiserSpec, attacker: Attacker | None = None) -> Json:
        """Everything that the embeddings of an attack depend on."""
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

    def _utility_settings(self) -> Json:
        """Everything that utility depends on besides the speech."""
        settings = self.study.utility
        return to_json(
            [
                settings.model_dump(),
                self.study.interval,
                self.study.seed,
                self.meter.availability(),
            ]
        )

    def _stage(self, label: str) -> Progress:
        return lambda done, total: self.progress(label, done, total)


def _write(findings: AuditFindings, folder: Path, study: Study, audio: bool) -> None:
    """All files of the audit; the report last."""
    from sottovoce.report.audit import render

    write_findings(folder, findings, describe_provenance(study, findings))
    write_text(folder / REPORT, render(findings, folder, audio=audio))
