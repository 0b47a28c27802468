"""The command on tables of other frameworks: contract, estimates, one clear line for bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sottovoce.cli import run


def write(path: Path, canaries: dict[str, list[float]], secret: int = 0) -> Path:
    rows = [
        {"canary": name, "candidate": str(i), "log_perplexity": value, "inserted": i == secret}
        for name, values in canaries.items()
        for i, value in enumerate(values)
    ]
    table = pl.DataFrame(rows)
    if path.suffix == ".parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet"])
def test_json_keeps_the_contract(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = [1.0, *np.linspace(2, 9, 1023).tolist()]
    path = write(tmp_path / name, {"pin": values, "city": values[::-1]})
    assert run(["memorisation", "exposure", str(path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    pin, city = result["canaries"]["pin"], result["canaries"]["city"]
    assert pin["exposure_bits"] == pin["maximum_bits"] == 10 and pin["rank"] == 1
    assert pin["space"] == 1024 and pin["method"] == "exact"
    assert pin["p_value"] == pytest.approx(1 / 1024)
    assert city["exposure_bits"] == 0 and city["rank"] == 1024
    assert result["mean"]["value"] == 5 and 0 <= result["mean"]["low"] < 5


def test_a_sample_needs_the_size_of_the_space(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", {"pin": [0.5, *np.linspace(2, 9, 99).tolist()]})
    arguments = ["memorisation", "exposure", str(path), "--method", "sampled"]
    assert run(arguments) == 2
    assert run([*arguments, "--space", "10000", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["canaries"]["pin"]["exposure_bits"] == pytest.approx(math.log2(100))
    assert result["mean"] is None


def test_the_table_says_what_chance_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", {"one": [1.0, 2.0, 3.0], "two": [3.0, 1.0, 2.0]})
    assert run(["memorisation", "exposure", str(path)]) == 0
    text = capsys.readouterr().out
    assert "1.44" in text and "one" in text and "Mean" in text


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("canary,candidate,log_perplexity\npin,1,2\n", "inserted"),
        ("canary,candidate,log_perplexity,inserted\npin,1,2,true\npin,2,x,false\n", "line 3"),
        ("canary,candidate,log_perplexity,inserted\npin,1,2,true\npin,2,nan,false\n", "finite"),
        ("canary,candidate,log_perplexity,inserted\npin,1,2,false\npin,2,3,false\n", "secret"),
        ("canary,candidate,log_perplexity,inserted\npin,1,2,true\npin,1,3,false\n", "twice"),
        ("canary,candidate,log_perplexity,inserted\npin,1,2,maybe\n", "true"),
        ("canary,candidate,log_perplexity,inserted\n", "no rows"),
        ("canary,candidate,log_perplexity,inserted\npin,1,2,true\n", "at least 2"),
    ],
)
def test_bad_tables_get_one_line(
    content: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(content)
    assert run(["memorisation", "exposure", str(tmp_path / "a.csv")]) == 2
    error = capsys.readouterr().err
    assert word in error and error.count("\n") == 1
