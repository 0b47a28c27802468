"""One-shot voice conversion with disentangled representations.

A content encoder removes the voice by instance normalisation, and a decoder adds the voice of a
target speaker by adaptive instance normalisation. Chou & Lee 2019 (AdaIN-VC), on WORLD envelopes;
targets as in Maouche et al. 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.card import MethodCard, Setting, SettingValue, method_record
from sottovoce.anonymise.voice.conditioning import condition, first_recordings
from sottovoce.anonymise.voice.frames import (
    ENVELOPE,
    FIT_SECONDS,
    Prosody,
    coded_frames,
    energy_of,
    frame_counts,
    prosody_table,
    stacked,
)
from sottovoce.anonymise.voice.method import METHODS, SpeakerwiseAnonymiser
from sottovoce.anonymise.voice.pitch import LogPitch, gaussian_pitch, log_pitch
from sottovoce.anonymise.voice.synthesis import (
    Network,
    WorldVocoder,
    every_8_ms,
    keep_energy,
)
from sottovoce.anonymise.voice.targets import SELECTIONS, TargetSelection
from sottovoce.core.arrays import load_arrays
from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio, Features, FloatArray
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.world import Voice, analyse, find_f0

QUIET = 1e-6
"""Pieces with a smaller root mean square become silence."""


class Dar(SpeakerwiseAnonymiser[LogPitch]):
    """Convert recordings to the voice of another speaker.

    Parameters
    ----------
    secret : Secret, optional
        The key of the draws; a new one by default.
    **settings : str or Path
        Settings of :attr:`card`.
    """

    name = "dar"
    card = MethodCard(
        name="dar",
        summary="Experimental, trained for 750 steps only: converts the spectrum to the voice of "
        "another speaker, disentangled by instance normalisation.",
        settings=(
            Setting(
                "selection",
                "rand",
                "One target for all, for each speaker, or for each utterance.",
                words=SELECTIONS,
            ),
            Setting(
                "pitch",
                "gaussian",
                "Keep F0, or map it to mean and spread of the target.",
                words=("none", "gaussian"),
            ),
            Setting("voices", None, "File with other target speakers (.npz).", path=True),
            Setting("synthesiser", None, "Another network: FILE.onnx[@SHA256].", path=True),
        ),
        keeps=("duration", "rhythm", "energy", "course of F0", "words"),
        leaks="Rhythm, energy, pitch contour, wording, and what instance norm leaves of the voice.",
        reversible="no: only what the content representation keeps of the voice is in the output",
        reference="Chou & Lee 2019, One-shot voice conversion by separating speaker and content "
        "representations with instance normalization",
        fit="optional",
        draws=("target speaker",),
        per_utterance=("selection", "rand"),
    )

    def __init__(self, secret: Secret | None = None, **settings: SettingValue) -> None:
        super().__init__()
        self.secret = secret or Secret.generate()
        self.settings = self.card.checked(**settings)
        self.network = Network(
            self.settings.path("synthesiser"), "dar.onnx", ("heard", "prosody", "code")
        )
        self.codes, self.pitch = _load_targets(self.settings.path("voices"))
        self.selection = TargetSelection(
            self.settings.word("selection"), len(self.codes), self.secret, self.name
        )

    def begin_fit(self, corpus: Corpus) -> None:
        """Assign targets to all speakers.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.
        """
        self.selection.fit(corpus)

    def learn_speaker(self, speaker: str, utterances: Sequence[Utterance]) -> LogPitch | None:
        """Learn the pitch of a speaker.

        Parameters
        ----------
        speaker : str
            Id of the speaker.
        utterances : sequence of Utterance
            All recordings of the speaker.
        """
        recordings = first_recordings(utterances, FIT_SECONDS)
        f0 = [find_f0(audio.astype(np.float64))[0] for audio in recordings]
        return log_pitch(np.concatenate(f0)) if f0 else None

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """Return the recording in the voice of its target speaker.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            One channel, samples within ±1.
        rate : int
            Sample rate in Hz.
        speaker, utterance : str
            Ids; the target follows from them and the secret.

        Returns
        -------
        ndarray of float32, shape (n,)
            Same length, rate and loudness.
        """
        target = self.selection.target(speaker, utterance)

        def change(samples: FloatArray) -> FloatArray:
            if np.sqrt(np.mean(np.square(samples))) < QUIET:
                return np.zeros(len(samples))
            return self._convert(samples, target, self.learnt.get(speaker))

        return condition(change, audio, rate)

    def record(self) -> JsonObject:
        """Return method, settings, SHA-256 of the network and number of targets."""
        return {
            **method_record(self.name, self.settings, self.selection.scope),
            "synthesiser_sha256": self.network.sha256,
            "voices": len(self.codes),
            "speakers_fitted": len(self.learnt),
        }

    def _convert(self, samples: FloatArray, target: int, source: LogPitch | None) -> FloatArray:
        voice = analyse(samples)
        source = source or log_pitch(voice.f0)
        f0 = voice.f0
        if self.settings["pitch"] == "gaussian" and source is not None:
            f0 = gaussian_pitch(f0, source, self.pitch[target])
        count, _ = frame_counts(len(samples))
        prosody = Prosody(every_8_ms(f0, count), energy_of(samples))
        rows = self.network.run(
            stacked(_coded(voice, count))[None],
            prosody_table(prosody)[None],
            self.codes[target][None],
        )
        envelopes = rows.reshape(-1, ENVELOPE + 1)[:count]
        changed = WorldVocoder().synthesise(envelopes, f0, len(samples))
        return keep_energy(changed, prosody.energy)


METHODS.add(Dar.name, Dar)


def _coded(voice: Voice, count: int) -> Features:
    """Code envelope and aperiodicity every 8 ms."""
    return coded_frames(
        np.ascontiguousarray(every_8_ms(voice.envelope, count)),
        np.ascontiguousarray(every_8_ms(voice.aperiodicity, count)),
    )


def _load_targets(path: Path | None) -> tuple[Features, list[LogPitch]]:
    """Read the codes and the pitch of target speakers, by default those of the package."""
    path = path or Path(str(files("sottovoce.anonymise.voice") / "models" / "dar_voices.npz"))
    check_exists(path)
    arrays = load_arrays(path, ("codes", "pitch"), save="sottovoce train synthesiser --model dar")
    codes, pitch = arrays["codes"], arrays["pitch"]
    if codes.ndim != 2 or pitch.shape != (len(codes), 2) or not len(codes):
        raise InputError(
            f"{path}: codes of shape {codes.shape}; train the voices again", code="wrong-shape"
        )
    return codes.astype(np.float32), [LogPitch(*map(float, row)) for row in pitch]
