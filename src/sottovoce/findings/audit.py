"""Everything that an audit found, as ``measures.json`` holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sottovoce.core.records import Record, optional
from sottovoce.findings.attack import (
    AttributeInference,
    EncoderDescription,
    EvidenceLink,
    Groups,
    LinkageTraining,
    Setting,
    Technique,
    TrialListDescription,
    Trust,
    UnavailableRepresentation,
)
from sottovoce.findings.comparison import RowsComparison
from sottovoce.findings.reidentification import Reidentification
from sottovoce.findings.retrained import RetrainedUtility
from sottovoce.findings.scores import NotMeasured, ScoreCurves, ScoreSummary
from sottovoce.findings.similarity import Similarity
from sottovoce.findings.slices import SliceCurve, SliceText
from sottovoce.findings.text_traits import TextTraits

FORMAT = 3
"""Version of ``measures.json``; format 1 had no such number, format 2 no techniques."""


@dataclass(frozen=True, slots=True)
class UtilityEstimate(Record):
    """How much of one property of the speech is kept."""

    value: float | None
    """None where it was not measured; ``note`` says why."""
    low: float | None = optional()
    high: float | None = optional()
    resampled: str | None = optional()
    """What the interval rests on: ``speaker`` or ``utterance``."""
    utterances: int | None = optional()
    words: int | None = optional()
    recogniser: str | None = optional()
    model: str | None = optional()
    note: str | None = optional()


Utility = Mapping[str, UtilityEstimate]
"""By ``wer``, ``quality``, ``f0_correlation``, ``duration_ratio``, ``loudness_difference_db``."""


@dataclass(frozen=True, slots=True)
class CorpusDescription(Record):
    """The attacked corpus and how it was divided."""

    name: str
    speakers: int
    attacked_speakers: int
    utterances: int
    hours: float
    genders: Mapping[str, int]
    enrol: int
    """Enrolment recordings."""
    trial: int
    """Trial recordings."""
    excluded: tuple[str, ...]
    """Where each recording that was left out is listed, and why it was."""


@dataclass(frozen=True, slots=True)
class TrainingDescription(Record):
    """The speech that attackers trained on."""

    name: str
    speakers: int
    utterances: int
    part_of_corpus: bool
    """Whether it is another part of the attacked corpus."""
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OriginalsFinding(Record):
    """What an attacker does to speech that nobody anonymised, for one linkage function."""

    linkage: str
    """As the study names it."""
    linked_with: str
    """The linkage function that was used; differs from ``linkage`` if that is ``best``."""
    score_file: str
    scores: ScoreSummary
    curves: ScoreCurves
    reidentification: Reidentification
    slices: SliceCurve | NotMeasured | None = optional()
    """Linkage of slices over their length; None where the study does not slice."""


@dataclass(frozen=True, slots=True)
class AttackRow(Record):
    """One attack on one anonymiser."""

    anonymiser: str
    """Name and settings for a person."""
    method: str
    settings: Mapping[str, Setting]
    attacker: str
    attacker_summary: str
    attacker_rank: int
    """How much the attacker knows; see :class:`~sottovoce.findings.AttackerDescription`."""
    encoder: str
    """Representation of speech as the study names it, or an encoder by name or file."""
    representation: str
    """The representation that was chosen; differs from ``encoder`` only if ``linkage`` is
    ``strongest``."""
    draws: int
    """How many times the attacker anonymised its enrolment or training speech."""
    linkage: str
    linked_with: str
    techniques: tuple[Technique, ...]
    """Everything that was tried; the chosen one is marked."""
    unavailable: tuple[UnavailableRepresentation, ...]
    evidence: tuple[EvidenceLink, ...]
    """What each kind of evidence alone links; empty where nothing was fused."""
    trained: LinkageTraining
    trust: Trust
    folder: str
    """Of the attack's files, relative to that of the audit."""
    score_file: str
    scores: ScoreSummary
    curves: ScoreCurves
    reidentification: Reidentification
    groups: Groups
    attributes: Mapping[str, AttributeInference | NotMeasured]
    slices: SliceCurve | NotMeasured | None = optional()
    """Linkage of slices over their length; None where the study does not slice."""


@dataclass(frozen=True, slots=True)
class SettingDescription(Record):
    """A setting of an anonymiser."""

    default: Setting
    range: str
    help: str


@dataclass(frozen=True, slots=True)
class MethodDescription(Record):
    """What has to be known of an anonymiser before it is used."""

    name: str
    summary: str
    keeps: tuple[str, ...]
    leaks: str
    reversible: str
    reference: str
    settings: Mapping[str, SettingDescription]


@dataclass(frozen=True, slots=True)
class Example(Record):
    """A pair of recordings for the reader of the report."""

    utterance: str
    speaker: str
    original: str
    """File of the original recording, which may hold more than this utterance."""
    anonymised: str
    """File of the anonymised recording, relative to the audit's folder."""
    start: float | None = optional()
    """Where the utterance begins in the original's file, in seconds; None for its beginning."""
    end: float | None = optional()
    """Where it ends, in seconds; None for the end of the file."""
    channel: int | None = optional()
    """The channel of the original's file, from 0; None for all of them."""


@dataclass(frozen=True, slots=True)
class AnonymiserFinding(Record):
    """What one anonymiser does to voices and to the usefulness of speech."""

    anonymiser: str
    method: str
    settings: Mapping[str, Setting]
    card: MethodDescription
    speech: str
    """Folder of the anonymised speech, relative to that of the audit."""
    similarity: Similarity | NotMeasured
    utility: Utility
    examples: tuple[Example, ...]
    retrained: RetrainedUtility | NotMeasured | None = optional()
    """Recognisers trained on original and anonymised speech; None where the study has none."""


@dataclass(frozen=True, slots=True)
class LimitResult(Record):
    """One limit of the study, held against one figure."""

    limit: str
    anonymiser: str
    attacker: str
    linkage: str
    value: float | None
    """None, which exceeds any limit, where it was not measured."""
    exceeded: bool
    encoder: str | None = optional()
    """As in the row of the attack; None where the limit applies to no row."""
    draws: int | None = optional()
    """As in the row of the attack; None where the limit applies to no row."""


@dataclass(frozen=True, slots=True)
class ReleaseLimits(Record):
    """How often people may be found again before the report advises against a release.

    They are a choice of whoever releases, not a rule of law. The defaults are those of the release
    of health data: 0.09, as if an attacker guessed among 11 people, for the public (European
    Medicines Agency, guidance on Policy 0070), and 0.2, among 5 people, for recipients under
    contract.
    """

    people: int = 20
    """Size of the circle among which an attacker looks for somebody; fewer if the corpus has fewer.
    A smaller circle makes people easier to find."""
    public: float = 0.09
    """Largest share of recordings that may be linked, for a release to anybody."""
    bound: float = 0.2
    """The same for a release to people who are bound not to look for anybody."""


@dataclass(frozen=True, slots=True)
class AuditFindings(Record):
    """Everything that an audit found."""

    name: str
    synthetic: bool
    """Whether the corpus is the built-in one, whose voices nobody has."""
    study: Mapping[str, object]
    """The study as it was run."""
    corpus: CorpusDescription
    training: TrainingDescription
    encoder: EncoderDescription
    confidence: float
    originals: tuple[OriginalsFinding, ...]
    """One a linkage function of the study, in its order."""
    original_utility: Utility
    rows: tuple[AttackRow, ...]
    anonymisers: tuple[AnonymiserFinding, ...]
    limits: tuple[LimitResult, ...]
    not_tested: tuple[str, ...]
    comparisons: tuple[RowsComparison, ...] = ()
    """Anonymisers under the same attacker, then attackers on the same anonymiser."""
    trial_list: TrialListDescription | None = optional()
    """The list of pairs that score measures rest on, if the study names one."""
    release: ReleaseLimits = ReleaseLimits()
    """What the study allows; the decisions of the report are held against it."""
    slice_texts: tuple[SliceText, ...] | NotMeasured | None = optional()
    """What the words of slices give away; None where the study does not slice."""
    text_traits: tuple[TextTraits, ...] | NotMeasured | None = optional()
    """Traits inferred from what is said; None where the study does not attack the words."""
    format: int = field(default=FORMAT)

    @property
    def exceeded_limits(self) -> tuple[LimitResult, ...]:
        """Limits that do not hold."""
        return tuple(limit for limit in self.limits if limit.exceeded)

    def originals_for(self, linkage: str) -> OriginalsFinding:
        """Return what the same linkage function does to originals.

        Parameters
        ----------
        linkage : str
            As the study names it, such as ``best``.
        """
        for originals in self.originals:
            if originals.linkage == linkage:
                return originals
        raise KeyError(linkage)


@dataclass(frozen=True, slots=True)
class CorpusDigest(Record):
    """A corpus by its content."""

    name: str
    utterances: int
    sha256: str
    """Over ids, speakers and the content of all recordings, in the order of ids."""


@dataclass(frozen=True, slots=True)
class Provenance(Record):
    """What made an audit: versions, the study, seeds, and its inputs by SHA-256."""

    tool: str
    version: str
    python: str
    libraries: Mapping[str, str]
    study: Mapping[str, object]
    seed: int
    draws: str
    """Whether the draws of the anonymised speech can be repeated by others."""
    encoder: EncoderDescription
    inputs: Mapping[str, CorpusDigest]
    """By ``corpus`` and, where the study names one, ``train``."""
