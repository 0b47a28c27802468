"""Masked words are gone, kept samples are unchanged, sound and text agree."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from signals import noise

from sottovoce.anonymise.recording.mask import (
    MaskedRecording,
    MaskedSpan,
    MaskSettings,
    MaskSound,
    Stretch,
    Target,
    mask,
)
from sottovoce.anonymise.recording.masked_transcript import mask_text
from sottovoce.anonymise.recording.word_times import Alignment, TimedWord
from sottovoce.anonymise.recording.words import spoken_words

RATE = 8000
MASK_SOUNDS: list[MaskSound] = ["silence", "noise", "beep", "cut"]


def timed(*spans: tuple[float, float], seconds: float = 3.0) -> Alignment:
    return Alignment(tuple(TimedWord(f"w{i}", a, b) for i, (a, b) in enumerate(spans)), seconds)


def sound(seconds: float = 3.0, seed: int = 0) -> np.ndarray:
    return noise(seconds, rate=RATE, level=0.5, seed=seed, uniform=True).astype(np.float32)


WORDS = timed((0.1, 0.4), (0.4, 0.7), (0.9, 1.3), (1.3, 1.35), (1.35, 1.8), (2.2, 2.6))


def kept_identical(audio: np.ndarray, masked: MaskedRecording, ramp: float) -> bool:
    """Whether everything but the masked spans and the ramps beside them is as it was, bit by bit.

    An independent reading of the result: it walks along both recordings.
    """
    width = round(ramp * masked.rate)
    ends = [(0, 0), *((s.before[1], s.after[1]) for s in masked.spans)]
    starts = [(s.before[0], s.after[0]) for s in masked.spans]
    starts.append((len(audio), len(masked.audio)))
    for number, ((a, x), (b, y)) in enumerate(zip(ends, starts, strict=True)):
        left = width if number else 0
        right = width if number < len(masked.spans) else 0
        if b - a != y - x:
            return False
        inner = max(0, b - a - left - right)
        old, new = audio[a + left :][:inner], masked.audio[x + left :][:inner]
        if not np.array_equal(old, new):
            return False
    return True


@pytest.mark.parametrize("how", MASK_SOUNDS)
@pytest.mark.parametrize("length", [None, 0.4])
def test_masked_words_are_replaced_and_the_rest_is_kept(
    how: MaskSound, length: float | None
) -> None:
    audio = sound()
    settings = MaskSettings(how=how, length=length)
    result = mask(audio, RATE, WORDS, [Target(1, 1, "PER"), Target(5, 5)], settings)
    assert [span.labels for span in result.spans] == [("PER",), ("PRIVATE",)]
    assert kept_identical(audio, result, settings.ramp)
    for span, (a, b) in zip(result.spans, [(0.4, 0.7), (2.2, 2.6)], strict=True):
        assert span.before[0] <= (a - 0.03) * RATE and span.before[1] >= (b + 0.03) * RATE
        size = span.after[1] - span.after[0]
        wanted = round(0.4 * RATE) if length else span.before[1] - span.before[0]
        assert size == (0 if how == "cut" else wanted)
        if how == "silence":
            assert not result.audio[slice(*span.after)].any()
    assert result.words[1] is None and result.words[5] is None
    assert sum(word is not None for word in result.words) == 4


@given(
    st.lists(st.tuples(st.floats(0.0, 0.3), st.floats(0.02, 0.5)), min_size=1, max_size=12),
    st.data(),
)
def test_laws(steps: list[tuple[float, float]], data: st.DataObject) -> None:
    position, spans = 0.0, []
    for gap, length in steps:
        spans.append((position + gap, position + gap + length))
        position += gap + length
    alignment = timed(*spans, seconds=round(position + 0.1, 3))
    audio = sound(alignment.seconds)
    alignment = Alignment(alignment.words, len(audio) / RATE)
    chosen = data.draw(st.sets(st.integers(0, len(steps) - 1)))
    how = data.draw(st.sampled_from(MASK_SOUNDS))
    fixed: float | None = data.draw(st.sampled_from([None, 0.25]))
    settings = MaskSettings(how=how, length=fixed)
    result = mask(audio, RATE, alignment, [Target(i, i) for i in sorted(chosen)], settings)
    assert kept_identical(audio, result, settings.ramp)
    assert chosen <= {i for i, word in enumerate(result.words) if word is None}
    for i in chosen:  # no sample of a masked word is left
        a, b = spans[i]
        inside = [
            s for s in result.spans if s.before[0] <= a * RATE and b * RATE <= s.before[1] + 1
        ]
        assert len(inside) == 1
    for i, word in enumerate(result.words):
        if word is None or not len(result.audio):
            continue  # a kept word is where the new axis says: at least half of it
        a, b = round(word.start * RATE), round(word.end * RATE)
        assert 0 <= a < b <= len(result.audio)
        assert b - a >= (spans[i][1] - spans[i][0]) * RATE / 2 - 2
    if not chosen:
        assert np.array_equal(audio, result.audio)


def test_neighbours_make_one_span_with_the_pause_between() -> None:
    alignment = timed((0.1, 0.4), (0.7, 1.0), (1.1, 1.5))
    for targets in ([Target(0, 1, "PER")], [Target(0, 0, "PER"), Target(1, 1, "PER")]):
        (span,) = mask(sound(), RATE, alignment, targets).spans
        assert (span.first, span.last, span.labels) == (0, 1, ("PER",))


def test_the_mask_reaches_further_into_a_pause_than_into_a_neighbour() -> None:
    for target, start, end in ((1, 0.4 - 0.03, 0.7 + 0.09), (5, 2.2 - 0.09, 2.6 + 0.09)):
        (span,) = mask(sound(), RATE, WORDS, [Target(target, target)]).spans
        assert span.before == pytest.approx((start * RATE, end * RATE), abs=1)


def test_a_word_that_two_pads_would_swallow_goes_too() -> None:
    result = mask(sound(), RATE, WORDS, [Target(2, 2), Target(4, 4)])
    assert result.words[3] is None and len(result.spans) == 1


def test_the_filling_knows_nothing_of_what_it_replaces() -> None:
    first, second = sound(), sound()
    second[round(0.4 * RATE) : round(0.7 * RATE)] = 0.9
    for how in MASK_SOUNDS:
        a, b = (
            mask(x, RATE, WORDS, [Target(1, 1)], MaskSettings(how), rng=np.random.default_rng(1))
            for x in (first, second)
        )
        assert np.array_equal(a.audio, b.audio)


def test_text_loses_the_same_words() -> None:
    text = "Well: Ann Lee met (Bob), in Bonn!"
    spans = [MaskedSpan(1, 2, ("PER",), (0, 0), (0, 0)), MaskedSpan(6, 6, ("LOC",), (0, 0), (0, 0))]
    assert mask_text(text, spoken_words(text), spans, typed=False) == "Well: met (Bob), in!"
    assert (
        mask_text(text, spoken_words(text), spans, typed=True) == "Well: <PER> met (Bob), in <LOC>!"
    )
    assert mask_text(text, spoken_words(text), [], typed=False) == text


def test_what_is_refused() -> None:
    with raises_code("mismatch"):
        mask(sound(2.0), RATE, WORDS, [])
    with raises_code("out-of-range") as error:
        mask(sound(), RATE, WORDS, [Target(5, 6)])
    assert "words 5 to 6 of 6" in str(error.value)
    with raises_code("unknown-name"):
        MaskSettings(how="reverse")  # type: ignore[arg-type]
    for wrong in ({"pad": -1.0}, {"ramp": 1.0}, {"length": 0.0}):
        with raises_code("out-of-range"):
            MaskSettings(**wrong)  # type: ignore[arg-type]
    with raises_code("out-of-range") as error:
        timed((0.1, 0.4), (0.3, 0.5))
    assert "word 2" in str(error.value)
    assert MaskSettings.strict().pad == 0.05


STRETCHES = st.lists(
    st.tuples(st.floats(0, 2.9), st.floats(0.01, 1.0)).map(
        lambda pair: Stretch(pair[0], min(3.0, pair[0] + pair[1]))
    ),
    max_size=3,
)


@given(STRETCHES, st.sets(st.integers(0, 5), max_size=3), st.sampled_from([0.4, None]))
def test_stretches_are_gone_whatever_their_words(
    stretches: list[Stretch], targets: set[int], length: float | None
) -> None:
    """Every sample of a stretch is replaced; a word of which less than half is left is gone too."""
    audio, settings = sound(), MaskSettings(length=length)
    masked = mask(
        audio, RATE, WORDS, [Target(i, i) for i in targets], settings, stretches=stretches
    )
    replaced = np.zeros(len(audio), bool)
    for span in masked.spans:
        replaced[slice(*span.before)] = True
    for stretch in stretches:
        assert replaced[int(stretch.start * RATE) : int(np.ceil(stretch.end * RATE))].all()
    assert kept_identical(audio, masked, settings.ramp)
    edges = [edge for span in masked.spans for edge in span.before]
    assert edges == sorted(edges)
    for index, (word, new) in enumerate(zip(WORDS.words, masked.words, strict=True)):
        share = replaced[round(word.start * RATE) : round(word.end * RATE)].mean()
        assert (new is None) == (index in targets or share > 0.5) or abs(share - 0.5) < 0.01
    remaining = [word for word in masked.words if word is not None]
    assert masked.alignment.words == tuple(remaining)


def test_a_stretch_beyond_the_recording_is_refused() -> None:
    for start, end in ((-0.1, 1.0), (1.0, 1.0), (2.0, 3.1)):
        with raises_code("out-of-range"):
            mask(sound(), RATE, WORDS, [], stretches=[Stretch(start, end)])


def test_a_stretch_without_words_changes_no_text() -> None:
    text = "one two three four five six"
    spans = mask(sound(), RATE, WORDS, [], stretches=[Stretch(1.85, 2.1, "PER")]).spans
    assert [(span.first, span.last) for span in spans] == [(5, 4)]
    assert mask_text(text, spoken_words(text), spans, typed=True) == text
