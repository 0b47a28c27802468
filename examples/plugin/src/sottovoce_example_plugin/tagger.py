"""A tagger: the word after a title is a person's name."""

from collections.abc import Sequence

from sottovoce.anonymise.text import Entity, TaggerInfo, TaggerType

TITLE_WORDS = frozenset({"captain", "nurse", "professor", "señor", "herr", "frau", "madame"})


class TitleTagger:
    """Finds names by the titles before them. It has no probabilities, so it ignores τ."""

    info = TaggerInfo("titles", frozenset({"PER"}))

    def tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Return one entity for each word that follows a title."""
        return [
            [
                Entity(i, i + 1, "PER", 1.0, self.info.rule)
                for i in range(1, len(words))
                if words[i - 1].casefold().strip(".,") in TITLE_WORDS
            ]
            for words in sentences
        ]


TITLES = TaggerType("names after titles", lambda argument, lang: TitleTagger())
