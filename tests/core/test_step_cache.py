"""The step cache: every result once, complete, and computed again when it is damaged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.records import Record
from sottovoce.core.step_cache import Codec, Step, StepCache, cache_key, records_of


@dataclass(frozen=True, slots=True)
class Share(Record):
    name: str
    values: tuple[float, ...]


SHARES = Step("shares", records_of(Share))
SHARE = Share("ä\n", (0.1, 1e-300))


class Counted:
    """Computes a result and counts how often."""

    def __init__(self, result: Share = SHARE) -> None:
        self.calls = 0
        self.result = result

    def __call__(self) -> Share:
        self.calls += 1
        return self.result


def stored_file(folder: Path) -> Path:
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    return path


def test_a_result_is_computed_once_and_read_back_with_its_type(tmp_path: Path) -> None:
    compute = Counted()
    first = StepCache(tmp_path)
    assert first.get(SHARES, ["a", 1], compute) == SHARE
    second = StepCache(tmp_path)
    assert second.get(SHARES, ["a", 1], compute) == SHARE
    assert compute.calls == 1
    assert (first.computed, first.reused) == ({"shares": 1}, {})
    assert (second.computed, second.reused) == ({}, {"shares": 1})


def test_another_input_version_or_step_is_another_result(tmp_path: Path) -> None:
    compute = Counted()
    cache = StepCache(tmp_path)
    cache.get(SHARES, {"seed": 1}, compute)
    cache.get(SHARES, {"seed": 2}, compute)
    cache.get(Step("others", SHARES.codec), {"seed": 1}, compute)
    StepCache(tmp_path, version="0").get(SHARES, {"seed": 1}, compute)
    assert compute.calls == 4


def test_nothing_is_stored_when_computing_fails(tmp_path: Path) -> None:
    def fail() -> Share:
        raise KeyError("broken step")

    cache = StepCache(tmp_path)
    with pytest.raises(KeyError) as caught:
        cache.get(SHARES, 1, fail)
    assert caught.value.__context__ is None  # the missing file is no part of the story
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    assert cache.get(SHARES, 1, Counted()) == SHARE


def test_a_result_that_json_cannot_hold_is_not_stored(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        StepCache(tmp_path).get(SHARES, 1, Counted(Share("a", (float("nan"),))))
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: content.replace(b"0.1", b"0.2"),
        lambda content: content.replace(b"values", b"number"),
        lambda content: b"\xff" + content,
        lambda content: content + content,
        lambda content: b"[]\n",
    ],
)
def test_a_damaged_result_is_computed_again(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    compute = Counted()
    StepCache(tmp_path).get(SHARES, 1, compute)
    path = stored_file(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert StepCache(tmp_path).get(SHARES, 1, compute) == SHARE
    assert compute.calls == 2
    assert path.read_bytes() == whole


def test_a_result_of_another_shape_is_computed_again(tmp_path: Path) -> None:
    cache = StepCache(tmp_path)
    cache.get(Step("shares", records_of(dict[str, int])), 1, lambda: {"a": 1})
    assert cache.get(SHARES, 1, Counted()) == SHARE


def test_a_stored_result_is_json(tmp_path: Path) -> None:
    StepCache(tmp_path).get(SHARES, 1, Counted())
    content = json.loads(stored_file(tmp_path).read_bytes())
    assert content["result"] == {"name": "ä\n", "values": [0.1, 1e-300]}


def test_results_in_other_formats(tmp_path: Path) -> None:
    codec = Codec(".f8", np.ndarray.tobytes, lambda content: np.frombuffer(content, np.float64))
    cache = StepCache(tmp_path)
    for _ in range(2):
        values = cache.get(Step("vectors", codec), 1, lambda: np.arange(3.0))
        np.testing.assert_array_equal(values, [0, 1, 2])
    assert cache.reused["vectors"] == 1
    assert stored_file(tmp_path) == cache.path("vectors", cache.key(1), ".f8")


# =================================================================================== processes

PROGRAM = """
import sys, time
from pathlib import Path
from sottovoce.core import files
from sottovoce.core.step_cache import Step, StepCache, records_of

def compute():
    print("computing", flush=True)
    sys.stdin.readline()
    return list(range(20_000))

if sys.argv[2] == "stop-before-rename":
    rename = files.os.replace
    def stop(*names):
        print("written", flush=True)
        time.sleep(60)
    files.os.replace = stop
result = StepCache(Path(sys.argv[1])).get(Step("numbers", records_of(list[int])), 1, compute)
print(sum(result), flush=True)
"""


def start(folder: Path, mode: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("mode", ["", "stop-before-rename"])
def test_killed_in_the_middle(tmp_path: Path, mode: str) -> None:
    with start(tmp_path, mode) as killed:
        assert line_of(killed) == "computing"
        if mode:
            release(killed)
            assert line_of(killed) == "written"
        killed.send_signal(signal.SIGKILL)
    with start(tmp_path) as process:
        assert line_of(process) == "computing"
        release(process)
        assert line_of(process) == str(sum(range(20_000)))
    with start(tmp_path) as process:
        assert line_of(process) == str(sum(range(20_000)))  # read back: nothing is computed


def test_two_processes_at_once(tmp_path: Path) -> None:
    with start(tmp_path) as first, start(tmp_path) as second:
        assert (line_of(first), line_of(second)) == ("computing", "computing")
        release(first)
        release(second)
        expected = str(sum(range(20_000)))
        assert (line_of(first), line_of(second)) == (expected, expected)
    assert stored_file(tmp_path)  # one file, no temporary one


# =================================================================================== keys

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)


@given(JSON.filter(lambda value: "inf" not in repr(value)))
def test_a_key_depends_on_nothing_else(value: object) -> None:
    assert cache_key(value) == cache_key(json.loads(json.dumps(value)))
    assert cache_key(value) != cache_key(value, value)
    assert cache_key([value]) != cache_key(value)


def test_keys() -> None:
    assert cache_key({"a": 1, "b": 2}) == cache_key({"b": 2, "a": 1})
    assert cache_key("a", "b") != cache_key("ab") != cache_key("b", "a")
    assert cache_key(1) != cache_key("1")
    assert len(cache_key()) == 16
    with pytest.raises(TypeError):
        cache_key(object())  # its address would be the key
    with pytest.raises(ValueError):
        cache_key(float("nan"))
