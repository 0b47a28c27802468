"""Remove the masked words of a recording from its transcript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sottovoce.anonymise.recording.mask import MaskedSpan
from sottovoce.anonymise.recording.words import Token


def mask_text(
    text: str, tokens: Sequence[Token], spans: Iterable[MaskedSpan], *, typed: bool
) -> str:
    """Remove the masked words from a text, or replace them by their labels.

    Parameters
    ----------
    text : str
        The transcript.
    tokens : sequence of Token
        The spoken words of the text, to which the spans refer.
    spans : iterable of MaskedSpan
        What was masked, in order.
    typed : bool
        Leave labels such as ``<PER>`` in the place of masked words.

    >>> from sottovoce.anonymise.recording.words import spoken_words
    >>> text = "I am Ann Lee, from Bonn."
    >>> ann = MaskedSpan(2, 3, ("PER",), (0, 0), (0, 0))
    >>> bonn = MaskedSpan(5, 5, ("LOC",), (0, 0), (0, 0))
    >>> mask_text(text, spoken_words(text), [ann, bonn], typed=True)
    'I am <PER>, from <LOC>.'
    >>> mask_text(text, spoken_words(text), [ann, bonn], typed=False)
    'I am, from.'
    """
    result, position = "", 0
    for span in spans:
        if span.first > span.last:  # a stretch of sound without a word of the text
            continue
        between = text[position : tokens[span.first].start]
        result += between + span_label(span) if typed else between.rstrip()
        position = tokens[span.last].end
    return (result + text[position:]).strip()


def span_label(span: MaskedSpan) -> str:
    """Return the placeholder of a masked span in a typed text, such as ``<PER>``.

    Parameters
    ----------
    span : MaskedSpan
        Several labels are joined with ``+``; without any the span is ``<PRIVATE>``.
    """
    return f"<{'+'.join(span.labels) or 'PRIVATE'}>"
