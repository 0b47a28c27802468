"""Run the attacks behind docs/results.md, one method at a time.

    uv run python benchmarks/results_run.py /tmp/results/libri40 /tmp/results/train mcadams \
        --out /tmp/results/audit --findings /tmp/results/findings/mcadams.json

Every attacker links with ``best``, ``fused``, ``strongest`` and a ``retrained`` encoder; those that
train on anonymised speech also with ``undone``, where the method has an inverse. Nothing is
retrained if ``--no-retraining`` hides PyTorch; ``--frozen`` runs nothing but the encoder as it is,
linked with ``best``.
Runs into one folder, one after the other, share anonymised speech, embeddings and encoders, and
each writes its findings to its own file. ``--release-seed`` releases the speech with other draws,
against the same attackers.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from sottovoce.anonymise.voice import METHODS
from sottovoce.audit.run import run_audit
from sottovoce.audit.study import Study
from sottovoce.core.records import write_json

ORIGINAL_TRAINERS = ("ignorant", "lazy-informed")
ANONYMISED_TRAINERS = ("semi-informed", "informed")
LINKAGES = ("best", "fused", "strongest")


def attackers(method: str, *, frozen: bool, retraining: bool) -> list[dict[str, str]]:
    """The attackers of a study, with their settings."""
    names = (*ORIGINAL_TRAINERS, *ANONYMISED_TRAINERS)
    linkages = LINKAGES[:1] if frozen else LINKAGES
    entries = [{"name": name, "linkage": linkage} for name in names for linkage in linkages]
    if frozen:
        return entries
    encoders = [(name, "retrained") for name in names if retraining]
    if METHODS[method].card.inverse:
        encoders += [(name, "undone") for name in ANONYMISED_TRAINERS]
    return entries + [
        {"name": name, "encoder": encoder, "linkage": "best"} for name, encoder in encoders
    ]


def make_study(options: argparse.Namespace) -> Study:
    """The study of one method."""
    return Study.model_validate(
        {
            "name": f"{options.corpus.name}, {options.method}",
            "corpus": str(options.corpus),
            "train": str(options.train),
            "anonymisers": [options.method],
            "attackers": attackers(
                options.method, frozen=options.frozen, retraining=options.retraining
            ),
            "lengths": [1],
            "release_seed": options.release_seed,
            "utility": {"utterances": 240},
        }
    )


class StageLog:
    """Prints when a stage begins, with the CPU seconds so far."""

    def __init__(self) -> None:
        self.stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Print the stage if it is a new one."""
        if stage != self.stage:
            self.stage = stage
            print(f"{time.strftime('%T')} {time.process_time():7.0f} s  {stage}", flush=True)


def arguments() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("method", choices=list(METHODS))
    parser.add_argument("--out", type=Path, required=True, help="folder of the audit")
    parser.add_argument("--findings", type=Path, required=True, help="JSON file of the findings")
    parser.add_argument(
        "--frozen", action="store_true", help="only the encoder as it is, linked with best"
    )
    parser.add_argument(
        "--no-retraining", dest="retraining", action="store_false", help="encoders stay as they are"
    )
    parser.add_argument(
        "--release-seed", type=int, default=0, help="of the draws of the released speech"
    )
    return parser.parse_args()


def main() -> None:
    """Run one study and write its findings."""
    options = arguments()
    if not options.retraining:
        sys.modules["torch"] = None  # type: ignore[assignment]  # as if it were not installed
    findings = run_audit(make_study(options), options.out, jobs=1, audio=False, progress=StageLog())
    options.findings.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.findings, findings)
    print(f"{time.strftime('%T')} {time.process_time():7.0f} s  done", flush=True)


if __name__ == "__main__":
    main()
