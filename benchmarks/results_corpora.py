"""The parts of the corpora that docs/results.md was measured on, as manifests.

    uv run python benchmarks/results_corpora.py ../shared/data/speech /tmp/results

Writes ``OUT/train``: utterances of the 68 speakers of libri_train28, libri_train28_more and
libri_dev40, spread evenly over each speaker's list and cut to their first seconds;
``OUT/libri40`` and ``OUT/audiomnist60``: enrolment and trial utterances of each speaker, spread
evenly over their splits; ``OUT/design/libri40``: fewer of these, for the 72 combinations of design
choices on the page of papers; and ``OUT/check``: a few development speakers, to try a study on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sottovoce.corpus import Corpus, Utterance
from sottovoce.corpus.manifest import read_manifest, write_manifest

TRAINING = ("libri_train28", "libri_train28_more", "libri_dev40")
TRAIN_EACH, TRAIN_SECONDS = 6, 3.5
EACH = {"enrol": 4, "trial": 6}
EACH_OF_DESIGN = {"enrol": 3, "trial": 4}
CHECK_SPEAKERS = 12


def spread(utterances: Sequence[Utterance], count: int) -> list[Utterance]:
    """Choose utterances at equal distances in the list, the first among them."""
    if len(utterances) <= count:
        return list(utterances)
    return [utterances[turn * len(utterances) // count] for turn in range(count)]


def cut(utterance: Utterance) -> Utterance:
    """Keep the first seconds, without the transcript, which says more than them."""
    seconds = float(utterance.extra["duration"])
    return replace(utterance, start=0.0, end=min(seconds, TRAIN_SECONDS), transcript="", extra={})


def training_part(corpora: Iterable[Corpus]) -> list[Utterance]:
    """Utterances of each speaker of several corpora, of which some may have the same speakers."""
    by_speaker: dict[str, list[Utterance]] = {}
    for corpus in corpora:
        for speaker, utterances in corpus.by_speaker().items():
            by_speaker.setdefault(speaker, []).extend(utterances)
    return [
        cut(utterance)
        for _, utterances in sorted(by_speaker.items())
        for utterance in spread(utterances, TRAIN_EACH)
    ]


def attacked_part(corpus: Corpus, counts: Mapping[str, int]) -> list[Utterance]:
    """Enrolment and trial utterances of each speaker."""
    return [
        replace(utterance, extra={})
        for _, utterances in sorted(corpus.by_speaker().items())
        for split, count in counts.items()
        for utterance in spread([u for u in utterances if u.split == split], count)
    ]


def check_part(utterances: Sequence[Utterance]) -> list[Utterance]:
    """Training utterances of a few speakers as if they were attacked."""
    speakers = sorted({utterance.speaker for utterance in utterances})[:CHECK_SPEAKERS]
    return [
        replace(utterance, split="enrol" if turn % TRAIN_EACH < TRAIN_EACH // 2 else "trial")
        for turn, utterance in enumerate(u for u in utterances if u.speaker in speakers)
    ]


def write(utterances: list[Utterance], folder: Path) -> None:
    """Write a manifest, and say what is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(folder.name, folder, tuple(utterances))
    write_manifest(corpus, folder)
    print(f"{folder}: {len(corpus.speakers)} speakers, {len(corpus)} utterances")


def main() -> None:
    """Write the manifests."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    speech = options.speech.resolve()
    train = training_part(read_manifest(speech / name) for name in TRAINING)
    checked = check_part(train)
    write(train, options.out / "train")
    for name in ("libri40", "audiomnist60"):
        write(attacked_part(read_manifest(speech / name), EACH), options.out / name)
    design = attacked_part(read_manifest(speech / "libri40"), EACH_OF_DESIGN)
    write(design, options.out / "design" / "libri40")
    write(checked, options.out / "check" / "attacked")
    attacked = {utterance.speaker for utterance in checked}
    others = [u for u in train if u.speaker not in attacked][: 2 * CHECK_SPEAKERS * TRAIN_EACH]
    write(others, options.out / "check" / "train")


if __name__ == "__main__":
    main()
