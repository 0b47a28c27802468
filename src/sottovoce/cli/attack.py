"""``sottovoce attack``: anonymised speech attacked as an adversary would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sottovoce.cli.options import (
    JsonCommand,
    json_option,
    key_values,
    seed_option,
    stage_bar,
    write_json,
)
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean

if TYPE_CHECKING:
    from sottovoce.attack import Attack
    from sottovoce.audit.scene import Scene
    from sottovoce.audit.steps import Recipe
    from sottovoce.corpus.utterance import Corpus

FORMS = ("own-enrol", "own-train", "similar-enrol", "similar-train")


def _form_options(command: Any) -> Any:
    for name in reversed(FORMS):
        form, part = name.split("-")
        speech = "enrolment" if part == "enrol" else "training"
        command = click.option(
            f"--{name}",
            type=click.Path(path_type=Path),
            metavar="CORPUS",
            help=f"{speech.capitalize()} speech in the attacker's {form} anonymisation, "
            "if made elsewhere.",
        )(command)
    return command


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce attack --original o/ --anonymised a/ --train others/ "
    "--attacker semi-informed --out attack/",
    short_help="Attack anonymised speech as an adversary would.",
)
@click.option(
    "--original", required=True, type=click.Path(path_type=Path), help="The original corpus."
)
@click.option(
    "--anonymised", required=True, type=click.Path(path_type=Path), help="The same, anonymised."
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for results.")
@click.option(
    "--attacker",
    "names",
    multiple=True,
    default=("semi-informed",),
    show_default=True,
    help="ignorant, lazy-informed, near-informed, semi-informed or informed; may be repeated.",
)
@click.option(
    "--train",
    type=click.Path(path_type=Path),
    metavar="CORPUS",
    help="Originals of other speakers to train on. [default: half of the speakers]",
)
@click.option(
    "--anonymiser",
    metavar="METHOD",
    help="What the attacker anonymises with. [default: as recorded with --anonymised]",
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Its settings.")
@click.option(
    "--similar",
    metavar="METHOD[,KEY=VALUE...]",
    help="The near-informed attacker's anonymiser, e.g. mcadams,coefficient=0.7.",
)
@_form_options
@click.option(
    "--linkage",
    default="best",
    show_default=True,
    help="cosine, euclidean, whitening, projection, plda, or whichever does best on held-out "
    "training speakers.",
)
@click.option(
    "--over",
    type=click.Choice(("model", "mean", "max")),
    default="model",
    show_default=True,
    help="Compare with a speaker's mean vector, or with each recording and take mean or max.",
)
@click.option(
    "--norm",
    type=click.Choice(("none", "s-norm", "as-norm")),
    default="none",
    show_default=True,
    help="Normalise scores by the training speakers.",
)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    default=("gender",),
    show_default=True,
    help="Column to infer from the trials; may be repeated.",
)
@click.option("--encoder", default="campplus", show_default=True, help="Name or FILE.onnx.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1))
@seed_option
@json_option
def command(
    original: Path,
    anonymised: Path,
    out: Path,
    names: tuple[str, ...],
    train: Path | None,
    anonymiser: str | None,
    settings: tuple[str, ...],
    similar: str | None,
    linkage: str,
    over: Any,
    norm: Any,
    attributes: tuple[str, ...],
    encoder: str,
    jobs: int,
    seed: int,
    json_to: str | None,
    **given: Path | None,
) -> None:
    """Link anonymised recordings to speakers, as an adversary with some knowledge would.

    Writes, for each attacker, OUT/ATTACKER/scores.parquet for sottovoce measure, originals.parquet
    (the same attacker on originals), and attack.json: what it knew, what it trained on, how well
    that went, and whether the attacker was strong enough to be trusted. OUT/ATTACKER/enrol.npz,
    trial.npz and train.npz are the embeddings, for sottovoce reidentify --attack OUT/ATTACKER.
    Who is trained on is never attacked.
    """
    from sottovoce.attack import ATTACKERS, Manner, attack
    from sottovoce.attack.training import BEST
    from sottovoce.audit.scene import prepare
    from sottovoce.audit.steps import Workshop
    from sottovoce.speaker.encoders import make_encoder
    from sottovoce.speaker.linkage import LINKAGES

    if linkage != BEST and linkage not in LINKAGES:
        raise UsageError(did_you_mean("linkage function", linkage, [BEST, *LINKAGES]))
    attackers = [ATTACKERS[name] for name in names]
    scene = _scene(original, anonymised, train, anonymiser, settings, similar, given, seed)
    _check_attributes(attributes, scene.trial.corpus)
    network = make_encoder(encoder)
    with stage_bar() as progress:
        workshop = Workshop(out / "work", network, jobs, progress)
        material = prepare(scene, attackers, workshop)
        manner = Manner(linkage, over, norm, seed=seed)
        records = []
        for done, attacker in enumerate(attackers):
            progress("attacking", done, len(attackers))
            found = attack(material, attacker, manner)
            records.append(_keep(found, scene, material, attributes, network.card.to_dict(), out))
    if json_to is not None:
        write_json({"attacks": records}, json_to)
    if json_to != "-":
        _show(records, scene.notes, out)


def _scene(
    original: Path,
    anonymised: Path,
    train: Path | None,
    anonymiser: str | None,
    settings: tuple[str, ...],
    similar: str | None,
    given: dict[str, Path | None],
    seed: int,
) -> Scene:
    from sottovoce.audit.scene import Scene, divide
    from sottovoce.audit.steps import Recipe, Speech
    from sottovoce.corpus import open_corpus

    whole = Speech.of(open_corpus(original))
    others = None if train is None else Speech.of(open_corpus(train))
    parts = divide(whole, others, seed=seed)
    recipe = Recipe.of_folder(anonymised)
    if anonymiser is not None:
        recipe = Recipe(anonymiser, key_values(settings)).checked()
    elif settings:
        raise UsageError("--set goes with --anonymiser")
    notes = tuple(f"left out: {why}" for why in parts.left_out)
    if train is None:
        notes += (
            f"{len(parts.train.corpus.speakers)} of {len(whole.corpus.speakers)} speakers were "
            "trained on and are not attacked; name other speakers with --train to attack all",
        )
    made: dict[Any, Speech] = {}
    for name in FORMS:
        path = given[name.replace("-", "_")]
        if path is not None:
            form, part = name.split("-")
            made[part, form] = Speech.of(open_corpus(path))
    return Scene(
        parts.enrol,
        parts.trial,
        parts.train,
        Speech.of(open_corpus(anonymised)),
        recipe,
        None if similar is None else _similar(similar),
        made,
        seed,
        notes,
    )


def _check_attributes(names: tuple[str, ...], corpus: Corpus) -> None:
    """Refuse a column that is not there or empty, unless it is the default that nobody named."""
    from sottovoce.audit.attributes import OWN

    if click.get_current_context().get_parameter_source("attributes") is ParameterSource.DEFAULT:
        return
    known = {name for name in OWN if any(getattr(one, name) for one in corpus)}
    known |= {name for one in corpus for name, value in one.extra.items() if value}
    for name in names:
        if name not in known:
            have = ", ".join(sorted(known)) or "none that could be told"
            raise UsageError(
                f"--attribute {name}: no such column in {corpus.name}, or an empty one; has {have}"
            )


def _similar(text: str) -> Recipe:
    from sottovoce.audit.steps import Recipe

    method, *settings = text.split(",")
    return Recipe(method.strip(), key_values(settings, "--similar")).checked()


def _keep(
    found: Attack,
    scene: Scene,
    material: Any,
    attributes: tuple[str, ...],
    encoder: dict[str, Any],
    out: Path,
) -> dict[str, Any]:
    from sottovoce.attack.folder import RECORD, write_voices
    from sottovoce.audit.attributes import attributes_of
    from sottovoce.audit.scene import described

    folder = out / found.attacker.name
    found.table.write(folder / "scores.parquet")
    found.originals.write(folder / "originals.parquet")
    record = {
        **found.to_dict(),
        "corpora": {
            "enrolment": described(scene.enrol.corpus),
            "trials": described(scene.trial.corpus),
            "training": described(scene.train.corpus),
        },
        "anonymiser": None if scene.recipe is None else scene.recipe.label,
        "encoder": encoder,
        "disjoint": True,
        "attributes": attributes_of(
            material["trial", "theirs"], scene.trial.corpus, attributes, seed=scene.seed
        ),
        "notes": list(scene.notes),
    }
    write_voices(folder, material, found.attacker)
    write_json(record, str(folder / RECORD))
    return record


def _show(records: list[dict[str, Any]], notes: tuple[str, ...], out: Path) -> None:
    from sottovoce.audit.typed_findings import typed_attributes, typed_record
    from sottovoce.report.attacks import print_attacks

    attributes = typed_attributes(records[0]["attributes"])
    print_attacks([typed_record(record) for record in records], attributes, notes)
    first = out / records[0]["attacker"]["name"]
    click.echo(f"Next: sottovoce measure {first / 'scores.parquet'}")
    click.echo(f"      sottovoce reidentify --attack {first}")
