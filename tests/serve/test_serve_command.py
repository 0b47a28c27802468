"""``sottovoce serve`` as a user starts it."""

from __future__ import annotations

import builtins
import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from live_service import requests

from sottovoce.cli.serve import command
from sottovoce.core.errors import InputError, MissingExtraError, UsageError


def test_it_serves_until_interrupted(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    words = ["--port", "0", "--workers", "1", "--token-file", str(tmp_path / "token")]
    start = "from sottovoce.cli.serve import command; command()"
    scratch = Path(tempfile.mkdtemp(prefix="sv"))  # a socket's name must be short
    process = subprocess.Popen(
        [sys.executable, "-c", start, *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        listening = re.search(r"listening on (http://127\.0\.0\.1:\d+)", line)
        assert listening, line
        sent = {"headers": {"Authorization": "Bearer abc"}, "timeout": 60}
        url = f"{listening[1]}/v1/anonymise/text?strategy=typed"
        answer = requests.post(url, data="my name is Ann Lee", **sent)
        assert answer.status_code == 200 and "Ann" not in answer.text
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert "Traceback" not in rest and "Ann" not in rest
    assert list(scratch.rglob("*")) == []
    scratch.rmdir()


def test_a_temporary_folder_with_a_long_name_is_one_clear_line(tmp_path: Path) -> None:
    scratch = tmp_path / ("long" * 30)
    scratch.mkdir()
    program = "import sys; from sottovoce.cli import run; sys.exit(run(sys.argv[1:]))"
    result = subprocess.run(
        [sys.executable, "-c", program, "serve", "--port", "0", "--workers", "1"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "TMPDIR": str(scratch)},
        check=False,
    )
    assert result.returncode == 2
    assert "TMPDIR" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--workers", "0"], UsageError),
        (["--max-mb", "0"], UsageError),
        (["--seconds", "0"], UsageError),
        (["--queue", "-1"], UsageError),
        (["--memory-mb", "10"], UsageError),
        (["--audits", "/nowhere"], UsageError),
        (["--connections", "10"], UsageError),
        (["--connections", "100000000"], UsageError),
        (["--uploads-mb", "31"], UsageError),
        (["--certificate-key", "key.pem"], UsageError),
        (["--certificate", "/nowhere/chain.pem"], InputError),
        (["--token-file", "/nowhere/token"], InputError),
    ],
)
def test_wrong_settings_are_refused(words: list[str], error: type[Exception]) -> None:
    assert isinstance(CliRunner().invoke(command, words).exception, error)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workers", "0"], "--workers 0"),
        (["--max-mb", "0"], "--max-mb 0"),
        (["--memory-mb", "1"], "--memory-mb 1; use 512"),
        (["--queue", "-1"], "--queue -1"),
        (["--seconds", "nan"], "--seconds nan"),
        (["--connections", "3"], "--connections 3"),
        (["--uploads-mb", "31"], "--uploads-mb 31; use 32 or more, the value of --max-mb"),
        (["--audits", "/nowhere"], "--audits /nowhere"),
        (["--certificate-key", "key.pem"], "--certificate-key key.pem"),
    ],
)
def test_a_refusal_names_the_option_and_the_value_as_they_were_typed(
    words: list[str], message: str
) -> None:
    error = CliRunner().invoke(command, words).exception
    assert isinstance(error, UsageError) and message in str(error) and "bytes" not in str(error)


def test_an_open_address_needs_a_token_or_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sottovoce.serve import app

    monkeypatch.setattr(app, "run", lambda settings: None)
    refused = CliRunner().invoke(command, ["--host", "0.0.0.0"]).exception
    assert isinstance(refused, UsageError) and refused.code == "insecure"
    warning = CliRunner().invoke(command, ["--host", "0.0.0.0", "--insecure"]).stderr
    assert "other machines by everybody" in warning and "nothing is encrypted" in warning
    (tmp_path / "token").write_text("abc")
    with_token = ["--host", "0.0.0.0", "--token-file", str(tmp_path / "token")]
    warning = CliRunner().invoke(command, with_token).stderr
    assert "everybody" not in warning and "nothing is encrypted" in warning
    assert CliRunner().invoke(command, [*with_token, "--certificate", "chain.pem"]).stderr == ""
    assert CliRunner().invoke(command, []).stderr == ""


def test_a_port_that_is_taken_is_one_line(service: Any) -> None:
    words = ["--port", service.url.rpartition(":")[2]]
    assert isinstance(CliRunner().invoke(command, words).exception, InputError)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def lacking(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith(("uvicorn", "sottovoce.serve.app")):
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return real(name, *rest, **named)

    importlib.import_module("sottovoce.serve.settings")
    monkeypatch.setattr(builtins, "__import__", lacking)
    error = CliRunner().invoke(command, []).exception
    assert isinstance(error, MissingExtraError)
    assert "pip install 'sottovoce[serve]'" in str(error)
