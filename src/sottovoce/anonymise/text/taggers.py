"""Taggers: which words of a sentence name a person, a place, a time …

The package has two taggers a language: ``spoken``, which sees the text as a recogniser writes it
(lower case, no punctuation), and ``written``, which sees it as it is. τ decides how sure a tagger
must be that a word is *not* private: a word is private if P(O) < τ, so a higher τ misses less and
masks more.

Other taggers are chosen by name. A package adds one with an entry point that names a
:class:`TaggerType`::

    [project.entry-points."sottovoce.taggers"]
    gazetteer = "my_package:GAZETTEER"
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.text.conll import bare_word, spans_of
from sottovoce.anonymise.text.crf import OUTSIDE, Crf, Floats, TaggerCard, Weights
from sottovoce.anonymise.text.entities import Entity
from sottovoce.anonymise.text.lexicon import MULTILINGUAL, check_language, lexicon
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import Registry

DEFAULT_TAU = 0.95
SPOKEN, WRITTEN = REGISTERS = ("spoken", "written")
"""Kinds of text that the package has taggers for."""
_FORBIDDEN = np.float32(-1e6)


@dataclass(frozen=True)
class TaggerInfo:
    """What the detector has to know of a tagger."""

    name: str
    """Short name in reports, such as ``spoken`` or ``spacy``."""
    kinds: frozenset[str]
    """Entity types that it can find."""
    replaces_shipped: bool = False
    """Whether it is used instead of the package's taggers. Otherwise it is used in addition to
    them, so the leak bound that was measured for them still holds."""
    mistakes_sentence_starts: bool = False
    """Whether a capital may make it take the first word of a sentence for a name; the detector
    then drops such entities if the word is a common one and the score is low."""
    card: TaggerCard = field(default_factory=lambda: TaggerCard())
    """Training data and licence, for reports."""

    @property
    def rule(self) -> str:
        """The rule of its entities."""
        return f"tagger {self.name}"


class Tagger(Protocol):
    """Finds entities in sentences."""

    @property
    def info(self) -> TaggerInfo:
        """Its name, the types it finds and how the detector uses it."""

    def tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Find the entities of every sentence.

        Parameters
        ----------
        sentences : sequence of sequence of str
            The words of each sentence. Words that were found before are ``█████``.
        tau : float or None
            A word is private if its probability of being outside every entity is below τ. None
            asks for the most probable tags. A tagger without probabilities may ignore it.

        Returns
        -------
        list of list of Entity
            One list per sentence, with indexes of its words; ``rule`` should be ``info.rule``.
        """


@dataclass(frozen=True)
class TaggerType:
    """A kind of tagger that users choose by name, as ``NAME`` or ``NAME:ARGUMENT``."""

    description: str
    """One line for listings."""
    make: Callable[[str, str], Tagger]
    """Called with the argument, empty if it takes none, and the language code."""
    argument: str = ""
    """What the argument is, such as ``FILE`` or ``FOLDER``; empty if it takes none."""


class CrfTagger:
    """A conditional random field whose weights ``sottovoce train entities`` has written.

    Parameters
    ----------
    weights : Weights
        The trained weights.
    lang : str
        Language code of the lexicon that features come from; a multilingual tagger takes that of
        all languages.
    """

    def __init__(self, weights: Weights, lang: str) -> None:
        multilingual = weights.card.get("lang") == MULTILINGUAL
        self.crf = Crf(weights, lexicon(MULTILINGUAL if multilingual else lang))
        written = weights.card.get("register") == WRITTEN
        self._lower_case = not written
        self._lower_case_odds = weights.card.get("lower_case_odds", 1.0)
        self.info = TaggerInfo(
            name=weights.card.get("register", "own"),
            kinds=frozenset(label[2:] for label in weights.labels if label != OUTSIDE),
            replaces_shipped=True,
            mistakes_sentence_starts=written,
            card=weights.card,
        )

    def tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Find the entities of every sentence.

        Parameters
        ----------
        sentences : sequence of sequence of str
            The words of each sentence. A spoken tagger sees them in lower case without
            punctuation.
        tau : float or None
            A word is private if P(O) < τ; None takes the most probable tags. In sentences
            without capitals τ / (1 − τ) is multiplied by the ``lower_case_odds`` of the weights.

        Returns
        -------
        list of list of Entity
            One list per sentence. The score is 1 − the mean P(O) of the entity's words.
        """
        if not self._lower_case:
            return self._tag(sentences, tau)
        bare = [[bare_word(word) or _placeholder(word) for word in words] for words in sentences]
        positions = [[i for i, word in enumerate(words) if word] for words in bare]
        tagged = self._tag([[word for word in words if word] for words in bare], tau)
        return [
            [e._replace(start=places[e.start], end=places[e.end - 1] + 1) for e in entities]
            for entities, places in zip(tagged, positions, strict=True)
        ]

    def _tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        crf, rule = self.crf, self.info.rule
        emissions = crf.emissions(sentences)
        outside = [marginals[:, crf.outside] for marginals in crf.marginals(emissions)]
        if tau is not None and emissions:
            limits = [self._limit(words, tau) for words in sentences]
            private = [p < limit for p, limit in zip(outside, limits, strict=True)]
            emissions = self._constrain(emissions, np.concatenate(private))
        paths = crf.best_paths(emissions)
        return [
            [
                Entity(start, end, kind, 1 - sum(p_outside[start:end]) / (end - start), rule)
                for start, end, kind in spans_of(path)
            ]
            for path, p_outside in zip(paths, (array.tolist() for array in outside), strict=True)
        ]

    def _limit(self, words: Sequence[str], tau: float) -> float:
        """Return the P(O) below which a word of a sentence is private."""
        if self._lower_case_odds == 1 or any(word[:1].isupper() for word in words):
            return tau
        odds = self._lower_case_odds * tau / (1 - tau)
        return odds / (1 + odds)

    def _constrain(self, emissions: Sequence[Floats], private: NDArray[np.bool_]) -> list[Floats]:
        """Change scores so that the best path is outside exactly where a word is not private."""
        scores = np.concatenate(emissions)
        outside = np.arange(scores.shape[1]) == self.crf.outside
        scores = np.where(private[:, None] == outside, _FORBIDDEN, scores)
        ends = np.cumsum([len(sentence) for sentence in emissions]).tolist()
        return [scores[start:end] for start, end in pairwise((0, *ends))]


def _placeholder(word: str) -> str:
    """Keep hidden words in their places; drop punctuation marks."""
    return word if "█" in word else ""


def _load_crf(argument: str, lang: str) -> Tagger:
    return CrfTagger(Weights.load(Path(argument)), lang)


def _load_spacy(argument: str, lang: str) -> Tagger:
    from sottovoce.anonymise.text.spacy_tagger import SpacyTagger

    return SpacyTagger(argument, lang)


def _load_gliner(argument: str, lang: str) -> Tagger:
    from sottovoce.anonymise.text.gliner_tagger import GlinerTagger

    return GlinerTagger(argument)


TAGGERS: Registry[TaggerType] = Registry("tagger", group="sottovoce.taggers")
"""Kinds of taggers by name."""
TAGGERS.add(
    "crf",
    TaggerType("weights of 'sottovoce train entities', used instead of ours", _load_crf, "FILE"),
)
TAGGERS.add(
    "spacy", TaggerType("a spaCy pipeline, used in addition to ours", _load_spacy, "PIPELINE")
)
TAGGERS.add(
    "gliner", TaggerType("a GLiNER model, used in addition to ours", _load_gliner, "FOLDER")
)


def make_tagger(choice: Path | str, lang: str) -> Tagger:
    """Make a tagger that a user has chosen.

    Parameters
    ----------
    choice : Path or str
        ``NAME`` or ``NAME:ARGUMENT`` of a registered kind, such as ``spacy:fr_core_news_sm``.
        Anything else is taken for a file of weights, like ``crf:FILE``.
    lang : str
        Language code.

    Raises
    ------
    UsageError
        If the kind takes an argument and none is given, or the other way round.
    """
    name, _, argument = str(choice).partition(":")
    if name not in TAGGERS:
        return _load_crf(str(choice), lang)
    kind = TAGGERS[name]
    if bool(argument) != bool(kind.argument):
        form = f"{name}:{kind.argument}" if kind.argument else name
        raise UsageError(f"tagger {choice}: write it as {form}", code="bad-tagger")
    return kind.make(argument, lang)


def shipped_weights(lang: str) -> dict[str, Path]:
    """Return the files of weights that come with the package, by register.

    Parameters
    ----------
    lang : str
        Language code, or ``multi``.
    """
    if lang != MULTILINGUAL:
        check_language(lang)
    folder = Path(str(files("sottovoce.anonymise.text") / "models"))
    paths = {register: folder / f"{lang}.{register}.npz" for register in REGISTERS}
    return {register: path for register, path in paths.items() if path.exists()}


@cache
def shipped_tagger(lang: str, register: str) -> CrfTagger:
    """Load a tagger of the package, once a process.

    Parameters
    ----------
    lang : str
        Language code, or ``multi``.
    register : str
        One of :data:`REGISTERS`.
    """
    return CrfTagger(Weights.load(shipped_weights(lang)[register]), lang)


def model_id(path: Path) -> str:
    """Return the name of a file of weights and the first 12 digits of its SHA-256.

    Parameters
    ----------
    path : Path
        The file.
    """
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
