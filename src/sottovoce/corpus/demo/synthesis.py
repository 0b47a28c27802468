"""A formant synthesiser: sentences said by voices that never were.

The classical source-filter chain (Klatt, "Software for a cascade/parallel formant synthesizer",
JASA 67(3), 1980), arranged so that whole utterances are array operations:

1. The phones of a sentence become **segments** with a duration, formant targets and the levels of
   three sources: voice, breath and hiss.
2. Targets become smooth **tracks**: a weighted moving average in which firm phones pull weak ones,
   which is coarticulation.
3. A train of glottal pulses with noise is filtered by the vocal tract, frame by frame in the
   frequency domain, and overlap-added; hiss is shaped by its own spectrum and added.

A :class:`Voice` is what stays with a speaker, a :class:`Session` what changes with the day and the
room. Both are drawn at random; nobody's speech was used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft, rfftfreq
from scipy.ndimage import uniform_filter1d
from scipy.signal import fftconvolve, lfilter, resample_poly

from sottovoce.core.types import FloatArray
from sottovoce.corpus.demo.phones import PHONES, Hiss, Phone, Word
from sottovoce.corpus.demo.voices import BINS, FFT, HOP, RATE, Session, Voice, factor

Spectra = NDArray[np.complex64]

NEUTRAL = np.array([500.0, 1500.0, 2500.0])  # Hz
BANDWIDTHS = np.array([60.0, 80.0, 120.0, 170.0, 220.0, 280.0, 340.0, 400.0])  # Hz
BREATH = 0.012  # level of the noise in an open glottis, against the pulses
ASPIRATION = 0.06  # and in a breath without voice
QUIET = 1e-4  # hiss below it is not worth a filter
TICKS = 1000  # steps of the tracks a second
OVERSAMPLING = 4  # of the glottal pulses, against aliasing


@dataclass(frozen=True, slots=True)
class Timing:
    """A word and when it is said, in seconds."""

    word: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Speech:
    """Samples in [-1, 1] and the times of the words in them."""

    samples: FloatArray
    words: list[Timing]


# ---------------------------------------------------------------------- voices and sessions


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch with one set of targets; a phone is one to three of them."""

    milliseconds: float
    formants: FloatArray
    hold: float
    voice: float = 0.0
    breath: float = 0.0
    hiss: float = 0.0
    peak: float = 4000.0
    width: float = 4000.0
    nasal: float = 0.0
    accent: bool = False
    word: int = -1  # which it belongs to; none in silence
    mark: str = ""  # the punctuation that a silence stands for


def _segments(
    words: Sequence[Word], voice: Voice, rate: float, rng: np.random.Generator
) -> list[Segment]:
    """All segments of a sentence, with the silences around and in it."""
    segments = [Segment(150.0, NEUTRAL, 0.05)]
    for index, word in enumerate(words):
        for position, name in enumerate(word.phones):
            stretch = _stretch(word, position) * voice.durations[name.rstrip("1")] / rate
            parts = _parts(name, _neighbours(words, index, position), voice)
            for part in parts:
                lasts = part.milliseconds * stretch * factor(rng, 0.07)
                segments.append(replace(part, milliseconds=lasts, word=index))
        if word.mark:
            pause = 200.0 if index + 1 == len(words) else 170.0 * voice.pause / rate
            segments.append(Segment(pause, NEUTRAL, 0.05, mark=word.mark))
    return segments


def _stretch(word: Word, position: int) -> float:
    """Unstressed vowels are short, all is long from the last vowel before a pause."""
    name = word.phones[position]
    reduced = PHONES[name.rstrip("1")].kind == "vowel" and not name.endswith("1") and name != "AX"
    last_vowel = max(i for i, n in enumerate(word.phones) if PHONES[n.rstrip("1")].kind == "vowel")
    return (0.72 if reduced else 1.0) * (1.4 if word.mark and position >= last_vowel else 1.0)


def _neighbours(words: Sequence[Word], index: int, position: int) -> tuple[str, str]:
    """The phones before and behind one, "" at a pause."""
    phones = words[index].phones
    before = after = ""
    if position > 0:
        before = phones[position - 1]
    elif index > 0 and not words[index - 1].mark:
        before = words[index - 1].phones[-1]
    if position + 1 < len(phones):
        after = phones[position + 1]
    elif index + 1 < len(words) and not words[index].mark:
        after = words[index + 1].phones[0]
    return before.rstrip("1"), after.rstrip("1")


def _parts(name: str, neighbours: tuple[str, str], voice: Voice) -> list[Segment]:
    """A phone in a speaker's mouth."""
    bare = name.rstrip("1")
    phone = PHONES[bare]
    if phone.kind in ("vowel", "glide", "nasal"):
        return _sonorant(name, phone, voice)
    formants = np.array(phone.formants[0])
    if phone.hiss is None:
        return [Segment(phone.milliseconds, formants, phone.hold, breath=1.0)]
    if phone.kind == "stop":
        return _stop(bare, phone, phone.hiss, neighbours, voice)
    peak, level = voice.hisses[bare]
    noisy = Segment(
        phone.milliseconds,
        formants,
        phone.hold,
        voice=phone.loudness,
        hiss=phone.hiss.level * level,
        peak=phone.hiss.peak * peak,
        width=phone.hiss.width,
    )
    if phone.kind == "fricative":
        return [noisy]
    half = phone.milliseconds / 2
    closure = Segment(half, formants, phone.hold, voice=phone.loudness / 2)
    return [closure, replace(noisy, milliseconds=half)]


def _sonorant(name: str, phone: Phone, voice: Voice) -> list[Segment]:
    stressed = name.endswith("1")
    accent = voice.vowels.get(name.rstrip("1"), np.ones(3))
    weak = phone.kind == "vowel" and not stressed
    shares = (1.0,) if len(phone.formants) == 1 else (0.55, 0.45)
    return [
        Segment(
            phone.milliseconds * share,
            np.array(target) * accent,
            phone.hold * (0.8 if weak else 1.0),
            voice=phone.loudness * (0.75 if weak else 1.0),
            nasal=float(phone.kind == "nasal"),
            accent=stressed and part == 0,
        )
        for part, (share, target) in enumerate(zip(shares, phone.formants, strict=True))
    ]


def _stop(
    bare: str, phone: Phone, hiss: Hiss, neighbours: tuple[str, str], voice: Voice
) -> list[Segment]:
    """Closure, burst and, if voiceless and nothing noisy is near, aspiration."""
    before, after = neighbours
    follower = PHONES.get(after)
    formants, place = np.array(phone.formants[0]), hiss.peak
    sonorous = follower is not None and follower.kind in ("vowel", "glide")
    if bare in ("K", "G") and follower and sonorous:
        formants[1] = np.clip(1.1 * follower.formants[0][1], 1000, 2350)
        place = 1.1 * formants[1]  # a velar burst sits at F2 of what comes
    peak, level = voice.hisses[bare]
    closure = Segment(
        0.75 * phone.milliseconds, formants, phone.hold, phone.loudness * phone.voiced
    )
    burst = Segment(
        12.0,
        formants,
        phone.hold,
        voice=0.1 * phone.voiced,
        hiss=hiss.level * level * (1.0 if sonorous else 0.4),
        peak=place * peak,
        width=hiss.width,
    )
    if phone.voiced or not sonorous or before == "S":
        return [closure, burst]
    return [closure, burst, Segment(38.0 * voice.aspiration, formants, 0.1, breath=0.8)]


# ------------------------------------------------------------------------------------ tracks


@dataclass(frozen=True, slots=True)
class Tracks:
    """What the synthesiser follows, one value a tick."""

    formants: FloatArray  # Hz, ticks x 3
    nasal: FloatArray
    pitch: FloatArray  # Hz
    voice: FloatArray
    breath: FloatArray
    hiss: FloatArray
    peak: FloatArray
    width: FloatArray


def _smooth(values: FloatArray, ticks: float) -> FloatArray:
    """A moving average with a triangular window, about ``ticks`` wide at half height."""
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
    which = np.repeat(np.arange(len(segments)), np.diff(ends, prepend=0))

    def steps(name: str) -> FloatArray:
        return np.asarray([getattr(segment, name) for segment in segments], float)[which]

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
    """Pitch in Hz: each phrase falls, accents stand on it, its end tells what comes."""
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
    """Pulses (the derivative of Klatt's t² - t³ flow) with breath in their open phase."""
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
    """Coefficients 1, b, c of two-pole (or two-zero) sections, one a frame."""
    radius = np.exp(-np.pi * bandwidth / RATE)
    turn = -2 * radius * np.cos(2 * np.pi * hertz / RATE)
    return np.stack([np.ones(len(hertz)), turn, radius**2], axis=-1)


def _tract(formants: FloatArray, nasal: FloatArray, voice: Voice, session: Session) -> Spectra:
    """The frequency response of the vocal tract, frames x bins: poles in cascade, one zero."""
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
    """Products of polynomials with quadratics, row by row."""
    product = np.zeros((len(polynomials), polynomials.shape[1] + 2))
    for k in range(3):
        product[:, k : k + polynomials.shape[1]] += polynomials * sections[:, k : k + 1]
    return product


def _minimum_phase(decibels: FloatArray) -> Spectra:
    """The causal filter with a given magnitude, by its cepstrum."""
    cepstrum = irfft(decibels * (np.log(10) / 20), FFT)
    cepstrum[1 : FFT // 2] *= 2
    cepstrum[FFT // 2 + 1 :] = 0
    return np.asarray(np.exp(rfft(cepstrum)), np.complex64)


def _spectra(signal: FloatArray) -> Spectra:
    """Short-time spectra under a Hann window of two hops; their sum is the signal."""
    window = np.hanning(2 * HOP + 1)[:-1].astype(np.float32)
    padded = np.concatenate([np.zeros(HOP), signal, np.zeros(HOP)]).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(padded, 2 * HOP)[::HOP]
    return np.asarray(rfft(frames * window, FFT))


def _overlap_add(spectra: Spectra, count: int) -> FloatArray:
    """The signal of short-time spectra: ``count`` samples."""
    frames = irfft(spectra, FFT).reshape(len(spectra), -1, HOP)
    out = np.zeros((len(spectra) + frames.shape[1], HOP))
    for k in range(frames.shape[1]):
        out[k : k + len(spectra)] += frames[:, k]
    return out.ravel()[HOP : HOP + count]


def synthesise(
    words: Sequence[Word], voice: Voice, session: Session, rng: np.random.Generator
) -> Speech:
    """Say ``words`` with ``voice`` in ``session``."""
    segments = _segments(words, voice, voice.rate * session.rate, rng)
    ends = np.cumsum([segment.milliseconds for segment in segments])
    ends = np.ceil(ends / 5).astype(np.int_) * 5
    tracks = _tracks(segments, ends, voice, session, rng)
    dry = _sound(tracks, voice, session, rng)
    return Speech(_recorded(dry, session, rng), _timings(words, segments, ends))


def _sound(tracks: Tracks, voice: Voice, session: Session, rng: np.random.Generator) -> FloatArray:
    """What the lips and the microphone make of the tracks."""
    source = _glottis(tracks, voice, session, rng)
    ticks = np.arange(len(tracks.pitch))
    now = np.minimum(np.arange(0, len(source) + 1, HOP) * TICKS // RATE, ticks[-1])
    spectra = _spectra(source) * _tract(tracks.formants[now], tracks.nasal[now], voice, session)
    envelope = np.interp(np.arange(len(source)) * (TICKS / RATE), ticks, tracks.hiss)
    hiss = _spectra(envelope * rng.standard_normal(len(source)))
    loud = np.flatnonzero(np.abs(hiss[:, ::8]).max(axis=1) > QUIET)
    spectra[loud] += hiss[loud] * _turbulence(tracks.peak[now[loud]], tracks.width[now[loud]])
    spectra *= _minimum_phase(voice.colour + session.equaliser)
    return _overlap_add(spectra, len(source))


def _turbulence(peak: FloatArray, width: FloatArray) -> Spectra:
    """Responses of unit power with one broad peak, frames x bins."""
    away = (BINS - peak[:, None]) / (0.78 * width[:, None])
    response = 1 / (1 + 1j * away.astype(np.float32))
    response *= response
    power = np.mean(1 / (1 + away**2) ** 2, axis=1, keepdims=True)
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
