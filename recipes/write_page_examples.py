"""Write the examples of the service's page anew: scores, embeddings and a report.

    uv run python recipes/write_page_examples.py AUDIT

Scores and embeddings are drawn, of voices that nobody has. AUDIT is the folder of the built-in
study (``sottovoce audit --out AUDIT``), whose report is written without recordings.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.files import write_text
from sottovoce.findings.files import read_findings
from sottovoce.report.audit import render

STATIC = Path(__file__).parents[1] / "src" / "sottovoce" / "serve" / "static"
SPEAKERS, UTTERANCES, DIMENSIONS = 40, 4, 16


def write_scores(path: Path, rng: np.random.Generator) -> None:
    """Write scores of 60 pairs of one speaker and 240 pairs of two."""
    scores = {1: rng.normal(1.5, 1, 60), 0: rng.normal(0, 1, 240)}
    lines = [f"{score:.3f},{label}" for label, values in scores.items() for score in values]
    write_text(path, "\n".join(["score,label", *lines, ""]))


def write_embeddings(path: Path, voices: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Write four recordings of each voice."""
    rows = np.repeat(np.arange(len(voices)), UTTERANCES)
    vectors = voices[rows] + rng.normal(size=(len(rows), DIMENSIONS))
    names = np.array([f"speaker {row + 1}" for row in rows])
    np.savez_compressed(path, vectors=vectors.astype(np.float32), speakers=names)


def main() -> None:
    """Write all examples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("audit", type=Path, help="folder of the built-in study")
    audit = parser.parse_args().audit
    folder = STATIC / "example"
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    write_scores(folder / "scores.csv", rng)
    voices = rng.normal(size=(SPEAKERS, DIMENSIONS))
    write_embeddings(folder / "original.npz", voices, rng)
    write_embeddings(folder / "enrol.npz", voices, rng)
    changed = 0.5 * voices + 0.8 * rng.normal(size=voices.shape)
    write_embeddings(folder / "anonymised.npz", changed, rng)
    write_text(STATIC / "example_report.html", render(read_findings(audit), audit, audio=False))


if __name__ == "__main__":
    main()
