"""A killed run that is resumed spends what it takes: no step is lost, none is drawn twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections import defaultdict
from pathlib import Path

import pytest
from error_codes import raises_code

torch = pytest.importorskip("torch")
pytest.importorskip("dp_accounting")

from torch import Tensor, nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402

from sottovoce.learn import Draws, PrivateSettings, PrivateTrainer  # noqa: E402

STEPS = 120
PROGRAM = textwrap.dedent(
    """
    import hashlib, json, os, sys, time
    from pathlib import Path
    import torch
    from torch.nn.functional import cross_entropy
    from sottovoce.learn import PrivateSettings, PrivateTrainer

    folder = Path(sys.argv[1])
    x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
    y = (x.sum(1) > 0).long()
    model = torch.nn.Linear(4, 2)  # other first weights in every process
    settings = PrivateSettings(
        lot_size=40, steps=int(sys.argv[2]), clip=1.0, delta=1e-3, noise_multiplier=2.0
    )
    def loss(model, x, y):
        return cross_entropy(model(x), y)
    trainer = PrivateTrainer(
        model, loss, torch.optim.Adam(model.parameters()), (x, y), settings,
        checkpoint=folder / "run.checkpoint",
    )
    log = open(folder / "steps.jsonl", "a", buffering=1)
    def observe(step):
        parts = [value.numpy().tobytes() for value in step.gradient.values()]
        digest = hashlib.sha256(b"".join(parts)).hexdigest()
        log.write(json.dumps([step.step, digest]) + "\\n")
        time.sleep(0.002)
    run = trainer.train(observe=observe, checkpoint_every=7)
    (folder / "spent.json").write_text(json.dumps(run.spent.steps))
    """
)


@pytest.mark.parametrize("attempts", [2, pytest.param(15, marks=pytest.mark.slow)])
def test_killed_at_random_moments(tmp_path: Path, attempts: int) -> None:
    randomness = random.Random(attempts)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(STEPS)]
    log, kills = tmp_path / "steps.jsonl", 0
    for _ in range(attempts):
        before = log.stat().st_size if log.exists() else 0
        with subprocess.Popen(command, env=environment) as process:
            wanted = before + randomness.randint(1, 5000 // attempts)
            while process.poll() is None and (not log.exists() or log.stat().st_size < wanted):
                time.sleep(0.001)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
    subprocess.run(command, env=environment, check=True)
    noisy: dict[int, set[str]] = defaultdict(set)
    for line in log.read_text().splitlines():
        if line.endswith("]"):  # the last line of a killed process may be cut
            step, digest = json.loads(line)
            noisy[step].add(digest)
    assert kills > 0
    assert json.loads((tmp_path / "spent.json").read_text()) == STEPS
    assert sorted(noisy) == list(range(STEPS))
    assert all(len(digests) == 1 for digests in noisy.values()), "a step was drawn twice"


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(model(x), y)


def trainer(
    checkpoint: Path | None, *, seed: int | None = None, shift: float = 0.0, rate: float = 0.1
) -> PrivateTrainer:
    x = torch.randn(50, 4, generator=torch.Generator().manual_seed(0)) + shift
    model = nn.Linear(4, 2)
    return PrivateTrainer(
        model,
        loss,
        torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9),
        (x, (x.sum(1) > 0).long()),
        PrivateSettings(lot_size=10, steps=8, clip=1.0, delta=1e-3, noise_multiplier=2.0),
        draws=None if seed is None else Draws.reproducible(seed),
        checkpoint=checkpoint,
    )


def test_a_resumed_run_ends_where_an_uninterrupted_one_does(tmp_path: Path) -> None:
    torch.manual_seed(3)
    whole = trainer(None, seed=1)
    whole.train()
    torch.manual_seed(3)
    first = trainer(tmp_path / "run", seed=1)
    first.train(steps=5)
    resumed = trainer(tmp_path / "run")
    assert resumed.steps_taken == 5
    run = resumed.train()
    assert run.spent is not None and run.spent.steps == 8
    assert torch.equal(whole.model.weight, resumed.model.weight)


def test_the_seed_is_on_the_disk_before_the_first_noise(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(_: object) -> None:
        raise StopError

    first = trainer(tmp_path / "run")
    with pytest.raises(StopError):
        first.train(observe=stop)
    assert (tmp_path / "run").stat().st_mode & 0o077 == 0
    assert trainer(tmp_path / "run").draws.seed == first.draws.seed


@pytest.mark.parametrize("changes", [{"shift": 1.0}, {"rate": 0.2}, {"seed": 9}])
def test_other_data_settings_or_draws_are_refused(
    tmp_path: Path, changes: dict[str, float]
) -> None:
    """Otherwise the same noise would hide two different sums."""
    trainer(tmp_path / "run").train(steps=2)
    with raises_code("other-run"):
        trainer(tmp_path / "run", **changes)  # type: ignore[arg-type]


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"nothing")
    with raises_code("damaged"):
        trainer(tmp_path / "run")
