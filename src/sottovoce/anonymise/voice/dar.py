"""One-shot conversion by disentangled representations: instance norm takes the voice away.

A content encoder whose instance normalisation removes what is constant over an utterance, and a
decoder to which adaptive instance normalisation gives another voice. Chou & Lee 2019 (AdaIN-VC), on
WORLD envelopes; targets as in Maouche et al. 2020.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.frames import (
    ENVELOPE,
    Prosody,
    coded_frames,
    energy_of,
    first_minute,
    frame_counts,
    prosody_table,
    stacked,
)
from sottovoce.anonymise.voice.method import METHODS, MethodCard, Setting, recorded
from sottovoce.anonymise.voice.pitch import LogPitch, gaussian_pitch, log_pitch
from sottovoce.anonymise.voice.synthesis import (
    Network,
    WorldVocoder,
    at_fine_frames,
    keep_energy,
)
from sottovoce.anonymise.voice.targets import SELECTIONS, Selection
from sottovoce.core.arrays import load_arrays
from sottovoce.core.errors import InputError
from sottovoce.core.files import check_there
from sottovoce.core.types import Audio, Features, FloatArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal.world import Voice, analyse, find_f0

QUIET = 1e-6
"""Root mean square of a piece below which there is nothing to say again."""


class Dar:
    """Says the same in the voice of a speaker of the pool."""

    name = "dar"
    card = MethodCard(
        name="dar",
        summary="Converts the spectrum to the voice of another speaker, disentangled by "
        "instance normalisation.",
        settings=(
            Setting(
                "selection",
                "rand",
                "One target for all, one a speaker, or one an utterance.",
                words=SELECTIONS,
            ),
            Setting(
                "pitch",
                "gaussian",
                "Whether pitch goes to the target's mean and spread.",
                words=("none", "gaussian"),
            ),
            Setting("voices", None, "Codes of other targets (.npz).", path=True),
            Setting("synthesiser", None, "Another network: FILE.onnx[@SHA256].", path=True),
        ),
        keeps=("duration", "rhythm", "energy", "course of F0", "words"),
        leaks="Rhythm, energy, the course of pitch, wording; what instance norm leaves of a voice.",
        reversible="no: the voice is not in the output, only what its content gives away",
        reference="Chou & Lee 2019, One-shot voice conversion by separating speaker and content "
        "representations with instance normalization",
    )

    def __init__(self, secret: Secret | None = None, **settings: Any) -> None:
        self.secret = secret or Secret.generate()
        self.settings = self.card.checked(**settings)
        self.network = Network(
            self.settings["synthesiser"], "dar.onnx", ("heard", "prosody", "code")
        )
        self.codes, self.pitch = _voices(self.settings["voices"])
        self.selection = Selection(
            self.settings["selection"], len(self.codes), self.secret, self.name
        )
        self._pitch: dict[str, LogPitch] = {}

    def fit(self, corpus: Corpus) -> Self:
        """Give every speaker a target, and learn the speakers' pitch."""
        self.selection.fit(corpus.speakers)
        for speaker, own in corpus.by_speaker().items():
            found = [find_f0(audio.astype(np.float64))[0] for audio in first_minute(own)]
            pitch = log_pitch(np.concatenate(found)) if found else None
            if pitch is not None:
                self._pitch[speaker] = pitch
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """The recording in the voice of its target."""
        target = self.selection.target(speaker, utterance)

        def change(samples: FloatArray) -> FloatArray:
            if np.sqrt(np.mean(np.square(samples))) < QUIET:
                return np.zeros(len(samples))
            return self._spoken(samples, target, self._pitch.get(speaker))

        return condition(change, audio, rate)

    def record(self) -> dict[str, Any]:
        """Method and settings, and the network behind it."""
        return {
            **recorded(self.name, self.settings),
            "synthesiser_sha256": self.network.sha256,
            "voices": len(self.codes),
            "speakers_fitted": len(self._pitch),
        }

    def _spoken(self, samples: FloatArray, target: int, known: LogPitch | None) -> FloatArray:
        voice = analyse(samples)
        source = known or log_pitch(voice.f0)
        f0 = voice.f0
        if self.settings["pitch"] == "gaussian" and source is not None:
            f0 = gaussian_pitch(f0, source, self.pitch[target])
        fine, _ = frame_counts(len(samples))
        prosody = Prosody(at_fine_frames(f0, fine), energy_of(samples))
        rows = self.network.run(
            stacked(_heard(voice, fine))[None],
            prosody_table(prosody)[None],
            self.codes[target][None],
        )
        envelopes = rows.reshape(-1, ENVELOPE + 1)[:fine]
        return keep_energy(WorldVocoder().synthesise(envelopes, f0, len(samples)), samples)


METHODS.add(Dar.name, Dar)


def _heard(voice: Voice, count: int) -> Features:
    """Coded envelope and aperiodicity, read off every 8 ms."""
    envelope, band = (at_fine_frames(one, count) for one in (voice.envelope, voice.aperiodicity))
    return coded_frames(np.ascontiguousarray(envelope), np.ascontiguousarray(band))


def _voices(path: Path | None) -> tuple[Features, list[LogPitch]]:
    own = Path(str(files("sottovoce.anonymise.voice") / "models" / "dar_voices.npz"))
    path = path or own
    check_there(path)
    found = load_arrays(path, ("codes", "pitch"), save="sottovoce train synthesiser --model dar")
    codes, pitch = found["codes"], found["pitch"]
    if codes.ndim != 2 or pitch.shape != (len(codes), 2) or not len(codes):
        raise InputError(f"{path}: codes of shape {codes.shape}; train the voices again")
    return codes.astype(np.float32), [LogPitch(*map(float, row)) for row in pitch]
