"""Words a second of the text anonymiser on one core, and of its parts, in one run.

    OMP_NUM_THREADS=1 uv run python benchmarks/text.py [TAGGED.conll ...]

CPU seconds. Without a file, made-up calls; with tagged files their words. The last row is what a
tagger that gathers attributes word by word would need before it could begin.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from timing import cpu

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.conll import read_conll
from sottovoce.anonymise.text.features import sentence_attributes
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.taggers import shipped_tagger

AIM = 20_000


def calls(count: int) -> list[str]:
    rng = np.random.default_rng(0)
    words = [w for w in lexicon("en").frequency if w.isalpha()][:20_000]
    names = sorted(lexicon("en").names)
    made = []
    for _ in range(count):
        chosen = [words[int(min(rng.pareto(0.8) * 20, len(words) - 1))] for _ in range(11)]
        chosen[int(rng.integers(11))] = names[int(rng.integers(len(names)))]
        made.append(" ".join(chosen))
    return made


def main() -> None:
    texts = [" ".join(s.words) for path in sys.argv[1:] for s in read_conll(Path(path))]
    texts = texts or calls(10_000)
    sentences = [text.split() for text in texts]
    count = sum(map(len, sentences))
    tagger = shipped_tagger("en", "spoken")
    tagger.tag(sentences[:100], 0.95)
    rows = {"tagger alone": cpu(lambda: tagger.tag(sentences, 0.95))}
    for strategy in ("redact", "full"):
        anonymiser = TextAnonymiser("en", strategy=strategy)
        rows[f"detect and {strategy}"] = cpu(lambda a=anonymiser: a.transform_all(texts))  # type: ignore[misc]
    rows["attributes alone, one by one"] = cpu(
        lambda: [sentence_attributes(one, lexicon("en")) for one in sentences], 1
    )
    print(f"{count:,} words, {len(texts):,} texts")
    print("| what | CPU s | words a second | aim |\n|---|---|---|---|")
    for name, seconds in rows.items():
        print(f"| {name} | {seconds:.2f} | {count / seconds:,.0f} | {AIM:,} |")


if __name__ == "__main__":
    main()
