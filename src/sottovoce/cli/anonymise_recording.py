"""``sottovoce anonymise recording``: voice changed, private words masked, one purpose each."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.align import open_transcribed
from sottovoce.cli.decisions import decision_options, load_decisions, write_proposal
from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.options import (
    JsonCommand,
    given_options,
    json_option,
    progress_bar,
    refuse_ignored,
    split_names,
    write_json,
)
from sottovoce.cli.recording_exports import Exporter
from sottovoce.cli.secrets import find_secret, secret_file, secret_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sottovoce.anonymise.recording.mask import MaskSettings, MaskSound
    from sottovoce.anonymise.recording.private_words import Finder
    from sottovoce.anonymise.recording.secure import AlignedRecording
    from sottovoce.anonymise.recording.verification import Verifier
    from sottovoce.cli.recording_outcome import Outcome


_SOUND_OPTIONS = ("voice", "how", "length", "strict", "typed", "seconds", "times", "verify")
"""Parameters that a text export does not have."""
_EXPORT_OPTIONS = (
    *_SOUND_OPTIONS,
    *("strategy", "recogniser", "ledger_path", "in_house", "secret_path", "reproducible"),
    *("jobs", "engine", "worker_memory", "scratch"),
)
"""Parameters that a proposal does not have."""


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
    type=click.Choice(["acoustic", "text", "random"]),
    required=True,
    help="acoustic: secured speech and its text without private words. text: texts only. random: "
    "one of --purposes, drawn for each dialogue.",
)
@click.option(
    "--purposes",
    metavar="NAMES",
    help="What random draws from. [default: acoustic,language-model,understanding,"
    "dialogue-management]",
)
@click.option(
    "--words",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Words or phrases to be masked, one a line.",
)
@click.option("--only-words", is_flag=True, help="Mask the words of --words only.")
@decision_options
@click.option(
    "--lang", default="en", show_default=True, help="Language, if the corpus has none; or auto."
)
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
    "--strategy", default="full", show_default=True, help="What replaces words of a text export."
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
@click.option("--jobs", default=1, show_default=True, help="Recordings secured in parallel.")
@engine_options
@secret_options
@json_option
def command(
    paths: tuple[Path, ...],
    purpose: str,
    purposes: str | None,
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
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
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

    With --purpose random each dialogue is drawn, by the secret, for one of --purposes, and OUT gets
    an export for each of them in a folder of its name. The ledger remembers the draw: a dialogue
    that was exported before keeps its purpose.

    For a review, --propose FILE writes what would be masked, and no OUT; the service's page shows
    and changes such a file, and --decisions FILE exports with it.
    """
    from sottovoce.anonymise.recording.languages import transcript_languages
    from sottovoce.anonymise.recording.ledger import Ledger, default_ledger
    from sottovoce.anonymise.recording.private_words import detect_private, read_words
    from sottovoce.anonymise.recording.review import propose_decisions
    from sottovoce.anonymise.recording.secure import Settings
    from sottovoce.anonymise.recording.slice import check_seconds
    from sottovoce.anonymise.text import STRATEGIES
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
    tasks = _tasks(purpose, purposes)
    if propose is not None:
        refuse_ignored(_EXPORT_OPTIONS, "an export, without --propose")
    _refuse_unused(tasks or (purpose,), verify=verify, in_house=in_house)
    STRATEGIES[strategy]  # an unknown strategy is refused before anything is read
    corpus = open_transcribed(source, text)
    if voice != "none":
        make_method(voice)  # an unknown method is refused before a secret is written
    decisions = load_decisions(decisions_path)
    finder = None if only_words else detect_private
    if propose is not None:
        proposed = propose_decisions(
            corpus, finder=finder, listed=listed, lang=lang, decisions=decisions
        )
        write_proposal(propose, proposed, json_to)
        return 0
    languages = transcript_languages(
        [utterance.transcript for utterance in corpus],
        [utterance.language or lang for utterance in corpus],
    )
    verifier = _make_verifier(recogniser, set(languages), finder) if verify else None
    ledger = None if in_house else Ledger(ledger_path or default_ledger())
    with delete_on_failure(secret_file(target, secret_path)), ExitStack() as stack:
        if json_to not in (None, "-"):
            stack.enter_context(delete_on_failure(Path(str(json_to))))
        drawn = find_secret(target, secret_path, reproducible)
        opened = stack.enter_context(engine_of(engine, jobs, worker_memory, scratch))
        progress = stack.enter_context(progress_bar("securing"))
        exporter = Exporter(
            drawn.secret,
            settings,
            finder,
            listed,
            decisions,
            voice,
            strategy,
            lang,
            ledger,
            verifier,
            progress,
            opened,
        )
        if tasks is None:
            outcomes = [
                exporter.export(corpus, target, purpose, lambda done: _write_json(done, json_to))
            ]
        else:
            outcomes = exporter.export_tasks(
                corpus, target, tasks, lambda done: _write_all_json(done, json_to)
            )
    for outcome in outcomes:
        if json_to != "-":
            outcome.show()
        outcome.warn()
    if not sum(outcome.masked_words for outcome in outcomes):
        click.echo(f"no word was masked{'; check the list of words' if listed else ''}", err=True)
    click.echo(drawn.note, err=True)
    return max(outcome.exit_code for outcome in outcomes)


def _write_json(outcome: Outcome, json_to: str | None) -> None:
    if json_to is not None:
        write_json(outcome.to_dict(), json_to)


def _write_all_json(outcomes: Sequence[Outcome], json_to: str | None) -> None:
    if json_to is not None:
        write_json({"exports": [outcome.to_dict() for outcome in outcomes]}, json_to)


def _tasks(purpose: str, purposes: str | None) -> tuple[str, ...] | None:
    """Purposes to draw from; None where one is named."""
    from sottovoce.anonymise.recording.purposes import TASKS, check_tasks

    if purpose != "random":
        if purposes is not None:
            raise click.UsageError("--purposes is drawn from; it needs --purpose random")
        return None
    return check_tasks(split_names(purposes) or list(TASKS))


def _refuse_unused(tasks: Sequence[str], *, verify: bool, in_house: bool) -> None:
    """Refuse options that have no effect on what is exported."""
    if "acoustic" not in tasks:
        refuse_ignored(_SOUND_OPTIONS, "the purpose acoustic")
    if set(tasks) == {"acoustic"}:
        refuse_ignored(("strategy",), "the purpose text")
    if not verify:
        refuse_ignored(("recogniser",), "--verify")
    if in_house and given_options(["ledger_path"]):
        raise click.UsageError("--in-house uses no ledger; leave --ledger or --in-house out")


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
