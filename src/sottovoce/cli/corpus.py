"""``sottovoce corpus``: check, describe and select from a corpus of recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, progress_bar, provenance, write_json

if TYPE_CHECKING:
    from sottovoce.corpus import Corpus, CorpusReport
    from sottovoce.corpus.reading import Defect

LISTED_DEFECTS = 50
"""Up to so many defects are listed, the others are counted; JSON has all."""

path_argument = click.argument("path", type=click.Path(path_type=Path))
decode_option = click.option(
    "--decode", is_flag=True, help="Read every sample, not headers only (slower, finds more)."
)


@click.group(
    epilog="Example: sottovoce corpus check recordings/",
    short_help="Check, describe and select from a corpus of recordings.",
)
def command() -> None:
    """Check and describe a corpus of recordings, and select speakers for a population.

    A corpus is a folder with manifest.csv, a Kaldi data directory, Lhotse manifests, the tree of
    LibriSpeech, VCTK or Common Voice, or a folder of audio for each speaker.
    """


@command.command(
    cls=JsonCommand,
    epilog="Example: sottovoce corpus check recordings/ --decode",
    short_help="Find everything that is wrong; exit code 1 if anything is.",
)
@path_argument
@decode_option
@json_option
def check(path: Path, decode: bool, json_to: str | None) -> int:
    """Find everything that is wrong with the corpus at PATH.

    Defects are listed with their file and line, then remarks on recordings that can be used:
    averaged channels, an unusual sample rate, a speaker with one utterance. The exit code is 0 if
    there are no defects, 1 if there are some, and 2 if there is no corpus that can be read.
    """
    from sottovoce.corpus import open_corpus
    from sottovoce.corpus.reading import DefectsError

    listed: Sequence[Defect] = ()
    try:
        corpus = open_corpus(path)
    except DefectsError as error:
        if error.usable is None:
            return _show_list_defects(error.defects, json_to)
        corpus, listed = error.usable, error.defects
    report = _check(corpus, path, decode, json_to, listed)
    if json_to != "-":
        _print_defects(report.defects)
        if report.remarks:
            click.echo("Usable, with remarks:")
            _print_defects(report.remarks)
        _print_notes(report)
        extent = "every sample" if decode else "every header; --decode reads the samples too"
        click.echo(
            f"{report.name}: {report.utterances:,} utterances of {report.speakers:,} speakers, "
            f"{report.hours:.2f} hours; {_count(report.n_defects)} ({extent})"
        )
    return 1 if report.defects else 0


@command.command(
    cls=JsonCommand,
    epilog="Example: sottovoce corpus info recordings/",
    short_help="Speakers, hours, genders, sample rates, sessions.",
)
@path_argument
@decode_option
@json_option
def info(path: Path, decode: bool, json_to: str | None) -> None:
    """Describe the corpus at PATH: speakers, hours, genders, sample rates, sessions, splits."""
    from sottovoce.corpus import open_corpus

    report = _check(open_corpus(path), path, decode, json_to)
    if json_to != "-":
        _print_table(report)
        _print_notes(report)
        if report.defects:
            click.echo(f"• {_count(report.n_defects)}, listed by: sottovoce corpus check {path}")


@command.command(
    cls=JsonCommand,
    epilog="Example: sottovoce corpus select voices/ crowd/ --min-speech 10 --max-speech 120",
    short_help="Select a population of speakers by net speech and noise.",
)
@path_argument
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--min-speech",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    metavar="S",
    help="Speakers need more than S seconds of speech, pauses not counted.",
)
@click.option(
    "--max-speech",
    type=click.FloatRange(0),
    default=120.0,
    show_default=True,
    metavar="S",
    help="Seconds of speech of a speaker that are enrolled, at most.",
)
@click.option(
    "--trial-speech",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    metavar="S",
    help="Speakers with more than S seconds of speech beyond those get trials.",
)
@click.option(
    "--trial-speakers",
    type=click.IntRange(1),
    metavar="N",
    help="Draw N of the speakers with trials. [default: all]",
)
@click.option(
    "--min-snr",
    type=float,
    metavar="DB",
    help="Leave out recordings below this signal-to-noise ratio (WADA-SNR). [default: none]",
)
@click.option("--gender", type=click.Choice(("f", "m")), help="Only speakers of this gender.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random draws."
)
@json_option
def select(
    path: Path,
    target: Path,
    min_speech: float,
    max_speech: float,
    trial_speech: float,
    trial_speakers: int | None,
    min_snr: float | None,
    gender: str | None,
    seed: int,
    json_to: str | None,
) -> None:
    """Select speakers of the corpus at PATH for a population, and list them in the new folder OUT.

    OUT/manifest.csv names the recordings where they are, with the splits enrol and trial, which
    attack and audit follow; selection.json has limits and counts. No sound is copied. The defaults
    are those of the COMPRISE study; its population also had --min-snr 75 --gender m --trial-speech
    180 --trial-speakers 20.
    """
    from sottovoce.corpus import open_corpus
    from sottovoce.corpus.selection import (
        SelectionRule,
        measure_speech,
        select_speakers,
        write_selection,
    )

    rule = SelectionRule(
        enrol_seconds=min_speech,
        enrol_most=max_speech,
        trial_seconds=trial_speech,
        trial_speakers=trial_speakers,
        lowest_snr=min_snr,
        gender=gender or "",
        seed=seed,
    )
    corpus = open_corpus(path)
    with progress_bar("listening") as progress:
        amounts, unreadable = measure_speech(corpus, progress=progress)
    selected = select_speakers(corpus, amounts, rule, unreadable=unreadable)
    write_selection(selected, rule, target)
    counts = selected.counts
    if json_to is not None:
        origin = provenance([path], **rule.to_dict())
        write_json({**counts.to_dict(), "provenance": origin}, json_to)
    if json_to != "-":
        click.echo(
            f"{counts.speakers:,} speakers to enrol ({counts.enrol_utterances:,} recordings, "
            f"{counts.enrol_hours:.2f} h of speech), {counts.trial_speakers:,} with trials "
            f"({counts.trial_utterances:,} recordings, {counts.trial_hours:.2f} h) in {target}"
        )
        click.echo(
            f"left out: {counts.short_speakers:,} speakers with too little speech, "
            f"{counts.other_speakers:,} of another gender, {counts.noisy_utterances:,} noisy and "
            f"{counts.unreadable_utterances:,} unreadable recordings"
        )


def _check(
    corpus: Corpus,
    path: Path,
    decode: bool,
    json_to: str | None,
    listed: Sequence[Defect] = (),
) -> CorpusReport:
    """Check a corpus, show progress, and write the report as JSON if the option is set."""
    from sottovoce.corpus import check_corpus

    with progress_bar("reading") as progress:
        report = check_corpus(corpus, decode=decode, progress=progress, listed=listed)
    if json_to is not None:
        write_json({**report.to_dict(), "provenance": provenance([path], decode=decode)}, json_to)
    return report


def _show_list_defects(defects: Sequence[Defect], json_to: str | None) -> int:
    """Show the defects of a corpus without a usable line, whose audio cannot be checked."""
    from sottovoce.corpus.check import ListDefects

    if json_to is not None:
        write_json(ListDefects(len(defects), tuple(defects)).to_dict(), json_to)
    if json_to != "-":
        _print_defects(defects)
        click.echo(f"{_count(len(defects))}; the audio is checked once these are put right")
    return 1


def _print_defects(defects: Sequence[Defect]) -> None:
    for defect in defects[:LISTED_DEFECTS]:
        click.echo(str(defect))
    if len(defects) > LISTED_DEFECTS:
        click.echo(f"… and {len(defects) - LISTED_DEFECTS:,} more; --json lists all")


def _print_notes(report: CorpusReport) -> None:
    for note in report.notes:
        click.echo(f"• {note}")


def _count(defects: int) -> str:
    return f"{defects:,} defect{'' if defects == 1 else 's'}" if defects else "no defects"


def _print_table(report: CorpusReport) -> None:
    from rich.console import Console
    from rich.table import Table

    per_speaker = report.utterances_per_speaker
    spread = f"{per_speaker.least:,} to {per_speaker.most:,}, median {per_speaker.median:g}"
    rows = {
        "utterances": f"{report.utterances:,}",
        "speakers": f"{report.speakers:,} ({_counts(report.genders)})",
        "utterances per speaker": spread,
        "hours": f"{report.hours:.2f}",
        "sample rates": _counts({f"{rate:,} Hz": n for rate, n in report.sample_rates.items()}),
        "languages": _counts(report.languages),
        "sessions": f"{report.sessions:,}" if report.sessions else "unknown",
        "splits": _counts(report.splits) or "none",
    }
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows.items():
        table.add_row(name, value)
    console = Console()
    console.print(report.name, style="bold", highlight=False, markup=False)
    console.print(table)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
