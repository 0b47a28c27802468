"""Traits of speakers inferred from what they say (COMPRISE deliverable D2.3, tables 5 and 6).

A classifier is trained on original and on anonymised text and tested on both. The answers for
several utterances of a speaker are pooled: one utterance tells little, thirty tell much.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from sottovoce.anonymise.keys import Secret
from sottovoce.attack.attributes import FOLDS, attribute_folds, attribute_label
from sottovoce.attack.logistic import log_probabilities, train_logistic
from sottovoce.attack.text.defences import TextDefence, strategy_defence
from sottovoce.attack.text.word_counts import TextVectors, words_of
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.languages import language_code
from sottovoce.core.types import FloatArray, IntArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import TextTraits, TextTraitScore
from sottovoce.measure.intervals import Interval, disclosure_interval, share_interval

POOLED: tuple[int | None, ...] = (1, 3, 30, None)
"""Utterances of a speaker behind one answer; None for all of them."""
LEAST_WORDS = 5
"""Words of an utterance that is used, as in D2.3."""
PENALTIES = (1.0, 0.1, 0.01)
"""Penalties of the regression that are tried on training speakers."""
RESAMPLES = 1000
EXCHANGES = 199
Split = Literal["speaker", "utterance"]
ORIGINAL, ANONYMISED = "original", "anonymised"


@dataclass(frozen=True, slots=True)
class LabelledText:
    """What somebody said, and a trait of theirs."""

    speaker: str
    label: str
    original: str
    anonymised: str | None = None
    language: str = ""
    """Code of the language; empty where the corpus has none."""


def labelled_texts(
    corpus: Corpus, attribute: str, *, anonymised: Corpus | None = None
) -> list[LabelledText]:
    """Return the transcripts of a corpus with a trait of their speakers.

    Parameters
    ----------
    corpus : Corpus
        Utterances with transcripts and labels; those without either are left out.
    attribute : str
        ``gender``, ``language``, ``session`` or a column of the manifest.
    anonymised : Corpus, optional
        The same utterances with anonymised transcripts.

    Raises
    ------
    InputError
        ``missing-transcript`` if no utterance has both.
    """
    other = {} if anonymised is None else {u.id: u.transcript for u in anonymised}
    texts = [
        LabelledText(
            utterance.speaker,
            attribute_label(utterance, attribute),
            utterance.transcript,
            None if anonymised is None else other.get(utterance.id, ""),
            language_code(utterance.language),
        )
        for utterance in corpus
        if utterance.transcript and (anonymised is None or other.get(utterance.id))
    ]
    labelled = [text for text in texts if text.label]
    if not labelled:
        raise InputError(
            f"{corpus.name}: no utterance has a transcript and a value of {attribute}; add the "
            "columns to its manifest",
            code="missing-transcript",
        )
    return labelled


def defended(texts: Sequence[LabelledText], defence: TextDefence) -> list[LabelledText]:
    """Return the texts with what a defence makes of them.

    Parameters
    ----------
    texts : sequence of LabelledText
        Original texts.
    defence : callable
        Takes texts and returns as many.
    """
    changed = defence([text.original for text in texts])
    return [replace(text, anonymised=new) for text, new in zip(texts, changed, strict=True)]


def anonymised_by(
    texts: Sequence[LabelledText], strategy: str, *, lang: str = "en", secret: Secret | None = None
) -> list[LabelledText]:
    """Return the texts as a strategy of the text anonymiser changes them, each in its language.

    Parameters
    ----------
    texts : sequence of LabelledText
        Original texts.
    strategy : str
        As in ``sottovoce anonymise text --strategy``.
    lang : str, default "en"
        Language of texts that have none; ``auto`` and ``multi`` as in the text anonymiser.
    secret : Secret, optional
        What draws depend on; default a new one.

    Raises
    ------
    UsageError
        ``unknown-name`` for a strategy or language that there is not.
    """
    changed = list(texts)
    for language in dict.fromkeys(text.language or lang for text in texts):
        rows = [i for i, text in enumerate(texts) if (text.language or lang) == language]
        defence = strategy_defence(strategy, lang=language, secret=secret)
        for i, text in zip(rows, defended([texts[i] for i in rows], defence), strict=True):
            changed[i] = text
    return changed


def infer_text_trait(
    texts: Sequence[LabelledText],
    *,
    attribute: str = "gender",
    transformation: str | None = None,
    pooled: Sequence[int | None] = POOLED,
    split: Split = "speaker",
    confidence: float = 0.95,
    seed: int = 0,
) -> TextTraits:
    """Infer a trait from text: trained on original and anonymised text, tested on both.

    Parameters
    ----------
    texts : sequence of LabelledText
        All with anonymised text, or none; texts of fewer than five words are left out.
    attribute : str, default "gender"
        What the trait is called in results and messages.
    transformation : str, optional
        What was done to the anonymised text.
    pooled : sequence of int or None, default (1, 3, 30, None)
        Utterances of a speaker behind one answer; None for all.
    split : {"speaker", "utterance"}, default "speaker"
        Whether test speakers are unknown in training. With ``utterance`` they are known, as in
        D2.3: whoever recognises a person then seems to infer a trait.
    confidence : float, default 0.95
        Of the intervals, over speakers.
    seed : int, default 0
        Of the division, the groups of utterances and the resamples.

    Raises
    ------
    TooFewError
        With fewer than 2 values of at least 2 speakers each.
    """
    long_enough = [text for text in texts if len(words_of(text.original)) >= LEAST_WORDS]
    if not long_enough:
        raise TooFewError(f"no utterance of at least {LEAST_WORDS} words; add transcripts")
    values, answers = np.unique([text.label for text in long_enough], return_inverse=True)
    names, speakers = np.unique([text.speaker for text in long_enough], return_inverse=True)
    folds = attribute_folds(speakers, answers, len(values), attribute, seed)
    if split == "utterance":
        folds = np.random.default_rng(seed).permutation(len(folds)) % FOLDS
    data = _Data(answers, speakers, folds, len(values), seed)
    forms = {ORIGINAL: [text.original for text in long_enough]}
    if transformation is not None:
        forms[ANONYMISED] = [text.anonymised or "" for text in long_enough]
    scores = [
        score
        for trained_on, tested_on, decisions in _decisions(data, forms)
        for count in pooled
        if (score := _score(data, decisions, trained_on, tested_on, count, confidence)) is not None
    ]
    majority = _majority(data)
    changed = None
    if ANONYMISED in forms:
        changed = float(np.mean([a != b for a, b in zip(*forms.values(), strict=True)]))
    return TextTraits(
        attribute=attribute,
        values=tuple(map(str, values)),
        speakers=len(names),
        utterances=len(long_enough),
        least_words=LEAST_WORDS,
        transformation=transformation,
        split=split,
        majority_f1=_macro_f1(majority),
        majority_accuracy=float(np.trace(majority) / majority.sum()),
        confidence=confidence,
        scores=tuple(scores),
        changed=changed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    answers: IntArray
    speakers: IntArray
    folds: IntArray
    n_values: int
    seed: int


def _decisions(data: _Data, forms: dict[str, list[str]]) -> Iterator[tuple[str, str, FloatArray]]:
    """For each pair of texts to train on and to test, ln P of each value for each utterance."""
    shape = (len(data.answers), data.n_values)
    for trained_on, texts in forms.items():
        decisions = {tested_on: np.empty(shape) for tested_on in forms}
        for fold in range(FOLDS):
            test = np.flatnonzero(data.folds == fold)
            train = np.flatnonzero(data.folds != fold)
            if not len(test):
                continue
            vectors = TextVectors.learn([texts[i] for i in train])
            inputs = vectors.transform([texts[i] for i in train])
            penalty = _choose_penalty(data, inputs, train)
            coefficients = train_logistic(
                inputs,
                data.answers[train],
                data.n_values,
                penalty=penalty,
                weights=_balanced(data.answers[train], data.n_values),
            )
            for tested_on, tested in forms.items():
                rows = vectors.transform([tested[i] for i in test])
                decisions[tested_on][test] = log_probabilities(rows, coefficients)
        for tested_on in forms:
            yield trained_on, tested_on, decisions[tested_on]


def _balanced(answers: IntArray, n_values: int) -> FloatArray:
    """Weights that make all values count the same."""
    counts = np.maximum(np.bincount(answers, minlength=n_values), 1)
    return np.asarray((len(answers) / n_values / counts)[answers])


def _choose_penalty(data: _Data, inputs: csr_array, train: IntArray) -> float:
    """The penalty with the lowest loss on training speakers that are held out."""
    folds = data.folds[train]
    held_out = folds == folds.max()
    answers = data.answers[train]
    if len(np.unique(answers[~held_out])) < data.n_values or not held_out.any():
        return PENALTIES[0]
    kept, checked = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    weights = _balanced(answers, data.n_values)
    losses = []
    for penalty in PENALTIES:
        coefficients = train_logistic(
            inputs[kept], answers[kept], data.n_values, penalty=penalty, weights=weights[kept]
        )
        logs = log_probabilities(inputs[checked], coefficients)
        losses.append(-(weights[checked] * logs[np.arange(len(checked)), answers[checked]]).sum())
    return PENALTIES[int(np.argmin(losses))]


def _score(
    data: _Data,
    decisions: FloatArray,
    trained_on: str,
    tested_on: str,
    count: int | None,
    confidence: float,
) -> TextTraitScore | None:
    """One cell of the table; None if no speaker has so many utterances."""
    confusion = _confusion(data, decisions, count)
    if confusion is None:
        return None
    rng = np.random.default_rng([data.seed, count or 0])
    value = _macro_f1(confusion.sum(axis=0))
    exchanged = np.array([_macro_f1(_exchange(confusion, rng)) for _ in range(EXCHANGES)])
    chance = float(exchanged.mean())
    people = len(confusion)
    draws = np.array(
        [
            _macro_f1(confusion[rng.integers(0, people, people)].sum(axis=0))
            for _ in range(RESAMPLES)
        ]
    )
    ends = _interval(value, draws, confusion, confidence)
    whole = confusion.sum(axis=0)
    return TextTraitScore(
        trained_on=trained_on,
        tested_on=tested_on,
        pooled=count,
        answers=int(whole.sum()),
        macro_f1=value,
        low=ends.low,
        high=ends.high,
        accuracy=float(np.trace(whole) / whole.sum()),
        chance=chance,
        p_value=float((1 + np.count_nonzero(exchanged >= value)) / (1 + EXCHANGES)),
    )


def _interval(value: float, draws: FloatArray, confusion: IntArray, confidence: float) -> Interval:
    """Interval over speakers; where all resamples agree, that of the share of right answers."""
    people = len(confusion)
    if np.ptp(draws) > 0:
        bounds = (0.0, 1.0)
        return disclosure_interval(
            value, draws, confidence, units=people, full=math.inf, none=0.5, bounds=bounds
        )
    right = np.trace(confusion, axis1=1, axis2=2) / confusion.sum(axis=(1, 2))
    return share_interval(right, confidence).extended_to(value)


def _confusion(data: _Data, decisions: FloatArray, count: int | None) -> IntArray | None:
    """Answers by speaker, true value and answer; groups of utterances are drawn at random."""
    rng = np.random.default_rng(data.seed)
    tables = []
    for speaker in range(int(data.speakers.max()) + 1):
        rows = rng.permutation(np.flatnonzero(data.speakers == speaker))
        size = len(rows) if count is None else count
        groups = [rows[i : i + size] for i in range(0, len(rows) - size + 1, size)]
        if not groups or not size:
            continue
        table = np.zeros((data.n_values, data.n_values), np.int64)
        for group in groups:
            answer = int(np.argmax(decisions[group].sum(axis=0)))
            table[data.answers[group[0]], answer] += 1
        tables.append(table)
    return np.array(tables) if len(tables) > 1 else None


def _exchange(confusion: IntArray, rng: np.random.Generator) -> IntArray:
    """All answers, with the traits of speakers exchanged at random."""
    given = confusion.sum(axis=1)
    traits = rng.permutation(confusion.sum(axis=2).argmax(axis=1))
    total = np.zeros(confusion.shape[1:], np.int64)
    np.add.at(total, traits, given)
    return total


def _majority(data: _Data) -> IntArray:
    """Answers of whoever always gives the most frequent one of the training speakers."""
    table = np.zeros((data.n_values, data.n_values), np.int64)
    for fold in range(FOLDS):
        test = data.folds == fold
        if test.any():
            guess = int(np.bincount(data.answers[~test], minlength=data.n_values).argmax())
            np.add.at(table, (data.answers[test], guess), 1)
    return table


def _macro_f1(table: IntArray) -> float:
    """Mean over values of 2 TP / (2 TP + FP + FN); a value that nobody has does not count."""
    right = np.diag(table).astype(np.float64)
    total = table.sum(axis=0) + table.sum(axis=1)
    present = total > 0
    return float(np.mean(2 * right[present] / total[present]))
