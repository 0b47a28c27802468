"""From corpora to a synthesiser and its pool: all that ``sottovoce train synthesiser`` does."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sottovoce.anonymise.voice.pool import Pool, PoolCard, VoiceSample
from sottovoce.asr.content import SIZE, ContentEncoder
from sottovoce.core.errors import TooFewError
from sottovoce.core.files import write_bytes, write_text
from sottovoce.core.onnx_networks import checked_sha256
from sottovoce.core.types import StageProgress
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.speaker.encoders import Encoder
from sottovoce.training.content_space import constants
from sottovoce.training.synthesiser import MODELS, Segments, distortion, export, train
from sottovoce.training.synthesiser_data import Version, load_versions, prepare
from sottovoce.training.synthesiser_networks import PROSODY, TARGET, Disentangled

Taken = tuple[Utterance, list[Version]]

VERSIONS = 1
"""Other voices in which each utterance is learnt from."""
EVERY = 10
"""Every tenth speaker of the corpus is held out."""


def build(
    corpus: Corpus,
    pool: Corpus,
    encoder: Encoder,
    out: Path,
    *,
    model: str,
    steps: int,
    licence: str,
    show: StageProgress,
) -> dict[str, Any]:
    """Train, export and describe; what is done already is not done again.

    Returns the card, which is also written beside the network.
    """
    held = set(corpus.speakers[::EVERY])
    if len(corpus.speakers) - len(held) < 2:
        raise TooFewError(f"{corpus.name}: {len(corpus.speakers)} speakers; at least 3 are needed")
    out.mkdir(parents=True, exist_ok=True)
    versions = _versions(corpus, pool, encoder, out, show)
    learnt = [made for one, made in versions if one.speaker not in held]
    kept = [made for one, made in versions if one.speaker in held]
    network = MODELS[model](constants(learnt))
    network = train(
        network,
        Segments(learnt),
        out / f"{model}.checkpoint",
        steps,
        lambda done, total: show("training", done, total),
    )
    path = out / f"{model}.onnx"
    if isinstance(network, Disentangled):
        _export_disentangled(network, path)
        voices = pool_codes(network, pool, versions)
        write_bytes(out / "dar_voices.npz", voices)
    else:
        _export_acoustic(network, path)
        pool_card = PoolCard(encoder.card, pool.name, licence)
        _build_pool(pool, versions, pool_card).save(out / "pool.npz")
    figures = {"mel-cepstral distortion, dB": round(distortion(network, kept), 3)}
    if model == "xvector":
        figures["the same with coded content, dB"] = round(distortion(network, kept, coded=True), 3)
    card = {
        "model": model,
        "sha256": checked_sha256(path),
        "licence": licence,
        "corpora": [corpus.name, pool.name],
        "utterances": len(versions),
        "steps": steps,
        "encoder": encoder.card.to_dict(),
        "held out": {"speakers": len(held), "utterances": len(kept), **figures},
    }
    write_text(out / f"{model}.json", json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    return card


def _build_pool(pool: Corpus, taken: list[Taken], card: PoolCard) -> Pool:
    """The pool, from what was taken apart already; its speakers are numbered anew."""
    samples = [
        VoiceSample(utterance.speaker, utterance.gender, versions[0].speaker, _f0(versions[0]))
        for utterance, versions in taken
    ]
    speakers = set(pool.speakers)
    background = [sample for sample in samples if sample.speaker not in speakers]
    samples = [sample for sample in samples if sample.speaker in speakers]
    built = Pool.from_samples(samples, background, card)
    return replace(built, speakers=np.array([f"{i:04}" for i in range(len(built))]))


def _f0(version: Version) -> NDArray[np.float64]:
    """F0 in hertz, 0 where unvoiced."""
    columns = version.prosody.reshape(-1, 3).astype(np.float64)
    return np.asarray(np.exp(columns[:, 0]) * (columns[:, 1] > 0))


def _versions(
    corpus: Corpus, pool: Corpus, encoder: Encoder, out: Path, show: StageProgress
) -> list[Taken]:
    everything = [*corpus, *pool]
    paths = prepare(
        everything,
        out / "data",
        ContentEncoder(),
        encoder,
        versions=VERSIONS,
        progress=lambda done, total: show("taking apart", done, total),
    )
    return [
        (one, load_versions(path))
        for one, path in zip(everything, paths, strict=True)
        if path is not None
    ]


def pool_codes(network: Disentangled, pool: Corpus, versions: list[Taken]) -> bytes:
    """The code of each voice of the pool, with its gender and pitch, as ``.npz``."""
    genders = {one.speaker: one.gender for one in pool}
    own: dict[str, list[Version]] = {name: [] for name in genders}
    for one, made in versions:
        if one.speaker in own:
            own[one.speaker].append(made[0])
    own = {name: made for name, made in own.items() if made}
    codes = []
    with torch.no_grad():
        for made in own.values():
            table = torch.from_numpy(np.concatenate([one.target for one in made]))[None]
            codes.append(network.speaker(table)[0].numpy())
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        gender=np.array([genders[name] for name in own]),
        codes=np.stack(codes),
        pitch=np.array([_log_pitch(made) for made in own.values()], np.float32),
    )
    return buffer.getvalue()


def _log_pitch(made: list[Version]) -> tuple[float, float]:
    """Mean and spread of log F0 over voiced frames."""
    columns = np.concatenate([one.prosody.reshape(-1, 3) for one in made])
    logs = columns[columns[:, 1] > 0, 0]
    return (float(logs.mean()), float(logs.std())) if len(logs) else (float(np.log(150)), 0.2)


def _export_acoustic(network: Any, path: Path) -> None:
    examples = {
        "content": torch.randn(1, 50, SIZE),
        "prosody": torch.randn(1, 50, PROSODY),
        "speaker": torch.randn(1, len(network.speaker_mean)),
        "coded": torch.tensor(1.0),
    }
    export(network, path, examples, {"content": 1, "prosody": 1})


def _export_disentangled(network: Disentangled, path: Path) -> None:
    code = torch.randn(1, network.code.out_features)
    examples = {
        "heard": torch.randn(1, 50, TARGET),
        "prosody": torch.randn(1, 50, PROSODY),
        "code": code,
    }
    export(network, path, examples, {"heard": 1, "prosody": 1})
