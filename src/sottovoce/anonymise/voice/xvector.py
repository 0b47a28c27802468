"""X-vector anonymisation: what is said, in the voice of a pseudo-speaker.

Content and prosody are taken from the recording, the voice from a mean of speaker vectors of a
pool; a network turns them into spectral envelopes and WORLD those into sound. Fang et al. 2019;
baseline B1 of the VoicePrivacy Challenges; the choices of COMPRISE deliverable D2.3 (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.frames import (
    RATE,
    Prosody,
    content_of,
    energy_of,
    first_minute,
    frame_counts,
    prosody_table,
)
from sottovoce.anonymise.voice.method import METHODS, MethodCard, Setting, recorded
from sottovoce.anonymise.voice.pitch import gaussian_pitch, log_pitch, percentile_pitch
from sottovoce.anonymise.voice.pool import Pool, percentiles
from sottovoce.anonymise.voice.pseudo_speaker import (
    ASSIGNMENTS,
    DISTANCES,
    GENDERS,
    PROXIMITIES,
    PseudoSpeaker,
    Selection,
)
from sottovoce.anonymise.voice.synthesis import (
    Network,
    OnnxVocoder,
    Vocoder,
    WorldVocoder,
    at_fine_frames,
    keep_energy,
)
from sottovoce.asr.content import ContentEncoder
from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio, FloatArray, Vectors
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal.world import find_f0
from sottovoce.speaker.encoders import OnnxEncoder, campplus

QUIET = 1e-6
"""Root mean square of a piece below which there is nothing to say again."""
INPUTS = ("content", "prosody", "speaker", "coded")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What is known of a speaker to be anonymised."""

    vector: Vectors
    pitch: FloatArray | None
    """Percentiles of F0, or None where only the utterance itself is known."""
    gender: str


class XVector:
    """Says the same in the voice of a pseudo-speaker."""

    name = "xvector"
    card = MethodCard(
        name="xvector",
        summary="Synthesises the words again in the voice of a pseudo-speaker from a pool.",
        settings=(
            Setting("distance", "plda", "How near two voices are.", words=DISTANCES),
            Setting("proximity", "dense", "Which voices are averaged.", words=PROXIMITIES),
            Setting("gender", "random", "Theirs, against the speaker's own.", words=GENDERS),
            Setting("assignment", "speaker", "For whom one is made.", words=ASSIGNMENTS),
            Setting(
                "n_candidates",
                "auto",
                "N, of which near and far draw; auto: 17 % of the pool.",
                low=1,
                high=1e6,
                words=("auto",),
                whole=True,
            ),
            Setting(
                "n_averaged",
                "auto",
                "N*, voices averaged by random, near and far; auto: 9 % of the pool.",
                low=1,
                high=1e6,
                words=("auto",),
                whole=True,
            ),
            Setting(
                "pitch",
                "percentile",
                "How pitch goes to the pseudo-speaker's.",
                words=("none", "gaussian", "percentile"),
            ),
            Setting(
                "content_codebook",
                "off",
                "Content by the nearest of a few hundred codes: hides more, garbles more.",
                words=("on", "off"),
            ),
            Setting(
                "source_gender",
                "auto",
                "Of the speakers; auto: as the corpus says, or guessed from the voice.",
                words=("auto", "f", "m"),
            ),
            Setting("pool", None, "Another pool of voices (.npz).", path=True),
            Setting("synthesiser", None, "Another network: FILE.onnx[@SHA256].", path=True),
            Setting("vocoder", None, "A neural vocoder: FILE.onnx[@SHA256].", path=True),
        ),
        keeps=("duration", "rhythm", "energy", "course of F0", "words"),
        leaks="Rhythm, energy, the course of pitch and wording; what content still has of a voice.",
        reversible="no: the voice is not in the output, only what its content gives away",
        reference="Fang et al. 2019, Speaker anonymization using x-vectors and neural waveforms",
    )

    def __init__(self, secret: Secret | None = None, **settings: Any) -> None:
        self.secret = secret or Secret.generate()
        self.settings = self.card.checked(**settings)
        chosen = {key: self.settings[key] for key in ("distance", "proximity", "gender")}
        self.selection = Selection(
            **chosen,
            assignment=self.settings["assignment"],
            candidates=_number(self.settings["n_candidates"]),
            averaged=_number(self.settings["n_averaged"]),
        )
        self.pool = Pool.load(self.settings["pool"])
        self.network = Network(self.settings["synthesiser"], "xvector.onnx", INPUTS)
        named: Path | None = self.settings["vocoder"]
        self.vocoder: Vocoder = WorldVocoder() if named is None else OnnxVocoder(named)
        self.encoder, self.content = _hearing()
        if self.pool.card["encoder"]["sha256"] != self.encoder.card.sha256:
            raise InputError(
                f"{self.settings['pool']}: a pool of encoder {self.pool.card['encoder']['name']!r},"
                f" not of {self.encoder.card.name!r}; build it again"
            )
        self._sources: dict[str, Source] = {}
        self._guessed: set[str] = set()

    def fit(self, corpus: Corpus) -> Self:
        """Learn mean vector, pitch and gender of each speaker, from a minute of recordings."""
        for speaker, own in corpus.by_speaker().items():
            vectors, pitches = [], []
            for audio in first_minute(own):
                try:
                    vectors.append(self.encoder.embed(audio, RATE))
                except InputError:
                    continue
                pitches.append(find_f0(audio.astype(np.float64))[0])
            if vectors:
                f0, vector = np.concatenate(pitches), np.mean(vectors, axis=0)
                gender = self._gender(speaker, own[0].gender, vector, f0)
                self._sources[speaker] = Source(vector, percentiles(f0), gender)
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """The recording in the voice of a pseudo-speaker."""
        made: list[tuple[Source, PseudoSpeaker]] = []

        def change(samples: FloatArray) -> FloatArray:
            if np.sqrt(np.mean(np.square(samples))) < QUIET:
                return np.zeros(len(samples))
            f0, _ = find_f0(samples)
            if not made:  # of a recording in pieces, the first decides
                source = self._sources.get(speaker) or self._heard(samples, f0, speaker)
                made.append((source, self._pseudo_speaker(source, speaker, utterance)))
            return self._spoken(samples, f0, *made[0])

        return condition(change, audio, rate)

    def record(self) -> dict[str, Any]:
        """Method, settings, the files behind it, for how many speakers gender was guessed."""
        return {
            **recorded(self.name, self.settings),
            "synthesiser_sha256": self.network.sha256,
            "pool": {"origin": self.pool.card["origin"], "speakers": len(self.pool)},
            "speakers_fitted": len(self._sources),
            "speakers_whose_gender_was_guessed": len(self._guessed),
        }

    def _heard(self, samples: FloatArray, f0: FloatArray, speaker: str) -> Source:
        vector = self.encoder.embed(samples.astype(np.float32), RATE)
        return Source(vector, None, self._gender(speaker, "", vector, f0))

    def _gender(self, speaker: str, told: str, vector: Vectors, f0: FloatArray) -> str:
        given = self.settings["source_gender"]
        if given != "auto":
            return str(given)
        if told in ("f", "m"):
            return told
        self._guessed.add(speaker)
        return self.pool.guess_gender(vector, f0)

    def _pseudo_speaker(self, source: Source, speaker: str, utterance: str) -> PseudoSpeaker:
        return self.selection.make(
            self.pool, source.vector, source.gender, self.secret, speaker, utterance
        )

    def _spoken(
        self, samples: FloatArray, f0: FloatArray, source: Source, voice: PseudoSpeaker
    ) -> FloatArray:
        f0 = self._pitch(f0, source, voice)
        fine, _ = frame_counts(len(samples))
        prosody = Prosody(at_fine_frames(f0, fine), energy_of(samples))
        coded = np.array(float(self.settings["content_codebook"] == "on"), np.float32)
        rows = self.network.run(
            content_of(samples.astype(np.float32), self.content)[None],
            prosody_table(prosody)[None],
            voice.vector[None],
            coded,
        )
        envelopes = rows.reshape(-1, rows.shape[-1] // 3)[:fine]
        changed = self.vocoder.synthesise(envelopes, f0, len(samples))
        return keep_energy(changed, samples)

    def _pitch(self, f0: FloatArray, source: Source, voice: PseudoSpeaker) -> FloatArray:
        how = self.settings["pitch"]
        if how == "none" or not (f0 > 0).any():
            return f0
        if how == "percentile":
            return percentile_pitch(f0, voice.pitch, source=source.pitch)
        own = log_pitch(f0 if source.pitch is None else source.pitch)
        target = log_pitch(voice.pitch)
        return f0 if own is None or target is None else gaussian_pitch(f0, own, target)


METHODS.add(XVector.name, XVector)


@cache
def _hearing() -> tuple[OnnxEncoder, ContentEncoder]:
    """The networks that hear who speaks and what is said, loaded once for all."""
    return campplus(), ContentEncoder()


def _number(value: int | str) -> int | None:
    return None if isinstance(value, str) else value
