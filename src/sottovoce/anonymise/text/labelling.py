r"""A sample of sentences that a person labels, to measure the leak on text of their own.

Sentences are drawn by a key, so that nobody chooses them, and written to a file that can be edited
in any editor or filled in question by question::

    = Call [PER Ann Lee] in [LOC Rome].
    ? Meet me at [TIME nine pm].

``=`` begins a sentence that a person has checked, ``?`` one that shows the program's proposal.
Private words stand in brackets after their type; a bracket of the text itself is ``\[`` or ``\]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.entities import TYPES
from sottovoce.anonymise.text.multilingual_detector import AnyDetector
from sottovoce.anonymise.text.tokens import sentences, tokenise
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import check_exists
from sottovoce.corpus.reading import read_text

HEADER = "# sottovoce labels 1"
CHECKED, PROPOSED = "=", "?"
_REMOVE = "-"
_ESCAPED = re.compile(r"([\\\[\]])")
_PIECE = re.compile(
    r"\\(?P<literal>.)|\[(?P<kind>[A-Z]+) |(?P<close>\])|(?P<stray>[\[\\])|(?P<text>[^\\\[\]]+)"
)


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """Private characters ``text[start:end]`` of a sentence."""

    start: int
    end: int
    kind: str
    """Entity type, such as ``PER``."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A sentence with its private spans, proposed or checked by a person."""

    text: str
    spans: tuple[LabelledSpan, ...]
    checked: bool

    def markup(self) -> str:
        """Return the sentence with its private words in brackets.

        Examples
        --------
        >>> LabelledText("call ann", (LabelledSpan(5, 8, "PER"),), False).markup()
        'call [PER ann]'
        """
        pieces, done = [], 0
        for span in self.spans:
            private = _escape(self.text[span.start : span.end])
            pieces += [_escape(self.text[done : span.start]), f"[{span.kind} {private}]"]
            done = span.end
        return "".join(pieces) + _escape(self.text[done:])

    def to_sentence(self) -> Sentence:
        """Return words with IOB2 tags; a word is private if any of its characters is."""
        tokens = tokenise(self.text)
        tags = ["O"] * len(tokens)
        for span in self.spans:
            inside = [
                i
                for i, token in enumerate(tokens)
                if token.start < span.end and span.start < token.end
            ]
            for i in inside:
                tags[i] = f"{'I' if i > inside[0] else 'B'}-{span.kind}"
        return Sentence(tuple(token.text for token in tokens), tuple(tags))


def parse_markup(line: str, *, checked: bool = True) -> LabelledText:
    r"""Read a sentence with brackets.

    Parameters
    ----------
    line : str
        The sentence, such as ``call [PER ann]``.
    checked : bool, default True
        Whether a person has checked it.

    Raises
    ------
    InputError
        ``bad-label`` for brackets that do not match, nested ones or an unknown type.

    Examples
    --------
    >>> parse_markup(r"call [PER ann] \[sic\]").text
    'call ann [sic]'
    """
    pieces: list[str] = []
    spans: list[LabelledSpan] = []
    opened: tuple[int, str] | None = None
    length = 0
    for match in _PIECE.finditer(line):
        if kind := match["kind"]:
            if opened is not None or kind not in TYPES:
                raise _bad_label(line)
            opened = length, kind
        elif match["close"]:
            if opened is None or opened[0] == length:
                raise _bad_label(line)
            spans.append(LabelledSpan(opened[0], length, opened[1]))
            opened = None
        elif match["stray"]:
            raise _bad_label(line)
        else:
            piece = match["literal"] or match["text"]
            pieces.append(piece)
            length += len(piece)
    if opened is not None:
        raise _bad_label(line)
    return LabelledText("".join(pieces), tuple(spans), checked)


def _bad_label(line: str) -> InputError:
    """Name the rule, not the words: they are private."""
    return InputError(
        f"a line with {line.count('[')} opening and {line.count(']')} closing brackets cannot be "
        f"read; write [TYPE words] with a type of {', '.join(TYPES)}, and \\[ for a bracket of the "
        "text itself",
        code="bad-label",
    )


def _escape(text: str) -> str:
    return _ESCAPED.sub(r"\\\1", text)


def draw_sentences(texts: Iterable[str], count: int, secret: Secret) -> list[str]:
    """Draw sentences by a key, each with the same probability.

    Parameters
    ----------
    texts : iterable of str
        The texts; they are cut into sentences.
    count : int
        Sentences to draw; all of them if there are fewer.
    secret : Secret
        Decides which ones; the same secret draws the same sentences.

    Raises
    ------
    TooFewError
        If no text has a word.
    """
    cut = [sentence for text in texts for sentence in _cut(text)]
    if not cut:
        raise TooFewError("no sentence in the text; name a file with words")
    order = sorted(range(len(cut)), key=lambda i: secret.digest("label", str(i), cut[i]))
    return [cut[i] for i in sorted(order[:count])]


def _cut(text: str) -> list[str]:
    """Cut a text into sentences that have a letter, with their white space in one line."""
    tokens = tokenise(text)
    parts = [
        " ".join(text[tokens[a].start : tokens[b - 1].end].split())
        for a, b in sentences([token.text for token in tokens])
    ]
    return [part for part in parts if any(map(str.isalpha, part))]


def propose_labels(drawn: Sequence[str], detector: AnyDetector) -> list[LabelledText]:
    """Label sentences as the program would mask them.

    Parameters
    ----------
    drawn : sequence of str
        The sentences; each is a document of its own.
    detector : AnyDetector
        Finds what is private.
    """
    findings = detector.find(drawn, [str(i) for i in range(len(drawn))])
    return [
        LabelledText(
            text, tuple(LabelledSpan(f.start, f.end, f.kind) for f in text_findings), checked=False
        )
        for text, text_findings in zip(drawn, findings, strict=True)
    ]


def format_labels(labels: Sequence[LabelledText], lang: str) -> str:
    """Return the text of a file of labels.

    Parameters
    ----------
    labels : sequence of LabelledText
        The sentences.
    lang : str
        Language code, for the heading.
    """
    heading = [
        f"{HEADER}, language {lang}. It has private words: do not release this file.",
        "# Put all private words in brackets with their type: Call [PER Ann Lee] in [LOC Rome].",
        f"# Types: {' '.join(TYPES)}. Take wrong brackets away. \\[ is a bracket of the text.",
        "# When a line is right, change ? at its beginning to =. Then: --evaluate with this file.",
    ]
    rows = [f"{CHECKED if row.checked else PROPOSED} {row.markup()}" for row in labels]
    return "\n".join([*heading, *rows]) + "\n"


def is_label_file(path: Path) -> bool:
    """Tell whether a file begins like a file of labels.

    Parameters
    ----------
    path : Path
        Any file.
    """
    check_exists(path)
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER.encode()


def read_labels(path: Path) -> list[LabelledText]:
    """Read a file of labels.

    Parameters
    ----------
    path : Path
        A file that :func:`format_labels` wrote and a person has edited.

    Raises
    ------
    InputError
        ``bad-label`` with the line, ``not-utf8``, or ``not-labels`` for another file.
    """
    lines = read_text(path).splitlines()
    if not lines or not lines[0].startswith(HEADER):
        raise InputError(f"{path}: not a file of labels; --label writes one", code="not-labels")
    labels = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        mark, _, markup = line.partition(" ")
        if mark not in (CHECKED, PROPOSED):
            raise InputError(
                f"{path}:{number}: begin the line with = (checked) or ? and a blank",
                code="bad-label",
            )
        try:
            labels.append(parse_markup(markup, checked=mark == CHECKED))
        except InputError as error:
            raise InputError(f"{path}:{number}: {error}", code="bad-label") from None
    return labels


def checked_sentences(labels: Sequence[LabelledText]) -> list[Sentence]:
    """Return the sentences that a person has checked, with tags.

    Parameters
    ----------
    labels : sequence of LabelledText
        All sentences of the file.

    Raises
    ------
    TooFewError
        If none was checked.
    """
    checked = [row.to_sentence() for row in labels if row.checked]
    if not checked:
        raise TooFewError("no line was checked; change ? to = where the brackets are right")
    return checked


def apply_reply(row: LabelledText, reply: str) -> LabelledText:
    """Apply what a person has typed about a sentence.

    Parameters
    ----------
    row : LabelledText
        The sentence with its present labels.
    reply : str
        Nothing if the labels are right; ``TYPE words`` to make words private wherever they occur in
        the sentence; ``- words`` to take brackets away from words.

    Returns
    -------
    LabelledText
        The sentence, checked if the labels are right.

    Raises
    ------
    InputError
        ``bad-label`` for an unknown type, or words that are not in the sentence.

    Examples
    --------
    >>> row = parse_markup("call [LOC ann] lee", checked=False)
    >>> apply_reply(row, "PER ann lee").markup()
    'call [PER ann lee]'
    """
    if not reply.strip():
        return replace(row, checked=True)
    kind, _, words = reply.strip().partition(" ")
    if kind != _REMOVE and kind.upper() not in TYPES:
        raise InputError(
            f"write TYPE and words, e.g. PER ann; types are {', '.join(TYPES)}", code="bad-label"
        )
    places = _occurrences(row.text, words)
    if not places:
        raise InputError("these words are not in the sentence; copy them", code="bad-label")
    kept = [
        span
        for span in row.spans
        if not any(span.start < end and start < span.end for start, end in places)
    ]
    added = [] if kind == _REMOVE else [LabelledSpan(*place, kind.upper()) for place in places]
    return replace(row, spans=tuple(sorted([*kept, *added], key=lambda span: span.start)))


def _occurrences(text: str, words: str) -> list[tuple[int, int]]:
    """Return where whole words occur in a text, whatever their case and white space."""
    pieces = [re.escape(word) for word in words.split()]
    if not pieces:
        return []
    pattern = re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)", re.IGNORECASE)
    return [match.span() for match in pattern.finditer(text)]
