"""``sottovoce calibrate``: likelihood ratios in every format, learnt from other speakers only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sottovoce.cli import run
from sottovoce.measure import cllr, fit_logistic
from sottovoce.measure.readers import read_scores

QUIET = ["--no-interval", "--json"]


def table(seed: int, prefix: str, *, pairs: bool = True) -> pl.DataFrame:
    """Scores of four speakers that are likelihood ratios times 3 plus 5."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for i in range(4):
        for j in range(4):
            for k in range(6):
                llr = rng.normal(2 if i == j else -2, 2)
                ids = {"enrol": f"{prefix}{i}", "trial": f"{prefix}{j}-{k}"} if pairs else {}
                who = {"enrol_speaker": f"{prefix}{i}", "trial_speaker": f"{prefix}{j}"}
                label = "mated" if i == j else "nonmated"
                rows.append({"score": 3 * llr + 5, "label": label, **ids, **who})
    return pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=seed)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    train, scores = tmp_path / "train.csv", tmp_path / "eval.csv"
    table(0, "a").write_csv(train)
    table(1, "b").write_csv(scores)
    return train, scores


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".csv.gz", ".CSV"])
@pytest.mark.parametrize("method", ["logistic", "pav"])
def test_likelihood_ratios_are_written(
    method: str,
    ending: str,
    files: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "new" / f"llrs{ending}"
    names = [str(path) for path in files]
    assert run(["calibrate", *names, "--out", str(target), "--method", method, *QUIET]) == 0
    result = json.loads(capsys.readouterr().out)
    llrs = read_scores(target)
    assert cllr(llrs) == pytest.approx(result["after"]["measures"]["cllr"]["value"], rel=1e-9)
    assert cllr(llrs) < 0.7 < result["before"]["measures"]["cllr"]["value"]
    assert llrs.speakers is not None and llrs.speakers.count == 4
    assert result["notes"] == [] and result["method"] == method
    assert len(result["provenance"]["inputs"]) == 2
    if method == "logistic":
        fitted = fit_logistic(read_scores(files[0]))
        assert result["calibration"] == fitted.to_dict()
        before = read_scores(files[1])
        assert llrs.mated.tolist() == pytest.approx(fitted.llr(before.mated).tolist())


def test_lists_keep_their_ids(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "llrs.txt"
    assert run(["calibrate", *map(str, files), "--out", str(target), "--no-interval"]) == 0
    shown = capsys.readouterr().out
    assert "96 likelihood ratios" in shown and "devPAV" in shown
    key = tmp_path / "trials"
    evaluated = pl.read_csv(files[1])
    lines = evaluated.select("label", "enrol", "trial").rows()
    key.write_text("".join(f"{int(m == 'mated')} {e} {t}\n" for m, e, t in lines))
    assert cllr(read_scores(target, trials=key)) < 0.7
    again = tmp_path / "again.csv"
    command = ["calibrate", str(files[0]), str(target), "--trials", str(key), "--out", str(again)]
    assert run([*command, *QUIET]) == 0
    assert "was not checked" in json.loads(capsys.readouterr().out)["notes"][0]
    assert pl.read_csv(again)["trial"].to_list() == evaluated["trial"].to_list()


def test_arrays_become_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    for name in ("train", "eval"):
        np.savez(
            tmp_path / f"{name}.npz",
            mated=rng.normal(1, 1, 30),
            nonmated=rng.normal(0, 1, 60),
            mated_speaker=[f"{name}{i % 5}" for i in range(30)],
            nonmated_enrol_speaker=[f"{name}{i % 5}" for i in range(60)],
            nonmated_trial_speaker=[f"{name}{(i + 1) % 5}" for i in range(60)],
        )
    names = [str(tmp_path / "train.npz"), str(tmp_path / "eval.npz")]
    target = tmp_path / "llrs.parquet"
    assert run(["calibrate", *names, "--out", str(target), "--resamples", "20"]) == 0
    llrs = read_scores(target)
    assert len(llrs.mated) == 30 and llrs.n_nonmated == 60
    assert llrs.speakers is not None and llrs.speakers.count == 5
    capsys.readouterr()
    assert run(["calibrate", *names, "--out", str(tmp_path / "llrs.txt")]) == 2
    assert "ids of both sides" in capsys.readouterr().err


@pytest.mark.parametrize("shared", ["file", "pairs", "speakers"])
def test_training_on_the_calibrated_scores_is_refused(
    shared: str, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = {"file": files[1], "pairs": tmp_path / "p.csv", "speakers": tmp_path / "s.csv"}[shared]
    if shared == "pairs":
        columns = ["score", "label", "enrol", "trial"]
        pl.concat([table(0, "a"), table(2, "b").head(1)]).select(columns).write_csv(train)
    if shared == "speakers":
        table(2, "b", pairs=False).write_csv(train)
    target = tmp_path / "out.csv"
    assert run(["calibrate", str(train), str(files[1]), "--out", str(target)]) == 2
    assert "other speakers" in capsys.readouterr().err and not target.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "llrs.npy"], "unknown kind of file"),
        (["--out", "llrs.csv", "--prior", "1"], "prior 1"),
        (["--out", "llrs.csv", "--method", "svm"], "svm"),
    ],
)
def test_bad_options(
    arguments: list[str],
    words: str,
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["calibrate", *map(str, files), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and words in error
