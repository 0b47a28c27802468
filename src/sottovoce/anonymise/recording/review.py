"""What is masked in recordings: the proposals of rules and models, and a person's decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sottovoce.anonymise.decisions import (
    Decision,
    Decisions,
    DocumentDecisions,
    StretchDecision,
    text_digest,
)
from sottovoce.anonymise.recording.mask import Stretch, Target
from sottovoce.anonymise.recording.private_words import (
    Finder,
    TextSpan,
    find_targets,
    text_spans,
    touched_words,
)
from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.corpus.utterance import Corpus


@dataclass(frozen=True, slots=True)
class DecidedRecording:
    """What is masked in a recording, and who decided that."""

    decided: DocumentDecisions
    targets: tuple[Target, ...]
    """Words of the transcript to be masked."""

    @property
    def stretches(self) -> list[Stretch]:
        """Sound to be masked whatever its words are."""
        return [Stretch(each.start, each.end, each.kind) for each in self.decided.stretches]


def decide_recordings(
    ids: Sequence[str],
    texts: Sequence[str],
    langs: Sequence[str],
    *,
    finder: Finder | None = None,
    listed: Iterable[str] = (),
    decisions: Decisions | None = None,
) -> list[DecidedRecording]:
    """Decide what is masked in recordings.

    Parameters
    ----------
    ids, texts, langs : sequence of str
        Ids, transcripts and languages of the recordings.
    finder : Finder, optional
        Finds private words.
    listed : iterable of str, optional
        Words or phrases that are private wherever they occur.
    decisions : Decisions, optional
        What was decided in a review of these recordings.

    Raises
    ------
    InputError
        ``mismatch`` or ``changed-text`` if the decisions are on other transcripts.
    """
    from sottovoce.anonymise.text.masked_text import Finding
    from sottovoce.anonymise.text.review import Review, propose
    from sottovoce.anonymise.text.source_text import SourceText

    sources = [SourceText(text, id=name) for name, text in zip(ids, texts, strict=True)]
    review = None if decisions is None else Review.of(sources, decisions)
    all_targets = find_targets(texts, langs, finder=finder, listed=listed)
    recordings = []
    for index, (name, text, targets) in enumerate(zip(ids, texts, all_targets, strict=True)):
        spans = text_spans(text, targets)
        proposed = [Finding(*span[:3], 1.0, span.rule) for span in spans]
        document = review.document(index) if review else None
        decided = review.decide(index, text, proposed) if review else propose(proposed)
        stretches: tuple[StretchDecision, ...] = document.stretches if document else ()
        recordings.append(
            DecidedRecording(
                DocumentDecisions(name, text_digest(text), decided, stretches),
                tuple(_targets(text, decided)) if review else tuple(targets),
            )
        )
    return recordings


def _targets(text: str, decisions: Iterable[Decision]) -> list[Target]:
    spans = [
        TextSpan(decision.start, decision.end, decision.kind, decision.rule)
        for decision in decisions
        if decision.mask
    ]
    return touched_words(spoken_words(text), spans)


def propose_decisions(
    corpus: Corpus,
    *,
    finder: Finder | None = None,
    listed: Iterable[str] = (),
    lang: str = "en",
    decisions: Decisions | None = None,
) -> Decisions:
    """Return what would be masked in the recordings of a corpus, for a review.

    Parameters
    ----------
    corpus : Corpus
        Every utterance has a transcript.
    finder : Finder, optional
        Finds private words.
    listed : iterable of str, optional
        Words or phrases that are private wherever they occur.
    lang : str, default "en"
        Language of utterances for which the corpus has none.
    decisions : Decisions, optional
        What was decided in an earlier review.
    """
    recordings = decide_recordings(
        [utterance.id for utterance in corpus],
        [utterance.transcript for utterance in corpus],
        [utterance.language or lang for utterance in corpus],
        finder=finder,
        listed=listed,
        decisions=decisions,
    )
    return Decisions(tuple(recording.decided for recording in recordings))
