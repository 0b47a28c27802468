"""One purpose a dialogue, drawn by the secret and remembered by the ledger."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.ledger import Ledger, Name, dialogues_of
from sottovoce.anonymise.recording.purposes import TASKS, assign_tasks, check_tasks, draw_task
from sottovoce.corpus.utterance import Corpus, Utterance

NAMES = tuple(TASKS)


def dialogues(count: int, each: int = 2) -> Corpus:
    """Utterances of dialogues; their sound is not there, so that words and names tell them."""
    utterances = [
        Utterance(
            f"d{d}-{i}",
            Path(f"{d}-{i}.wav"),
            f"speaker {d % 3}",
            transcript=f"this is turn number {i} of dialogue number {d}",
            extra={"dialogue": f"call {d}"},
        )
        for d in range(count)
        for i in range(each)
    ]
    return Corpus("calls", Path("."), tuple(utterances))


def test_a_dialogue_is_in_one_part_and_every_utterance_in_some() -> None:
    corpus = dialogues(40)
    parts = assign_tasks(corpus, NAMES, Secret.reproducible(1), None)
    assert sum(map(len, parts.values())) == len(corpus)
    for d in range(40):
        holding = [t for t, p in parts.items() if any(u.id.startswith(f"d{d}-") for u in p)]
        assert len(holding) == 1


@given(st.text(min_size=1, max_size=20), st.integers(0, 100))
def test_the_draw_follows_from_secret_and_name(name: str, seed: int) -> None:
    dialogue = Name("dialogue", (name,))
    first, again = (draw_task(dialogue, NAMES, Secret.reproducible(seed)) for _ in range(2))
    assert first == again and first in NAMES


def test_all_purposes_are_equally_likely() -> None:
    secret = Secret.reproducible(3)
    counts = Counter(draw_task(Name("dialogue", (str(i),)), NAMES, secret) for i in range(4000))
    assert set(counts) == set(NAMES)
    assert max(abs(count - 1000) for count in counts.values()) < 120  # four deviations


def test_another_secret_draws_anew() -> None:
    names = [Name("dialogue", (str(i),)) for i in range(100)]
    draws = [[draw_task(n, NAMES, Secret.reproducible(s)) for n in names] for s in (1, 2)]
    same = sum(a == b for a, b in zip(*draws, strict=True))
    assert same < 50


def test_a_dialogue_that_the_ledger_knows_keeps_its_purpose(tmp_path: Path) -> None:
    corpus, ledger = dialogues(12), Ledger(tmp_path / "ledger.jsonl")
    parts = assign_tasks(corpus, NAMES, Secret.reproducible(1), ledger)
    for task, part in parts.items():
        with ledger.entered(dialogues_of(part), task, "form"):
            pass
    again = assign_tasks(corpus, NAMES, Secret.reproducible(2), ledger)
    assert {task: len(part) for task, part in again.items()} == {
        task: len(part) for task, part in parts.items()
    }
    known = ledger.purposes(dialogues_of(corpus))
    assert len(known) == 12 and set(known.values()) == set(parts)


def test_removed_exports_are_forgotten(tmp_path: Path) -> None:
    corpus, ledger = dialogues(3), Ledger(tmp_path / "ledger.jsonl")
    with ledger.entered(dialogues_of(corpus), "understanding", "form") as export:
        pass
    assert len(ledger.purposes(dialogues_of(corpus))) == 3
    ledger.remove([export])
    assert ledger.purposes(dialogues_of(corpus)) == {}


@pytest.mark.parametrize(
    ("names", "code"), [(["acoustic", "speech"], "unknown-name"), (["acoustic"], "out-of-range")]
)
def test_purposes_that_cannot_be_drawn_from(names: list[str], code: str) -> None:
    with raises_code(code):
        check_tasks(names)
