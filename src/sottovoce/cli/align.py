"""``sottovoce align``: when each word was said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, progress_bar, write_json

if TYPE_CHECKING:
    from sottovoce.anonymise.recording.word_times import Alignment
    from sottovoce.corpus import Corpus


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce align call.wav call.txt --to call.TextGrid",
    short_help="When each word and phone was said.",
)
@click.argument("source", metavar="AUDIO|CORPUS", type=click.Path(path_type=Path))
@click.argument("text", required=False, type=click.Path(path_type=Path))
@click.option(
    "--lang", default="en", show_default=True, help="Language, if the corpus has none; or auto."
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="FILE.json, FILE.ctm or FILE.TextGrid, or a folder with a TextGrid per utterance.",
)
@json_option
def command(
    source: Path, text: Path | None, lang: str, target: Path | None, json_to: str | None
) -> int:
    """Find when each word of TEXT was said in AUDIO, to 10 ms.

    TEXT is a file with the words that were said. A CORPUS has transcripts of its own, or TEXT has a
    line with the id and the words of each utterance, as in Kaldi. Without --to the times are
    printed as CTM: utterance, channel, start, duration, word, confidence. Times with a confidence
    below 0.5 should not be used. Utterances that cannot be aligned at all are listed with the
    reason, and the exit code is 1.
    """
    from sottovoce.anonymise.recording.align import UnalignedError, align
    from sottovoce.anonymise.recording.word_times import as_ctm
    from sottovoce.core.errors import InputError
    from sottovoce.corpus.audio import UnreadableAudioError, load_native

    corpus = open_transcribed(source, text)
    files = {} if target is None else _textgrid_paths(corpus, target)
    _check_target(target, files.values())
    alignments: dict[str, Alignment] = {}
    failures: dict[str, str] = {}
    with progress_bar("aligning") as progress:
        for count, utterance in enumerate(corpus, 1):
            try:
                audio, rate = load_native(utterance)
                alignments[utterance.id] = align(
                    audio, rate, utterance.transcript, lang=utterance.language or lang
                )
            except (UnalignedError, UnreadableAudioError) as error:
                failures[utterance.id] = str(error).removeprefix(f"{utterance.path}: ")
            progress(count, len(corpus))
    if not alignments:
        reason = next(iter(failures.values()))
        raise InputError(f"{source}: nothing aligned: {reason}", code="not-aligned")
    if target is not None:
        _write(alignments, target, files)
    elif json_to != "-":
        click.echo(as_ctm(alignments), nl=False)
    if json_to is not None:
        utterances = {name: alignment.to_dict() for name, alignment in alignments.items()}
        write_json({"utterances": utterances, "not_aligned": failures}, json_to)
    doubtful = sum(not alignment.confident for alignment in alignments.values())
    click.echo(
        f"{len(alignments):,} of {len(corpus):,} aligned, {doubtful:,} of them with doubts",
        err=True,
    )
    for name, reason in failures.items():
        click.echo(f"not aligned {name}: {reason}", err=True)
    return 1 if failures else 0


def _textgrid_paths(corpus: Corpus, target: Path) -> dict[str, Path]:
    """Name a TextGrid for each utterance if ``target`` is a folder; refuse equal names."""
    if target.suffix:
        return {}
    files: dict[str, Path] = {}
    taken: dict[str, str] = {}
    for utterance in corpus:
        name = f"{utterance.id.replace('/', '_')}.TextGrid"
        other = taken.setdefault(name.lower(), utterance.id)
        if other != utterance.id:
            raise click.UsageError(
                f"--to {target}: utterances {other} and {utterance.id} would share {name}; write "
                "all into one FILE.json or FILE.ctm"
            )
        files[utterance.id] = target / name
    return files


def _check_target(target: Path | None, files: Iterable[Path] = ()) -> None:
    """Refuse unknown formats and files that exist."""
    from sottovoce.anonymise.recording.word_times import WRITERS

    if target is None:
        return
    if target.suffix and target.suffix.lower() not in WRITERS:
        raise click.UsageError(f"--to {target}: end it in .json, .ctm or .TextGrid")
    if target.exists() and (target.suffix or not target.is_dir()):
        raise click.UsageError(f"--to {target}: there already; name another to write")
    for path in files:
        if path.exists():
            raise click.UsageError(f"--to {path}: there already; name another folder")


def _write(alignments: dict[str, Alignment], target: Path, files: dict[str, Path]) -> None:
    from sottovoce.anonymise.recording.word_times import WRITERS, as_textgrid
    from sottovoce.core.files import write_text

    if target.suffix:
        write_text(target, WRITERS[target.suffix.lower()](alignments))
        return
    for name, alignment in alignments.items():
        write_text(files[name], as_textgrid(alignment))


def open_transcribed(source: Path, text: Path | None, *, advice: str = "give TEXT") -> Corpus:
    """Open a corpus with transcripts.

    Parameters
    ----------
    source : Path
        An audio file or a corpus.
    text : Path, optional
        The words of the audio file, or lines with the id and the words of each utterance.
    advice : str, default "give TEXT"
        What to do about utterances without transcript: the end of the error message.
    """
    from sottovoce.core.errors import InputError
    from sottovoce.core.files import check_exists
    from sottovoce.corpus import Corpus, Utterance, open_corpus
    from sottovoce.corpus.reading import Defects, read_entries, read_text
    from sottovoce.corpus.trees import AUDIO_ENDINGS

    if source.suffix.lower() in AUDIO_ENDINGS and not source.is_dir():
        check_exists(source)
        if text is None:
            raise click.UsageError(f"{source}: what is said in it is not known; {advice}")
        words = " ".join(read_text(text).split())
        utterance = Utterance(source.stem, source, source.stem, transcript=words)
        return Corpus(source.stem, source, (utterance,))
    corpus = open_corpus(source)
    if text is not None:
        defects = Defects(listed_by="")
        entries = read_entries(text, "utterance words", defects)
        defects.refuse_any()
        missing = [utterance.id for utterance in corpus if utterance.id not in entries]
        if missing:
            raise InputError(
                f"{text}: no line for utterance {missing[0]}; add it", code="missing-transcript"
            )
        transcribed = tuple(
            replace(utterance, transcript=entries[utterance.id][1]) for utterance in corpus
        )
        corpus = replace(corpus, utterances=transcribed)
    silent = [utterance.id for utterance in corpus if not utterance.transcript.strip()]
    if silent:
        raise InputError(
            f"{source}: utterance {silent[0]} has no transcript; {advice}",
            code="missing-transcript",
        )
    return corpus
