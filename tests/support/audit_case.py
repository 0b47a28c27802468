"""A small audit, made up: two anonymisers, a strong attacker and a weak one, real score files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.corpus.audio import save_audio
from sottovoce.measure import Scores, measure_scores

SPEAKERS = [f"s{i:02}" for i in range(8)]


def findings_in(folder: Path, *, synthetic: bool = False) -> dict[str, Any]:
    """Findings whose scores and recordings lie in ``folder``."""
    rng = np.random.default_rng(7)
    originals = _measured(folder, "originals", 4.0, rng)
    rows = [
        _row(folder, "bend(by=0.8)", "ignorant", 1.0, rng, linked=0.5),
        _row(folder, "bend(by=0.8)", "semi-informed", 2.0, rng, linked=0.9),
        _row(folder, "<mask> & co", "semi-informed", 0.0, rng, linked=0.125, weak=True),
    ]
    return {
        "name": "case",
        "synthetic": synthetic,
        "study": {"seed": 3, "corpus": "voices"},
        "corpus": {
            "name": "voices",
            "speakers": 8,
            "attacked_speakers": 8,
            "utterances": 80,
            "hours": 0.2,
            "genders": {"f": 4, "m": 4},
            "enrol": 40,
            "trial": 40,
            "excluded": ["a<b>.wav: no samples"],
        },
        "training": {"name": "others", "speakers": 5, "utterances": 50, "excluded": []},
        "encoder": {"name": "net", "licence": "Apache-2.0", "origin": "here", "sha256": "ab"},
        "originals": {
            **originals,
            "linkage": "best",
            "linked_with": "plda",
            "reidentification": _crowds(0.97),
            "utility": {"wer": {"value": 0.05, "low": 0.04, "high": 0.06}},
        },
        "rows": rows,
        "anonymisers": [
            _anonymiser(folder, "bend(by=0.8)", 0.08, rng),
            _anonymiser(folder, "<mask> & co", 0.3, rng),
        ],
        "limits": [
            {
                "limit": "linkability@population=8 < 0.5",
                "anonymiser": "bend(by=0.8)",
                "attacker": "semi-informed",
                "linkage": "best",
                "value": 0.9,
                "exceeded": True,
            }
        ],
        "not_tested": ["What the <words> give away."],
        "confidence": 0.95,
    }


def _measured(folder: Path, name: str, apart: float, rng: np.random.Generator) -> dict[str, Any]:
    scores = Scores(rng.normal(apart, 1, 60), rng.normal(0, 1, 400), name=name)
    place = Path("attacks") / f"{name}.npz"
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    np.savez(folder / place, mated=scores.mated, nonmated=scores.nonmated)
    return {**measure_scores(scores, replicates=40).to_dict(), "scores": str(place)}


def _crowds(linked: float) -> dict[str, Any]:
    def curve(value: float, chance: dict[int, float]) -> list[dict[str, Any]]:
        return [
            {
                "length": length,
                "population": size,
                "value": value,
                "chance": chance[size],
                "low": max(0.0, value - 0.05),
                "high": min(1.0, value + 0.05),
            }
            for length in (1, 3)
            for size in chance
        ]

    return {
        "linkability": curve(linked, {4: 0.25, 8: 0.125}),
        "singling_out": curve(0.368, {4: 0.368, 8: 0.368}),
        "one_minus_rocch_eer": curve(0.8, {4: 0.5, 8: 0.5}),
        "speakers": [
            {
                "speaker": who,
                "length": 1,
                "trials": 5,
                "linkability": linked if i else 1.0,
                "vanishes_at": 8 if i else None,
            }
            for i, who in enumerate(SPEAKERS)
        ],
        "notes": [],
    }


def _row(
    folder: Path,
    label: str,
    attacker: str,
    apart: float,
    rng: np.random.Generator,
    *,
    linked: float,
    weak: bool = False,
) -> dict[str, Any]:
    reasons = ["on originals its EER is 40%, above 15%"] if weak else []
    return {
        "anonymiser": label,
        "method": label.partition("(")[0],
        "settings": {"by": 0.8},
        "attacker": attacker,
        "linkage": "best",
        "linked_with": "plda",
        "attacker_summary": "has the anonymiser",
        "trust": {
            "trustworthy": not weak,
            "reasons": reasons,
            "evidence": {
                "originals": 0.4 if weak else 0.02,
                "attack": 0.3,
                "training": 0.0,
                "held_out": 0.01,
                "control": 0.5,
                "linkages": {"cosine": 0.31},
                "less_informed": {},
            },
            "limits": {"originals": 0.15, "training": 0.25, "control": 0.1, "behind": 0.05},
        },
        **_measured(folder, f"{hash_of(label)}-{attacker}", apart, rng),
        "reidentification": _crowds(linked),
        "attributes": {
            "gender": {
                "accuracy": 0.9,
                "low": 0.8,
                "high": 0.95,
                "majority": 0.5,
                "better_than_guessing": True,
            },
            "accent": {"note": "accent: 1 value; at least 2 are needed"},
        },
        "groups": {"gender": {"f": {"speakers": 4, "linkability": linked}}},
    }


def hash_of(text: str) -> int:
    """The same in every run, unlike Python's own."""
    return sum(i * ord(c) for i, c in enumerate(text, start=1))


def _anonymiser(folder: Path, label: str, wer: float, rng: np.random.Generator) -> dict[str, Any]:
    (folder / "speech").mkdir(exist_ok=True)
    examples = []
    for i in range(4):
        paths = {side: f"speech/{hash_of(label)}-{side}-{i}.wav" for side in ("a", "b")}
        for path in paths.values():
            save_audio(folder / path, 0.1 * rng.standard_normal(8000 if i else 128_000), 16000)
        examples.append(
            {
                "utterance": f"u{i}",
                "speaker": "s00",
                "original": str(folder / paths["a"]),
                "anonymised": paths["b"],
            }
        )
    matrices = {kind: rng.random((8, 8)).tolist() for kind in ("oo", "op", "pp")}
    return {
        "anonymiser": label,
        "method": label.partition("(")[0],
        "settings": {"by": 0.8},
        "card": {
            "summary": "Bends <voices>.",
            "keeps": ["words"],
            "leaks": "Pitch.",
            "reversible": "yes",
            "reference": "Nobody 2020",
        },
        "similarity": {
            "deid": 0.5,
            "gvd_db": -3.0,
            "speakers": SPEAKERS,
            "matrices": matrices,
            "intervals": None,
        },
        "utility": {
            "wer": {
                "value": wer,
                "low": wer - 0.02,
                "high": wer + 0.02,
                "utterances": 40,
                "words": 400,
                "recogniser": "ear",
            },
            "quality": {"value": 3.1, "low": None, "high": None, "utterances": 8, "model": "vote"},
            "f0_correlation": {"note": "too little voiced speech to tell"},
        },
        "examples": examples,
    }
