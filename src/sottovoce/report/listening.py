"""A few recordings to listen to, before and after, inside the page and bounded in size."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.corpus.audio import load_audio, load_length
from sottovoce.corpus.utterance import Utterance
from sottovoce.report.page import Markup, element, joined
from sottovoce.report.readings import Found

PAIRS = 3
"""Pairs an anonymiser at most."""
SECONDS = 6.0
"""Of each recording at most."""
BUDGET = 3_000_000
"""Characters of all recordings together."""
RATE = 16000


def listening(findings: Found, folder: Path) -> dict[str, Markup]:
    """By anonymiser, pairs to listen to: everybody's first pair, then second, while there is room.

    FLAC, so that one hears the anonymiser and not the codec.
    """
    said: dict[str, list[Markup]] = {one["anonymiser"]: [] for one in findings["anonymisers"]}
    left, full = BUDGET, set[str]()
    for turn in range(PAIRS):
        for one in findings["anonymisers"]:
            examples = one.get("examples", [])
            if turn >= len(examples):
                continue
            try:
                pair, size = _pair(examples[turn], folder)
            except InputError as error:
                pair, size = element("p", f"Not to be heard: {error}", class_="soft"), 0
            if size > left:
                full.add(one["anonymiser"])
                continue
            left -= size
            said[one["anonymiser"]].append(pair)
    return {name: _section(pairs, name in full) for name, pairs in said.items()}


def _section(pairs: list[Markup], full: bool) -> Markup:
    more = "More were left out to keep the page small; they lie in the audit's folder."
    return joined(
        [
            *pairs,
            element("p", more, class_="soft") if full else None,
            element("p", "No recordings to listen to.", class_="soft")
            if not (pairs or full)
            else None,
        ]
    )


def _pair(example: Found, folder: Path) -> tuple[Markup, int]:
    sides = {
        "original": _sound(_place(example["original"], folder), example.get("start") or 0.0),
        "anonymised": _sound(_place(example["anonymised"], folder)),
    }
    name = str(example["utterance"])
    players = [
        element(
            "div",
            element("small", side),
            element(
                "audio",
                controls=True,
                preload="none",
                src=data,
                aria_label=f"{name}, {side}",
            ),
        )
        for side, data in sides.items()
    ]
    label = element("div", name, " ", element("small", f"speaker {example['speaker']}"))
    return element("div", label, *players, class_="pair"), sum(map(len, sides.values()))


def _place(path: str, folder: Path) -> Path:
    """Beside the page, or where it was when the audit was run."""
    inside = folder / path
    return inside if inside.exists() else Path(path)


def _sound(path: Path, start: float = 0.0) -> str:
    """The beginning of a recording, or of a part of it, as a data address."""
    import soundfile

    seconds = load_length(path).seconds
    end = start + SECONDS if seconds > start + SECONDS else None
    samples = load_audio(Utterance(path.stem, path, "one", start=start, end=end), RATE)
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE, format="FLAC", subtype="PCM_16")
    return f"data:audio/flac;base64,{base64.b64encode(buffer.getvalue()).decode()}"
