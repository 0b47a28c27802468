"""The Docker image, as far as it can be tested without Docker: its commands are run as written."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
import yaml
from live_service import Service, clip, requests

from sottovoce.cli.serve import command

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_start_command_is_understood() -> None:
    match = re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert match
    words = json.loads(match[1])
    assert words[:2] == ["sottovoce", "serve"]
    context = command.make_context("serve", words[2:])
    assert (context.params["host"], context.params["port"]) == ("0.0.0.0", 5000)
    assert DOCKERFILE.index("\nUSER ") < DOCKERFILE.index("\nCMD ")


def test_the_health_check_tells(service: Service) -> None:
    match = re.search(r"HEALTHCHECK.*\\\n\s+CMD (\[.*\])", DOCKERFILE)
    assert match
    name, flag, code = json.loads(match[1])
    assert (name, flag) == ("python", "-c")
    up = code.replace("127.0.0.1:5000", service.url.removeprefix("http://"))
    down = code.replace("127.0.0.1:5000", "127.0.0.1:1")
    outcomes = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode
        for program in (up, down)
    ]
    assert outcomes[0] == 0 and outcomes[1] != 0


def test_what_is_copied_and_installed_exists() -> None:
    for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    chosen = re.search(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    assert chosen
    assert set(chosen[1].split(",")) <= set(extras["optional-dependencies"])


def test_compose_shows_it_to_this_machine_only() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["sottovoce"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["read_only"] is True


@pytest.mark.slow
def test_the_image_is_built_and_started_in_a_clean_place(tmp_path: Path) -> None:
    """Its COPY, RUN pip and CMD lines in an empty environment; packages come from pip's index."""
    place = tmp_path / "app"
    place.mkdir()
    for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.MULTILINE):
        *sources, target = line.split()
        for name in sources:
            if (ROOT / name).is_dir():
                left_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(ROOT / name, place / target, ignore=left_out)
            else:
                shutil.copy(ROOT / name, place / target)
    venv.create(tmp_path / "env", with_pip=True)
    programs = tmp_path / "env" / "bin"
    clean = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PIP_") or name in ("HOME", "LANG", "UV_INDEX_URL")
    }
    clean |= {"PATH": f"{programs}:/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    (install,) = re.findall(r"^RUN (pip .*)$", DOCKERFILE, re.MULTILINE)
    subprocess.run(shlex.split(install), cwd=place, env=clean, check=True, timeout=900)
    match = re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert match
    words = json.loads(match[1])
    words[words.index("--port") + 1] = "0"  # 5000 may be taken here
    home = tmp_path / "home"
    home.mkdir()
    process = subprocess.Popen(
        [str(programs / words[0]), *words[1:]],
        cwd=home,
        env={**clean, "HOME": str(home), "PYTHONUNBUFFERED": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
        listening = re.search(r"listening on http://0\.0\.0\.0:(\d+)", lines[1])
        assert "other machines" in lines[0] and listening, lines
        url = f"http://127.0.0.1:{listening[1]}"
        assert requests.get(f"{url}/healthz", timeout=120).json()["status"] == "ok"
        assert requests.get(url, timeout=120).text.startswith("<!doctype html>")
        answer = requests.post(f"{url}/v1/anonymise/voice", data=clip(), timeout=120)
        assert answer.status_code == 200 and answer.content[:4] == b"RIFF"
        answer = requests.post(f"{url}/transform", data="I am Ann Lee", timeout=120)
        assert answer.status_code == 200 and "Ann" not in answer.text
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    finally:
        process.kill()
        process.communicate()
    assert list(home.iterdir()) == []  # as the image may write nowhere
