"""Undoing: an encoder that inverts the anonymiser before it embeds.

Only for anonymisers whose card declares an inverse. The attacker learns to recognise the draws from
speech that it anonymised itself, and undoes what it recognises; recordings that sound like
originals are embedded as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.anonymise.voice.method import InvertibleAnonymiser
from sottovoce.attack.draw_estimation import DrawEstimator, fit_estimator, long_term_spectrum
from sottovoce.core.types import Audio, FloatArray, Vector
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import Encoder, EncoderCard

MOST_RECORDINGS = 600
"""Recordings of a draw that are learnt from, spread over the corpus."""


class UndoneEncoder:
    """Embeds recordings after undoing what the anonymiser did to them.

    Parameters
    ----------
    encoder : Encoder
        Embeds what is left.
    method : InvertibleAnonymiser
        Its inverse is used, never its draws.
    estimator : DrawEstimator
        Recognises the change of a recording.
    trained_on : frozenset of str
        Speakers that the estimator was trained on.
    """

    def __init__(
        self,
        encoder: Encoder,
        method: InvertibleAnonymiser,
        estimator: DrawEstimator,
        trained_on: frozenset[str],
    ) -> None:
        self.encoder, self.method, self.estimator = encoder, method, estimator
        self.trained_on = encoder.trained_on | trained_on

    @property
    def card(self) -> EncoderCard:
        """That of the encoder with another name and SHA-256, since the vectors are different."""
        card = self.encoder.card
        parts = [card.sha256, self.method.name, self.estimator.to_dict()]
        marked = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return replace(card, name=f"{card.name}, {self.method.name} undone", sha256=marked)

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """Undo the change of a recording and embed the result.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel, at least 0.1 s and not silent.
        rate : int, default 16000
            Samples per second.
        """
        change = self.estimator.estimate(audio, rate)
        if change is not None:
            audio = self.method.undo(np.asarray(audio, np.float32), rate, change)
        return self.encoder.embed(audio, rate)


@dataclass(frozen=True, slots=True)
class DrawnSpeech:
    """Recordings that an attacker anonymised, and the method with which it did."""

    anonymised: Corpus
    method: InvertibleAnonymiser
    """With the attacker's secret, fitted as it was for anonymising."""


def learn_draws(originals: Corpus, drawn: Sequence[DrawnSpeech]) -> DrawEstimator:
    """Learn to recognise draws from speech that was anonymised with known ones.

    Parameters
    ----------
    originals : Corpus
        Original recordings.
    drawn : sequence of DrawnSpeech
        The same recordings, anonymised once or several times.

    Raises
    ------
    TooFewError
        With fewer than 8 speakers.
    """
    chosen = _spread(originals)
    by_id = {utterance.id: utterance for utterance in chosen}
    spectra, changes, speakers = [], [], []
    for speech in drawn:
        for anonymised in speech.anonymised:
            if anonymised.id in by_id:
                spectrum, change = _known(by_id[anonymised.id], anonymised, speech.method)
                spectra.append(spectrum)
                changes.append(change)
                speakers.append(anonymised.speaker)
    return fit_estimator(
        np.stack([long_term_spectrum(load_audio(each, RATE), RATE) for each in chosen]),
        np.stack(spectra),
        np.stack(changes),
        original_speakers=np.array([each.speaker for each in chosen]),
        anonymised_speakers=np.array(speakers),
    )


def _known(
    original: Utterance, anonymised: Utterance, method: InvertibleAnonymiser
) -> tuple[FloatArray, FloatArray]:
    """The spectrum of an anonymised recording, and the numbers of its change."""
    change = method.change_of(
        load_audio(original, RATE), RATE, speaker=original.speaker, utterance=original.id
    )
    return long_term_spectrum(load_audio(anonymised, RATE), RATE), change


def _spread(corpus: Corpus) -> list[Utterance]:
    """At most :data:`MOST_RECORDINGS`, in turns from all speakers."""
    queues = [list(utterances) for utterances in corpus.by_speaker().values()]
    longest = max(map(len, queues), default=0)
    turns = [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]
    return turns[:MOST_RECORDINGS]
