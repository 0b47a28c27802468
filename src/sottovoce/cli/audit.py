"""``sottovoce audit``: from recordings to evidence a person can act on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.options import JsonCommand, json_option, stage_bar, write_json
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.audit.config import Study

VERIFY = "verify"


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce audit --corpus recordings/ --anonymiser mcadams --out audit/",
    short_help="The whole study: anonymise, attack, measure, report.",
)
@click.argument("study", required=False, metavar="[STUDY.yaml | verify]")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the audit. [default: audit]"
)
@click.option("--corpus", help="Corpus to anonymise and attack. [default: built-in, synthetic]")
@click.option("--train", help="Corpus of other speakers to train attackers on.")
@click.option("--anonymiser", "anonymisers", multiple=True, help="Method; may be repeated.")
@click.option("--attacker", "attackers", multiple=True, help="Attacker; may be repeated.")
@click.option(
    "--set", "changes", multiple=True, metavar="NAME=VALUE", help="Set any value of the study."
)
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1))
@click.option("--no-audio", is_flag=True, help="No recordings in the report.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of a study.")
@json_option
def command(
    study: str | None,
    folder: Path | None,
    out: Path | None,
    corpus: str | None,
    train: str | None,
    anonymisers: tuple[str, ...],
    attackers: tuple[str, ...],
    changes: tuple[str, ...],
    jobs: int,
    no_audio: bool,
    dry_run: bool,
    schema: bool,
    json_to: str | None,
) -> int | None:
    """Anonymise a corpus, attack the result, measure what leaks and write a report.

    Without a STUDY the built-in one runs on the built-in, synthetic corpus. Everything ends up in
    one folder: report.html, measures.json, measures.parquet, provenance.json, the score sets and
    the anonymised speech. A run that was stopped goes on where it was. The exit code is 1 if a
    limit of the study is exceeded.

    `sottovoce audit verify DIR` repeats the attacks and measures of an audit from its embeddings
    and compares.
    """
    if study == VERIFY:
        return _verify(folder, json_to)
    if folder is not None:
        raise UsageError(f"{folder}: unexpected; name the folder of the audit with --out")
    if schema:
        from sottovoce.audit.config import Study

        click.echo(json.dumps(Study.model_json_schema(), indent=2))
        return None
    chosen = _study(study, corpus, train, anonymisers, attackers, changes)
    target = out or Path("audit")
    if dry_run:
        from sottovoce.audit.plan import plan_lines

        lines = list(plan_lines(chosen, target))
        if json_to is not None:
            write_json({"plan": lines}, json_to)
        if json_to != "-":
            click.echo("\n".join(lines))
        return None
    from sottovoce.audit.run import run_audit

    with stage_bar() as progress:
        done = run_audit(chosen, target, jobs=jobs, audio=not no_audio, progress=progress)
    if json_to is not None:
        write_json(done.findings, json_to)
    if json_to != "-":
        from sottovoce.audit.typed_findings import typed_findings
        from sottovoce.report.attacks import print_audit

        print_audit(typed_findings(done.findings, target))
        click.echo(f"The report: {target / 'report.html'}")
    return 1 if done.exceeded else 0


def _study(
    path: str | None,
    corpus: str | None,
    train: str | None,
    anonymisers: tuple[str, ...],
    attackers: tuple[str, ...],
    changes: tuple[str, ...],
) -> Study:
    from sottovoce.audit.config import parse_change, read_study

    if path is not None and Path(path).is_dir():
        raise UsageError(f"{path}: a folder, no study; audit its recordings with --corpus {path}")
    given: dict[str, Any] = {"corpus": corpus, "train": train}
    given["anonymisers"] = list(anonymisers) or None
    given["attackers"] = list(attackers) or None
    wanted = {name: value for name, value in given.items() if value is not None}
    wanted |= dict(parse_change(change) for change in changes)
    return read_study(None if path is None else Path(path), wanted)


def _verify(folder: Path | None, json_to: str | None) -> int:
    from sottovoce.audit.verify import verify

    if folder is None:
        raise UsageError("sottovoce audit verify DIR: name the folder of an audit")
    with stage_bar() as progress:
        found = verify(folder, progress=progress)
    if json_to is not None:
        write_json({"folder": str(folder), **found.to_dict()}, json_to)
    for line in found.differences:
        click.echo(line, err=True)
    if json_to != "-":
        if not found.differences:
            click.echo(f"{folder}: from the embeddings follow {', '.join(found.checked)}.")
        click.echo(f"Not checked: {'; '.join(found.unchecked)}.")
    return 1 if found.differences else 0
