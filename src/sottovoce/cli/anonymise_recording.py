"""``sottovoce anonymise recording``: voice changed, private words masked, one purpose an export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.align import spoken_corpus
from sottovoce.cli.options import JsonCommand, json_option, progress_bar, write_json
from sottovoce.cli.secrets import find_secret, secret_file, secret_options

if TYPE_CHECKING:
    from sottovoce.anonymise.recording.export import Export
    from sottovoce.anonymise.recording.rates import Rate
    from sottovoce.anonymise.recording.secure import Settings
    from sottovoce.anonymise.recording.verify import Verification, Verifier


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
    help="acoustic: secured speech, its text without the words. text: text only, words replaced.",
)
@click.option(
    "--words",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Words or phrases to be masked, one a line.",
)
@click.option("--only-words", is_flag=True, help="Mask what --words lists; look for nothing else.")
@click.option("--lang", default="en", show_default=True, help="Language, if the corpus has none.")
@click.option("--voice", default="mcadams", show_default=True, help="Method, or none.")
@click.option(
    "--mask",
    "how",
    type=click.Choice(["silence", "noise", "beep", "cut"]),
    default="silence",
    show_default=True,
    help="What stands for masked words.",
)
@click.option(
    "--length",
    metavar="SECONDS|natural",
    default="0.4",
    show_default=True,
    help="Length of every masked stretch; natural lengths give words away.",
)
@click.option("--strict", is_flag=True, help="Wider masks; withhold on any doubtful word.")
@click.option(
    "--strategy", default="full", show_default=True, help="What replaces words in a text."
)
@click.option("--typed", is_flag=True, help="Leave <PER> and the like in the text of speech.")
@click.option("--slice", "seconds", type=float, metavar="SECONDS", help="Cut into such pieces.")
@click.option(
    "--times",
    type=click.Choice(["best", "released", "original"]),
    default="best",
    show_default=True,
    help="Which sound is aligned: in the new voice, in the old, or the new and on doubt the old.",
)
@click.option(
    "--ledger",
    "ledger_path",
    type=click.Path(path_type=Path),
    help="Where exports are remembered. [default: SOTTOVOCE_LEDGER, or among your own files]",
)
@click.option(
    "--in-house", is_flag=True, help="Not to be given away: neither asked nor remembered."
)
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
    purpose: str,
    words: Path | None,
    only_words: bool,
    lang: str,
    voice: str,
    strategy: str,
    ledger_path: Path | None,
    in_house: bool,
    verify: bool,
    recogniser: str,
    secret_path: Path | None,
    reproducible: int | None,
    json_to: str | None,
    **chosen: Any,
) -> int:
    """Make recordings ready to leave, for one purpose: OUT is a new folder.

    The voice is changed first, then each word is looked for in the new sound, private ones are
    masked there and in the text, and the rest may be cut into slices. A recording whose words
    cannot be found with confidence is withheld and listed in OUT.withheld.csv. Files have new names
    and no order.

    One dialogue (a speaker's session, or what the column "dialogue" says) is exported for one
    purpose only, since speech and text together show which private words were missed. A ledger
    remembers that, by what is said, how it sounds and what the dialogue is called.
    """
    from sottovoce.anonymise.recording.export import export_corpus
    from sottovoce.anonymise.recording.ledger import Ledger, default_ledger
    from sottovoce.anonymise.recording.sensitive import private_words, read_words
    from sottovoce.anonymise.recording.texts import replaced_texts
    from sottovoce.anonymise.voice import make_method
    from sottovoce.core.atomic_directory import delete_on_failure

    source, text, target = _paths(paths)
    settings = _settings(chosen)
    listed = read_words(words) if words else []
    if only_words and not listed:
        raise click.UsageError("--only-words needs --words FILE")
    if verify and purpose == "text":
        raise click.UsageError("--verify attacks sound; a text export has none")
    corpus = spoken_corpus(source, text)
    if voice != "none":
        make_method(voice)  # an unknown one is refused before a secret is written
    languages = {utterance.language or lang for utterance in corpus}
    verifier = _verifier(recogniser, languages) if verify else None
    with delete_on_failure(secret_file(target, secret_path)), progress_bar("securing") as progress:
        drawn = find_secret(target, secret_path, reproducible)
        done = export_corpus(
            corpus,
            target,
            purpose=purpose,  # type: ignore[arg-type]
            secret=drawn.secret,
            settings=settings,
            finder=None if only_words else private_words,
            listed=listed,
            method=None if voice == "none" else make_method(voice, drawn.secret),
            replace=replaced_texts(lang, drawn.secret, strategy) if purpose == "text" else None,
            lang=lang,
            ledger=None if in_house else Ledger(ledger_path or default_ledger()),
            observe=verifier.observe if verifier else None,
            progress=progress,
        )
    attacked = verifier if done.masked_words else None
    report = attacked.report(drawn.secret.generator("verify")) if attacked else None
    if json_to is not None:
        found = done.to_dict() | {"out": str(target)}
        write_json(found | ({"verification": report.to_dict()} if report else {}), json_to)
    if json_to != "-":
        _print(done, target, report)
    if not done.masked_words:
        click.echo(f"no word was masked{'; check the list of words' if listed else ''}", err=True)
    click.echo(drawn.note, err=True)
    return 1 if report and report.failures else 0


def _paths(paths: tuple[Path, ...]) -> tuple[Path, Path | None, Path]:
    if len(paths) == 2:
        return paths[0], None, paths[1]
    if len(paths) == 3:
        return paths
    raise click.UsageError("name AUDIO, its TEXT and OUT, or a CORPUS with transcripts and OUT")


def _settings(chosen: dict[str, Any]) -> Settings:
    from sottovoce.anonymise.recording.mask import Masking
    from sottovoce.anonymise.recording.secure import Settings
    from sottovoce.anonymise.recording.slice import check_seconds

    length = chosen["length"]
    try:
        fixed = None if length == "natural" else float(length)
    except ValueError:
        raise click.UsageError(f"--length {length}: give seconds, or natural") from None
    pad = Masking.strict().pad if chosen["strict"] else Masking().pad
    if chosen["seconds"] is not None:
        check_seconds(chosen["seconds"])
    return Settings(
        masking=Masking(how=chosen["how"], pad=pad, length=fixed),
        typed=chosen["typed"],
        strict=chosen["strict"],
        seconds=chosen["seconds"],
        times=chosen["times"],
    )


def _verifier(recogniser: str, languages: set[str]) -> Verifier:
    from sottovoce.anonymise.recording.verify import Verifier
    from sottovoce.asr.recogniser import make_recogniser, understands

    for language in sorted(languages):
        if not understands(recogniser, language):
            click.echo(
                f"caution: {recogniser} does not understand {language!r}, so that its attacks (V1, "
                "V5, V6) on such recordings prove little; choose another --recogniser",
                err=True,
            )
    return Verifier(make_recogniser(recogniser))


def _print(done: Export, target: Path, report: Verification | None) -> None:
    what = "texts" if done.purpose == "text" else "files"
    click.echo(
        f"{done.files:,} {what} of {done.utterances:,} utterances in {target}: "
        f"{done.masked_words:,} words masked, {len(done.withheld):,} utterances withheld"
    )
    if done.withheld:
        click.echo(f"what was withheld, and why: {target}.withheld.csv")
    if report is None:
        return
    rows = {
        "V1 open, before the mask": report.open_before,
        "V1 open recovery": report.open_recovery,
        "V2 closed, before": report.closed_before,
        "V2 closed set": report.closed_set,
        "V3 length": report.length,
        "V5 inverted, open": report.open_inverted,
        "V5 inverted, closed set": report.closed_inverted,
        "V6 word errors before": report.errors_before,
        "V6 word errors after": report.errors_after,
        "V7 exposed words": report.exposed,
    }
    for name, rate in rows.items():
        click.echo(f"{name:25} {_rate(rate)}")
    kept = "bit for bit as they were" if report.untouched else "CHANGED"
    alike = f"{report.correlation:.3f} (by chance {report.correlation_by_chance:.3f})"
    click.echo(f"V4 correlation            {alike}; kept samples {kept}")
    click.echo(f"V6 neighbours             {report.neighbour_ms:.0f} ms lost to a mask")
    for name in report.failures:
        click.echo(f"limit exceeded: {name}")


def _rate(rate: Rate) -> str:
    low, high = rate.interval
    share = rate.hits / rate.total if rate.total else 0.0
    chance = f", chance {rate.chance:.1%}" if rate.chance else ""
    return f"{rate.hits:,} of {rate.total:,} ({share:.1%}; {low:.1%} to {high:.1%}{chance})"
