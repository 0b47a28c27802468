"""An option that would have no effect is refused, before anything is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.cli import run

ATTACK = ["attack", "--original", "absent-o", "--anonymised", "absent-a", "--out", "out"]
RECORDING = ["anonymise", "recording", "absent", "out"]
PROPOSAL = ["anonymise", "recording", "absent", "--purpose", "acoustic", "--propose", "p.json"]
RANDOM_TEXTS = ["--purpose", "random", "--purposes", "language-model,understanding"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where nothing is; the ledger is the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger.jsonl"))


@pytest.mark.parametrize(
    ("command", "option", "needed"),
    [
        (["embed", "absent", "out.npz", "--sha256", "abc"], "--sha256", "FILE.onnx or hf:FOLDER"),
        ([*ATTACK, "--cut", "words"], "--cut", "--slice"),
        ([*ATTACK, "--cut", "first"], "--cut", "--slice"),
        ([*ATTACK, "--similar", "mcadams"], "--similar", "--attacker near-informed"),
        ([*ATTACK, "--similar-enrol", "c"], "--similar-enrol", "--attacker near-informed"),
        (
            [*ATTACK, "--attacker", "ignorant", "--attacker-train", "c"],
            "--attacker-train",
            "--attacker semi-informed or informed",
        ),
        ([*ATTACK, "--attacker", "ignorant", "--draws", "3"], "--draws", "--attacker lazy-inform"),
        ([*ATTACK, "--from", "text", "--lang", "xx"], "--lang", "--strategy or --cut words"),
        ([*ATTACK, "--lang", "de"], "--lang", "--strategy or --cut words"),
        ([*ATTACK, "--slice", "1", "--lang", "de"], "--lang", "--strategy or --cut words"),
        ([*ATTACK, "--strategy", "redact"], "--strategy", "--from text"),
        ([*ATTACK, "--paraphraser", "cat"], "--paraphraser", "--from text"),
        ([*ATTACK, "--from", "text", "--linkage", "plda"], "--linkage", "--from voice"),
        ([*ATTACK, "--from", "text", "--similar-train", "c"], "--similar-train", "--from voice"),
        ([*RECORDING, "--purpose", "acoustic", "--strategy", "foo"], "--strategy", "text"),
        ([*RECORDING, "--purpose", "text", "--slice", "3"], "--slice", "acoustic"),
        ([*RECORDING, "--purpose", "text", "--voice", "none"], "--voice", "acoustic"),
        ([*RECORDING, *RANDOM_TEXTS, "--mask", "beep"], "--mask", "acoustic"),
        ([*RECORDING, "--purpose", "acoustic", "--recogniser", "x"], "--recogniser", "--verify"),
        ([*RECORDING, "--purpose", "text", "--in-house", "--ledger", "l"], "--ledger", "in-house"),
        ([*PROPOSAL, "--voice", "none"], "--voice", "without --propose"),
        ([*PROPOSAL, "--verify"], "--verify", "without --propose"),
        ([*PROPOSAL, "--jobs", "2"], "--jobs", "without --propose"),
        (["measure", "--example", "--where", "a=b"], "--where", "--example"),
    ],
)
def test_an_ignored_option_is_refused(
    command: list[str],
    option: str,
    needed: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(command) == 2
    printed = capsys.readouterr()
    assert option in printed.err and needed in printed.err and printed.err.count("\n") == 1
    assert "leave" in printed.err and not printed.out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("option", "value"), [("--where", "a=b"), ("--split", "trial")])
def test_one_recording_is_not_selected_from(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.wav").write_bytes(b"RIFF")
    assert run(["anonymise", "voice", "a.wav", "b.wav", option, value]) == 2
    error = capsys.readouterr().err
    assert option in error and "one recording" in error and not Path("b.wav").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--attacker", "near-informed", "--similar", "mcadams"],
        ["--attacker", "near-informed", "--similar-enrol", "absent"],
        ["--attacker", "lazy-informed", "--attacker-enrol", "absent"],
        ["--attacker", "ignorant", "--attacker", "near-informed", "--similar-train", "absent"],
        ["--attacker", "ignorant", "--attacker", "lazy-informed", "--draws", "3"],
        ["--slice", "1", "--cut", "words", "--lang", "de"],
        ["--from", "text", "--strategy", "redact", "--lang", "de"],
        ["--from", "text", "--from", "voice", "--linkage", "plda"],
        ["--encoder", "hf:absent"],
    ],
)
def test_an_option_that_is_used_is_not_refused(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ATTACK, *options]) == 2
    error = capsys.readouterr().err
    assert "absent" in error and "goes with" not in error


@pytest.mark.parametrize("purpose", ["text", "random"])
def test_an_unknown_strategy_is_refused_before_anything_is_read(
    purpose: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*RECORDING, "--purpose", purpose, "--strategy", "redac"]) == 2
    assert "did you mean 'redact'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_encoders_of_an_attack_are_those_of_its_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ("campplus", "frozen", "retrained", "undone")
    assert run([*ATTACK, "--encoder", "foo"]) == 2
    refusal = capsys.readouterr().err
    assert run(["attack", "--help"]) == 0
    explained = capsys.readouterr().out
    assert all(name in refusal and name in explained for name in names)
    assert "hf:FOLDER" in explained


def test_the_help_of_an_attack_names_every_linkage_function(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from sottovoce.attack.training import CHOSEN
    from sottovoce.speaker.linkage import LINKAGES

    assert run(["attack", "--help"]) == 0
    explained = capsys.readouterr().out.partition("--linkage")[2].partition("--over")[0]
    own = [name for name in LINKAGES if LINKAGES[name].fit.__module__.startswith("sottovoce")]
    assert "fused" in own and all(name in explained for name in (*own, *CHOSEN))


def test_the_help_says_when_the_network_is_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "No command reaches the network unless you name a remote file or cluster." in text


@pytest.mark.parametrize(
    ("command", "option", "form"),
    [
        (["measure", "absent", "--where", "a"], "--where a", "COLUMN=VALUE"),
        (["embed", "absent", "o.npz", "--where", "a"], "--where a", "COLUMN=VALUE"),
        (["anonymise", "voice", "builtin", "o", "--where", "a"], "--where a", "COLUMN=VALUE"),
        (["serve", "--pool", "foo"], "--pool foo", "NAME=FILE"),
        (["serve", "--pool", "foo="], "--pool foo=", "NAME=FILE"),
    ],
)
def test_a_pair_is_explained_with_the_words_of_its_option(
    command: list[str], option: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command) == 2
    error = capsys.readouterr().err
    assert option in error and form in error and "coefficient" not in error
