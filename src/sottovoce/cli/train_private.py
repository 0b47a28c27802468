"""``sottovoce train private``: train models with differential privacy, and audit the promise."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.cli.options import JsonCommand, json_option, provenance, stage_bar, write_json


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce train private study.yaml --out private/ --audit",
    short_help="Train models with differential privacy.",
)
@click.argument("study", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("private-training"),
    show_default=True,
    help="Folder to write: models, result.json and report.html.",
)
@click.option(
    "--audit",
    "audited",
    is_flag=True,
    help="Also train with canaries and find out what an attacker learns at least.",
)
@click.option("--threads", default=1, show_default=True, help="Threads used for training.")
@json_option
def command(
    study: Path | None, out: Path, audited: bool, threads: int, json_to: str | None
) -> None:
    """Train each model of STUDY with each privacy budget and report accuracy over ε.

    Without STUDY, sentences of made-up speakers are classified, in about two minutes. A study is
    YAML: task (sentences, images or vectors), train, test, text, label, unit, models, epsilon,
    delta, lot, epochs, clip, learning_rates, seeds. If a run was stopped, the same command
    continues it without spending budget twice. Needs the extra: pip install 'sottovoce[learn]'.
    """
    if threads < 1:
        raise click.UsageError("--threads must be at least 1")
    try:
        import dp_accounting  # noqa: F401
        import torch
    except ImportError:
        from sottovoce.core.errors import MissingExtraError

        raise MissingExtraError("private training", "learn") from None
    from sottovoce.core import records
    from sottovoce.core.files import write_text
    from sottovoce.core.locks import locked
    from sottovoce.learn.study import read_private_study
    from sottovoce.learn.study_run import run_study
    from sottovoce.report.private_learning import (
        audit_sentence,
        private_learning_page,
        private_learning_table,
        study_remarks,
    )
    from sottovoce.report.terminal import Terminal

    settings = read_private_study(study)
    torch.set_num_threads(threads)
    with locked(out), stage_bar() as show:
        result = run_study(settings, out, audit=audited, show=show)
        records.write_json(out / "result.json", result)
        write_text(out / "report.html", private_learning_page(result))
    if json_to is not None:
        files = [path for path in (study, settings.train, settings.test) if path is not None]
        sources = provenance(files, study=settings.as_json())
        write_json({**result.to_dict(), "provenance": sources}, json_to)
    if json_to != "-":
        terminal = Terminal()
        terminal.table(private_learning_table(result))
        if result.audit is not None:
            terminal.line(audit_sentence(result.audit, result.audited or ""))
        terminal.bullets(study_remarks(result))
        terminal.line(f"Report: {out / 'report.html'}")
