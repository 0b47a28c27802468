"""``sottovoce audit``: from recordings to evidence a person can act on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.engine_options import engine_of, engine_options, engine_workers
from sottovoce.cli.options import JsonCommand, json_option, stage_bar, write_json
from sottovoce.core.engine import LOCAL, EngineSettings
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.audit.study import Study
    from sottovoce.core.records import Json


class _CommandWithSubcommands(JsonCommand):
    """A command that can be called by itself, and has subcommands."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.subcommands: dict[str, click.Command] = {}

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Hand over to a subcommand if the first argument names one."""
        if args and args[0] in self.subcommands:
            name = args[0]
            return self.subcommands[name].make_context(
                f"{info_name} {name}", args[1:], parent, **extra
            )
        return super().make_context(info_name, args, parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the subcommands."""
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(80))
                    for name, command in self.subcommands.items()
                ]
            )


@click.command(
    cls=_CommandWithSubcommands,
    epilog="Example: sottovoce audit --corpus recordings/ --anonymiser mcadams --out audit/",
    short_help="The whole study: anonymise, attack, measure, report.",
)
@click.argument("study_file", required=False, metavar="[STUDY.yaml]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the audit. [default: audit]"
)
@click.option("--corpus", help="Corpus to anonymise and attack. [default: built-in, synthetic]")
@click.option("--train", help="Corpus of other speakers to train attackers on.")
@click.option("--trials", help="List of the pairs to compare (Kaldi or VoxCeleb form).")
@click.option("--anonymiser", "anonymisers", multiple=True, help="Method; may be repeated.")
@click.option("--attacker", "attackers", multiple=True, help="Attacker; may be repeated.")
@click.option(
    "--set", "changes", multiple=True, metavar="NAME=VALUE", help="Set any value of the study."
)
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1))
@engine_options
@click.option("--no-audio", is_flag=True, help="No recordings in the report.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of a study.")
@json_option
def command(
    study_file: str | None,
    out: Path | None,
    corpus: str | None,
    train: str | None,
    trials: str | None,
    anonymisers: tuple[str, ...],
    attackers: tuple[str, ...],
    changes: tuple[str, ...],
    jobs: int,
    engine: str | None,
    worker_memory: str | None,
    scratch: Path | None,
    no_audio: bool,
    dry_run: bool,
    schema: bool,
    json_to: str | None,
) -> int | None:
    """Anonymise a corpus, attack the result, measure what leaks and write a report.

    Without a STUDY the built-in one runs on the built-in, synthetic corpus. Everything is written
    to one folder: report.html, measures.json, measures.parquet, provenance.json, the score sets and
    the anonymised speech. A run that was stopped continues where it was. The exit code is 1 if a
    limit of the study is exceeded.
    """
    if schema:
        from sottovoce.audit.study import Study

        click.echo(json.dumps(Study.model_json_schema(), indent=2))
        return None
    values: dict[str, Json] = {"corpus": corpus, "train": train, "trials": trials}
    values["anonymisers"] = list(anonymisers) or None
    values["attackers"] = list(attackers) or None
    study = _read_study(study_file, values, changes)
    folder = out or Path("audit")
    chosen = engine or study.engine
    EngineSettings(chosen, jobs).check()
    if dry_run:
        workers = engine_workers(chosen, jobs)
        _print_plan(study, folder, workers, chosen != LOCAL, json_to)
        return None
    from sottovoce.audit.run import run_audit

    with (
        engine_of(chosen, jobs, worker_memory, scratch) as opened,
        stage_bar() as progress,
    ):
        findings = run_audit(study, folder, engine=opened, audio=not no_audio, progress=progress)
    if json_to is not None:
        write_json(findings.to_dict(), json_to)
    if json_to != "-":
        from sottovoce.report.attacks import print_audit

        print_audit(findings)
        click.echo(f"The report: {folder / 'report.html'}")
    return 1 if findings.exceeded_limits else 0


def _read_study(path: str | None, values: dict[str, Json], changes: tuple[str, ...]) -> Study:
    from sottovoce.audit.study_file import parse_change, read_study

    if path is not None and Path(path).is_dir():
        raise UsageError(
            f"{path}: a folder, not a study; audit its recordings with --corpus {path}",
            code="wrong-type",
        )
    replaced: dict[str, Json] = {name: value for name, value in values.items() if value is not None}
    replaced |= dict(parse_change(change) for change in changes)
    return read_study(None if path is None else Path(path), replaced)


def _print_plan(
    study: Study, folder: Path, workers: int, cluster: bool, json_to: str | None
) -> None:
    from sottovoce.audit.cost import plan_lines

    lines = list(plan_lines(study, folder, workers=workers, cluster=cluster))
    if json_to is not None:
        write_json({"plan": lines}, json_to)
    if json_to != "-":
        click.echo("\n".join(lines))


@click.command(
    "verify",
    cls=JsonCommand,
    epilog="Example: sottovoce audit verify audit/",
    short_help="Whether the figures of an audit follow from its embeddings.",
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@json_option
def verify_command(folder: Path, json_to: str | None) -> int:
    """Repeat the attacks and measures of an audit from its embeddings, and compare.

    Every difference is printed with its place. The exit code is 1 if there is a difference, and 2
    if a file is missing or damaged or the audit was made by another version.
    """
    from sottovoce.audit.verify import verify

    with stage_bar() as progress:
        verification = verify(folder, progress=progress)
    if json_to is not None:
        write_json({"folder": str(folder), **verification.to_dict()}, json_to)
    for line in verification.differences:
        click.echo(line, err=True)
    if json_to != "-":
        if not verification.differences:
            click.echo(f"{folder}: from the embeddings follow {', '.join(verification.checked)}.")
        click.echo(f"Not checked: {'; '.join(verification.unchecked)}.")
    return 1 if verification.differences else 0


command.subcommands["verify"] = verify_command
