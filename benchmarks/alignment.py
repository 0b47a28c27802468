"""How well words are found in recordings, and how often wrong transcripts are noticed.

    python benchmarks/alignment.py synthesised              needs the program flite
    python benchmarks/alignment.py real CORPUS [COUNT] [FILE]    COUNT utterances, evenly spaced
    python benchmarks/alignment.py wrong CORPUS [COUNT] [FILE]   transcripts with one word changed
    python benchmarks/alignment.py missing CORPUS [COUNT] [FILE] transcripts without one word

``synthesised`` compares word boundaries with those the synthesiser used. ``real`` counts what is
aligned, trusted, or withheld when one word of each utterance is to be masked. ``wrong`` replaces,
removes or adds one word of at least 5 letters in a transcript and counts how often that is noticed.
``missing`` removes the private word of each transcript and counts how often a recogniser hears it
in what is released: a word that is said but not written is masked only because of doubts.
FILE gets a line of JSON for every utterance as it is done.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.mask import Target
from sottovoce.anonymise.recording.secure import Settings, WithheldError, find_doubt, secure
from sottovoce.anonymise.recording.word_times import TimedWord
from sottovoce.anonymise.recording.words import spoken_words, word_key
from sottovoce.asr.recogniser import Recogniser, make_recogniser
from sottovoce.core.types import Audio
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
    """Synthesise a text with flite; return its phones with the time at which each ends."""
    command = ["flite", "-voice", voice, "-psdur", "-t", text, "-o", target]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [(name, float(end)) for name, end in (part.split(":") for part in output.split())]


def true_times(voice: str, text: str, target: Path) -> list[tuple[float, float]]:
    """Synthesise a sentence; return start and end of its words."""
    phones = phones_of(voice, text, str(target))
    starts = [0.0, *(end for _, end in phones)]
    alone = [(w, p) for w, word in enumerate(text.split()) for p, _ in phones_of(voice, word)]
    alone = [(w, phone) for w, phone in alone if phone != "pau"]
    spoken = [(i, phone) for i, (phone, _) in enumerate(phones) if phone != "pau"]
    sources = match_phones([phone for _, phone in alone], [phone for _, phone in spoken])
    times: dict[int, list[float]] = {}
    for (index, _), source in zip(spoken, sources, strict=True):
        times.setdefault(alone[source][0], []).extend((starts[index], phones[index][1]))
    return [(min(times[w]), max(times[w])) for w in range(len(text.split()))]


def match_phones(alone: list[str], spoken: list[str]) -> list[int]:
    """Find, for each phone of a sentence, the phone of the separate words that it comes from."""
    cost = np.zeros((len(alone) + 1, len(spoken) + 1))
    cost[:, 0], cost[0, :] = np.arange(len(alone) + 1), np.arange(len(spoken) + 1)
    for i, a in enumerate(alone, 1):
        for j, b in enumerate(spoken, 1):
            step = cost[i - 1, j - 1] + (a != b)
            cost[i, j] = min(step, cost[i - 1, j] + 1, cost[i, j - 1] + 1)
    sources, i = [0] * len(spoken), len(alone)
    for j in range(len(spoken), 0, -1):
        while i > 1 and cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
        sources[j - 1] = max(i - 1, 0)
        if cost[i, j] != cost[i, j - 1] + 1:
            i = max(i - 1, 1)
    return sources


def synthesised() -> None:
    print("voice  boundaries  mean ms  median  <= 20 ms  <= 50 ms  confident")
    all_errors = []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "said.wav"
        for voice in VOICES:
            errors, confident = [], 0
            for text in SENTENCES.splitlines():
                truth = true_times(voice, text, target)
                alignment = align(*load_native(target), text)
                confident += alignment.confident
                for word, (start, end) in zip(alignment.words, truth, strict=True):
                    errors += [abs(word.start - start), abs(word.end - end)]
            all_errors += errors
            show(voice, errors, f"{confident}/{len(SENTENCES.splitlines())}")
    show("all", all_errors, "")


def show(name: str, errors: list[float], more: str) -> None:
    ms = np.array(errors) * 1000
    within = [np.mean(ms <= limit) for limit in (20, 50)]
    print(
        f"{name:5}  {len(ms):10}  {ms.mean():7.1f}  {np.median(ms):6.1f}  {within[0]:8.1%}  "
        f"{within[1]:8.1%}  {more}",
        flush=True,
    )


WITHHELD = {
    "doubtful-alignment": "no second opinion",
    "doubtful-words": "a fifth of the words in doubt",
    "doubtful-sound": "a fifth of the time is speech that is not in the text",
    "not-aligned": "not aligned",
}
"""Why utterances are withheld, by error code."""

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
"""Closed classes and frequent adverbs of English: none of them identifies a person."""


def private_word(utterance: Utterance) -> str:
    """Return the first of the longest words that are no function words; empty if there is none."""
    words = [word_key(word.text) for word in spoken_words(utterance.transcript)]
    return max((word for word in words if word not in FUNCTION_WORDS), key=len, default="")


def sample(path: str, count: str = "200") -> list[Utterance]:
    utterances = list(open_corpus(path))
    return utterances[:: max(1, len(utterances) // int(count))][: int(count)]


def real(path: str, count: str = "200", lines: str = "") -> None:
    """Count the utterances that are aligned, with or without doubts, or withheld."""
    outcomes = dict.fromkeys(("without any doubt", "with words in doubt", *WITHHELD.values()), 0)
    words = doubted = 0
    audio_s = 0.0
    began = time.process_time()
    chosen = sample(path, count)
    for utterance in chosen:
        audio, rate = load_native(utterance)
        audio_s += len(audio) / rate
        outcome, timed_words = outcome_of(utterance, audio, rate)
        outcomes[outcome] += 1
        words += len(timed_words)
        doubted += sum(not word.trusted for word in timed_words)
        note(lines, {"utterance": utterance.id, "end": outcome, "words": len(timed_words)})
    spent = time.process_time() - began
    withheld = sum(outcomes[reason] for reason in WITHHELD.values())
    assert sum(outcomes.values()) == len(chosen)
    print(f"{path}: {len(chosen)} utterances, {audio_s / 60:.1f} min; {outcomes}")
    print(f"aligned {len(chosen) - withheld}, withheld {withheld}, sum {sum(outcomes.values())}")
    print(f"{doubted} of {words} words in doubt; {spent / audio_s:.3f} CPU s a second of audio")


def outcome_of(utterance: Utterance, audio: Audio, rate: int) -> tuple[str, tuple[TimedWord, ...]]:
    """Align an utterance whose private word is to be masked; return the outcome and its words."""
    try:
        alignment = align(audio, rate, utterance.transcript)
    except UnalignedError:
        return WITHHELD["not-aligned"], ()
    private = private_word(utterance)
    words = enumerate(spoken_words(utterance.transcript))
    targets = [Target(index, index) for index, word in words if word_key(word.text) == private]
    doubt = find_doubt(alignment, targets)
    if doubt is not None:
        return WITHHELD[doubt.code], alignment.words
    outcome = "without any doubt" if alignment.confident else "with words in doubt"
    return outcome, alignment.words


def note(path: str, result: dict[str, object]) -> None:
    """Append a line of JSON to a file, if there is one, so that an interrupted run leaves some."""
    if path:
        with Path(path).open("a", encoding="utf-8") as out:
            out.write(json.dumps(result) + "\n")


def wrong(path: str, count: str = "100", lines: str = "") -> None:
    rng = random.Random(0)
    chosen = sample(path, count)
    pool = [w.text for u in chosen for w in spoken_words(u.transcript) if len(w.text) > 4]
    noticed = {"right": 0, "replaced": 0, "missing": 0, "added": 0}
    used = 0
    for utterance in chosen:
        words = [word.text for word in spoken_words(utterance.transcript)]
        long = [index for index, word in enumerate(words) if len(word) > 4]
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
        audio, rate = load_native(utterance)
        doubted = {name: not trusted(audio, rate, " ".join(text)) for name, text in texts.items()}
        noticed = {name: noticed[name] + doubted[name] for name in noticed}
        note(lines, {"utterance": utterance.id, **doubted})
    print(f"{path}: {used} utterances; not trusted: {noticed}")


def missing(path: str, count: str = "100", lines: str = "") -> None:
    recogniser = make_recogniser()
    outcomes = dict.fromkeys(("not heard in the original", "withheld", "masked", "heard"), 0)
    confident = 0
    for utterance in sample(path, count):
        private = private_word(utterance)
        kept = [w for w in spoken_words(utterance.transcript) if word_key(w.text) != private]
        heard_before = recogniser.transcribe(*load_native(utterance))
        if not kept or private not in keys_of(heard_before):
            outcome = "not heard in the original"
        else:
            wrong_text = " ".join(word.text for word in kept)
            outcome, trusted_fully = outcome_of_missing(
                replace(utterance, transcript=wrong_text), private, recogniser
            )
            confident += trusted_fully
        outcomes[outcome] += 1
        note(lines, {"utterance": utterance.id, "end": outcome})
    print(f"{path}: {outcomes}; {confident} without any doubt in the alignment")


def outcome_of_missing(
    utterance: Utterance, private: str, recogniser: Recogniser
) -> tuple[str, bool]:
    """Secure an utterance that says a word which its transcript lacks; look for that word."""
    secret = Secret.reproducible(1)
    try:
        secured = secure(utterance, [], Settings(), secret=secret)
    except WithheldError:
        return "withheld", False
    masked = secured.masked
    heard = recogniser.transcribe(masked.audio, masked.rate) if masked.audio.any() else ""
    return "heard" if private in keys_of(heard) else "masked", secured.alignment.confident


def keys_of(text: str) -> set[str]:
    return {word_key(word.text) for word in spoken_words(text)}


def trusted(audio: Audio, rate: int, text: str) -> bool:
    try:
        return align(audio, rate, text).confident
    except UnalignedError:
        return False


if __name__ == "__main__":
    parts = {"synthesised": synthesised, "real": real, "wrong": wrong, "missing": missing}
    parts[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
