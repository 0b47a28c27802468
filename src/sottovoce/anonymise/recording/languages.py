"""Languages of recordings, by their transcripts."""

from __future__ import annotations

from collections.abc import Sequence


def transcript_languages(texts: Sequence[str], langs: Sequence[str]) -> list[str]:
    """Return the language of each transcript; ``auto`` and ``multi`` are decided by its words.

    Parameters
    ----------
    texts : sequence of str
        Transcripts in order; a short one takes the language of its neighbours.
    langs : sequence of str
        Language codes, ``auto`` or ``multi``.

    Examples
    --------
    >>> transcript_languages(["bitte ruf mich morgen an", "ja", "hello"], ["auto", "auto", "en"])
    ['de', 'de', 'en']
    """
    from sottovoce.anonymise.text.multilingual_detector import MIXED_LANGUAGES
    from sottovoce.anonymise.text.source_text import SourceText
    from sottovoce.anonymise.text.text_languages import DecidedLanguages

    open_cases = [i for i, lang in enumerate(langs) if lang in MIXED_LANGUAGES]
    decided = list(langs)
    spans = DecidedLanguages(SourceText(texts[i]) for i in open_cases) if open_cases else ()
    for i, text_spans in zip(open_cases, spans, strict=True):
        ends = (0, *(min(span.end, len(texts[i])) for span in text_spans))
        longest = max(range(len(text_spans)), key=lambda k: ends[k + 1] - ends[k])
        decided[i] = text_spans[longest].candidates[0]
    return decided
