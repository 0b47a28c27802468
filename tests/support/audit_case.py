"""A small, invented audit: two anonymisers, a strong attacker and a weak one, real recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from sottovoce.corpus.audio import save_audio
from sottovoce.findings import (
    AnonymiserFinding,
    AttackRow,
    AttributeInference,
    AuditFindings,
    CorpusDescription,
    CurvePoint,
    EncoderDescription,
    Example,
    ExcludedRecordings,
    GroupRisk,
    LimitResult,
    LinkageTraining,
    MethodDescription,
    NotMeasured,
    OriginalsFinding,
    Reading,
    Reidentification,
    Similarity,
    SpeakerRisk,
    SpeakerSimilarity,
    Technique,
    TrainingDescription,
    Trust,
    TrustEvidence,
    TrustLimits,
    UnavailableRepresentation,
    UtilityEstimate,
)
from sottovoce.measure import Scores, measure_scores, score_curves

SPEAKERS = tuple(f"s{i:02}" for i in range(8))
BEND, MASK = "bend(by=0.8)", "<mask> & co"
RANKS = {"ignorant": 0, "semi-informed": 2}
"""How much each attacker of the case knows."""


def findings_in(folder: Path, *, synthetic: bool = False) -> AuditFindings:
    """Make the findings of an audit whose recordings are in a folder.

    Parameters
    ----------
    folder : Path
        Recordings are written there.
    synthetic : bool, default False
        Whether the corpus counts as synthetic.
    """
    rng = np.random.default_rng(7)
    originals_scores = _scores("originals", 4.0, rng)
    rows = (
        _row(BEND, "ignorant", 1.0, rng, linkability=0.5),
        _row(BEND, "semi-informed", 2.0, rng, linkability=0.9),
        _row(MASK, "semi-informed", 0.0, rng, linkability=0.125, weak=True),
    )
    return AuditFindings(
        name="case",
        synthetic=synthetic,
        study={"seed": 3, "corpus": "voices"},
        corpus=CorpusDescription(
            name="voices",
            speakers=8,
            attacked_speakers=8,
            utterances=80,
            hours=0.2,
            genders={"f": 4, "m": 4},
            enrol=40,
            trial=40,
            excluded=("a<b>.wav: no samples",),
        ),
        training=TrainingDescription(
            name="others", speakers=5, utterances=50, part_of_corpus=False, excluded=()
        ),
        encoder=EncoderDescription(
            name="net", dimension=8, licence="Apache-2.0", origin="here", sha256="ab"
        ),
        confidence=0.95,
        originals=(
            OriginalsFinding(
                linkage="best",
                linked_with="plda",
                score_file="attacks/originals.parquet",
                scores=measure_scores(originals_scores, replicates=40),
                curves=score_curves(originals_scores),
                reidentification=reidentification(0.97),
            ),
        ),
        original_utility={"wer": UtilityEstimate(0.05, 0.04, 0.06)},
        rows=rows,
        anonymisers=(_anonymiser(folder, BEND, 0.08, rng), _anonymiser(folder, MASK, 0.3, rng)),
        limits=(
            LimitResult(
                limit="linkability@population=8 < 0.5",
                anonymiser=BEND,
                attacker="semi-informed",
                linkage="best",
                value=0.9,
                exceeded=True,
                encoder="frozen",
                draws=2,
            ),
        ),
        not_tested=("What the <words> give away.",),
    )


def _scores(name: str, distance: float, rng: np.random.Generator) -> Scores:
    return Scores(rng.normal(distance, 1, 60), rng.normal(0, 1, 400), name=name)


def reidentification(linkability: float) -> Reidentification:
    """Make curves over populations of 4 and 8 at two lengths, and the risk of 8 speakers.

    Parameters
    ----------
    linkability : float
        At every point; the first speaker is always linked.
    """

    def curve(value: float, chance: Mapping[int, float]) -> tuple[CurvePoint, ...]:
        return tuple(
            CurvePoint(
                length=length,
                population=size,
                value=value,
                chance=chance[size],
                low=max(0.0, value - 0.05),
                high=min(1.0, value + 0.05),
            )
            for length in (1, 3)
            for size in chance
        )

    return Reidentification(
        enrolled_speakers=8,
        linkage="plda",
        linkability=curve(linkability, {4: 0.25, 8: 0.125}),
        singling_out=curve(0.368, {4: 0.368, 8: 0.368}),
        one_minus_rocch_eer=curve(0.8, {4: 0.5, 8: 0.5}),
        speakers=tuple(
            SpeakerRisk(
                speaker=speaker,
                length=1,
                trials=5,
                linkability=linkability if i else 1.0,
                vanishes_at=8 if i else None,
            )
            for i, speaker in enumerate(SPEAKERS)
        ),
    )


def _row(
    label: str,
    attacker: str,
    distance: float,
    rng: np.random.Generator,
    *,
    linkability: float,
    weak: bool = False,
) -> AttackRow:
    folder = f"attacks/{_stable_number(label)}-{attacker}"
    scores = _scores(folder, distance, rng)
    return AttackRow(
        anonymiser=label,
        method=label.partition("(")[0],
        settings={"by": 0.8},
        attacker=attacker,
        attacker_summary="has the anonymiser",
        attacker_rank=RANKS[attacker],
        encoder="frozen",
        representation="frozen",
        draws=2,
        linkage="best",
        linked_with="plda",
        techniques=(
            Technique("frozen", "plda", 0.1, 0.01, 0.3, chosen=True),
            Technique("frozen", "cosine", 0.2, 0.02, 0.31, chosen=False),
        ),
        unavailable=(UnavailableRepresentation("retrained", "install it"),),
        evidence=(),
        trained=LinkageTraining("plda", {}, 5, 50, held_out_eer=0.01, training_eer=0.0),
        trust=_trust(weak),
        folder=folder,
        score_file=f"{folder}/scores.parquet",
        scores=measure_scores(scores, replicates=40),
        curves=score_curves(scores),
        reidentification=reidentification(linkability),
        groups={"gender": {"f": GroupRisk(4, linkability)}},
        attributes={
            "gender": AttributeInference(
                attribute="gender",
                values=("f", "m"),
                speakers=8,
                utterances=40,
                accuracy=0.9,
                low=0.8,
                high=0.95,
                majority=0.5,
                balanced=0.9,
                better_than_guessing=True,
            ),
            "accent": NotMeasured("accent: 1 value; at least 2 are needed"),
        },
    )


def _trust(weak: bool) -> Trust:
    return Trust(
        trustworthy=not weak,
        reasons=("on originals its EER is 40%, above 15%",) if weak else (),
        evidence=TrustEvidence(
            originals=0.4 if weak else 0.02,
            attack=0.3,
            training=0.0,
            held_out=0.01,
            control=0.5,
            p_value=0.01,
            linkages={"cosine": 0.31},
            less_informed={},
        ),
        limits=TrustLimits(originals=0.15, training=0.25, control=0.1, behind=0.05),
        advice=("retrain the encoder",),
    )


def with_trust(row: AttackRow, *, trustworthy: bool) -> AttackRow:
    """Return an attack whose attacker can, or cannot, be trusted.

    Parameters
    ----------
    row : AttackRow
        The attack.
    trustworthy : bool
        What its trust is to say.
    """
    reasons = () if trustworthy else ("it is weak",)
    return replace(row, trust=replace(row.trust, trustworthy=trustworthy, reasons=reasons))


def _stable_number(text: str) -> int:
    """Return a number of a text that is the same in every run, unlike Python's hash."""
    return sum(i * ord(character) for i, character in enumerate(text, start=1))


def _anonymiser(
    folder: Path, label: str, wer: float, rng: np.random.Generator
) -> AnonymiserFinding:
    return AnonymiserFinding(
        anonymiser=label,
        method=label.partition("(")[0],
        settings={"by": 0.8},
        card=MethodDescription(
            name=label.partition("(")[0],
            summary="Bends <voices>.",
            keeps=("words",),
            leaks="Pitch.",
            reversible="yes",
            reference="Nobody 2020",
            settings={},
        ),
        speech="speech",
        similarity=similarity_of(
            {kind: rng.random((8, 8)) for kind in ("oo", "op", "pp")}, SPEAKERS, gvd_db=-3.0
        ),
        utility={
            "wer": UtilityEstimate(
                wer, wer - 0.02, wer + 0.02, utterances=40, words=400, recogniser="ear"
            ),
            "quality": UtilityEstimate(3.1, utterances=8, model="vote"),
            "f0_correlation": UtilityEstimate(None, note="too little voiced speech to tell"),
        },
        examples=_examples(folder, label, rng),
    )


def similarity_of(
    matrices: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
    speakers: tuple[str, ...],
    *,
    deid: float | None = 0.5,
    gvd_db: float | None = -1.0,
) -> Similarity:
    """Make a comparison of voices of which only the matrices matter.

    Parameters
    ----------
    matrices : mapping of str to array
        ``oo``, ``op`` and ``pp``.
    speakers : tuple of str
        Names of rows and columns.
    deid, gvd_db : float or None
        The numbers that the result states.
    """
    count = len(speakers)
    return Similarity(
        name="a",
        deid=deid,
        gvd_db=gvd_db,
        d_diag=dict.fromkeys(matrices, 0.5),
        intervals=None,
        interval=None,
        readings={
            name: Reading(name, 1.0, "lower = more disclosed", "a number")
            for name in ("deid", "gvd_db")
        },
        standing_out=tuple(SpeakerSimilarity(speaker, 0.0) for speaker in speakers),
        linkage="cosine",
        n_speakers=count,
        n_utterances=2 * count,
        n_mated=2 * count,
        n_nonmated=4 * count * (count - 1),
        excluded=ExcludedRecordings(0, 0, 0, ()),
        notes=(),
        speakers=speakers,
        matrices={kind: tuple(map(tuple, matrix.tolist())) for kind, matrix in matrices.items()},
    )


def _examples(folder: Path, label: str, rng: np.random.Generator) -> tuple[Example, ...]:
    """Write four pairs of recordings; the first one is longer than what a page plays."""
    (folder / "speech").mkdir(exist_ok=True)
    examples = []
    for i in range(4):
        paths = {side: f"speech/{_stable_number(label)}-{side}-{i}.wav" for side in ("a", "b")}
        for path in paths.values():
            save_audio(folder / path, 0.1 * rng.standard_normal(8000 if i else 128_000), 16000)
        examples.append(Example(f"u{i}", "s00", str(folder / paths["a"]), paths["b"]))
    return tuple(examples)
