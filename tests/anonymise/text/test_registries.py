"""Strategies and taggers of other packages are chosen by name like our own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from click.testing import CliRunner
from error_codes import raises_code

from sottovoce.anonymise.text import (
    STRATEGIES,
    TAGGERS,
    Entity,
    Mention,
    ReplacementContext,
    TaggerInfo,
    TaggerType,
    TextAnonymiser,
    TextStrategy,
)
from sottovoce.anonymise.text.taggers import make_tagger
from sottovoce.cli.anonymise_text import command
from sottovoce.core.errors import InputError, UsageError

TEXT = "please open the window for ann lee"
"""Our taggers find the person only."""
NEW_TEXT = "please open the w. for a.l."


class WordTagger:
    """Finds one word."""

    def __init__(self, word: str, *, replaces_shipped: bool = False) -> None:
        self.word = word
        self.info = TaggerInfo("word", frozenset({"ORG"}), replaces_shipped=replaces_shipped)

    def tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        return [
            [
                Entity(i, i + 1, "ORG", 1.0, self.info.rule)
                for i, w in enumerate(s)
                if w == self.word
            ]
            for s in sentences
        ]


def initials(mention: Mention, context: ReplacementContext) -> str:
    return "".join(f"{word[0]}." for word in mention.original.split())


INITIALS = TextStrategy("the initials", initials, table_size=lambda kind, context: 26)
FIXED = TaggerType("finds window", lambda argument, lang: WordTagger("window"))
ANY_WORD = TaggerType("finds a word", lambda argument, lang: WordTagger(argument), "WORD")
ALONE = TaggerType(
    "finds window alone", lambda argument, lang: WordTagger("window", replaces_shipped=True)
)


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points that name objects of this module, as an installed package would have."""
    groups = {
        "sottovoce.text_strategies": {"initials": "INITIALS"},
        "sottovoce.taggers": {"fixed": "FIXED", "any-word": "ANY_WORD", "alone": "ALONE"},
    }

    def entry_points(*, group: str) -> list[EntryPoint]:
        listed = groups.get(group, {})
        return [EntryPoint(name, f"{__name__}:{item}", group) for name, item in listed.items()]

    monkeypatch.setattr("sottovoce.core.registry.entry_points", entry_points)


def test_a_strategy_is_used_and_its_table_enters_the_guarantee() -> None:
    anonymiser = TextAnonymiser("en", strategy="initials")
    assert anonymiser.transform(TEXT).text == "please open the window for a.l."
    guarantee = anonymiser.guarantee("commands")
    assert guarantee is not None and guarantee.tables["PER"] == 26


def test_a_strategy_for_one_type() -> None:
    anonymiser = TextAnonymiser("en", strategy="typed", policy={"PER": "initials"})
    assert anonymiser.transform("call ann lee at nine pm").text == "call a.l. at [TIME]"


@pytest.mark.parametrize("choice", ["fixed", "any-word:window"])
def test_a_tagger_adds_to_ours_and_the_guarantee_holds(choice: str) -> None:
    anonymiser = TextAnonymiser("en", strategy="typed", tagger=choice)
    assert anonymiser.transform(TEXT).text == "please open the [ORG] for [PER]"
    assert anonymiser.guarantee("commands") is not None


def test_a_tagger_may_replace_ours_and_then_nothing_is_guaranteed() -> None:
    anonymiser = TextAnonymiser("en", strategy="typed", tagger="alone")
    assert anonymiser.transform(TEXT).text == "please open the [ORG] for ann lee"
    assert anonymiser.guarantee("commands") is None


def test_arguments_of_taggers() -> None:
    for choice in ("fixed:x", "any-word", "any-word:", "spacy", "gliner:", "crf"):
        with raises_code("bad-tagger", UsageError):
            make_tagger(choice, "en")
    with raises_code("unreadable", InputError):
        make_tagger("crf:none.npz", "en")
    with raises_code("unreadable", InputError):
        make_tagger("none.npz", "en")


def test_the_command_line_chooses_and_lists_them(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    paths = [str(tmp_path / "in.txt"), str(tmp_path / "out.txt")]
    options = ["--strategy", "initials", "--tagger", "fixed"]
    CliRunner().invoke(command, [*paths, *options], catch_exceptions=False)
    assert (tmp_path / "out.txt").read_text() == NEW_TEXT
    listed = json.loads(CliRunner().invoke(command, ["--list", "--json"]).output)
    assert listed["strategies"]["initials"] == "the initials"
    assert list(listed["strategies"]) == list(STRATEGIES)
    assert listed["other_taggers"]["any-word:WORD"] == "finds a word"
    assert {choice.partition(":")[0] for choice in listed["other_taggers"]} == set(TAGGERS)


def test_the_service_chooses_taggers_that_need_no_file() -> None:
    pytest.importorskip("fastapi")
    from sottovoce.serve.jobs import run_job
    from sottovoce.serve.messages import TextJob

    job = TextJob(strategy="initials", tagger="fixed", plain=True)
    assert run_job(job, [TEXT.encode()])[1] == NEW_TEXT.encode()
    for name, code in (("gliner", "not-allowed"), ("nosuch", "unknown-name")):
        with raises_code(code, UsageError):
            run_job(TextJob(tagger=name), [TEXT.encode()])
    with raises_code("unknown-name", UsageError):
        run_job(TextJob(tagger="gliner:/etc"), [TEXT.encode()])
