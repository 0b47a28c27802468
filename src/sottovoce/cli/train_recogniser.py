"""``sottovoce train recogniser``: what anonymised speech is worth for training a recogniser."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.options import (
    JsonCommand,
    json_option,
    provenance,
    seed_option,
    stage_bar,
    write_json,
)

RESULT, REPORT = "result.json", "report.html"


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce train recogniser train/ --anonymised train-anonymised/ --test test/ "
    "--test-anonymised test-anonymised/ --out recognisers/",
    short_help="Train recognisers on original and anonymised speech.",
)
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option(
    "--anonymised",
    type=click.Path(path_type=Path),
    help="The utterances of CORPUS anonymised, under the same ids, to train a second one on.",
)
@click.option(
    "--test",
    "tested",
    type=click.Path(path_type=Path),
    help="Speech of other speakers with transcripts, to test on.",
)
@click.option(
    "--test-anonymised",
    type=click.Path(path_type=Path),
    help="The same anonymised, with draws of its own.",
)
@click.option(
    "--slice",
    "slices",
    type=click.FloatRange(min=0.05, max=3600),
    multiple=True,
    metavar="SECONDS",
    help="Also train on slices between words, of at least so long; may be repeated.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--text", type=click.Path(path_type=Path), help="More text for the language model.")
@click.option("--epochs", type=int, help="How often each recording is heard. [default: 12]")
@click.option("--width", type=int, help="Channels of the network. [default: 192]")
@click.option("--learning-rate", type=float, help="Highest learning rate. [default: 3e-3]")
@click.option("--held-out", type=float, help="Share of speakers held out. [default: 0.15]")
@click.option("--lang", default="en", show_default=True, help="Language where CORPUS has none.")
@click.option(
    "--interval",
    default=0.95,
    show_default=True,
    help="Confidence of the intervals, between 0 and 1.",
)
@click.option("--threads", default=1, show_default=True, help="Threads used for training.")
@seed_option
@json_option
def command(
    corpus: Path,
    anonymised: Path | None,
    tested: Path | None,
    test_anonymised: Path | None,
    slices: tuple[float, ...],
    out: Path,
    text: Path | None,
    lang: str,
    interval: float,
    threads: int,
    json_to: str | None,
    **options: float | int | None,
) -> None:
    """Train recognisers on CORPUS, original and anonymised, and compare their word errors.

    A small network turns the features of a recogniser that stays as it is into characters. With
    --anonymised, --test and --test-anonymised there are four cases, named by speech and recogniser:
    O-O, A-O, O-A and A-A, each with an interval, and paired differences. The folder gets the
    networks (ONNX), result.json and report.html. Held-out speakers of CORPUS choose epoch and
    weight of the language model. A run that was stopped continues. Needs the extra:
    pip install 'sottovoce[train]'.
    """
    if threads < 1:
        raise click.UsageError("--threads must be at least 1")
    if test_anonymised is not None and tested is None:
        raise click.UsageError("--test-anonymised: name the originals too, with --test")
    from sottovoce.training.encoder import check_extra

    check_extra()
    import torch

    from sottovoce.attack.speech import SpeechCache
    from sottovoce.audit.retrained import ComparisonSettings, RecogniserComparison
    from sottovoce.audit.speech_forms import SpeechForms
    from sottovoce.core import records
    from sottovoce.core.files import write_text
    from sottovoce.core.locks import locked
    from sottovoce.report.retrained import (
        differences_table,
        rates_table,
        recognisers_table,
        retrained_page,
        retrained_readings,
    )
    from sottovoce.report.terminal import Terminal
    from sottovoce.speaker.encoders import make_encoder
    from sottovoce.training.recogniser import RecogniserSettings

    torch.set_num_threads(threads)
    given = {name: value for name, value in options.items() if value is not None}
    settings = ComparisonSettings(
        RecogniserSettings(**given),  # type: ignore[arg-type]
        tuple(sorted(set(slices), reverse=True)),
        interval,
        lang,
        None if text is None else str(text),
    )
    train = SpeechForms.of_folders(corpus, anonymised)
    test = None if tested is None else SpeechForms.of_folders(tested, test_anonymised)
    with locked(out), stage_bar() as show:
        store = SpeechCache(out, make_encoder(), progress=show)
        result = RecogniserComparison(train, test, store, settings).result()
        records.write_json(out / RESULT, result)
        write_text(out / REPORT, retrained_page(result))
    if json_to is not None:
        sources = provenance([] if text is None else [text], settings=settings)
        write_json({**result.to_dict(), "provenance": sources}, json_to)
    if json_to != "-":
        terminal = Terminal()
        tables = (rates_table, differences_table) if result.rates else ()
        for table in (*tables, recognisers_table):
            terminal.table(table(result))
        terminal.bullets(retrained_readings(result))
        terminal.line(f"Report: {out / REPORT}")
