"""Representations of speech: what an attacker does to a recording before it links.

``frozen`` is the encoder of a study as it is. Others make an encoder of their own from the
attacker's training speech, and from nothing else. Each has a function that makes its
encoder, or says why this attacker does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sottovoce.anonymise.voice import METHODS, make_method
from sottovoce.anonymise.voice.method import InvertibleAnonymiser
from sottovoce.attack.draw_estimation import DrawEstimator
from sottovoce.attack.draws import drawn_specs
from sottovoce.attack.embedding_sets import (
    JOIN,
    OTHER_EVIDENCE,
    EmbeddingSets,
    LinkedSpeech,
)
from sottovoce.attack.evidence import AvailableEvidence, available_evidence, with_evidence
from sottovoce.attack.inputs import AttackInputs, check_encoder, embed_draws, prepare_speech
from sottovoce.attack.knowledge import Attacker
from sottovoce.attack.retraining import retrained_encoder
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, attackers_secret
from sottovoce.attack.techniques import Candidates
from sottovoce.attack.undoing import DrawnSpeech, UndoneEncoder, learn_draws
from sottovoce.core.errors import MissingExtraError, TooFewError, UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.core.step_cache import Step, records_of
from sottovoce.corpus.splits import partition_speakers
from sottovoce.findings import (
    FROZEN,
    STRONGEST,
    AttackSettings,
    EncoderDescription,
    RepresentationDescription,
    UnavailableRepresentation,
)
from sottovoce.speaker.concatenation import ConcatenatedEncoder
from sottovoce.speaker.encoders import ENCODERS, Encoder, WithoutPauses, make_encoder
from sottovoce.speaker.linkage import LINKAGES
from sottovoce.training.encoder import check_extra

TRAINING_SHARE = 0.75
"""Share of the training speakers that encoders are trained on; the others judge."""


@dataclass(frozen=True, slots=True)
class TrainingSpeech:
    """What an attacker may make an encoder from: speech of its own, never that under attack."""

    encoder: Encoder
    """The encoder of the study, to start from."""
    originals: SpeechSet
    """Recordings of the speakers to train on, before anonymisation."""
    drawn: tuple[SpeechSet, ...]
    """The same recordings in the form that this attacker trains on, one set per draw."""
    fitted_on: SpeechSet
    """Recordings of all training speakers, which the anonymiser was fitted on."""
    anonymiser: AnonymiserSpec | None
    """What made ``drawn``; None where the attacker trains on originals or has no anonymiser."""
    cache: SpeechCache
    """Anonymises and embeds; its folder keeps what is trained."""
    seed: int


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why an attacker does not have a representation, and what would help."""

    reason: str


MakeEncoder = Callable[[TrainingSpeech], Encoder | Unavailable]
Obstacle = Callable[[AnonymiserSpec | None], str]
"""Says why output of this anonymiser, None for originals, rules a representation out; empty if it
does not."""


@dataclass(frozen=True, slots=True)
class Representation:
    """A registered representation of speech."""

    summary: str
    """One line for lists and help texts."""
    make: MakeEncoder
    """Makes the encoder. What it trains is kept in the folder of the cache, so that a run that was
    interrupted goes on, and its ``trained_on`` holds the training speakers it has seen."""
    obstacle: Obstacle = lambda anonymiser: ""
    """What can be said without any speech, so that a study is refused before hours of work."""
    suits: Callable[[AnonymiserSpec | None], bool] = lambda anonymiser: True
    """Whether there is something to gain with output of this anonymiser, None for originals; what
    does not suit is never worth trying."""


def _frozen_encoder(training: TrainingSpeech) -> Encoder:
    return training.encoder


def _retrained(training: TrainingSpeech) -> Encoder | Unavailable:
    try:
        encoder = retrained_encoder(training.drawn, training.cache, training.seed)
    except (MissingExtraError, TooFewError) as error:
        return Unavailable(str(error))
    return WithoutPauses(encoder) if isinstance(training.encoder, WithoutPauses) else encoder


def _no_extra(anonymiser: AnonymiserSpec | None) -> str:
    try:
        check_extra()
    except MissingExtraError as error:
        return str(error)
    return ""


def _no_inverse(anonymiser: AnonymiserSpec | None) -> str:
    if anonymiser is None:
        return "this attacker does not train on the output of an anonymiser"
    if not METHODS[anonymiser.method].card.inverse:
        return f"{anonymiser.method} declares no inverse"
    return ""


def _undone(training: TrainingSpeech) -> Encoder | Unavailable:
    """Learn to recognise the attacker's own draws, and undo what is recognised."""
    spec = training.anonymiser
    if spec is None or _no_inverse(spec):
        return Unavailable(_no_inverse(spec))
    methods = [
        make_method(drawn.method, attackers_secret(training.seed, draw), **drawn.settings)
        for draw, drawn in enumerate(drawn_specs(spec, len(training.drawn)), start=1)
    ]
    invertible = [method for method in methods if isinstance(method, InvertibleAnonymiser)]

    def learn() -> DrawEstimator:
        for method in invertible:
            method.fit(training.fitted_on.corpus)
        speech = zip(training.drawn, invertible, strict=True)
        drawn = [DrawnSpeech(each.corpus, method) for each, method in speech]
        return learn_draws(training.originals.corpus, drawn)

    keys = [training.originals.key, [speech.key for speech in training.drawn]]
    try:
        estimator = training.cache.steps.get(_ESTIMATORS, keys, learn)
    except TooFewError as error:
        return Unavailable(str(error))
    seen = frozenset(training.originals.corpus.speakers)
    return UndoneEncoder(training.encoder, invertible[0], estimator, seen)


_ESTIMATORS = Step("draws", records_of(DrawEstimator))
"""Estimators of what the anonymiser did to a recording."""
REPRESENTATIONS: dict[str, Representation] = {
    FROZEN: Representation("the encoder as it is", _frozen_encoder),
    "retrained": Representation(
        "the default encoder, retrained on the attacker's training speech", _retrained, _no_extra
    ),
    "undone": Representation(
        "the encoder after undoing what the anonymiser did",
        _undone,
        _no_inverse,
        suits=lambda anonymiser: not _no_inverse(anonymiser),
    ),
}
"""Representations by name, in the order in which they are tried."""


def encoder_name(word: str, default: str = "campplus") -> str:
    """Return the name of the encoder behind a setting ``encoder``.

    Parameters
    ----------
    word : str
        A representation, or the name or file of an encoder.
    default : str, default "campplus"
        The encoder that representations start from.
    """
    return default if word in REPRESENTATIONS else word


def check_encoder_word(word: str) -> None:
    """Refuse a setting ``encoder`` that names neither a representation nor an encoder.

    Parameters
    ----------
    word : str
        As a user gave it.

    Raises
    ------
    UsageError
        With the code ``unknown-name``.
    """
    if word in REPRESENTATIONS or word.endswith(".onnx") or word.startswith("hf:"):
        return
    if word not in ENCODERS:
        known = [*REPRESENTATIONS, *ENCODERS]
        raise UsageError(did_you_mean("encoder", word, known), code="unknown-name")


def check_available(word: str, attacker: Attacker, anonymiser: AnonymiserSpec | None) -> None:
    """Refuse a representation that an attacker cannot have, before any speech is made.

    Parameters
    ----------
    word : str
        A setting ``encoder``.
    attacker : Attacker
        Whose training speech the representation would be made from.
    anonymiser : AnonymiserSpec or None
        What makes that training speech; None where it is original.

    Raises
    ------
    UsageError
        With the code ``unavailable``.
    """
    reason = REPRESENTATIONS[word].obstacle(anonymiser) if word in REPRESENTATIONS else ""
    if reason:
        raise UsageError(_not_available(word, attacker, reason), code="unavailable")


def _not_available(word: str, attacker: Attacker, reason: str) -> str:
    return f"encoder {word}: not available to the {attacker.name} attacker: {reason}"


def prepare_candidates(
    sets: EmbeddingSets,
    inputs: AttackInputs,
    attacker: Attacker,
    settings: AttackSettings,
    cache: SpeechCache,
) -> Candidates:
    """Make every representation that an attack may choose from.

    Parameters
    ----------
    sets : EmbeddingSets
        What the attacker links with the encoder as it is.
    inputs : AttackInputs
        Originals and released speech.
    attacker : Attacker
        Decides the form of its training speech.
    settings : AttackSettings
        ``encoder`` names the representation; with the linkage ``strongest`` all are tried.
    cache : SpeechCache
        Makes what is not there yet.

    Raises
    ------
    InputError
        ``unavailable`` where the only representation that was asked for is not available.
    """
    names = list(REPRESENTATIONS) if settings.linkage == STRONGEST else [settings.encoder]
    fused = settings.linkage in LINKAGES and LINKAGES[settings.linkage].for_blocks
    evidence = _evidence(inputs) if fused or settings.linkage == STRONGEST else None
    training: TrainingSpeech | None = None
    speech, unavailable, encoders = [], [], dict[str, Encoder]()
    for name in names:
        encoder: Encoder | Unavailable = cache.encoder
        if name != FROZEN:
            training = training or _training_speech(inputs, attacker, settings, cache)
            encoder = _make(name, training)
        if isinstance(encoder, Unavailable):
            unavailable.append(UnavailableRepresentation(name, encoder.reason))
            continue
        encoders[name] = encoder
        if name == FROZEN and not fused:
            speech.append(_frozen(sets, attacker, settings, cache))
        elif not fused:
            speech.append(_linked(name, encoder, inputs, attacker, settings, cache))
        if evidence is not None:
            joined, label = with_evidence(encoder, evidence), f"{name}{JOIN}{OTHER_EVIDENCE}"
            if fused or len(joined.parts) > 1:
                speech.append(_linked(label, joined, inputs, attacker, settings, cache))
    distinct = {encoder.card.name: encoder for encoder in encoders.values()}
    if len(distinct) > 1:
        joined = ConcatenatedEncoder(list(distinct.values()))
        label = JOIN.join(encoders)
        speech.append(_linked(label, joined, inputs, attacker, settings, cache))
    missing = {} if evidence is None else evidence.missing
    unavailable += [UnavailableRepresentation(*entry) for entry in missing.items()]
    if not speech:
        message = _not_available(settings.encoder, attacker, unavailable[0].reason)
        raise UsageError(message, code="unavailable")
    unused = unused_techniques(speech, unavailable, _maker(inputs, attacker))
    return Candidates(tuple(speech), tuple(unavailable), unused)


def unused_techniques(
    speech: Sequence[LinkedSpeech],
    unavailable: Sequence[UnavailableRepresentation],
    anonymiser: AnonymiserSpec | None,
) -> tuple[str, ...]:
    """Name the representations and evidence that an attacker could have but has not tried.

    Parameters
    ----------
    speech : sequence of LinkedSpeech
        What was tried.
    unavailable : sequence of UnavailableRepresentation
        What was not available.
    anonymiser : AnonymiserSpec or None
        What makes the training speech; None where it is original.
    """
    tried = {part for linked in speech for part in linked.representation.name.split(JOIN)}
    suitable = [name for name, kind in REPRESENTATIONS.items() if kind.suits(anonymiser)]
    missing = [entry.name for entry in unavailable if entry.name not in REPRESENTATIONS]
    return (*(name for name in [*suitable, OTHER_EVIDENCE] if name not in tried), *missing)


def _maker(inputs: AttackInputs, attacker: Attacker) -> AnonymiserSpec | None:
    """The anonymiser behind the attacker's training speech, if the attacker has it."""
    form = attacker.training
    return None if ("train", form) in inputs.prepared else inputs.attackers_anonymiser(form)


def _evidence(inputs: AttackInputs) -> AvailableEvidence:
    return available_evidence({utterance.language for utterance in inputs.trial.corpus})


def _make(name: str, training: TrainingSpeech) -> Encoder | Unavailable:
    if name in REPRESENTATIONS:
        return REPRESENTATIONS[name].make(training)
    return make_encoder(name)


def _frozen(
    sets: EmbeddingSets, attacker: Attacker, settings: AttackSettings, cache: SpeechCache
) -> LinkedSpeech:
    linked = sets.linked_by(attacker, settings.draws)
    description = RepresentationDescription(FROZEN, describe_encoder(cache.encoder), ())
    return LinkedSpeech(description, linked.enrol, linked.trial, linked.train)


def _training_speech(
    inputs: AttackInputs, attacker: Attacker, settings: AttackSettings, cache: SpeechCache
) -> TrainingSpeech:
    """The speech of those training speakers that do not judge."""
    chosen, _ = partition_speakers(inputs.train.corpus, share=TRAINING_SHARE, seed=inputs.seed)
    drawn = prepare_speech(inputs, "train", attacker.training, cache, draws=settings.draws)
    return TrainingSpeech(
        cache.encoder,
        inputs.train.of_speakers(chosen.speakers),
        tuple(speech.of_speakers(chosen.speakers) for speech in drawn),
        inputs.train,
        _maker(inputs, attacker),
        cache,
        inputs.seed,
    )


def _linked(
    name: str,
    encoder: Encoder,
    inputs: AttackInputs,
    attacker: Attacker,
    settings: AttackSettings,
    cache: SpeechCache,
) -> LinkedSpeech:
    check_encoder(encoder, inputs)
    enrol, trial, train = (
        embed_draws(
            prepare_speech(inputs, part, form, cache, draws=settings.draws),
            cache,
            label=f"{part} ({form}), {name}",
            encoder=encoder,
        )
        for part, form in attacker.linked
    )
    seen = encoder.trained_on & set(inputs.train.corpus.speakers)
    description = RepresentationDescription(name, describe_encoder(encoder), tuple(sorted(seen)))
    return LinkedSpeech(description, enrol, trial, train)


def describe_encoder(encoder: Encoder) -> EncoderDescription:
    """Return the record of an encoder for results.

    Parameters
    ----------
    encoder : Encoder
        What makes embeddings.
    """
    card = encoder.card
    return EncoderDescription(card.name, card.dimension, card.licence, card.origin, card.sha256)
