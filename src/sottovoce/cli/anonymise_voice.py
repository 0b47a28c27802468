"""``sottovoce anonymise voice``: one file, a folder of audio, or a corpus in other voices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.options import JsonCommand, json_option, key_values, progress_bar, write_json
from sottovoce.cli.secrets import Drawn, draw_secret, secret_options

if TYPE_CHECKING:
    from sottovoce.anonymise.voice.method import MethodCard, VoiceAnonymiser
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
@click.option("--set", "given", multiple=True, metavar="KEY=VALUE", help="A setting; see --list.")
@secret_options
@click.option("--rename", is_flag=True, help="Give speakers, utterances and files keyed ids.")
@click.option("--speaker", metavar="NAME", help="Who speaks in a file, or in all of a folder.")
@click.option("--split", help="Only utterances of this split, such as enrol or trial.")
@click.option("--jobs", default=2, show_default=True, help="Recordings changed side by side.")
@click.option("--skip-bad", is_flag=True, help="Leave out recordings that cannot be changed.")
@click.option("--list", "listed", is_flag=True, help="Explain the methods and their settings.")
@json_option
def command(
    source: Path | None,
    target: Path | None,
    method: str,
    given: tuple[str, ...],
    secret_path: Path | None,
    reproducible: int | None,
    rename: bool,
    speaker: str | None,
    split: str | None,
    jobs: int,
    skip_bad: bool,
    listed: bool,
    json_to: str | None,
) -> None:
    """Write IN in other voices to OUT.

    IN is an audio file, a folder of audio, or a corpus; OUT is then a .wav or .flac file, or a
    folder. A Kaldi directory becomes a Kaldi directory, any other corpus a folder with
    manifest.csv; transcripts and speakers come along. A run that was stopped goes on where it was.
    Without --speaker each file of a plain folder counts as a speaker of its own. Two channels are
    averaged; of more, a manifest must name one.
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
    settings = key_values(given)
    make_method(method, None, **settings)  # refuse wrong settings before a secret is written
    if str(source) != "builtin":
        check_exists(source)
    single = _is_audio(source)
    voices = None if single else _corpus(source, speaker, split)
    _refuse_target(source, target, single)
    drawn = draw_secret(target, secret_path, reproducible)
    made = make_method(method, drawn.secret, **settings)
    if voices is None:
        found = _one_file(source, target, made, drawn, speaker)
    else:
        found = _many(voices, target, made, drawn, rename, jobs, skip_bad)
    if json_to is not None:
        found |= {"out": str(target), "reproducible_seed": drawn.secret.seed, **made.record()}
        write_json(found, json_to)
    if json_to != "-":
        count = found["utterances"]
        noun = "recording" if count == 1 else "recordings"
        before = found.get("resumed", 0)
        again = f", {before:,} of them by an earlier run" if before else ""
        click.echo(f"{count:,} {noun} changed by {made.name} in {target}{again}")
    click.echo(drawn.note, err=True)


def _is_audio(source: Path) -> bool:
    from sottovoce.corpus.trees import AUDIO_ENDINGS

    return source.is_file() and source.suffix.lower() in AUDIO_ENDINGS


def _corpus(source: Path, speaker: str | None, split: str | None) -> Corpus:
    """The corpus there; a folder that is none but has audio in it counts as one."""
    from sottovoce.corpus import Corpus, Utterance, open_corpus
    from sottovoce.corpus.trees import AUDIO_ENDINGS

    listed = sorted(source.iterdir()) if source.is_dir() else []
    loose = [path for path in listed if path.suffix.lower() in AUDIO_ENDINGS and not path.is_dir()]
    if not loose or any(path.name in ("manifest.csv", "wav.scp") for path in listed):
        if speaker is not None:
            raise click.UsageError("--speaker: the corpus says itself who speaks; leave it out")
        corpus = open_corpus(source)
        return corpus if split is None else corpus.select(split=split)
    if any(path.is_dir() and not path.name.startswith(".") for path in listed):
        raise click.UsageError(
            f"{source}: files beside folders; put each file into the folder of its speaker, or "
            "write a manifest.csv"
        )
    if split is not None:
        raise click.UsageError(f"--split {split}: a folder of audio has no splits; leave it out")
    alone = len({path.stem for path in loose}) == len(loose)
    said = (
        Utterance(path.name, path, speaker or (path.stem if alone else path.name)) for path in loose
    )
    return Corpus(source.name, source, tuple(said))


def _refuse_target(source: Path, target: Path, single: bool) -> None:
    """Refuse the source itself, a file that is there, and another kind than the source."""
    from sottovoce.corpus.audio import FORMATS

    audio = target.suffix.lower() in FORMATS
    if single and not audio:
        raise click.UsageError(f"{target}: name a file that ends in {' or '.join(FORMATS)}")
    if single and target.resolve() == source.resolve():
        raise click.UsageError(f"{target}: is the recording itself; name another file")
    if single and (target.exists() or target.is_symlink()):
        raise click.UsageError(f"{target}: there already; name another to write")
    if not single and (target.is_file() or audio):
        raise click.UsageError(f"{target}: {source} has many recordings; name a folder")
    if not single and target.resolve().is_relative_to(source.resolve()):
        raise click.UsageError(f"{target}: within {source}; name another folder")


def _one_file(
    source: Path, target: Path, method: VoiceAnonymiser, drawn: Drawn, speaker: str | None
) -> dict[str, Any]:
    from sottovoce.corpus import Corpus, Utterance, save_audio
    from sottovoce.corpus.audio import load_native

    one = Utterance(source.name, source, speaker or source.stem)
    audio, rate = load_native(one)
    method.fit(Corpus(source.name, source.parent, (one,)))
    changed = method.transform(audio, rate, speaker=one.speaker, utterance=one.id)
    drawn.save()
    try:
        save_audio(target, changed, rate)
    except BaseException:
        drawn.forget()
        raise
    return {"utterances": 1, "speakers": 1, "seconds": round(len(audio) / rate, 3)}


def _many(
    voices: Corpus,
    target: Path,
    method: VoiceAnonymiser,
    drawn: Drawn,
    rename: bool,
    jobs: int,
    skip_bad: bool,
) -> dict[str, Any]:
    from sottovoce.anonymise.voice.corpus import anonymise_corpus

    kaldi = (voices.root / "wav.scp").is_file() and not (voices.root / "manifest.csv").is_file()
    with progress_bar("anonymising") as progress:
        done = anonymise_corpus(
            voices,
            method,
            target,
            secret=drawn.secret,
            rename=rename,
            kaldi=kaldi,
            jobs=jobs,
            skip_bad=skip_bad,
            progress=progress,
            on_first_write=drawn.save,
        )
    for line in done.skipped:
        click.echo(f"left out {line}", err=True)
    return done.to_dict()


def _list(json_to: str | None) -> None:
    """Explain every method from its card."""
    from sottovoce.anonymise.voice import METHODS

    cards = [METHODS[name].card for name in METHODS]
    if json_to is not None:
        write_json({"methods": [card.to_dict() for card in cards]}, json_to)
    if json_to != "-":
        click.echo("\n\n".join(map(_explained, cards)))


def _explained(card: MethodCard) -> str:
    lines = [
        f"{card.name}: {card.summary}",
        f"  keeps       {', '.join(card.keeps)}",
        f"  leaks       {card.leaks}",
        f"  reversible  {card.reversible}",
        f"  source      {card.reference}",
    ]
    for one in card.settings:
        default = "none" if one.default is None else one.default
        lines.append(f"  --set {one.name}={default}  ({one.range})  {one.help}")
    return "\n".join(lines)
