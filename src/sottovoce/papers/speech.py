"""Attacks on speech for a paper: anonymised, embedded and linked once, whatever asks for it.

Unlike an audit it computes the scores alone, no intervals, trust or report, so that a figure of
seventy attacks takes minutes. Anonymised speech and embeddings are kept, so a run that was stopped
continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sottovoce.asr.recogniser import DEFAULT_RECOGNISER
from sottovoce.attack import ATTACKERS, Attacker, AttackSettings, EmbeddingSets, LinkageTrainer
from sottovoce.attack.inputs import AttackInputs, divide_speech, prepare_embeddings
from sottovoce.attack.score import Over, ScoreTable
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, operators_secret
from sottovoce.attack.techniques import link
from sottovoce.attack.training import Judging, TrainedLinkage
from sottovoce.audit.utility import UtilityMeter, sample_utterances
from sottovoce.core.engine import Engine
from sottovoce.core.step_cache import Step, records_of
from sottovoce.core.types import StageProgress
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.findings import UtilityEstimate
from sottovoce.papers.data import PaperData, PartSize, part_of, training_part
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import make_encoder

ENCODER = "campplus"
_WORDS = Step("words", records_of(UtilityEstimate))

ORIGINALS = Attacker(
    "on originals", "original", "original", "attacks speech that nobody anonymised", rank=0
)
"""Links originals with originals."""
INFORMED_AS_PUBLISHED = Attacker(
    "informed",
    "released",
    "original",
    "knows the anonymiser and its draws, but trains on originals (Maouche et al. 2020)",
    rank=3,
)
"""The informed attacker of Maouche et al., which does not train on anonymised speech."""

QUICK = PartSize(speakers=20, enrol=2, trial=3)
QUICK_CROWD = PartSize(speakers=120, enrol=2, trial=4, seconds=None)
QUICK_TRAINING = (20, 3, 4.0)
"""Speakers, utterances of each and seconds of each that attackers of a quick run train on."""
TRAINING = (40, 5, 4.0)
"""The same of other runs: training speech is anonymised for each anonymiser and attacker."""


class SpeechStudy:
    """Speech of one corpus in every form that attackers need.

    Parameters
    ----------
    corpus : Corpus
        The attacked speech.
    train : Corpus or None
        Speech of other speakers; None to train on half of the speakers of ``corpus``.
    folder : Path
        Where anonymised speech, embeddings and finished steps are kept.
    released_enrolment : bool, default True
        Whether enrolment speech is released too, which an attacker that knows the draws enrols
        with; without it half of the work is saved.
    training_seconds : float, optional
        What the recordings of ``train`` were cut to, as results say.
    seed : int, default 0
        Of all draws.
    jobs : int, default 1
        Recordings processed at a time.
    progress : StageProgress, optional
        Called while something is made.
    engine : Engine, optional
        What processes recordings instead of threads of this process.
    """

    def __init__(
        self,
        corpus: Corpus,
        train: Corpus | None,
        folder: Path,
        *,
        released_enrolment: bool = True,
        training_seconds: float | None = None,
        seed: int = 0,
        jobs: int = 1,
        progress: StageProgress | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.seed = seed
        self.training_seconds = training_seconds
        self.cache = SpeechCache(folder, make_encoder(ENCODER), jobs, progress, engine)
        self.trainer = LinkageTrainer()
        self.meter = UtilityMeter(DEFAULT_RECOGNISER, confidence=0.95, jobs=jobs, engine=engine)
        speech = SpeechSet.of(corpus)
        training = None if train is None else SpeechSet.of(train)
        self.division = divide_speech(speech, training, seed=seed)
        attacked = self.division.enrol.ids | self.division.trial.ids
        self.attacked = speech.with_ids(attacked)
        self.to_release = self.attacked if released_enrolment else self.division.trial

    @property
    def key(self) -> list[str]:
        """What attacks are kept under: the recordings, and how they are divided."""
        division = self.division
        return [division.enrol.key, division.trial.key, division.train.key]

    @property
    def described(self) -> str:
        """The speech by name and size, as results quote it."""
        division = self.division
        trial, train = division.trial.corpus, division.train.corpus
        seconds = self.training_seconds
        cut = "" if seconds is None else f", the first {seconds:g} s of each"
        return (
            f"{trial.name}: {len(trial.speakers)} speakers, {len(division.enrol.corpus):,} "
            f"enrolment and {len(trial):,} trial recordings; attackers trained on "
            f"{len(train.speakers)} other speakers of {train.name} ({len(train):,} recordings{cut})"
        )

    def released(self, spec: AnonymiserSpec) -> SpeechSet:
        """Return the speech as the operator releases it.

        Parameters
        ----------
        spec : AnonymiserSpec
            The anonymiser.
        """
        return self.cache.anonymise(
            self.to_release, spec, operators_secret(self.seed), f"{spec.label}, released"
        )

    def sets(
        self,
        spec: AnonymiserSpec | None,
        attackers: Sequence[Attacker],
        *,
        similar: AnonymiserSpec | None = None,
    ) -> EmbeddingSets:
        """Anonymise and embed everything that some attackers need.

        Parameters
        ----------
        spec : AnonymiserSpec or None
            The anonymiser under attack; None for originals.
        attackers : sequence of Attacker
            Their needs are prepared, each with one draw of its own.
        similar : AnonymiserSpec, optional
            The anonymiser of an attacker that only has a similar one.
        """
        return prepare_embeddings(self.inputs(spec, similar=similar), attackers, self.cache)

    def inputs(
        self, spec: AnonymiserSpec | None, *, similar: AnonymiserSpec | None = None
    ) -> AttackInputs:
        """Return the speech that attacks on an anonymiser start from.

        Parameters
        ----------
        spec : AnonymiserSpec or None
            The anonymiser under attack; None for originals.
        similar : AnonymiserSpec, optional
            The anonymiser of an attacker that only has a similar one.
        """
        division = self.division
        return AttackInputs(
            division.enrol,
            division.trial,
            division.train,
            self.attacked if spec is None else self.released(spec),
            spec,
            similar,
            seed=self.seed,
        )

    def trained(
        self, sets: EmbeddingSets, attacker: Attacker, linkage: str = "plda"
    ) -> TrainedLinkage:
        """Train the linkage function of an attacker on its own training speech.

        Parameters
        ----------
        sets : EmbeddingSets
            With the training speech in the form that this attacker trains on.
        attacker : Attacker
            Decides the form.
        linkage : str, default "plda"
            Name of a linkage function, or ``best``.
        """
        training = sets["train", attacker.training]
        judging = Judging(self.seed, across_draws=not attacker.knows_draws)
        return self.trainer.train(linkage, training, judging)

    def table(
        self,
        spec: AnonymiserSpec | None,
        attacker: Attacker,
        *,
        linkage: str = "plda",
        over: Over = "model",
        similar: AnonymiserSpec | None = None,
    ) -> ScoreTable:
        """Score every enrolled speaker, or recording, against every trial.

        Parameters
        ----------
        spec : AnonymiserSpec or None
            The anonymiser under attack; None for originals.
        attacker : Attacker
            What it enrols with and trains on.
        linkage : str, default "plda"
            Name of a linkage function, or ``best``.
        over : {"model", "mean", "max", "utterance"}, default "model"
            How enrolment recordings are used.
        similar : AnonymiserSpec, optional
            The anonymiser of an attacker that only has a similar one.
        """
        sets = self.sets(spec, [attacker], similar=similar)
        trained = self.trained(sets, attacker, linkage)
        training = sets["train", attacker.training]
        settings = AttackSettings(linkage, over, seed=self.seed, draws=1)
        enrol, trial = sets["enrol", attacker.enrolment], sets["trial", "released"]
        return link(enrol, trial, trained, training, settings, None)

    def embedded_trials(self, spec: AnonymiserSpec | None) -> Embeddings:
        """Return the vectors of the trials, original or released.

        Parameters
        ----------
        spec : AnonymiserSpec or None
            The anonymiser; None for originals.
        """
        return self.sets(spec, [ATTACKERS["ignorant"]])["trial", "released"]

    def word_errors(self, spec: AnonymiserSpec | None, most: int) -> UtilityEstimate:
        """Measure the word error rate of trials, original or released.

        Parameters
        ----------
        spec : AnonymiserSpec or None
            The anonymiser; None for originals.
        most : int
            How many trials are recognised at most.
        """
        sample = self._recognised(most)
        key = [self.division.trial.key, self.words_key(most)]
        if spec is not None:
            released = self.released(spec)
            key.append(released.key)
            places = {utterance.id: utterance for utterance in released.corpus}
            sample = [
                replace(utterance, path=places[utterance.id].path, start=None, end=None)
                for utterance in sample
            ]
        label = "originals" if spec is None else spec.label
        show = self.cache.progress
        stage = (
            None if show is None else lambda done, total: show(f"recognising {label}", done, total)
        )
        return self.cache.steps.get(_WORDS, key, lambda: self.meter.word_error_rate(sample, stage))

    def words_key(self, most: int) -> list[object]:
        """Return what word error rates depend on besides the recordings.

        Parameters
        ----------
        most : int
            How many trials are recognised at most.
        """
        spoken = [(u.id, u.transcript, u.language) for u in self._recognised(most)]
        return [spoken, self.meter.availability()]

    def _recognised(self, most: int) -> list[Utterance]:
        """The trials with transcripts whose word errors are counted."""
        transcribed = self.division.trial.corpus.select(lambda u: bool(u.transcript))
        return sample_utterances(transcribed, most, self.seed)


def open_study(
    data: PaperData,
    size: PartSize | None = None,
    *,
    crowd: bool = False,
    training: tuple[int, int, float] = TRAINING,
    released_enrolment: bool | None = None,
) -> SpeechStudy:
    """Open the speech of a run: the whole corpus, or the part of a quick run.

    Parameters
    ----------
    data : PaperData
        The corpora that the user names.
    size : PartSize, optional
        How much a quick run takes; default :data:`QUICK`, or :data:`QUICK_CROWD`.
    crowd : bool, default False
        Whether the corpus of many speakers is attacked.
    training : (int, int, float), default :data:`TRAINING`
        Speakers, utterances of each and seconds of each that attackers of a complete run train on.
    released_enrolment : bool, optional
        Whether enrolment speech is released too; default where no crowd is attacked.
    """
    corpus = data.many if crowd else data.attacked
    size = size or (QUICK_CROWD if crowd else QUICK)
    train, seconds = data.training, None
    if train is not None:
        speakers, each, seconds = QUICK_TRAINING if data.quick else training
        train = training_part(train, speakers, each, seconds)
    return SpeechStudy(
        part_of(corpus, size if data.quick else None),
        train,
        data.work,
        released_enrolment=not crowd if released_enrolment is None else released_enrolment,
        training_seconds=seconds,
        seed=data.seed,
        jobs=data.jobs,
        progress=data.progress,
        engine=data.engine,
    )
