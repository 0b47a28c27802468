"""``sottovoce reidentify``: the re-identification risk over population size."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sottovoce.cli.linkage import linkage_from_options, linkage_options
from sottovoce.cli.options import (
    JsonCommand,
    json_option,
    provenance,
    seed_option,
    stage_bar,
    write_json,
)
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.speaker import Embeddings, LinkageFunction

PLAIN = (
    "cosine without a centre: nothing was learnt from other speakers, and an attacker who learns "
    "may link more; name other speakers with --train, or an attack with --attack"
)


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce reidentify --enrol e.npz --trial t.npz --lengths 1,3",
    short_help="Singling Out, Linkability, rank and top-k over population size.",
)
@click.option("--enrol", type=click.Path(path_type=Path), help="Known speakers.")
@click.option("--trial", type=click.Path(path_type=Path), help="Speech to link.")
@click.option(
    "--attack",
    "attacked",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="OUT/ATTACKER of sottovoce attack, instead: its embeddings and its linkage function.",
)
@click.option("--lengths", default="1,3,30", show_default=True, help="Utterances a conversation.")
@click.option("--populations", help="Population sizes, e.g. 20,1000. [default: 20,40,… to all]")
@click.option("--top", "k", default=20, show_default=True, help="k of top-k.")
@click.option("--conversations", default=10, show_default=True, help="Trials a speaker at most.")
@click.option("--draws", default=100, show_default=True, help="Random crowds in Singling Out.")
@click.option("--core", is_flag=True, help="Put all trial speakers into every population.")
@click.option("--literal", is_flag=True, help="Follow the published protocol with its 5 draws.")
@click.option("--interval", default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option("--no-interval", is_flag=True, help="Leave the intervals out (faster).")
@seed_option
@click.option(
    "--utt2spk", type=click.Path(path_type=Path), help="Speakers of Kaldi .ark embeddings."
)
@click.option(
    "--figures", type=click.Path(path_type=Path), metavar="DIR", help="Write SVG figures there."
)
@linkage_options
@json_option
def command(
    enrol: Path | None,
    trial: Path | None,
    attacked: Path | None,
    lengths: str,
    populations: str | None,
    k: int,
    conversations: int,
    draws: int,
    core: bool,
    literal: bool,
    interval: float,
    no_interval: bool,
    seed: int,
    utt2spk: Path | None,
    figures: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
    json_to: str | None,
) -> None:
    """How likely speakers in TRIAL are found again among those in ENROL.

    Both are embeddings: .npz (arrays vectors, speakers, optionally utterances), .parquet, Kaldi
    .ark, or a directory with vectors.npy and speakers.txt, which is read piece by piece. --attack
    names both and links as the attack did.
    """
    from sottovoce.measure.reidentification import reidentify
    from sottovoce.measure.reidentification_settings import ReidentificationSettings
    from sottovoce.report.reidentification import print_study, write_study_figures

    settings = ReidentificationSettings(
        lengths=tuple(_numbers("lengths", lengths)),
        populations=None if populations is None else tuple(_numbers("populations", populations)),
        k=k,
        conversations=conversations,
        draws=draws,
        core=core,
        literal=literal,
        confidence=None if no_interval else interval,
        seed=seed,
    )
    if attacked is not None:
        sides = _of_attack(attacked)
    elif enrol is not None and trial is not None:
        sides = _of_files(enrol, trial, utt2spk, linkage, train, lda)
    else:
        raise UsageError("name --enrol and --trial, or --attack and the folder of an attack")
    with stage_bar() as progress:
        found = reidentify(
            sides.enrol, sides.trial, sides.linkage, settings=settings, progress=progress
        )
    found = replace(found, notes=(*found.notes, *sides.notes))
    if figures is not None:
        write_study_figures(found, figures)
    if json_to is not None:
        asked = {name: getattr(settings, name) for name in settings.__slots__}
        made = provenance(sides.files, **sides.settings, **asked)
        write_json({**found.to_dict(), "provenance": made}, json_to)
    if json_to != "-":
        print_study(found)


@dataclass(frozen=True, slots=True)
class _Sides:
    """What is linked, with what, and where both come from."""

    enrol: Embeddings
    trial: Embeddings
    linkage: LinkageFunction
    files: list[Path]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def _of_files(
    enrol: Path,
    trial: Path,
    utt2spk: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
) -> _Sides:
    from sottovoce.speaker.readers import read_sets

    sets = [path for path in (enrol, trial, train) if path is not None]
    known, unknown, *taught = read_sets(sets, utt2spk=utt2spk)
    function = linkage_from_options(linkage, *taught, lda=lda, like=known)
    files = sets if utt2spk is None else [*sets, utt2spk]
    notes = [PLAIN] if linkage == "cosine" and train is None else []
    return _Sides(known, unknown, function, files, {"linkage": linkage, "lda": lda}, notes)


def _of_attack(folder: Path) -> _Sides:
    from sottovoce.attack.folder import read_attack

    context = click.get_current_context()
    for name in ("enrol", "trial", "linkage", "train", "lda", "utt2spk"):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise UsageError(f"--attack has its own; leave --{name} out, or --attack")
    found = read_attack(folder)
    settings = {"linkage": found.linkage.name, "trained_with": found.settings}
    return _Sides(
        found.enrol, found.trial, found.linkage, list(found.files), settings, list(found.notes)
    )


def _numbers(name: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--{name} {text}: whole numbers with commas between, e.g. 20,100"
        ) from None
