"""Tagged sentences: CoNLL files, and entities from tags.

One word per line with its tag in the second column (IOB2: ``B-PER`` begins an entity, ``I-PER``
continues it, ``O`` is outside), columns separated by tabs or blanks, an empty line after a
sentence. Files may be compressed with xz.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists

Span = tuple[int, int, str]
"""An entity: first word, the word after the last, type."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and their IOB2 tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def spans(self) -> list[Span]:
        """The entities."""
        return spans_of(self.tags)


def spans_of(tags: Sequence[str]) -> list[Span]:
    """Return the entities of IOB2 tags; a stray ``I-`` begins one, as in the CoNLL scorer.

    Parameters
    ----------
    tags : sequence of str
        The tags of a sentence.

    Examples
    --------
    >>> spans_of(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'LOC')]
    """
    spans: list[Span] = []
    start, kind = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        if kind and tag != f"I-{kind}":
            spans.append((start, i, kind))
            kind = ""
        if not kind and tag != "O":
            start, kind = i, tag[2:]
    return spans


def asr_view(sentence: Sentence) -> Sentence:
    """Rewrite a sentence as a recogniser would: lower case, no punctuation; words keep their tags.

    Parameters
    ----------
    sentence : Sentence
        The sentence as it is written.

    Examples
    --------
    >>> asr_view(Sentence(("Hi", ",", "Ann", "!"), ("O", "O", "B-PER", "O"))).words
    ('hi', 'ann')
    """
    words: list[str] = []
    tags: list[str] = []
    open_kind = ""
    for word, tag in zip(sentence.words, sentence.tags, strict=True):
        bare = bare_word(word)
        if tag[:2] == "B-":
            open_kind = ""
        if bare:
            if tag[:2] == "I-" and open_kind != tag[2:]:
                tag = f"B-{tag[2:]}"
            words.append(bare)
            tags.append(tag)
            open_kind = tag[2:]
    return Sentence(tuple(words), tuple(tags))


def bare_word(word: str) -> str:
    """Return a word in lower case without punctuation around it; nothing of punctuation alone.

    Parameters
    ----------
    word : str
        The word as it is written.
    """
    if word.isalnum():
        return word.lower()
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while end > start and not word[end - 1].isalnum():
        end -= 1
    return word[start:end].lower()


def read_conll(path: Path) -> list[Sentence]:
    """Read all sentences of a file.

    Parameters
    ----------
    path : Path
        A CoNLL file in UTF-8; one that ends in ``.xz`` is decompressed.

    Raises
    ------
    InputError
        ``bad-line`` for a line without a tag, ``empty`` if there is no sentence.
    """
    sentences: list[Sentence] = []
    words: list[str] = []
    tags: list[str] = []
    for number, line in enumerate([*_read_text(path).split("\n"), ""], 1):
        columns = line.split("\t") if "\t" in line else line.split()
        if not line.strip():
            if words:
                sentences.append(Sentence(tuple(words), tuple(tags)))
            words, tags = [], []
        elif len(columns) < 2 or not _is_tag(columns[1].strip()):
            raise InputError(
                f"{path}:{number}: not 'word TAB tag' with a tag like B-PER or O", code="bad-line"
            )
        else:
            words.append(columns[0].strip())
            tags.append(columns[1].strip())
    if not sentences:
        raise InputError(
            f"{path}: no sentence in it; write one word per line with its tag", code="empty"
        )
    return sentences


def _read_text(path: Path) -> str:
    check_exists(path)
    try:
        data = path.read_bytes()
        return (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
    except (lzma.LZMAError, UnicodeDecodeError):
        raise InputError(
            f"{path}: neither UTF-8 text nor such text in xz; convert it", code="not-utf8"
        ) from None


def _is_tag(tag: str) -> bool:
    return tag == "O" or (tag[:2] in ("B-", "I-") and len(tag) > 2)


def format_conll(sentences: Sequence[Sentence]) -> str:
    """Return sentences as the text of a CoNLL file.

    Parameters
    ----------
    sentences : sequence of Sentence
        The sentences.
    """
    return "".join(
        "".join(f"{word}\t{tag}\n" for word, tag in zip(s.words, s.tags, strict=True)) + "\n"
        for s in sentences
    )
