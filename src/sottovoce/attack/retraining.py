"""The encoder of an attacker that retrains it on speech of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sottovoce.attack.speech import SpeechCache, SpeechSet
from sottovoce.speaker.encoders import OnnxEncoder
from sottovoce.training.encoder_retraining import RetrainingSettings, retrain_encoder


def retrained_encoder(drawn: Sequence[SpeechSet], cache: SpeechCache, seed: int) -> OnnxEncoder:
    """Retrain the default encoder on all draws of an attacker's training speech, once.

    Network and card lie in ``encoders/`` of the cache's folder, under a name made from everything
    they depend on. A run that was interrupted continues from its checkpoint.

    Parameters
    ----------
    drawn : sequence of SpeechSet
        Training speech in the form that the attacker trains on, one set per draw.
    cache : SpeechCache
        Its folder keeps the encoder; its progress shows loss and error on held-out speakers.
    seed : int
        Seed of the training.

    Raises
    ------
    MissingExtraError, TooFewError, InputError
        Those of :func:`~sottovoce.training.encoder_retraining.retrain_encoder`.
    """
    settings = RetrainingSettings(seed=seed)
    key = cache.steps.key("retrained", [speech.key for speech in drawn], settings)
    target = cache.folder / "encoders" / f"retrained-{key}.onnx"
    if not _is_complete(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        corpora = [speech.corpus for speech in drawn]
        retrain_encoder(corpora, settings, target, progress=cache.progress)
    return OnnxEncoder(target)


def _is_complete(target: Path) -> bool:
    """Whether network and card are there and belong together."""
    return target.is_file() and bool(OnnxEncoder(target).trained_on)
