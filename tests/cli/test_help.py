"""Help of all commands: an example, a sentence per option, one spelling of shared options."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from sottovoce.cli import app, run

RETIRED = {"--backend": "--linkage", "--key": "--secret", "--output": "--out"}
"""Spellings that no command may have, with the one that is used."""
UNEXPLAINED = {("audit", "--jobs"), ("attack", "--jobs")}
SAME_HELP = ("--json", "--seed", "--interval", "--no-interval", "--resamples", "--figures", "--lda")
"""Options that mean the same in every command that has them."""


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands with their full names; groups that also run on their own are included."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from walk(subcommand, (*path, name))
        if not command.invoke_without_command:
            return
    for name, subcommand in getattr(command, "subcommands", {}).items():
        yield from walk(subcommand, (*path, name))
    yield " ".join(path), command


COMMANDS = dict(walk(app))


def options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def test_all_commands_of_the_design_exist() -> None:
    wanted = {"audit", "measure", "compare", "similarity", "reidentify", "attack", "embed", "serve"}
    wanted |= {f"anonymise {kind}" for kind in ("voice", "text", "recording")}
    wanted |= {"align", "slice", "corpus check", "corpus info"}
    wanted |= {f"train {kind}" for kind in ("encoder", "synthesiser", "entities", "private")}
    assert wanted <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*name.split(), "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"Example: sottovoce {name}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained_and_has_its_one_spelling(name: str) -> None:
    for option in options(COMMANDS[name]):
        assert option.help or (name, option.opts[0]) in UNEXPLAINED, option.opts
        assert not RETIRED.keys() & set(option.opts)


@pytest.mark.parametrize("spelling", SAME_HELP)
def test_shared_options_are_explained_with_the_same_words(spelling: str) -> None:
    help_texts = {
        option.help
        for command in COMMANDS.values()
        for option in options(command)
        if spelling in option.opts
    }
    assert len(help_texts) == 1


def test_every_command_with_a_result_prints_json() -> None:
    without = {
        name
        for name, command in COMMANDS.items()
        if not any("--json" in option.opts for option in options(command))
    }
    assert without == {"serve"}
