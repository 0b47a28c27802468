"""Training of taggers: sentences, their copies, and CRFsuite's L-BFGS."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, asr_view
from sottovoce.anonymise.text.crf import Weights, mean
from sottovoce.anonymise.text.entities import REGISTERS
from sottovoce.anonymise.text.features import sentence_attributes
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.surrogates import tables
from sottovoce.core.errors import TooFewError, UsageError
from sottovoce.core.types import Progress
from sottovoce.training.hidden_words import with_hidden
from sottovoce.training.tagger_augmentation import NameSwap

FEWEST = 50
"""Entities below which a tagger would learn nothing that holds."""
L1, L2 = 0.05, 0.05
"""Penalties on weights; the first one makes most of them zero, which keeps files small."""
PLAIN = 0.1, 0.1
"""Penalties of the run without swapped names."""
SMALL = 1e-3
"""Weights below this are dropped."""
ITERATIONS = {"spoken": (80, 60), "written": (80, 80)}
"""Of the run with swapped names and of the one without. Written taggers stopped at 50 differ by a
point of F1 from one order of sentences to another."""
_ITERATION = re.compile(r"Iteration #(\d+)")
_SWAPPABLE = frozenset({"PER", "LOC"})


def train_tagger(
    sentences: Sequence[Sentence],
    lang: str,
    register: str,
    *,
    card: dict[str, Any] | None = None,
    seed: int = 0,
    iterations: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Weights:
    """Weights of a tagger for one language and register.

    A spoken tagger sees lower case only. A written one sees every sentence twice, as it is and as
    a recogniser would write it, since a tagger that never saw lower case finds next to nothing in
    it. Sentences with persons or places get one more copy with other names. The weights are the
    mean of a run with and a run without those copies: that does better on known names than either
    and keeps what was learnt of unknown ones. What a hidden word says of its neighbours is learnt
    last (:func:`.hidden.with_hidden`).
    """
    if register not in REGISTERS:
        raise UsageError(f"register {register!r}; there are {', '.join(REGISTERS)}")
    found = sum(len(one.spans) for one in sentences)
    if found < FEWEST:
        raise TooFewError(f"{found} entities in the data; a tagger needs at least {FEWEST}")
    told = {"lang": lang, "register": register, "entities": found, **(card or {})}
    first, second = ITERATIONS[register] if iterations is None else (iterations, iterations)
    views = _views(sentences, register)
    swapped = _swapped(views[0], lang, np.random.default_rng(seed))
    plain = [one for view in views for one in view if one.words]
    total = first + second
    weights = mean(
        _fit([*plain, *swapped], lang, (L1, L2), first, told, lambda i: progress(i, total)),
        _fit(plain, lang, PLAIN, second, told, lambda i: progress(first + i, total)),
    )
    return with_hidden(weights, lang, views[0], np.random.default_rng(seed))


def _fit(
    sentences: Sequence[Sentence],
    lang: str,
    penalties: tuple[float, float],
    iterations: int,
    card: dict[str, Any],
    progress: Callable[[int], None],
) -> Weights:
    """Weights of one training run; ``progress`` is told its iterations."""
    import pycrfsuite

    class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
        def message(self, line: str) -> None:
            if found := _ITERATION.search(line):
                progress(int(found[1]))

    words = lexicon(lang)
    trainer = Trainer(verbose=False)
    for one in sentences:
        forms = ["".join(form.split()) for form in one.words]
        if forms:
            trainer.append(sentence_attributes(forms, words), one.tags)
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
    return Weights.gather(
        sorted(info.labels), info.state_features, info.transitions, card, least=SMALL
    )


def _views(sentences: Sequence[Sentence], register: str) -> list[list[Sentence]]:
    """The sentences as the tagger will meet them."""
    heard = [asr_view(one) for one in sentences]
    return [heard] if register == "spoken" else [list(sentences), heard]


def _swapped(sentences: Sequence[Sentence], lang: str, rng: np.random.Generator) -> list[Sentence]:
    """Copies with other names of those sentences that have persons or places."""
    own = tables(lang)
    swap = NameSwap(
        lexicon(lang), own["given_f"] + own["given_m"], own["family"], own["place"], rng
    )
    return [swap(one) for one in sentences if one.words and _swappable(one)]


def _swappable(sentence: Sentence) -> bool:
    return any(kind in _SWAPPABLE for _, _, kind in sentence.spans)
