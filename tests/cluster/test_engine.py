"""Work on a cluster: the same results in the same order, whatever happens to its workers."""

from __future__ import annotations

import os
import pickle
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

pytest.importorskip("distributed")

import engine_work

from sottovoce.core import dask_engine, remote_work
from sottovoce.core.cluster import KEPT_MEMORY
from sottovoce.core.dask_engine import DaskEngine
from sottovoce.core.engine import Engine, LocalEngine, SharedArray, open_engine
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.remote_work import Failure, Payload, Task, check_versions, installed_versions
from sottovoce.core.scratch import scratch_folder


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return []


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> Iterator[DaskEngine]:
    folder = tmp_path_factory.mktemp("scratch")
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(engine_work.__file__).parent), path])
    try:
        with open_engine(
            "dask", jobs=2, memory=1_500_000_000, scratch=folder, tell=lines.append
        ) as engine:
            assert isinstance(engine, DaskEngine)
            yield engine
        assert not list(folder.iterdir())  # nothing private is left behind
    finally:
        os.environ["PYTHONPATH"] = path


def test_workers_see_the_environment_of_their_own_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that workers are forked from is older than the second cluster."""
    for value in ("first", "second"):
        monkeypatch.setenv("SOTTOVOCE_TEST", value)
        with open_engine("dask", jobs=1, scratch=tmp_path) as engine:
            seen = list(engine.map(os.getenv, ["SOTTOVOCE_TEST", *KEPT_MEMORY], label="testing"))
        kept = [(name, str(size)) for name, size in KEPT_MEMORY.items()]
        assert seen == [("SOTTOVOCE_TEST", value), *kept]


def test_an_older_process_to_fork_from_is_not_used(tmp_path: Path) -> None:
    """Something else, such as the service, may have started it in another environment."""
    script = f"""
import multiprocessing, os
from pathlib import Path
from sottovoce.core.engine import open_engine

if __name__ == "__main__":
    process = multiprocessing.get_context("forkserver").Process(target=os.getpid)
    process.start()
    process.join()
    os.environ["SOTTOVOCE_TEST"] = "newer"
    with open_engine("dask", jobs=1, scratch=Path({str(tmp_path)!r})) as engine:
        print(list(engine.map(os.getenv, ["SOTTOVOCE_TEST"], label="testing")))
"""
    file = tmp_path / "script.py"
    file.write_text(script)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[('SOTTOVOCE_TEST', 'newer')]"


def values(engine: Engine, function: Callable[[int], object], count: int, group: int = 1) -> list:  # type: ignore[type-arg]
    return [
        result for _, result in engine.map(function, range(count), label="testing", group=group)
    ]


@pytest.mark.parametrize(("count", "group"), [(0, 1), (1, 3), (20, 1), (20, 7)])
def test_results_come_in_the_order_of_the_items(dask: DaskEngine, count: int, group: int) -> None:
    expected = [number * number for number in range(count)]
    for engine in (LocalEngine(1), LocalEngine(3), dask):
        assert values(engine, engine_work.square, count, group) == expected


def test_items_are_drawn_only_as_fast_as_results_are_taken(dask: DaskEngine) -> None:
    drawn = []

    def items() -> Iterator[int]:
        for number in range(1000):
            drawn.append(number)
            yield number

    results = dask.map(engine_work.square, items(), label="testing")
    assert next(results) == (0, 0)
    assert len(drawn) <= dask_engine.IN_FLIGHT * 2 + 1
    results.close()  # type: ignore[attr-defined]


def test_an_error_comes_where_its_item_would_and_keeps_its_code(dask: DaskEngine) -> None:
    results = dask.map(engine_work.refuse_seven, range(10), label="testing")
    assert [next(results)[1] for _ in range(7)] == list(range(7))
    with raises_code("seven", InputError):
        next(results)


def test_a_fault_of_the_program_is_no_error_of_the_input(dask: DaskEngine) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        values(dask, engine_work.divide_by_zero, 1)


@pytest.mark.slow
def test_killed_workers_cost_nothing_but_time(dask: DaskEngine) -> None:
    results, killed = [], set()
    for number, (item, process) in dask.map(engine_work.process_of, range(60), label="killing"):
        results.append(item)
        if number in (5, 25) and process not in killed:
            killed.add(process)
            os.kill(process, signal.SIGKILL)
    assert results == list(range(60))
    assert killed


def test_work_goes_on_if_work_inside_of_it_has_connected_anew(dask: DaskEngine) -> None:
    def items() -> Iterator[int]:
        for number in range(6):
            if number == 4:  # as after a loss of the scheduler; earlier results are not taken yet
                dask._close_client(dask._client)
                dask._client = dask._connect(5)
            yield number

    results = [result for _, result in dask.map(engine_work.square, items(), label="testing")]
    assert results == [0, 1, 4, 9, 16, 25]


def test_workers_forget_the_functions_of_a_run(dask: DaskEngine) -> None:
    with open_engine(dask.address, scratch=dask.scratch) as other:
        assert isinstance(other, DaskEngine)
        assert values(other, engine_work.square, 3) == [0, 1, 4]
        assert sum(dask._client.run(engine_work.kept_functions, other._run).values())
        ended = other._run
    assert not sum(dask._client.run(engine_work.kept_functions, ended).values())


def test_a_function_is_kept_while_other_kinds_of_work_run() -> None:
    # between two attacks of an audit: fitting, anonymising, embedding twice, transcribing
    def call(function: Callable[[int], int]) -> int:
        work, items = Payload(pickle.dumps(function)), Payload(pickle.dumps((1,)))
        result: int = remote_work.run_task(Task("kept", 1, work, items, ())).results[0]
        return result

    counted = [call(engine_work.CountCalls())]
    assert [call(engine_work.AddNumber(kind)) for kind in range(5)] == [1, 2, 3, 4, 5]
    counted.append(call(engine_work.CountCalls()))
    remote_work.forget_functions("kept")
    assert counted == [1, 2]


def test_relative_paths_mean_the_same_on_a_worker(dask: DaskEngine) -> None:
    ((_, path),) = dask.map(engine_work.current_path, [Path("here")], label="testing")
    assert path == str(Path("here").absolute())


@pytest.mark.parametrize("mapped", [False, True])
def test_large_arrays_are_shared_by_file(dask: DaskEngine, tmp_path: Path, mapped: bool) -> None:
    table = np.arange(50_000, dtype=np.float32).reshape(500, 100)
    if mapped:
        np.save(tmp_path / "table.npy", table)
        table = np.load(tmp_path / "table.npy", mmap_mode="r")
    shared = dask.share(table)
    assert len(pickle.dumps(shared)) < 1000
    assert (shared.file is not None and shared.file.parent == tmp_path) == mapped
    sums = values(dask, engine_work.SumRows(shared), 5)
    assert sums == values(LocalEngine(1), engine_work.SumRows(LocalEngine(1).share(table)), 5)


def test_a_part_of_a_mapped_array_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    np.save(tmp_path / "table.npy", np.zeros((4, 3)))
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    assert SharedArray.mapped(mapped) is not None
    assert SharedArray.mapped(mapped[1:]) is None
    assert SharedArray.mapped(np.zeros(3)) is None


def test_workers_with_too_little_memory_are_refused(dask: DaskEngine) -> None:
    with raises_code("too-little-memory", InputError):
        list(dask.map(engine_work.square, [1], label="testing", memory=10**12))


def test_what_cannot_be_sent_is_refused(dask: DaskEngine) -> None:
    with raises_code("not-picklable", UsageError):
        values(dask, lambda number: number, 1)


def test_the_user_is_told_of_workers_and_dashboard(dask: DaskEngine, lines: list[str]) -> None:
    assert "2 workers" in lines[0] and "1.5 GB" in lines[0] and "http://127.0.0.1" in lines[0]
    values(dask, engine_work.square, 3)
    summary = "\n".join(dask.summary.lines())
    assert "testing: " in summary and "CPU s" in summary and "MB moved" in summary


# ================================================================================ without a cluster


@pytest.mark.parametrize("name", ["spark", "", "http://host:8786", "LOCAL"])
def test_unknown_engines_are_refused(name: str) -> None:
    with raises_code("unknown-engine", UsageError), open_engine(name):
        pass


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dask_engine, "CONNECTING", 0.0)
    with (
        raises_code("engine-unreachable", InputError),
        open_engine("tcp://127.0.0.1:9", scratch=tmp_path),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_what_dask_may_print_says_nothing(tmp_path: Path) -> None:
    private = Payload(pickle.dumps("Mrs Plantedname"), tmp_path / "work")
    task = Task("run", 3, private, Payload(pickle.dumps("said this")), installed_versions())
    assert repr(task) == "Task(3)" and repr(private) == "Payload()"
    assert b"Plantedname" not in pickle.dumps(private)
    assert stat.S_IMODE((tmp_path / "work").stat().st_mode) == 0o600
    outcome = remote_work.run_task(task)
    assert "said" not in repr(outcome) and "said" not in repr(outcome.failure)


def test_only_what_the_client_has_written_is_unpickled(tmp_path: Path) -> None:
    payload = Payload(pickle.dumps([1, 2]), tmp_path / "work")
    assert payload.load() == [1, 2]
    (tmp_path / "work").write_bytes(pickle.dumps([1, 3]))
    with raises_code("damaged", InputError):
        payload.load()
    payload.remove()
    with raises_code("scratch-unreachable", InputError):
        payload.load()


def test_other_versions_are_refused() -> None:
    check_versions(installed_versions())
    other = [(name, "0.0" if name == "numpy" else text) for name, text in installed_versions()]
    with raises_code("version-mismatch", InputError):
        check_versions(tuple(other))
    task = Task("run", 0, Payload(b""), Payload(b""), tuple(other))
    failure = remote_work.run_task(task).failure
    assert failure is not None and failure.code == "version-mismatch"


def test_threads_wait_for_memory() -> None:
    room, held = remote_work._Room(), 0
    most: list[int] = []

    def work(number: int) -> None:
        nonlocal held
        with room.taken(400, 1000):
            held += 400
            most.append(held)
            time.sleep(0.02)
            held -= 400

    for _ in LocalEngine(4).map(work, range(12), label="testing"):
        pass
    assert len(most) == 12 and max(most) <= 1000
    with room.taken(5000, 1000):  # alone it always runs
        pass


def test_errors_survive_the_way_back() -> None:
    error = Failure.of(UsageError("no such thing", code="unknown-name")).error()
    assert isinstance(error, UsageError) and error.code == "unknown-name"
    assert isinstance(Failure.of(MemoryError("full")).error(), MemoryError)


def test_the_scratch_folder_is_private_and_temporary(tmp_path: Path) -> None:
    abandoned = tmp_path / "x"
    with scratch_folder(tmp_path) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        host = folder.name.rsplit("-", 2)[0]
        abandoned = tmp_path / f"{host}-99999999-abcd"
        abandoned.mkdir()
        with scratch_folder(tmp_path) as second:
            assert second != folder and folder.is_dir()
        assert not abandoned.exists()
    assert not list(tmp_path.iterdir())
