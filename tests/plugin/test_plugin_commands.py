"""Every extension of the example plug-in through the command line."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner
from plugin_package import SOURCE
from small_corpus import make_corpus

from sottovoce.cli import app

pytestmark = pytest.mark.usefixtures("plugin")

ROOT = Path(__file__).parents[2]


def run(*words: object) -> str:
    """Run a command that must succeed, and return what it printed."""
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of 8 speakers with 4 recordings each."""
    return make_corpus(tmp_path_factory.mktemp("plugin-speech") / "voices", takes=4)


@pytest.fixture(scope="module")
def anonymised(speech: Path, plugin: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same corpus in the voices of the plug-in's anonymiser."""
    out = tmp_path_factory.mktemp("plugin-anonymised") / "out"
    settings = ("--method", "spectrum-warp", "--set", "strength=0.2", "--reproducible", "3")
    run("anonymise", "voice", speech, out, *settings)
    return out


def test_the_voice_anonymiser_keeps_length_and_changes_the_sound(
    speech: Path, anonymised: Path
) -> None:
    record = json.loads((anonymised / "anonymisation.json").read_text(encoding="utf-8"))
    assert record["method"] == "spectrum-warp"
    assert record["settings"] == {"strength": 0.2}
    name = "s00-0.wav"
    before = soundfile.read(speech / "audio" / name)[0]
    [path] = anonymised.rglob(name)
    after = soundfile.read(path)[0]
    assert len(after) == len(before)
    assert np.corrcoef(before, after)[0, 1] < 0.95


def test_the_voice_anonymiser_is_listed() -> None:
    listed = run("anonymise", "voice", "--list")
    assert "spectrum-warp" in listed


def test_the_text_tagger_and_the_strategy_are_used(tmp_path: Path) -> None:
    text = tmp_path / "call.txt"
    text.write_text("please open the nurse window\n", encoding="utf-8")
    with_plugin, without = tmp_path / "with.txt", tmp_path / "without.txt"
    run("anonymise", "text", text, with_plugin, "--tagger", "titles", "--strategy", "blanks")
    run("anonymise", "text", text, without, "--strategy", "blanks")
    assert with_plugin.read_text(encoding="utf-8") == "please open the nurse ____\n"
    assert without.read_text(encoding="utf-8") == "please open the nurse window\n"
    listed = run("anonymise", "text", "--list")
    assert "titles" in listed
    assert "blanks" in listed


def test_the_encoder_embeds_a_corpus(speech: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors.npz"
    run("embed", speech, out, "--encoder", "long-term-spectrum")
    with np.load(out) as arrays:
        assert arrays["vectors"].shape == (32, 64)
        assert set(arrays["speakers"]) == {f"s{number:02}" for number in range(8)}


def test_the_reader_and_the_measure_are_used(tmp_path: Path) -> None:
    scores = tmp_path / "system.scr"
    scores.write_text("target 3\ntarget 5\nimpostor 1\nimpostor 4\n", encoding="utf-8")
    found = json.loads(run("measure", scores, "--only", "roc_area,eer", "--json", "-"))
    assert found["measures"]["roc_area"]["value"] == pytest.approx(0.75)
    assert found["measures"]["roc_area"]["chance"] == 0.5
    assert "ROC area" in run("measure", scores, "--only", "roc_area")


def test_the_corpus_format_is_recognised(speech: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tabbed"
    folder.mkdir()
    for name in ("s00-0.wav", "s01-0.wav"):
        (folder / name).write_bytes((speech / "audio" / name).read_bytes())
    lines = ["s00-0.wav\tann\tgood morning", "s01-0.wav\tbob\tgood night"]
    (folder / "recordings.tab").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = json.loads(run("corpus", "info", folder, "--json", "-"))
    assert (found["utterances"], found["speakers"]) == (2, 2)


@pytest.mark.parametrize("command", ["reidentify", "similarity"])
def test_the_embedding_reader_and_the_linkage_function_are_used(
    tmp_path: Path, command: str
) -> None:
    first = write_vectors(tmp_path / "first.vec", "s", seed=1)
    second = write_vectors(tmp_path / "second.vec", "s", seed=2)
    train = write_vectors(tmp_path / "train.vec", "t", seed=3)
    options = {
        "reidentify": ("--enrol", first, "--trial", second, "--lengths", "1"),
        "similarity": ("--original", first, "--anonymised", second),
    }[command]
    linkage = ("--train", train, "--linkage", "standardised-cosine")
    found = json.loads(run(command, *options, *linkage, "--json", "-"))
    assert found["linkage"] == "standardised-cosine"


def write_vectors(path: Path, prefix: str, *, seed: int) -> Path:
    """Vectors of six speakers with four recordings each, in the plug-in's format."""
    noise = np.random.default_rng(seed)
    lines = []
    for speaker in range(6):
        centre = np.random.default_rng([speaker, ord(prefix)]).normal(size=8)
        for take in range(4):
            values = " ".join(f"{value:.4f}" for value in centre + 0.3 * noise.normal(size=8))
            lines.append(f"{prefix}{speaker}-{take} {prefix}{speaker} {values}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_attacker_attacks(speech: Path, anonymised: Path, tmp_path: Path) -> None:
    out = tmp_path / "attack"
    run(
        "attack", "--original", speech, "--anonymised", anonymised, "--out", out,
        "--attacker", "eavesdropper", "--encoder", "long-term-spectrum",
        "--linkage", "standardised-cosine",
    )  # fmt: skip
    record = json.loads((out / "eavesdropper" / "attack.json").read_text(encoding="utf-8"))
    assert record["attacker"]["enrolment"] == "released"
    assert record["attacker"]["rank"] == 1
    assert "standardised-cosine" in json.dumps(record)


def test_the_plugin_imports_documented_modules_only() -> None:
    pages = (ROOT / "docs" / "reference").glob("*.md")
    documented = {
        name.rpartition(".")[0] if name.rpartition(".")[2][0].isupper() else name
        for page in pages
        for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sottovoce."):
                assert node.module in documented, f"{path.name}: {node.module}"


def test_the_plugin_has_an_extension_of_every_group() -> None:
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {
        group
        for path in (ROOT / "src" / "sottovoce").rglob("*.py")
        for group in re.findall(r'group="(sottovoce\.\w+)"', path.read_text(encoding="utf-8"))
    }
    assert set(project["entry-points"]) == groups
