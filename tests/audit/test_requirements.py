"""What a study needs is checked before anything is done, and a refusal leaves nothing behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from error_codes import raises_code
from small_corpus import make_corpus, study

from sottovoce.audit import requirements
from sottovoce.audit.run import run_audit
from sottovoce.audit.study_file import read_study
from sottovoce.cli import run
from sottovoce.core.errors import MissingExtraError
from sottovoce.core.records import Json

TWO_FORMS = pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["run", "dry run"])


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "voices", speakers=4, takes=2)


def refuse(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], message: str
) -> None:
    """Check that an audit is refused in one line and leaves nothing in its folder."""
    assert run(["audit", *arguments, "--out", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not folder.exists()


@pytest.mark.parametrize("content", ["", "# only a comment\n", "---\n", "null\n"])
def test_an_empty_file_is_no_study(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(content)
    with raises_code("wrong-shape"):
        read_study(path)
    with raises_code("wrong-shape"):
        read_study(path, {"seed": 3})
    refuse(capsys, tmp_path / "out", [str(path), "--dry-run"], f"{path}: not a study")


@TWO_FORMS
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("text={lang: xx}", "text.lang: language 'xx' is not supported; choose from en, de"),
        ("text={lang: EN}", "text.lang: language 'EN' is not supported"),
        ("text={paraphraser: nosuch}", "text.paraphraser: nosuch: no such program"),
        ("text={paraphraser: './nosuch --fast'}", "text.paraphraser: ./nosuch: no such program"),
        ("text={paraphraser: ''}", "text.paraphraser: the command of the paraphraser is empty"),
        ("text={paraphraser: 'tr \"a b'}", 'text.paraphraser: tr "a b: not a command'),
        ("attributes=[gender, foo]", "attributes.1: foo: no such column in voices"),
        ("attributes=[session]", "attributes.0: session: no such column in voices"),
        ("slice={seconds: [1], text: nofile}", "slice.text: nofile: no such file"),
        ("similar={method: mcadams, settings: {coefficient: 9}}", "use 0.3 to 1.5"),
    ],
)
def test_values_that_cannot_work_are_refused(
    more: list[str],
    value: str,
    message: str,
    voices: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--corpus", str(voices), "--set", value, *more]
    refuse(capsys, tmp_path / "out", arguments, message)


@TWO_FORMS
def test_recognisers_cannot_be_trained_without_the_extra(
    more: list[str],
    voices: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse_training() -> None:
        raise MissingExtraError("training", "train")

    monkeypatch.setattr(requirements, "check_extra", refuse_training)
    arguments = ["--corpus", str(voices), "--set", "utility.retrained=true", *more]
    refuse(capsys, tmp_path / "out", arguments, "utility.retrained: training needs an optional")


def test_the_place_of_a_missing_text_is_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("slice: {text: nofile}")
    with raises_code("not-found") as caught:
        read_study(path)
    assert str(caught.value).startswith(f"{path}: slice.text: {tmp_path / 'nofile'}: no such file")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"slice": {"text": "nofile"}}, "not-found"),
        ({"text": {"paraphraser": "nosuch"}}, "not-found"),
        ({"attributes": ["foo"]}, "missing-column"),
    ],
)
def test_studies_made_in_python_are_checked_too(
    value: dict[str, Json], code: str, voices: Path, tmp_path: Path
) -> None:
    with raises_code(code):
        run_audit(study(voices, **value), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_there_is_accepted(voices: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a sentence\n")
    accepted: dict[str, Json] = {
        "slice": {"text": str(text)},
        "text": {"paraphraser": f"{sys.executable} -c pass", "lang": "auto"},
        "attributes": ["gender"],
        "corpus": str(voices),
    }
    requirements.check_machine(read_study(None, accepted))


def test_an_attribute_that_nobody_named_may_be_missing(
    voices: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = make_corpus(tmp_path / "plain", speakers=4, takes=2)
    manifest = corpus / "manifest.csv"
    manifest.write_text(manifest.read_text().replace(",f,", ",,").replace(",m,", ",,"))
    arguments = ["audit", "--corpus", str(corpus), "--dry-run"]
    assert run(arguments) == 0
    assert run([*arguments, "--set", "attributes=[gender]"]) == 2
    assert "attributes.0: gender: no such column" in capsys.readouterr().err


@TWO_FORMS
def test_training_on_attacked_speakers_leaves_nothing(
    more: list[str], voices: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = make_corpus(tmp_path / "others", speakers=2, takes=2)
    arguments = ["--corpus", str(voices), "--train", str(others), *more]
    refuse(capsys, tmp_path / "out", arguments, "these must be different people")


@TWO_FORMS
def test_an_unknown_engine_is_refused(
    more: list[str], voices: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--corpus", str(voices), "--engine", "foo", *more]
    refuse(capsys, tmp_path / "out", arguments, "engine foo: use local, dask")


def test_verifying_needs_less_than_running(voices: Path) -> None:
    """``audit verify`` calls ``check`` alone: texts and programs may be on another machine."""
    elsewhere = study(voices, text={"paraphraser": "nosuch"}, slice={"text": "nofile"})
    elsewhere.check()
    with raises_code("not-found"):
        requirements.check_machine(elsewhere)
