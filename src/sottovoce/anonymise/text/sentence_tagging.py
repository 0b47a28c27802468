"""Tagging the sentences of texts, each sentence once."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.anonymise.text.document_names import SURE
from sottovoce.anonymise.text.entities import Entity
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.number_names import is_number_label
from sottovoce.anonymise.text.taggers import Tagger
from sottovoce.anonymise.text.tokens import HIDDEN, is_asr_output, sentences

REMEMBERED = 8_000
"""Sentences that are remembered, at most."""

Words = tuple[str, ...]


class SentenceMemory:
    """Sentences that taggers have seen, with the entities they found.

    A document is searched several times, and most of its sentences do not change in between. The
    memory is bounded: when it is full, it is emptied.
    """

    def __init__(self) -> None:
        self._entities: dict[str, dict[Words, list[Entity]]] = {}

    def unknown(self, wanted: Sequence[Words], lang: str) -> list[Words]:
        """Return the sentences that are not remembered, each once.

        Parameters
        ----------
        wanted : sequence of tuple of str
            Sentences.
        lang : str
            Language as which they are tagged.
        """
        if sum(map(len, self._entities.values())) > REMEMBERED:
            self._entities.clear()
        known = self._entities.setdefault(lang, {})
        return list(dict.fromkeys(words for words in wanted if words not in known))

    def add(self, words: Words, lang: str, entities: list[Entity]) -> None:
        """Remember what one of several taggers found in a sentence.

        Parameters
        ----------
        words : tuple of str
            The sentence.
        lang : str
            Language as which it was tagged.
        entities : list of Entity
            What was found in it.
        """
        self._entities[lang].setdefault(words, []).extend(entities)

    def entities(self, words: Words, lang: str) -> list[Entity]:
        """Return what was found in a sentence.

        Parameters
        ----------
        words : tuple of str
            The sentence.
        lang : str
            Language as which it was tagged.
        """
        return self._entities[lang].get(words, [])


def tag_texts(
    texts: Sequence[Sequence[str]],
    taggers: Sequence[Tagger],
    lang: str,
    tau: float,
    memory: SentenceMemory,
) -> list[list[Entity]]:
    """Return what the taggers find in each text.

    Parameters
    ----------
    texts : sequence of sequences of str
        Words of each text.
    taggers : sequence of Tagger
        All of them are asked.
    lang : str
        Language code.
    tau : float
        A word is private if a tagger's P(O) is below this.
    memory : SentenceMemory
        Sentences in it are not tagged again; new ones are added.
    """
    uncased = [is_asr_output([w for w in words if w != HIDDEN]) for words in texts]
    cuts = [(i, *cut) for i, words in enumerate(texts) for cut in sentences(words)]
    forms = [
        tuple([w.lower() for w in texts[i][a:b]] if uncased[i] else texts[i][a:b])
        for i, a, b in cuts
    ]
    new = memory.unknown(forms, lang)
    for tagger in taggers:
        for words, entities in zip(new, tagger.tag(new, tau), strict=True):
            kept = [e for e in entities if not is_number_label(words, e)]
            if tagger.info.mistakes_sentence_starts:
                kept = [e for e in kept if not _is_mere_start(words, e, lang)]
            memory.add(words, lang, kept)
    by_text: list[list[Entity]] = [[] for _ in texts]
    for (i, a, _), words in zip(cuts, forms, strict=True):
        by_text[i] += [
            e._replace(start=e.start + a, end=e.end + a) for e in memory.entities(words, lang)
        ]
    return by_text


def _is_mere_start(words: Sequence[str], entity: Entity, lang: str) -> bool:
    """Tell whether a common word looks like a name only because it begins a sentence."""
    if entity.length > 1 or entity.score >= SURE:
        return False
    known, core = lexicon(lang), words[entity.start].casefold()
    first = not any(before[:1].isalnum() for before in words[: entity.start])
    may_be_name = known.name_kind(core) or (core,) in known.places
    return first and known.is_common(core) and not may_be_name
