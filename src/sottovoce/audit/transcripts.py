"""What the transcripts of a study give away: slices put together again, traits of speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.asr.normalise import normalise
from sottovoce.attack.attributes import attribute_labels
from sottovoce.attack.inputs import SpeechDivision
from sottovoce.attack.speech import SpeechSet, operators_secret
from sottovoce.attack.text.defences import command_defence
from sottovoce.attack.text.reassembly import measure_slices
from sottovoce.attack.text.traits import (
    LabelledText,
    anonymised_by,
    defended,
    infer_text_trait,
    labelled_texts,
)
from sottovoce.attack.text.trigrams import train_trigrams
from sottovoce.audit.study import Study
from sottovoce.audit.study_parts import StudySlices, StudyText
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.files import fingerprint
from sottovoce.core.records import Record
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.corpus.reading import numbered_lines
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import NotMeasured, SliceText, TextTraits


@dataclass(frozen=True, slots=True)
class _SliceTexts(Record):
    results: tuple[SliceText, ...] | NotMeasured


@dataclass(frozen=True, slots=True)
class _TextTraits(Record):
    results: tuple[TextTraits, ...] | NotMeasured


_SLICE_TEXTS = Step("slice-texts", records_of(_SliceTexts))
_TEXT_TRAITS = Step("text-traits", records_of(_TextTraits))


def slice_texts(
    study: Study, division: SpeechDivision, steps: StepCache
) -> tuple[SliceText, ...] | NotMeasured | None:
    """Measure what the words of slices give away; None if the study does not slice.

    Parameters
    ----------
    study : Study
        With lengths of slices.
    division : SpeechDivision
        Transcripts of its trials are attacked; those of its training speech teach the attacker,
        unless the study names other text.
    steps : StepCache
        Where the result is kept.
    """
    settings = study.slice
    if settings is None:
        return None
    trials, train = division.trial.corpus, division.train.corpus
    other = None if settings.text is None else fingerprint(Path(settings.text))
    texts = [[utterance.transcript for utterance in corpus] for corpus in (trials, train)]

    def compute() -> _SliceTexts:
        try:
            return _SliceTexts(_measure_slices(study, settings, trials, train))
        except SottovoceError as error:
            return _SliceTexts(NotMeasured(str(error)))

    key = [texts, other, settings.seconds, settings.lang, study.interval, study.seed]
    return steps.get(_SLICE_TEXTS, key, compute).results


def _measure_slices(
    study: Study, settings: StudySlices, trials: Corpus, train: Corpus
) -> tuple[SliceText, ...]:
    documents = _documents(trials, settings.lang)
    if settings.text is None:
        sentences = _documents(train, settings.lang)
    else:
        lines = numbered_lines(Path(settings.text))
        sentences = [normalise(line, settings.lang).split() for _, line in lines]
    return measure_slices(
        documents,
        train_trigrams(sentences),
        settings.seconds,
        confidence=study.interval,
        seed=study.seed,
    )


def _documents(corpus: Corpus, lang: str) -> list[list[str]]:
    """Words of each transcript, in one spelling."""
    documents = [
        normalise(utterance.transcript, utterance.language or lang).split() for utterance in corpus
    ]
    if not any(documents):
        raise InputError(f"{corpus.name}: no transcripts", code="missing-transcript")
    return [words for words in documents if words]


def text_traits(
    study: Study, speech: SpeechSet, steps: StepCache
) -> tuple[TextTraits, ...] | NotMeasured | None:
    """Infer the attributes of a study from transcripts; None if the study does not ask for it.

    Parameters
    ----------
    study : Study
        With attributes, and strategies to compare.
    speech : SpeechSet
        All usable recordings, with transcripts and labels.
    steps : StepCache
        Where the result is kept.
    """
    settings = study.text
    if settings is None:
        return None
    texts = [(utterance.transcript, utterance.language) for utterance in speech.corpus]

    def compute() -> _TextTraits:
        try:
            return _TextTraits(tuple(_infer(study, settings, speech.corpus)))
        except SottovoceError as error:
            return _TextTraits(NotMeasured(str(error)))

    seeds = [study.seed, study.operators_seed]
    labels = attribute_labels(speech.corpus, study.attributes)
    described = [study.attributes, settings.model_dump(), study.interval]
    key = [texts, labels, speech.key, described, seeds]
    return steps.get(_TEXT_TRAITS, key, compute).results


def _infer(study: Study, settings: StudyText, corpus: Corpus) -> list[TextTraits]:
    paraphrase = None if settings.paraphraser is None else command_defence(settings.paraphraser)
    secret = operators_secret(study.operators_seed)
    results = []
    for attribute in study.attributes:
        texts = labelled_texts(corpus, attribute)
        compared: list[tuple[str | None, Sequence[LabelledText]]] = [
            (name, anonymised_by(texts, name, lang=settings.lang, secret=secret))
            for name in settings.strategies
        ]
        if paraphrase is not None:
            compared.append(("paraphraser", defended(texts, paraphrase)))
        for name, pairs in compared or [(None, texts)]:
            results.append(
                infer_text_trait(
                    pairs,
                    attribute=attribute,
                    transformation=name,
                    split=settings.split,
                    confidence=study.interval,
                    seed=study.seed,
                )
            )
    return results
