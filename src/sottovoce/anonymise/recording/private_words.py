"""Find the private words of transcripts, wherever they occur, and replace them in texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.mask import LIST_RULE, Target
from sottovoce.anonymise.recording.words import Token, spoken_words, word_key
from sottovoce.anonymise.text.entities import SPELLED_RULE
from sottovoce.core.errors import InputError
from sottovoce.corpus.reading import numbered_lines


class TextSpan(NamedTuple):
    """Characters ``text[start:end]`` that are private."""

    start: int
    end: int
    label: str
    """Why, such as ``PER``."""
    rule: str = LIST_RULE
    """What found them, such as ``tagger spoken``."""


Finder = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[TextSpan]]]
"""Takes texts and their languages, returns the private characters of each text."""
Replace = Callable[[Sequence[str], Sequence[Sequence[Target]]], Sequence[str]]
"""Takes the texts of a dialogue and the private words of each, returns texts without them."""

LISTED = "LISTED"
"""Label of words that were listed by the user."""
DEFAULT_STRATEGY = "full"
_FUNCTION_WORDS = """
a an the and or but of in on at to from for with by as is it i he she we you they my your his her
our their this that no not
der die das den dem des ein eine und oder von vom zu zum zur im am auf mit für ist
el la los las lo un una y o de del al en con por para es
le les une et ou du au aux à dans sur avec est
il gli uno e di da dal della dei su per
os as um uma do dos na em com
het een van te op met voor
uz ar par
"""
_NUMBERS = ("NUM", "PHONE")
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that are masked as part of a name, but not where they stand alone."""


def read_words(path: Path) -> list[str]:
    """Read the words or phrases to be masked from a file.

    Parameters
    ----------
    path : Path
        Text with one word or phrase per line.

    Raises
    ------
    InputError
        ``empty`` if there are none, ``damaged`` with the line if a line has no word.
    """
    lines = numbered_lines(path)
    if not lines:
        raise InputError(f"{path}: no words; write one a line", code="empty")
    for number, line in lines:
        if not spoken_words(line):
            raise InputError(
                f"{path}:{number}: no word in this line; correct or remove it", code="damaged"
            )
    return [line.strip() for _, line in lines]


def detect_private(texts: Sequence[str], langs: Sequence[str]) -> list[list[TextSpan]]:
    """Find private words with the detector of the text anonymiser.

    Parameters
    ----------
    texts : sequence of str
        Transcripts.
    langs : sequence of str
        The language of each, or ``auto`` or ``multi``.

    Returns
    -------
    list of list of TextSpan
        The private characters of each text.
    """
    from sottovoce.anonymise.text.multilingual_detector import make_detector

    spans: list[list[TextSpan]] = [[] for _ in texts]
    for lang in dict.fromkeys(langs):
        indices = [index for index, other in enumerate(langs) if other == lang]
        detector = make_detector(lang.lower().split("-")[0])
        findings = detector.find([_uncapitalised(texts[index]) for index in indices])
        for index, text_findings in zip(indices, findings, strict=True):
            spans[index] = [
                TextSpan(finding.start, finding.end, finding.kind, finding.rule)
                for finding in text_findings
            ]
    return spans


def _uncapitalised(text: str) -> str:
    """Turn a text in capitals into lower case: all of its words would look like names."""
    return text.lower() if text.isupper() and len(text.lower()) == len(text) else text


# ========================================================================================= finding


def find_targets(
    texts: Sequence[str],
    langs: Sequence[str],
    *,
    finder: Finder | None = None,
    listed: Iterable[str] = (),
) -> list[list[Target]]:
    """Find the words to be masked in each text.

    A word that is private once is masked at each of its occurrences in all texts, whatever its case
    or possessive ending; so is each word of a name of several words, except for function words.

    Parameters
    ----------
    texts : sequence of str
        Transcripts.
    langs : sequence of str
        The language of each.
    finder : Finder, optional
        Finds private words, such as :func:`detect_private`.
    listed : iterable of str, optional
        Words or phrases that are private wherever they occur.

    Returns
    -------
    list of list of Target
        For each text the words to be masked, longer targets last.

    >>> both = find_targets(["I met Ann of York", "York is ANN'S"], ["en"] * 2, listed=["Ann"])
    >>> [[(target.first, target.last) for target in targets] for targets in both]
    [[(2, 2)], [(2, 2)]]
    """
    tokens = [spoken_words(text) for text in texts]
    spans = finder(texts, langs) if finder else [()] * len(texts)
    detected = [touched_words(*pair) for pair in zip(tokens, spans, strict=True)]
    phrases = {_keys(spoken_words(phrase)): (LISTED, LIST_RULE) for phrase in listed}
    for words, targets in zip(tokens, detected, strict=True):
        for target in targets:
            keys = _keys(words[target.first : target.last + 1])
            _add_phrase(phrases, keys, (target.label, target.rule))
    phrases.pop((), None)
    return [
        _shortest_first([*targets, *_occurrences(words, phrases)])
        for words, targets in zip(tokens, detected, strict=True)
    ]


def touched_words(words: Sequence[Token], spans: Sequence[TextSpan]) -> list[Target]:
    """Return the words that private characters touch, if only in part.

    Parameters
    ----------
    words : sequence of Token
        The spoken words of a text.
    spans : sequence of TextSpan
        Private characters of it.
    """
    targets = []
    for start, end, label, rule in spans:
        touched = [i for i, word in enumerate(words) if word.start < end and start < word.end]
        if touched:
            targets.append(Target(touched[0], touched[-1], label, rule))
    return targets


def _keys(words: Sequence[Token]) -> tuple[str, ...]:
    return tuple(word_key(word.text) for word in words)


_Phrases = dict[tuple[str, ...], tuple[str, str]]
"""Label and rule of phrases, by the keys of their words."""


def _add_phrase(phrases: _Phrases, keys: tuple[str, ...], origin: tuple[str, str]) -> None:
    """Add a phrase and its words; those of a number or of a spelled run mean nothing alone."""
    phrases.setdefault(keys, origin)
    label, rule = origin
    if label in _NUMBERS or rule == SPELLED_RULE:
        return
    for key in keys:
        if key not in FUNCTION_WORDS and len(key) > 1:
            phrases.setdefault((key,), origin)


def _occurrences(words: Sequence[Token], phrases: _Phrases) -> list[Target]:
    """Find the phrases in a text; the parts of a word with hyphens count as words too."""
    keys = _keys(words)
    targets = [
        Target(start, start + size - 1, *phrases[keys[start : start + size]])
        for size in {len(phrase) for phrase in phrases}
        for start in range(len(keys) - size + 1)
        if keys[start : start + size] in phrases
    ]
    for index, key in enumerate(keys):
        parts = [part for part in key.replace("/", "-").split("-") if (part,) in phrases]
        if "-" in key and parts:
            targets.append(Target(index, index, *phrases[(parts[0],)]))
    return targets


def _shortest_first(targets: Iterable[Target]) -> list[Target]:
    """Sort so that the label of the longer target counts where two overlap."""
    distinct = dict.fromkeys(targets)
    return sorted(distinct, key=lambda target: (target.last - target.first, target.first))


# ======================================================================================= replacing


def replace_with(lang: str, secret: Secret, strategy: str = DEFAULT_STRATEGY) -> Replace:
    """Make a function that replaces private words by a strategy of the text anonymiser.

    Parameters
    ----------
    lang : str
        Language of the texts; with ``auto`` and ``multi`` it is decided sentence by sentence.
    secret : Secret
        Key of the draws.
    strategy : str, default "full"
        Name of a strategy. A person gets one new name per dialogue.
    """
    from sottovoce.anonymise.text.masked_text import Finding
    from sottovoce.anonymise.text.multilingual_detector import MIXED_LANGUAGES
    from sottovoce.anonymise.text.replacer import Replacer
    from sottovoce.anonymise.text.source_text import SourceText, language_at
    from sottovoce.anonymise.text.text_languages import DecidedLanguages

    lang = lang.lower().split("-")[0]
    replacer = Replacer(lang, strategy, secret, "document")
    dialogues = 0

    def replace(texts: Sequence[str], targets: Sequence[Sequence[Target]]) -> list[str]:
        nonlocal dialogues
        dialogues += 1
        dialogue = str(dialogues)
        private = [_entity_spans(*pair) for pair in zip(texts, targets, strict=True)]
        sources = [SourceText(text) for text in texts]
        mixed = lang in MIXED_LANGUAGES
        languages = list(DecidedLanguages(sources)) if mixed else [()] * len(texts)
        rows = list(zip(texts, private, languages, strict=True))
        for index, (text, spans, langs) in enumerate(rows):
            findings = [Finding(*span[:3], 1.0, span.rule) for span in spans]
            replacer.note_persons(text, findings, dialogue, str(index), langs)
        result = []
        for index, (text, spans, langs) in enumerate(rows):
            values = [
                replacer(
                    text[span.start : span.end],
                    span.label,
                    dialogue,
                    str(index),
                    language_at(langs, span.start),
                )
                for span in spans
            ]
            result.append(_substitute(text, spans, values))
        return result

    return replace


def _entity_spans(text: str, targets: Sequence[Target]) -> list[TextSpan]:
    """Return private words as characters; listed words become the entity type MISC."""
    return [
        span._replace(label="MISC") if span.label == LISTED else span
        for span in text_spans(text, targets)
    ]


def text_spans(text: str, targets: Sequence[Target]) -> list[TextSpan]:
    """Return private words as characters; consecutive words with the same label are one span.

    Parameters
    ----------
    text : str
        A transcript.
    targets : sequence of Target
        Its private words; where two overlap, the label of the later one counts.
    """
    words = spoken_words(text)
    by_word = {i: target for target in targets for i in range(target.first, target.last + 1)}
    spans: list[TextSpan] = []
    previous = -2
    for index in sorted(by_word):
        label, rule = by_word[index].label, by_word[index].rule
        if spans and index == previous + 1 and label == spans[-1].label:
            spans[-1] = spans[-1]._replace(end=words[index].end)
        else:
            spans.append(TextSpan(words[index].start, words[index].end, label, rule))
        previous = index
    return spans


def _substitute(text: str, spans: Sequence[TextSpan], values: Sequence[str | None]) -> str:
    result, position = "", 0
    for span, value in zip(spans, values, strict=True):
        if value is None:
            raise AssertionError("with probability 1 every private word is replaced")
        result += text[position : span.start] + value
        position = span.end
    return result + text[position:]
