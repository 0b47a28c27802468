"""``sottovoce memorisation study``: canaries, models and what they remember, from one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, stage_bar, write_json

if TYPE_CHECKING:
    from sottovoce.findings import MemorisationFindings


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce memorisation study study.yaml --out memory/",
    short_help="Insert secrets, train models with and without privacy, measure and report.",
)
@click.argument(
    "study_file", required=False, metavar="[STUDY.yaml]", type=click.Path(path_type=Path)
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("memorisation"),
    show_default=True,
    help="Folder of the results; an interrupted run continues there.",
)
@json_option
def command(study_file: Path | None, out: Path, json_to: str | None) -> None:
    """Run a study of what models remember; without STUDY.yaml, the built-in one.

    Inserts canaries into text, trains language models and taggers on it, with and without
    differential privacy, and writes OUT/memorisation.json, memorisation.parquet and report.html.
    Training needs the extra: pip install 'sottovoce[learn]'.
    """
    from sottovoce.core.errors import MissingExtraError
    from sottovoce.core.files import write_text
    from sottovoce.memorisation.run import REPORT, run_memorisation
    from sottovoce.memorisation.study import builtin_study, read_memorisation_study
    from sottovoce.report.memorisation import render_memorisation

    study = builtin_study() if study_file is None else read_memorisation_study(study_file)
    try:
        with stage_bar() as progress:
            findings = run_memorisation(study, out, progress=progress)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "dp_accounting"):
            raise
        raise MissingExtraError("training models", "learn") from None
    write_text(out / REPORT, render_memorisation(findings))
    if json_to is not None:
        write_json(findings.to_dict(), json_to)
    if json_to != "-":
        _print(findings, out / REPORT)


def _print(findings: MemorisationFindings, report: Path) -> None:
    from sottovoce.report.memorisation import exposure_table, tagger_table
    from sottovoce.report.memorisation_readings import model_reading
    from sottovoce.report.terminal import Terminal

    terminal = Terminal()
    if findings.language_models:
        terminal.table(exposure_table(findings.language_models))
        terminal.line()
        terminal.bullets(
            [
                f"{model.label}: {model_reading(model).headline}"
                for model in findings.language_models
            ]
        )
    if findings.taggers is not None:
        terminal.table(tagger_table(findings.taggers.checks, "d-exposure in bits"))
    click.echo(f"The report: {report}")
