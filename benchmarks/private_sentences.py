"""Sentence classes with a BiLSTM over ε, with and without layer norm (protocol of D2.3, Table 12).

    python benchmarks/private_sentences.py MASSIVE OUT

MASSIVE is a folder with ``en.train.conll.xz`` and ``en.test.conll.xz`` of that corpus (voice
assistant commands, CC BY 4.0), with the slot of each word in the third column. AG News, which the
published table uses, is not among the data at hand, so numbers cannot be compared, only trends. An
utterance's class is the kind of its first slot that is one of four; others are left out. The study
itself is what ``sottovoce train private`` runs, with noise from public seeds.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import sys
from pathlib import Path

import torch

from sottovoce.learn.study import PrivateStudy
from sottovoce.learn.study_run import run_study

CLASSES = {
    "time": ("date", "time", "timeofday", "general_frequency", "event_name"),
    "media": (
        "artist_name",
        "song_name",
        "music_genre",
        "playlist_name",
        "player_setting",
        "media_type",
        "radio_name",
        "podcast_name",
        "audiobook_name",
        "movie_name",
    ),
    "people": ("person", "relation", "email_address", "email_folder", "personal_info"),
    "places and things": (
        "place_name",
        "device_type",
        "house_place",
        "business_name",
        "business_type",
        "food_type",
        "transport_type",
        "transport_agency",
        "color_type",
        "weather_descriptor",
    ),
}
PUBLISHED = {
    "none": (88.47, 83.86, 80.00, 81.14, 77.88, 37.49),
    "layer": (88.18, 84.34, 82.51, 82.03, 79.16, 50.09),
}
"""D2.3, Table 12 (AG News), for the ε of :data:`EPSILONS`."""
EPSILONS = (float("inf"), 7.0, 3.0, 1.0, 0.5, 0.1)


def write_table(source: Path, target: Path) -> int:
    """Write text and class of the utterances that have one."""
    kinds = {slot: name for name, slots in CLASSES.items() for slot in slots}
    rows = []
    text = lzma.decompress(source.read_bytes()).decode()
    for block in text.strip().split("\n\n"):
        words = [line.split("\t") for line in block.splitlines()]
        slots = [word[2].partition("-")[2] for word in words]
        label = next((kinds[slot] for slot in slots if slot in kinds), None)
        if label is not None:
            rows.append((" ".join(word[0] for word in words), label))
    with target.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("massive", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        count = write_table(
            arguments.massive / f"en.{split}.conll.xz", arguments.out / f"{split}.csv"
        )
        print(f"{split}: {count} utterances", file=sys.stderr)
    torch.set_num_threads(1)
    study = PrivateStudy(
        train=arguments.out / "train.csv",
        test=arguments.out / "test.csv",
        models=("none", "layer"),
        epsilon=EPSILONS,
        delta=1e-5,
        lot=256,
        epochs=2,
        learning_rates=(0.01, 0.03),
        reproducible=True,
    )
    result = run_study(study, arguments.out, show=lambda *_: None)
    print("| model | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
    print("|---" * (len(EPSILONS) + 1) + "|")
    for model in study.models:
        cells = [cell for cell in result.cells if cell.model == model]
        ours = [
            f"{100 * cell.mean:.1f} ({100 * min(cell.accuracies):.1f}–"
            f"{100 * max(cell.accuracies):.1f}), rate {cell.learning_rate:g}; published {published}"
            for cell, published in zip(cells, PUBLISHED[model], strict=True)
        ]
        print(f"| {model} | " + " | ".join(ours) + " |")
    print(f"chance {100 * result.chance:.1f}")


if __name__ == "__main__":
    main()
