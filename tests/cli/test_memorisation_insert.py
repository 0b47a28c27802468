"""Canaries in training text: the text stays, places and secrets follow from the key."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import polars as pl
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise import Secret
from sottovoce.cli import run
from sottovoce.core.errors import InputError
from sottovoce.memorisation.canaries import (
    CanarySpec,
    Space,
    candidates,
    draw_canaries,
    insertion_places,
    with_canaries,
)

SPEC = """
- {id: pin, template: "my pin is {}", space: {digits: 4}, repetitions: [0, 1, 16], canaries: 2}
- {id: city, template: "born in {} she said", space: {values: [rome, bonn, riga, oslo]},
   repetitions: [0, 4], canaries: 1}
"""
PIN = CanarySpec(id="pin", template="the pin is {}", space=Space(digits=4, spaced=True))


def insert(folder: Path, *options: str, text: str = "a b c\nd e\nf", spec: str = SPEC) -> int:
    (folder / "text.txt").write_bytes(text.encode())
    (folder / "spec.yaml").write_text(spec)
    files = [str(folder / "text.txt"), str(folder / "out.txt")]
    return run(
        ["memorisation", "insert", *files, "--canaries", str(folder / "spec.yaml"), *options]
    )


def test_a_text_gets_its_canaries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert insert(tmp_path, "--json", "--reproducible", "3") == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts == {"lines": 3, "canaries": 8, "inserted": 38, "candidates": 6 * 10_000 + 8}
    lines = (tmp_path / "out.txt").read_text().split("\n")
    table = pl.read_csv(tmp_path / "out.txt.candidates.csv", infer_schema=False)
    secrets = table.filter(pl.col("inserted") == "true")
    for name, sentence in secrets.select("canary", "text").iter_rows():
        assert lines.count(sentence) == int(name.split("-")[1].rstrip("x"))
    inserted = set(secrets["text"])
    assert [line for line in lines if line and line not in inserted] == ["a b c", "d e", "f"]
    mode = stat.S_IMODE((tmp_path / "out.txt.candidates.csv").stat().st_mode)
    assert mode & 0o077 == 0


def test_the_key_is_kept_apart_and_repeats(tmp_path: Path) -> None:
    assert insert(tmp_path) == 0 and (tmp_path / "out.txt.secret").is_file()
    first = (tmp_path / "out.txt").read_bytes()
    (tmp_path / "out.txt").unlink()
    (tmp_path / "out.txt.candidates.csv").unlink()
    assert insert(tmp_path) == 0 and (tmp_path / "out.txt").read_bytes() == first
    assert insert(tmp_path) == 2  # nothing is written over


def test_scored_candidates_give_exposures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert insert(tmp_path, "--reproducible", "1", "--sample", "50") == 0
    path = tmp_path / "out.txt.candidates.csv"
    table = pl.read_csv(path, infer_schema=False).filter(pl.col("canary").str.starts_with("pin"))
    memorised = (pl.col("inserted") == "true") & pl.col("canary").str.contains("-16x-")
    scored = table.with_columns(
        log_perplexity=pl.when(memorised).then(0.0).otherwise(pl.col("candidate").hash() % 97 + 1)
    )
    scored.write_csv(path)
    capsys.readouterr()
    arguments = ["--method", "sampled", "--space", "10000", "--json"]
    assert run(["memorisation", "exposure", str(path), *arguments]) == 0
    bits = json.loads(capsys.readouterr().out)["canaries"]
    assert all(bits[f"pin-16x-{i}"]["exposure_bits"] == pytest.approx(5.67, 0.01) for i in (1, 2))


@given(st.lists(st.text("ab \r", max_size=4), max_size=12), st.booleans(), st.integers(0, 9))
def test_nothing_but_canaries_is_added(lines: list[str], ended: bool, seed: int) -> None:
    text = [f"{line}\n" for line in lines]
    if text and not ended:
        text[-1] = text[-1].removesuffix("\n") or "x"
    secret = Secret.reproducible(seed)
    canaries = draw_canaries([PIN], secret)
    places = insertion_places(canaries, len(text), secret)
    output = "".join(with_canaries(iter(text), places, len(text)))
    for canary in canaries:
        output = output.replace(f"{canary.sentence}\n", "")
    assert output.removesuffix("\n") == "".join(text).removesuffix("\n")


def test_secrets_are_spread_over_their_space() -> None:
    many = PIN.model_copy(update={"repetitions": (0,), "canaries": 1000})
    canaries = draw_canaries([many], Secret.reproducible(0))
    assert len({canary.number for canary in canaries}) == 1000
    assert 4500 < sum(canary.number for canary in canaries) / 1000 < 5500
    assert canaries[0].value == " ".join(f"{canaries[0].number:04}")
    listed = list(candidates(canaries[0], many.space, Secret.reproducible(0), most=None))
    assert len(listed) == 10_000 and [value for value, hit in listed if hit] == [canaries[0].value]
    huge = Space(digits=9)
    with raises_code("too-many", InputError):
        list(candidates(canaries[0], huge, Secret.reproducible(0), most=None))


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("[]", "no list"),
        ("- {id: a, template: no blank, space: {digits: 2}}", "exactly one blank"),
        ("- {id: a, template: '{} {}', space: {digits: 2}}", "exactly one blank"),
        ("- {id: a, template: '{}', space: {}}", "one of digits, values"),
        ("- {id: a, template: '{}', space: {values: [x]}}", "two different"),
        ("- {id: a, template: '{}', space: {digits: 1}, canaries: 9}", "from a space of 10"),
        ("- {id: a, template: '{}', spase: {digits: 2}}", "space: Field required"),
        ("- {id: a, template: '{}', space: {digits: 2}, repetitions: [-1]}", "repetitions"),
        ("a: [", "not YAML"),
    ],
)
def test_bad_specifications_get_one_line(
    spec: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert insert(tmp_path, spec=spec) == 2
    error = capsys.readouterr().err
    assert word in error and error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spec.yaml", "text.txt"]
