"""Measure what taggers miss in text of a kind that they were not trained on.

    python recipes/leave_kind_out.py train DATA OUT [LANG:KIND ...]
    python recipes/leave_kind_out.py measure DATA OUT leaks.json

For each language and kind of text, taggers are trained on all other kinds and tested on that one:
the situation of a user whose text is of a new kind. ``train`` writes weights to OUT and skips those
that are there; ``measure`` prints the table of docs/text.md and adds its figures to ``leaks.json``.
At most 2,000 sentences a set and one run of 25 iterations are used, fewer than for the shipped
taggers, so the leaks are rather too large. Spanish and Italian have no other open set: a sample of
speeches in OUT/speeches.<lang>.txt, a file like that of ``--label``, is measured where it exists,
with the shipped taggers, which were not trained on speeches.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from measure_entities import print_row
from tagger_sets import NAMES, SPOKEN_SETS, TAUS, WRITTEN_SETS, TestSet, known_leak, update_leaks
from translate_sets import WordTranslator

from sottovoce.anonymise.text.conll import Sentence, asr_view, read_conll
from sottovoce.anonymise.text.crf import TaggerCard, Weights
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.evaluate import Evaluation, evaluate
from sottovoce.anonymise.text.guarantee import leak_bound
from sottovoce.anonymise.text.known_leaks import LOWER_CASE, KnownLeak
from sottovoce.anonymise.text.labelling import checked_sentences, read_labels
from sottovoce.anonymise.text.taggers import (
    DEFAULT_TAU,
    SPOKEN,
    WRITTEN,
    CrfTagger,
    Tagger,
    shipped_tagger,
)
from sottovoce.training.tagger_augmentation import cased_view
from sottovoce.training.taggers import train_in_one_run

MAX_SENTENCES = 2000
ITERATIONS = 25
COMMANDS, SOCIAL, NEWS, PRINT, MIXED = "commands", "social media", "news", "old print", "mixed"
SPEECHES = "speeches"
KINDS = {
    "en": {SOCIAL: ("btc/en.train", "wnut17/en.train"), "encyclopaedia": ("wikigold/en.test",)},
    "de": {NEWS: ("germeval14/de.test",), PRINT: ("europeana/de.train",)},
    "fr": {PRINT: ("europeana/fr.train",)},
    "nl": {PRINT: ("europeana/nl.train",)},
    "lv": {MIXED: ("fullstack/lv.train",)},
    "pt": {NEWS: ("bosque/pt.train",)},
    "es": {},
    "it": {},
}
"""Training text by language and kind, besides commands."""
TRANSLATED = {
    "pt": ("en/wikigold/test", "en/ewt/dev"),
    "es": ("pt/bosque/train",),
    "it": ("pt/bosque/train",),
}
"""Sets that are translated word by word where a language has too few kinds."""
LEFT_OUT = tuple(
    (lang, kind)
    for lang, kinds in KINDS.items()
    for kind in (*kinds, COMMANDS)
    if (lang, kind) not in (("en", COMMANDS), ("de", COMMANDS), ("en", "encyclopaedia"))
)


@dataclass(frozen=True)
class GivenTaggers(Detector):
    """A detector with other taggers than the shipped ones."""

    given: tuple[Tagger, ...] = ()

    def _taggers(self) -> list[Tagger]:
        return list(self.given)


def training_text(data: Path, lang: str, left_out: str) -> list[Sentence]:
    """Return text of all kinds but one."""
    sentences: list[Sentence] = []
    for kind, parts in KINDS[lang].items():
        for part in parts if kind != left_out else ():
            sentences += _sample(read_conll(data / f"{part}.conll.xz"))
    for part in TRANSLATED.get(lang, ()) if left_out == COMMANDS or not sentences else ():
        source, name, split = part.split("/")
        translate = WordTranslator(data, source, lang)
        text = _sample(read_conll(data / name / f"{source}.{split}.conll.xz"))
        sentences += [translate(sentence) for sentence in text]
    if left_out != COMMANDS:
        part = "dev" if sentences else "train"
        commands = read_conll(data / "massive" / f"{lang}.{part}.conll.xz")
        sentences += [cased_view(sentence) for sentence in _sample(commands)]
    return sentences


def _sample(sentences: list[Sentence]) -> list[Sentence]:
    order = np.random.default_rng(0).permutation(len(sentences))[:MAX_SENTENCES]
    return [sentences[int(i)] for i in sorted(order)]


def weights_path(out: Path, lang: str, kind: str) -> Path:
    """Return the file of the written tagger that was trained without a kind."""
    return out / f"{lang}.without-{kind.replace(' ', '-')}.npz"


def train(data: Path, out: Path, chosen: list[str]) -> None:
    """Train the taggers that are missing."""
    for lang, kind in LEFT_OUT:
        path = weights_path(out, lang, kind)
        if path.exists() or (chosen and f"{lang}:{kind}" not in chosen):
            continue
        sentences = training_text(data, lang, kind)
        card = TaggerCard(lang=lang, register="written")
        weights = train_in_one_run(
            {lang: sentences}, lang, "written", iterations=ITERATIONS, card=card
        )
        weights.save(path)
        print(path.name, len(sentences), "sentences", flush=True)


def tests_of(lang: str, kind: str) -> list[TestSet]:
    """Return the test sets of a kind."""
    names = ("tweets", "posts") if kind == SOCIAL else (kind,)
    return [t for t in (*SPOKEN_SETS, *WRITTEN_SETS) if t.lang == lang and t.kind in names]


def taggers_without(out: Path, lang: str, kind: str) -> tuple[Tagger, ...]:
    """Return the taggers without a kind; without commands there is no spoken one."""
    if kind == SPEECHES:
        return shipped_tagger(lang, SPOKEN), shipped_tagger(lang, WRITTEN)
    written = CrfTagger(Weights.load(weights_path(out, lang, kind)), lang)
    return (written,) if kind == COMMANDS else (shipped_tagger(lang, SPOKEN), written)


def read_speeches(path: Path, view: str) -> list[Sentence]:
    """Read a labelled sample in a view."""
    sentences = checked_sentences(read_labels(path))
    return [asr_view(s) for s in sentences] if view == LOWER_CASE else sentences


def measure(data: Path, out: Path, leaks: Path) -> None:
    """Print the table and add its figures to a file."""
    heads = ("left out", "view", "private words", "leak", "95 % interval", "PER + LOC", "ORG")
    print_row("", *heads, "precision", "bound that is printed")
    print_row(*["---"] * 10)
    found: list[KnownLeak] = []
    for lang, kind in LEFT_OUT:
        if not weights_path(out, lang, kind).exists():
            continue
        given = taggers_without(out, lang, kind)
        for test in tests_of(lang, kind):
            for view in test.views:
                by_tau = evaluate_at(test, test.read(data, view), given)
                found.append(known_leak(test, view, by_tau, held_out=True))
                report(lang, test.kind, view, by_tau[DEFAULT_TAU])
    for lang in ("es", "it"):
        path = out / f"speeches.{lang}.txt"
        test = TestSet(lang, SPEECHES, "", "a sample of Europarl (speeches)")
        for view in test.views if path.exists() else ():
            given = taggers_without(out, lang, SPEECHES)
            by_tau = evaluate_at(test, read_speeches(path, view), given)
            found.append(known_leak(test, view, by_tau, held_out=True))
            report(lang, SPEECHES, view, by_tau[DEFAULT_TAU])
    update_leaks(leaks, [replace(entry, types=NAMES) for entry in found])


def evaluate_at(
    test: TestSet, sentences: list[Sentence], given: tuple[Tagger, ...]
) -> dict[float, Evaluation]:
    """Evaluate given taggers at every τ."""
    return {
        tau: evaluate(
            sentences,
            GivenTaggers(test.lang, tau, NAMES, propagate=False, given=given),
            given[-1],
        )
        for tau in TAUS
    }


def report(lang: str, kind: str, view: str, evaluation: Evaluation) -> None:
    """Print a row of the table."""
    words = evaluation.missed_words
    found = words.total - words.missed
    upper = leak_bound(words.missed, words.total, 0.975, effective=words.effective)
    lower = 1 - leak_bound(found, words.total, 0.975, effective=words.effective)
    names = [evaluation.token_recall[k] for k in ("PER", "LOC") if k in evaluation.token_recall]
    missed = sum(counts.missed for counts in names) / sum(counts.tagged for counts in names)
    organisations = evaluation.token_recall.get("ORG")
    print_row(
        lang.upper(),
        kind,
        view,
        f"{words.total:,}",
        words.leak,
        f"{100 * lower:.1f}–{100 * upper:.1f}",
        missed,
        "" if organisations is None else 1 - organisations.recall,
        evaluation.tokens.precision,
        "none",
    )


def main() -> None:
    """Train or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("train", "measure"))
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("more", nargs="*")
    options = parser.parse_args()
    if options.step == "train":
        options.out.mkdir(parents=True, exist_ok=True)
        train(options.data, options.out, options.more)
    else:
        measure(options.data, options.out, Path(options.more[0]))


if __name__ == "__main__":
    main()
