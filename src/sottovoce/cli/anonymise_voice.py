"""``sottovoce anonymise voice``: anonymise a file, a folder of audio, or a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.options import (
    JsonCommand,
    column_values,
    given_options,
    json_option,
    key_values,
    progress_bar,
    where_option,
    write_json,
)
from sottovoce.cli.secrets import Drawn, draw_secret, secret_options

if TYPE_CHECKING:
    from sottovoce.anonymise.voice import MethodCard, VoiceAnonymiser
    from sottovoce.core.engine import Engine
    from sottovoce.core.records import JsonObject
    from sottovoce.corpus import Corpus


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce anonymise voice recordings/ anonymised/ --method mcadams "
    "--set coefficient=speaker",
    short_help="Make voices hard to recognise.",
)
@click.argument("source", required=False, metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", required=False, metavar="OUT", type=click.Path(path_type=Path))
@click.option("--method", default="mcadams", show_default=True, help="See --list.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="A setting; see --list."
)
@secret_options
@click.option(
    "--rename", is_flag=True, help="Replace ids of speakers, utterances and files by pseudonyms."
)
@click.option("--speaker", metavar="NAME", help="Speaker of the file, or of all files of a folder.")
@click.option("--split", help="Only utterances of this split, such as enrol or trial.")
@where_option
@click.option("--jobs", default=2, show_default=True, help="Recordings anonymised in parallel.")
@engine_options
@click.option("--skip-bad", is_flag=True, help="Leave out recordings that cannot be anonymised.")
@click.option("--list", "listed", is_flag=True, help="Describe the methods and their settings.")
@json_option
def command(
    source: Path | None,
    target: Path | None,
    method: str,
    assignments: tuple[str, ...],
    secret_path: Path | None,
    reproducible: int | None,
    rename: bool,
    speaker: str | None,
    split: str | None,
    where: tuple[str, ...],
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
    skip_bad: bool,
    listed: bool,
    json_to: str | None,
) -> None:
    """Anonymise the voices of IN and write the result to OUT.

    IN is an audio file, a folder of audio, or a corpus; OUT is a .wav or .flac file for an audio
    file, otherwise a folder. A Kaldi directory becomes a Kaldi directory, any other corpus a folder
    with manifest.csv; transcripts and speakers are kept. A run that was stopped continues where it
    stopped. Without --speaker each file of a plain folder counts as another speaker. Two channels
    are averaged; if there are more, a manifest must name one.
    """
    from sottovoce.anonymise.voice import make_method
    from sottovoce.core.files import check_exists

    if listed:
        _list(json_to)
        return
    if source is None or target is None:
        raise click.UsageError("name what to anonymise and where to write it, or --list")
    if jobs < 1:
        raise click.UsageError(f"--jobs {jobs}: must be at least 1")
    settings = key_values(assignments)
    make_method(method, None, **settings)  # refuse wrong settings before a secret is written
    if str(source) != "builtin":
        check_exists(source)
    is_file = _is_audio(source)
    if is_file:
        _refuse_corpus_options(source)
    selection = column_values(where)
    corpus = None if is_file else _corpus(source, speaker, split, selection)
    _refuse_target(source, target, is_file)
    drawn = draw_secret(target, secret_path, reproducible)
    anonymiser = make_method(method, drawn.secret, **settings)
    if corpus is None:
        summary = _anonymise_file(source, target, anonymiser, drawn, speaker)
    else:
        with engine_of(engine, jobs, worker_memory, scratch) as opened:
            summary = _anonymise_corpus(corpus, target, anonymiser, drawn, rename, opened, skip_bad)
    if json_to is not None:
        summary |= {"out": str(target), "reproducible_seed": drawn.secret.seed}
        write_json(summary | anonymiser.record(), json_to)
    if json_to != "-":
        click.echo(_summary_line(summary, anonymiser.name, target))
    click.echo(drawn.note, err=True)


def _summary_line(summary: JsonObject, method: str, target: Path) -> str:
    count, resumed = summary["utterances"], summary.get("resumed", 0)
    noun = "recording" if count == 1 else "recordings"
    earlier = f", {resumed:,} of them by an earlier run" if resumed else ""
    return f"{count:,} {noun} changed by {method} in {target}{earlier}"


def _is_audio(source: Path) -> bool:
    from sottovoce.corpus.trees import AUDIO_ENDINGS

    return source.is_file() and source.suffix.lower() in AUDIO_ENDINGS


def _corpus(
    source: Path, speaker: str | None, split: str | None, where: dict[str, str] | None
) -> Corpus:
    """Open a corpus; a plain folder of audio files counts as a corpus."""
    from sottovoce.corpus import Corpus, Utterance, open_corpus
    from sottovoce.corpus.trees import AUDIO_ENDINGS

    entries = sorted(source.iterdir()) if source.is_dir() else []
    files = [path for path in entries if path.suffix.lower() in AUDIO_ENDINGS and not path.is_dir()]
    lists = ("manifest.csv", "manifest.parquet", "wav.scp")
    if where or not files or any(path.name in lists for path in entries):
        if speaker is not None:
            raise click.UsageError("--speaker: the corpus says itself who speaks; leave it out")
        corpus = open_corpus(source, where)
        return corpus if split is None else corpus.select(split=split)
    if any(path.is_dir() and not path.name.startswith(".") for path in entries):
        raise click.UsageError(
            f"{source}: files beside folders; put each file into the folder of its speaker, or "
            "write a manifest.csv"
        )
    if split is not None:
        raise click.UsageError(f"--split {split}: a folder of audio has no splits; leave it out")
    unique_stems = len({path.stem for path in files}) == len(files)
    utterances = (
        Utterance(path.name, path, speaker or (path.stem if unique_stems else path.name))
        for path in files
    )
    return Corpus(source.name, source, tuple(utterances))


def _refuse_corpus_options(source: Path) -> None:
    """Refuse options that select from a corpus, where there is one recording."""
    for option in given_options(("where", "split")):
        raise click.UsageError(f"{option}: {source} is one recording, not a corpus; leave it out")


def _refuse_target(source: Path, target: Path, is_file: bool) -> None:
    """Refuse the source itself, an existing file, and a file for a folder or the reverse."""
    from sottovoce.corpus.audio import FORMATS

    audio = target.suffix.lower() in FORMATS
    if is_file and not audio:
        raise click.UsageError(f"{target}: name a file that ends in {' or '.join(FORMATS)}")
    if is_file and target.resolve() == source.resolve():
        raise click.UsageError(f"{target}: is the recording itself; name another file")
    if is_file and (target.exists() or target.is_symlink()):
        raise click.UsageError(f"{target}: there already; name another to write")
    if not is_file and (target.is_file() or audio):
        raise click.UsageError(f"{target}: {source} has many recordings; name a folder")
    if not is_file and target.resolve().is_relative_to(source.resolve()):
        raise click.UsageError(f"{target}: within {source}; name another folder")


def _anonymise_file(
    source: Path, target: Path, method: VoiceAnonymiser, drawn: Drawn, speaker: str | None
) -> JsonObject:
    from sottovoce.anonymise.voice import transform_recording
    from sottovoce.corpus import Utterance, save_audio

    utterance = Utterance(source.name, source, speaker or source.stem)
    audio, rate = transform_recording(method, utterance)
    drawn.save()
    try:
        save_audio(target, audio, rate)
    except BaseException:
        drawn.forget()
        raise
    return {"utterances": 1, "speakers": 1, "seconds": round(len(audio) / rate, 3)}


def _anonymise_corpus(
    corpus: Corpus,
    target: Path,
    method: VoiceAnonymiser,
    drawn: Drawn,
    rename: bool,
    engine: Engine,
    skip_bad: bool,
) -> JsonObject:
    from sottovoce.anonymise.voice.corpus import anonymise_corpus

    kaldi = (corpus.root / "wav.scp").is_file() and not (corpus.root / "manifest.csv").is_file()
    with progress_bar("anonymising") as progress:
        result = anonymise_corpus(
            corpus,
            method,
            target,
            secret=drawn.secret,
            rename=rename,
            kaldi=kaldi,
            engine=engine,
            skip_bad=skip_bad,
            progress=progress,
            on_first_write=drawn.save,
        )
    for line in result.skipped:
        click.echo(f"left out {line}", err=True)
    return result.to_dict()


def _list(json_to: str | None) -> None:
    """Describe every method from its card."""
    from sottovoce.anonymise.voice import METHODS

    cards = [METHODS[name].card for name in METHODS]
    if json_to is not None:
        write_json({"methods": [card.to_dict() for card in cards]}, json_to)
    if json_to != "-":
        click.echo("\n\n".join(map(_description, cards)))


def _description(card: MethodCard) -> str:
    lines = [
        f"{card.name}: {card.summary}",
        f"  keeps       {', '.join(card.keeps)}",
        f"  leaks       {card.leaks}",
        f"  reversible  {card.reversible}",
        f"  draws       {', '.join(card.draws) or 'nothing'}",
        f"  source      {card.reference}",
    ]
    for setting in card.settings:
        default = "none" if setting.default is None else setting.default
        lines.append(f"  --set {setting.name}={default}  ({setting.range})  {setting.help}")
    return "\n".join(lines)
