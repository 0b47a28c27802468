"""``sottovoce paper``: a table or figure of a document, with the published numbers beside ours."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.engine_options import engine_of, engine_options
from sottovoce.cli.options import JsonCommand, json_option, seed_option, stage_bar, write_json
from sottovoce.core.errors import InputError, UsageError

if TYPE_CHECKING:
    from sottovoce.papers.catalogue import ItemStatus
    from sottovoce.papers.data import PaperData
    from sottovoce.papers.items import PaperItem
    from sottovoce.papers.results import PaperResult
    from sottovoce.papers.runner import Outcome


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce paper 001-table-1",
    short_help="A table or figure of a paper, published numbers beside ours.",
)
@click.argument("names", metavar="[ITEM ...]", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="List all items and what those need.")
@click.option("--quick", is_flag=True, help="A part of the data: minutes instead of hours.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("papers"),
    show_default=True,
    help="Folder of results and of the work behind them.",
)
@click.option(
    "--corpus",
    default="builtin",
    show_default=True,
    help="Speech to anonymise and attack; builtin is synthetic.",
)
@click.option("--train", help="Speech of other speakers to train attackers on.")
@click.option("--crowd", help="Speech of many speakers. [default: the corpus]")
@click.option(
    "--ner",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Tagged text: LANG.test.conll[.xz] and en.train.conll[.xz].",
)
@click.option(
    "--digits",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Images of digits: mnist.npz and kmnist_public.npz.",
)
@click.option(
    "--features",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Features of images: train.npz, test.npz and public.npz.",
)
@click.option(
    "--news",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="News with topics: train.csv and test.csv with the columns text and label.",
)
@click.option(
    "--vectors",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Word vectors, a word and its numbers a line; may be repeated.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path),
    metavar="FILE.md",
    help="Write all items as a page, drawings beside it.",
)
@click.option(
    "--skip",
    multiple=True,
    metavar="NAME",
    help="Leave out an attack of 004-figure-12 to 14 by its name there, e.g. "
    '"xvector, semi-informed"; may be repeated.',
)
@click.option(
    "--finished",
    is_flag=True,
    help="Compute nothing: a page of what is finished in --out, which keeps its other parts.",
)
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Recordings processed at a time.",
)
@engine_options
@seed_option
@json_option
def command(
    names: tuple[str, ...],
    listed: bool,
    quick: bool,
    out: Path,
    corpus: str,
    train: str | None,
    crowd: str | None,
    ner: Path | None,
    digits: Path | None,
    features: Path | None,
    news: Path | None,
    vectors: tuple[Path, ...],
    page: Path | None,
    skip: tuple[str, ...],
    finished: bool,
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
    seed: int,
    json_to: str | None,
) -> None:
    """Compute tables and figures of the papers behind this package.

    ITEM is an id such as 001-table-1, a document such as 001, or all; --list shows them. Each item
    gets a folder in --out with result.json and its drawings. A run that was stopped continues; of
    several items those that are finished with the same data are kept, and those that need something
    say what.
    """
    from sottovoce.papers.data import PaperData

    data = PaperData(
        folder=out,
        quick=quick,
        corpus=corpus,
        train=train,
        crowd=crowd,
        ner=ner,
        digits=digits,
        features=features,
        news=news,
        vectors=vectors,
        skip=skip,
        seed=seed,
        jobs=jobs,
    )
    from sottovoce.papers.comprise_2021.crowd_attacks import check_attacks

    check_attacks(skip)
    _check_vectors(vectors)
    if listed:
        _print_list(data, json_to)
        return
    if not names:
        raise click.UsageError("name an ITEM, or all; --list shows them")
    from sottovoce.anonymise.voice.kept_analyses import keep_analyses
    from sottovoce.papers.catalogue import choose_items
    from sottovoce.papers.page import write_page

    items = choose_items(names)
    if page is not None and page.suffix != ".md":
        raise click.UsageError(f"--page {page}: name a file that ends in .md")
    with engine_of(engine, jobs, worker_memory, scratch) as opened, keep_analyses():
        data = replace(data, engine=opened)
        if len(items) == 1 and page is None and not finished:
            _run_single(items[0], data, json_to)
        else:
            outcomes = _run_several(items, data, compute=not finished)
            if page is not None:
                made_by = _page_command(names, data, page)
                write_page(page, outcomes, data, made_by, keep=finished)
            _print_outcomes(outcomes, json_to)
            _refuse_failures(outcomes)


def _check_vectors(paths: Sequence[Path]) -> None:
    """Refuse files of one name, by which results tell vectors apart."""
    names = [path.name for path in paths]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"--vectors {name}: the name of two files; rename one", code="duplicate-name"
            )


def _print_list(data: PaperData, json_to: str | None) -> None:
    from sottovoce.papers.catalogue import list_items

    items = list_items(data)
    if json_to is not None:
        write_json({"items": items}, json_to)
    if json_to != "-":
        from sottovoce.report.tables import make_table
        from sottovoce.report.terminal import Terminal

        rows = [(item.id, item.title, _status(item)) for item in items]
        headings = ("item", "title", "status")
        Terminal().table(make_table("Items", headings, rows, text=(1, 2)))


def _status(item: ItemStatus) -> str:
    return item.status if item.needs is None else f"needs {item.needs}"


def _run_single(item: PaperItem, data: PaperData, json_to: str | None) -> None:

    from sottovoce.papers.runner import run_item

    with stage_bar() as progress:
        result = run_item(item, replace(data, progress=progress))
    if json_to is not None:
        write_json(result.to_dict(), json_to)
    if json_to != "-":
        _print_result(result, data)


def _print_result(result: PaperResult, data: PaperData) -> None:
    from sottovoce.papers.results import paper_table
    from sottovoce.report.terminal import Terminal

    terminal = Terminal()
    terminal.heading(f"{result.id}: {result.title}")
    terminal.line(f"Computed from {result.made_from}.")
    if result.compared:
        rows = [(row.quantity, row.published, row.ours, row.why) for row in result.compared]
        headings = ("quantity", "published", "here", "why they differ")
        terminal.line()
        terminal.table(paper_table("Published beside ours", headings, rows).to_table())
    for table in result.tables:
        terminal.heading(f"\n{table.caption}")
        terminal.table(table.to_table())
    terminal.line()
    terminal.bullets(result.remarks)
    terminal.line(f"Written to {data.folder / result.id}.")


def _run_several(items: list[PaperItem], data: PaperData, *, compute: bool) -> list[Outcome]:
    from sottovoce.papers.runner import finished_or_reason, run_or_explain, with_progress

    outcomes = []
    with stage_bar() as progress:
        for item in items:
            run = with_progress(replace(data, progress=progress), item.id)
            outcomes.append(run_or_explain(item, run) if compute else finished_or_reason(item, run))
    return outcomes


def _print_outcomes(outcomes: list[Outcome], json_to: str | None) -> None:
    if json_to is not None:
        results = [outcome.result for outcome in outcomes if outcome.result is not None]
        missing = {o.item.id: o.reason for o in outcomes if o.result is None}
        write_json({"results": results, "missing": missing}, json_to)
    if json_to != "-":
        for outcome in outcomes:
            state = f"not run: {outcome.reason}" if outcome.result is None else "done"
            click.echo(f"{outcome.item.id}: {'kept' if outcome.kept else state}")


def _refuse_failures(outcomes: list[Outcome]) -> None:
    """End with an error if an item did, after all others are done."""
    failed = [outcome.item.id for outcome in outcomes if outcome.failed]
    if failed:
        raise InputError(
            f"{', '.join(failed)}: ended with the errors above; the other items are complete, "
            "so run the same command again when the errors are mended",
            code="items-failed",
        )


def _page_command(names: Sequence[str], data: PaperData, page: Path) -> str:
    """The command that makes the page, with folders by name only."""
    words = ["sottovoce", "paper", *names]
    words += ["--quick"] if data.quick else []
    for option, paths in data.inputs.items():
        if not (option == "corpus" and data.synthetic):
            words += [word for path in paths for word in (f"--{option}", path.name)]
    words += [word for attack in data.skip for word in ("--skip", attack)]
    words += ["--seed", str(data.seed)] if data.seed else []
    return shlex.join([*words, "--page", page.name])
