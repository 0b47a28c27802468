"""What ``sottovoce anonymise recording`` prints and writes about an export: never a word of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.decisions import describe_counts

if TYPE_CHECKING:
    from sottovoce.anonymise.keys import Secret
    from sottovoce.anonymise.recording.leak_measures import Rate, WordErrors
    from sottovoce.anonymise.recording.missed_words import Place
    from sottovoce.anonymise.recording.release import Export
    from sottovoce.anonymise.recording.verification import Verification, Verifier

MAX_NAMED_PLACES = 10
"""Places that are printed; the table beside the export has all of them."""


@dataclass(slots=True)
class Outcome:
    """Collects the results of an export, and reports them."""

    target: Path
    verifier: Verifier | None
    task: str
    """What the export is used for."""
    result: Export | None = None
    """Counts, once the export is finished."""
    verification: Verification | None = None
    places: list[Place] = field(default_factory=list)
    """Where a private word may have been missed."""

    @property
    def places_path(self) -> Path:
        """The table of places, beside the export since it contains original ids."""
        return self.target.with_name(f"{self.target.name}.review.csv")

    @property
    def exit_code(self) -> int:
        """1 if an attack succeeded or, after an attack, a place has to be looked at."""
        failed = self.verification is not None and bool(self.verification.failures)
        return int(failed or (self.verifier is not None and bool(self.places)))

    @property
    def masked_words(self) -> int:
        """Words that were masked."""
        return 0 if self.result is None else self.result.masked_words

    def finish(self, result: Export, secret: Secret) -> None:
        """Run the attacks that need all recordings.

        Parameters
        ----------
        result : Export
            Counts of the export.
        secret : Secret
            Key of the draws.
        """
        from sottovoce.anonymise.recording.missed_words import write_places

        if self.verifier and result.masked_words:
            self.verification = self.verifier.report(secret.generator("verify"))
        heard = self.verifier.missed() if self.verifier else []
        self.places = list(dict.fromkeys([*result.spelled, *heard]))
        if self.places:
            write_places(self.places_path, self.places)
        self.result = result

    def to_dict(self) -> dict[str, object]:
        """Return the results as JSON has them."""
        counts = {} if self.result is None else self.result.to_dict()
        places = [place.to_dict() for place in self.places]
        details = {"verification": self.verification.to_dict()} if self.verification else {}
        return {
            **counts,
            "task": self.task,
            "out": str(self.target),
            "look_at": places,
            **details,
        }

    def show(self) -> None:
        """Print the results for a person."""
        if self.result is not None:
            print_export(self.result, self.target, self.task)
        if self.verification:
            _print_verification(self.verification)

    def warn(self) -> None:
        """Name the places to look at, in any case."""
        if self.places:
            utterances = len({place.utterance for place in self.places})
            click.echo(
                f"look at {_counted(len(self.places), 'place')} in "
                f"{_counted(utterances, 'utterance')}, where a private word may have been missed "
                f"(all in {self.places_path}):",
                err=True,
            )
            for line in _place_lines(self.places):
                click.echo(line, err=True)


def _counted(number: int, singular: str) -> str:
    return f"{number:,} {singular}{'' if number == 1 else 's'}"


def _place_lines(places: Sequence[Place]) -> list[str]:
    from sottovoce.anonymise.recording.missed_words import REASONS

    lines = []
    for place in places[:MAX_NAMED_PLACES]:
        times = "" if place.start is None else f" {place.start:.2f} to {place.end:.2f} s"
        lines.append(f"  {place.utterance}{times}: {REASONS[place.why]}")
    return [*lines, "  …"] if len(places) > MAX_NAMED_PLACES else lines


def print_export(result: Export, target: Path, task: str) -> None:
    """Print the counts of an export.

    Parameters
    ----------
    result : Export
        The counts.
    target : Path
        Where it is.
    task : str
        What it is used for.
    """
    unit = "texts" if result.purpose == "text" else "files"
    named = "" if task == result.purpose else f"{task}: "
    click.echo(
        f"{named}{result.files:,} {unit} of {result.utterances:,} utterances in {target}: "
        f"{result.masked_words:,} words masked ({result.doubtful_words:,} of them in doubt), "
        f"{len(result.withheld):,} utterances withheld"
    )
    click.echo(describe_counts(result.decided))
    if result.withheld:
        click.echo(f"what was withheld, and why: {target}.withheld.csv")


def _print_verification(verification: Verification) -> None:
    rates = {
        "V1 open, before the mask": verification.open_before,
        "V1 open recovery": verification.open_recovery,
        "V2 closed, before": verification.closed_before,
        "V2 closed set": verification.closed_set,
        "V3 length": verification.length,
        "V5 inverted, open": verification.open_inverted,
        "V5 inverted, closed set": verification.closed_inverted,
        "V7 exposed words": verification.exposed,
    }
    for name, rate in rates.items():
        click.echo(f"{name:25} {_format_rate(rate)}")
    for name, errors in (
        ("V6 word errors before", verification.errors_before),
        ("V6 word errors after", verification.errors_after),
    ):
        click.echo(f"{name:25} {_format_errors(errors)}")
    kept = "bit for bit as they were" if verification.untouched else "CHANGED"
    by_chance = verification.correlation_by_chance
    correlation = f"{verification.correlation:.3f} (by chance {by_chance:.3f})"
    click.echo(f"V4 correlation            {correlation}; kept samples {kept}")
    click.echo(f"V6 neighbours             {verification.neighbour_ms:.0f} ms lost to a mask")
    for name in verification.failures:
        click.echo(f"limit exceeded: {name}")


def _format_rate(rate: Rate) -> str:
    low, high = rate.interval
    share = rate.hits / rate.total if rate.total else 0.0
    chance = f", chance {rate.chance:.1%}" if rate.chance else ""
    return f"{rate.hits:,} of {rate.total:,} ({share:.1%}; {low:.1%} to {high:.1%}{chance})"


def _format_errors(errors: WordErrors) -> str:
    share = "" if errors.share is None else f" ({errors.share:.1%})"
    return f"{errors.errors:,} errors in {errors.words:,} words{share}"
