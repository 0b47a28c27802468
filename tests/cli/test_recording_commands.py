"""sottovoce align, slice and anonymise recording: what a person sees and gets."""

from __future__ import annotations

import json
import logging
import stat
from pathlib import Path
from typing import ClassVar

import pytest
from error_codes import raises_code

from sottovoce.anonymise.recording import align as align_module
from sottovoce.anonymise.recording import pronunciation
from sottovoce.anonymise.recording.verification import Verifier
from sottovoce.anonymise.recording.word_times import (
    Alignment,
    TimedPhone,
    TimedWord,
    as_textgrid,
    read_ctm,
)
from sottovoce.asr.recogniser import RECOGNISERS
from sottovoce.cli import run
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import Audio
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest

pytest.importorskip("pocketsphinx")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=2, utterances=2)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No espeak-ng, and a ledger of the test's own."""
    monkeypatch.setattr(pronunciation, "espeak_path", lambda: None)
    monkeypatch.setattr(align_module, "espeak_path", lambda: None)
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger.jsonl"))


def recording(corpus: Path, tmp_path: Path) -> tuple[str, str]:
    utterance = read_manifest(corpus).utterances[0]
    text = tmp_path / "transcript.txt"
    text.write_text(utterance.transcript)
    return str(utterance.path), str(text)


def test_align_one_file(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audio, text = recording(corpus, tmp_path)
    assert run(["align", audio, text]) == 0
    printed = capsys.readouterr()
    (tmp_path / "printed.ctm").write_text(printed.out)
    (words,) = read_ctm(tmp_path / "printed.ctm").values()
    assert " ".join(word.text for word in words).split()[0] in Path(text).read_text()
    assert "1 of 1 aligned" in printed.err
    for name in ("x.json", "grids"):
        assert run(["align", audio, text, "--to", str(tmp_path / name)]) == 0
    document = json.loads((tmp_path / "x.json").read_text())
    (alignment,) = document["utterances"].values()
    assert len(alignment["words"]) == len(words) and alignment["words"][0]["phones"][0]["ipa"]
    (grid,) = (tmp_path / "grids").glob("*.TextGrid")
    assert grid.read_text().startswith('File type = "ooTextFile"')


def test_align_overwrites_nothing(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audio, text = recording(corpus, tmp_path)
    grid = tmp_path / "grids" / f"{Path(audio).stem}.TextGrid"
    grid.parent.mkdir()
    for existing in (tmp_path / "mine.json", tmp_path / "mine", grid):
        existing.write_text("years of work")
    for target in ("mine.json", "mine", "grids"):
        assert run(["align", audio, text, "--to", str(tmp_path / target)]) == 2
        error = capsys.readouterr().err
        assert "there already; name another" in error and error.count("\n") == 1
    for existing in (tmp_path / "mine.json", tmp_path / "mine", grid):
        assert existing.read_text() == "years of work"
    words = Path(text).read_text()
    rows = [f'{name},{audio},ann,"{words}"' for name in ("ann/b_1", "ann_b/1")]
    (tmp_path / "m.csv").write_text("utterance,path,speaker,transcript\n" + "\n".join(rows))
    assert run(["align", str(tmp_path / "m.csv"), "--to", str(tmp_path / "both")]) == 2
    error = capsys.readouterr().err
    assert "ann/b_1 and ann_b/1 would share ann_b_1.TextGrid" in error and error.count("\n") == 1
    assert not (tmp_path / "both").exists()
    assert run(["align", str(tmp_path / "m.csv"), "--to", str(tmp_path / "both.json")]) == 0
    assert len(json.loads((tmp_path / "both.json").read_text())["utterances"]) == 2


def test_wrong_use_is_one_line(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audio, text = recording(corpus, tmp_path)
    out = str(tmp_path / "out")
    both = ["anonymise", "recording", str(corpus)]
    empty = tmp_path / "empty.txt"
    empty.write_text("someone else\n")
    for wrong in (
        ["align", audio],
        ["align", audio, text, "--to", "x.wav"],
        ["align", audio, text, "--lang", "de"],
        ["align", str(corpus), str(empty)],
        ["align", "nowhere.wav", text],
        ["slice", str(corpus), out, "--seconds", "0"],
        ["slice", str(corpus), out, "--times", "nowhere.ctm"],
        [*both, out],
        [*both, "--purpose", "acoustic"],
        [*both, out, "--purpose", "acoustic", "--only-words"],
        [*both, out, "--purpose", "text", "--verify", "--words", str(empty)],
        [*both, out, "--purpose", "acoustic", "--verify", "--recogniser", "nobody"],
        [*both, out, "--purpose", "acoustic", "--length", "long"],
        [*both, out, "--purpose", "acoustic", "--slice", "0"],
        [*both, out, "--purpose", "acoustic", "--voice", "nobody", "--words", str(empty)],
    ):
        assert run(wrong) == 2, wrong
        assert capsys.readouterr().err.count("\n") == 1, wrong
    assert not Path(out).exists() and not Path(f"{out}.secret").exists()


def test_what_cannot_be_done_is_one_line_and_leaves_nothing(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audio, text = recording(corpus, tmp_path)
    (tmp_path / "signs.txt").write_text("... \N{GRINNING FACE} !")
    (tmp_path / "words.txt").write_text("the\n")
    (tmp_path / "broken.wav").write_bytes(b"no sound" * 99)
    (tmp_path / "bad.ctm").write_text("what is this\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    signs, broken, out = (str(tmp_path / name) for name in ("signs.txt", "broken.wav", "out"))
    before = sorted(path.name for path in tmp_path.iterdir())
    command = ["--purpose", "acoustic", "--only-words", "--words", str(tmp_path / "words.txt")]
    command += ["--voice", "none"]
    for wrong, reason in (
        (["align", audio, signs], "no words in the text"),
        (["align", audio, signs, "--to", f"{out}.json"], "no words in the text"),
        (["align", broken, text], "not audio"),
        (["anonymise", "recording", audio, signs, out, *command], "no words in the text"),
        (["anonymise", "recording", broken, text, out, *command], "not audio"),
        (["anonymise", "recording", audio, text, str(tmp_path / "full"), *command], "not empty"),
        (["slice", str(corpus), out, "--times", str(tmp_path / "bad.ctm")], "bad.ctm:1"),
    ):
        assert run(wrong) == 2, wrong
        error = capsys.readouterr().err
        assert reason in error and error.count("\n") == 1, error
    after = {path.name for path in tmp_path.iterdir() if path.name[0] != "."} - {"ledger.jsonl"}
    assert sorted(after) == before


def test_slice_does_not_advise_an_argument_it_does_not_have(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audio, _ = recording(corpus, tmp_path)
    bare = tmp_path / "bare" / "ann"
    bare.mkdir(parents=True)
    (bare / "a.wav").write_bytes(Path(audio).read_bytes())
    for source in (audio, str(bare.parent)):
        assert run(["slice", source, str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert "TEXT" not in error and "text of the recording too" not in error
        assert "manifest.csv" in error and error.count("\n") == 1


def test_align_lists_reasons(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transcripts = {u.id: u.transcript for u in read_manifest(corpus)}
    ids = list(transcripts)
    transcripts[ids[1]] = "?!"
    lines = [f"{name} {words}\n" for name, words in transcripts.items()]
    (tmp_path / "text").write_text("".join(lines))
    assert run(["align", str(corpus), str(tmp_path / "text")]) == 1
    error = capsys.readouterr().err
    assert f"not aligned {ids[1]}: no words in the text" in error and "3 of 4 aligned" in error


def test_a_run_that_masks_nothing_says_so(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audio, text = recording(corpus, tmp_path)
    (tmp_path / "words.txt").write_text("zanzibar\n")
    command = [
        "anonymise",
        "recording",
        audio,
        text,
        str(tmp_path / "out"),
        "--purpose",
        "acoustic",
    ]
    command += ["--voice", "none", "--only-words", "--words", str(tmp_path / "words.txt")]
    assert run(command) == 0
    assert "no word was masked; check the list of words" in capsys.readouterr().err


def test_slices(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = ["--times", str(corpus / "words.ctm")]
    out = tmp_path / "out"
    assert run(["slice", str(corpus), str(out), "--seconds", "1", *times, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["pieces"] == len(read_manifest(out)) > document["utterances"] == 4
    assert (tmp_path / "out.secret").exists()
    (tmp_path / "other.txt").write_text("the old man went home\nthe dog went to the old man\n" * 3)
    attack = ["reassemble", str(out), "--map", f"{out}.map.csv", "--no-interval"]
    assert run([*attack, "--train", str(tmp_path / "other.txt"), "--json"]) == 0
    assert 2 <= json.loads(capsys.readouterr().out)["slices"] <= document["pieces"]
    hard = ["slice", str(corpus), str(tmp_path / "hard"), "--hard", "all", "--seconds", "0.5"]
    assert run([*hard, "--reproducible", "1"]) == 0
    assert all(piece.transcript == "" for piece in read_manifest(tmp_path / "hard"))


def test_an_export_and_a_refusal(
    corpus: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No word of a transcript is logged or printed, by this program or by what it calls."""
    caplog.set_level(logging.DEBUG)
    audio, text = recording(corpus, tmp_path)
    secret_word = max(Path(text).read_text().split(), key=len).strip(".,")
    (tmp_path / "words.txt").write_text(secret_word)
    command = ["anonymise", "recording", audio, text]
    words = ["--words", str(tmp_path / "words.txt"), "--only-words", "--reproducible", "1"]
    first = str(tmp_path / "speech")
    assert run([*command, first, "--purpose", "acoustic", "--slice", "1", *words]) == 0
    assert run([*command, str(tmp_path / "text"), "--purpose", "text", *words]) == 2
    printed = capfd.readouterr()
    assert "both together would show" in printed.err and not (tmp_path / "text").exists()
    everything = (printed.out + printed.err + caplog.text).lower()
    assert secret_word.lower() not in everything
    record = json.loads((Path(first) / "export.json").read_text())
    assert record["files"] + record["withheld"] > 0 and not record["in_house_only"]
    assert secret_word.lower() not in (Path(first) / "manifest.csv").read_text().lower()
    house = [*command, str(tmp_path / "house"), "--purpose", "text", "--in-house", *words]
    assert run([*house, "--strategy", "redact"]) == 0
    assert secret_word.lower() not in (tmp_path / "house" / "texts.jsonl").read_text().lower()


class Parrot:
    """A recogniser of another package, which always hears the same word."""

    languages: ClassVar[frozenset[str]] = frozenset({"lv"})

    def transcribe(self, audio: Audio, rate: int) -> str:
        return "zanzibar"


def test_verify_attacks_with_the_recogniser_that_was_chosen(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(RECOGNISERS, "_added", {**RECOGNISERS._added, "parrot": Parrot})
    audio, text = recording(corpus, tmp_path)
    longest = max(Path(text).read_text().split(), key=len).strip(".,")
    (tmp_path / "words.txt").write_text(longest)
    command = ["anonymise", "recording", audio, text, str(tmp_path / "out"), "--in-house"]
    command += ["--purpose", "acoustic", "--voice", "none", "--reproducible", "1", "--only-words"]
    command += ["--words", str(tmp_path / "words.txt"), "--verify", "--recogniser", "parrot"]
    assert run([*command, "--json"]) == 0
    printed = capsys.readouterr()
    verification = json.loads(printed.out)["verification"]
    assert verification["open_before"]["hits"] == 0 < verification["open_before"]["total"]
    words = verification["errors_before"]
    assert words["errors"] == words["words"] > 1
    assert "parrot does not understand 'en'" in printed.err


class Babbler:
    """A recogniser that hears far more than was said, and a word that was masked elsewhere."""

    languages: ClassVar[frozenset[str]] = frozenset({"en"})
    heard = "call Ann Lee she spells it l e e or so " * 5

    def transcribe(self, audio: Audio, rate: int) -> str:
        return self.heard


def verified(corpus: Path, tmp_path: Path, *more: str) -> int:
    audio, text = recording(corpus, tmp_path)
    longest = max(Path(text).read_text().split(), key=len).strip(".,")
    (tmp_path / "words.txt").write_text(longest)
    command = ["anonymise", "recording", audio, text, str(tmp_path / "out")]
    command += ["--purpose", "acoustic", "--voice", "none", "--words", str(tmp_path / "words.txt")]
    return run([*command, "--verify", "--recogniser", "babbler", *more])


def test_more_errors_than_words_and_missed_words(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Word error rates above 100 % are reported; what is heard is located, never repeated."""
    monkeypatch.setattr(RECOGNISERS, "_added", {**RECOGNISERS._added, "babbler": Babbler})
    assert verified(corpus, tmp_path, "--json") == 1
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    errors = document["verification"]["errors_before"]
    assert errors["errors"] > errors["words"] and errors["share"] > 1
    assert {place["why"] for place in document["look_at"]} == {"private-word", "letters"}
    (utterance,) = {place["utterance"] for place in document["look_at"]}
    assert all(0 <= place["start"] <= place["end"] <= 10 for place in document["look_at"])
    assert f"{utterance} 0." in printed.err and "ann" not in printed.err.lower().split()
    beside = tmp_path / "out.review.csv"
    assert beside.read_text().count(utterance) == len(document["look_at"])
    assert stat.S_IMODE(beside.stat().st_mode) == 0o600


def test_a_verification_that_fails_leaves_nothing(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(RECOGNISERS, "_added", {**RECOGNISERS._added, "babbler": Babbler})

    def fail(verifier: Verifier, rng: object) -> None:
        raise TooFewError("broken")

    monkeypatch.setattr(Verifier, "report", fail)
    results = str(tmp_path / "results.json")
    assert verified(corpus, tmp_path, "--json", results) == 2
    left = {path.name for path in tmp_path.iterdir() if path.name[0] != "."}
    assert left == {"transcript.txt", "words.txt", "ledger.jsonl"}
    assert len((tmp_path / "ledger.jsonl").read_text().splitlines()) == 1  # the key alone
    monkeypatch.undo()
    monkeypatch.setattr(RECOGNISERS, "_added", {**RECOGNISERS._added, "babbler": Babbler})
    not_a_folder = f"{tmp_path}/words.txt/results.json"
    assert verified(corpus, tmp_path, "--in-house", "--json", not_a_folder) == 2
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.secret").exists()


def test_letters_in_a_row_are_never_released_silently(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audio, text = recording(corpus, tmp_path)
    Path(text).write_text(Path(text).read_text() + " b t w")
    (tmp_path / "words.txt").write_text("zanzibar\n")
    command = ["anonymise", "recording", audio, text, str(tmp_path / "out"), "--purpose", "text"]
    assert run([*command, "--only-words", "--words", str(tmp_path / "words.txt")]) == 0
    printed = capsys.readouterr().err
    assert "look at 1 place in 1 utterance" in printed and "letters in a row" in printed


def test_a_review_on_the_command_line(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Propose, decide, export; the same decisions give the same bytes, and say who decided."""
    audio, text = recording(corpus, tmp_path)
    words = Path(text).read_text().split()
    command = ["anonymise", "recording", audio, text, "--purpose", "acoustic"]
    more = ["--in-house", "--voice", "none", "--reproducible", "3"]
    proposal, reviewed = tmp_path / "proposal.json", tmp_path / "reviewed.json"
    assert run([*command, "--propose", str(proposal)]) == 0
    printed = capsys.readouterr()
    assert "by models" in printed.out and "as private as the texts" in printed.err
    assert not any(word.strip(".,").lower() in proposal.read_text().lower() for word in words[-2:])
    assert run([*command, "--propose", str(proposal)]) == 2
    content = json.loads(proposal.read_text())
    (document,) = content["documents"]
    first = {**document["decisions"][0], "mask": False, "by": "person"}
    start = Path(text).read_text().index(words[0])
    mine = {"start": start, "end": start + len(words[0]), "kind": "MISC", "mask": True}
    document["decisions"] = [{**mine, "by": "person"}, first, *document["decisions"][1:]]
    document["stretches"] = [{"start": 0.0, "end": 0.05}]
    reviewed.write_text(json.dumps(content))
    for name in ("a", "b"):
        decided = [str(tmp_path / name), "--decisions", str(reviewed), *more, "--json"]
        assert run([*command, *decided]) == 0
        counts = json.loads(capsys.readouterr().out)["decided"]
        assert counts["person"] == 2 and counts["kept_by_person"] == 1 and counts["model"] >= 1
        record = json.loads((tmp_path / name / "export.json").read_text())
        assert record["decided"] == counts
    exported = [
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.*")} for name in "ab"
    ]
    assert exported[0] == exported[1]
    (line,) = read_manifest(tmp_path / "a").utterances
    kept = Path(text).read_text()[first["start"] : first["end"]]
    assert kept in line.transcript and words[0] not in line.transcript.split()
    Path(text).write_text(Path(text).read_text() + " and more")
    assert run([*command, str(tmp_path / "c"), "--decisions", str(reviewed), *more]) == 2
    assert "have changed since they were reviewed" in capsys.readouterr().err
    text_export = ["--purpose", "text", "--in-house", "--decisions", str(reviewed)]
    Path(text).write_text(" ".join(words))
    assert run([*command, str(tmp_path / "d"), *text_export]) == 2
    assert "mark the words too" in capsys.readouterr().err


def test_textgrid_by_hand() -> None:
    """Intervals without gaps, quotes doubled, as Praat's manual asks."""
    word = TimedWord('"a"', 0.1, 0.3, phones=(TimedPhone("AH", "ʌ", 0.1, 0.3),))
    lines = as_textgrid(Alignment((word,), 0.5)).splitlines()
    assert "        intervals: size = 3" in lines
    assert '            text = """a"""' in lines
    edges = [line.split("=")[1] for line in lines if line.startswith("            xm")]
    assert edges[:6] == [" 0.0", " 0.1", " 0.1", " 0.3", " 0.3", " 0.5"]


def test_a_broken_ctm_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.ctm").write_text("u 1 0.1 0.2 hello\nu 1 zero 0.2 day\n")
    with raises_code("damaged") as error:
        read_ctm(tmp_path / "x.ctm")
    assert "x.ctm:2" in str(error.value)


def test_purposes_are_drawn_for_each_dialogue(corpus: Path, tmp_path: Path) -> None:
    """Each dialogue is in one export, the ledger has its purpose and refuses another one."""
    out = tmp_path / "out"
    command = ["anonymise", "recording", str(corpus), str(out), "--purpose", "random"]
    options = ["--purposes", "language-model,understanding", "--reproducible", "1"]
    assert run([*command, *options, "--json", str(tmp_path / "r.json")]) == 0
    exports = json.loads((tmp_path / "r.json").read_text())["exports"]
    folders = {path.name for path in out.iterdir() if path.is_dir()}
    assert {export["task"] for export in exports} == folders
    assert folders <= {"language-model", "understanding"}
    assert sum(export["utterances"] for export in exports) == len(read_manifest(corpus))
    ledger = (tmp_path / "ledger.jsonl").read_text().splitlines()[1:]
    assert {json.loads(line)["purpose"] for line in ledger} == folders
    other = str(tmp_path / "other")
    assert run(["anonymise", "recording", str(corpus), other, "--purpose", "acoustic"]) == 2


def test_a_draw_of_purposes_that_fails_leaves_nothing(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second export fails: the first one and its entries go too."""
    from sottovoce.cli import recording_exports

    exported: list[Path] = []
    export = recording_exports.Exporter.export

    def fail_at_second(self: object, part: object, target: Path, *more: object) -> object:
        if exported:
            raise InputError("the disk is full", code="not-writable")
        exported.append(target)
        return export(self, part, target, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(recording_exports.Exporter, "export", fail_at_second)
    out = tmp_path / "out"
    command = ["anonymise", "recording", str(corpus), str(out), "--purpose", "random"]
    tasks = "language-model,understanding,dialogue-management"
    assert run([*command, "--purposes", tasks, "--reproducible", "1"]) == 2
    assert exported and not out.exists()
    ledger = tmp_path / "ledger.jsonl"
    assert len(ledger.read_text().splitlines()) == 1  # the header


def test_purposes_need_a_random_purpose(corpus: Path, tmp_path: Path) -> None:
    command = ["anonymise", "recording", str(corpus), str(tmp_path / "o"), "--purposes", "acoustic"]
    assert run([*command, "--purpose", "text"]) == 2
