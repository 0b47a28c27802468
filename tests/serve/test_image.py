"""The image, as far as it can be tried without an engine: its commands are run as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml
from live_service import Service

from sottovoce.cli.serve import command

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_start_command_is_understood() -> None:
    found = re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found
    words = json.loads(found[1])
    assert words[:2] == ["sottovoce", "serve"]
    context = command.make_context("serve", words[2:])
    assert (context.params["host"], context.params["port"]) == ("0.0.0.0", 5000)
    assert DOCKERFILE.index("\nUSER ") < DOCKERFILE.index("\nCMD ")


def test_the_health_check_tells(service: Service) -> None:
    found = re.search(r"HEALTHCHECK.*\\\n\s+CMD (\[.*\])", DOCKERFILE)
    assert found
    name, flag, code = json.loads(found[1])
    assert (name, flag) == ("python", "-c")
    up = code.replace("127.0.0.1:5000", service.url.removeprefix("http://"))
    down = code.replace("127.0.0.1:5000", "127.0.0.1:1")
    outcomes = [
        subprocess.run([sys.executable, "-c", one], capture_output=True, check=False).returncode
        for one in (up, down)
    ]
    assert outcomes[0] == 0 and outcomes[1] != 0


def test_what_is_copied_and_installed_exists() -> None:
    for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = re.search(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    assert asked
    assert set(asked[1].split(",")) <= set(extras["optional-dependencies"])


def test_compose_shows_it_to_this_machine_only() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["sottovoce"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["read_only"] is True
