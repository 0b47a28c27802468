"""``sottovoce anonymise recording``: voice changed, private words masked, one purpose each."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.align import open_transcribed
from sottovoce.cli.decisions import decision_options, load_decisions, write_proposal
from sottovoce.cli.options import JsonCommand, json_option, progress_bar
from sottovoce.cli.recording_outcome import Outcome
from sottovoce.cli.secrets import find_secret, secret_file, secret_options

if TYPE_CHECKING:
    from sottovoce.anonymise.recording.mask import MaskSettings, MaskSound
    from sottovoce.anonymise.recording.private_words import Finder
    from sottovoce.anonymise.recording.release import Purpose
    from sottovoce.anonymise.recording.secure import AlignedRecording
    from sottovoce.anonymise.recording.verification import Verifier


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce anonymise recording calls/ out/ --purpose acoustic --slice 3",
    short_help="Mask private words in sound and text; change the voice.",
)
@click.argument(
    "paths", metavar="AUDIO|CORPUS [TEXT] OUT", nargs=-1, type=click.Path(path_type=Path)
)
@click.option(
    "--purpose",
    type=click.Choice(["acoustic", "text"]),
    required=True,
    help="acoustic: secured speech and its text without private words. text: texts only.",
)
@click.option(
    "--words",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Words or phrases to be masked, one a line.",
)
@click.option("--only-words", is_flag=True, help="Mask the words of --words only.")
@decision_options
@click.option("--lang", default="en", show_default=True, help="Language, if the corpus has none.")
@click.option("--voice", default="mcadams", show_default=True, help="Voice method, or none.")
@click.option(
    "--mask",
    "how",
    type=click.Choice(["silence", "noise", "beep", "cut"]),
    default="silence",
    show_default=True,
    help="What replaces masked words.",
)
@click.option(
    "--length",
    metavar="SECONDS|natural",
    default="0.4",
    show_default=True,
    help="Length of every masked stretch; natural lengths help to guess words.",
)
@click.option("--strict", is_flag=True, help="Wider masks; withhold on any doubt.")
@click.option(
    "--strategy", default="full", show_default=True, help="What replaces words in a text."
)
@click.option("--typed", is_flag=True, help="Leave <PER> and the like in the text of speech.")
@click.option(
    "--slice",
    "seconds",
    type=float,
    metavar="SECONDS",
    help="Least length of pieces.",
)
@click.option(
    "--times",
    type=click.Choice(["best", "released", "original"]),
    default="best",
    show_default=True,
    help="Recording to align; best: the original, if the voice keeps the times of words.",
)
@click.option(
    "--ledger",
    "ledger_path",
    type=click.Path(path_type=Path),
    help="Ledger of exports. [default: SOTTOVOCE_LEDGER, or in your state folder]",
)
@click.option("--in-house", is_flag=True, help="Not to be given away: the ledger is not used.")
@click.option("--verify", is_flag=True, help="Attack the result; exit code 1 if one succeeds.")
@click.option(
    "--recogniser",
    default="moonshine-tiny",
    show_default=True,
    help="Speech recogniser that --verify attacks with.",
)
@secret_options
@json_option
def command(
    paths: tuple[Path, ...],
    purpose: Purpose,
    words: Path | None,
    only_words: bool,
    decisions_path: Path | None,
    propose: Path | None,
    lang: str,
    voice: str,
    how: MaskSound,
    length: str,
    strict: bool,
    strategy: str,
    typed: bool,
    seconds: float | None,
    times: AlignedRecording,
    ledger_path: Path | None,
    in_house: bool,
    verify: bool,
    recogniser: str,
    secret_path: Path | None,
    reproducible: int | None,
    json_to: str | None,
) -> int:
    """Export recordings for one purpose into the new folder OUT.

    The voice is changed, each word is found in the sound, private words are masked there and in the
    text, and the recording may be cut into pieces. What is not surely what the text says is masked
    too; a recording with too much of it is withheld and listed in OUT.withheld.csv. Files get new
    names and a new order.

    A dialogue (a speaker's session, or the column "dialogue" of the corpus) can be exported for one
    purpose only, since speech and text together show which private words were missed. A ledger
    remembers the exports; it recognises a dialogue by its words, its sound and its name.

    For a review, --propose FILE writes what would be masked, and no OUT; the service's page shows
    and changes such a file, and --decisions FILE exports with it.
    """
    from sottovoce.anonymise.recording.export import export_corpus
    from sottovoce.anonymise.recording.ledger import Ledger, default_ledger
    from sottovoce.anonymise.recording.private_words import (
        detect_private,
        read_words,
        replace_with,
    )
    from sottovoce.anonymise.recording.review import propose_decisions
    from sottovoce.anonymise.recording.secure import Settings
    from sottovoce.anonymise.recording.slice import check_seconds
    from sottovoce.anonymise.voice import make_method
    from sottovoce.core.atomic_directory import delete_on_failure

    source, text, target = _split_paths(paths, with_target=propose is None)
    if seconds is not None:
        check_seconds(seconds)
    masking = _mask_settings(how, length, strict)
    settings = Settings(masking, typed=typed, strict=strict, seconds=seconds, times=times)
    listed = read_words(words) if words else []
    if only_words and not listed:
        raise click.UsageError("--only-words needs --words FILE")
    if verify and purpose == "text":
        raise click.UsageError("--verify attacks sound; a text export has none")
    corpus = open_transcribed(source, text)
    if voice != "none":
        make_method(voice)  # an unknown method is refused before a secret is written
    decisions = load_decisions(decisions_path)
    if propose is not None:
        finder = None if only_words else detect_private
        proposed = propose_decisions(
            corpus, finder=finder, listed=listed, lang=lang, decisions=decisions
        )
        write_proposal(propose, proposed, json_to)
        return 0
    languages = {utterance.language or lang for utterance in corpus}
    finder = None if only_words else detect_private
    verifier = _make_verifier(recogniser, languages, finder) if verify else None
    outcome = Outcome(target, verifier)
    with delete_on_failure(secret_file(target, secret_path)), ExitStack() as stack:
        for path in (outcome.places_path, *([Path(json_to)] if json_to not in (None, "-") else [])):
            stack.enter_context(delete_on_failure(path))
        progress = stack.enter_context(progress_bar("securing"))
        drawn = find_secret(target, secret_path, reproducible)
        result = export_corpus(
            corpus,
            target,
            purpose=purpose,
            secret=drawn.secret,
            settings=settings,
            finder=finder,
            listed=listed,
            decisions=decisions,
            method=None if voice == "none" else make_method(voice, drawn.secret),
            replace=replace_with(lang, drawn.secret, strategy) if purpose == "text" else None,
            lang=lang,
            ledger=None if in_house else Ledger(ledger_path or default_ledger()),
            observe=verifier.observe if verifier else None,
            finish=lambda counts: outcome.finish(counts, drawn.secret, json_to),
            progress=progress,
        )
    if json_to != "-":
        outcome.show(result)
    outcome.warn()
    if not result.masked_words:
        click.echo(f"no word was masked{'; check the list of words' if listed else ''}", err=True)
    click.echo(drawn.note, err=True)
    return outcome.exit_code


def _split_paths(paths: tuple[Path, ...], *, with_target: bool) -> tuple[Path, Path | None, Path]:
    """Return source, text and target; without a target it is the source."""
    sources = paths[:-1] if with_target else paths
    if len(sources) not in (1, 2):
        raise click.UsageError(
            "name AUDIO, its TEXT and OUT, or a CORPUS with transcripts and OUT"
            if with_target
            else "--propose writes no OUT: name AUDIO and its TEXT, or a CORPUS with transcripts"
        )
    return sources[0], sources[1] if len(sources) == 2 else None, paths[-1]


def _mask_settings(how: MaskSound, length: str, strict: bool) -> MaskSettings:
    from sottovoce.anonymise.recording.mask import MaskSettings

    try:
        seconds = None if length == "natural" else float(length)
    except ValueError:
        raise click.UsageError(f"--length {length}: give seconds, or natural") from None
    pad = MaskSettings.strict().pad if strict else MaskSettings().pad
    return MaskSettings(how=how, pad=pad, length=seconds)


def _make_verifier(recogniser: str, languages: set[str], finder: Finder | None) -> Verifier:
    from sottovoce.anonymise.recording.verification import Verifier
    from sottovoce.asr.recogniser import make_recogniser, understands

    for language in sorted(languages):
        if not understands(recogniser, language):
            click.echo(
                f"caution: {recogniser} does not understand {language!r}, so that its attacks (V1, "
                "V5, V6) on such recordings prove little; choose another --recogniser",
                err=True,
            )
    return Verifier(make_recogniser(recogniser), finder)
