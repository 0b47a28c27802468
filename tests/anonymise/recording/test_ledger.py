"""One purpose per dialogue: in parts, with new recordings or names, and with runs that fail."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording import ledger as ledger_module
from sottovoce.anonymise.recording import secure as secure_module
from sottovoce.anonymise.recording.export import export_corpus
from sottovoce.anonymise.recording.ledger import (
    AlreadyExportedError,
    Dialogue,
    Fingerprints,
    Ledger,
    Name,
    dialogue_names,
)
from sottovoce.anonymise.recording.release import Export
from sottovoce.anonymise.recording.secure import Settings
from sottovoce.anonymise.recording.word_times import Alignment, TimedWord
from sottovoce.core.errors import InputError
from sottovoce.core.locks import locked
from sottovoce.corpus.audio import save_audio
from sottovoce.corpus.utterance import Corpus, Utterance

Give = Callable[..., Export]
OTHER = {"acoustic": "text", "text": "acoustic"}


def align(audio: np.ndarray, rate: int, text: str, *, lang: str = "en") -> Alignment:
    """Words of one length each."""
    texts = text.split()
    length = len(audio) / rate / len(texts)
    words = [TimedWord(word, i * length, (i + 1) * length) for i, word in enumerate(texts)]
    return Alignment(tuple(words), len(audio) / rate)


@pytest.fixture
def utterance(tmp_path: Path) -> Callable[..., Utterance]:
    """Different recordings of different words, by their number; all of one speaker's session."""

    def make(number: int, **more: object) -> Utterance:
        path = tmp_path / "in" / f"{number}.flac"
        if not path.exists():
            sound = np.random.default_rng(number).normal(0, 0.1, 16_000).astype(np.float32)
            save_audio(path, sound, 16_000)
        text = f"my number is not {number} but the other"
        fields: dict[str, object] = {"speaker": "ann", "session": "1", "transcript": text} | more
        return Utterance(f"u{number}", path, **fields)  # type: ignore[arg-type]

    return make


@pytest.fixture
def give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Give:
    """Export utterances for a purpose, with one ledger and one secret."""
    monkeypatch.setattr(secure_module, "align", align)
    numbers = itertools.count()

    def export(purpose: str, *utterances: Utterance, **more: object) -> Export:
        target = tmp_path / f"out{next(numbers)}"
        chosen: dict[str, object] = {
            "secret": Secret.reproducible(1),
            "settings": Settings(),
            "listed": ["number"],
            "ledger": Ledger(tmp_path / "ledger.jsonl"),
        }
        corpus = Corpus("c", tmp_path / "in", utterances)
        return export_corpus(corpus, target, purpose=purpose, **chosen | more)  # type: ignore[arg-type]

    return export


@pytest.mark.parametrize("first", ["acoustic", "text"])
@pytest.mark.parametrize(
    "named",
    [
        {},
        {"session": ""},
        {"session": "", "extra": {"dialogue": "call 7"}},
        {"speaker": "bob", "extra": {"dialogue": "call 7"}},
    ],
)
def test_half_a_dialogue_each_is_one_dialogue(
    first: str, named: dict[str, object], utterance: Callable[..., Utterance], give: Give
) -> None:
    """Both halves for one purpose may leave, in whatever order; the other purpose is refused."""
    first_half = named if "speaker" not in named else named | {"speaker": "ann"}
    give(first, utterance(1, **first_half))
    with raises_code("exported-dialogue", AlreadyExportedError) as error:
        give(OTHER[first], utterance(2, **named))
    assert "another --ledger" in str(error.value)
    give(first, utterance(2, **named), secret=Secret.reproducible(2))


def test_an_utterance_that_is_new_in_a_known_dialogue_is_remembered(
    utterance: Callable[..., Utterance], give: Give
) -> None:
    """And so is the name that it came with."""
    give("acoustic", utterance(1), utterance(2))
    give("acoustic", utterance(1, session="2"), utterance(3, session="2"))
    with raises_code("exported-recording", AlreadyExportedError):
        give("text", utterance(3, speaker="somebody else"))
    with raises_code("exported-recording", AlreadyExportedError) as error:
        give("text", utterance(3))  # one export has the recording, the other its session
    assert re.search("remove the lines with .{12}, .{12} from", str(error.value))
    with raises_code("exported-dialogue", AlreadyExportedError) as error:
        give("text", utterance(4, session="2"))
    assert "session ann/2" in str(error.value)
    give("text", utterance(4, session="3"))


def test_unrelated_dialogues_have_each_their_purpose(
    utterance: Callable[..., Utterance], give: Give
) -> None:
    """Session 1 of another speaker, another session, and another dialogue of the same session."""
    give("acoustic", utterance(1, extra={"dialogue": "a"}))
    give("text", utterance(2, extra={"dialogue": "b"}))
    give("acoustic", utterance(3, speaker="bob"))
    give("text", utterance(4, speaker="bob", session="2"))
    give("text", utterance(5, speaker="eve", session="1"))


def test_a_column_that_is_dropped_hides_no_dialogue(
    utterance: Callable[..., Utterance], give: Give
) -> None:
    give("acoustic", utterance(1, extra={"dialogue": "a"}))
    with raises_code("exported-dialogue", AlreadyExportedError) as error:
        give("text", utterance(2))
    assert "give this session another" in str(error.value)
    with raises_code("exported-dialogue", AlreadyExportedError) as error:
        give("text", utterance(2, session=""))
    assert "give this speaker another" in str(error.value)
    give("text", utterance(3, speaker="bob", session=""))
    with raises_code("exported-dialogue", AlreadyExportedError) as error:
        give("acoustic", utterance(4, speaker="bob", extra={"dialogue": "another run"}))
    assert "speaker bob" in str(error.value)


def test_a_text_without_readable_sound_is_remembered(
    utterance: Callable[..., Utterance], give: Give, tmp_path: Path
) -> None:
    """It leaves as text, so its sound may not follow once it can be read."""
    lost = replace(utterance(1), path=tmp_path / "in" / "lost.flac")
    give("text", lost)
    with raises_code("exported-recording", AlreadyExportedError):
        give("acoustic", utterance(1, speaker="somebody else"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks on folders")
def test_a_run_that_is_refused_removes_what_a_killed_one_has_left(
    utterance: Callable[..., Utterance], give: Give, tmp_path: Path
) -> None:
    give("acoustic", utterance(1))
    left = tmp_path / ".out9.sottovoce-12345678"
    left.mkdir()
    with pytest.raises(AlreadyExportedError):
        give("text", utterance(1))
    assert not left.exists()


def test_only_a_lock_is_waited_for_whatever_the_message_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger that cannot be written is refused at once, a locked one when the wait is over."""
    waits: list[float] = []
    monkeypatch.setattr(ledger_module, "WAIT", 0.2)
    monkeypatch.setattr("time.sleep", waits.append)
    (tmp_path / "another run").touch()
    with (
        raises_code("not-writable"),
        Ledger(tmp_path / "another run" / "l").entered([dialogue(1)], "text", "form"),
    ):
        pass
    assert not waits
    path = tmp_path / "ledger.jsonl"
    with (
        locked(tmp_path / ".ledger.jsonl.lock"),
        raises_code("locked"),
        Ledger(path).entered([dialogue(1)], "text", "form"),
    ):
        pass
    assert waits


def test_names_are_the_same_whatever_their_case_and_spaces() -> None:
    assert (
        Name("dialogue", (" Call  7",)).normalised() == Name("dialogue", ("call 7",)).normalised()
    )
    marks = {
        Name("session", ("a", "b/c")).normalised(),
        Name("session", ("a/b", "c")).normalised(),
        Name("dialogue", ("a/b/c",)).normalised(),
        Name("speaker", ("a/b/c",)).normalised(),
    }
    assert len(marks) == 4
    utterance = Utterance("u", Path("u"), "ann", extra={"dialogue": "  "})
    assert dialogue_names(utterance) == (Name("speaker", ("ann",)),)


# =================================================================================== as a property

utterances = st.tuples(
    st.integers(0, 5),  # the recording
    st.sampled_from(["", "d", "e"]),
    st.sampled_from(["", "1", "2"]),
    st.sampled_from(["ann", "bob"]),
)
exports = st.lists(
    st.tuples(st.sampled_from(["acoustic", "text"]), st.lists(utterances, min_size=1, max_size=3)),
    max_size=6,
)


def described(drawn: tuple[int, str, str, str]) -> tuple[Dialogue, set[object]]:
    """Return a dialogue, and the recording and name that it shares with others."""
    number, dialogue, session, speaker = drawn
    utterance = Utterance("u", Path("u"), speaker, session=session, extra={"dialogue": dialogue})
    name, *within = dialogue_names(utterance)
    return Dialogue(name, frozenset(within), (Fingerprints(bytes([number]), b""),)), {number, name}


@settings(max_examples=60, deadline=None)
@given(exports)
def test_what_left_for_two_purposes_has_nothing_in_common(
    tmp_path_factory: pytest.TempPathFactory,
    runs: list[tuple[str, list[tuple[int, str, str, str]]]],
) -> None:
    """By the slow definition: join all that left and shares a recording or a name."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "ledger.jsonl")
    left: list[tuple[str, set[object]]] = []
    names_left: list[tuple[str, list[Name]]] = []
    for purpose, utterances in runs:
        each = [described(drawn) for drawn in utterances]
        try:
            with ledger.entered([entry for entry, _ in each], purpose, "form"):
                left += [(purpose, marks) for _, marks in each]
                names_left += [(purpose, [dialogue.name, *dialogue.within]) for dialogue, _ in each]
        except AlreadyExportedError:
            assert left, "nothing has left before, so nothing may be refused"
    joined: list[tuple[set[str], set[object]]] = []
    for purpose, marks in left:
        near = [group for group in joined if group[1] & marks]
        joined = [group for group in joined if group not in near]
        purposes = {purpose}.union(*(group[0] for group in near))
        joined.append((purposes, marks.union(*(group[1] for group in near))))
    assert all(len(purposes) == 1 for purposes, _ in joined)
    for (purpose, names), (other, others) in itertools.combinations(names_left, 2):
        assert purpose == other or (names[0] not in others and others[0] not in names)


# ============================================================================== runs that end badly


def dialogue(number: int, name: str = "d") -> Dialogue:
    return Dialogue(
        Name("dialogue", (name,)), frozenset(), (Fingerprints(bytes([number]) * 32, b""),)
    )


def test_a_run_that_fails_takes_back_nothing_of_another(tmp_path: Path) -> None:
    """Two runs enter the same; one fails, the other is written: the ledger keeps its entry."""
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def fails() -> None:
        with ledger.entered([dialogue(1)], "acoustic", "form"):
            with ledger.entered([dialogue(1)], "acoustic", "form"):
                pass
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    with pytest.raises(AlreadyExportedError), ledger.entered([dialogue(1)], "text", "form"):
        pass


def test_an_export_that_is_there_is_not_struck_out(
    utterance: Callable[..., Utterance],
    give: Give,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopped after the folder has got its name: it may be given away, so it is remembered."""
    rename = Path.rename

    def stopped(path: Path, target: Path) -> Path:
        rename(path, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", stopped)
        with pytest.raises(KeyboardInterrupt):
            give("acoustic", utterance(1))
    assert (tmp_path / "out0" / "export.json").exists()
    with pytest.raises(AlreadyExportedError):
        give("text", utterance(1))


RUN = """
import sys, time
from pathlib import Path
from sottovoce.core.atomic_directory import atomic_directory
from sottovoce.anonymise.recording.ledger import Dialogue, Ledger, Fingerprints, Name
entry = Dialogue(Name("dialogue", ("d",)), frozenset(), (Fingerprints(b"1" * 32, b""),))
place = Path(sys.argv[1])
with Ledger(place / "ledger.jsonl").entered([entry], "acoustic", "form"):
    with atomic_directory(place / "out") as temporary:
        (temporary / "secured.flac").touch()
        print(temporary, flush=True)
        time.sleep(60)
"""


def test_a_run_that_is_killed_stays_in_the_ledger(tmp_path: Path) -> None:
    """It was entered before it was written, and it may have been given away."""
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        temporary = Path(run.stdout.readline().strip())
        run.send_signal(signal.SIGKILL)
    assert (temporary / "secured.flac").exists() and not (tmp_path / "out").exists()
    ledger = Ledger(tmp_path / "ledger.jsonl")
    entry = Dialogue(Name("dialogue", ("d",)), frozenset(), (Fingerprints(b"1" * 32, b""),))
    with pytest.raises(AlreadyExportedError) as refused, ledger.entered([entry], "text", "form"):
        pass
    with ledger.entered([entry], "acoustic", "form"):
        pass
    exports = {json.loads(line)["export"] for line in ledger.path.read_text().splitlines()[1:]}
    assert len(exports) == 2 and any(export in str(refused.value) for export in exports)


def _enter(path: Path, number: int, purpose: str, answers: multiprocessing.Queue[str]) -> None:
    try:
        with Ledger(path).entered([dialogue(number)], purpose, "form"):
            answers.put(purpose)
    except AlreadyExportedError:
        answers.put("")


def test_of_two_purposes_at_once_one_is_refused(tmp_path: Path) -> None:
    """Eight processes, each with another utterance of one dialogue."""
    context = multiprocessing.get_context("fork" if os.name == "posix" else None)
    queue = context.Queue()
    path = tmp_path / "ledger.jsonl"
    runs = [
        context.Process(target=_enter, args=(path, number, purpose, queue))
        for number, purpose in enumerate(["acoustic", "text"] * 4)
    ]
    for run in runs:
        run.start()
    answers = [queue.get(timeout=30) for _ in runs]
    for run in runs:
        run.join()
    entered = [answer for answer in answers if answer]
    assert len(entered) == 4 and len(set(entered)) == 1
    assert len(path.read_text().splitlines()) == 5


ENTRY = {"export": "e", "day": "d", "purpose": "text", "form": "f", "name": "n"}


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([{"ledger": 1, "key": "00"}], "unsupported"),
        ([{"ledger": 3, "key": "00"}], "unsupported"),
        ([], "damaged"),
        ([[]], "damaged"),
        ([{"ledger": 2}], "damaged"),
        ([{"ledger": 2, "key": "no"}], "damaged"),
        ([{"ledger": 2, "key": "00"}, ["marks"]], "damaged"),
        ([{"ledger": 2, "key": "00"}, {"marks": []}], "damaged"),
        ([{"ledger": 2, "key": "00"}, ENTRY | {"within": [], "marks": 3}], "damaged"),
        ([{"ledger": 2, "key": "00"}, ENTRY | {"within": [[]], "marks": []}], "damaged"),
    ],
)
def test_a_ledger_that_cannot_be_read_is_refused_and_kept(
    lines: list[Mapping[str, object]], code: str, tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    text = "".join(json.dumps(line) + "\n" for line in lines)
    ledger.path.write_text(text)
    with raises_code(code, InputError) as refused, ledger.entered([], "text", "form"):
        pass
    assert "\n" not in str(refused.value) and ledger.path.read_text() == text
