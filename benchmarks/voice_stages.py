"""Words lost at each stage of ``xvector``, and its speed.

    uv run python benchmarks/voice_stages.py CORPUS [UTTERANCES] [NAME=VALUE ...]

WER of Moonshine tiny over UTTERANCES recordings (default 80, spread evenly over the corpus), with
the 95 % bootstrap interval over speakers. Each stage adds one loss to the stage before: WORLD,
coded envelopes, the network with the speaker's own voice and pitch, a pseudo-speaker of the same
gender, the default, and the codebook. Settings given as NAME=VALUE apply to all of ``xvector``.
Speed is in CPU seconds of one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from timing import cpu

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.frames import coded_frames, frame_counts
from sottovoce.anonymise.voice.pseudo_speaker import PseudoSpeaker
from sottovoce.anonymise.voice.synthesis import WorldVocoder, every_8_ms
from sottovoce.anonymise.voice.xvector import Source, XVector
from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import MoonshineTiny
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus import Corpus, Utterance, load_audio, open_corpus
from sottovoce.measure import word_errors
from sottovoce.signal.world import analyse, synthesise

RATE = 16_000
SEED = 16
RESAMPLES = 2_000

Stage = Callable[[Audio, Utterance], Audio]


class OwnVoice(XVector):
    """The network with the voice and the pitch of the speaker: nothing is anonymised."""

    def _pseudo_speaker(self, source: Source, speaker: str, utterance: str) -> PseudoSpeaker:
        return PseudoSpeaker(source.vector, np.zeros(0, np.int64), source.gender, np.zeros(0))


def world_copy(samples: FloatArray) -> FloatArray:
    """Analyse and synthesise with WORLD."""
    return synthesise(analyse(samples))[: len(samples)]


def coded_copy(samples: FloatArray) -> FloatArray:
    """Synthesise from the coded envelopes that the network has to predict."""
    voice = analyse(samples)
    count, _ = frame_counts(len(samples))
    coded = coded_frames(
        np.ascontiguousarray(every_8_ms(voice.envelope, count)),
        np.ascontiguousarray(every_8_ms(voice.aperiodicity, count)),
    )
    return WorldVocoder().synthesise(coded, voice.f0, len(samples))


def xvector_stage(method: XVector, corpus: Corpus) -> Stage:
    """Fit a method and return its transform."""
    method.fit(corpus)

    def apply(audio: Audio, utterance: Utterance) -> Audio:
        return method.transform(audio, RATE, speaker=utterance.speaker, utterance=utterance.id)

    return apply


def stages(corpus: Corpus, settings: dict[str, str]) -> dict[str, Stage]:
    """Return all stages by name."""
    secret = Secret.reproducible(SEED)
    return {
        "original": lambda audio, _: audio,
        "WORLD copy": lambda audio, _: condition(world_copy, audio, RATE),
        "coded envelopes": lambda audio, _: condition(coded_copy, audio, RATE),
        "network, own voice and pitch": xvector_stage(
            OwnVoice(secret, **{**settings, "pitch": "none"}), corpus
        ),
        "xvector, gender=same": xvector_stage(
            XVector(secret, **{**settings, "gender": "same"}), corpus
        ),
        "xvector": xvector_stage(XVector(secret, **settings), corpus),
        "xvector, content_codebook=on": xvector_stage(
            XVector(secret, **{**settings, "content_codebook": "on"}), corpus
        ),
    }


def interval(errors: dict[str, list[int]], words: dict[str, list[int]]) -> tuple[float, float]:
    """Return the bootstrap interval of the word error rate over speakers."""
    rng = np.random.default_rng(0)
    wrong = np.array([sum(errors[speaker]) for speaker in errors])
    said = np.array([sum(words[speaker]) for speaker in errors])
    draws = rng.integers(len(wrong), size=(RESAMPLES, len(wrong)))
    low, high = np.quantile(wrong[draws].sum(1) / said[draws].sum(1), [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    """Print the table of stages."""
    whole = open_corpus(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 80
    settings = dict(argument.split("=", 1) for argument in sys.argv[3:])
    numbers = np.linspace(0, len(whole) - 1, count).round().astype(int)
    utterances = [whole.utterances[number] for number in numbers]
    chosen = {utterance.id for utterance in utterances}
    corpus = whole.select(lambda utterance: utterance.id in chosen)
    recogniser = MoonshineTiny()
    recordings = [(utterance, load_audio(utterance, RATE)) for utterance in utterances]
    seconds = sum(len(audio) for _, audio in recordings) / RATE
    print(f"{count} utterances, {seconds:.0f} s, {len(corpus.speakers)} speakers\n")
    print("| stage | WER % | 95 % | × real time |\n|---|---|---|---|", flush=True)
    for name, stage in stages(corpus, settings).items():
        errors: dict[str, list[int]] = {}
        words: dict[str, list[int]] = {}
        results: list[Audio] = []

        def work(stage: Stage = stage, results: list[Audio] = results) -> None:
            results.extend(stage(audio, utterance) for utterance, audio in recordings)

        stage(*recordings[0][::-1])  # loads the networks
        spent = cpu(work, repeats=1)
        for (utterance, _), audio in zip(recordings, results, strict=True):
            heard = normalise(recogniser.transcribe(audio, RATE))
            counts = word_errors(normalise(utterance.transcript), heard)
            errors.setdefault(utterance.speaker, []).append(counts.total)
            words.setdefault(utterance.speaker, []).append(counts.words)
        rate = sum(map(sum, errors.values())) / sum(map(sum, words.values()))
        low, high = interval(errors, words)
        speed = "–" if name == "original" else f"{seconds / spent:.1f}"
        print(f"| {name} | {rate:.1%} | {low:.1%} – {high:.1%} | {speed} |", flush=True)


if __name__ == "__main__":
    main()
