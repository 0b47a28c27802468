"""``sottovoce reidentify``: the re-identification risk over population size."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.backend import backend_options, make_backend
from sottovoce.cli.options import (
    JsonCommand,
    json_option,
    provenance,
    seed_option,
    stage_bar,
    write_json,
)
from sottovoce.errors import UsageError


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce reidentify --enrol e.npz --trial t.npz --lengths 1,3",
    short_help="Singling Out, Linkability, rank and top-k over population size.",
)
@click.option("--enrol", required=True, type=click.Path(path_type=Path), help="Known speakers.")
@click.option("--trial", required=True, type=click.Path(path_type=Path), help="Speech to link.")
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
@backend_options
@json_option
def command(
    enrol: Path,
    trial: Path,
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
    backend: str,
    train: Path | None,
    lda: int | None,
    json_to: str | None,
) -> None:
    """How likely speakers in TRIAL are found again among those in ENROL.

    Both are embeddings: .npz (arrays vectors, speakers, optionally utterances), .parquet, Kaldi
    .ark, or a directory with vectors.npy and speakers.txt, which is read piece by piece.
    """
    from sottovoce.measure.reidentification import reidentify
    from sottovoce.measure.risk import Settings
    from sottovoce.report.reidentification import print_study, write_study_figures
    from sottovoce.speaker.readers import read_embeddings

    settings = Settings(
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
    known = read_embeddings(enrol, utt2spk=utt2spk)
    unknown = read_embeddings(trial, utt2spk=utt2spk)
    linkage = make_backend(backend, train, lda, like=known)
    with stage_bar() as progress:
        found = reidentify(
            known,
            unknown,
            linkage,
            settings=settings,
            progress=progress,
        )
    if figures is not None:
        write_study_figures(found, figures)
    if json_to is not None:
        inputs = [path for path in (enrol, trial, train) if path is not None]
        asked = {name: getattr(settings, name) for name in settings.__slots__}
        made = provenance(inputs, backend=backend, lda=lda, **asked)
        write_json({**found.to_dict(), "provenance": made}, json_to)
    if json_to != "-":
        print_study(found)


def _numbers(name: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--{name} {text}: whole numbers with commas between, e.g. 20,100"
        ) from None
