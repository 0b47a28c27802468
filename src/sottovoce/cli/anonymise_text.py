"""``sottovoce anonymise text``: find private words in text and replace them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.decisions import (
    decision_options,
    load_decisions,
    refuse_existing,
    write_proposal,
)
from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.options import JsonCommand, json_option, provenance, split_names, write_json
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.anonymise.keys import Secret
    from sottovoce.anonymise.text import Tagger, TextAnonymiser
    from sottovoce.anonymise.text.conll import Sentence
    from sottovoce.anonymise.text.files import TextFile
    from sottovoce.anonymise.text.multilingual_detector import AnyDetector


@dataclass(frozen=True)
class _Options:
    """The options of the command."""

    source: Path | None
    target: Path | None
    lang: str
    strategy: str
    tau: float | None
    types: str | None
    scope: str
    probability: float
    deny: Path | None
    allow: Path | None
    register: str
    tagger: str | None
    form: str | None
    copy_fields: str | None
    columns: str | None
    no_header: bool
    secret: Path | None
    reproducible: int | None
    no_propagate: bool
    allow_corpus_tables: bool
    report: bool
    kind: str | None
    measured: Path | None
    label: int | None
    evaluate: Path | None
    seen: Path | None
    listed: bool
    decisions_path: Path | None
    propose: Path | None
    jobs: int
    engine: str | None
    worker_memory: str | None
    scratch: Path | None
    json_to: str | None


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce anonymise text calls.txt safe.txt --lang de --strategy full",
    short_help="Find private words in text and replace them.",
)
@click.argument("source", required=False, type=click.Path(path_type=Path), metavar="IN")
@click.argument("target", required=False, type=click.Path(path_type=Path), metavar="OUT")
@click.option(
    "--lang", default="en", show_default=True, help="en de es fr it lv nl pt auto or multi."
)
@click.option("--strategy", default="full", show_default=True, help="See --list.")
@click.option("--tau", type=float, help="Private if P(not private) < τ; higher finds more.")
@click.option("--types", help="Private types, e.g. PER,LOC. [default: all but MISC, SENSITIVE]")
@click.option(
    "--scope",
    type=click.Choice(["none", "utterance", "document", "corpus"]),
    default="document",
    show_default=True,
    help="Where the same value gets the same replacement.",
)
@click.option("--p", "probability", default=1.0, show_default=True, help="Share that is replaced.")
@click.option("--deny", type=click.Path(path_type=Path), help="Phrases that are always private.")
@click.option("--allow", type=click.Path(path_type=Path), help="Phrases that are never private.")
@click.option(
    "--register",
    type=click.Choice(["both", "spoken", "written"]),
    default="both",
    show_default=True,
    help="Taggers that are used; spoken alone is for commands to a machine.",
)
@click.option("--tagger", help="FILE of 'train entities', or a name; see --list.")
@click.option(
    "--format",
    "form",
    help="lines kaldi jsonl ctm stm srt vtt csv or tsv. [default: by name and content]",
)
@click.option("--columns", help="Columns of a table to search, e.g. text,note.")
@click.option("--no-header", is_flag=True, help="The table has no header: --columns 2,3.")
@click.option("--copy-fields", help="Fields of .jsonl to copy unread, e.g. speaker,words.norm.")
@click.option(
    "--secret",
    type=click.Path(path_type=Path),
    help="File with the secret of the draws; may be new.",
)
@click.option("--reproducible", type=click.IntRange(min=0), help="Public seed: hides no draws.")
@click.option("--no-propagate", is_flag=True, help="Do not search a name in its document.")
@click.option("--allow-corpus-tables", is_flag=True, help="Draw from values of IN itself.")
@click.option("--report", is_flag=True, help="Show what was found, by which rule, and the leak.")
@click.option("--kind", help="Kind of text of IN, if it was measured; see --list.")
@click.option(
    "--measured",
    type=click.Path(path_type=Path),
    help="JSON of --evaluate on a sample of such text: its leak bound is reported.",
)
@click.option(
    "--label",
    type=click.IntRange(min=1),
    metavar="N",
    help="Label N sentences of IN in the file OUT, in a terminal or an editor; then --evaluate.",
)
@click.option(
    "--evaluate", type=click.Path(path_type=Path), help="Score on a file of --label or CoNLL."
)
@click.option("--seen", type=click.Path(path_type=Path), help="Training text, for --evaluate.")
@decision_options
@click.option("--list", "listed", is_flag=True, help="List strategies and taggers.")
@click.option("--jobs", default=2, show_default=True, help="Workers of --engine dask.")
@engine_options
@json_option
def command(**values: Any) -> None:
    """Find private words in IN, replace them, write OUT.

    IN has a text a line, or is Kaldi's 'text', .jsonl ({"text": …} or {"words": [{"w", "t0",
    "t1"}]}), .ctm, .stm, .srt, .vtt, or a table (.csv, .tsv) whose --columns are named; - is
    standard input or output. What is not private keeps its bytes; other fields of .jsonl with words
    in them are left out. Neither --report nor --json shows a private word.
    """
    options = _Options(**values)
    if options.listed:
        from sottovoce.cli.text_catalogue import list_choices

        list_choices(options.json_to)
    elif options.evaluate is not None:
        _evaluate(options, options.evaluate)
    elif options.propose is not None:
        _propose(options, options.propose)
    elif options.source is None or options.target is None:
        raise click.UsageError("name a file to read and one to write, or --evaluate, or --list")
    elif options.label is not None:
        _label(options, options.source, options.target, options.label)
    else:
        _transform(options, options.source, options.target)


def _make_detector(options: _Options) -> AnyDetector:
    from sottovoce.anonymise.text.entities import PRIVATE_TYPES, parse_types
    from sottovoce.anonymise.text.multilingual_detector import make_detector
    from sottovoce.anonymise.text.phrases import read_phrases
    from sottovoce.anonymise.text.taggers import DEFAULT_TAU

    types = options.types
    return make_detector(
        lang=options.lang.lower(),
        tau=DEFAULT_TAU if options.tau is None else options.tau,
        types=parse_types(types) if types else PRIVATE_TYPES,
        register=options.register,
        deny=read_phrases(options.deny) if options.deny else {},
        allow=tuple(read_phrases(options.allow)) if options.allow else (),
        tagger=options.tagger,
        propagate=not options.no_propagate,
    )


def _make_secret(options: _Options) -> Secret:
    from sottovoce.anonymise.keys import Secret

    if options.reproducible is not None:
        if options.secret is not None:
            raise UsageError(
                "--secret and --reproducible exclude each other; choose one",
                code="exclusive-options",
            )
        return Secret.reproducible(options.reproducible)
    if options.secret is not None and options.secret.exists():
        return Secret.load(options.secret)
    return Secret.generate()


def _check_files(options: _Options, target: Path) -> None:
    """Refuse to write over what is read, or one result over another."""
    report = Path(options.json_to) if options.json_to not in (None, "-") else None
    read = {
        "IN": options.source,
        "--deny": options.deny,
        "--allow": options.allow,
        "--measured": options.measured,
        "--decisions": options.decisions_path,
    }
    written = {"OUT": target, "--secret": options.secret, "--json": report}
    if str(target) == "-" == options.json_to:
        raise UsageError(
            "OUT and --json both go to standard output; name a file for one", code="same-file"
        )
    taken = {p.resolve(): name for name, p in read.items() if p is not None and str(p) != "-"}
    for name, path in written.items():
        if path is None or str(path) == "-":
            continue
        if (other := taken.setdefault(path.resolve(), name)) != name:
            use = "the file to be read" if other in read else f"the file of {other}"
            raise UsageError(f"{name} {path}: {use}; name another to write", code="same-file")
    if target.is_dir():
        raise UsageError(f"{target}: this is a folder; name a file", code="exists")
    if target.exists():
        raise UsageError(f"{target}: exists already; name another file to write", code="exists")


def _make_anonymiser(options: _Options, secret: Secret) -> TextAnonymiser:
    from sottovoce.anonymise.text import TextAnonymiser

    detector = _make_detector(options)
    return TextAnonymiser(
        detector.lang,
        strategy=options.strategy,
        tau=detector.tau,
        scope=options.scope,
        p=options.probability,
        types=detector.types,
        register=detector.register,
        deny=detector.deny,
        allow=detector.allow,
        tagger=detector.tagger,
        propagate=detector.propagate,
        secret=secret,
    )


def _propose(options: _Options, path: Path) -> None:
    """Write what would be masked, for a review."""
    from sottovoce.anonymise.text.file_run import propose_for_file

    if options.source is None or options.target is not None:
        raise click.UsageError("--propose writes no OUT: name IN alone")
    refuse_existing(path)
    anonymiser = _make_anonymiser(options, _make_secret(options))
    with closing(_open(options, options.source)) as file:
        proposed = propose_for_file(anonymiser, file, load_decisions(options.decisions_path))
    write_proposal(path, proposed, options.json_to)


def _transform(options: _Options, source: Path, target: Path) -> None:
    from sottovoce.anonymise.text.known_leaks import CASED, leak_on, read_sample_leak
    from sottovoce.cli.text_run import TextRun, run_text_file

    _check_files(options, target)
    sample = read_sample_leak(options.measured) if options.measured else None
    secret = _make_secret(options)
    anonymiser = _make_anonymiser(options, secret)
    if options.kind is not None:
        leak_on(anonymiser.lang, options.kind, CASED)  # refuse an unknown kind before any work
    if sample is not None:
        anonymiser.sample_guarantee(sample)
    run = TextRun(
        target=target,
        new_secret=None if options.secret is None or options.secret.exists() else options.secret,
        json_to=options.json_to,
        report=options.report,
        corpus_tables=options.allow_corpus_tables,
        kind=options.kind,
        sample=sample,
        settings=_settings(options),
        decisions=load_decisions(options.decisions_path),
    )
    with (
        closing(_open(options, source)) as file,
        engine_of(options.engine, options.jobs, options.worker_memory, options.scratch) as engine,
    ):
        run_text_file(run, anonymiser, secret, file, engine)


def _open(options: _Options, source: Path) -> TextFile:
    from sottovoce.anonymise.text.files import ReadingOptions, open_text_file

    reading = ReadingOptions(
        copied_fields=split_names(options.copy_fields) or [],
        columns=split_names(options.columns) or [],
        header=not options.no_header,
    )
    return open_text_file(source, options.form, reading)


def _settings(options: _Options) -> dict[str, str | float | None]:
    """Return the settings for the provenance, without names of the user's files."""
    seed = options.reproducible
    return {
        "lang": options.lang,
        "strategy": options.strategy,
        "tau": options.tau,
        "types": options.types,
        "scope": options.scope,
        "probability": options.probability,
        "register": options.register,
        "format": options.form,
        "columns": options.columns,
        "draws": "secret" if seed is None else f"public seed {seed}: no secrecy of draws",
    }


def _label(options: _Options, source: Path, target: Path, count: int) -> None:
    from sottovoce.cli.text_labels import label_sample

    if target.resolve() == source.resolve():
        raise UsageError(f"OUT {target}: the file to be read; name another", code="same-file")
    detector = _make_detector(options)
    with closing(_open(options, source)) as file:
        texts = [text.text for text in file.texts()]
    label_sample(texts, count, target, detector, _make_secret(options))


def _read_tagged(path: Path) -> list[Sentence]:
    """Read a file of labels or a CoNLL file."""
    from sottovoce.anonymise.text.conll import read_conll
    from sottovoce.anonymise.text.labelling import checked_sentences, is_label_file, read_labels

    return checked_sentences(read_labels(path)) if is_label_file(path) else read_conll(path)


def _evaluate(options: _Options, path: Path) -> None:
    from sottovoce.anonymise.text.conll import read_conll
    from sottovoce.anonymise.text.evaluate import evaluate
    from sottovoce.anonymise.text.known_leaks import SampleLeak

    detector = _make_detector(options)
    sentences = _read_tagged(path)
    tagger = detector.custom_tagger or _shipped_tagger_for(sentences, detector)
    training = read_conll(options.seen) if options.seen else []
    seen = {word for sentence in training for word in sentence.words}
    evaluation = evaluate(sentences, detector, tagger, seen=seen)
    if options.json_to is not None:
        sample = SampleLeak(
            measured_on=path.name,
            words=evaluation.missed_words,
            sentences=evaluation.sentences,
            lang=detector.lang,
            tau=detector.tau,
            register=detector.register,
            types=tuple(detector.types),
            tagger=options.tagger,
        )
        sources = provenance([path], tagger=tagger.info.card, **_settings(options))
        fields = {"sample": sample.to_dict(), "provenance": sources}
        write_json({**evaluation.to_dict(), **fields}, options.json_to)
    if options.json_to != "-":
        click.echo("\n".join(evaluation.lines(tagger.info.rule)))


def _shipped_tagger_for(sentences: list[Sentence], detector: AnyDetector) -> Tagger:
    """Choose the tagger of the package for the register of the text."""
    from sottovoce.anonymise.text.detect import BOTH_REGISTERS
    from sottovoce.anonymise.text.multilingual_detector import tagger_of
    from sottovoce.anonymise.text.taggers import SPOKEN, WRITTEN
    from sottovoce.anonymise.text.tokens import is_asr_output

    register = detector.register
    if register == BOTH_REGISTERS:
        words = [word for sentence in sentences for word in sentence.words]
        register = SPOKEN if is_asr_output(words) else WRITTEN
    if register not in detector.registers:
        raise UsageError(
            f"no {register} tagger for {detector.lang}; use --tagger FILE", code="not-found"
        )
    return tagger_of(detector.lang, register)
