"""schemathesis, all checks, over the schema of a running service.

It is not among what this project installs: ``pip install schemathesis`` anywhere on the path, then
``pytest -m slow tests/serve/test_schema.py``.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from live_service import clip, running
from test_audits import write_audit
from test_services import npz

HERE = Path(__file__).parent / "made_up"
FEWEST = 2000
"""Number of requests that must have been generated and checked."""
SECONDS = 300
"""Time for it: a few times what they take where nothing else runs."""


def write_files(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    table = io.StringIO("score,label\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(40)))
    files = {
        "clip": clip(seconds=0.1),
        "flac": clip(seconds=0.1, kind="FLAC"),
        "words": b"call Ann Lee in Berlin at nine pm",
        "scores": npz(mated=rng.normal(1, 1, 40), nonmated=rng.normal(0, 1, 90)),
        "table": table.getvalue().encode(),
    }
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.slow
def test_every_answer_is_one_the_schema_names(tmp_path: Path) -> None:
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("schemathesis", path=here)
    if program is None:
        pytest.skip("schemathesis is not installed")
    write_audit(tmp_path / "audits" / "first")
    environment = {
        **os.environ,
        "SCHEMA_FILES": str(write_files(tmp_path / "files")),
        "PYTHONPATH": str(HERE),
    }
    words = ["--config-file", str(HERE / "schemathesis.toml"), "run", "--checks", "all"]
    words += ["--max-time", str(SECONDS), "--seed", "1", "--no-shrink"]
    with running(workers=2, seconds=20.0, audits=tmp_path / "audits") as service:
        done = subprocess.run(
            [program, *words, f"{service.url}/openapi.json"],
            capture_output=True,
            text=True,
            timeout=SECONDS + 300,
            check=False,
            env=environment,
            cwd=tmp_path,
        )
        alive = service.get("/healthz").status_code
        counts = service.get("/metrics").text
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    generated = re.search(r"(\d+) generated", done.stdout)
    assert generated and int(generated[1]) >= FEWEST, done.stdout[-2000:]
    assert alive == 200
    statuses = re.findall(r'service="([^"]+)",status="(\d+)"\} (\d+)', counts)
    assert not [row for row in statuses if row[1].startswith("5")]
    worked = {service for service, status, _ in statuses if status == "200"}
    print(f"{generated[1]} requests; by service and status: {sorted(statuses)}")
    assert {"/v1/measure", "/v1/anonymise/voice", "/v1/anonymise/text"} <= worked
