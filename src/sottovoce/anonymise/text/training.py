"""Training of taggers: sentences, their copies, and CRFsuite's L-BFGS."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.anonymise.text.augment import NameSwap
from sottovoce.anonymise.text.conll import Sentence, asr_view
from sottovoce.anonymise.text.crf import Weights, mean
from sottovoce.anonymise.text.entities import REGISTERS
from sottovoce.anonymise.text.features import sentence_attributes
from sottovoce.anonymise.text.hidden import with_hidden
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.surrogates import tables
from sottovoce.errors import TooFewError, UsageError

FEWEST = 50
"""Entities below which a tagger would learn nothing that holds."""
L1, L2 = 0.05, 0.05
"""Penalties on weights; the first one makes most of them zero, which keeps files small."""
PLAIN = 0.1, 0.1
"""Penalties of the run without swapped names."""
SMALL = 1e-3
"""Weights below this are dropped."""
ITERATIONS = {"spoken": 80, "written": 50}
_SWAPPABLE = frozenset({"PER", "LOC"})


def train_tagger(
    sentences: Sequence[Sentence],
    lang: str,
    register: str,
    *,
    card: dict[str, Any] | None = None,
    seed: int = 0,
    iterations: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Weights:
    """Weights of a tagger for one language and register.

    A spoken tagger sees lower case only. A written one sees every sentence twice, as it is and as
    a recogniser would write it, since a tagger that never saw lower case finds next to nothing in
    it. Sentences with persons or places get one more copy with other names. Of a spoken tagger's
    weights, half come from a run without those copies: the mean of the two does better on known
    names than either and keeps what was learnt of unknown ones. What a hidden word says of its
    neighbours is learnt last (:func:`.hidden.with_hidden`).
    """
    if register not in REGISTERS:
        raise UsageError(f"register {register!r}; there are {', '.join(REGISTERS)}")
    found = sum(len(one.spans) for one in sentences)
    if found < FEWEST:
        raise TooFewError(f"{found} entities in the data; a tagger needs at least {FEWEST}")
    told = {"lang": lang, "register": register, "entities": found, **(card or {})}
    turns = iterations or ITERATIONS[register]
    copies = _copies(sentences, lang, register, np.random.default_rng(seed))
    weights = _fit(copies, lang, (L1, L2), turns, told, progress)
    if register == "spoken":
        sentences = [asr_view(one) for one in sentences]
        plain = [one for one in sentences if one.words]
        weights = mean(weights, _fit(plain, lang, PLAIN, turns * 3 // 4, told, progress))
    return with_hidden(weights, lang, sentences, np.random.default_rng(seed))


def _fit(
    sentences: Sequence[Sentence],
    lang: str,
    penalties: tuple[float, float],
    iterations: int,
    card: dict[str, Any],
    progress: Callable[[int, int], None],
) -> Weights:
    """Weights of one training run."""
    import pycrfsuite

    words = lexicon(lang)
    trainer = pycrfsuite.Trainer(verbose=False)
    for i, one in enumerate(sentences):
        progress(i, 2 * len(sentences))
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
    progress(2 * len(sentences), 2 * len(sentences))
    return Weights.gather(
        sorted(info.labels), info.state_features, info.transitions, card, least=SMALL
    )


def _copies(
    sentences: Sequence[Sentence], lang: str, register: str, rng: np.random.Generator
) -> list[Sentence]:
    own = tables(lang)
    swap = NameSwap(
        lexicon(lang), own["given_f"] + own["given_m"], own["family"], own["place"], rng
    )
    if register == "spoken":
        base = [asr_view(one) for one in sentences]
        copies = base + [swap(one) for one in base if _swappable(one)]
    else:
        swapped = [swap(one) for one in sentences if _swappable(one)]
        copies = [*sentences, *swapped, *map(asr_view, sentences)]
    return [one for one in copies if one.words]


def _swappable(sentence: Sentence) -> bool:
    return any(kind in _SWAPPABLE for _, _, kind in sentence.spans)
