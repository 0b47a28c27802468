"""Summary of an anonymisation run, for people and machines, without any private word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sottovoce.anonymise.text.anonymised_text import AnonymisedText, ReplacedSpan
from sottovoce.anonymise.text.anonymiser import TextAnonymiser
from sottovoce.anonymise.text.documents import Batch
from sottovoce.anonymise.text.guarantee import Guarantee, leak_of_text
from sottovoce.anonymise.text.known_leaks import SampleLeak, WorstLeak
from sottovoce.anonymise.text.lexicon import other_language
from sottovoce.anonymise.text.taggers import model_id, shipped_weights
from sottovoce.anonymise.text.tokens import is_asr_output, tokenise
from sottovoce.core.records import JsonObject, Record, to_json

TYPE_LABELS = {
    "PER": "persons (PER)",
    "LOC": "places (LOC)",
    "ORG": "organisations (ORG)",
    "DATE": "dates (DATE)",
    "TIME": "times (TIME)",
    "EMAIL": "e-mail addresses (EMAIL)",
    "PHONE": "telephone numbers (PHONE)",
    "URL": "web addresses (URL)",
    "ID": "identifiers, listed phrases (ID)",
    "NUM": "long numbers (NUM)",
    "MISC": "other names (MISC)",
    "SENSITIVE": "special categories (SENSITIVE)",
}


@dataclass(frozen=True, slots=True)
class MaskedWords(Record):
    """Indexes of the private words of a text: what is needed to mask them in its recording."""

    id: str
    words: list[int]
    """From 0, the text split at white space."""


@dataclass(frozen=True)
class RunSummary:
    """What was found in texts, by which rule, and how much may have been missed."""

    texts: int
    """Number of texts."""
    words: int
    """Number of words, without punctuation marks."""
    spans: list[tuple[str, ReplacedSpan]]
    """The private values, each with the id of its text."""
    masks: list[MaskedWords]
    """Private words of the texts that have any."""
    guarantee: Guarantee | None
    """None unless text of this kind was measured for these taggers."""
    worst_leak: WorstLeak | None
    """The worst figure of any set, if there is no guarantee; None also if nothing was measured."""
    models: list[str]
    """The taggers that were used."""
    other_language: str | None
    """The language that the texts look like, if it is not the chosen one."""

    @property
    def private_values(self) -> int:
        """Number of private values that were found."""
        return len(self.spans)

    @property
    def kept_values(self) -> int:
        """Number of values that were found and kept, which has probability 1 − p."""
        return sum(span.replacement is None for _, span in self.spans)

    @property
    def by_rule(self) -> dict[str, int]:
        """Private values by rule, the most frequent first."""
        return dict(Counter(span.rule for _, span in self.spans).most_common())

    @property
    def by_type(self) -> dict[str, int]:
        """Private values by type, the most frequent first."""
        return dict(Counter(span.kind for _, span in self.spans).most_common())

    def to_dict(self) -> JsonObject:
        """Return the summary under the keys that ``docs/text.md`` describes."""
        return {
            "texts": self.texts,
            "words": self.words,
            "found": self.private_values,
            "kept": self.kept_values,
            "by_type": to_json(self.by_type),
            "by_rule": to_json(self.by_rule),
            "spans": [{"id": text_id, **span.to_dict()} for text_id, span in self.spans],
            "mask": [mask.to_dict() for mask in self.masks],
            **leak_fields(self.guarantee, self.worst_leak),
            "models": to_json(self.models),
            "looks_like_language": self.other_language,
        }

    def lines(self) -> list[str]:
        """Return the summary as lines for a terminal."""
        lines = [f"found in {self.words:,} words:"]
        lines += [f"  {TYPE_LABELS[kind]:<34}{count:>8,}" for kind, count in self.by_type.items()]
        lines += ["by:"] + [f"  {rule:<34}{count:>8,}" for rule, count in self.by_rule.items()]
        if self.kept_values:
            lines.append(f"  of these left as they were (--p)    {self.kept_values:>8,}")
        if self.other_language:
            lines.append(
                f"CAUTION: this looks like {self.other_language!r}; names of another language are "
                "missed: check --lang"
            )
        lines.append("what may be left:")
        if self.guarantee is None:
            return lines + _worst_leak_lines(self.worst_leak)
        return lines + _guarantee_lines(self.guarantee, self.by_type)


def leak_fields(guarantee: Guarantee | None, worst: WorstLeak | None) -> JsonObject:
    """Return the fields of a JSON answer that say what may be left.

    Parameters
    ----------
    guarantee : Guarantee or None
        The guarantee for text of this kind, if it was measured.
    worst : WorstLeak or None
        Else the worst figure of any set.
    """
    return {
        "guarantee": None if guarantee is None else guarantee.to_dict(),
        "worst_known": None if worst is None else worst.to_dict(),
    }


def _worst_leak_lines(worst: WorstLeak | None) -> list[str]:
    """Say that nothing is known of this text, and the worst that is known of other text."""
    lines = ["  not known for this text: nobody has measured text like it"]
    if worst is not None:
        entry = worst.entry
        without = ", by taggers trained without such text" if entry.held_out else ""
        lines.append(
            f"  the worst of any set, not a bound: {100 * worst.words.leak:.1f} % of "
            f"{worst.words.total:,} private words were missed in {entry.test_set} ({entry.lang}, "
            f"{entry.view}{without})"
        )
    return [
        *lines,
        "  measure yours: sottovoce anonymise text --label 50 IN LABELS, then --evaluate LABELS",
    ]


def _guarantee_lines(guarantee: Guarantee, kinds: Collection[str]) -> list[str]:
    """Say what may be left, and what a replacement of each given type discloses."""
    text_leak = leak_of_text(guarantee.leak, 10)
    lines = [
        f"  leak in text of the kind '{guarantee.kind}': at most {100 * guarantee.leak:.1f} % of "
        "private words (δ, 95 % confidence)",
        f"  measured: {100 * guarantee.recall:.1f} % of {guarantee.total:,} private words were "
        f"found in {guarantee.measured_on}",
        f"  a text with 10 private words keeps at least one of them in up to "
        f"{100 * text_leak:.0f} of 100 cases: read a sample before you publish",
        "  nothing is known of text of another kind: measure it with --label and --evaluate",
    ]
    epsilons = {kind: value for kind, value in guarantee.epsilons().items() if kind in kinds}
    if epsilons:
        lines.append("what a replacement tells (ε; 0 is nothing; if misses are random):")
    lines += [
        f"  {TYPE_LABELS[kind]:<34}{value:>8.1f}  drawn from {guarantee.tables[kind]:,}"
        for kind, value in epsilons.items()
    ]
    return lines


def summarise_run(
    anonymiser: TextAnonymiser,
    batch: Batch,
    results: Sequence[AnonymisedText],
    *,
    kind: str | None = None,
    sample: SampleLeak | None = None,
) -> RunSummary:
    """Summarise what an anonymiser has done.

    Parameters
    ----------
    anonymiser : TextAnonymiser
        The anonymiser.
    batch : Batch
        The texts that it has read.
    results : sequence of AnonymisedText
        The new texts, in the same order.
    kind : str, optional
        Kind of text, one of :func:`.known_leaks.measured_kinds`, if the user has named it.
    sample : SampleLeak, optional
        What was missed in a sample of such text that the user has labelled.
    """
    guarantee, worst = leak_of_run(anonymiser, batch.texts, kind=kind, sample=sample)
    rows = list(zip(batch.ids, batch.texts, results, strict=True))
    masks = [MaskedWords(text_id, masked_words(text, result)) for text_id, text, result in rows]
    return RunSummary(
        texts=len(results),
        words=_count_words(batch.texts),
        spans=[(text_id, span) for text_id, _, result in rows for span in result.spans],
        masks=[mask for mask in masks if mask.words],
        guarantee=guarantee,
        worst_leak=worst,
        models=_models(anonymiser),
        other_language=other_language(batch.texts, anonymiser.lang),
    )


def leak_of_run(
    anonymiser: TextAnonymiser,
    texts: Sequence[str],
    *,
    kind: str | None = None,
    sample: SampleLeak | None = None,
) -> tuple[Guarantee | None, WorstLeak | None]:
    """Return the guarantee for texts of a measured kind, else the worst figure of any set.

    Parameters
    ----------
    anonymiser : TextAnonymiser
        The anonymiser.
    texts : sequence of str
        The texts; whether they have capitals decides which figures count.
    kind : str, optional
        Kind of text that the user has named.
    sample : SampleLeak, optional
        What was missed in a sample that the user has labelled; it wins over the kind.
    """
    if sample is not None:
        return anonymiser.sample_guarantee(sample), None
    written = is_written_text(texts)
    guarantee = None if kind is None else anonymiser.guarantee(kind, written=written)
    return guarantee, anonymiser.worst_leak(written=written) if guarantee is None else None


def _models(anonymiser: TextAnonymiser) -> list[str]:
    """Name the taggers that were used; a user's tagger by the data its card names."""
    detector = anonymiser.detector
    paths = shipped_weights(anonymiser.lang)
    names = [model_id(paths[register]) for register in detector.registers]
    if detector.custom_tagger is not None:
        info = detector.custom_tagger.info
        data = " ".join(info.card.get("data", ()))
        names.append(f"own {info.name}" + (f": {data}" if data else ""))
    return names


def masked_words(text: str, result: AnonymisedText) -> list[int]:
    """Return the indexes of the words, split at white space, that are private at least in part.

    Parameters
    ----------
    text : str
        The original text.
    result : AnonymisedText
        The new text.
    """
    masked, position, current = [], 0, 0
    spans = result.spans
    for i, word in enumerate(text.split()):
        position = text.index(word, position)
        end = position + len(word)
        while current < len(spans) and spans[current].end <= position:
            current += 1
        if current < len(spans) and spans[current].start < end:
            masked.append(i)
        position = end
    return masked


def is_written_text(texts: Sequence[str]) -> bool:
    """Tell whether most texts have informative capitals, unlike ASR output.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    """
    asr = [is_asr_output([t.text for t in tokenise(text)]) for text in texts if text.strip()]
    return sum(asr) * 2 < len(asr)


def _count_words(texts: Sequence[str]) -> int:
    return sum(any(c.isalnum() for c in t.text) for text in texts for t in tokenise(text))
