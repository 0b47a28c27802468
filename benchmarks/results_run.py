"""Run the attacks behind docs/results.md, one method at a time.

    uv run python benchmarks/results_run.py /tmp/results/libri40 /tmp/results/train mcadams \
        --out /tmp/results/audit --retrained --findings /tmp/results/findings/mcadams.json

Every attacker links with ``best``, ``fused`` and ``strongest``, and those that train on anonymised
speech also with ``undone``, where the method has an inverse. Without ``--retrained`` nobody
retrains an encoder, also if PyTorch is there; with it, only attackers that train on anonymised
speech are run: ``retrained``, and ``strongest`` once more. Several runs may share one folder: they
share anonymised speech, embeddings and encoders, and each writes its findings to its own file.
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


def attackers(method: str, *, retrained: bool) -> list[dict[str, str]]:
    """The attackers of a study, with their settings."""
    if retrained:
        return [
            {"name": "semi-informed", "encoder": "retrained", "linkage": "best"},
            *({"name": name, "linkage": "strongest"} for name in ANONYMISED_TRAINERS),
        ]
    names = (*ORIGINAL_TRAINERS, *ANONYMISED_TRAINERS)
    entries = [{"name": name, "linkage": linkage} for name in names for linkage in LINKAGES]
    if METHODS[method].card.inverse:
        entries += [
            {"name": name, "encoder": "undone", "linkage": "best"} for name in ANONYMISED_TRAINERS
        ]
    return entries


def make_study(options: argparse.Namespace) -> Study:
    """The study of one method."""
    entries = attackers(options.method, retrained=options.retrained)
    if options.only_frozen:
        best = [entry for entry in entries if entry["linkage"] == "best"]
        entries = [entry for entry in best if "encoder" not in entry]
    return Study.model_validate(
        {
            "name": f"{options.corpus.name}, {options.method}",
            "corpus": str(options.corpus),
            "train": str(options.train),
            "anonymisers": [options.method],
            "attackers": entries,
            "lengths": [1],
            "seed": options.seed,
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
    parser.add_argument("--retrained", action="store_true", help="attackers that retrain encoders")
    parser.add_argument(
        "--only-frozen", action="store_true", help="the encoder as it is, linked with best"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all draws")
    return parser.parse_args()


def main() -> None:
    """Run one study and write its findings."""
    options = arguments()
    if not options.retrained:
        sys.modules["torch"] = None  # type: ignore[assignment]  # as if it were not installed
    findings = run_audit(make_study(options), options.out, jobs=1, audio=False, progress=StageLog())
    options.findings.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.findings, findings)
    print(f"{time.strftime('%T')} {time.process_time():7.0f} s  done", flush=True)


if __name__ == "__main__":
    main()
