"""Studies of private training: reading, running, resuming, reporting, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code

torch = pytest.importorskip("torch")
pytest.importorskip("dp_accounting")

from sottovoce.cli import run  # noqa: E402
from sottovoce.core.records import from_json  # noqa: E402
from sottovoce.learn import study_run  # noqa: E402
from sottovoce.learn.builtin_sentences import TOPICS, builtin_sentences  # noqa: E402
from sottovoce.learn.study import PrivateStudy, read_private_study  # noqa: E402
from sottovoce.learn.study_results import PrivateStudyResult  # noqa: E402
from sottovoce.learn.study_run import run_study  # noqa: E402
from sottovoce.learn.tasks import open_task  # noqa: E402


def nothing(*_: object) -> None:
    """No progress is shown."""


def write_sentences(folder: Path, count: int = 120) -> Path:
    """Two classes that a word tells apart; each person has two sentences."""
    rows = ["said,class,person"]
    rows += [
        f"{'book a table' if i % 4 < 2 else 'play some music'} please,{i % 4 < 2},p{i // 2}"
        for i in range(count)
    ]
    path = folder / "sentences.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


STUDY = """
train: sentences.csv
text: said
label: class
unit: person
models: [none]
epsilon: [4, .inf]
delta: 0.01
lot: 24
epochs: 3
seeds: 2
"""


def write_study(folder: Path, text: str = STUDY) -> Path:
    write_sentences(folder)
    path = folder / "study.yaml"
    path.write_text(text)
    return path


def test_the_command_writes_models_result_and_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, out = write_study(tmp_path), tmp_path / "out"
    assert run(["train", "private", str(study), "--out", str(out), "--audit", "--json", "-"]) == 0
    printed = json.loads(capsys.readouterr().out)
    result = from_json(PrivateStudyResult, json.loads((out / "result.json").read_text()))
    assert printed["cells"] == json.loads((out / "result.json").read_text())["cells"]
    private, plain = result.cells
    assert private.run.guarantee == "differential privacy"
    assert private.run.unit == "all records of one person" and private.run.units == 48
    assert private.run.spent is not None and private.run.spent.rdp_epsilon <= 4
    assert plain.run.guarantee == "none" and plain.mean > 0.9
    assert private.low is not None and private.low <= private.mean <= (private.high or 0)
    assert result.audit is not None and result.audit.canaries > 10
    assert {path.name for path in (out / "models").iterdir()} == {
        f"none-epsilon-{epsilon}-seed-{seed}.pt" for epsilon in ("4", "inf") for seed in (1, 2)
    }
    assert not (out / "checkpoints").exists(), "a checkpoint holds the seed of the noise"
    page = (out / "report.html").read_text()
    assert "Privacy card" in page and "<script" not in page and "Audit of model none" in page


def test_a_finished_run_is_never_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = read_private_study(write_study(tmp_path)).model_copy(update={"seeds": 1})
    first = run_study(study, tmp_path / "out", show=nothing)

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(study_run, "PrivateTrainer", fail)
    assert run_study(study, tmp_path / "out", show=nothing) == first


def test_learning_rates_are_chosen_on_held_out_training_people(tmp_path: Path) -> None:
    study = read_private_study(write_study(tmp_path)).model_copy(
        update={"seeds": 1, "epsilon": (float("inf"),), "learning_rates": (1e-6, 0.02)}
    )
    result = run_study(study, tmp_path / "out", show=nothing)
    assert result.cells[0].learning_rate == 0.02 and result.tuning_runs == 2
    task = open_task(study)
    train, units, held_out = task.held_out()
    assert units is not None and task.units is not None
    assert len(train[0]) + len(held_out[0]) == len(task.train[0])
    assert len(set(units.tolist())) < len(set(task.units.tolist()))


def test_vectors_and_images(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(["f", "m"], 80)
    vectors = rng.normal(size=(80, 6)) + 2 * (labels == "f")[:, None]
    np.savez(tmp_path / "vectors.npz", vectors=vectors, gender=labels, speakers=np.arange(80) // 2)
    np.savez(tmp_path / "public.npz", vectors=rng.normal(size=(20, 6)))
    study = PrivateStudy(
        task="vectors",
        train=tmp_path / "vectors.npz",
        public=tmp_path / "public.npz",
        label="gender",
        unit="speakers",
        models=("batch",),
        epsilon=(float("inf"),),
        lot=16,
        epochs=10,
        seeds=1,
    )
    result = run_study(study, tmp_path / "out", show=nothing)
    assert result.cells[0].run.normalisation == "public" and result.cells[0].mean > 0.8
    pixels = rng.integers(0, 255, (30, 28, 28), dtype=np.uint8)
    digits = np.arange(30) % 10
    np.savez(
        tmp_path / "digits.npz",
        train_images=pixels,
        train_labels=digits,
        test_images=pixels[:5],
        test_labels=digits[:5],
    )
    task = open_task(PrivateStudy(task="images", train=tmp_path / "digits.npz"))
    assert task.classes == 10 and task.train[0].shape == (30, 1, 28, 28)
    assert float(task.train[0].max()) <= 1


def test_convolutions_trained_on_public_images_are_taken_and_frozen(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (40, 28, 28), dtype=np.uint8)
    digits = np.arange(40) % 4
    np.savez(
        tmp_path / "digits.npz",
        train_images=pixels,
        train_labels=digits,
        test_images=pixels,
        test_labels=digits,
    )
    public = PrivateStudy(
        task="images",
        train=tmp_path / "digits.npz",
        models=("layer",),
        epsilon=(float("inf"),),
        lot=20,
        epochs=1,
        seeds=1,
    )
    run_study(public, tmp_path / "public", show=nothing)
    model = tmp_path / "public" / "models" / "layer-epsilon-inf-seed-1.pt"
    private = public.model_copy(update={"pretrained": model})
    result = run_study(private, tmp_path / "private", show=nothing)
    whole = sum(value.numel() for value in open_task(public).build("layer").parameters())
    assert result.cells[0].run.parameters < whole
    weights = [
        torch.load(folder / "models" / model.name, weights_only=True)["weights"]
        for folder in (tmp_path / "public", tmp_path / "private")
    ]
    assert torch.equal(*(part["layers.0.weight"] for part in weights))
    assert not torch.equal(*(part["layers.9.weight"] for part in weights))
    with raises_code("wrong-shape"):
        open_task(private).build("batch")
    with raises_code("unreadable"):
        open_task(private.model_copy(update={"pretrained": tmp_path / "digits.npz"})).build("layer")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("epsilon: [0]", "wrong-shape"),
        ("epsilon: []", "wrong-shape"),
        ("epsilonn: [1]", "wrong-shape"),
        ("sampling: shuffled", "wrong-shape"),
        ("models: [batch]", "wrong-shape"),
        ("task: images", "wrong-shape"),
        ("[1, 2]", "wrong-shape"),
        ("", "wrong-shape"),
        ("# nothing but a comment", "wrong-shape"),
        ("a: [", "not-yaml"),
    ],
)
def test_bad_studies(tmp_path: Path, text: str, code: str) -> None:
    with raises_code(code):
        read_private_study(write_study(tmp_path, text))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"train": "absent.csv"}, "unreadable"),
        ({"label": "colour"}, "wrong-shape"),
        ({"task": "vectors"}, "unreadable"),
        ({"lot": 4000}, "out-of-range"),
        ({"delta": 0.5}, "out-of-range"),
    ],
)
def test_bad_data(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    study = read_private_study(write_study(tmp_path))
    if "train" in changes:
        changes = {"train": tmp_path / changes["train"]}
    with raises_code(code):
        run_study(study.model_copy(update=changes), tmp_path / "out", show=nothing)


def test_a_bad_study_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "private", str(tmp_path / "absent.yaml")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_builtin_sentences_cover_every_template_once() -> None:
    numbers = sorted(number for group in TOPICS.values() for number in group)
    assert numbers == list(range(24))
    table = builtin_sentences()
    assert set(table["label"]) == set(TOPICS) and table["speaker"].n_unique() == 900
