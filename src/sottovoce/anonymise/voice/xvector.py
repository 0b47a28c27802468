"""X-vector anonymisation: the words are synthesised again in the voice of a pseudo-speaker.

Content and prosody come from the recording, the voice from an average of speaker vectors of a pool.
A network turns them into spectral envelopes, and WORLD turns those into samples. Fang et al. 2019;
baseline B1 of the VoicePrivacy Challenges; design choices of COMPRISE deliverable D2.3 (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.card import MethodCard, Setting, SettingValue, method_record
from sottovoce.anonymise.voice.conditioning import condition, first_recordings
from sottovoce.anonymise.voice.draw_scope import SCOPES, DrawScope
from sottovoce.anonymise.voice.frames import (
    FIT_SECONDS,
    PERIOD,
    RATE,
    SPLIT,
    Prosody,
    content_of,
    energy_of,
    frame_counts,
    prosody_table,
    with_energy_floor,
)
from sottovoce.anonymise.voice.kept_analyses import analysis
from sottovoce.anonymise.voice.method import METHODS, SpeakerwiseAnonymiser
from sottovoce.anonymise.voice.pitch import (
    MINIMUM_VOICED,
    gaussian_pitch,
    log_pitch,
    percentile_pitch,
    smoothed_pitch,
)
from sottovoce.anonymise.voice.pool import Pool, f0_percentiles
from sottovoce.anonymise.voice.pseudo_speaker import (
    DISTANCES,
    GENDERS,
    MINIMUM_AVERAGED,
    PROXIMITIES,
    MemberSelection,
    PseudoSpeaker,
)
from sottovoce.anonymise.voice.rhythm import TimeMap, random_time_map, rows_at
from sottovoce.anonymise.voice.synthesis import (
    Network,
    OnnxVocoder,
    Vocoder,
    WorldVocoder,
    every_8_ms,
    keep_energy,
)
from sottovoce.asr.content import ContentEncoder
from sottovoce.core.errors import InputError
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio, Features, FloatArray, Vector
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal import world
from sottovoce.signal.world import find_f0
from sottovoce.speaker.encoders import OnnxEncoder, campplus

QUIET = 1e-6
"""Pieces with a smaller root mean square become silence."""
INPUTS = ("content", "prosody", "speaker", "coded", "detail")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Voice of a speaker to be anonymised."""

    vector: Vector
    pitch: FloatArray | None
    """Percentiles of F0 in Hz; None if ``fit`` heard too few voiced frames of the speaker."""
    gender: str
    guessed: bool = False
    """Whether the gender was guessed from the voice."""


class XVector(SpeakerwiseAnonymiser[Source]):
    """Synthesise recordings again in the voice of a pseudo-speaker.

    Parameters
    ----------
    secret : Secret, optional
        The key of the draws; a new one by default.
    **settings : float, str or Path
        Settings of :attr:`card`.

    Raises
    ------
    InputError
        If the pool was made with another speaker encoder (``mismatch``).
    """

    name = "xvector"
    card = MethodCard(
        name="xvector",
        summary="Synthesises the words again in the voice of a pseudo-speaker from a pool.",
        settings=(
            Setting("distance", "plda", "Measure of the distance of two voices.", words=DISTANCES),
            Setting("proximity", "dense", "Which voices are averaged.", words=PROXIMITIES),
            Setting(
                "gender",
                "random",
                "Of the averaged voices.",
                words=GENDERS,
            ),
            Setting("assignment", "speaker", "Who gets one pseudo-speaker.", words=SCOPES),
            Setting(
                "n_candidates",
                "auto",
                "N, from which near and far draw; auto: 17 % of the pool.",
                low=1,
                high=1e6,
                words=("auto",),
                integer=True,
            ),
            Setting(
                "n_averaged",
                "auto",
                "N*, voices that are averaged; auto: 9 % of the pool, half of a cluster (dense, "
                "sparse).",
                low=MINIMUM_AVERAGED,
                high=1e6,
                words=("auto",),
                integer=True,
            ),
            Setting(
                "pitch",
                "percentile",
                "How F0 is mapped to that of the pseudo-speaker.",
                words=("none", "gaussian", "percentile"),
            ),
            Setting(
                "content_codebook",
                "off",
                "Experimental: replace content by the nearest of 512 codes; many words are lost.",
                words=("on", "off"),
            ),
            Setting(
                "content_detail",
                192,
                "Directions of content that are used, those with least of the voice first.",
                low=8,
                high=192,
                integer=True,
            ),
            Setting(
                "pitch_smoothing",
                0.0,
                "Standard deviation in ms of the smoothing of the F0 contour; 0: none.",
                low=0,
                high=1000,
            ),
            Setting(
                "energy_floor",
                "off",
                "Quieter frames are raised to this level in dB below that of the recording, so "
                "that pauses do not tell the noise of a room.",
                low=10,
                high=80,
                words=("off",),
            ),
            Setting(
                "rhythm",
                0.0,
                "Largest random change of the local speed; 0: none. The length is kept.",
                low=0,
                high=0.4,
            ),
            Setting(
                "source_gender",
                "auto",
                "Gender of the speakers; auto: from the corpus, or guessed from the voice.",
                words=("auto", "f", "m"),
            ),
            Setting("pool", None, "Another pool of voices (.npz).", path=True),
            Setting("synthesiser", None, "Another network: FILE.onnx[@SHA256].", path=True),
            Setting("vocoder", None, "A neural vocoder: FILE.onnx[@SHA256].", path=True),
        ),
        keeps=("duration", "rhythm", "energy", "course of F0", "words"),
        leaks="Rhythm, energy, pitch contour, wording, and what the content keeps of the voice.",
        reversible="no: only what the content representation keeps of the voice is in the output",
        reference="Fang et al. 2019, Speaker anonymization using x-vectors and neural waveforms",
        fit="optional",
        draws=("gender", "voices that are averaged", "rhythm"),
        per_utterance=("assignment", "utterance"),
    )

    def __init__(self, secret: Secret | None = None, **settings: SettingValue) -> None:
        super().__init__()
        self.secret = secret or Secret.generate()
        self.settings = self.card.checked(**settings)
        self.selection = MemberSelection(
            distance=self.settings.word("distance"),
            proximity=self.settings.word("proximity"),
            gender=self.settings.word("gender"),
            candidates=self.settings.count("n_candidates"),
            averaged=self.settings.count("n_averaged"),
        )
        self.scope = DrawScope(self.settings.word("assignment"), self.secret)
        self.pool = Pool.load(self.settings.path("pool"))
        self.network = Network(self.settings.path("synthesiser"), "xvector.onnx", INPUTS)
        vocoder = self.settings.path("vocoder")
        self.vocoder: Vocoder = WorldVocoder() if vocoder is None else OnnxVocoder(vocoder)
        self.encoder, self.content = _encoders()
        if self.pool.card.encoder.sha256 != self.encoder.card.sha256:
            raise InputError(
                f"{self.settings['pool']}: a pool of encoder {self.pool.card.encoder.name!r}, "
                f"not of {self.encoder.card.name!r}; build it again",
                code="mismatch",
            )
        self._guessed: set[str] = set()

    def begin_fit(self, corpus: Corpus) -> None:
        """Learn which recordings belong to one session, if draws are made for each session.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.
        """
        self.scope.fit(corpus)

    def learn_speaker(self, speaker: str, utterances: Sequence[Utterance]) -> Source | None:
        """Learn mean vector, pitch and gender of a speaker from a minute of recordings.

        Parameters
        ----------
        speaker : str
            Id of the speaker.
        utterances : sequence of Utterance
            All recordings of the speaker.
        """
        vectors, contours = [], []
        for audio in first_recordings(utterances, FIT_SECONDS):
            try:
                vectors.append(self._vector(audio))
            except InputError:
                continue
            contours.append(_contour(audio.astype(np.float64)))
        if not vectors:
            return None
        f0, vector = np.concatenate(contours), np.mean(vectors, axis=0)
        gender, guessed = self._gender(utterances[0].gender, vector, f0)
        enough = np.count_nonzero(f0) >= MINIMUM_VOICED
        return Source(vector, f0_percentiles(f0) if enough else None, gender, guessed)

    def accept_speaker(self, speaker: str, learnt: Source | None) -> None:
        """Keep what was learnt about a speaker, and whether the gender was guessed.

        Parameters
        ----------
        speaker : str
            Id of the speaker.
        learnt : Source or None
            None for a speaker without usable recordings.
        """
        super().accept_speaker(speaker, learnt)
        if learnt is not None and learnt.guessed:
            self._guessed.add(speaker)

    @property
    def keeps_times(self) -> bool:
        """Whether words stay where they were: not if the rhythm is changed."""
        return self.settings.number("rhythm") == 0

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """Return the recording in the voice of a pseudo-speaker.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            One channel, samples within ±1.
        rate : int
            Sample rate in Hz.
        speaker, utterance : str
            Ids; a speaker unknown to :meth:`fit` is learnt from this recording.

        Returns
        -------
        ndarray of float32, shape (n,)
            Same length, rate and loudness.
        """
        voices: list[tuple[Source, PseudoSpeaker]] = []
        rng = self.secret.generator(self.name, "rhythm", speaker, utterance)

        def change(samples: FloatArray) -> FloatArray:
            if np.sqrt(np.mean(np.square(samples))) < QUIET:
                return np.zeros(len(samples))
            f0 = _contour(samples)
            if not voices:  # the first piece of a long recording decides for all pieces
                source = self.learnt.get(speaker) or self._learn(samples, f0, speaker)
                voices.append((source, self._pseudo_speaker(source, speaker, utterance)))
            return self._synthesise(samples, f0, *voices[0], rng)

        return condition(change, audio, rate)

    def record(self) -> JsonObject:
        """Return method, settings, network, pool, and how many genders were guessed."""
        return {
            **method_record(self.name, self.settings, self.scope),
            "synthesiser_sha256": self.network.sha256,
            "pool": {"origin": self.pool.card.origin, "speakers": len(self.pool)},
            "speakers_fitted": len(self.learnt),
            "speakers_whose_pitch_is_known": sum(
                source.pitch is not None for source in self.learnt.values()
            ),
            "speakers_whose_gender_was_guessed": len(self._guessed),
        }

    def _learn(self, samples: FloatArray, f0: FloatArray, speaker: str) -> Source:
        vector = self._vector(samples.astype(np.float32))
        gender, guessed = self._gender("", vector, f0)
        if guessed:
            self._guessed.add(speaker)
        return Source(vector, None, gender, guessed)

    def _vector(self, audio: Audio) -> Vector:
        kind = f"vector {self.encoder.card.sha256}"
        return analysis(kind, audio, lambda: self.encoder.embed(audio, RATE))

    def _gender(self, labelled: str, vector: Vector, f0: FloatArray) -> tuple[str, bool]:
        """Gender of a voice, and whether it was guessed."""
        setting = self.settings.word("source_gender")
        if setting != "auto":
            return setting, False
        if labelled in ("f", "m"):
            return labelled, False
        return self.pool.guess_gender(vector, f0), True

    def _pseudo_speaker(self, source: Source, speaker: str, utterance: str) -> PseudoSpeaker:
        return self.selection.make(
            self.pool,
            source.vector,
            source.gender,
            self.secret,
            self.scope.names(speaker, utterance),
        )

    def _synthesise(
        self,
        samples: FloatArray,
        f0: FloatArray,
        source: Source,
        voice: PseudoSpeaker,
        rng: np.random.Generator,
    ) -> FloatArray:
        f0 = smoothed_pitch(f0, self.settings.number("pitch_smoothing") / world.PERIOD)
        f0 = self._map_pitch(f0, source, voice)
        count, _ = frame_counts(len(samples))
        prosody = Prosody(every_8_ms(f0, count), self._energy(samples))
        coded = np.array(float(self.settings["content_codebook"] == "on"), np.float32)
        audio = samples.astype(np.float32)
        content = analysis("content", audio, lambda: content_of(audio, self.content))
        rows = self.network.run(
            content[None],
            prosody_table(prosody)[None],
            voice.vector[None],
            coded,
            np.array(self.settings.number("content_detail"), np.float32),
        )
        envelopes = rows.reshape(-1, rows.shape[-1] // SPLIT)[:count]
        energy = prosody.energy
        if self.settings.number("rhythm") > 0:
            time_map = random_time_map(len(samples) / RATE, self.settings.number("rhythm"), rng)
            envelopes, energy, f0 = _retimed(time_map, envelopes, energy, f0)
        changed = self.vocoder.synthesise(envelopes, f0, len(samples))
        return keep_energy(changed, energy)

    def _energy(self, samples: FloatArray) -> Features:
        energy = energy_of(samples)
        if self.settings["energy_floor"] == "off":
            return energy
        return with_energy_floor(energy, self.settings.number("energy_floor"))

    def _map_pitch(self, f0: FloatArray, source: Source, voice: PseudoSpeaker) -> FloatArray:
        mapping = self.settings["pitch"]
        if mapping == "none" or not (f0 > 0).any():
            return f0
        if mapping == "percentile":
            return percentile_pitch(f0, voice.pitch, source=source.pitch)
        before = log_pitch(f0 if source.pitch is None else source.pitch)
        after = log_pitch(voice.pitch)
        return f0 if before is None or after is None else gaussian_pitch(f0, before, after)


METHODS.add(XVector.name, XVector)


def _contour(samples: FloatArray) -> FloatArray:
    """F0 in Hz every 5 ms, 0 where unvoiced."""
    return analysis("f0", samples, lambda: find_f0(samples)[0])


def _retimed(
    time_map: TimeMap, envelopes: Features, energy: Features, f0: FloatArray
) -> tuple[Features, Features, FloatArray]:
    """Read envelopes and energy (every 8 ms) and F0 (every 5 ms) at the times of a map."""
    frames = time_map.frames(len(envelopes), PERIOD)
    nearest = np.rint(time_map.frames(len(f0), world.PERIOD)).astype(np.int64)
    return (
        rows_at(envelopes, frames).astype(np.float32),
        rows_at(energy, frames).astype(np.float32),
        f0[nearest],  # never averaged over a voiced and an unvoiced frame
    )


@cache
def _encoders() -> tuple[OnnxEncoder, ContentEncoder]:
    """Load the speaker encoder and the content encoder once for all instances."""
    return campplus(), ContentEncoder()
