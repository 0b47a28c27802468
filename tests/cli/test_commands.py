"""The command line as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from paired_systems import paired_systems

from sottovoce.cli import COMMANDS, run


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "scores.npz"
    np.savez(path, mated=rng.normal(2, 1, 200), nonmated=rng.normal(0, 1, 2000))
    return path


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize("words", [["measure", ""], ["corpus", "check", ""], ["slice", "", "x"]])
def test_an_empty_argument_is_not_this_folder(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert "an argument is empty" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_group_shows_an_example_too(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert f"Example: sottovoce {command}" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from sottovoce.cli import run; run(['--help']);"
        "heavy = {'numpy', 'scipy', 'polars', 'rich', 'numba'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_measure_imports_nothing_that_it_does_not_need(scores: Path) -> None:
    """SciPy's packages take longer to import than NumPy; resamples by speaker need one of them."""
    code = (
        "import sys; from sottovoce.cli import run;"
        f"code = run(['measure', {str(scores)!r}, '--resamples', '30']);"
        "packages = {name for name in sys.modules if name.startswith('scipy.')};"
        "heavy = {'scipy.special', 'scipy.sparse', 'scipy.linalg', 'scipy.optimize', 'polars',"
        " 'pydantic', 'numba', 'sottovoce.measure.reidentification'}"
        " & {*packages, *sys.modules};"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_measure_without_intervals_imports_no_masked_arrays(scores: Path) -> None:
    """``numpy.unique`` and ``numpy.quantile`` load them, a sixth of what NumPy itself takes."""
    code = (
        "import sys; from sottovoce.cli import run;"
        f"code = run(['measure', {str(scores)!r}, '--no-interval']);"
        "sys.exit('imported numpy.ma' if 'numpy.ma' in sys.modules else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_measure_prints_a_row_a_measure(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measure", str(scores), "--resamples", "30"]) == 0
    shown = capsys.readouterr().out
    for word in ("ROCCH-EER", "Cllr_min", "D_ECE", "worst case", "D_sys", "TPR at FPR 0.1 %"):
        assert word in shown
    for word in ("95 % interval", "higher = more disclosed", "200 + 2,000"):
        assert word in shown
    assert "needs 10,000" in shown  # a rate that 2,000 scores cannot show, and the limit


def test_measure_and_compare_agree_on_a_very_wide_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    """The range of these scores overflows in float32, in which they are counted."""
    rng = np.random.default_rng(0)
    nonmated = rng.uniform(-3.3e38, 2e38, 263_000).astype(np.float32)
    sides = {"mated": np.array([-3e38, 0, 1e38, 3e38], np.float32), "nonmated": nonmated}
    single, double = tmp_path / "single.npz", tmp_path / "double.npz"
    np.savez(single, **sides)  # type: ignore[arg-type]
    np.savez(double, **{name: side.astype(float) for name, side in sides.items()})  # type: ignore[arg-type]
    options = ["--json", "--resamples", "40"]
    assert run(["measure", str(single), *options]) == 0
    measured = json.loads(capsys.readouterr().out)["measures"]
    assert run(["compare", str(single), str(double), *options]) == 0
    compared = [one["measures"] for one in json.loads(capsys.readouterr().out)["sets"]]
    assert compared == [measured, measured]
    assert measured["worst_case_log10_lr"]["value"] > 0


def test_measure_json_keeps_the_contract(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measure", str(scores), "--json", "--resamples", "30"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["n_mated"] == 200 and printed["n_nonmated"] == 2000
    names = {
        "eer",
        "rocch_eer",
        "cllr",
        "min_cllr",
        "d_ece",
        "worst_case_log10_lr",
        "d_sys",
        "d_sys_corrected",
    }
    assert names <= set(printed["measures"])
    for name in names:
        one = printed["measures"][name]
        assert one["low"] <= one["value"] <= one["high"]
    assert printed["tag"] in "0ABCDEF"
    (source,) = printed["provenance"]["inputs"]
    assert source["name"] == "scores.npz" and len(source["sha256"]) == 64


def test_every_key_of_measure_is_documented(
    scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["measure", str(scores), "--json", "--resamples", "30"]) == 0
    printed = json.loads(capsys.readouterr().out)
    text = (Path(__file__).parents[2] / "docs" / "file-formats.md").read_text("utf-8")
    section = text.partition("## JSON of `sottovoce measure`")[2].partition("```")[0]
    for name in {*printed, *printed["measures"]["eer"], *printed["interval"]}:
        assert f"`{name}`" in section, name


def test_json_before_the_scores_does_not_overwrite_them(
    scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = scores.read_bytes()
    assert run(["measure", "--json", str(scores), "--no-interval"]) == 0
    assert "eer" in json.loads(capsys.readouterr().out)["measures"]
    assert scores.read_bytes() == before


def test_json_to_a_file_also_prints_the_table(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new" / "out.json"
    assert run(["measure", str(scores), "--no-interval", "--json", str(target)]) == 0
    assert "low" not in json.loads(target.read_text())["measures"]["eer"]
    assert "EER" in capsys.readouterr().out
    assert [p.name for p in target.parent.iterdir()] == ["out.json"]  # no temporary file is left


def test_same_seed_same_numbers(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for seed in ("1", "1", "2"):
        run(["measure", str(scores), "--json", "--resamples", "30", "--seed", seed])
        printed.append(json.loads(capsys.readouterr().out)["measures"])
    assert printed[0] == printed[1] != printed[2]


def test_figures_are_svg_with_title_and_description(scores: Path, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    assert run(["measure", str(scores), "--no-interval", "--figures", str(folder)]) == 0
    names = {"ece_log_odds.svg", "ece_prior.svg", "det.svg", "histogram.svg", "tippett.svg"}
    assert {path.name for path in folder.iterdir()} == names
    for path in folder.iterdir():
        root = ElementTree.parse(path).getroot()
        svg = "{http://www.w3.org/2000/svg}"
        assert root.tag == f"{svg}svg"
        assert root.findtext(f"{svg}title") and root.findtext(f"{svg}desc")


def test_compare_shows_all_sets_in_one_table_and_one_figure(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "weaker.npz"
    rng = np.random.default_rng(1)
    np.savez(other, mated=rng.normal(0.5, 1, 100), nonmated=rng.normal(0, 1, 500))
    folder = tmp_path / "figures"
    done = run(["compare", str(scores), str(other), "--no-interval", "--figures", str(folder)])
    assert done == 0
    shown = capsys.readouterr().out
    assert "scores" in shown and "weaker" in shown and "worst-case category" in shown
    profile = (folder / "ece_log_odds.svg").read_text()
    assert "scores (" in profile and "weaker (" in profile
    assert run(["compare", str(scores), str(other), "--no-interval", "--json", "-"]) == 0
    sets = json.loads(capsys.readouterr().out)["sets"]
    assert [one["name"] for one in sets] == ["scores", "weaker"]


def test_compare_shows_how_much_paired_sets_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for scores in paired_systems([0.6, 1.4, 1.0], speakers=8):
        who = scores.speakers
        assert who is not None
        paths.append(tmp_path / f"{scores.name}.npz")
        np.savez(
            paths[-1],
            mated=scores.mated,
            nonmated=scores.nonmated,
            mated_speaker=who.mated,
            nonmated_enrol_speaker=who.nonmated_enrol,
            nonmated_trial_speaker=who.nonmated_trial,
        )
    options = ["--only", "eer", "--resamples", "100"]
    assert run(["compare", *map(str, paths), *options]) == 0
    shown = capsys.readouterr().out
    assert "system 0 − system 1" in shown and "discloses more" in shown
    assert "8 speakers of all sets" in shown and "hold for all pairs together" in shown
    assert run(["compare", *map(str, paths[:2]), *options, "--json", "-"]) == 0
    comparison = json.loads(capsys.readouterr().out)["comparison"]
    assert comparison["paired_by"] == "speaker"
    (difference,) = comparison["differences"]["eer"]
    assert difference["discloses_more"] == "system 1"
    assert 0 < difference["low"] < difference["value"] < difference["high"]


def test_results_by_condition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metadata = tmp_path / "speakers.csv"
    metadata.write_text("speaker,gender\n" + "".join(f"{k},{'fm'[k % 2]}\n" for k in range(16)))
    paths = []
    for scores in paired_systems([0.6, 1.8], speakers=16, shared=0.9):
        who = scores.speakers
        assert who is not None
        paths.append(str(tmp_path / f"{scores.name}.csv"))
        lines = [
            f"{score},{int(a == b)},{a},{b}"
            for score, a, b in zip(
                [*scores.mated, *scores.nonmated],
                [*who.mated, *who.nonmated_enrol],
                [*who.mated, *who.nonmated_trial],
                strict=True,
            )
        ]
        header = "score,label,enrol_speaker,trial_speaker\n"
        Path(paths[-1]).write_text(header + "\n".join(lines) + "\n")
    options = ["--by", "gender", "--metadata", str(metadata), "--only", "eer", "--resamples", "60"]
    assert run(["measure", paths[0], *options]) == 0
    shown = capsys.readouterr().out
    assert "pooled" in shown and "I²" in shown and "128 trials of two conditions" in shown
    assert run(["measure", paths[0], *options, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["weights"] == {"f": 8, "m": 8}
    values = [result["conditions"][name]["measures"]["eer"]["value"] for name in "fm"]
    assert result["pooled"]["eer"]["value"] == pytest.approx(sum(values) / 2)
    assert run(["compare", *paths, *options]) == 0
    assert "Differences by gender" in capsys.readouterr().out
    assert run(["compare", *paths, *options, "--json"]) == 0
    (pooled,) = json.loads(capsys.readouterr().out)["pooled"]["eer"]
    assert pooled["difference"]["discloses_more"] == "system 1"


@pytest.mark.parametrize(
    "options",
    [
        ["--metadata", "speakers.csv"],
        ["--by", "gender", "--figures", "figures"],
        ["--by", "gender", "--example"],
        ["--by", "gender"],
    ],
)
def test_conditions_that_cannot_be_are_refused(
    scores: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    files = [] if "--example" in options else [str(scores)]
    assert run(["measure", *files, *options]) == 2
    assert capsys.readouterr().err.count("\n") <= 3


def test_compare_takes_lists_with_their_trials(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [(f"s{i}", f"u{j}", i == j, 2.0 * (i == j) + 0.1 * i) for i in range(4) for j in (0, 1)]
    key, other_key = tmp_path / "trials", tmp_path / "voxceleb_trials"
    key.write_text("".join(f"{e} {t} {'target' if m else 'nontarget'}\n" for e, t, m, _ in lines))
    other_key.write_text("".join(f"{int(m)} {e} {t}\n" for e, t, m, _ in lines))
    kaldi, voxceleb = tmp_path / "kaldi.txt", tmp_path / "voxceleb.txt"
    kaldi.write_text("".join(f"{e} {t} {s}\n" for e, t, _, s in lines))
    voxceleb.write_text("".join(f"{s} {e} {t}\n" for e, t, _, s in lines))
    command = ["compare", str(kaldi), str(voxceleb), "--no-interval"]
    shared = ["--trials", str(key)]
    for trials in (shared, [*shared, "--trials", str(other_key)]):
        assert run([*command, *trials, "--json", "-"]) == 0
        compared = json.loads(capsys.readouterr().out)
        first, second = (entry["measures"] for entry in compared["sets"])
        assert first == second
        assert len(compared["provenance"]["inputs"]) == 2 + len(trials) // 2
    assert run([*command, *shared, *shared, *shared]) == 2
    assert "--trials 3 times for 2 score files" in capsys.readouterr().err


def test_example_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measure", "--example", "--resamples", "30"]) == 0
    shown = capsys.readouterr().out
    assert "simulated" in shown and "resamples of 40 speakers" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["measure"], "name one score file"),
        (["measure", "a.npz", "--example"], "name one score file"),
        (["measur"], "did you mean 'measure'?"),
        (["measure", "nowhere.npz"], "nowhere.npz: no such file"),
        (["measure", "--example", "--only", "err"], "did you mean 'eer'?"),
        (["measure", "--example", "--only", ","], "','"),
        (["measure", "--example", "--interval", "95"], "between 0 and 1"),
        (["measure", "--example", "--resamples", "3"], "at least 20"),
        (["measure", "--exampel"], "--exampel"),
        (["compare", "a.npz"], "name 2 to 6"),
        (["audit", "."], "--corpus ."),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and words in said.err


@pytest.mark.parametrize("group", [[], ["anonymise"], ["corpus"], ["train"]], ids=" ".join)
def test_a_group_alone_shows_its_help(group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*group, "--help"]) == 0
    shown = capsys.readouterr().out
    assert run(group) == 2
    assert capsys.readouterr().err == shown


def test_an_audit_is_not_compared_with_scores(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "measures.json").write_text("{}")
    assert run(["compare", str(tmp_path / "audit"), str(scores)]) == 2
    assert "name audits only" in capsys.readouterr().err


def make_bad_files(folder: Path) -> dict[str, list[str]]:
    """Bad files of every kind, and the arguments that name them."""
    good = folder / "good.npz"
    np.savez(good, mated=[1.0, 2.0], nonmated=[0.0, 1.0])
    (folder / "truncated.npz").write_bytes(good.read_bytes()[:150])
    np.savez(folder / "pickled.npz", mated=np.array([{}], object), nonmated=[0.0])
    np.savez(folder / "nan.npz", mated=[1.0, np.nan], nonmated=[0.0])
    np.savez(folder / "empty-side.npz", mated=[], nonmated=[0.0])
    np.savez(folder / "one-class.npz", mated=[1.0])
    (folder / "zero.npz").write_bytes(b"")
    (folder / "zero.csv").write_bytes(b"")
    (folder / "junk.parquet").write_bytes(b"\x00\xff" * 40)
    (folder / "text.csv").write_text("score,label\n1.0,mated\nhello,nonmated\n")
    (folder / "class.csv").write_text("score,label\n1.0,mated\n2.0,mated\n")
    (folder / "header.tsv").write_text("a\tb\n1\t2\n")
    (folder / "folder").mkdir()
    (folder / "notes.docx").write_text("scores")
    (folder / "kaldi").write_text("a b 1.0\n")
    (folder / "key").write_text("a c target\n")
    files = [p.name for p in folder.iterdir() if p.name not in ("good.npz", "kaldi", "key")]
    named = {name: [str(folder / name)] for name in files}
    return {**named, "kaldi": [str(folder / "kaldi"), "--trials", str(folder / "key")]}


def test_bad_files_of_every_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, arguments in make_bad_files(tmp_path).items():
        assert run(["measure", *arguments]) == 2, name
        said = capsys.readouterr()
        assert said.out == "", name
        assert said.err.count("\n") == 1 and name in said.err, (name, said.err)


def test_a_real_process_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 cut off")
    command = [sys.executable, "-m", "sottovoce", "measure", str(tmp_path / "bad.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("sottovoce: ") and done.stderr.count("\n") == 1


def test_a_fault_of_our_own_is_one_line_too(
    scores: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("inside")

    monkeypatch.setattr("sottovoce.measure.measure_scores", broken)
    assert run(["measure", str(scores)]) == 70
    said = capsys.readouterr().err
    assert "SOTTOVOCE_DEBUG" in said and "inside" not in said and said.count("\n") == 1


def test_an_unwritable_place_is_bad_input(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = scores / "below-a-file" / "out.json"
    assert run(["measure", str(scores), "--no-interval", "--json", str(target)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_names_with_markup_and_the_same_file_name_twice(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for folder in ("[red]a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "scores.npz")
        paths[-1].write_bytes(scores.read_bytes())
    figures = tmp_path / "figures"
    command = ["compare", *map(str, paths), "--no-interval", "--figures", str(figures)]
    assert run(command) == 0
    shown = capsys.readouterr().out
    assert "[red]a-scores" in shown and "b-scores" in shown
    assert len(list(figures.glob("histogram_*.svg"))) == 2


def test_reversed_scores_are_never_called_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "reversed.npz"
    np.savez(path, mated=np.arange(100.0), nonmated=np.arange(100.0) + 200)
    again = tmp_path / "again.npz"
    again.write_bytes(path.read_bytes())
    for command in (["measure", str(path)], ["compare", str(path), str(again)]):
        assert run([*command, "--only", "d_ece", "--no-interval"]) == 0
        assert "point the wrong way" in capsys.readouterr().out


def test_json_never_overwrites_anything_but_json(
    scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = scores.read_bytes()
    assert run(["measure", str(scores), f"--json={scores}"]) == 2
    assert scores.read_bytes() == before and "ends in .json" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_failure(scores: Path) -> None:
    command = f"{sys.executable} -m sottovoce measure {scores} --no-interval | head -c 1 >/dev/null"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stderr == ""


def test_a_handful_of_trials_gets_no_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "few.npz"
    np.savez(path, mated=[2.0, 3.0], nonmated=[0.0, 1.0])
    assert run(["measure", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert "low" not in printed["measures"]["eer"] and "too few" in printed["warnings"][0]
