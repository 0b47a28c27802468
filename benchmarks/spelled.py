"""Spelled and dictated values: recall on the test set, false alarms on ordinary text.

    OMP_NUM_THREADS=1 uv run python benchmarks/spelled.py recall SENTENCES.jsonl
    OMP_NUM_THREADS=1 uv run python benchmarks/spelled.py alarms NER_FOLDER [MANIFEST.csv ...]

A sentence is protected if the detector leaves no word of its private ranges. A false alarm is a
word that the rules for spelled and announced values mask and the labels of the text do not call
private; all of LibriSpeech counts as not private. Single sets of the folder are ordinary text:
newspapers, posts, web pages, commands, and OCR of old print.
"""

from __future__ import annotations

import csv
import json
import lzma
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.dictated import find_dictated
from sottovoce.anonymise.text.spelled import find_spelled
from sottovoce.anonymise.text.tokens import tokenise


def missed_words(text: str, ranges: Sequence[Sequence[int]], detector: Detector) -> list[str]:
    findings = detector.find([text])[0]
    return [
        token.text
        for token in tokenise(text)
        if any(map(str.isalnum, token.text))
        and any(start < token.end and token.start < end for start, end in ranges)
        and not any(f.start < token.end and token.start < f.end for f in findings)
    ]


def recall(path: Path) -> None:
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        sentences = [json.loads(line) for line in lines]
    total, protected = Counter[str](), Counter[str]()
    for sentence in sentences:
        lang = sentence["lang"]
        missed = missed_words(sentence["text"], sentence["private"], Detector(lang))
        total[lang] += 1
        protected[lang] += not missed
        if missed:
            print(f"{sentence['id']}: {len(missed)} words missed")
    print("| language | sentences | protected |\n|---|---|---|")
    for lang in total:
        print(f"| {lang} | {total[lang]} | {protected[lang]} |")
    share = protected.total() / total.total()
    print(f"| all | {total.total()} | {protected.total()} ({share:.1%}) |")


def tagged_sentences(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for block in lines.read().split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines() if line]
            yield [row[0] for row in rows], [row[1] for row in rows]


def alarms(words: Sequence[str], tags: Sequence[str], lang: str) -> int:
    low = [word.lower() for word in words]
    masked = {
        i
        for entity in (*find_spelled(low, lang), *find_dictated(low, lang))
        for i in range(entity.start, entity.end)
    }
    return sum(tags[i] == "O" and any(map(str.isalnum, words[i])) for i in masked)


def false_alarms(folder: Path, manifests: Sequence[Path]) -> None:
    counts: dict[tuple[str, str], list[int]] = {}
    for path in sorted(folder.rglob("*.conll.xz")):
        row = counts.setdefault((path.name[:2], path.parent.name), [0, 0])
        for words, tags in tagged_sentences(path):
            row[0] += len(words)
            row[1] += alarms(words, tags, path.name[:2])
    for manifest in manifests:
        row = counts.setdefault(("en", "librispeech"), [0, 0])
        with manifest.open(encoding="utf-8") as rows:
            for utterance in csv.DictReader(rows):
                words = (utterance["transcript"] or "").split()
                row[0] += len(words)
                row[1] += alarms(words, ["O"] * len(words), "en")
    print("| language | set | words | false alarms | % |\n|---|---|---|---|---|")
    for (lang, name), (total, false) in sorted(counts.items()):
        print(f"| {lang} | {name} | {total:,} | {false} | {100 * false / total:.3f} |")
    for lang in sorted({lang for lang, _ in counts}):
        rows_of_lang = [row for (code, _), row in counts.items() if code == lang]
        total, false = (sum(column) for column in zip(*rows_of_lang, strict=True))
        print(f"| {lang} | all | {total:,} | {false} | {100 * false / total:.3f} |")


if __name__ == "__main__":
    if sys.argv[1] == "recall":
        recall(Path(sys.argv[2]))
    else:
        false_alarms(Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
