"""``sottovoce reassemble``: whether slices of text can be put together again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import (
    JsonCommand,
    interval_options,
    json_option,
    provenance,
    stage_bar,
    write_json,
)
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.attack.text.trigrams import TrigramModel
    from sottovoce.findings import Estimate, Reassembly, ScoreSummary

MEASURES = ("d_sys", "d_sys_corrected", "eer", "min_cllr", "d_ece", "worst_case_log10_lr")


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce reassemble texts.txt --train other.txt --words 5",
    short_help="Whether slices of text can be put together again.",
)
@click.argument("text", metavar="TEXT", type=click.Path(path_type=Path))
@click.option(
    "--train",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Other text to train the attacker's language model on, a sentence a line.",
)
@click.option(
    "--model",
    "model_path",
    type=click.Path(path_type=Path),
    metavar="FILE.arpa",
    help="A trigram model in ARPA format instead.",
)
@click.option(
    "--save-model",
    type=click.Path(path_type=Path),
    metavar="FILE.arpa",
    help="Write the trained model.",
)
@click.option(
    "--map",
    "map_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TEXT is a folder of sottovoce slice; FILE is the map it kept.",
)
@click.option("--lang", default="en", show_default=True, help="Language of the texts.")
@click.option(
    "--words",
    type=click.IntRange(2),
    default=8,
    show_default=True,
    help="Words of a slice; 2.7 words take about a second.",
)
@click.option(
    "--candidates",
    type=click.IntRange(2),
    default=1000,
    show_default=True,
    help="Slices that the successor is looked for among.",
)
@interval_options
@json_option
def command(
    text: Path,
    train: Path | None,
    model_path: Path | None,
    save_model: Path | None,
    map_path: Path | None,
    lang: str,
    words: int,
    candidates: int,
    interval: float,
    no_interval: bool,
    resamples: int | None,
    seed: int,
    json_to: str | None,
) -> None:
    """Attack slices of TEXT, a document a line, or of a folder with --map: which follows which?

    Successive slices are mated trials, random pairs non-mated ones. The attacker scores them with
    a trigram model of other text. Two scores are measured: mutual, which takes off what the words
    give by themselves, and the weaker joint of COMPRISE.
    """
    from sottovoce.attack.text.arpa import write_arpa
    from sottovoce.attack.text.reassembly import (
        SLICE_SCORES,
        make_slices,
        reassemble,
        slice_scores,
        slices_of,
    )
    from sottovoce.measure import measure_scores

    pieces = None if map_path is None else _sliced(text, map_path, lang)
    documents = [] if map_path is not None else _documents(text, lang)
    model = _model(train, model_path, lang)
    if save_model is not None:
        write_arpa(model, save_model)
    slices = (
        make_slices(documents, model, words=words) if pieces is None else slices_of(pieces, model)
    )
    summaries, found = {}, {}
    with stage_bar() as progress:
        for name in SLICE_SCORES:
            summaries[name] = measure_scores(
                slice_scores(slices, model, name, seed=seed),
                interval=None if no_interval else interval,
                replicates=resamples,
                only=MEASURES,
                seed=seed,
                progress=partial(progress, f"score {name}"),
            )
            found[name] = reassemble(slices, model, name, most=candidates, seed=seed)
    if json_to is not None:
        inputs = [path for path in (text, map_path, train, model_path) if path is not None]
        scores = {
            name: {**summaries[name].to_dict(), "reassembly": found[name].to_dict()}
            for name in SLICE_SCORES
        }
        origin = provenance(inputs, lang=lang, words=words, candidates=candidates, seed=seed)
        write_json({"slices": len(slices), "scores": scores, "provenance": origin}, json_to)
    if json_to != "-":
        of_words = f" of {words} words" if map_path is None else f" of {text}"
        click.echo(f"{len(slices):,} slices{of_words}")
        for name in SLICE_SCORES:
            _print(name, summaries[name], found[name])


def _sliced(folder: Path, map_path: Path, lang: str) -> list[list[list[str]]]:
    """Words of the slices of each recording, in the order of the map."""
    from sottovoce.anonymise.recording.slice_map import read_map
    from sottovoce.asr.normalise import normalise
    from sottovoce.core.errors import InputError
    from sottovoce.corpus import open_corpus

    words = {
        utterance.id: normalise(utterance.transcript, utterance.language or lang).split()
        for utterance in open_corpus(folder)
    }
    if not any(words.values()):
        raise InputError(
            f"{folder}: slices without words; cut at words, not with --hard",
            code="missing-transcript",
        )
    recordings: dict[str, dict[int, list[str]]] = {}
    for entry in read_map(map_path):
        if entry.slice not in words:
            raise InputError(
                f"{map_path}: slice {entry.slice} is not in {folder}; give the map that was "
                "written beside it",
                code="mismatch",
            )
        recordings.setdefault(entry.utterance, {})[entry.number] = words[entry.slice]
    return [[pieces[number] for number in sorted(pieces)] for pieces in recordings.values()]


def _print(name: str, summary: ScoreSummary, found: Reassembly) -> None:
    """Print what one score links, and why a measure has no value."""
    printed = [summary.measures[key] for key in ("d_sys", "d_sys_corrected", "eer")]
    d_sys, corrected, eer = printed
    click.echo(
        f"{name}: D_sys {_ends(d_sys)}, without chance {_ends(corrected)}, "
        f"EER {_ends(eer, percent=True)}"
    )
    for hit in found.hits:
        click.echo(
            f"  true successor among the first {hit.k} of {found.slices:,} slices: "
            f"{hit.value:.1%} ({hit.low:.1%} to {hit.high:.1%}; guessing {hit.chance:.1%})"
        )
    reasons = [measure.note for measure in printed if measure.value is None and measure.note]
    for line in dict.fromkeys([*reasons, *summary.warnings]):
        click.echo(f"  {line}")


def _ends(estimate: Estimate, *, percent: bool = False) -> str:
    from sottovoce.report.formats import MISSING

    if estimate.value is None:
        return MISSING
    style = ".1%" if percent else ".3f"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:{style}}"
    return f"{estimate.value:{style}} ({estimate.low:{style}} to {estimate.high:{style}})"


def _model(train: Path | None, model_path: Path | None, lang: str) -> TrigramModel:
    from sottovoce.attack.text.arpa import read_arpa
    from sottovoce.attack.text.trigrams import train_trigrams

    if train is not None and model_path is None:
        return train_trigrams(_documents(train, lang))
    if model_path is not None and train is None:
        return read_arpa(model_path)
    raise UsageError(
        "name either --train and other text, or --model and a trigram model",
        code="missing-option" if train is None else "exclusive-options",
    )


def _documents(path: Path, lang: str) -> list[list[str]]:
    """Words of each line, in one spelling."""
    from sottovoce.asr.normalise import normalise
    from sottovoce.corpus.reading import numbered_lines

    return [normalise(line, lang).split() for _, line in numbered_lines(path)]
