"""Training of taggers: views of the sentences, copies with other names, and CRFsuite's L-BFGS.

A text is searched again with its private words hidden. To a tagger that was never shown a hidden
word it is one more unknown word, much like a name, so that *at* in *meet █████ at █████* turns
private as well. So a few weights are learnt last, from copies of the training text with its
entities hidden: one for each label and distance from the hidden word. All others stay as they are.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, asr_view
from sottovoce.anonymise.text.crf import (
    OUTSIDE,
    Crf,
    Floats,
    TaggerCard,
    Weights,
    mean_weights,
)
from sottovoce.anonymise.text.features import (
    CAPITAL_SHAPE,
    DISTANCES,
    sentence_attributes,
    word_attributes,
)
from sottovoce.anonymise.text.lexicon import MULTILINGUAL, lexicon
from sottovoce.anonymise.text.surrogates import base_tables
from sottovoce.anonymise.text.taggers import REGISTERS, SPOKEN
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.core.errors import MissingExtraError, TooFewError, UsageError
from sottovoce.core.types import FloatArray, Progress
from sottovoce.training.tagger_augmentation import NameSwap, hidden_view

MIN_ENTITIES = 50
"""Entities below which a tagger would learn nothing that generalises."""
PENALTIES = 0.05, 0.05
"""L1 and L2 penalty of the run with swapped names; L1 makes most weights zero and files small."""
PLAIN_PENALTIES = 0.1, 0.1
"""L1 and L2 penalty of the run without swapped names."""
SMALLEST_WEIGHT = 1e-3
"""Weights below this are dropped."""
ITERATIONS = {"spoken": (80, 60), "written": (80, 80)}
"""Iterations of the run with swapped names and of the run without. The F1 of written taggers that
are stopped at 50 differs by a point from one order of the sentences to another."""
MAX_HIDDEN_SENTENCES = 4000
"""Sentences that the weights of hidden words are learnt from."""
HIDDEN_STEPS = 100
HIDDEN_STEP_SIZE = 0.1
"""Part of a diagonal Newton step: full ones overshoot, since the weights are correlated."""
HIDDEN_L2 = 1.0
_ITERATION = re.compile(r"Iteration #(\d+)")
_SWAPPABLE = frozenset({"PER", "LOC", "ORG"})


def _no_progress(done: int, total: int) -> None:
    return None


def train_tagger(
    sentences: Sequence[Sentence],
    lang: str,
    register: str,
    *,
    card: TaggerCard | None = None,
    seed: int = 0,
    iterations: int | None = None,
    progress: Progress = _no_progress,
) -> Weights:
    """Train a tagger for one language and register.

    A spoken tagger sees lower case only. A written one sees every sentence twice, as it is and as
    a recogniser would write it, since a tagger that never saw lower case finds next to nothing in
    it. Sentences with names get one more copy with other names in each view. The weights are the
    mean of a run with and a run without those copies: that does better on known names than either
    and keeps what was learnt about unknown ones.

    Parameters
    ----------
    sentences : sequence of Sentence
        Tagged sentences with at least 50 entities.
    lang : str
        Language code.
    register : {"spoken", "written"}
        The kind of text that the tagger is for.
    card : TaggerCard, optional
        Data and licence, written into the weights.
    seed : int, default 0
        Seed of the swapped names.
    iterations : int, optional
        Iterations of each run; by default :data:`ITERATIONS`.
    progress : callable, optional
        Called with the iterations done and their total.

    Raises
    ------
    TooFewError
        If the sentences have fewer than 50 entities.
    MissingExtraError
        If python-crfsuite is not installed.
    """
    return _train(
        {lang: sentences}, lang, register, card or TaggerCard(), seed, iterations, progress
    )


def train_multilingual_tagger(
    sentences: Mapping[str, Sequence[Sentence]],
    register: str,
    *,
    card: TaggerCard | None = None,
    seed: int = 0,
    iterations: int | None = None,
    progress: Progress = _no_progress,
) -> Weights:
    """Train one tagger for several languages, as :func:`train_tagger` does for one.

    Names are swapped for those of the language of a sentence. The tagger does not know the
    language: its lookups are those of all languages together.

    Parameters
    ----------
    sentences : mapping of str to sequence of Sentence
        Tagged sentences by language code.
    register : {"spoken", "written"}
        The kind of text that the tagger is for.
    card : TaggerCard, optional
        Data and licence, written into the weights.
    seed : int, default 0
        Seed of the swapped names.
    iterations : int, optional
        Iterations of each run; by default :data:`ITERATIONS`.
    progress : callable, optional
        Called with the iterations done and their total.
    """
    card = card or TaggerCard()
    return _train(sentences, MULTILINGUAL, register, card, seed, iterations, progress)


def _train(
    sentences: Mapping[str, Sequence[Sentence]],
    lang: str,
    register: str,
    card: TaggerCard,
    seed: int,
    iterations: int | None,
    progress: Progress,
) -> Weights:
    """Train on sentences by language; ``lang`` names the lookups of the tagger."""
    if register not in REGISTERS:
        raise UsageError(
            f"register {register!r} does not exist; choose from {', '.join(REGISTERS)}",
            code="unknown-name",
        )
    entities = sum(len(sentence.spans) for part in sentences.values() for sentence in part)
    if entities < MIN_ENTITIES:
        raise TooFewError(
            f"the data have {entities} entities; a tagger needs at least {MIN_ENTITIES}"
        )
    full_card = TaggerCard(lang=lang, register=register, entities=entities)
    full_card.update(card)
    first, second = ITERATIONS[register] if iterations is None else (iterations, iterations)
    plain, copies, first_views = _training_views(sentences, register, seed)
    total = first + second
    weights = mean_weights(
        fit([*plain, *copies], lang, PENALTIES, first, full_card, lambda i: progress(i, total)),
        fit(plain, lang, PLAIN_PENALTIES, second, full_card, lambda i: progress(first + i, total)),
    )
    return learn_hidden_words(weights, lang, first_views, np.random.default_rng(seed))


def train_in_one_run(
    sentences: Mapping[str, Sequence[Sentence]],
    lang: str,
    register: str,
    *,
    iterations: int,
    card: TaggerCard,
    seed: int = 0,
) -> Weights:
    """Train a tagger in one run with swapped names, in half the time of :func:`train_tagger`.

    Parameters
    ----------
    sentences : mapping of str to sequence of Sentence
        Tagged sentences by language code.
    lang : str
        Language code, or ``multi`` for several languages.
    register : {"spoken", "written"}
        The kind of text that the tagger is for.
    iterations : int
        Iterations of the run.
    card : TaggerCard
        Data and licence, written into the weights.
    seed : int, default 0
        Seed of the swapped names.
    """
    plain, copies, first_views = _training_views(sentences, register, seed)
    weights = fit([*plain, *copies], lang, PENALTIES, iterations, card, lambda i: None)
    return learn_hidden_words(weights, lang, first_views, np.random.default_rng(seed))


def _training_views(
    sentences: Mapping[str, Sequence[Sentence]], register: str, seed: int
) -> tuple[list[Sentence], list[Sentence], list[Sentence]]:
    """Return all views of the sentences, copies with swapped names, and the first view alone."""
    rng = np.random.default_rng(seed)
    views = [_views(part, register) for part in sentences.values()]
    plain = [sentence for part in views for view in part for sentence in view]
    copies = [
        sentence
        for lang, part in sentences.items()
        for sentence in swapped_copies(part, lang, register, rng)
    ]
    return plain, copies, [sentence for part in views for sentence in part[0]]


def favour_capitals(weights: Weights, amount: float) -> Weights:
    """Lower the weight of the label ``O`` for words with a capital, so that more of them are found.

    A tagger of translated text trusts capitals less than one should who must not miss a name.

    Parameters
    ----------
    weights : Weights
        Trained weights.
    amount : float
        By how much; the odds of being outside are divided by e to this power.
    """
    state = weights.state.copy()
    rows = [row for name, row in weights.rows.items() if name.startswith(CAPITAL_SHAPE)]
    state[rows, weights.labels.index(OUTSIDE)] -= amount
    return replace(weights, state=state)


def without_small_weights(weights: Weights, smallest: float) -> Weights:
    """Drop weights of attributes that are close to 0, so that the file becomes smaller.

    Parameters
    ----------
    weights : Weights
        Trained weights.
    smallest : float
        Weights with a smaller absolute value are dropped.
    """
    state = np.where(np.abs(weights.state) >= smallest, weights.state, np.float32(0))
    kept = [name for name, row in weights.rows.items() if state[row].any()]
    rows = {name: i for i, name in enumerate(kept)}
    return replace(weights, rows=rows, state=state[[weights.rows[name] for name in kept]])


def swapped_copies(
    sentences: Sequence[Sentence], lang: str, register: str, rng: np.random.Generator
) -> list[Sentence]:
    """Copy the sentences that have names with other names, in each view of the register.

    Parameters
    ----------
    sentences : sequence of Sentence
        Tagged sentences.
    lang : str
        Language code.
    register : {"spoken", "written"}
        The kind of text that the tagger is for.
    rng : numpy.random.Generator
        Chooses the names.
    """
    swapped = _swap_names(_views(sentences, register)[0], lang, rng)
    return swapped if register == SPOKEN else [*swapped, *map(asr_view, swapped)]


def fit(
    sentences: Sequence[Sentence],
    lang: str,
    penalties: tuple[float, float],
    iterations: int,
    card: TaggerCard,
    progress: Callable[[int], None],
) -> Weights:
    """Return the weights of one training run.

    Parameters
    ----------
    sentences : sequence of Sentence
        Tagged sentences; empty ones are left out.
    lang : str
        Language code.
    penalties : (float, float)
        L1 and L2 penalty.
    iterations : int
        Iterations of L-BFGS.
    card : TaggerCard
        Written into the weights.
    progress : callable
        Called with the iterations done.
    """
    try:
        import pycrfsuite
    except ImportError:
        raise MissingExtraError("training a tagger", "train") from None

    class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
        def message(self, line: str) -> None:
            if match := _ITERATION.search(line):
                progress(int(match[1]))

    lookups = lexicon(lang)
    trainer = Trainer(verbose=False)
    for sentence in sentences:
        forms = ["".join(form.split()) for form in sentence.words]
        if forms:
            trainer.append(sentence_attributes(forms, lookups), sentence.tags)
    trainer.set_params(
        {
            "c1": penalties[0],
            "c2": penalties[1],
            "max_iterations": iterations,
            "feature.possible_transitions": True,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model.crfsuite")
        trainer.train(model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        info = tagger.info()
        tagger.close()
    progress(iterations)
    labels = sorted(info.labels)
    return Weights.from_named(
        labels, info.state_features, info.transitions, card, smallest=SMALLEST_WEIGHT
    )


def _views(sentences: Sequence[Sentence], register: str) -> list[list[Sentence]]:
    """Return the sentences as the tagger will meet them."""
    asr = [asr_view(sentence) for sentence in sentences]
    return [asr] if register == SPOKEN else [list(sentences), asr]


def _swap_names(
    sentences: Sequence[Sentence], lang: str, rng: np.random.Generator
) -> list[Sentence]:
    """Copy the sentences that have names, with other names."""
    tables = base_tables(lang)
    given, family = tables["given_f"] + tables["given_m"], tables["family"]
    organisations = [
        sentence.words[start:end]
        for sentence in sentences
        for start, end, kind in sentence.spans
        if kind == "ORG"
    ]
    swap = NameSwap(lexicon(lang), given, family, tables["place"], rng, organisations)
    return [swap(sentence) for sentence in sentences if sentence.words and _has_names(sentence)]


def _has_names(sentence: Sentence) -> bool:
    return any(kind in _SWAPPABLE for _, _, kind in sentence.spans)


# ================================================================================ hidden words


def learn_hidden_words(
    weights: Weights, lang: str, sentences: Sequence[Sentence], rng: np.random.Generator
) -> Weights:
    """Add the weights of a hidden word, in place of any that were there; all others stay.

    Parameters
    ----------
    weights : Weights
        Trained weights.
    lang : str
        Language code.
    sentences : sequence of Sentence
        Tagged sentences; up to 4000 of those with entities are used.
    rng : numpy.random.Generator
        Chooses the sentences and the entities to hide.
    """
    names = [word_attributes(HIDDEN, distance, lexicon(lang))[0] for distance in DISTANCES]
    zeros = np.zeros((len(names), len(weights.labels)), np.float32)
    crf = Crf(_with_rows(weights, names, zeros), lexicon(lang))
    with_entities = [sentence for sentence in sentences if sentence.spans]
    chosen = rng.permutation(len(with_entities))[:MAX_HIDDEN_SENTENCES]
    copies = [hidden_view(with_entities[int(i)], rng) for i in chosen]
    return _with_rows(weights, names, _fit_hidden_words(crf, copies))


def _fit_hidden_words(crf: Crf, copies: Sequence[Sentence]) -> Floats:
    """Return the most likely weights under a Gaussian prior, distances × labels."""
    columns = {label: i for i, label in enumerate(crf.labels)}
    known = [sentence for sentence in copies if columns.keys() >= set(sentence.tags)]
    emissions = crf.emissions([sentence.words for sentence in known])
    sizes = np.cumsum([len(sentence.words) for sentence in known])[:-1]
    flat = np.concatenate(emissions)
    gold = np.eye(len(columns))[[columns[tag] for sentence in known for tag in sentence.tags]]
    near = np.stack([_is_near_hidden(known, distance) for distance in DISTANCES], axis=1)
    weights = np.zeros((len(DISTANCES), len(columns)))
    for _ in range(HIDDEN_STEPS):
        scores = (flat + near @ weights).astype(np.float32)
        likely = np.concatenate(crf.marginals(np.split(scores, sizes)))
        gradient = near.T @ (gold - likely) - HIDDEN_L2 * weights
        curvature = near.T @ (likely * (1 - likely)) + HIDDEN_L2
        weights += HIDDEN_STEP_SIZE * gradient / curvature
    return weights.astype(np.float32)


def _is_near_hidden(sentences: Sequence[Sentence], distance: int) -> FloatArray:
    """Return 1 for each word that has a hidden word at a distance, else 0."""
    marks = []
    for sentence in sentences:
        hidden = [word == HIDDEN for word in sentence.words]
        count = len(hidden)
        marks += [0 <= i + distance < count and hidden[i + distance] for i in range(count)]
    return np.array(marks, dtype=np.float64)


def _with_rows(weights: Weights, names: Sequence[str], rows: Floats) -> Weights:
    """Return weights with the rows of some attributes set."""
    others = {name: i for name, i in weights.rows.items() if name not in names}
    state = np.concatenate([weights.state[list(others.values())], rows])
    index = {name: i for i, name in enumerate([*others, *names])}
    return Weights(weights.labels, index, state, weights.transition, weights.card)
