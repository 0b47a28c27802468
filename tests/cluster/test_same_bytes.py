"""Commands and functions give the same bytes on threads and on a cluster."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_corpus import make_corpus, study

pytest.importorskip("distributed")

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.export import export_corpus
from sottovoce.anonymise.recording.secure import Settings
from sottovoce.anonymise.text.document_search import search_documents, with_findings
from sottovoce.anonymise.text.multilingual_detector import make_detector
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.anonymise.voice import corpus as voice_corpus
from sottovoce.anonymise.voice import make_method
from sottovoce.anonymise.voice.corpus import anonymise_corpus
from sottovoce.audit.run import run_audit
from sottovoce.core.engine import Engine, LocalEngine, open_engine
from sottovoce.core.records import dump_json
from sottovoce.corpus import open_corpus
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.measure import measure_scores
from sottovoce.measure.readers.parquet import scan_parquet, stream_scores
from sottovoce.measure.reidentification import reidentify
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.measure.score_stream import with_engine
from sottovoce.speaker import Embeddings
from sottovoce.speaker.corpus_embedding import embed_corpus
from sottovoce.speaker.encoders import campplus


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_engine("dask", jobs=2, scratch=tmp_path_factory.mktemp("scratch")) as engine:
        yield engine


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return open_corpus(make_corpus(tmp_path_factory.mktemp("corpus") / "voices"))


def content(folder: Path) -> dict[str, str]:
    """SHA-256 of every file."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("method", "rename"),
    [
        ("mcadams", True),
        ("dar", False),
        pytest.param("voicemask", False, marks=pytest.mark.slow),
        pytest.param("vtln", False, marks=pytest.mark.slow),
        pytest.param("xvector", False, marks=pytest.mark.slow),
    ],
)
def test_anonymised_speech(
    method: str, rename: bool, dask: Engine, voices: Corpus, tmp_path: Path
) -> None:
    chosen = voices.select(speakers=voices.speakers[:4])
    secret = Secret.generate()
    saved = tmp_path / "s.secret"
    for name, engine in {"local": LocalEngine(2), "dask": dask}.items():
        anonymise_corpus(
            chosen,
            make_method(method, secret),
            tmp_path / name,
            secret=secret,
            rename=rename,
            engine=engine,
            on_first_write=lambda: None if saved.exists() else secret.save(saved),
        )
    assert content(tmp_path / "local") == content(tmp_path / "dask")
    assert len(content(tmp_path / "dask")) > len(chosen)


def test_a_run_on_a_cluster_is_continued_by_threads(
    dask: Engine, voices: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Secret.reproducible(3)
    monkeypatch.setattr(voice_corpus, "GROUP", 1)

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    method = make_method("mcadams", secret)
    with pytest.raises(KeyboardInterrupt):
        anonymise_corpus(voices, method, tmp_path / "a", secret=secret, engine=dask, progress=stop)
    result = anonymise_corpus(voices, make_method("mcadams", secret), tmp_path / "a", secret=secret)
    assert result.resumed >= 5
    anonymise_corpus(voices, make_method("mcadams", secret), tmp_path / "b", secret=secret)
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_embeddings(dask: Engine, voices: Corpus, tmp_path: Path) -> None:
    for name, engine in {"local": LocalEngine(2), "dask": dask}.items():
        embed_corpus(voices, campplus(), tmp_path / f"{name}.npz", engine=engine)
    assert (tmp_path / "local.npz").read_bytes() == (tmp_path / "dask.npz").read_bytes()


def test_measures_of_shards(dask: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for shard in range(5):
        label = np.repeat(["mated", "nonmated"], [40, 4000])
        score = np.concatenate([rng.normal(1, 1, 40), rng.normal(0, 1, 4000)]).astype(np.float32)
        pl.DataFrame({"score": score, "label": label}).write_parquet(tmp_path / f"{shard}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    stream = stream_scores(tmp_path, files, *scan_parquet(tmp_path, files), in_parts=True)
    results = {
        dump_json(measure_scores(with_engine(stream, engine), replicates=200))
        for engine in (LocalEngine(1), LocalEngine(3), dask)
    }
    assert len(results) == 1


@pytest.mark.parametrize("mapped", [False, True])
def test_reidentification(dask: Engine, tmp_path: Path, mapped: bool) -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((400, 24), np.float32)
    if mapped:
        np.save(tmp_path / "vectors.npy", vectors)
        vectors = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    names = [f"{number:03}" for number in range(400)]
    noise = rng.standard_normal((3, 300, 24), np.float32)
    spoken = (vectors[:300] + 1.5 * noise).reshape(-1, 24)
    enrol, trial = Embeddings.of(vectors, names), Embeddings.of(spoken, names[:300] * 3)
    settings = ReidentificationSettings(lengths=(1,), draws=10)
    results = {
        dump_json(reidentify(enrol, trial, settings=settings, engine=engine))
        for engine in (LocalEngine(1), LocalEngine(3), dask)
    }
    assert len(results) == 1


def test_texts(dask: Engine) -> None:
    texts = [
        SourceText(f"Ask Zorbalda Quint and Bob in Berlin, {i} times.", f"call {i // 9}")
        for i in range(40)
    ] + [SourceText(f"so quint came {i} times", f"call {i}") for i in range(4)]
    detector = make_detector("en", deny={"zorbalda quint": "PER"})
    found = [
        search_documents(detector, lambda: texts, chunk_size=300, engine=engine)
        for engine in (LocalEngine(1), dask)
    ]
    local, remote = (list(with_findings(texts, search)) for search in found)
    assert local == remote and any(findings for _, findings, _ in local)
    assert found[0].passes == found[1].passes > 1


def test_secured_recordings(dask: Engine, tmp_path: Path) -> None:
    pytest.importorskip("pocketsphinx")
    corpus = read_manifest(builtin_corpus(tmp_path / "cache", speakers=2, utterances=4))
    words = sorted({word for u in corpus for word in u.transcript.split() if len(word) > 6})[:6]
    results = [
        export_corpus(
            corpus,
            tmp_path / name / "out",
            purpose="acoustic",
            secret=Secret.reproducible(2),
            settings=Settings(),
            listed=words,
            method=make_method("mcadams", Secret.reproducible(2)),
            engine=engine,
        )
        for name, engine in {"local": LocalEngine(1), "dask": dask}.items()
    ]
    assert results[0] == results[1] and results[0].files
    assert content(tmp_path / "local") == content(tmp_path / "dask")


@pytest.mark.slow
def test_a_whole_audit_with_workers_killed(dask: Engine, voices: Corpus, tmp_path: Path) -> None:
    planned = study(voices.root, attackers=["ignorant"])
    planned = planned.model_copy(
        update={"utility": planned.utility.model_copy(update={"quality": False})}
    )
    run_audit(planned, tmp_path / "local", audio=False)
    kills: list[int] = []

    def kill(stage: str, done: int, total: int) -> None:
        busy = getattr(dask, "summary").by_worker  # noqa: B009
        if stage.startswith(("anonymising", "embedding")) and len(kills) < 2 and done > len(kills):
            for worker in list(busy)[::-1]:
                process = int(worker.rpartition(":")[2])
                if process not in kills:
                    kills.append(process)
                    try:
                        os.kill(process, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
                    return

    run_audit(planned, tmp_path / "dask", engine=dask, audio=False, progress=kill)
    assert kills
    local, remote = content(tmp_path / "local"), content(tmp_path / "dask")
    assert remote["measures.json"] == local["measures.json"]
    assert remote == local
