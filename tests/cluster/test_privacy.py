"""Nothing private is in the logs, task graphs and pages of a cluster; and its scheduler may die."""

from __future__ import annotations

import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from dask_processes import Processes, dask_processes
from engine_work import process_of, refuse_seven
from error_codes import raises_code
from small_corpus import make_corpus

pytest.importorskip("distributed")

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice import make_method
from sottovoce.anonymise.voice.corpus import anonymise_corpus
from sottovoce.core.dask_engine import DaskEngine
from sottovoce.core.engine import open_engine
from sottovoce.core.errors import InputError
from sottovoce.corpus import open_corpus
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.corpus_embedding import embed_corpus
from sottovoce.speaker.encoders import campplus

NAME, WORDS = "Plantedname", "the planted transcript of a patient"
PAGES = (
    "info/main/workers.html",
    "info/logs.html",
    "info/call-stacks.html",
    "json/counts.json",
    "json/index.html",
    "api/v1",
    "health",
    "metrics",
)
LIVE_PAGES = (
    "status",
    "workers",
    "tasks",
    "graph",
    "groups",
    "profile",
    "exceptions",
    "events",
    "individual-task-stream",
    "individual-progress",
    "individual-memory-by-key",
    "individual-aggregate-time-per-action",
)
"""Pages of the dashboard, for which Bokeh must be installed."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "support"))
    (tmp_path / "logs").mkdir()
    with dask_processes(tmp_path / "logs", free_port()) as started:
        yield started


def planted_corpus(folder: Path) -> Corpus:
    made = open_corpus(make_corpus(folder))
    rows = (folder / "manifest.csv").read_text("utf-8").splitlines()
    assert rows[0].split(",")[2] == "speaker"
    utterances = [
        type(utterance)(
            f"{NAME}-{utterance.id}",
            utterance.path,
            f"{NAME} {utterance.speaker}",
            transcript=WORDS,
        )
        for utterance in list(made)[:4]
    ]
    corpus = Corpus("voices", folder, tuple(utterances))
    write_manifest(corpus, folder)
    return corpus


def watch(processes: Processes, pages: list[bytes], stop: threading.Event) -> None:
    """Read every page again and again while the work goes on."""
    opener = urllib.request.build_opener()
    while not stop.is_set():
        for page in PAGES:
            try:
                address = f"http://127.0.0.1:{processes.port + 1}/{page}"
                with opener.open(address, timeout=2) as answer:
                    pages.append(answer.read())
            except OSError:
                continue
        time.sleep(0.1)


def watch_dashboard(processes: Processes, contents: list[bytes], stop: threading.Event) -> None:
    """Read what the live pages of the dashboard show, as a browser does."""
    from bokeh.client import pull_session

    address = f"http://127.0.0.1:{processes.port + 1}"
    sessions = [pull_session(url=f"{address}/{page}") for page in LIVE_PAGES]
    finished = False
    while not finished:
        finished = stop.is_set()
        for session in sessions:
            session.force_roundtrip()
            session.pull()
            with np.printoptions(threshold=sys.maxsize):
                shown = [model.properties_with_values() for model in session.document.models]
                contents.append(str(shown).encode())
        time.sleep(0.5)
    for session in sessions:
        session.close()


def graph_of(engine: DaskEngine) -> bytes:
    """Everything that the scheduler holds about tasks, events and workers, as text and pickles."""

    def dump(dask_scheduler):  # type: ignore[no-untyped-def]
        import pickle

        held = [str(dict(dask_scheduler.get_events())), str(dask_scheduler.transition_log)]
        specs = [task.run_spec for task in dask_scheduler.tasks.values()]
        names = [str(key) for key in dask_scheduler.tasks]
        return "\n".join(held + names).encode() + pickle.dumps(specs)

    return bytes(engine._client.run_on_scheduler(dump))


def test_secret_name_and_transcript_are_nowhere(processes: Processes, tmp_path: Path) -> None:
    corpus = planted_corpus(tmp_path / NAME / "voices")
    secret = Secret.generate()
    secret.save(tmp_path / "s.secret")
    seen: list[bytes] = []
    stop = threading.Event()
    watchers = [threading.Thread(target=watch, args=(processes, seen, stop))]
    live: list[bytes] = []
    if find_spec("bokeh") is not None:
        watchers.append(threading.Thread(target=watch_dashboard, args=(processes, live, stop)))
    with open_engine(processes.address, scratch=tmp_path) as engine:
        assert isinstance(engine, DaskEngine)
        for watcher in watchers:
            watcher.start()
        graphs: list[bytes] = []
        anonymise_corpus(
            corpus,
            make_method("vtln", secret),
            tmp_path / "out",
            secret=secret,
            engine=engine,
            progress=lambda done, total: graphs.append(graph_of(engine)),
        )
        embed_corpus(corpus, campplus(), tmp_path / "e.npz", engine=engine)
        with raises_code("seven", InputError):  # an error whose message holds a name
            list(engine.map(refuse_seven, range(9), label="failing"))
        stop.set()
        for watcher in watchers:
            watcher.join()
    processes.close()
    logs = [log.read_bytes() for log in processes.logs]
    assert len(seen) >= len(PAGES) and any(len(graph) > 500 for graph in graphs)
    assert any(b"distributed" in log for log in logs)
    if len(watchers) == 2:
        for label in (b"anonymising", b"embedding", b"failing"):  # tasks are shown, by label
            assert any(label in content for content in live)
    for text in (*seen, *live, *graphs, *logs):
        for planted in (NAME.encode(), WORDS.encode(), secret._key, secret._key.hex().encode()):
            assert planted not in text


@pytest.mark.slow
def test_work_goes_on_with_a_restarted_scheduler(processes: Processes, tmp_path: Path) -> None:
    results = []
    with open_engine(processes.address, scratch=tmp_path) as engine:
        assert isinstance(engine, DaskEngine)
        for number, (item, _) in engine.map(process_of, range(80), label="counting"):
            results.append(item)
            if number == 10:
                processes.restart_scheduler()
        assert engine.summary.reconnected >= 1
    assert results == list(range(80))


@pytest.mark.slow
def test_a_scheduler_that_is_lost_inside_of_other_work(
    processes: Processes, tmp_path: Path
) -> None:
    with open_engine(processes.address, scratch=tmp_path) as engine:
        assert isinstance(engine, DaskEngine)

        def items() -> Iterator[int]:
            for number in range(6):
                if number == 4:  # results of the first ones are waited for later
                    processes.restart_scheduler()
                inner = [result[0] for _, result in engine.map(process_of, range(9), label="in")]
                assert inner == list(range(9))
                yield number

        results = [result[0] for _, result in engine.map(process_of, items(), label="out")]
        assert engine.summary.reconnected == 1
    assert results == list(range(6))
