"""What one attack did, how well it was trained, and whether its failure would mean anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sottovoce.core.records import Record, optional
from sottovoce.findings.scores import NotMeasured
from sottovoce.findings.slices import SliceCurve

Setting = None | bool | int | float | str
"""A value of a setting."""

FROZEN = "frozen"
"""The representation of speech by the encoder of a study as it is."""
STRONGEST = "strongest"
"""The linkage of an attack that chooses among all representations and linkage functions."""


@dataclass(frozen=True, slots=True)
class EncoderDescription(Record):
    """A speaker encoder, by what makes its embeddings."""

    name: str
    dimension: int
    licence: str
    origin: str
    sha256: str


@dataclass(frozen=True, slots=True)
class LinkageTraining(Record):
    """A trained linkage function, and how well it does on the speakers it was trained on."""

    name: str
    settings: Mapping[str, int | float]
    speakers: int
    vectors: int
    held_out_eer: float | None
    """On training speakers left out of the training, in turns; None where there are too few."""
    training_eer: float | None
    """On the very vectors it was trained on: whether it could learn at all."""


@dataclass(frozen=True, slots=True)
class TrustEvidence(Record):
    """EERs that tell how good the attacker is."""

    originals: float
    """Originals enrolled, originals attacked, trained on originals."""
    attack: float
    """The attack itself."""
    training: float | None
    """On the vectors it was trained on."""
    held_out: float | None
    """On training speakers it was not trained on."""
    control: float | None
    """Under exchanged names, mean of several exchanges; None with fewer than 3 speakers."""
    p_value: float | None
    """Share of exchanges of names with an EER at most that of the attack, the attack counted in: a
    small one says that the attack does better than chance. None as for ``control``."""
    linkages: Mapping[str, float]
    """The same attack with other linkage functions; in another representation than the attack's,
    that follows in brackets."""
    less_informed: Mapping[str, float]
    """The same trials attacked by attackers who know less."""


@dataclass(frozen=True, slots=True)
class TrustLimits(Record):
    """The limits that the evidence is held against."""

    originals: float
    """Largest EER on originals of an attacker that can tell voices apart."""
    training: float
    """Largest EER on the very vectors it was trained on."""
    control: float
    """How far from 50 % the EER under exchanged names may be."""
    behind: float
    """By how much another linkage function, or an attacker that knows less, may do better."""


@dataclass(frozen=True, slots=True)
class Trust(Record):
    """Whether the attacker is good enough to say anything about an anonymiser, and why."""

    trustworthy: bool
    reasons: tuple[str, ...]
    """Every limit that is passed, in words."""
    evidence: TrustEvidence
    limits: TrustLimits
    advice: tuple[str, ...]
    """Stronger attacks that would be worth trying, in words."""


@dataclass(frozen=True, slots=True)
class AttackerDescription(Record):
    """What an attacker knows."""

    name: str
    enrolment: str
    """How its enrolment speech was treated: original, attacker, similar or released."""
    training: str
    """How its training speech was treated."""
    rank: int
    """How much it knows: a larger rank includes what smaller ranks know."""
    summary: str


@dataclass(frozen=True, slots=True)
class AttackSettings(Record):
    """How the attacker links, whatever it knows."""

    linkage: str = "best"
    """Name of a linkage function, or ``best``: the one that does best on held-out speakers, or
    ``strongest``: the same over every representation that the attacker has."""
    over: str = "model"
    """What a speaker's score is: of the mean vector (``model``), or ``mean`` or ``max`` of all; or
    ``utterance``: each pair of recordings has a score."""
    norm: str = "none"
    """Score normalisation: ``none``, ``s-norm`` or ``as-norm``."""
    nearest: int = 100
    """Speakers of the cohort that as-norm takes for each pair, or all if there are fewer."""
    seed: int = 0
    encoder: str = FROZEN
    """Representation of speech (``frozen``, ``retrained``, …), or an encoder by name or file."""
    draws: int = 2
    """How many times the attacker anonymises its enrolment and training speech, if it can."""


@dataclass(frozen=True, slots=True)
class RepresentationDescription(Record):
    """A representation of speech that an attacker had."""

    name: str
    """Such as ``frozen``: the encoder as it is."""
    encoder: EncoderDescription | None
    trained_on: tuple[str, ...]
    """Training speakers of the attack that its encoder was trained on; they do not judge."""


@dataclass(frozen=True, slots=True)
class Technique(Record):
    """A representation with a linkage function, and how it did."""

    representation: str
    linkage: str
    min_cllr: float | None
    """On held-out training speakers; the lowest is chosen. None where there are too few."""
    held_out_eer: float | None
    """On held-out training speakers."""
    eer: float
    """On the attacked trials, for information: it decides nothing."""
    chosen: bool


@dataclass(frozen=True, slots=True)
class EvidenceLink(Record):
    """What one kind of evidence alone links, under the attacker that fuses all kinds."""

    name: str
    """Such as ``pitch``; the voice has the name of its encoder."""
    phrase: str
    """What links, for sentences and tables."""
    caution: str
    """What else than the speaker may be behind a link; empty if nothing is known."""
    dimension: int
    """Number of values that describe a recording."""
    linkage: str
    """The linkage function that suits it best on held-out training speakers."""
    share: float
    """How much it decides of the fused score, from 0 to 1; all kinds together 1."""
    held_out_eer: float | None
    """On training speakers that it was not trained on."""
    eer: float
    """On the attacked trials."""
    d_sys: float | None
    """On the attacked trials; None where there are too few."""
    top_1: float
    """Share of trials whose speaker has the highest score of all that are enrolled; equal scores
    count in part."""
    chance: float
    """``top_1`` of a guess."""


@dataclass(frozen=True, slots=True)
class UnavailableRepresentation(Record):
    """A representation that an attacker did not have, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class TrialListDescription(Record):
    """A list of the pairs that were compared."""

    pairs: int
    mated: int
    """How many of the pairs are of the same speaker."""
    sha256: str
    """Of ``trials.json``, the list as it was used."""


@dataclass(frozen=True, slots=True)
class AttackRecord(Record):
    """The record of an attack: what it knew and trained on, how well it fitted, how it did."""

    attacker: AttackerDescription
    settings: AttackSettings
    enrolled_speakers: int
    trials: int
    trained: LinkageTraining
    trained_on_originals: LinkageTraining
    eer: float
    eer_on_originals: float
    trust: Trust
    embeddings: Mapping[str, str]
    """Digest of each embedding set by its role (enrol, trial, train, originals-…); of
    representations that were not chosen, with their name in front."""
    representation: str
    """The representation of speech that was chosen."""
    draws: int
    """How many times the attacker anonymised its enrolment or training speech."""
    representations: tuple[RepresentationDescription, ...]
    """All that the attacker had."""
    techniques: tuple[Technique, ...]
    """Everything that was tried, in all representations."""
    unavailable: tuple[UnavailableRepresentation, ...]
    evidence: tuple[EvidenceLink, ...]
    """What each kind of evidence alone links; empty where nothing was fused."""
    trial_list: TrialListDescription | None = optional()
    """The list of pairs, if not every enrolled speaker was compared with every trial."""


@dataclass(frozen=True, slots=True)
class OriginalsRecord(Record):
    """The record of an attack on originals, which shows how good an attacker is by itself."""

    settings: AttackSettings
    enrolled_speakers: int
    trials: int
    trained: LinkageTraining
    eer: float
    embeddings: Mapping[str, str]
    """Digest of each embedding set by its role: enrol, trial or train."""
    trial_list: TrialListDescription | None = optional()
    """As in :class:`AttackRecord`."""


@dataclass(frozen=True, slots=True)
class AttributeInference(Record):
    """How often an attribute is inferred correctly, every speaker with equal weight."""

    attribute: str
    values: tuple[str, ...]
    speakers: int
    utterances: int
    accuracy: float
    low: float
    high: float
    majority: float
    """Accuracy when always guessing the most frequent value of the training speakers."""
    balanced: float
    """Mean over values of the accuracy among their speakers; guessing gives 1 / values."""
    better_than_guessing: bool
    """Whether the whole interval lies above the guess."""


@dataclass(frozen=True, slots=True)
class GroupRisk(Record):
    """Mean risk of the speakers of one group."""

    speakers: int
    linkability: float


@dataclass(frozen=True, slots=True)
class SpeechDescription(Record):
    """Name and size of the speech of one part of an attack."""

    name: str
    speakers: int
    utterances: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackReport(AttackRecord):
    """The record of an attack with what it was made from, as ``sottovoce attack`` writes it."""

    corpora: Mapping[str, SpeechDescription]
    """By ``enrolment``, ``trials`` and ``training``."""
    anonymiser: str | None
    """The anonymiser as far as the attacker knew it, with its settings."""
    encoder: EncoderDescription
    disjoint: bool
    """Whether the speakers trained on and attacked were checked to be different."""
    attributes: Mapping[str, AttributeInference | NotMeasured]
    notes: tuple[str, ...]
    """What a reader of the results has to know, such as speakers that were not attacked."""
    slices: SliceCurve | None = optional()
    """Linkage of slices of the released trials over their length, if asked for."""
    original_slices: SliceCurve | None = optional()
    """The same of the original trials, by an attacker that trained on originals."""


Groups = Mapping[str, Mapping[str, GroupRisk]]
"""By attribute, such as gender, and its values."""


@dataclass(frozen=True, slots=True)
class AnonymiserDescription(Record):
    """An anonymiser by name, with its settings."""

    label: str
    """Name and settings for a person, such as ``mcadams(coefficient=0.8)``."""
    method: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
