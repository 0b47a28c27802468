"""The files that start a cluster are well formed, agree with each other and name real options."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sottovoce.audit.cost import WORKER_MEMORY
from sottovoce.cli.engine_options import parse_size
from sottovoce.core.cluster import KEPT_MEMORY

pytest.importorskip("distributed")

DEPLOY = Path(__file__).parents[2] / "deploy"
SINGLE = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"}
KEPT = {name: str(value) for name, value in KEPT_MEMORY.items()}
"""A nanny takes Dask's own MALLOC_TRIM_THRESHOLD_ from its environment. Dask's settings cannot name
it in a variable: they are written in lower case."""


def loaded(name: str) -> dict[str, Any]:
    content = yaml.safe_load((DEPLOY / name).read_text("utf-8"))
    assert isinstance(content, dict)
    return content


def check_options(command: list[str]) -> None:
    """Every option of a command line of Dask is one that Dask has."""
    from distributed.cli.dask_scheduler import main as scheduler
    from distributed.cli.dask_worker import main as worker

    assert command[0] == "dask"
    known = {
        option
        for parameter in {"scheduler": scheduler, "worker": worker}[command[1]].params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert {word for word in command if word.startswith("--")} <= known


@pytest.mark.parametrize("name", ["compose.cluster.yaml", "helm-values.yaml", "slurm.sh"])
def test_settings_are_those_of_dask(name: str) -> None:
    import dask

    named = re.findall(r"DASK_(DISTRIBUTED__[A-Z_]+)", (DEPLOY / name).read_text("utf-8"))
    assert len(named) >= 6
    for variable in named:
        dask.config.get(variable.lower().replace("__", "."))  # an unknown setting is a KeyError


def test_nannies_take_the_threshold_from_their_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from distributed.nanny import _get_env_variables

    trim = "MALLOC_TRIM_THRESHOLD_"
    monkeypatch.setenv(trim, KEPT[trim])
    environment = _get_env_variables("distributed.nanny.pre-spawn-environ")
    assert environment[trim] == KEPT[trim]


def test_compose() -> None:
    services = loaded("compose.cluster.yaml")["services"]
    for service in services.values():
        check_options(service["command"])
        assert set(service["environment"]) >= SINGLE
        assert service["environment"].items() >= KEPT.items()
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert all(port.startswith("127.0.0.1:") for port in services["scheduler"]["ports"])
    memory = services["worker"]["command"][
        services["worker"]["command"].index("--memory-limit") + 1
    ]
    assert parse_size(memory) >= WORKER_MEMORY


def test_slurm() -> None:
    path = DEPLOY / "slurm.sh"
    subprocess.run(["bash", "-n", str(path)], check=True)
    text = path.read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if "dask scheduler" in line or "dask worker" in line:
            command = line[line.index("dask ") :].rstrip("&").strip()
            check_options(shlex.split(command))
    assert all(f"{name}=1" in text for name in SINGLE)
    assert all(f"{name}={value}" in text for name, value in KEPT.items())


def test_helm() -> None:
    values = loaded("helm-values.yaml")
    environment = {entry["name"]: entry["value"] for entry in values["worker"]["env"]}
    assert set(environment) >= SINGLE and environment.items() >= KEPT.items()
    assert values["worker"]["threads_per_worker"] == 1
    assert all(isinstance(value, str) for value in environment.values())
