"""``sottovoce attack``: anonymised speech attacked as an adversary would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sottovoce.cli.attack_options import PREPARED, refuse_unused
from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.options import (
    JsonCommand,
    given_options,
    json_option,
    key_values,
    seed_option,
    stage_bar,
    write_json,
)
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.attack.inputs import AttackInputs
    from sottovoce.attack.slicing import Slicing
    from sottovoce.attack.speech import AnonymiserSpec, SpeechSet
    from sottovoce.corpus.utterance import Corpus
    from sottovoce.findings import AttackReport, TextTraits


def _prepared_speech_options(command: Any) -> Any:
    for form, part in reversed(PREPARED):
        speech = "Enrolment" if part == "enrol" else "Training"
        anonymiser = "the attacker" if form == "attacker" else "a similar anonymiser"
        command = click.option(
            f"--{form}-{part}",
            type=click.Path(path_type=Path),
            metavar="CORPUS",
            help=f"{speech} speech anonymised by {anonymiser}, if made elsewhere.",
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
    "--trials",
    type=click.Path(path_type=Path),
    metavar="LIST",
    help="Compare only these pairs: lines 'enrol trial target|nontarget' or '1|0 enrol trial'.",
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
@_prepared_speech_options
@click.option(
    "--linkage",
    default="best",
    show_default=True,
    help="cosine, euclidean, whitening, projection, plda, fused (over several kinds of evidence) "
    "or a registered one; best: whichever does best on held-out training speakers; strongest: the "
    "same over every representation of speech.",
)
@click.option(
    "--over",
    type=click.Choice(("model", "mean", "max", "utterance")),
    default="model",
    show_default=True,
    help="Compare with a speaker's mean vector, or with each recording and take mean or max; "
    "utterance: each pair of recordings is a trial.",
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
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Choice(("voice", "text")),
    default=("voice",),
    show_default=True,
    help="What to attack: voices, or what transcripts tell of the attributes; may be repeated.",
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    help="With --from text: a strategy of anonymise text to compare; may be repeated.",
)
@click.option(
    "--paraphraser",
    metavar="COMMAND",
    help="With --from text: a program that reads a line and writes a line, to compare.",
)
@click.option(
    "--lang",
    default="en",
    show_default=True,
    help="With --strategy or --cut words: language, if the corpus has none; or auto.",
)
@click.option(
    "--slice",
    "slice_seconds",
    metavar="SECONDS",
    help="Attack slices of the trials too, of these lengths, e.g. 1,1.5,3,5,10.",
)
@click.option(
    "--cut",
    type=click.Choice(("first", "words")),
    default="first",
    show_default=True,
    help="With --slice: the first seconds of each trial, or all pieces between words.",
)
@click.option(
    "--map",
    "map_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="--anonymised is a folder of sottovoce slice; FILE is the map it kept.",
)
@click.option(
    "--encoder",
    default="campplus",
    show_default=True,
    help="campplus or a registered encoder, FILE.onnx, hf:FOLDER, or a representation of speech: "
    "frozen (the default encoder as it is), retrained or undone.",
)
@click.option(
    "--draws",
    default=2,
    show_default=True,
    type=click.IntRange(min=1, max=20),
    help="How many times the attacker anonymises its enrolment and training speech.",
)
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1))
@engine_options
@seed_option
@json_option
def command(
    original: Path,
    anonymised: Path,
    out: Path,
    names: tuple[str, ...],
    train: Path | None,
    trials: Path | None,
    anonymiser: str | None,
    settings: tuple[str, ...],
    similar: str | None,
    linkage: str,
    over: str,
    norm: str,
    attributes: tuple[str, ...],
    sources: tuple[str, ...],
    strategies: tuple[str, ...],
    paraphraser: str | None,
    lang: str,
    slice_seconds: str | None,
    cut: Literal["first", "words"],
    map_path: Path | None,
    encoder: str,
    draws: int,
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
    seed: int,
    json_to: str | None,
    **prepared: Path | None,
) -> None:
    """Link anonymised recordings to speakers, as an adversary with some knowledge would.

    Writes, for each attacker, OUT/ATTACKER/scores.parquet for sottovoce measure and attack.json:
    what it knew, what it trained on, how well that went, and whether the attacker was strong enough
    to be trusted. OUT/originals/scores.parquet are the scores of the same attacker on originals.
    Embeddings are in OUT/embeddings, for sottovoce reidentify --attack OUT/ATTACKER. Speakers that
    are trained on are never attacked. With --from text, OUT/traits.json has how well attributes
    are inferred from transcripts.
    """
    from sottovoce.anonymise.voice.kept_analyses import keep_analyses
    from sottovoce.attack import ATTACKERS, AttackSettings
    from sottovoce.attack.representation import (
        REPRESENTATIONS,
        check_encoder_word,
        encoder_name,
    )
    from sottovoce.attack.run import run_attacks
    from sottovoce.attack.speech import SpeechCache
    from sottovoce.attack.training import check_linkage_name
    from sottovoce.cli.attack_text import attack_texts, print_text_traits
    from sottovoce.findings import FROZEN
    from sottovoce.speaker.encoders import make_encoder

    attackers = [ATTACKERS[name] for name in names]
    check_linkage_name(linkage)
    check_encoder_word(encoder)
    slicing = _slicing(slice_seconds, cut, lang)
    refuse_unused(sources, attackers, strategies, slicing)
    traits: tuple[TextTraits, ...] = ()
    if "text" in sources:
        traits = attack_texts(
            original,
            anonymised,
            attributes,
            strategies,
            paraphraser,
            lang=lang,
            out=out,
            seed=seed,
        )
    if "voice" not in sources:
        if json_to is not None:
            write_json({"text_traits": [entry.to_dict() for entry in traits]}, json_to)
        if json_to != "-":
            print_text_traits(traits, out)
        return
    spec = _attackers_anonymiser(anonymised, anonymiser, settings)
    inputs = _inputs(original, anonymised, train, trials, spec, similar, prepared, seed, map_path)
    _check_attributes(attributes, inputs.trial.corpus)
    with (
        engine_of(engine, jobs, worker_memory, scratch) as opened,
        stage_bar() as progress,
        keep_analyses(),
    ):
        network = make_encoder(encoder_name(encoder))
        cache = SpeechCache(out, network, progress=progress, engine=opened)
        representation = encoder if encoder in REPRESENTATIONS else FROZEN
        attack_settings = AttackSettings(
            linkage, over, norm, seed=seed, encoder=representation, draws=draws
        )
        reports = run_attacks(
            inputs, attackers, attack_settings, cache, attributes=attributes, slicing=slicing
        )
    if json_to is not None:
        result = {"attacks": [report.to_dict() for report in reports]}
        if traits:
            result["text_traits"] = [entry.to_dict() for entry in traits]
        write_json(result, json_to)
    if json_to != "-":
        _print(reports, out)
        if traits:
            print_text_traits(traits, out)


def _slicing(seconds: str | None, cut: Literal["first", "words"], lang: str) -> Slicing | None:
    from sottovoce.attack.slicing import Slicing

    if seconds is None:
        return None
    try:
        lengths = tuple(float(part) for part in seconds.split(","))
    except ValueError:
        raise UsageError(
            f"--slice {seconds}: use seconds separated by commas, e.g. 1,3,10", code="wrong-type"
        ) from None
    slicing = Slicing(lengths, cut, lang)
    slicing.check()
    return slicing


def _attackers_anonymiser(
    anonymised: Path, method: str | None, settings: tuple[str, ...]
) -> AnonymiserSpec | None:
    from sottovoce.attack.speech import AnonymiserSpec

    if method is None:
        if settings:
            raise UsageError("--set needs --anonymiser", code="bad-usage")
        return AnonymiserSpec.from_folder(anonymised)
    spec = AnonymiserSpec(method, key_values(settings))
    spec.check()
    return spec


def _inputs(
    original: Path,
    anonymised: Path,
    train: Path | None,
    trials: Path | None,
    anonymiser: AnonymiserSpec | None,
    similar: str | None,
    prepared: Mapping[str, Path | None],
    seed: int,
    map_path: Path | None,
) -> AttackInputs:
    from sottovoce.anonymise.recording.slice_map import read_map
    from sottovoce.attack.inputs import AttackInputs, divide_speech
    from sottovoce.attack.slicing import match_map
    from sottovoce.attack.speech import SpeechSet
    from sottovoce.corpus import open_corpus
    from sottovoce.corpus.trials import read_trials

    speech = SpeechSet.of(open_corpus(original))
    train_speech = None if train is None else SpeechSet.of(open_corpus(train))
    pairs = None if trials is None else read_trials(trials, speech.corpus)
    division = divide_speech(speech, train_speech, seed=seed, trials=pairs)
    notes = tuple(f"left out: {line}" for line in division.left_out)
    if train is None:
        notes += (
            f"{len(division.train.corpus.speakers)} of {len(speech.corpus.speakers)} speakers were "
            "trained on and are not attacked; name other speakers with --train to attack all",
        )
    trial, released = division.trial, open_corpus(anonymised)
    released_speech = SpeechSet.of(released)
    if map_path is not None:
        trial, released_speech = match_map(trial, released, read_map(map_path))
    return AttackInputs(
        division.enrol,
        trial,
        division.train,
        released_speech,
        anonymiser,
        None if similar is None else _similar_anonymiser(similar),
        _prepared_speech(prepared),
        pairs,
        seed,
        notes,
    )


def _prepared_speech(options: Mapping[str, Path | None]) -> dict[Any, SpeechSet]:
    from sottovoce.attack.speech import SpeechSet
    from sottovoce.corpus import open_corpus

    speech = {}
    for form, part in PREPARED:
        path = options[f"{form}_{part}"]
        if path is not None:
            speech[part, form] = SpeechSet.of(open_corpus(path))
    return speech


def _similar_anonymiser(text: str) -> AnonymiserSpec:
    from sottovoce.attack.speech import AnonymiserSpec

    method, *settings = text.split(",")
    spec = AnonymiserSpec(method.strip(), key_values(settings, "--similar"))
    spec.check()
    return spec


def _check_attributes(names: tuple[str, ...], corpus: Corpus) -> None:
    """Refuse a column that is missing or empty, unless it is the default that nobody named."""
    from sottovoce.attack.attributes import known_attributes

    if not given_options(["attributes"]):
        return
    known = known_attributes(corpus)
    for name in names:
        if name not in known:
            listed = ", ".join(sorted(known)) or "no column with values"
            raise UsageError(
                f"--attribute {name}: no such column in {corpus.name}, or an empty one; it has "
                f"{listed}",
                code="missing-column",
            )


def _print(reports: Sequence[AttackReport], out: Path) -> None:
    from sottovoce.report.attacks import print_attacks

    print_attacks(reports, reports[0].attributes, reports[0].notes)
    first = out / reports[0].attacker.name
    click.echo(f"Next: sottovoce measure {first / 'scores.parquet'}")
    click.echo(f"      sottovoce reidentify --attack {first}")
