"""What the user names: inputs by content, and what items still need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest, write_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.papers.catalogue import ITEMS, list_items
from sottovoce.papers.data import NEEDS, OPTIONAL, PaperData, corpus_remarks, input_digest


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=4, utterances=2)


def without_transcripts(corpus: Path, folder: Path) -> Path:
    """A list of the same recordings without their words."""
    silent = [replace(utterance, transcript="") for utterance in read_manifest(corpus)]
    write_manifest(Corpus("silent", corpus, tuple(silent)), folder)
    return folder


def test_digests_follow_the_content_of_files(tmp_path: Path) -> None:
    vectors = tmp_path / "glove.txt"
    vectors.write_text("a 1 2\n")
    first = input_digest(vectors)
    vectors.write_text("a 1 3\n")
    assert input_digest(vectors) != first
    assert input_digest(tmp_path / "nothing") == ""


def test_digests_of_folders_follow_names_and_sizes_of_recordings(tmp_path: Path) -> None:
    digests = set()
    for name, size in (("a.wav", 3), ("a.wav", 4), ("b.wav", 4)):
        folder = tmp_path / f"{name}{size}" / "dev" / "speaker"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(b"x" * size)
        digests.add(input_digest(folder.parent))
    assert len(digests) == 3


def test_digests_of_corpora_follow_their_lists(tmp_path: Path) -> None:
    for place, content in (("here", "id,path"), ("there", "id,path"), ("elsewhere", "id,pile")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "manifest.csv").write_text(content)
        (tmp_path / place / place).touch()
    here, there, elsewhere = (input_digest(tmp_path / n) for n in ("here", "there", "elsewhere"))
    assert here == there != elsewhere


@pytest.mark.parametrize("name", ["spk2gender", "utt2split", "utt2lang", "text"])
@pytest.mark.parametrize("given", ["", "wav.scp"])
def test_digests_of_kaldi_directories_follow_all_their_files(
    name: str, given: str, tmp_path: Path
) -> None:
    for file, line in (("wav.scp", "u a.wav"), ("utt2spk", "u s"), (name, "u one")):
        (tmp_path / file).write_text(f"{line}\n")
    before = input_digest(tmp_path / given)
    (tmp_path / name).write_text("u two\n")
    assert input_digest(tmp_path / given) != before


def test_digests_of_folders_follow_the_content_of_other_files(tmp_path: Path) -> None:
    """A name that becomes a place has as many letters."""
    path = tmp_path / "en" / "test.conll"
    path.parent.mkdir()
    path.write_text("Chelsea\tB-PER\n")
    before = input_digest(tmp_path)
    path.write_text("Chelsea\tB-LOC\n")
    assert input_digest(tmp_path) != before


def test_named_inputs_have_no_folders(tmp_path: Path) -> None:
    data = PaperData(tmp_path, corpus="/secret/place/dev", vectors=(Path("/secret/a.txt"),))
    named = data.named(["corpus", "vectors"])
    assert [[entry.name for entry in entries] for entries in named.values()] == [["dev"], ["a.txt"]]
    assert "secret" not in str(named)
    assert set(data.named(["train", "vectors"])) == {"vectors"}


def test_items_that_use_vectors_declare_them() -> None:
    for name in ("figure-18", "figure-19", "table-9"):
        assert "vectors" in ITEMS[f"004-{name}"].needs
    for item in ITEMS.values():
        assert set(item.needs) <= {*NEEDS, *OPTIONAL}


def test_optional_inputs_are_never_missing(tmp_path: Path) -> None:
    assert PaperData(tmp_path).missing(["vectors"]) is None


def test_a_corpus_without_transcripts_is_told(corpus: Path, tmp_path: Path) -> None:
    silent = PaperData(tmp_path, corpus=str(without_transcripts(corpus, tmp_path / "silent")))
    assert silent.missing(["transcripts"]) == NEEDS["transcripts"]
    assert {row.id: row.status for row in list_items(silent)}["004-table-5"] == "needs"
    for speech in (PaperData(tmp_path, corpus=str(corpus)), PaperData(tmp_path)):
        assert speech.missing(["transcripts"]) is None


def test_speech_commands_are_known_by_name(tmp_path: Path) -> None:
    for name, count in (("speech_commands740", 1), ("Speech Commands", 1), ("libri40", 0)):
        assert len(corpus_remarks(Corpus(name, tmp_path, ()))) == count
