"""How well words are found in recordings, and how well transcripts that are wrong are told.

    python benchmarks/alignment.py synthesised              needs the program flite
    python benchmarks/alignment.py real CORPUS [COUNT]      every COUNT-th utterance is enough
    python benchmarks/alignment.py wrong CORPUS [COUNT]     transcripts with one word changed
    python benchmarks/alignment.py masking CORPUS [COUNT] [VOICE] [MASK] [LENGTH]

``synthesised`` compares word boundaries with those the synthesiser used. ``real`` counts what is
aligned, believed, or to be withheld. ``wrong`` replaces, removes or adds one word of a transcript
and counts how often that is noticed; it cannot be told for words of under 5 letters, which are
left alone. ``masking`` masks the longest word of every utterance, wherever it occurs, and attacks
the result.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.export import export_corpus
from sottovoce.anonymise.recording.mask import Masking
from sottovoce.anonymise.recording.secure import Settings
from sottovoce.anonymise.recording.verify import Verifier
from sottovoce.anonymise.recording.words import tokens
from sottovoce.anonymise.voice import make_method
from sottovoce.asr.recogniser import make_recogniser
from sottovoce.corpus import Corpus, open_corpus
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Utterance

VOICES = ("slt", "rms", "awb", "kal16")
SENTENCES = """\
My sister Margaret moved from Boston to Chicago in September
Please call the doctor again before the end of the week
The garden behind our house is full of yellow flowers
I would like to change my appointment to Thursday afternoon
He never told anybody where the old letters were hidden
The train to London leaves from platform seven at half past nine
Could you send the report to Daniel before lunch
We had bread and cheese and a bottle of water for dinner
Nobody in the village remembered the name of the stranger
She opened the window because the room was very warm
Their daughter wants to study medicine in another country
The price of coffee has gone up twice since last winter
A small boat was waiting for them near the bridge
I have forgotten the number of my account at the bank
The children were playing football behind the school
Robert bought a black jacket and two pairs of shoes
It takes about forty minutes to walk to the station
The music was so loud that we could not hear each other
Did you remember to lock the front door this morning
They finally reached the top of the mountain at noon"""


def phones_of(voice: str, text: str, target: str = "none") -> list[tuple[str, float]]:
    """The phones flite says, each with the time it ends."""
    command = ["flite", "-voice", voice, "-psdur", "-t", text, "-o", target]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [(name, float(end)) for name, end in (one.split(":") for one in said.split())]


def true_times(voice: str, text: str, target: Path) -> list[tuple[float, float]]:
    """Synthesise a sentence; start and end of its words."""
    said = phones_of(voice, text, str(target))
    starts = [0.0, *(end for _, end in said)]
    alone = [(w, p) for w, word in enumerate(text.split()) for p, _ in phones_of(voice, word)]
    alone = [(w, phone) for w, phone in alone if phone != "pau"]
    spoken = [(i, phone) for i, (phone, _) in enumerate(said) if phone != "pau"]
    owner = matched([phone for _, phone in alone], [phone for _, phone in spoken])
    times: dict[int, list[float]] = {}
    for (index, _), mine in zip(spoken, owner, strict=True):
        times.setdefault(alone[mine][0], []).extend((starts[index], said[index][1]))
    return [(min(times[w]), max(times[w])) for w in range(len(text.split()))]


def matched(alone: list[str], spoken: list[str]) -> list[int]:
    """For each spoken phone the phone, of words said alone, that it comes from."""
    cost = np.zeros((len(alone) + 1, len(spoken) + 1))
    cost[:, 0], cost[0, :] = np.arange(len(alone) + 1), np.arange(len(spoken) + 1)
    for i, a in enumerate(alone, 1):
        for j, b in enumerate(spoken, 1):
            step = cost[i - 1, j - 1] + (a != b)
            cost[i, j] = min(step, cost[i - 1, j] + 1, cost[i, j - 1] + 1)
    owner, i = [0] * len(spoken), len(alone)
    for j in range(len(spoken), 0, -1):
        while i > 1 and cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
        owner[j - 1] = max(i - 1, 0)
        if cost[i, j] != cost[i, j - 1] + 1:
            i = max(i - 1, 1)
    return owner


def synthesised() -> None:
    print("voice  boundaries  mean ms  median  <= 20 ms  <= 50 ms  confident")
    every = []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "said.wav"
        for voice in VOICES:
            errors, believed = [], 0
            for text in SENTENCES.splitlines():
                truth = true_times(voice, text, target)
                found = align(*load_native(target), text)
                believed += found.confident
                for word, (start, end) in zip(found.words, truth, strict=True):
                    errors += [abs(word.start - start), abs(word.end - end)]
            every += errors
            show(voice, errors, f"{believed}/{len(SENTENCES.splitlines())}")
    show("all", every, "")


def show(name: str, errors: list[float], more: str) -> None:
    ms = np.array(errors) * 1000
    within = [np.mean(ms <= limit) for limit in (20, 50)]
    print(
        f"{name:5}  {len(ms):10}  {ms.mean():7.1f}  {np.median(ms):6.1f}  {within[0]:8.1%}  "
        f"{within[1]:8.1%}  {more}",
        flush=True,
    )


def sample(path: str, count: str = "200") -> list[Utterance]:
    said = list(open_corpus(path))
    return said[:: max(1, len(said) // int(count))][: int(count)]


def real(path: str, count: str = "200") -> None:
    states = {"confident": 0, "words in doubt": 0, "speech not in the text": 0, "not aligned": 0}
    words = doubted = 0
    audio_s = 0.0
    began = time.process_time()
    chosen = sample(path, count)
    for one in chosen:
        audio, rate = load_native(one)
        audio_s += len(audio) / rate
        try:
            found = align(audio, rate, one.transcript)
        except UnalignedError:
            states["not aligned"] += 1
            continue
        words += len(found.words)
        doubted += sum(not word.trusted for word in found.words)
        states[
            "confident"
            if found.confident
            else "speech not in the text"
            if found.doubts
            else "words in doubt"
        ] += 1
    spent = time.process_time() - began
    print(f"{path}: {len(chosen)} utterances, {audio_s / 60:.1f} min; {states}")
    print(f"{doubted} of {words} words in doubt; {spent / audio_s:.3f} CPU s a second of audio")


def wrong(path: str, count: str = "100") -> None:
    rng = random.Random(0)
    chosen = sample(path, count)
    pool = [w.text for one in chosen for w in tokens(one.transcript) if len(w.text) > 4]
    noticed = {"right": 0, "replaced": 0, "missing": 0, "added": 0}
    used = 0
    for one in chosen:
        words = [word.text for word in tokens(one.transcript)]
        long = [place for place, word in enumerate(words) if len(word) > 4]
        if len(words) < 3 or not long:
            continue
        used += 1
        at, other = rng.choice(long), rng.choice(pool)
        texts = {
            "right": words,
            "replaced": [*words[:at], other, *words[at + 1 :]],
            "missing": [*words[:at], *words[at + 1 :]],
            "added": [*words[:at], other, *words[at:]],
        }
        audio, rate = load_native(one)
        for name, text in texts.items():
            noticed[name] += not believed(audio, rate, " ".join(text))
    print(f"{path}: {used} utterances; not believed: {noticed}")


def believed(audio: np.ndarray, rate: int, text: str) -> bool:
    try:
        return align(audio, rate, text).confident
    except UnalignedError:
        return False


def masking(
    path: str,
    count: str = "266",
    voice: str = "none",
    how: str = "silence",
    length: str = "0.4",
) -> None:
    chosen = sample(path, count)
    listed = sorted({max((w.text for w in tokens(u.transcript)), key=len) for u in chosen})
    verifier = Verifier(make_recogniser())
    secret = Secret.reproducible(1)
    with tempfile.TemporaryDirectory() as folder:
        done = export_corpus(
            Corpus("sample", Path(folder) / "none", tuple(chosen)),
            Path(folder) / "out",
            purpose="acoustic",
            secret=secret,
            settings=Settings(Masking(how, length=None if length == "natural" else float(length))),  # type: ignore[arg-type]
            listed=listed,
            method=None if voice == "none" else make_method(voice, secret),
            observe=verifier.observe,
        )
    print(json.dumps(done.to_dict() | {"withheld": len(done.withheld)}))
    print(json.dumps(verifier.report(secret.generator("verify")).to_dict(), indent=1))


if __name__ == "__main__":
    parts = {"synthesised": synthesised, "real": real, "wrong": wrong, "masking": masking}
    parts[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
