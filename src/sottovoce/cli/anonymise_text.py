"""``sottovoce anonymise text``: find private words in text and replace them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.options import JsonCommand, json_option, provenance, split_names, write_json
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.anonymise.text.conll import Sentence
    from sottovoce.anonymise.text.detect import Detector
    from sottovoce.anonymise.text.entities import Finder

STRATEGIES = ["redact", "typed", "instance", "named", "word", "full", "generalise", "hmac"]
SHOWN = 10
"""Fields that were left out and are named."""


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce anonymise text calls.txt safe.txt --lang de --strategy full",
    short_help="Find private words in text and replace them.",
)
@click.argument("source", required=False, type=click.Path(path_type=Path), metavar="IN")
@click.argument("target", required=False, type=click.Path(path_type=Path), metavar="OUT")
@click.option("--lang", default="en", show_default=True, help="en de es fr it lv nl or pt.")
@click.option("--strategy", type=click.Choice(STRATEGIES), default="full", show_default=True)
@click.option("--tau", type=float, help="Private if P(not private) < τ; higher finds more.")
@click.option("--types", help="Private types, e.g. PER,LOC. [default: all but MISC]")
@click.option(
    "--scope",
    type=click.Choice(["none", "utterance", "document", "corpus"]),
    default="document",
    show_default=True,
    help="Where the same value gets the same replacement.",
)
@click.option("--p", "probability", default=1.0, show_default=True, help="Share that is replaced.")
@click.option("--deny", type=click.Path(path_type=Path), help="Phrases that are always private.")
@click.option("--allow", type=click.Path(path_type=Path), help="Phrases that never are.")
@click.option(
    "--register",
    type=click.Choice(["both", "spoken", "written"]),
    default="both",
    show_default=True,
    help="Which taggers look at the text; spoken alone is for commands to a machine.",
)
@click.option("--tagger", help="FILE of 'train entities'; spacy:NAME, gliner:FOLDER ask as well.")
@click.option("--format", "form", help="lines, kaldi, jsonl or ctm. [default: by name]")
@click.option("--copy-fields", help="Fields of .jsonl to copy unread, e.g. speaker,words.norm.")
@click.option("--secret", type=click.Path(path_type=Path), help="Secret to draw with; made if new.")
@click.option("--reproducible", type=click.IntRange(min=0), help="Public seed: hides no draws.")
@click.option("--no-propagate", is_flag=True, help="Do not look for found names elsewhere.")
@click.option("--allow-corpus-tables", is_flag=True, help="Draw from values of IN itself.")
@click.option("--report", is_flag=True, help="Show what was found, by which rule, and the leak.")
@click.option("--evaluate", type=click.Path(path_type=Path), help="Score on a tagged CoNLL file.")
@click.option("--seen", type=click.Path(path_type=Path), help="Training text, for --evaluate.")
@click.option("--list", "listed", is_flag=True, help="List strategies and taggers.")
@json_option
def command(**asked: Any) -> None:
    """Find private words in IN, replace them, write OUT.

    IN has a text a line, or is Kaldi's 'text', .jsonl ({"text": …} or {"words": [{"w", "t0",
    "t1"}]}) or .ctm. Other fields of .jsonl with words in them are left out. Neither --report nor
    --json shows a private word.
    """
    if asked["listed"]:
        _list(asked["json_to"])
    elif asked["evaluate"] is not None:
        _evaluate(asked)
    elif asked["source"] is None or asked["target"] is None:
        raise click.UsageError("name a file to read and one to write, or --evaluate, or --list")
    else:
        _transform(asked)


def _detector(asked: dict[str, Any]) -> dict[str, Any]:
    """What decides on what is private."""
    from sottovoce.anonymise.text.entities import PRIVATE, TAU
    from sottovoce.anonymise.text.lists import read_phrases

    types = asked["types"]
    return {
        "lang": asked["lang"].lower(),
        "tau": TAU if asked["tau"] is None else asked["tau"],
        "types": tuple(types.upper().replace(" ", "").split(",")) if types else PRIVATE,
        "register": asked["register"],
        "deny": read_phrases(asked["deny"]) if asked["deny"] else {},
        "allow": tuple(read_phrases(asked["allow"])) if asked["allow"] else (),
        "tagger": asked["tagger"],
        "propagate": not asked["no_propagate"],
    }


def _secret(asked: dict[str, Any]) -> Any:
    from sottovoce.anonymise.keys import Secret

    if asked["reproducible"] is not None:
        if asked["secret"] is not None:
            raise UsageError("--secret and --reproducible exclude each other; choose one")
        return Secret.reproducible(asked["reproducible"])
    if asked["secret"] is not None and asked["secret"].exists():
        return Secret.load(asked["secret"])
    return Secret.generate()


def _check_files(asked: dict[str, Any]) -> None:
    """Refuse to write over what is read, or one result over another."""
    target, json_to = asked["target"], asked["json_to"]
    report = Path(json_to) if json_to not in (None, "-") else None
    read = {"IN": asked["source"], "--deny": asked["deny"], "--allow": asked["allow"]}
    written = {"OUT": target, "--secret": asked["secret"], "--json": report}
    taken = {path.resolve(): name for name, path in read.items() if path is not None}
    for name, path in written.items():
        if path is not None and (other := taken.setdefault(path.resolve(), name)) != name:
            what = "the file to be read" if other in read else f"the file of {other}"
            raise UsageError(f"{name} {path}: {what}; name another to write")
    if target.is_dir():
        raise UsageError(f"{target}: a folder is there; name a file")
    if target.exists():
        raise UsageError(f"{target}: there already; name another to write")


def _transform(asked: dict[str, Any]) -> None:
    from sottovoce.anonymise.text import TextAnonymiser
    from sottovoce.anonymise.text.documents import read_batch
    from sottovoce.core.atomic_directory import delete_on_failure
    from sottovoce.core.files import write_text

    _check_files(asked)
    source, target, secret_path = asked["source"], asked["target"], asked["secret"]
    settings, secret = _detector(asked), _secret(asked)
    copied = split_names(asked["copy_fields"]) or []
    batch = read_batch(source, asked["form"], copied=copied)
    anonymiser = TextAnonymiser(
        strategy=asked["strategy"],
        scope=asked["scope"],
        p=asked["probability"],
        secret=secret,
        **settings,
    )
    done = anonymiser.transform_all(
        batch.texts, batch.documents, use_corpus_tables=asked["allow_corpus_tables"]
    )
    with delete_on_failure(secret_path or target):
        if secret_path is not None and not secret_path.exists():
            secret.save(secret_path)
        write_text(target, batch.write(done))
    if batch.left_out:
        _tell_left_out(batch.left_out)
    from sottovoce.anonymise.text.account import account

    told = account(anonymiser, batch, done)
    if asked["json_to"] is not None:
        made = provenance([source, target], **_settings(asked))
        fields = {"left_out_fields": list(batch.left_out), "provenance": made}
        write_json({**told.to_dict(), **fields}, asked["json_to"])
    if asked["json_to"] != "-":
        values = "value" if told.found == 1 else "values"
        texts = "text" if told.texts == 1 else "texts"
        click.echo(
            f"{told.found:,} private {values} in {told.texts:,} {texts}; written to {target}"
        )
        if told.other_language and not asked["report"]:
            click.echo(f"caution: this looks like {told.other_language!r}; check --lang", err=True)
        if asked["report"]:
            click.echo("\n".join(told.lines()))


def _tell_left_out(fields: tuple[str, ...]) -> None:
    """Which fields are missing, and how to have them; nothing of what they held."""
    some = ",".join(fields[:SHOWN]) + (" …" if len(fields) > SHOWN else "")
    count = f"{len(fields):,} field" + ("s" if len(fields) > 1 else "")
    click.echo(
        f"left out {count} with words that nobody looked at: {some}; --copy-fields copies them",
        err=True,
    )


def _settings(asked: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, without what names files of the user's."""
    names = ("lang", "strategy", "tau", "types", "scope", "probability", "register")
    told = {name: asked[name] for name in names}
    seed = asked["reproducible"]
    told["draws"] = "secret" if seed is None else f"public seed {seed}: no secrecy of draws"
    return told


def _evaluate(asked: dict[str, Any]) -> None:
    from sottovoce.anonymise.text.conll import read_conll
    from sottovoce.anonymise.text.detect import Detector
    from sottovoce.anonymise.text.evaluate import evaluate

    detector = Detector(**_detector(asked))
    sentences = read_conll(asked["evaluate"])
    tagger = detector.own or _shipped_for(sentences, detector)
    seen = {w for one in read_conll(asked["seen"]) for w in one.words} if asked["seen"] else set()
    found = evaluate(sentences, detector, tagger, seen=seen)
    if asked["json_to"] is not None:
        made = provenance([asked["evaluate"]], tagger=tagger.card, **_settings(asked))
        write_json({**found.to_dict(), "provenance": made}, asked["json_to"])
    if asked["json_to"] != "-":
        from sottovoce.anonymise.text.account import evaluation_lines

        click.echo("\n".join(evaluation_lines(found, tagger.rule)))


def _shipped_for(sentences: list[Sentence], detector: Detector) -> Finder:
    """The tagger of the package for the register of the text."""
    from sottovoce.anonymise.text.entities import shipped, shipped_tagger
    from sottovoce.anonymise.text.tokens import is_asr_view

    register = detector.register
    if register == "both":
        plain = is_asr_view([word for one in sentences for word in one.words])
        register = "spoken" if plain else "written"
    if register not in shipped(detector.lang):
        raise UsageError(f"no {register} tagger for {detector.lang}; use --tagger FILE")
    return shipped_tagger(detector.lang, register)


def _list(json_to: str | None) -> None:
    from sottovoce.anonymise.text.crf import Weights
    from sottovoce.anonymise.text.entities import shipped
    from sottovoce.anonymise.text.lexicon import LANGUAGES
    from sottovoce.anonymise.text.replace import STRATEGIES as DESCRIBED

    cards = [
        {"name": path.name, **Weights.load(path).card}
        for lang in LANGUAGES
        for path in shipped(lang).values()
    ]
    if json_to is not None:
        write_json({"strategies": DESCRIBED, "taggers": cards}, json_to)
    if json_to != "-":
        for name, what in DESCRIBED.items():
            click.echo(f"{name:<11} {what}")
        for card in cards:
            data = " ".join(card["data"])
            click.echo(f"{card['lang']} {card['register']:<8} {card['licence']:<13} {data}")
