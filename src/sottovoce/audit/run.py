"""Running a study: every step once, its result kept, and one folder of evidence at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.anonymise.voice.kept_analyses import keep_analyses
from sottovoce.attack import EmbeddingSets
from sottovoce.attack.inputs import (
    AttackInputs,
    divide_speech,
    prepare_embeddings,
    prepare_speech,
)
from sottovoce.attack.representation import describe_encoder, encoder_name
from sottovoce.attack.run import describe_method
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, operators_secret
from sottovoce.attack.trial_pairs import describe_trials, write_trials
from sottovoce.audit.attacking import AttackRunner, OriginalsWork, RowWork
from sottovoce.audit.corpora import (
    describe_corpus,
    describe_provenance,
    describe_training,
    open_corpora,
    vet,
)
from sottovoce.audit.differences import COMPARED, LocatedRow, compare_rows
from sottovoce.audit.measuring import similarity_of_trials
from sottovoce.audit.not_tested import not_tested
from sottovoce.audit.requirements import check_machine
from sottovoce.audit.retrained import ComparisonSettings, RecogniserComparison
from sottovoce.audit.speech_forms import SpeechForms
from sottovoce.audit.study import Study
from sottovoce.audit.transcripts import slice_texts, text_traits
from sottovoce.audit.utility import UtilityMeter, sample_utterances
from sottovoce.core.engine import HERE, SPEECH_MEMORY, Engine, open_engine
from sottovoce.core.errors import SottovoceError
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
    AttackRow,
    AuditFindings,
    Example,
    NotMeasured,
    OriginalsFinding,
    RetrainedUtility,
    RowsComparison,
    Similarity,
    UtilityEstimate,
)
from sottovoce.findings.files import REPORT, check_audit_folder, write_findings
from sottovoce.speaker.encoders import make_encoder
from sottovoce.training.recogniser import RecogniserSettings


@dataclass(frozen=True, slots=True)
class _SimilarityResult(Record):
    similarity: Similarity | NotMeasured


_SIMILARITY = Step("similarity", records_of(_SimilarityResult))
_COMPARISONS = Step("comparisons", records_of(tuple[RowsComparison, ...]))
_UTILITY = Step("utility", records_of(dict[str, UtilityEstimate]))

UtterancePair = tuple[Utterance, Utterance]
"""An original recording and the same anonymised."""


def run_audit(
    study: Study,
    folder: Path,
    *,
    jobs: int = 2,
    engine: Engine | None = None,
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
        How many recordings are processed at a time, in threads.
    engine : Engine, optional
        What processes recordings; default the engine that the study names.
    audio : bool, default True
        Whether the report holds recordings.
    progress : StageProgress, optional
        Called with the name of a stage and how far it is.

    Raises
    ------
    InputError
        ``exists`` for a folder with other content, ``old-format`` for an audit of another version,
        ``locked`` while another run writes into it, and whatever is wrong with the corpus.
    UsageError
        Those of :meth:`.Study.check`, :func:`check_machine` and :func:`open_corpora`.
    """
    study.check()
    check_machine(study)
    check_audit_folder(folder)
    with ExitStack() as stack:
        stack.enter_context(locked(folder))
        stack.enter_context(keep_analyses())
        show = progress or (lambda stage, done, total: None)
        if engine is None:
            engine = stack.enter_context(open_engine(study.engine, jobs=jobs))
        run = _Run(study, folder, engine, show)
        findings = run.findings()
        if run.trials is not None:
            write_trials(folder, run.trials)
        _write(findings, folder, study, audio)
    return findings


class _Run:
    """A study in a folder: owns the speech, the embeddings and the attacks."""

    def __init__(self, study: Study, folder: Path, engine: Engine, progress: StageProgress) -> None:
        self.study, self.folder, self.progress = study, folder, progress
        self.engine = engine
        corpora = open_corpora(study, folder)
        corpus, train = corpora.corpus, corpora.train
        encoder = make_encoder(encoder_name(study.encoder))
        self.cache = SpeechCache(folder, encoder, progress=progress, engine=engine)
        self.steps = self.cache.steps
        self.meter = UtilityMeter(
            study.utility.recogniser, confidence=study.interval, engine=engine
        )
        self.vetted = vet(corpus, self.steps, engine=engine, progress=progress)
        self.vetted_train = (
            None if train is None else vet(train, self.steps, engine=engine, progress=progress)
        )
        train_speech = None if self.vetted_train is None else self.vetted_train.speech
        self.trials = (
            None if study.trials is None else read_trials(study.trials, self.vetted.speech.corpus)
        )
        self.trial_list = None if self.trials is None else describe_trials(self.trials)
        self.division = divide_speech(
            self.vetted.speech, train_speech, seed=study.seed, trials=self.trials
        )
        self.attacks = AttackRunner(
            study, folder, self.cache, self.division, self.trial_list, progress
        )

    def findings(self) -> AuditFindings:
        """Everything that ``measures.json`` holds."""
        rows: list[AttackRow] = []
        anonymisers: list[AnonymiserFinding] = []
        originals: list[OriginalsFinding] = []
        engine = self.engine if self.engine.remote else HERE
        for work, result in engine.map(
            self.attacks, self._attacks(anonymisers), label="attacking", memory=SPEECH_MEMORY
        ):
            if isinstance(result, AttackRow):
                rows.append(replace(result, slices=self.attacks.slices(work)))
            else:
                originals.append(replace(result, slices=self.attacks.slices(work)))
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
            not_tested=not_tested(self.study),
            comparisons=self._comparisons(rows),
            trial_list=self.trial_list,
            release=self.study.release.limits,
            slice_texts=slice_texts(self.study, self.division, self.steps),
            text_traits=text_traits(self.study, self.vetted.speech, self.steps),
        )

    # ------------------------------------------------------------------------------ attacks

    def _attacks(self, anonymisers: list[AnonymiserFinding]) -> Iterator[RowWork | OriginalsWork]:
        """Prepare the attacks in order: while one is made, speech of the next is anonymised."""
        for number, spec in enumerate(self.study.anonymiser_specs):
            inputs = self._inputs(spec)
            planned = self.study.attacks_on(spec)
            attackers = [plan.attacker for plan in planned]
            draws = max(plan.settings.draws for plan in planned)
            sets = prepare_embeddings(inputs, attackers, self.cache, draws=draws)
            anonymisers.append(self._anonymiser(spec, inputs, sets))
            if number == 0:
                for linkage in self.study.linkages:
                    yield OriginalsWork(inputs, sets, linkage)
            for plan in planned:
                yield self.attacks.prepare(plan, inputs, sets)

    def _inputs(self, spec: AnonymiserSpec) -> AttackInputs:
        division = self.division
        attacked = self.vetted.speech.with_ids(division.enrol.ids | division.trial.ids)
        secret = operators_secret(self.study.operators_seed)
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

    # --------------------------------------------------------------------------- anonymisers

    def _anonymiser(
        self, spec: AnonymiserSpec, inputs: AttackInputs, sets: EmbeddingSets
    ) -> AnonymiserFinding:
        released = {utterance.id: utterance for utterance in inputs.released.corpus}
        pairs = [(utterance, released[utterance.id]) for utterance in self._utility_sample()]
        key = [self.attacks.cache_key_inputs(spec), self._utility_settings()]
        texts = [original.transcript for original, _ in pairs]
        utility = self.steps.get(_UTILITY, [key, texts], lambda: self._utility(pairs, spec.label))
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
            retrained=self._retrained(spec, inputs),
        )

    def _retrained(
        self, spec: AnonymiserSpec, inputs: AttackInputs
    ) -> RetrainedUtility | NotMeasured | None:
        """Recognisers trained on originals and on speech anonymised with other draws."""
        if not self.study.utility.retrained:
            return None
        settings = ComparisonSettings(
            RecogniserSettings(seed=self.study.seed), confidence=self.study.interval
        )
        drawn = prepare_speech(inputs, "train", "attacker", self.cache)[0]
        try:
            train = SpeechForms(inputs.train, drawn)
            test = SpeechForms(inputs.trial, inputs.released)
            return RecogniserComparison(train, test, self.cache, settings).result()
        except SottovoceError as error:
            return NotMeasured(str(error))

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
            [
                "originals",
                self.division.trial.key,
                self._utility_settings(),
                [utterance.transcript for utterance in utterances],
            ],
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

    def _comparisons(self, rows: list[AttackRow]) -> tuple[RowsComparison, ...]:
        located = [LocatedRow(row, self.folder) for row in rows]
        names = [(row.anonymiser, row.attack, row.row.folder) for row in located]
        study = self.study
        return self.steps.get(
            _COMPARISONS,
            [names, COMPARED, study.lengths, study.populations, study.interval, study.seed],
            lambda: compare_rows(
                located,
                interval=study.interval,
                seed=study.seed,
                progress=self._stage("comparing attacks"),
            ),
        )

    def _stage(self, label: str) -> Progress:
        return lambda done, total: self.progress(label, done, total)


def _write(findings: AuditFindings, folder: Path, study: Study, audio: bool) -> None:
    """All files of the audit; the report last."""
    from sottovoce.report.audit import render

    write_findings(folder, findings, describe_provenance(study, findings))
    write_text(folder / REPORT, render(findings, folder, audio=audio))
