"""Attribute inference: gender, or any column of the manifest, from embeddings.

Logistic regression, tested on speakers it was not trained on, against always guessing the most
frequent answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sottovoce.attack.logistic import log_probabilities, train_logistic
from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray, Names, Vectors
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.findings import AttributeInference, NotMeasured
from sottovoce.measure.intervals import share_interval
from sottovoce.speaker.embeddings import Embeddings

FOLDS = 5
PENALTY = 1.0
"""Weight of the squared coefficients against the summed loss over recordings."""
UTTERANCE_ATTRIBUTES = ("gender", "language", "session")
"""Attributes that are fields of an utterance; others are columns of the manifest."""


def infer_attribute(
    embeddings: Embeddings,
    labels: Sequence[str] | Names,
    *,
    attribute: str = "gender",
    confidence: float = 0.95,
    seed: int = 0,
) -> AttributeInference:
    """Infer an attribute of each recording from its vector.

    Parameters
    ----------
    embeddings : Embeddings
        Recordings, n vectors.
    labels : sequence of str, n
        The attribute of each recording; recordings with an empty label are left out.
    attribute : str, default "gender"
        What the attribute is called in results and messages.
    confidence : float, default 0.95
        Of the interval of the accuracy, between 0 and 1.
    seed : int, default 0
        Of the division of speakers into folds.

    Raises
    ------
    TooFewError
        With fewer than 2 values of at least 2 speakers each.
    """
    texts = np.asarray(labels, np.str_)
    labelled = np.flatnonzero(texts != "")
    values, answers = np.unique(texts[labelled], return_inverse=True)
    speakers = embeddings.speakers[labelled]
    folds = attribute_folds(speakers, answers, len(values), attribute, seed)
    vectors = _standardise(embeddings.vectors[labelled])
    correct = np.zeros(len(labelled))
    guessed = np.zeros(len(labelled))
    for fold in range(FOLDS):
        test = folds == fold
        trained = train_logistic(vectors[~test], answers[~test], len(values), penalty=PENALTY)
        guesses = np.argmax(log_probabilities(vectors[test], trained), axis=1)
        correct[test] = guesses == answers[test]
        guessed[test] = np.bincount(answers[~test]).argmax() == answers[test]
    shares = _mean_by_speaker(correct, speakers)
    interval = share_interval(shares, confidence)
    majority = float(_mean_by_speaker(guessed, speakers).mean())
    balanced = [
        _mean_by_speaker(correct[answers == value], speakers[answers == value]).mean()
        for value in range(len(values))
    ]
    return AttributeInference(
        attribute=attribute,
        values=tuple(map(str, values)),
        speakers=len(shares),
        utterances=len(labelled),
        accuracy=float(shares.mean()),
        low=interval.low,
        high=interval.high,
        majority=majority,
        balanced=float(np.mean(balanced)),
        better_than_guessing=interval.low > majority,
    )


def infer_attributes(
    embeddings: Embeddings, corpus: Corpus, names: Iterable[str], *, seed: int = 0
) -> dict[str, AttributeInference | NotMeasured]:
    """Infer several attributes that a corpus has labels for.

    Parameters
    ----------
    embeddings : Embeddings
        Recordings; those without an id in the corpus are left out.
    corpus : Corpus
        Utterances with the labels.
    names : iterable of str
        ``gender``, ``language``, ``session`` or columns of the manifest.
    seed : int, default 0
        Of the division of speakers into folds.

    Returns
    -------
    dict
        By attribute, the result, or why there is none.
    """
    utterances = {utterance.id: utterance for utterance in corpus}
    ids = [] if embeddings.utterances is None else embeddings.utterances.tolist()
    results: dict[str, AttributeInference | NotMeasured] = {}
    for name in names:
        labels = [
            attribute_label(utterances[id_], name) if id_ in utterances else "" for id_ in ids
        ]
        try:
            results[name] = infer_attribute(embeddings, labels, attribute=name, seed=seed)
        except TooFewError as error:
            results[name] = NotMeasured(str(error))
    return results


def known_attributes(corpus: Corpus) -> set[str]:
    """Return the attributes that at least one utterance has a label for.

    Parameters
    ----------
    corpus : Corpus
        Utterances with the labels.
    """
    known = {
        name
        for name in UTTERANCE_ATTRIBUTES
        if any(getattr(utterance, name) for utterance in corpus)
    }
    return known | {name for utterance in corpus for name, text in utterance.extra.items() if text}


def attribute_label(utterance: Utterance, name: str) -> str:
    """Return the value of an attribute of an utterance, empty where it has none.

    Parameters
    ----------
    utterance : Utterance
        With the labels.
    name : str
        ``gender``, ``language``, ``session`` or a column of the manifest.
    """
    if name in UTTERANCE_ATTRIBUTES:
        return str(getattr(utterance, name))
    return utterance.extra.get(name, "")


def attribute_labels(corpus: Corpus, names: Iterable[str]) -> list[list[str]]:
    """Return the values of several attributes, a list for each.

    Parameters
    ----------
    corpus : Corpus
        Utterances with the labels.
    names : iterable of str
        As for :func:`attribute_label`.
    """
    return [[attribute_label(utterance, name) for utterance in corpus] for name in names]


def attribute_folds(
    speakers: IntArray, answers: IntArray, n_values: int, attribute: str, seed: int
) -> IntArray:
    """Divide recordings into folds: all of a speaker in one, each value spread over all folds.

    Parameters
    ----------
    speakers : ndarray of int64, shape (n,)
        The speaker of each recording.
    answers : ndarray of int64, shape (n,)
        The value of each recording.
    n_values : int
        How many values there are.
    attribute : str
        What the attribute is called in messages.
    seed : int
        Of the division.

    Returns
    -------
    ndarray of int64, shape (n,)
        The fold of each recording, from 0.

    Raises
    ------
    TooFewError
        With fewer than 2 values of at least 2 speakers each.
    """
    rng = np.random.default_rng(seed)
    names, first = np.unique(speakers, return_index=True)
    answer_of = answers[first]
    fewest = np.bincount(answer_of, minlength=n_values).min() if n_values else 0
    if n_values < 2 or fewest < 2:
        raise TooFewError(
            f"{attribute}: {n_values} values, the rarest with {fewest} speakers; at least 2 values "
            "with 2 speakers each are needed to tell them apart"
        )
    fold_of = np.zeros(len(names), np.int64)
    for value in range(n_values):
        members = rng.permutation(np.flatnonzero(answer_of == value))
        fold_of[members] = np.arange(len(members)) % FOLDS
    return np.asarray(fold_of[np.searchsorted(names, speakers)])


def _standardise(vectors: Vectors) -> FloatArray:
    """Unit length, then zero mean and unit variance in each dimension."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = unit - unit.mean(axis=0)
    return np.asarray(unit / np.maximum(unit.std(axis=0), 1e-9), np.float64)


def _mean_by_speaker(values: FloatArray, speakers: IntArray) -> FloatArray:
    _, numbers = np.unique(speakers, return_inverse=True)
    return np.asarray(np.bincount(numbers, values) / np.bincount(numbers))
