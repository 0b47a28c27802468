"""Utility by training: recognisers trained on original or anonymised speech, tested on both.

Whoever collects anonymised speech may want to train on it. So recognisers are trained on originals
and on anonymised speech, whole or in slices, and each is tested on both (D2.3, section 4.2; a case
is named by speech and recogniser: ``A-O`` is anonymised speech and a recogniser of originals).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from sottovoce.asr.ctc import BeamDecoder, DecodingSettings, best_path, spell
from sottovoce.asr.normalise import normalise
from sottovoce.asr.trained import TrainedHead
from sottovoce.attack.slicing import cut_speech
from sottovoce.attack.speech import SpeechCache, SpeechSet
from sottovoce.attack.text.trigrams import TrigramModel, train_trigrams
from sottovoce.audit.content_features import spoken_texts
from sottovoce.audit.speech_forms import SpeechForms
from sottovoce.core.errors import TooFewError
from sottovoce.core.files import fingerprint
from sottovoce.core.records import Record, read_json_record
from sottovoce.core.step_cache import Step, records_of
from sottovoce.core.types import Features
from sottovoce.corpus.reading import numbered_lines
from sottovoce.findings import RateDifference, RecogniserRate, RetrainedUtility, TrainedRecogniser
from sottovoce.findings.retrained import ANONYMISED, ORIGINAL
from sottovoce.measure.utility import (
    Average,
    WordErrors,
    word_error_difference,
    word_error_rate,
    word_errors,
)
from sottovoce.speaker.leakage import check_disjoint
from sottovoce.training.recogniser import (
    RecogniserSettings,
    TrainedRecogniserCard,
    train_recogniser,
)
from sottovoce.training.recogniser_data import SpokenText

FEATURES = "encoder of Moonshine tiny, as it ships"
WEIGHTS = (0.0, 0.3, 0.5)
"""Weights of the language model that held-out speakers choose from; 0 is without."""

Case = tuple[str, float | None]
"""What a recogniser is trained on: a form of speech, and the length of slices."""


@dataclass(frozen=True, slots=True)
class ComparisonSettings(Record):
    """How recognisers are trained and compared."""

    recogniser: RecogniserSettings = field(default_factory=RecogniserSettings)
    slices: tuple[float, ...] = ()
    """Least lengths of slices to train on too, besides whole recordings."""
    confidence: float = 0.95
    lang: str = "en"
    """Language of utterances for which the corpus has none."""
    text: str | None = None
    """A file of more text for the language model, a sentence a line."""


_RECOGNISED = Step("recognised", records_of(tuple[tuple[WordErrors, WordErrors], ...]))
"""Errors on each test utterance with and without the language model."""
_WEIGHT = Step("language-weight", records_of(float))


class RecogniserComparison:
    """Recognisers trained on forms of speech and tested on forms of other speech.

    Parameters
    ----------
    train, test : SpeechForms
        Speech of different speakers; what has no transcript is left out.
    store : SpeechCache
        Keeps features, networks (in ``recognisers/``) and results, so that nothing is made twice.
    settings : ComparisonSettings
        Lengths of slices, training and confidence.
    """

    def __init__(
        self,
        train: SpeechForms,
        test: SpeechForms | None,
        store: SpeechCache,
        settings: ComparisonSettings,
    ) -> None:
        self.given = len(train.original.corpus)
        self.train = train.transcribed()
        self.test = None if test is None else test.transcribed()
        self.store, self.settings = store, settings
        if test is not None:
            check_disjoint(
                {
                    "tested": test.original.corpus.speakers,
                    "training": train.original.corpus.speakers,
                }
            )

    @property
    def cases(self) -> list[Case]:
        """What recognisers are trained on: whole recordings first, then slices."""
        lengths: tuple[float | None, ...] = (None, *self.settings.slices)
        return [(form, seconds) for form in self.train.names for seconds in lengths]

    def result(self, cases: Sequence[Case] | None = None) -> RetrainedUtility:
        """Train and test everything; what is finished already is read back.

        Parameters
        ----------
        cases : sequence of (str, float or None), optional
            What recognisers are trained on; default :attr:`cases`.
        """
        cases = self.cases if cases is None else cases
        recognisers = tuple(self._described(case) for case in cases)
        if self.test is None:
            return RetrainedUtility(FEATURES, recognisers, (), (), 0, 0, 0, self._confidence, "")
        errors = {
            (tested, case): self._errors(case, tested)
            for case in cases
            for tested in self.test.names
        }
        rates = tuple(self._rate(tested, case, errors[tested, case]) for tested, case in errors)
        first = next(iter(errors.values()))
        speakers = self.test.original.corpus.speakers
        return RetrainedUtility(
            FEATURES,
            recognisers,
            rates,
            tuple(self._differences(errors)),
            len(first),
            sum(with_model.words for with_model, _ in first),
            len(speakers),
            self._confidence,
            self._rate_of([with_model for with_model, _ in first]).resampled,
        )

    # ---------------------------------------------------------------------------- recognisers

    def recogniser(self, case: Case) -> tuple[TrainedHead, TrainedRecogniserCard]:
        """Train a recogniser, or load the one that is there.

        Parameters
        ----------
        case : tuple of (str, float or None)
            Form of its training speech, and length of slices.
        """
        form, seconds = case
        speech = self._training_speech(case)
        settings = self.settings.recogniser
        name = form if seconds is None else f"{form}-{seconds:g}s"
        key = self.store.steps.key("recogniser", speech.key, settings)
        target = self.store.folder / "recognisers" / f"{name}-{key}.onnx"
        card_path = target.with_suffix(".json")
        if not (target.is_file() and card_path.is_file()):
            target.parent.mkdir(parents=True, exist_ok=True)
            train_recogniser(
                _learnable(self._spoken(speech, name)),
                settings,
                target,
                source=self.train.original.corpus.name,
                key=key,
                label=f"training on {name}",
                progress=self.store.progress,
            )
        card = read_json_record(TrainedRecogniserCard, card_path, advice="delete it to train again")
        return TrainedHead(target, card.alphabet, card.sha256), card

    def _training_speech(self, case: Case) -> SpeechSet:
        form, seconds = case
        speech = self.train.form(form)
        if seconds is None:
            return speech
        original = self.train.original
        cut = cut_speech(
            speech, seconds, "words", self.store, lang=self.settings.lang, timed_by=original
        )
        return cut.speech

    def _spoken(self, speech: SpeechSet, label: str) -> list[SpokenText]:
        transcripts = [utterance.transcript for utterance in speech.corpus]
        return spoken_texts(speech, transcripts, self.store, label)

    def _described(self, case: Case) -> TrainedRecogniser:
        form, seconds = case
        _, card = self.recogniser(case)
        speech = self._training_speech(case).corpus
        sources = {u.id if seconds is None else u.id.rpartition("/")[0] for u in speech}
        return TrainedRecogniser(
            form,
            len(card.speakers),
            card.recordings,
            card.hours,
            self.given - len(sources),
            card.chosen_epoch,
            card.held_out_wer,
            self._language_weight(case),
            seconds,
        )

    # ------------------------------------------------------------------------ language model

    @cached_property
    def _language_model(self) -> TrigramModel:
        """Of the transcripts of training speakers, never of held-out ones, and of other text."""
        _, card = self.recogniser((ORIGINAL, None))
        sentences = [
            spell(utterance.transcript).split()
            for utterance in self.train.original.corpus
            if utterance.speaker in card.speakers
        ]
        if self.settings.text is not None:
            sentences += [
                spell(line).split() for _, line in numbered_lines(Path(self.settings.text))
            ]
        return train_trigrams(sentences)

    @cached_property
    def _language_key(self) -> object:
        text = self.settings.text
        _, card = self.recogniser((ORIGINAL, None))
        other = None if text is None else fingerprint(Path(text))
        return [self.train.original.key, card.speakers, other]

    def _language_weight(self, case: Case) -> float:
        """The weight with the fewest errors on the held-out speakers, in whole recordings."""
        head, card = self.recogniser(case)
        form, _ = case

        def compute() -> float:
            speech = self.train.form(form)
            held_out = [
                recording
                for recording in self._spoken(speech, form)
                if recording.speaker in card.held_out_speakers
            ]
            output = [head.log_probabilities(recording.features) for recording in held_out]
            totals = []
            for weight in WEIGHTS:
                decoder = self._decoder(head, weight)
                texts = [_decode(values, head.alphabet, decoder) for values in output]
                pairs = zip(held_out, texts, strict=True)
                totals.append(sum(word_errors(r.text, text).total for r, text in pairs))
            return WEIGHTS[int(np.argmin(totals))]

        tried = [DecodingSettings(weight=weight) for weight in WEIGHTS]
        return self.store.steps.get(_WEIGHT, [card.sha256, self._language_key, tried], compute)

    def _decoder(self, head: TrainedHead, weight: float) -> BeamDecoder | None:
        if weight == 0:
            return None
        return BeamDecoder(head.alphabet, self._language_model, DecodingSettings(weight=weight))

    # --------------------------------------------------------------------------------- tests

    def _errors(self, case: Case, tested: str) -> Sequence[tuple[WordErrors, WordErrors]]:
        """Errors on each test utterance, with the language model and without."""
        if self.test is None:
            raise TooFewError("no speech to test on")
        head, card = self.recogniser(case)
        weight = self._language_weight(case)
        speech = self.test.form(tested)

        def compute() -> tuple[tuple[WordErrors, WordErrors], ...]:
            decoder = self._decoder(head, weight)
            recordings = self._spoken(speech, f"test speech, {tested}")
            results = []
            for done, (utterance, recording) in enumerate(
                zip(speech.corpus, recordings, strict=True), start=1
            ):
                values = head.log_probabilities(recording.features)
                language = utterance.language or self.settings.lang
                said = normalise(utterance.transcript, language)
                greedy, heard = (
                    word_errors(said, normalise(_decode(values, head.alphabet, way), language))
                    for way in (None, decoder)
                )
                results.append((heard, greedy))
                if self.store.progress:
                    stage = f"recognising {case_name(tested, case[0])}"
                    self.store.progress(stage, done, len(recordings))
            return tuple(results)

        texts = [utterance.transcript for utterance in speech.corpus]
        decoding = DecodingSettings(weight=weight)
        key = [speech.key, texts, card.sha256, decoding, self._language_key, self.settings.lang]
        return self.store.steps.get(_RECOGNISED, key, compute)

    def _rate(
        self, tested: str, case: Case, errors: Sequence[tuple[WordErrors, WordErrors]]
    ) -> RecogniserRate:
        average = self._rate_of([heard for heard, _ in errors])
        total = sum((greedy for _, greedy in errors), WordErrors(0, 0, 0, 0))
        return RecogniserRate(
            case_name(tested, case[0]),
            average.value,
            average.low,
            average.high,
            total.total / total.words,
            case[1],
        )

    def _rate_of(self, errors: Sequence[WordErrors]) -> Average:
        return word_error_rate(
            errors, self._test_speakers, confidence=self._confidence, rng=self._rng()
        )

    def _differences(
        self, errors: Mapping[tuple[str, Case], Sequence[tuple[WordErrors, WordErrors]]]
    ) -> Iterator[RateDifference]:
        """Each case against originals throughout and against A-O; slices against whole speech."""
        for (tested, case), results in errors.items():
            form, seconds = case
            others = (
                [(tested, (form, None))] if seconds is not None else COMPARED_WITH[tested, form]
            )
            for other_tested, other in others:
                second = errors.get((other_tested, other))
                if second is None:
                    continue
                difference = word_error_difference(
                    [heard for heard, _ in results],
                    [heard for heard, _ in second],
                    self._test_speakers,
                    confidence=self._confidence,
                    rng=self._rng(),
                )
                yield RateDifference(
                    case_name(tested, form),
                    case_name(other_tested, other[0]),
                    difference.value,
                    difference.low,
                    difference.high,
                    seconds,
                    other[1],
                )

    @property
    def _test_speakers(self) -> list[str]:
        return [] if self.test is None else [u.speaker for u in self.test.original.corpus]

    @property
    def _confidence(self) -> float:
        return self.settings.confidence

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.settings.recogniser.seed)


_WHOLE_ORIGINAL: Case = (ORIGINAL, None)
_WHOLE_ANONYMISED: Case = (ANONYMISED, None)
COMPARED_WITH: dict[tuple[str, str], list[tuple[str, Case]]] = {
    (ORIGINAL, ORIGINAL): [],
    (ANONYMISED, ORIGINAL): [(ORIGINAL, _WHOLE_ORIGINAL)],
    (ORIGINAL, ANONYMISED): [(ORIGINAL, _WHOLE_ORIGINAL)],
    (ANONYMISED, ANONYMISED): [(ORIGINAL, _WHOLE_ORIGINAL), (ANONYMISED, _WHOLE_ORIGINAL)],
}
"""By tested and training form: the cases that a rate of whole speech is compared with."""


def case_name(tested: str, trained: str) -> str:
    """Return the name of a case, such as ``A-O``.

    Parameters
    ----------
    tested, trained : {"original", "anonymised"}
        Speech that is recognised, and speech that the recogniser was trained on.
    """
    return f"{tested[0].upper()}-{trained[0].upper()}"


def _decode(values: Features, alphabet: str, decoder: BeamDecoder | None) -> str:
    return best_path(values, alphabet) if decoder is None else decoder.decode(values)


def _learnable(recordings: Sequence[SpokenText]) -> list[SpokenText]:
    """Recordings with more frames than characters; of others CTC learns nothing."""
    return [r for r in recordings if r.text and len(r.features) > len(r.text)]
