"""A text strategy: every private word becomes a blank to fill in."""

from sottovoce.anonymise.text import Mention, ReplacementContext, TextStrategy


def blanks(mention: Mention, context: ReplacementContext) -> str:
    """Return one blank a word; blanks have one length, so that they do not tell the word's."""
    return " ".join("____" for _ in mention.original.split())


BLANKS = TextStrategy("a blank for every private word", blanks)
