"""VTLN: warps found on the frequency axis, classes always the same, targets chosen as said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from error_codes import raises_code
from signals import vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import Vtln
from sottovoce.anonymise.voice.conditioning import RATE
from sottovoce.anonymise.voice.pitch import LogPitch
from sottovoce.anonymise.voice.targets import (
    CLASSES,
    TargetSelection,
    VoiceModel,
    analyse_shapes,
    shipped_targets,
)
from sottovoce.anonymise.voice.vtln import GRID, convert, find_warps
from sottovoce.core.clustering import k_means
from sottovoce.core.errors import InputError
from sottovoce.corpus import open_corpus
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.spectrum import axis, power, read_at
from sottovoce.signal.world import analyse, find_f0


def some_classes(seed: int = 0) -> np.ndarray:
    """Smooth log spectra without level: sums of a few cosines."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0, 1, 129)
    waves = np.cos(np.pi * share * np.arange(1, 9)[:, None])
    spectra = rng.normal(size=(8, 8)) @ waves
    return np.asarray(spectra - spectra.mean(axis=1, keepdims=True))


@pytest.mark.parametrize("index", [0, 4, 10, 15, 20])
def test_a_known_warp_is_found_on_the_frequency_axis(index: int) -> None:
    source = some_classes()
    target = read_at(source, power(axis(129), GRID[index]))
    target -= target.mean(axis=1, keepdims=True)
    warps = find_warps(source, target[::-1])  # the order of the target's classes means nothing
    np.testing.assert_allclose(warps, GRID[index])


def test_onto_themselves_nothing_is_warped() -> None:
    np.testing.assert_allclose(find_warps(some_classes(), some_classes()), 0, atol=1e-12)


def test_formants_and_pitch_move_towards_the_target() -> None:
    source, target = vowel((1500,)), vowel((1700,), pitch=200)
    shapes, _ = analyse_shapes(target)
    model = VoiceModel("t", k_means(shapes, CLASSES), LogPitch(float(np.log(200)), 0.02))
    changed = convert(source, None, model)[: len(source)]
    f0, _ = find_f0(changed)
    assert np.median(f0[f0 > 0]) == pytest.approx(200, rel=0.02)
    peaks = [
        int(analyse(x).envelope[40:-40].mean(axis=0)[50:].argmax()) + 50
        for x in (source, changed, target)
    ]
    assert abs(peaks[1] - peaks[2]) < abs(peaks[0] - peaks[2])


def test_who_gets_which_target() -> None:
    secret = Secret.reproducible(1)
    speakers = [f"s{i}" for i in range(20)]
    recordings = [
        Utterance(f"{speaker}-{i}", Path("a.wav"), speaker, session="ab"[i // 2])
        for speaker in speakers
        for i in range(4)
    ]
    corpus = Corpus("twenty", Path(), tuple(recordings))

    def chosen(kind: str, utterance: str = "0", count: int = 20) -> list[int]:
        selection = TargetSelection(kind, count, secret, "vtln")
        selection.fit(corpus)
        return [selection.target(speaker, f"{speaker}-{utterance}") for speaker in speakers]

    assert len(set(chosen("const"))) == 1 and chosen("const") == chosen("const", "1")
    assert sorted(chosen("perm")) == list(range(20)) and chosen("perm") == chosen("perm", "1")
    assert len(set(chosen("perm", count=7))) == 7
    assert chosen("rand") != chosen("rand", "1") and chosen("rand") == chosen("rand")
    assert chosen("session") == chosen("session", "1") != chosen("session", "2")
    assert chosen("session", "2") == chosen("session", "3")
    stranger = TargetSelection("perm", 20, secret, "vtln")
    assert 0 <= stranger.target("nobody", "u") < 20


def test_the_shipped_targets_are_voices() -> None:
    voices = shipped_targets()
    assert len(voices) > 200
    for voice in voices:
        assert voice.classes.shape == (8, 129) and np.isfinite(voice.classes).all()
        assert voice.pitch and 70 < np.exp(voice.pitch.mean) < 300 and 0 < voice.pitch.sd < 0.6


def test_targets_of_a_corpus_of_ones_own(tmp_path: Path) -> None:
    for speaker, pitch in (("ann", 210), ("bob", 110), ("cas", 150)):
        (tmp_path / "in" / speaker).mkdir(parents=True)
        soundfile.write(tmp_path / "in" / speaker / "a.wav", 0.5 * vowel(pitch=pitch), RATE)
    method = Vtln(Secret.reproducible(0), targets=tmp_path / "in", selection="perm")
    method.fit(open_corpus(tmp_path / "in"))
    assert method.record()["target_speakers"] == 3
    assert method.record()["settings"] == {"selection": "perm", "targets": "in"}
    mapped = set()
    for speaker in ("ann", "bob", "cas"):
        audio = vowel(pitch=150).astype(np.float32)
        f0, _ = find_f0(method.transform(audio, RATE, speaker=speaker, utterance="u").astype(float))
        mapped.add(round(float(np.median(f0[f0 > 0])), -1))
    assert len(mapped) == 3
    (tmp_path / "noise" / "who").mkdir(parents=True)
    click = np.eye(1, 8000, 4000)[0]
    soundfile.write(tmp_path / "noise" / "who" / "a.wav", click, RATE)
    with raises_code("empty", InputError):
        Vtln(targets=tmp_path / "noise")
