"""Populations by net speech and noise: limits hold, sides are disjoint, draws are repeatable."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.cli import run
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.corpus import open_corpus
from sottovoce.corpus.audio import save_audio
from sottovoce.corpus.selection import (
    SelectionRule,
    SpeechAmount,
    measure_speech,
    select_speakers,
)
from sottovoce.corpus.utterance import Corpus, Utterance


def amounts_of(seconds: dict[str, list[float]], snr: float = 80.0) -> list[SpeechAmount]:
    return [
        SpeechAmount(
            Utterance(f"{name}-{i}", Path("a.wav"), name, gender="fm"[int(name[1:]) % 2]), s, snr
        )
        for name, values in seconds.items()
        for i, s in enumerate(values)
    ]


def corpus_of(amounts: list[SpeechAmount]) -> Corpus:
    return Corpus("made up", Path(), tuple(amount.utterance for amount in amounts))


@given(
    st.lists(st.lists(st.floats(0.5, 60), min_size=1, max_size=12), min_size=2, max_size=8),
    st.integers(0, 5),
)
def test_limits_hold(lengths: list[list[float]], seed: int) -> None:
    amounts = amounts_of({f"s{i}": values for i, values in enumerate(lengths)})
    rule = SelectionRule(enrol_seconds=10, enrol_most=60, trial_seconds=30, seed=seed)
    seconds = {amount.utterance.id: amount.seconds for amount in amounts}
    enough = [values for values in lengths if sum(values) > 10]
    if len(enough) < 2:
        with raises_code("too-few", TooFewError):
            select_speakers(corpus_of(amounts), amounts, rule)
        return
    selected = select_speakers(corpus_of(amounts), amounts, rule)
    assert selected.counts.speakers == len(enough)
    ids = [utterance.id for utterance in selected.corpus]
    assert len(set(ids)) == len(ids)  # nothing is enrolled and tried
    for name in selected.corpus.speakers:
        enrol, trial = (
            [seconds[u.id] for u in selected.corpus if u.speaker == name and u.split == split]
            for split in ("enrol", "trial")
        )
        assert enrol and (sum(enrol) <= 60 + 1e-9 or len(enrol) == 1)
        assert not trial or sum(trial) > 30
    again = select_speakers(corpus_of(amounts), amounts, rule)
    assert again.corpus == selected.corpus


def test_noise_and_gender() -> None:
    amounts = amounts_of({f"s{i}": [20.0, 20.0] for i in range(6)})
    noisy = [SpeechAmount(a.utterance, a.seconds, 30.0) for a in amounts[:2]] + amounts[2:]
    rule = SelectionRule(lowest_snr=75, gender="m")
    counts = select_speakers(corpus_of(noisy), noisy, rule).counts
    assert (counts.speakers, counts.noisy_utterances, counts.other_speakers) == (3, 2, 2)


def test_so_many_speakers_with_trials() -> None:
    amounts = amounts_of({f"s{i}": [15.0] * 8 for i in range(6)})
    rule = SelectionRule(enrol_seconds=10, enrol_most=60, trial_seconds=50, trial_speakers=2)
    selected = select_speakers(corpus_of(amounts), amounts, rule)
    assert selected.counts.trial_speakers == 2 and selected.counts.speakers == 6
    with raises_code("too-few", TooFewError):
        many = SelectionRule(10, 60, 50, trial_speakers=7)
        select_speakers(corpus_of(amounts), amounts, many)
    with raises_code("out-of-range", InputError):
        SelectionRule(enrol_seconds=100, enrol_most=60)


def test_the_command_lists_recordings_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    for speaker in ("ann", "bob", "cem"):
        for take in range(3):
            speech = rng.gamma(0.4, 0.05, 32_000) * rng.choice([-1, 1], 32_000)
            speech[:8000] *= 1e-4
            path = tmp_path / "voices" / speaker / f"{speaker}{take}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            save_audio(path, np.clip(speech, -1, 1).astype(np.float32), 16_000)
    (tmp_path / "voices" / "cem" / "cem2.wav").write_bytes(b"no audio")
    arguments = ["--min-speech", "2", "--max-speech", "2.5", "--trial-speech", "2", "--json"]
    out = tmp_path / "crowd"
    assert run(["corpus", "select", str(tmp_path / "voices"), str(out), *arguments]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["speakers"] == 3 and counts["unreadable_utterances"] == 1
    corpus = open_corpus(out)
    assert {u.split for u in corpus} == {"enrol", "trial"}
    assert all(u.path.is_file() for u in corpus)
    assert json.loads((out / "selection.json").read_text())["counts"]["speakers"] == 3
    assert run(["corpus", "select", str(tmp_path / "voices"), str(out)]) == 2
    amounts, unreadable = measure_speech(open_corpus(tmp_path / "voices"))
    assert unreadable == 1 and all(1.5 < amount.seconds < 1.7 for amount in amounts)


@pytest.mark.parametrize("option", ["--min-speech", "--max-speech", "--trial-speech", "--min-snr"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_limit_that_is_not_finite_is_named_as_it_was_typed(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["corpus", "select", str(tmp_path / "absent"), str(tmp_path / "out")]
    assert run([*command, option, value]) == 2
    error = capsys.readouterr().err
    assert f"{option} {value}" in error and "finite" in error and "enrol_" not in error


def test_limits_that_contradict_each_other_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["corpus", "select", str(tmp_path / "absent"), str(tmp_path / "out")]
    assert run([*command, "--min-speech", "100", "--max-speech", "60"]) == 2
    error = capsys.readouterr().err
    assert "--max-speech 60" in error and "--min-speech 100" in error
