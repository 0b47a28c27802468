"""From corpora to a synthesiser and its voice pool: the work of ``sottovoce train synthesiser``."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from sottovoce.anonymise.voice.pool import Pool, PoolCard
from sottovoce.anonymise.voice.pool_samples import VoiceSample, pool_of_samples
from sottovoce.asr.content import SIZE, ContentEncoder
from sottovoce.core.errors import TooFewError, UsageError
from sottovoce.core.files import write_bytes, write_text
from sottovoce.core.onnx_networks import checked_sha256
from sottovoce.core.records import JsonObject, dump_json
from sottovoce.core.registry import did_you_mean
from sottovoce.core.step_cache import StepCache
from sottovoce.core.types import FloatArray, Progress, StageProgress
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.speaker.encoders import Encoder
from sottovoce.training.synthesiser import (
    NETWORKS,
    Segments,
    export_onnx,
    mel_cepstral_distortion,
    train,
)
from sottovoce.training.synthesiser_critics import Listener
from sottovoce.training.synthesiser_data import Version, analyse_utterances, data_statistics
from sottovoce.training.synthesiser_networks import (
    PROSODY,
    TARGET,
    DisentangledNetwork,
    SynthesisNetwork,
)
from sottovoce.training.synthesiser_objectives import Listening, Synthesis

VERSIONS = 1
"""Other voices in which each utterance is used."""
HELD_OUT_EVERY = 10
"""Unless speakers are named, every tenth is held out."""
UNVOICED_PITCH = (float(np.log(150)), 0.2)
"""Mean and standard deviation of log F0 of a speaker without voiced frames."""


class AnalysedUtterance(NamedTuple):
    """An utterance and its versions, the original voice first."""

    utterance: Utterance
    versions: list[Version]


def train_synthesiser(
    corpora: Sequence[Corpus],
    pool: Corpus,
    encoder: Encoder,
    out: Path,
    *,
    model: str,
    steps: int,
    listener_steps: int,
    licence: str,
    held_out: Collection[str] = (),
    show: StageProgress,
) -> JsonObject:
    """Train, export and describe a synthesiser; finished steps of an earlier run are reused.

    Parameters
    ----------
    corpora : sequence of Corpus
        Training recordings; a speaker may be in several of them.
    pool : Corpus
        Recordings of the voices of pseudo-speakers, with gender; they are trained on, too.
    encoder : Encoder
        Gives the speaker vectors.
    out : Path
        Folder of network, card, pool and intermediate files.
    model : {"xvector", "dar"}
        The voice anonymiser that the network is for.
    steps, listener_steps : int
        Training steps of the network, and of the listener before.
    licence : str
        Licence of the recordings, for the card.
    held_out : collection of str, optional
        Speakers that are not trained on, for the figures on the card; by default every tenth.
    show : callable
        Called with the stage, the number of finished parts and their total.

    Returns
    -------
    dict
        The card, which is also written beside the network.

    Raises
    ------
    UsageError
        If a held-out speaker is in none of the corpora (``unknown-name``).
    TooFewError
        If fewer than two speakers are left for training.
    """
    held_out = _held_out_speakers(corpora, held_out)
    out.mkdir(parents=True, exist_ok=True)
    analysed = _analyse(corpora, pool, encoder, out, show)
    training: list[list[Version]] = []
    held: list[list[Version]] = []
    for utterance, versions in analysed:
        (held if utterance.speaker in held_out else training).append(versions)
    steps_of = {"listener": listener_steps, model: steps}
    network = _train(model, training, out, steps_of, show)
    path = out / f"{model}.onnx"
    card = PoolCard(encoder.card, pool.name, licence)
    figures = _write_results(network, path, pool, analysed, card, held)
    description: JsonObject = {
        "model": model,
        "sha256": checked_sha256(path),
        "licence": licence,
        "corpora": [*(corpus.name for corpus in corpora), pool.name],
        "utterances": len(analysed),
        "steps": steps,
        "listener steps": listener_steps,
        "encoder": encoder.card.to_dict(),
        "held out": {
            "speakers": len(held_out),
            "utterances": len(held),
            **figures,
        },
    }
    write_text(out / f"{model}.json", dump_json(description, indent=2))
    return description


def _held_out_speakers(corpora: Sequence[Corpus], named: Collection[str]) -> set[str]:
    """Return the speakers that are not trained on; at least two others must be left."""
    speakers = sorted({speaker for corpus in corpora for speaker in corpus.speakers})
    unknown = sorted(set(named) - set(speakers))
    if unknown:
        raise UsageError(did_you_mean("speaker", unknown[0], speakers), code="unknown-name")
    held_out = set(named) or set(speakers[::HELD_OUT_EVERY])
    if len(speakers) - len(held_out) < 2:
        raise TooFewError(
            f"{len(speakers)} speakers, {len(held_out)} of them held out; "
            "training needs at least 2 more"
        )
    return held_out


def _train(
    model: str,
    training: list[list[Version]],
    out: Path,
    steps: Mapping[str, int],
    show: StageProgress,
) -> SynthesisNetwork:
    """Train the listener, then the network; checkpoints of an earlier run are continued."""
    statistics, segments = data_statistics(training), Segments(training)
    torch.manual_seed(0)
    listener = Listener(statistics)

    def progress(stage: str) -> Progress:
        return lambda finished, total: show(stage, finished, total)

    train(
        listener,
        Listening(listener),
        segments,
        out / "listener.checkpoint",
        steps["listener"],
        progress("listener"),
    )
    network = NETWORKS[model](statistics)
    objective = Synthesis(network, listener)
    checkpoint = out / f"{model}.checkpoint"
    return train(network, objective, segments, checkpoint, steps[model], progress("training"))


def _write_results(
    network: SynthesisNetwork,
    path: Path,
    pool: Corpus,
    analysed: list[AnalysedUtterance],
    card: PoolCard,
    held_out: list[list[Version]],
) -> dict[str, float]:
    """Write network and target voices; returns the distortion of held-out utterances."""
    figures = {"mel-cepstral distortion, dB": round(mel_cepstral_distortion(network, held_out), 3)}
    if isinstance(network, DisentangledNetwork):
        _export_disentangled(network, path)
        write_bytes(path.parent / "dar_voices.npz", target_voices(network, pool, analysed))
        return figures
    _export_acoustic(network, path)
    _build_pool(pool, analysed, card).save(path.parent / "pool.npz")
    coded = mel_cepstral_distortion(network, held_out, coded=True)
    return {**figures, "the same with coded content, dB": round(coded, 3)}


def _analyse(
    corpora: Sequence[Corpus], pool: Corpus, encoder: Encoder, out: Path, show: StageProgress
) -> list[AnalysedUtterance]:
    utterances = [utterance for corpus in (*corpora, pool) for utterance in corpus]
    results = analyse_utterances(
        utterances,
        StepCache(out / "data"),
        ContentEncoder(),
        encoder,
        versions=VERSIONS,
        progress=lambda finished, total: show("analysing", finished, total),
    )
    return [
        AnalysedUtterance(utterance, versions)
        for utterance, versions in zip(utterances, results, strict=True)
        if versions is not None
    ]


def _build_pool(pool: Corpus, analysed: list[AnalysedUtterance], card: PoolCard) -> Pool:
    """Build the pool from analysed utterances; its speakers are renumbered."""
    samples = [
        VoiceSample(utterance.speaker, utterance.gender, versions[0].speaker, _f0(versions[0]))
        for utterance, versions in analysed
    ]
    speakers = set(pool.speakers)
    background = [sample for sample in samples if sample.speaker not in speakers]
    samples = [sample for sample in samples if sample.speaker in speakers]
    built = pool_of_samples(samples, background, card)
    return replace(built, speakers=np.array([f"{i:04}" for i in range(len(built))]))


def _f0(version: Version) -> FloatArray:
    """Return F0 in Hz, 0 where unvoiced."""
    columns = version.prosody.reshape(-1, 3).astype(np.float64)
    return np.asarray(np.exp(columns[:, 0]) * (columns[:, 1] > 0))


def target_voices(
    network: DisentangledNetwork, pool: Corpus, analysed: list[AnalysedUtterance]
) -> bytes:
    """Compute the code, gender and pitch of each voice of the pool.

    Parameters
    ----------
    network : DisentangledNetwork
        The trained network.
    pool : Corpus
        The voices.
    analysed : list of AnalysedUtterance
        Analysed utterances, among them those of the pool.

    Returns
    -------
    bytes
        A ``.npz`` archive with the arrays ``gender``, ``codes`` and ``pitch``.
    """
    genders = {utterance.speaker: utterance.gender for utterance in pool}
    versions: dict[str, list[Version]] = {speaker: [] for speaker in genders}
    for utterance, utterance_versions in analysed:
        if utterance.speaker in versions:
            versions[utterance.speaker].append(utterance_versions[0])
    versions = {speaker: group for speaker, group in versions.items() if group}
    codes = []
    with torch.no_grad():
        for group in versions.values():
            table = torch.from_numpy(np.concatenate([version.target for version in group]))[None]
            codes.append(network.speaker(table)[0].numpy())
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        gender=np.array([genders[speaker] for speaker in versions]),
        codes=np.stack(codes),
        pitch=np.array([_pitch(group) for group in versions.values()], np.float32),
    )
    return buffer.getvalue()


def _pitch(versions: list[Version]) -> tuple[float, float]:
    """Return mean and standard deviation of log F0 over voiced frames."""
    columns = np.concatenate([version.prosody.reshape(-1, 3) for version in versions])
    logs = columns[columns[:, 1] > 0, 0]
    return (float(logs.mean()), float(logs.std())) if len(logs) else UNVOICED_PITCH


def _export_acoustic(network: SynthesisNetwork, path: Path) -> None:
    examples = {
        "content": torch.randn(1, 50, SIZE),
        "prosody": torch.randn(1, 50, PROSODY),
        "speaker": torch.randn(1, len(network.speaker_mean)),
        "coded": torch.tensor(1.0),
        "detail": torch.tensor(64.0),
    }
    export_onnx(network, path, examples, {"content": 1, "prosody": 1})


def _export_disentangled(network: DisentangledNetwork, path: Path) -> None:
    examples = {
        "heard": torch.randn(1, 50, TARGET),
        "prosody": torch.randn(1, 50, PROSODY),
        "code": torch.randn(1, network.code.out_features),
    }
    export_onnx(network, path, examples, {"heard": 1, "prosody": 1})
