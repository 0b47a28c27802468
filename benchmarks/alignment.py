"""How well words are found in recordings, and how well transcripts that are wrong are told.

    python benchmarks/alignment.py synthesised              needs the program flite
    python benchmarks/alignment.py real CORPUS [COUNT] [FILE]    COUNT utterances, evenly spaced
    python benchmarks/alignment.py wrong CORPUS [COUNT] [FILE]   transcripts with one word changed

``synthesised`` compares word boundaries with those the synthesiser used. ``real`` counts what is
aligned, believed, or withheld when one word of each utterance is to be masked. ``wrong`` replaces,
removes or adds one word of a transcript and counts how often that is noticed; it cannot be told for
words of under 5 letters, which are left alone. FILE gets a line of JSON for every utterance as it
is done.
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

from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.mask import Target
from sottovoce.anonymise.recording.secure import doubt
from sottovoce.anonymise.recording.timing import TimedWord
from sottovoce.anonymise.recording.words import key, tokens
from sottovoce.corpus import open_corpus
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


WITHHELD = {
    "speech not in the text": "that is not in the text",
    "a word does not sound as written": "does not sound",
    "the private word, or one beside it, in doubt": "a word to be masked",
    "a fifth of the words in doubt": "words are not surely",
    "no second opinion": "no second opinion",
    "not aligned": "do not fit",
}
"""Why utterances are withheld, and the words that say so."""

_FUNCTION_WORDS = """
a about above across after again against all along also although am among an and another any
are around as at be because been before behind being below beneath beside between beyond both
but by can cannot could did do does doing done down during each either else enough even ever
every few for from had has have having he her here hers herself him himself his how i if in into
is it its itself just less like many may me might mine more most much must my myself near
neither never no nor not now of off on once one only onto or other ought our ours out over own
quite rather same shall she should since so some still such than that the thee their theirs them
themselves then there these they thine this those thou though through thus thy till to too
toward towards under until unto up upon us very was we well were what when where whether which
while who whom whose why will with within without would yes yet you your yours yourself
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Closed classes of English, and adverbs as frequent: none of them says who somebody is."""


def private_word(one: Utterance) -> str:
    """The word that plays the private one: the longest that is no function word, the first of them.

    Empty if there is none.
    """
    words = [key(word.text) for word in tokens(one.transcript)]
    return max((word for word in words if word not in FUNCTION_WORDS), key=len, default="")


def sample(path: str, count: str = "200") -> list[Utterance]:
    said = list(open_corpus(path))
    return said[:: max(1, len(said) // int(count))][: int(count)]


def real(path: str, count: str = "200", lines: str = "") -> None:
    """Every utterance ends as one of these: aligned, with or without doubts, or withheld."""
    ends = dict.fromkeys(("without any doubt", "with words in doubt", *WITHHELD), 0)
    words = doubted = 0
    audio_s = 0.0
    began = time.process_time()
    chosen = sample(path, count)
    for one in chosen:
        audio, rate = load_native(one)
        audio_s += len(audio) / rate
        end, found = end_of(one, audio, rate)
        ends[end] += 1
        words += len(found)
        doubted += sum(not word.trusted for word in found)
        note(lines, {"utterance": one.id, "end": end, "words": len(found)})
    spent = time.process_time() - began
    withheld = sum(ends[why] for why in WITHHELD)
    assert sum(ends.values()) == len(chosen)
    print(f"{path}: {len(chosen)} utterances, {audio_s / 60:.1f} min; {ends}")
    print(f"aligned {len(chosen) - withheld}, withheld {withheld}, sum {sum(ends.values())}")
    print(f"{doubted} of {words} words in doubt; {spent / audio_s:.3f} CPU s a second of audio")


def end_of(one: Utterance, audio: np.ndarray, rate: int) -> tuple[str, tuple[TimedWord, ...]]:
    """What becomes of an utterance whose private word is to be masked, and its words."""
    try:
        found = align(audio, rate, one.transcript)
    except UnalignedError:
        return "not aligned", ()
    private = private_word(one)
    said = enumerate(tokens(one.transcript))
    targets = [Target(at, at) for at, word in said if key(word.text) == private]
    why = doubt(found, targets)
    if why:
        return next(kind for kind, words in WITHHELD.items() if words in why), found.words
    return ("without any doubt" if found.confident else "with words in doubt"), found.words


def note(lines: str, what: dict[str, object]) -> None:
    """Add a line to a file of results, if there is one, so that a run cut short leaves some."""
    if lines:
        with Path(lines).open("a", encoding="utf-8") as out:
            out.write(json.dumps(what) + "\n")


def wrong(path: str, count: str = "100", lines: str = "") -> None:
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
        found = {name: not believed(audio, rate, " ".join(text)) for name, text in texts.items()}
        noticed = {name: noticed[name] + found[name] for name in noticed}
        note(lines, {"utterance": one.id, **found})
    print(f"{path}: {used} utterances; not believed: {noticed}")


def believed(audio: np.ndarray, rate: int, text: str) -> bool:
    try:
        return align(audio, rate, text).confident
    except UnalignedError:
        return False


if __name__ == "__main__":
    parts = {"synthesised": synthesised, "real": real, "wrong": wrong}
    parts[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
