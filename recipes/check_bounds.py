"""Check leak bounds: δ from every second sentence of a test set against the leak in the others.

    python recipes/check_bounds.py DATA [LANG ...]

The bound holds in a row if the lower 95 % limit of the leak is not above it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measure_entities import print_row
from tagger_sets import SPOKEN_SETS, WRITTEN_SETS, measure

from sottovoce.anonymise.text.guarantee import leak_bound
from sottovoce.anonymise.text.taggers import DEFAULT_TAU, SPOKEN, WRITTEN, shipped_tagger


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("langs", nargs="*")
    options = parser.parse_args()
    print_row("", "kind", "view", "δ of one half", "leak of the other", "its lower limit", "holds")
    print_row(*["---"] * 7)
    for test in (*SPOKEN_SETS, *WRITTEN_SETS):
        if options.langs and test.lang not in options.langs:
            continue
        tagger = shipped_tagger(test.lang, SPOKEN if test.is_spoken else WRITTEN)
        for view in test.views:
            sentences = test.read(options.data, view)
            half, other = (
                measure(test, sentences[part::2], tagger, DEFAULT_TAU).missed_words
                for part in (0, 1)
            )
            found = other.total - other.missed
            lower = 1 - leak_bound(found, other.total, effective=other.effective)
            row = (half.bound, other.leak, lower, "yes" if lower <= half.bound else "NO")
            print_row(test.lang.upper(), test.kind, view, *row)


if __name__ == "__main__":
    main()
