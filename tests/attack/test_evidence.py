"""Evidence besides the voice: each describer measures what it names, and never fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from signals import clicks, harmonics, noise, silence, times, tone, vowel

from sottovoce.anonymise.recording.decoder import Segment
from sottovoce.attack.evidence import EVIDENCE, available_evidence
from sottovoce.attack.evidence.block import Describer, EvidenceEncoder
from sottovoce.attack.evidence.durations import PHONES, Durations, describe_segments
from sottovoce.attack.evidence.energy import Energy, Spectrum
from sottovoce.attack.evidence.pitch import Pitch
from sottovoce.attack.evidence.rhythm import Rhythm
from sottovoce.attack.evidence.words import Words, describe_text
from sottovoce.core.errors import MissingExtraError
from sottovoce.core.types import FloatArray

SIGNAL_DESCRIBERS: list[Callable[[], Describer]] = [Pitch, Rhythm, Energy, Spectrum]
RATE = 16_000


class Heard:
    """A transcriber that always hears the same words."""

    name = "fixed"

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self, samples: FloatArray) -> str:
        return self._text


def syllables(per_second: float, seconds: float = 4.0, pause: float = 0.0) -> FloatArray:
    """A vowel whose loudness swings ``per_second`` times a second, with a pause in the middle."""
    clock = times(seconds)
    swing = 0.02 + np.sin(np.pi * per_second * clock) ** 2
    speech = vowel(seconds=seconds)[: len(clock)] * swing
    if not pause:
        return speech
    half = len(speech) // 2
    return np.concatenate([speech[:half], 1e-5 * noise(pause), speech[half:]])


@pytest.mark.parametrize("make", SIGNAL_DESCRIBERS)
@pytest.mark.parametrize(
    "signal",
    [noise(0.1), noise(2.0), tone(seconds=0.5), clicks(), vowel(), 1e-4 * noise(1.0)],
    ids=["short noise", "noise", "tone", "clicks", "vowel", "quiet"],
)
def test_every_audible_recording_is_described(
    make: Callable[[], Describer], signal: FloatArray
) -> None:
    encoder = EvidenceEncoder(make())
    vector = encoder.embed(signal.astype(np.float32), RATE)
    assert vector.shape == (encoder.card.dimension,)
    assert np.isfinite(vector).all()
    assert np.abs(vector).max() > 0


@pytest.mark.parametrize("make", SIGNAL_DESCRIBERS)
def test_loudness_does_not_matter(make: Callable[[], Describer]) -> None:
    encoder, signal = EvidenceEncoder(make()), syllables(4.0)
    loud, quiet = (encoder.embed((level * signal).astype(np.float32), RATE) for level in (1, 0.05))
    np.testing.assert_allclose(loud, quiet, rtol=0.02, atol=0.02)


def test_pitch_level_and_range_are_those_of_the_signal() -> None:
    clock = times(2.0)
    contour = 150 * 2 ** (0.5 * np.sin(2 * np.pi * 0.5 * clock))  # ± half an octave
    values = Pitch().describe(harmonics(contour, [1, 0.7, 0.5, 0.3], 2.0))
    expected = np.quantile(np.log(contour), [0.05, 0.5, 0.95])
    np.testing.assert_allclose(values[[0, 3, 6]], expected, atol=0.03)
    assert values[7] == pytest.approx(values[6] - values[0])


def test_pitch_slope_is_the_fall_per_second() -> None:
    contour = 200 * np.exp(-0.3 * times(2.0))
    values = Pitch().describe(harmonics(contour, [1, 0.7, 0.5], 2.0))
    assert values[15] == pytest.approx(-0.3, abs=0.03)


def test_syllables_are_counted_per_second() -> None:
    slow, fast = (np.expm1(Rhythm().describe(syllables(rate))[0]) for rate in (3.0, 6.0))
    assert slow == pytest.approx(3.0, rel=0.2)
    assert fast == pytest.approx(6.0, rel=0.2)


def test_pauses_are_measured_but_not_the_silence_around() -> None:
    speech = syllables(4.0, pause=0.8)
    around = np.concatenate([1e-5 * noise(1.0), speech, 1e-5 * noise(0.5)])
    values, padded = Rhythm().describe(speech), Rhythm().describe(around)
    pause = np.exp(values[9 + 2 + 2])  # the median
    assert pause == pytest.approx(0.8 - 2 * 0.1, abs=0.1)  # less what counts as soft sounds
    np.testing.assert_allclose(padded, values, atol=0.15)


def test_the_modulation_spectrum_peaks_at_the_rate_of_syllables() -> None:
    for rate, band in ((2.5, 2), (5.0, 4)):
        bands = Energy().describe(syllables(rate))[12:]
        assert int(bands.argmax()) == band


def test_the_spectrum_follows_the_formants() -> None:
    low, high = (Spectrum().describe(vowel((formant,)))[:20] for formant in (500, 3000))
    assert low.argmax() < high.argmax()


def test_words_hash_to_two_halves_of_length_one() -> None:
    vector = describe_text("The quick brown fox.")
    assert vector.shape == (257,)
    assert np.linalg.norm(vector[:128]) == pytest.approx(1)
    assert np.linalg.norm(vector[128:256]) == pytest.approx(1)
    assert vector[256] == 1
    np.testing.assert_array_equal(describe_text("the quick, brown FOX"), vector)


def test_texts_that_share_words_are_closer() -> None:
    first, same, other = (
        describe_text(text)[:256]
        for text in (
            "the old captain sailed the ship across the sea",
            "the ship of the old captain crossed the sea",
            "my aunt bought seven yellow apples yesterday",
        )
    )
    assert first @ same > first @ other + 0.5


def test_no_words_leave_the_constant_alone() -> None:
    vector = EvidenceEncoder(Words(Heard(""))).embed(noise(1.0).astype(np.float32), RATE)  # type: ignore[arg-type]
    assert vector.tolist() == [0.0] * 256 + [1.0]


def test_phone_lengths_are_relative_to_the_pace() -> None:
    """Two AA of twice and one IY of half the typical length; the prior adds 3 occurrences."""
    segments = [
        Segment(0, 0, 20, 1.0, (("AA", 0, 20),)),
        Segment(None, 20, 40, 1.0, ()),
        Segment(1, 40, 64, 1.0, (("AA", 40, 60), ("IY", 60, 64))),
    ]
    vector = describe_segments(segments)
    pace = (2 * np.log(2) - np.log(2)) / 3
    assert vector[PHONES.index("AA")] == pytest.approx(2 * (np.log(2) - pace) / 5)
    assert vector[PHONES.index("IY")] == pytest.approx((-np.log(2) - pace) / 4)
    assert vector[PHONES.index("ZH")] == 0
    assert vector[39] == pytest.approx(pace)
    assert vector[41] == pytest.approx(20 / 64)
    assert vector[42] == pytest.approx(np.log(0.2))


def test_unintelligible_recordings_have_typical_durations() -> None:
    vector = Durations(Heard("")).describe(noise(1.0))  # type: ignore[arg-type]
    np.testing.assert_array_equal(vector, describe_segments([]))
    nonsense = Durations(Heard("supercalifragilistic " * 40)).describe(noise(0.2))  # type: ignore[arg-type]
    np.testing.assert_array_equal(nonsense, vector)


def test_what_is_missing_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise MissingExtraError("speech recognition", "asr")

    monkeypatch.setattr("sottovoce.attack.evidence._transcriber", refuse)
    evidence = available_evidence()
    assert [encoder.card.name for encoder in evidence.encoders] == list(EVIDENCE)[:4]
    assert set(evidence.missing) == {"durations", "words"}
    assert "asr" in evidence.missing["words"]


def test_another_language_leaves_out_what_needs_words() -> None:
    evidence = available_evidence(["pt"])
    assert set(evidence.missing) == {"durations", "words"}
    assert "pt" in evidence.missing["durations"]


def test_cards_differ_in_name_and_sha() -> None:
    cards = [EvidenceEncoder(make()).card for make in SIGNAL_DESCRIBERS]
    assert len({card.sha256 for card in cards}) == len(cards)
    assert [card.name for card in cards] == ["pitch", "rhythm", "energy", "spectrum"]


def test_silence_is_refused_like_by_any_encoder() -> None:
    from error_codes import raises_code

    with raises_code("silent"):
        EvidenceEncoder(Pitch()).embed(silence(1.0).astype(np.float32), RATE)
