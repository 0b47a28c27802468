"""Summary of an anonymisation run, for people and machines, without any private word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sottovoce.anonymise.decisions import DecisionCounts, count_decisions
from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.anonymiser import TextAnonymiser
from sottovoce.anonymise.text.guarantee import Guarantee, leak_of_text
from sottovoce.anonymise.text.known_leaks import SampleLeak, WorstLeak
from sottovoce.anonymise.text.language_check import LanguageCheck, LanguageCollector
from sottovoce.anonymise.text.language_summary import LanguageSummary, LanguageTally
from sottovoce.anonymise.text.multilingual_detector import AUTOMATIC, MIXED_LANGUAGES
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.anonymise.text.taggers import model_id, shipped_weights
from sottovoce.anonymise.text.tokens import is_asr_output, tokenise
from sottovoce.core.records import JsonObject, to_json

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


@dataclass(frozen=True)
class RunSummary:
    """What was found in texts, by which rule, and how much may have been missed."""

    texts: int
    """Number of texts."""
    words: int
    """Number of words, without punctuation marks."""
    private_values: int
    """Number of private values that were found."""
    kept_values: int
    """Number of values that were found and kept, which has probability 1 − p."""
    by_type: dict[str, int]
    """Private values by type, the most frequent first."""
    by_rule: dict[str, int]
    """Private values by rule, the most frequent first."""
    guarantee: Guarantee | None
    """None unless text of this kind was measured for these taggers."""
    worst_leak: WorstLeak | None
    """The worst figure of any set, if there is no guarantee; None also if nothing was measured."""
    models: list[str]
    """The taggers that were used."""
    languages: LanguageCheck
    """Whether the texts, or parts of them, look like another language than the chosen one."""
    passes: int
    """How often the texts were searched, until no further name of a document was found."""
    decided: DecisionCounts
    """Who decided what is private."""
    decided_languages: LanguageSummary | None = None
    """As which languages the texts were searched, if that was decided and not given."""

    def to_dict(self) -> JsonObject:
        """Return the summary under the keys that ``docs/text.md`` describes."""
        return {
            "texts": self.texts,
            "words": self.words,
            "found": self.private_values,
            "kept": self.kept_values,
            "by_type": to_json(self.by_type),
            "by_rule": to_json(self.by_rule),
            "decided": self.decided.to_dict(),
            **leak_fields(self.guarantee, self.worst_leak),
            "models": to_json(self.models),
            **self.languages.to_dict(),
            "languages": (
                None if self.decided_languages is None else self.decided_languages.to_dict()
            ),
            "passes": self.passes,
        }

    def lines(self) -> list[str]:
        """Return the summary as lines for a terminal."""
        lines = [f"found in {self.words:,} words:"]
        lines += [f"  {TYPE_LABELS[kind]:<34}{count:>8,}" for kind, count in self.by_type.items()]
        lines += ["by:"] + [f"  {rule:<34}{count:>8,}" for rule, count in self.by_rule.items()]
        if self.kept_values:
            lines.append(f"  of these left as they were (--p)    {self.kept_values:>8,}")
        if self.decided_languages is not None:
            lines += self.decided_languages.lines()
        lines += [f"CAUTION: {caution}" for caution in self.languages.cautions()]
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


class SummaryCollector:
    """Adds up what an anonymiser does, text by text, without keeping the texts.

    Parameters
    ----------
    anonymiser : TextAnonymiser
        The anonymiser.
    """

    def __init__(self, anonymiser: TextAnonymiser) -> None:
        self._anonymiser = anonymiser
        self._texts = self._words = self._kept = self._with_words = self._asr = 0
        self._types: Counter[str] = Counter()
        self._rules: Counter[str] = Counter()
        self._decided = DecisionCounts()
        self._languages = LanguageCollector(anonymiser.lang)
        self._decided_languages = LanguageTally()

    def add(self, source: SourceText, result: AnonymisedText) -> None:
        """Add a text.

        Parameters
        ----------
        source : SourceText
            The original.
        result : AnonymisedText
            The new text.
        """
        words = [token.text for token in tokenise(source.text)]
        self._texts += 1
        self._words += sum(any(c.isalnum() for c in word) for word in words)
        self._with_words += bool(words)
        self._asr += bool(words) and is_asr_output(words)
        for span in result.spans:
            self._types[span.kind] += 1
            self._rules[span.rule] += 1
            self._kept += span.replacement is None
        self._decided += count_decisions(result.decisions)
        self._languages.add(source.id, source.text)
        self._decided_languages.add(source.id, source.text, result.languages)

    def summary(
        self, *, passes: int = 1, kind: str | None = None, sample: SampleLeak | None = None
    ) -> RunSummary:
        """Return the summary of all texts that were added.

        Parameters
        ----------
        passes : int, default 1
            How often the texts were searched.
        kind : str, optional
            Kind of text, one of :func:`.known_leaks.measured_kinds`, if the user has named it.
        sample : SampleLeak, optional
            What was missed in a sample of such text that the user has labelled.
        """
        written = self._asr * 2 < self._with_words
        leak = leak_of_run(self._anonymiser, written=written, kind=kind, sample=sample)
        decided_languages = (
            self._decided_languages.summary() if self._anonymiser.lang in MIXED_LANGUAGES else None
        )
        return RunSummary(
            texts=self._texts,
            words=self._words,
            private_values=self._types.total(),
            kept_values=self._kept,
            by_type=dict(self._types.most_common()),
            by_rule=dict(self._rules.most_common()),
            guarantee=leak[0],
            worst_leak=leak[1],
            models=_models(self._anonymiser, self._decided_languages.searched),
            languages=self._languages.check(),
            decided=self._decided,
            passes=passes,
            decided_languages=decided_languages,
        )


def leak_of_run(
    anonymiser: TextAnonymiser,
    *,
    written: bool,
    kind: str | None = None,
    sample: SampleLeak | None = None,
) -> tuple[Guarantee | None, WorstLeak | None]:
    """Return the guarantee for texts of a measured kind, else the worst figure of any set.

    Parameters
    ----------
    anonymiser : TextAnonymiser
        The anonymiser.
    written : bool
        Whether the texts have capitals, see :func:`is_written_text`.
    kind : str, optional
        Kind of text that the user has named.
    sample : SampleLeak, optional
        What was missed in a sample that the user has labelled; it wins over the kind.
    """
    if sample is not None:
        return anonymiser.sample_guarantee(sample), None
    guarantee = None if kind is None else anonymiser.guarantee(kind, written=written)
    return guarantee, anonymiser.worst_leak(written=written) if guarantee is None else None


def _models(anonymiser: TextAnonymiser, searched: Collection[str]) -> list[str]:
    """Name the taggers that were used; a user's tagger by the data its card names."""
    detector = anonymiser.detector
    langs = sorted(searched) if anonymiser.lang == AUTOMATIC else [anonymiser.lang]
    names = [
        model_id(shipped_weights(lang)[register])
        for lang in langs
        for register in detector.registers
    ]
    if detector.custom_tagger is not None:
        info = detector.custom_tagger.info
        data = " ".join(info.card.get("data", ()))
        names.append(f"own {info.name}" + (f": {data}" if data else ""))
    return names


def is_written_text(texts: Sequence[str]) -> bool:
    """Tell whether most texts have informative capitals, unlike ASR output.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    """
    asr = [is_asr_output([t.text for t in tokenise(text)]) for text in texts if text.strip()]
    return sum(asr) * 2 < len(asr)
