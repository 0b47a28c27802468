"""Pairs of recordings on an audit's page, to hear what an anonymiser does to a voice."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.corpus.audio import load_audio, load_length
from sottovoce.corpus.utterance import Utterance
from sottovoce.findings import AnonymiserFinding, Example
from sottovoce.report.html import Markup, element, joined

PAIRS = 3
"""Pairs an anonymiser at most."""
SECONDS = 6.0
"""Of each recording at most."""
BUDGET = 3_000_000
"""Characters of all recordings together."""
RATE = 16000


def listening(anonymisers: Sequence[AnonymiserFinding], folder: Path) -> dict[str, Markup]:
    """Build players of original and anonymised recordings, by anonymiser.

    The first pair of every anonymiser comes first, then the second pairs, while there is room.
    They are FLAC, so that one hears the anonymiser and not the codec.

    Parameters
    ----------
    anonymisers : sequence of AnonymiserFinding
        Their examples are shown.
    folder : Path
        The audit's folder, which paths of examples are relative to.
    """
    pairs: dict[str, list[Markup]] = {anonymiser.anonymiser: [] for anonymiser in anonymisers}
    remaining, truncated = BUDGET, set[str]()
    for turn in range(PAIRS):
        for anonymiser in anonymisers:
            if turn >= len(anonymiser.examples):
                continue
            try:
                pair, size = _pair(anonymiser.examples[turn], folder)
            except InputError as error:
                pair, size = element("p", f"Cannot be played: {error}", class_="soft"), 0
            if size > remaining:
                truncated.add(anonymiser.anonymiser)
                continue
            remaining -= size
            pairs[anonymiser.anonymiser].append(pair)
    return {name: _section(players, name in truncated) for name, players in pairs.items()}


def _section(pairs: list[Markup], truncated: bool) -> Markup:
    remark = None
    if truncated:
        remark = "More were left out to keep the page small; they are in the audit's folder."
    elif not pairs:
        remark = "No recordings to listen to."
    return joined([*pairs, element("p", remark, class_="soft") if remark else None])


def _pair(example: Example, folder: Path) -> tuple[Markup, int]:
    """Return both players, and how many characters their sound takes."""
    sides = {
        "original": _sound(
            Utterance(
                example.utterance,
                _locate(example.original, folder),
                example.speaker,
                start=example.start,
                end=example.end,
                channel=example.channel,
            )
        ),
        "anonymised": _sound(
            Utterance(example.utterance, _locate(example.anonymised, folder), example.speaker)
        ),
    }
    players = [
        element(
            "div",
            element("small", side),
            element(
                "audio",
                controls=True,
                preload="none",
                src=data,
                aria_label=f"{example.utterance}, {side}",
            ),
        )
        for side, data in sides.items()
    ]
    speaker = element("small", f"speaker {example.speaker}")
    label = element("div", example.utterance, " ", speaker)
    return element("div", label, *players, class_="pair"), sum(map(len, sides.values()))


def _locate(path: str, folder: Path) -> Path:
    """Return the path inside the audit's folder, or where it was when the audit was run."""
    inside = folder / path
    return inside if inside.exists() else Path(path)


def _sound(utterance: Utterance) -> str:
    """Return the beginning of an utterance as a data address."""
    import soundfile

    start = utterance.start or 0.0
    end = utterance.end
    if end is None and load_length(utterance.path).seconds > start + SECONDS:
        end = start + SECONDS
    elif end is not None:
        end = min(end, start + SECONDS)
    samples = load_audio(replace(utterance, end=end), RATE)
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE, format="FLAC", subtype="PCM_16")
    return f"data:audio/flac;base64,{base64.b64encode(buffer.getvalue()).decode()}"
