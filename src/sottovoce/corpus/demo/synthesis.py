"""A formant synthesiser for sentences in random voices; no recorded speech was used.

The classical source-filter chain (Klatt, "Software for a cascade/parallel formant synthesizer",
JASA 67(3), 1980), arranged so that whole utterances are array operations:

1. The phones of a sentence become segments (:func:`~sottovoce.corpus.demo.voices.articulate`).
2. Their targets become smooth **tracks**: a moving average weighted by how firmly a phone holds its
   target, which models coarticulation.
3. A train of glottal pulses with noise is filtered by the vocal tract, frame by frame in the
   frequency domain, and overlap-added; hiss is shaped by its own spectrum and added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft, rfftfreq
from scipy.ndimage import uniform_filter1d
from scipy.signal import fftconvolve, lfilter, resample_poly

from sottovoce.core.types import FloatArray
from sottovoce.corpus.demo.phones import Word
from sottovoce.corpus.demo.voices import (
    BINS,
    FFT,
    HOP,
    RATE,
    Segment,
    Session,
    Voice,
    articulate,
)

Spectra = NDArray[np.complex64]

BANDWIDTHS = np.array([60.0, 80.0, 120.0, 170.0, 220.0, 280.0, 340.0, 400.0])  # Hz
BREATH = 0.012  # level of the noise in an open glottis, relative to the pulses
ASPIRATION = 0.06  # level of the noise in a breath without voice
QUIET = 1e-4  # frames with less hiss are not filtered
TICKS = 1000  # steps of the tracks per second
OVERSAMPLING = 4  # of the glottal pulses, against aliasing


@dataclass(frozen=True, slots=True)
class Timing:
    """Start and end of a word, in seconds."""

    word: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Speech:
    """Samples in [-1, 1] and the times of the words in them."""

    samples: FloatArray
    words: list[Timing]


# ------------------------------------------------------------------------------------ tracks


@dataclass(frozen=True, slots=True)
class Tracks:
    """Parameters of the synthesiser over time, one value per tick."""

    formants: FloatArray  # Hz, ticks x 3
    nasal: FloatArray
    pitch: FloatArray  # Hz
    voice: FloatArray
    breath: FloatArray
    hiss: FloatArray
    peak: FloatArray
    width: FloatArray


def _smooth(values: FloatArray, ticks: float) -> FloatArray:
    """Average over a triangular window, about ``ticks`` wide at half height."""
    size = max(1, round(ticks))
    once = uniform_filter1d(values, size, axis=0, mode="nearest")
    return np.asarray(uniform_filter1d(once, size, axis=0, mode="nearest"))


def _tracks(
    segments: Sequence[Segment],
    ends: NDArray[np.int_],
    voice: Voice,
    session: Session,
    rng: np.random.Generator,
) -> Tracks:
    segment_of_tick = np.repeat(np.arange(len(segments)), np.diff(ends, prepend=0))

    def steps(name: str) -> FloatArray:
        values = np.asarray([getattr(segment, name) for segment in segments], float)
        return np.asarray(values[segment_of_tick])

    hold = steps("hold")
    pull = _smooth(hold[:, None] * np.log(steps("formants")), 45 * voice.slur)
    formants = np.exp(pull / _smooth(hold, 45 * voice.slur)[:, None])
    return Tracks(
        formants=formants * voice.formants[:3] * voice.tract * session.tract,
        nasal=np.minimum(1.0, _smooth(steps("nasal"), 30) + voice.nasality),
        pitch=_pitch(segments, ends, voice, session, rng),
        voice=_smooth(steps("voice"), 14),
        breath=_smooth(steps("breath"), 10),
        hiss=_smooth(steps("hiss"), 5),
        peak=steps("peak") * np.sqrt(voice.tract),
        width=steps("width"),
    )


def _pitch(
    segments: Sequence[Segment],
    ends: NDArray[np.int_],
    voice: Voice,
    session: Session,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the pitch in Hz: phrases fall, accents rise, and the end depends on punctuation."""
    ticks = np.arange(ends[-1])
    semitones = np.zeros(len(ticks))
    start = 0
    for segment, end in zip(segments, ends, strict=True):
        if segment.mark:
            stop = round(end - segment.milliseconds)
            phrase = slice(start, stop)
            semitones[phrase] += voice.declination * np.linspace(0.6, -0.6, stop - start)
            final = {".": voice.ending, "?": 6.0}.get(segment.mark, voice.rise)
            semitones[phrase] += final * np.clip((ticks[phrase] - stop + 250) / 250, 0, 1)
            start = end
        if segment.accent:
            peak = end - segment.milliseconds * (1 - voice.accent_delay)
            height = voice.accent * rng.uniform(0.3, 1.4)
            semitones += height * np.exp(-0.5 * ((ticks - peak) / 75) ** 2)
    wander = _smooth(rng.standard_normal(len(ticks)), 120) * np.sqrt(120) * 0.5
    shaky = _smooth(rng.standard_normal(len(ticks)), 4) * 2 * voice.jitter
    hertz = voice.pitch * session.pitch * 2 ** (_smooth(semitones + wander, 25) / 12)
    return np.asarray(np.clip(hertz * (1 + shaky), 55, 450))


# ------------------------------------------------------------------------------------- sound


def _glottis(
    tracks: Tracks, voice: Voice, session: Session, rng: np.random.Generator
) -> FloatArray:
    """Return pulses (the derivative of Klatt's t² - t³ flow), with breath in the open phase."""
    count = len(tracks.pitch) * RATE // TICKS
    fine = np.arange(count * OVERSAMPLING) * (TICKS / (RATE * OVERSAMPLING))
    ticks = np.arange(len(tracks.pitch))
    phase = np.cumsum(np.interp(fine, ticks, tracks.pitch)) / (RATE * OVERSAMPLING)
    cycle = phase.astype(np.int_)
    inside = (phase - cycle) / voice.open_quotient
    pulse = np.where(inside < 1, inside * (2 - 3 * inside), 0.0)
    strength = 1 + voice.shimmer * rng.standard_normal(cycle[-1] + 1)
    pulses = resample_poly(pulse * strength[cycle], 1, OVERSAMPLING)
    pole = float(np.clip(voice.tilt - session.effort, 0.05, 0.9))
    voiced = np.interp(fine[::OVERSAMPLING], ticks, tracks.voice)
    breath = np.interp(fine[::OVERSAMPLING], ticks, tracks.breath)
    open_phase = 0.4 + 0.6 * (inside[::OVERSAMPLING] < 1)
    leak = BREATH * voice.breath * session.breath * open_phase * voiced
    noise = rng.standard_normal(count) * (leak + ASPIRATION * breath)
    return np.asarray(lfilter([1 - pole], [1, -pole], pulses) * voiced + noise)


def _sections(hertz: FloatArray, bandwidth: FloatArray) -> FloatArray:
    """Return the coefficients 1, b, c of two-pole (or two-zero) sections, a row per frame."""
    radius = np.exp(-np.pi * bandwidth / RATE)
    turn = -2 * radius * np.cos(2 * np.pi * hertz / RATE)
    return np.stack([np.ones(len(hertz)), turn, radius**2], axis=-1)


def _tract(formants: FloatArray, nasal: FloatArray, voice: Voice, session: Session) -> Spectra:
    """Return the response of the vocal tract, frames x bins: poles in cascade, one zero."""
    scale = voice.tract * session.tract
    count = min(8, int(7600 / (1000 * scale) + 0.5))
    upper = np.arange(3, count) * 1000.0 + 500.0
    upper = np.broadcast_to(upper * voice.formants[3:count] * scale, (len(nasal), count - 3))
    hertz = np.minimum(np.concatenate([formants, upper], axis=1), 7800.0)
    bandwidth = np.tile(BANDWIDTHS[:count] * voice.bandwidths[:count] * scale, (len(nasal), 1))
    bandwidth[:, :2] *= 1 + nasal[:, None]
    poles = [_sections(hertz[:, k], bandwidth[:, k]) for k in range(count)]
    poles.append(_sections(np.full(len(nasal), 270.0), np.full(len(nasal), 100.0)))
    zero = _sections(270.0 + 230.0 * nasal, np.full(len(nasal), 100.0))
    denominator, gain = poles[0], poles[0].sum(axis=1)
    for section in poles[1:]:
        denominator = _multiply(denominator, section)
        gain = gain * section.sum(axis=1)
    gain /= zero.sum(axis=1)
    response = rfft(zero, FFT) / rfft(denominator, FFT)
    return np.asarray(gain[:, None] * response, np.complex64)


def _multiply(polynomials: FloatArray, sections: FloatArray) -> FloatArray:
    """Multiply polynomials by quadratics, row by row."""
    product = np.zeros((len(polynomials), polynomials.shape[1] + 2))
    for k in range(3):
        product[:, k : k + polynomials.shape[1]] += polynomials * sections[:, k : k + 1]
    return product


def _minimum_phase(decibels: FloatArray) -> Spectra:
    """Return the minimum-phase filter with a given magnitude, by its cepstrum."""
    cepstrum = irfft(decibels * (np.log(10) / 20), FFT)
    cepstrum[1 : FFT // 2] *= 2
    cepstrum[FFT // 2 + 1 :] = 0
    return np.asarray(np.exp(rfft(cepstrum)), np.complex64)


def _spectra(signal: FloatArray) -> Spectra:
    """Return short-time spectra under a Hann window of two hops, which overlap-add to 1."""
    window = np.hanning(2 * HOP + 1)[:-1].astype(np.float32)
    padded = np.concatenate([np.zeros(HOP), signal, np.zeros(HOP)]).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(padded, 2 * HOP)[::HOP]
    return np.asarray(rfft(frames * window, FFT))


def _overlap_add(spectra: Spectra, count: int) -> FloatArray:
    """Return the signal of short-time spectra: ``count`` samples."""
    frames = irfft(spectra, FFT).reshape(len(spectra), -1, HOP)
    out = np.zeros((len(spectra) + frames.shape[1], HOP))
    for k in range(frames.shape[1]):
        out[k : k + len(spectra)] += frames[:, k]
    return out.ravel()[HOP : HOP + count]


def synthesise(
    words: Sequence[Word], voice: Voice, session: Session, rng: np.random.Generator
) -> Speech:
    """Synthesise a sentence.

    Parameters
    ----------
    words : sequence of Word
        The sentence.
    voice : Voice
        Who says it.
    session : Session
        When and where it is recorded.
    rng : Generator
        Source of randomness.
    """
    segments = articulate(words, voice, voice.rate * session.rate, rng)
    ends = np.cumsum([segment.milliseconds for segment in segments])
    ends = np.ceil(ends / 5).astype(np.int_) * 5
    tracks = _tracks(segments, ends, voice, session, rng)
    dry = _sound(tracks, voice, session, rng)
    return Speech(_recorded(dry, session, rng), _timings(words, segments, ends))


def _sound(tracks: Tracks, voice: Voice, session: Session, rng: np.random.Generator) -> FloatArray:
    """Return the sound of the tracks at the microphone, without room and noise."""
    source = _glottis(tracks, voice, session, rng)
    ticks = np.arange(len(tracks.pitch))
    frames = np.minimum(np.arange(0, len(source) + 1, HOP) * TICKS // RATE, ticks[-1])
    tract = _tract(tracks.formants[frames], tracks.nasal[frames], voice, session)
    spectra = _spectra(source) * tract
    envelope = np.interp(np.arange(len(source)) * (TICKS / RATE), ticks, tracks.hiss)
    hiss = _spectra(envelope * rng.standard_normal(len(source)))
    loud = np.flatnonzero(np.abs(hiss[:, ::8]).max(axis=1) > QUIET)
    spectra[loud] += hiss[loud] * _turbulence(tracks.peak[frames[loud]], tracks.width[frames[loud]])
    spectra *= _minimum_phase(voice.colour + session.equaliser)
    return _overlap_add(spectra, len(source))


def _turbulence(peak: FloatArray, width: FloatArray) -> Spectra:
    """Return responses of unit power with one broad peak, frames x bins."""
    offset = (BINS - peak[:, None]) / (0.78 * width[:, None])
    response = 1 / (1 + 1j * offset.astype(np.float32))
    response *= response
    power = np.mean(1 / (1 + offset**2) ** 2, axis=1, keepdims=True)
    return np.asarray(response / np.sqrt(power), np.complex64)


def _recorded(dry: FloatArray, session: Session, rng: np.random.Generator) -> FloatArray:
    """Put the sound into the room, add noise, set the level; never clip."""
    wet = fftconvolve(dry, session.room)[: len(dry)]
    wet /= np.sqrt(np.mean(wet**2))
    hertz = rfftfreq(len(wet), 1 / RATE)
    slope = 10 ** (session.noise_slope * np.log2(np.maximum(hertz, 50) / 1000) / 20)
    noise = irfft(rfft(rng.standard_normal(len(wet))) * slope, len(wet))
    wet += noise * 10 ** (-session.noise / 20) / np.sqrt(np.mean(noise**2))
    gain = min(10 ** (session.level / 20), 0.9 / np.max(np.abs(wet)))
    return np.asarray(wet * gain)


def _timings(
    words: Sequence[Word], segments: Sequence[Segment], ends: NDArray[np.int_]
) -> list[Timing]:
    starts = np.concatenate([[0], ends[:-1]])
    owner = np.array([segment.word for segment in segments])
    return [
        Timing(
            word.text,
            float(starts[owner == index][0]) / TICKS,
            float(ends[owner == index][-1]) / TICKS,
        )
        for index, word in enumerate(words)
    ]
