"""``sottovoce reidentify``: the re-identification risk over population size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.linkage import kaldi_options, linkage_from_options, linkage_options
from sottovoce.cli.options import (
    JsonCommand,
    confidence_options,
    figures_option,
    given_options,
    json_option,
    provenance,
    split_numbers,
    stage_bar,
    write_json,
)
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.speaker import Embeddings, LinkageFunction


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce reidentify --enrol e.npz --trial t.npz --lengths 1,3",
    short_help="Singling Out, Linkability, rank and top-k over population size.",
)
@click.option("--enrol", type=click.Path(path_type=Path), help="Embeddings of known speakers.")
@click.option("--trial", type=click.Path(path_type=Path), help="Embeddings of speech to link.")
@click.option(
    "--attack",
    "attack_folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Instead of both: OUT/ATTACKER of sottovoce attack, with its linkage function.",
)
@click.option("--lengths", default="1,3,30", show_default=True, help="Utterances per conversation.")
@click.option("--populations", help="Sizes, e.g. 20,1000. [default: 2,5,10,20,40,… to all]")
@click.option("--top", "k", default=20, show_default=True, help="k of top-k.")
@click.option("--conversations", default=10, show_default=True, help="Most trials per speaker.")
@click.option("--draws", default=100, show_default=True, help="Random populations in Singling Out.")
@click.option("--core", is_flag=True, help="Put all trial speakers into every population.")
@click.option(
    "--swap-roles",
    is_flag=True,
    help="Singling Out: predicates from --trial, populations from --enrol, as published.",
)
@click.option("--literal", is_flag=True, help="Follow the published protocol with its 5 draws.")
@confidence_options
@click.option("--jobs", default=1, show_default=True, help="Parts of the scores counted together.")
@engine_options
@kaldi_options
@figures_option
@linkage_options
@json_option
def command(
    enrol: Path | None,
    trial: Path | None,
    attack_folder: Path | None,
    lengths: str,
    populations: str | None,
    k: int,
    conversations: int,
    draws: int,
    core: bool,
    swap_roles: bool,
    literal: bool,
    interval: float,
    no_interval: bool,
    seed: int,
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
    utt2spk: Path | None,
    scp_root: Path | None,
    figures: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
    shrinkage: float | None,
    json_to: str | None,
) -> None:
    """How likely speakers in TRIAL are re-identified among those in ENROL.

    Both are embeddings: .npz (arrays vectors, speakers, optionally utterances), .parquet, Kaldi's
    .ark or .scp, or a directory with vectors.npy and speakers.txt, which is read piece by piece.
    --attack takes both from an attack and links them as the attack did.
    """
    from sottovoce.measure.reidentification import reidentify
    from sottovoce.measure.reidentification_settings import ReidentificationSettings
    from sottovoce.report.reidentification import (
        print_reidentification,
        write_reidentification_figures,
    )

    settings = ReidentificationSettings(
        lengths=split_numbers("--lengths", lengths),
        populations=None if populations is None else split_numbers("--populations", populations),
        k=k,
        conversations=conversations,
        draws=draws,
        core=core,
        swap_roles=swap_roles,
        literal=literal,
        confidence=None if no_interval else interval,
        seed=seed,
    )
    if attack_folder is not None:
        inputs = _inputs_of_attack(attack_folder)
    elif enrol is not None and trial is not None:
        inputs = _inputs_of_files(enrol, trial, utt2spk, scp_root, linkage, train, lda, shrinkage)
    else:
        raise UsageError(
            "name --enrol and --trial, or --attack and the folder of an attack",
            code="missing-option",
        )
    with engine_of(engine, jobs, worker_memory, scratch) as opened, stage_bar() as progress:
        result = reidentify(
            inputs.enrol,
            inputs.trial,
            inputs.linkage,
            settings=settings,
            progress=progress,
            engine=opened,
        )
    result = replace(result, notes=(*result.notes, *inputs.notes))
    if figures is not None:
        write_reidentification_figures(result, figures)
    if json_to is not None:
        fields = {name: getattr(settings, name) for name in settings.__slots__}
        origin = provenance(inputs.files, **inputs.settings, **fields)
        write_json({**result.to_dict(), "provenance": origin}, json_to)
    if json_to != "-":
        print_reidentification(result)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Embeddings to link, the linkage function, and the files that they come from."""

    enrol: Embeddings
    trial: Embeddings
    linkage: LinkageFunction
    files: list[Path]
    settings: Mapping[str, object]
    """Settings of the linkage function, for the provenance."""
    notes: tuple[str, ...] = ()


def _inputs_of_files(
    enrol: Path,
    trial: Path,
    utt2spk: Path | None,
    scp_root: Path | None,
    linkage: str,
    train: Path | None,
    lda: int | None,
    shrinkage: float | None,
) -> _Inputs:
    from sottovoce.speaker.readers import embedding_files, read_sets

    sets = [path for path in (enrol, trial, train) if path is not None]
    enrolment, trials, *training = read_sets(sets, utt2spk=utt2spk, scp_root=scp_root)
    files = embedding_files(sets, scp_root=scp_root)
    return _Inputs(
        enrolment,
        trials,
        linkage_from_options(
            linkage, *training, lda=lda, shrinkage=shrinkage, evaluated=(enrolment, trials)
        ),
        files if utt2spk is None else [*files, utt2spk],
        {"linkage": linkage, "lda": lda, "shrinkage": shrinkage},
        () if training else (_untrained_note(linkage),),
    )


def _untrained_note(linkage: str) -> str:
    return (
        f"{linkage} without a centre: nothing was learnt from other speakers, and an attacker who "
        "trains may link more; name other speakers with --train, or an attack with --attack"
    )


def _inputs_of_attack(folder: Path) -> _Inputs:
    from sottovoce.attack.artifacts import read_attack

    own = ("enrol", "trial", "linkage", "train", "lda", "shrinkage", "utt2spk", "scp_root")
    for option in given_options(own):
        raise UsageError(
            f"{option} cannot be combined with --attack, which has its own; leave one out",
            code="exclusive-options",
        )
    attack = read_attack(folder)
    trained = attack.record.trained
    settings = {"linkage": trained.name, "trained_with": dict(trained.settings)}
    return _Inputs(
        attack.enrol,
        attack.trial,
        attack.linkage,
        list(attack.files),
        settings,
        tuple(attack.notes),
    )
