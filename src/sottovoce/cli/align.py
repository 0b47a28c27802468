"""``sottovoce align``: when each word was said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, progress_bar, write_json

if TYPE_CHECKING:
    from sottovoce.anonymise.recording.timing import Alignment
    from sottovoce.corpus import Corpus


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce align call.wav call.txt --to call.TextGrid",
    short_help="When each word and phone was said.",
)
@click.argument("source", metavar="AUDIO|CORPUS", type=click.Path(path_type=Path))
@click.argument("text", required=False, type=click.Path(path_type=Path))
@click.option("--lang", default="en", show_default=True, help="Language, if the corpus has none.")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="FILE.json, FILE.ctm or FILE.TextGrid, or a folder for a TextGrid each.",
)
@json_option
def command(
    source: Path, text: Path | None, lang: str, target: Path | None, json_to: str | None
) -> int:
    """Find when each word of TEXT was said in AUDIO, to 10 ms.

    TEXT is a file with what was said. A CORPUS has transcripts of its own, or TEXT has lines with
    an utterance and its words, as in Kaldi. Without --to the times are printed as CTM: utterance,
    channel, start, duration, word, confidence. Below a confidence of 0.5 a time is not to be
    believed. Utterances that cannot be aligned at all are named, with the reason, and the exit code
    is 1.
    """
    from sottovoce.anonymise.recording.align import UnalignedError, align
    from sottovoce.anonymise.recording.tiers import as_ctm
    from sottovoce.core.errors import InputError
    from sottovoce.corpus.audio import UnreadableAudioError, load_native

    corpus = spoken_corpus(source, text)
    files = {} if target is None else grid_files(corpus, target)
    refuse_target(target, files.values())
    found: dict[str, Alignment] = {}
    lost: dict[str, str] = {}
    with progress_bar("aligning") as progress:
        for count, one in enumerate(corpus, 1):
            try:
                audio, rate = load_native(one)
                found[one.id] = align(audio, rate, one.transcript, lang=one.language or lang)
            except (UnalignedError, UnreadableAudioError) as error:
                lost[one.id] = str(error).removeprefix(f"{one.path}: ")
            progress(count, len(corpus))
    if not found:
        raise InputError(f"{source}: nothing aligned: {next(iter(lost.values()))}")
    if target is not None:
        _write(found, target, files)
    elif json_to != "-":
        click.echo(as_ctm(found), nl=False)
    if json_to is not None:
        said = {name: alignment.to_dict() for name, alignment in found.items()}
        write_json({"utterances": said, "not_aligned": lost}, json_to)
    doubtful = sum(not alignment.confident for alignment in found.values())
    click.echo(
        f"{len(found):,} of {len(corpus):,} aligned, {doubtful:,} of them with doubts", err=True
    )
    for name, why in lost.items():
        click.echo(f"not aligned {name}: {why}", err=True)
    return 1 if lost else 0


def grid_files(corpus: Corpus, target: Path) -> dict[str, Path]:
    """A TextGrid for each utterance, if ``target`` is a folder; refuses two of one name."""
    if target.suffix:
        return {}
    files: dict[str, Path] = {}
    taken: dict[str, str] = {}
    for one in corpus:
        name = f"{one.id.replace('/', '_')}.TextGrid"
        other = taken.setdefault(name.lower(), one.id)
        if other != one.id:
            raise click.UsageError(
                f"--to {target}: utterances {other} and {one.id} would share {name}; write all "
                "into one FILE.json or FILE.ctm"
            )
        files[one.id] = target / name
    return files


def refuse_target(target: Path | None, files: Iterable[Path] = ()) -> None:
    """Refuse a file of a kind that is not written, and files that are there."""
    from sottovoce.anonymise.recording.tiers import WRITERS

    if target is None:
        return
    if target.suffix and target.suffix.lower() not in WRITERS:
        raise click.UsageError(f"--to {target}: end it in .json, .ctm or .TextGrid")
    if target.exists() and (target.suffix or not target.is_dir()):
        raise click.UsageError(f"--to {target}: there already; name another to write")
    for path in files:
        if path.exists():
            raise click.UsageError(f"--to {path}: there already; name another folder")


def _write(found: dict[str, Alignment], target: Path, files: dict[str, Path]) -> None:
    from sottovoce.anonymise.recording.tiers import WRITERS, as_textgrid
    from sottovoce.core.files import write_text

    if target.suffix:
        write_text(target, WRITERS[target.suffix.lower()](found))
        return
    for name, alignment in found.items():
        write_text(files[name], as_textgrid(alignment))


def spoken_corpus(source: Path, text: Path | None, *, lacking: str = "give TEXT") -> Corpus:
    """A corpus with transcripts: one file and its text, or a corpus with or without a list.

    ``lacking`` is what to do about utterances without transcript.
    """
    from sottovoce.core.errors import InputError
    from sottovoce.core.files import check_exists
    from sottovoce.corpus import Corpus, Utterance, open_corpus
    from sottovoce.corpus.reading import Defects, read_entries, read_text
    from sottovoce.corpus.trees import AUDIO_ENDINGS

    if source.suffix.lower() in AUDIO_ENDINGS and not source.is_dir():
        check_exists(source)
        if text is None:
            raise click.UsageError(f"{source}: what is said in it is not known; {lacking}")
        words = " ".join(read_text(text).split())
        one = Utterance(source.stem, source, source.stem, transcript=words)
        return Corpus(source.stem, source, (one,))
    corpus = open_corpus(source)
    if text is not None:
        defects = Defects()
        lines = read_entries(text, "utterance words", defects)
        defects.refuse_any()
        unsaid = [one.id for one in corpus if one.id not in lines]
        if unsaid:
            raise InputError(f"{text}: no line for utterance {unsaid[0]}; add it")
        said = tuple(replace(one, transcript=lines[one.id][1]) for one in corpus)
        corpus = replace(corpus, utterances=said)
    silent = [one.id for one in corpus if not one.transcript.strip()]
    if silent:
        raise InputError(f"{source}: utterance {silent[0]} has no transcript; {lacking}")
    return corpus
