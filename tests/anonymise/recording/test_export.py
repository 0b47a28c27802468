"""Exports contain nothing private, are not made twice, and leave nothing behind if they fail."""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording import closed_set, verification
from sottovoce.anonymise.recording import secure as secure_module
from sottovoce.anonymise.recording.align import UnalignedError
from sottovoce.anonymise.recording.export import export_corpus
from sottovoce.anonymise.recording.leak_measures import (
    Rate,
    correlation,
    correlation_by_chance,
    correlation_limit,
    is_untouched,
)
from sottovoce.anonymise.recording.ledger import (
    AlreadyExportedError,
    Dialogue,
    Fingerprints,
    Ledger,
    Name,
)
from sottovoce.anonymise.recording.mask import MaskSettings, Stretch, Target, mask
from sottovoce.anonymise.recording.private_words import (
    TextSpan,
    detect_private,
    find_targets,
    read_words,
    replace_with,
)
from sottovoce.anonymise.recording.release import Export
from sottovoce.anonymise.recording.secure import Settings, doubtful_parts, find_doubt
from sottovoce.anonymise.recording.slice import SliceSettings, slice_corpus
from sottovoce.anonymise.recording.verification import Verifier
from sottovoce.anonymise.recording.word_times import Alignment, TimedWord
from sottovoce.anonymise.recording.words import spoken_words, word_key
from sottovoce.anonymise.voice import make_method
from sottovoce.anonymise.voice.method import keeps_times
from sottovoce.core.atomic_directory import atomic_directory
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.corpus.audio import load_native, save_audio
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

SECRET = Secret.reproducible(1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=2, utterances=4)


Known = Callable[..., Alignment]


@pytest.fixture
def known(folder: Path) -> Known:
    """An aligner that knows the exact times of the built-in corpus."""
    times: dict[str, list[TimedWord]] = {}
    for line in (folder / "words.ctm").read_text().splitlines():
        name, _, start, length, word = line.split()
        end = round(float(start) + float(length), 3)
        times.setdefault(name, []).append(TimedWord(word, float(start), end))
    ids = {utterance.transcript: utterance.id for utterance in read_manifest(folder)}

    def align(audio: np.ndarray, rate: int, text: str, *, lang: str = "en") -> Alignment:
        return Alignment(tuple(times[ids[text]]), len(audio) / rate)

    return align


@pytest.fixture
def corpus(folder: Path, known: Known, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setattr(secure_module, "align", known)
    return read_manifest(folder)


def private(corpus: Corpus, folder: Path) -> list[str]:
    with (folder / "entities.csv").open() as file:
        return sorted({row["text"] for row in csv.DictReader(file)})


def export(corpus: Corpus, target: Path, words: Sequence[str], **more: object) -> Export:
    settings = {"purpose": "acoustic", "secret": SECRET, "settings": Settings(), "listed": words}
    return export_corpus(corpus, target, **{**settings, **more})  # type: ignore[arg-type]


def listed(target: Path) -> Corpus:
    return read_manifest(target)


def test_no_listed_word_leaves_in_the_text_and_all_sound_is_accounted_for(
    corpus: Corpus, folder: Path, tmp_path: Path
) -> None:
    words = private(corpus, folder)
    result = export(corpus, tmp_path / "out", words)
    assert (result.files, result.withheld) == (len(corpus), ()) and result.masked_words > 5
    phrases = {tuple(map(word_key, phrase.split())) for phrase in words}
    for utterance in listed(tmp_path / "out"):
        keys = [word_key(word.text) for word in spoken_words(utterance.transcript)]
        for phrase in phrases:
            size = len(phrase)
            assert phrase not in [tuple(keys[i : i + size]) for i in range(len(keys))]
        load_native(utterance)
    ids = {utterance.id for utterance in corpus} | set(corpus.speakers)
    content = b"".join(p.read_bytes() for p in (tmp_path / "out").glob("*.*"))
    assert not any(name.encode() in content for name in ids)
    assert {p.stat().st_mtime for p in (tmp_path / "out" / "audio").iterdir()} == {0}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "out.withheld.csv"]
    record = json.loads((tmp_path / "out" / "export.json").read_text())
    assert record["in_house_only"] and record["masked_words"] == result.masked_words


def test_what_cannot_be_aligned_is_withheld_listed_and_counted(
    corpus: Corpus, known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = corpus.utterances[1]

    def sometimes(audio: np.ndarray, rate: int, text: str, *, lang: str = "en") -> Alignment:
        if text == bad.transcript:
            raise UnalignedError("the words do not fit the recording; check the text")
        alignment = known(audio, rate, text, lang=lang)
        if text == corpus.utterances[2].transcript:
            return replace(alignment, second_opinion=False)
        return alignment

    monkeypatch.setattr(secure_module, "align", sometimes)
    result = export(corpus, tmp_path / "out", ["the"])
    assert [entry.utterance for entry in result.withheld] == [bad.id, corpus.utterances[2].id]
    assert result.files == len(corpus) - 2 == len(listed(tmp_path / "out"))
    beside = tmp_path / "out.withheld.csv"
    rows = beside.read_text()
    assert bad.id in rows and bad.transcript.split()[0] not in rows.split(",")
    assert stat.S_IMODE(beside.stat().st_mode) == 0o600


def test_an_export_of_which_all_is_withheld_is_none(
    corpus: Corpus, known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was given away, so the dialogues may be exported once their texts are corrected."""
    ledger = Ledger(tmp_path / "state" / "ledger.jsonl")

    def never(audio: np.ndarray, rate: int, text: str, *, lang: str = "en") -> Alignment:
        raise UnalignedError("the words do not fit the recording; check the text")

    monkeypatch.setattr(secure_module, "align", never)
    with raises_code("withheld") as error:
        export(corpus, tmp_path / "out", ["the"], ledger=ledger)
    assert "8 of 8" in str(error.value) and "words do not fit" in str(error.value)
    assert [p.name for p in tmp_path.iterdir()] == ["state"]
    monkeypatch.setattr(secure_module, "align", known)
    assert export(corpus, tmp_path / "out", ["the", "and"], ledger=ledger).files == len(corpus)


def test_a_recording_that_cannot_be_read_is_withheld(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = replace(corpus.utterances[0], path=tmp_path / "broken.wav")
    bad.path.write_bytes(b"no sound" * 99)
    spoilt = replace(corpus, utterances=(bad, *corpus.utterances[1:]), places=())
    result = export(spoilt, tmp_path / "out", ["the"], ledger=Ledger(tmp_path / "ledger.jsonl"))
    assert [entry.utterance for entry in result.withheld] == [bad.id]
    assert result.files == len(corpus) - 1


def test_reasons_to_withhold_a_recording() -> None:
    words = [TimedWord("x", i, i + 1.0) for i in range(10)]
    sure = Alignment(tuple(words), 10.0)
    assert find_doubt(sure, [Target(3, 3)]) is None
    shaky = replace(sure, words=(*words[:5], replace(words[5], confidence=0.2), *words[6:]))
    assert find_doubt(shaky, [Target(4, 4)]) is None
    doubt = find_doubt(shaky, [], strict=True)
    assert doubt is not None and doubt.code == "doubtful-words" and "1 of 10" in str(doubt)
    for count, code in ((2, None), (3, "doubtful-words")):
        many = tuple(replace(word, confidence=0.2) for word in words[:count])
        doubt = find_doubt(replace(sure, words=(*many, *words[count:])), [Target(9, 9)])
        assert (doubt.code if doubt else None) == code
    for end, code in ((3.0, None), (3.1, "doubtful-sound")):
        doubt = find_doubt(replace(sure, unexplained=((1.0, end),)), [])
        assert (doubt.code if doubt else None) == code
    for alone in (replace(sure, second_opinion=False), replace(sure, unexplained=((1.0, 1.1),))):
        doubt = find_doubt(alone, [], strict=True)
        assert doubt is not None and doubt.code == "doubtful-alignment"


def test_doubts_are_masked() -> None:
    """Slow definition: a doubtful word is masked if only doubtful ones lie between it and a target.

    So are words that do not sound as they are written, and the neighbours of a doubtful target.
    """
    rng = np.random.default_rng(0)
    for _ in range(200):
        kinds = rng.choice(["", "", "sound", "length"], 12)
        words = tuple(
            TimedWord("x", i, i + 1.0, 0.2 if kind else 1.0, kind) for i, kind in enumerate(kinds)
        )
        target = int(rng.integers(12))
        expected = {i for i, kind in enumerate(kinds) if kind == "sound"}
        for i in range(12):
            between = range(min(i, target), max(i, target) + 1)
            expected |= {i} if all(kinds[j] or j == target for j in between) else set()
            expected |= {i} if abs(i - target) == 1 and kinds[target] else set()
        parts = doubtful_parts(Alignment(words, 12.0, ((2.0, 2.5),)), [Target(target, target)])
        assert {part.first for part in parts[0]} == expected - {target}
        assert parts[1] == [Stretch(2.0, 2.5, "DOUBT")]


class Inverting:
    """A voice method: turns the sign of each sample, which moves no word."""

    name = "inverting"
    keeps_times = True

    def fit(self, corpus: Corpus) -> Inverting:
        return self

    def transform(
        self, audio: np.ndarray, rate: int, *, speaker: str, utterance: str
    ) -> np.ndarray:
        return -audio

    def record(self) -> dict[str, str]:
        return {"method": self.name}


class Retiming(Inverting):
    """The same, but it says that it moves words."""

    keeps_times = False


def test_times_of_the_original_are_carried_over_if_they_hold(
    corpus: Corpus, known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals = {load_native(utterance)[0].tobytes() for utterance in corpus}

    def align(audio: np.ndarray, rate: int, text: str, *, lang: str = "en") -> Alignment:
        alignment = known(audio, rate, text)
        return replace(alignment, second_opinion=audio.tobytes() in originals)

    monkeypatch.setattr(secure_module, "align", align)
    voice = {"method": Inverting()}
    assert export(corpus, tmp_path / "a", ["the"], **voice).withheld == ()
    for more in (
        {"settings": Settings(times="released"), **voice},
        {"method": Retiming()},
    ):
        with raises_code("withheld") as error:
            export(corpus, tmp_path / "b", ["the"], **more)
        assert "8 of 8" in str(error.value) and "no second opinion" in str(error.value)
    with raises_code("moved-words"):
        export(
            corpus, tmp_path / "b", ["the"], method=Retiming(), settings=Settings(times="original")
        )
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("name", ["mcadams", "vtln", "voicemask", "xvector", "dar"])
def test_methods_say_whether_words_stay_where_they_were(name: str) -> None:
    assert keeps_times(make_method(name, SECRET))
    if name == "xvector":
        assert not keeps_times(make_method(name, SECRET, rhythm=0.2))


def test_one_purpose_for_a_dialogue(corpus: Corpus, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "state" / "ledger.jsonl")
    first = corpus.select(speakers=[corpus.speakers[0]])
    export(first, tmp_path / "a", ["the"], ledger=ledger)
    with raises_code("exported-recording", AlreadyExportedError) as error:
        export(corpus, tmp_path / "b", ["the"], ledger=ledger, purpose="text")
    assert "for purpose 'acoustic'" in str(error.value)
    assert not (tmp_path / "b").exists()
    with raises_code("exported-form", AlreadyExportedError):
        export(first, tmp_path / "b", ["the"], ledger=ledger, settings=Settings(seconds=1.0))
    with raises_code("exported-form", AlreadyExportedError):
        export(first, tmp_path / "b", ["the", "and"], ledger=ledger)
    export(first, tmp_path / "again", ["the"], ledger=ledger)
    second = corpus.select(speakers=[corpus.speakers[1]])
    export(second, tmp_path / "t", ["the"], ledger=ledger, purpose="text")
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    text = ledger.path.read_text()
    assert not any(name in text for u in corpus for name in (u.id, u.speaker))
    assert sorted(p.name for p in (tmp_path / "t").iterdir()) == ["export.json", "texts.jsonl"]


def test_another_name_or_format_is_the_same_recording() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.uniform(-1, 1, 800), rng.uniform(-1, 1, 800)
    text = "call me at five tomorrow Ann"
    assert Fingerprints.of(first, text).sound == Fingerprints.of(first, "anything else").sound
    other = Fingerprints.of(second, text.upper() + "!")
    assert Fingerprints.of(first, text).words == other.words != b""
    assert Fingerprints.of(first, "yes please call me back").words == b"", "five words are too few"


def test_runs_at_once_share_one_ledger_and_no_folder(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def run(number: int) -> Path:
        fingerprints = Fingerprints(bytes([number]) * 32, b"")
        dialogues = [Dialogue(Name("dialogue", ("d",)), frozenset(), (fingerprints,))]
        entered = ledger.entered(dialogues, "text", "form")
        with entered, atomic_directory(tmp_path / "out") as folder:
            (folder / str(number)).touch()
            assert [path.name for path in folder.iterdir()] == [str(number)]
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            return folder

    def tried(number: int) -> Path | None:
        try:
            return run(number)
        except InputError:  # another run was the first to rename its folder
            return None

    with ThreadPoolExecutor(4) as pool:
        folders = [path for path in pool.map(tried, range(8)) if path]
    assert len(set(folders)) == len(folders) >= 1
    assert len(ledger.path.read_text().splitlines()) == 1 + len(folders)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name[0] != ".") == ["ledger.jsonl", "out"]


def test_an_export_that_fails_leaves_nothing(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "state" / "ledger.jsonl")

    def stop(*_: object, **__: object) -> Alignment:
        raise KeyboardInterrupt

    monkeypatch.setattr(secure_module, "align", stop)
    with pytest.raises(KeyboardInterrupt):
        export(corpus, tmp_path / "out", ["the"], ledger=ledger)
    assert [p.name for p in tmp_path.iterdir()] == ["state"]
    assert len(ledger.path.read_text().splitlines()) == 1
    ledger.path.write_text("{}\n")
    with raises_code("damaged"):
        export(corpus, tmp_path / "out", ["the"], ledger=ledger)


def test_slices_of_an_export(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    words = private(corpus, folder)
    uncut = export(corpus, tmp_path / "uncut", words)
    result = export(corpus, tmp_path / "out", words, settings=Settings(seconds=0.8))
    cut = listed(tmp_path / "out")
    assert result.files > uncut.files and result.seconds <= uncut.seconds + 1e-6
    assert cut.speakers == ("unknown",)
    assert _all_words(cut) == _all_words(listed(tmp_path / "uncut"))
    assert [piece.id for piece in cut] == sorted(piece.id for piece in cut)


def test_a_recording_without_a_word_left_is_no_slice(corpus: Corpus, tmp_path: Path) -> None:
    with raises_code("withheld"):
        export(corpus, tmp_path / "out", _all_words(corpus), settings=Settings(seconds=1.0))
    assert not (tmp_path / "out").exists()


def _all_words(corpus: Corpus) -> list[str]:
    return sorted(word.text for u in corpus for word in spoken_words(u.transcript))


def test_text_exports_keep_dialogues_together(corpus: Corpus, tmp_path: Path) -> None:
    def finder(texts: Sequence[str], langs: Sequence[str]) -> list[list[TextSpan]]:
        return [[TextSpan(0, len(text.split()[0]), "PER")] for text in texts]

    typed = replace_with("en", SECRET, "typed")
    export(corpus, tmp_path / "out", [], purpose="text", finder=finder, replace=typed)
    lines = [json.loads(x) for x in (tmp_path / "out" / "texts.jsonl").read_text().splitlines()]
    assert len(lines) == 4 and all(len(line["texts"]) == 2 for line in lines)
    assert all(text.startswith("[PER]") for line in lines for text in line["texts"])


def test_what_an_export_refuses(corpus: Corpus, tmp_path: Path) -> None:
    with raises_code("empty"):
        export(corpus, tmp_path / "out", [])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with raises_code("exists"):
        export(corpus, tmp_path / "full", ["the"])
    mute = replace(corpus, utterances=(replace(corpus.utterances[0], transcript=" "),), places=())
    with raises_code("missing-transcript"):
        export(mute, tmp_path / "out", ["the"])
    with raises_code("nested"):
        export(corpus, corpus.root / "out", ["the"])
    with raises_code("nested"):
        slice_corpus(corpus, corpus.root / "out", SliceSettings(), secret=SECRET)


def test_lists_of_words(tmp_path: Path) -> None:
    """A line without a word would mask nothing, and its writer would not know."""
    path = tmp_path / "words.txt"
    path.write_text("Ann Lee\n\n  Bonn \n")
    assert read_words(path) == ["Ann Lee", "Bonn"]
    path.write_text("Ann\n... \N{GRINNING FACE}\n")
    with raises_code("damaged") as error:
        read_words(path)
    assert "words.txt:2" in str(error.value)
    path.write_text(" \n")
    with raises_code("empty"):
        read_words(path)


def test_a_word_masked_once_is_masked_everywhere() -> None:
    texts = ["I met Anna of York", "ANNA'S house in the North", "of york, Anna-Maria", "nothing"]

    def finder(texts: Sequence[str], langs: Sequence[str]) -> list[list[TextSpan]]:
        return [[TextSpan(6, 18, "PER")], [], [], []]

    by_text = find_targets(texts, ["en"] * 4, finder=finder)
    masked = [{i for t in targets for i in range(t.first, t.last + 1)} for targets in by_text]
    assert masked == [{2, 3, 4}, {0}, {1, 2}, set()]
    phrase = find_targets(["new york", "new york is new"], ["en"] * 2, listed=["New York"])
    assert [[(t.first, t.last) for t in targets] for targets in phrase] == [[(0, 1)], [(0, 1)]]


def test_parts_of_spelled_runs_and_numbers_are_not_masked_alone() -> None:
    texts = [
        "my surname is s m i t h",
        "plan s or m it is",
        "the pin is one two three",
        "one of us",
    ]
    by_text = find_targets(texts, ["en"] * 4, finder=detect_private)
    masked = [{i for t in targets for i in range(t.first, t.last + 1)} for targets in by_text]
    assert {3, 4, 5, 6, 7} <= masked[0] and {3, 4, 5} <= masked[2]
    assert not {1, 3} & masked[1] and 0 not in masked[3]


def test_cutting_a_corpus(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    settings = SliceSettings(seconds=1.0)
    times = folder / "words.ctm"
    result = slice_corpus(corpus, tmp_path / "out", settings, secret=SECRET, times=times)
    assert result.left_out == () and result.utterances == len(corpus)
    cut = listed(tmp_path / "out")
    assert len(cut) == result.pieces > len(corpus)
    sizes = [len(load_native(piece)[0]) for piece in cut]
    assert sum(sizes) == sum(len(load_native(utterance)[0]) for utterance in corpus)
    assert min(sizes) >= 16000
    assert {path.stat().st_mtime for path in (tmp_path / "out").rglob("*.flac")} == {0}
    first_half_second = SliceSettings(seconds=0.5, hard="first")
    hard = slice_corpus(corpus, tmp_path / "hard", first_half_second, secret=SECRET)
    assert hard.pieces == len(corpus)
    assert {len(load_native(piece)[0]) for piece in listed(tmp_path / "hard")} == {8000}
    (tmp_path / "other.ctm").write_text("someone-else 1 0.1 0.2 hello\n")
    other = tmp_path / "other.ctm"
    with raises_code("too-few") as error:
        slice_corpus(corpus, tmp_path / "no", settings, secret=SECRET, times=other)
    assert "8 recordings left out" in str(error.value)
    sound = np.random.default_rng(0).normal(0, 0.1, 2000).astype(np.float32)
    save_audio(tmp_path / "odd.flac", sound, 11_025)  # 0.05 s are 551 samples and a quarter
    odd = Utterance("odd", tmp_path / "odd.flac", "s")
    with raises_code("too-few"):
        slice_corpus(
            Corpus("odd", tmp_path / "o", (odd,)),
            tmp_path / "no",
            SliceSettings(0.05, hard="first"),
            secret=SECRET,
        )
    assert not (tmp_path / "no").exists()


class Parrot:
    """A recogniser that hears all words of a recording whose samples it knows."""

    languages: ClassVar[frozenset[str]] = frozenset({"en"})

    def __init__(self, known: dict[int, str]) -> None:
        self.known = known

    def transcribe(self, audio: np.ndarray, rate: int) -> str:
        return self.known.get(hash(audio.tobytes()), "")


def test_verification_tells_a_mask_from_none(
    corpus: Corpus, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closed_set, "guess_word", lambda sound, rate, choices, rng: choices[0])
    monkeypatch.setattr(verification, "times_at_speed", lambda *a, **k: [(0.0, 0.01)] * 99)
    known = {hash(load_native(u)[0].tobytes()): u.transcript for u in corpus}
    good = Verifier(Parrot(known))
    export(corpus, tmp_path / "out", private(corpus, folder), observe=good.observe)
    report = good.report(np.random.default_rng(0))
    assert report.open_before.hits == report.open_before.total == report.masked_words > 5
    assert report.open_recovery.hits == 0 and report.untouched and report.correlation == 0
    assert report.open_recovery.interval[1] < 0.5
    assert report.to_dict()["open_recovery"] == report.open_recovery.to_dict()
    with pytest.raises(TooFewError):
        Verifier(Parrot({})).report(np.random.default_rng(0))


def test_one_recording_is_no_measure_of_what_is_invented(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who hears every masked word of the only recording has not invented them."""
    monkeypatch.setattr(closed_set, "guess_word", lambda sound, rate, choices, rng: choices[0])
    monkeypatch.setattr(verification, "times_at_speed", lambda *a, **k: [(0.0, 0.01)] * 99)
    utterance = corpus.utterances[0]
    alone = replace(corpus, utterances=(utterance,), places=())
    hearing = Verifier(Parrot({}))
    monkeypatch.setattr(hearing.recogniser, "transcribe", lambda audio, rate: utterance.transcript)
    words = [word.text for word in spoken_words(utterance.transcript)][::2]
    export(alone, tmp_path / "out", words, observe=hearing.observe)
    report = hearing.report(np.random.default_rng(0))
    assert report.open_recovery.hits == report.masked_words >= 3
    assert "V1 open recovery" in report.failures


def test_what_counts_as_touched_or_alike(corpus: Corpus, known: Known) -> None:
    audio, rate = load_native(corpus.utterances[0])
    alignment = known(audio, rate, corpus.utterances[0].transcript)
    masked = mask(audio, rate, alignment, [Target(2, 2)], MaskSettings(length=None))
    assert is_untouched(audio, masked) and correlation(audio, masked) == 0
    spoilt = masked.audio.copy()
    spoilt[10] += np.float32(1e-4)
    assert not is_untouched(audio, replace(masked, audio=spoilt))
    for way in (1, -1):  # a mask that was none: the word itself, forwards or backwards
        leaking = masked.audio.copy()
        (span,) = masked.spans
        leaking[slice(*span.after)] = audio[slice(*span.before)][::way]
        assert correlation(audio, replace(masked, audio=leaking)) > 0.99


@pytest.mark.parametrize("how", ["noise", "beep"])
def test_alike_by_chance_is_no_leak_but_mixing_is(
    how: Literal["noise", "beep"], corpus: Corpus, known: Known
) -> None:
    """A filling without the word is like it as other noise is; one mixed with it is more."""
    settings = MaskSettings(how, length=None)
    for utterance in corpus:
        audio, rate = load_native(utterance)
        alignment = known(audio, rate, utterance.transcript)
        rng = np.random.default_rng(0)
        masked = mask(audio, rate, alignment, [Target(2, 2)], settings, rng=rng)
        limit = correlation_limit(correlation_by_chance(audio, masked))
        assert correlation(audio, masked) < limit
        mixed = masked.audio.copy()
        for span in masked.spans:
            mixed[slice(*span.after)] += audio[slice(*span.before)]
        leaking = replace(masked, audio=mixed)
        assert correlation(audio, leaking) >= correlation_limit(
            correlation_by_chance(audio, leaking)
        )


def test_the_limit_for_likeness() -> None:
    assert correlation_limit(0.0) == correlation_limit(0.1) == 0.2
    assert correlation_limit(0.21) == pytest.approx(0.315)
    assert correlation_limit(0.9) < 0.95, "a word left as it was fails, however alike noise can be"


def test_intervals_of_counts() -> None:
    """Clopper-Pearson: for 0 of n the upper end is 1 - 0.025^(1/n)."""
    assert Rate(0, 200, 0.1).interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 200)))
    assert Rate(54, 54, 0.1).interval == pytest.approx((0.025 ** (1 / 54), 1.0))
    assert Rate(30, 100, 0.1).above_chance and not Rate(12, 100, 0.1).above_chance
    assert not Rate(0, 0, 0.5).above_chance
