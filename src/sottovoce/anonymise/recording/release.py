"""Write the files of an export: secured recordings with their manifest, or texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Literal

from sottovoce.anonymise.decisions import DecisionCounts, count_decisions
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.ledger import Name, dialogue_names
from sottovoce.anonymise.recording.missed_words import Place, spelled_in_release
from sottovoce.anonymise.recording.private_words import Replace
from sottovoce.anonymise.recording.review import DecidedRecording
from sottovoce.anonymise.recording.secure import Secured, Settings, pieces, secure
from sottovoce.anonymise.recording.slice import UNKNOWN_SPEAKER, LeftOut, without_path
from sottovoce.anonymise.recording.words import letter_runs, spoken_words
from sottovoce.anonymise.voice.method import VoiceAnonymiser
from sottovoce.core.engine import HERE, SPEECH_MEMORY, Engine
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.core.records import Record
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import save_audio
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

Purpose = Literal["acoustic", "text"]

GROUP = 4
"""Recordings that a worker of a cluster gets together."""


@dataclass(frozen=True, slots=True)
class Export(Record):
    """Counts of an export."""

    purpose: Purpose
    utterances: int
    """Utterances of the corpus."""
    files: int
    """Recordings, pieces or texts that were written."""
    seconds: float
    """Length of all recordings that were written."""
    masked_words: int
    masked_spans: int
    withheld: tuple[LeftOut, ...]
    """Utterances that are not released."""
    decided: DecisionCounts = field(default_factory=DecisionCounts)
    """Who decided what is masked in the released recordings."""
    doubtful_words: int = 0
    """Masked words that are not private for all we know, but not surely what the text says."""
    spelled: tuple[Place, ...] = ()
    """Letters in a row in the released texts: somebody may have spelled a private word."""


# ======================================================================================== acoustic


@dataclass(frozen=True, slots=True)
class RecordingWork:
    """A recording that is to be secured."""

    utterance: Utterance
    recording: DecidedRecording
    """What is masked in it."""
    lang: str


@dataclass(frozen=True, slots=True)
class ReleasedRecording:
    """What was written of a recording."""

    rows: tuple[Utterance, ...]
    """The recording or its pieces, as the manifest lists them."""
    seconds: tuple[float, ...]
    """Their lengths."""
    words: int
    spans: int
    doubtful: int
    spelled: tuple[Place, ...]
    secured: Secured | None
    """The recording itself, if it is to be observed."""


@dataclass(frozen=True, slots=True)
class SecureRecording:
    """Secures a recording and writes it, on any worker."""

    folder: Path
    secret: Secret
    settings: Settings
    method: VoiceAnonymiser | None
    """Fitted."""
    observed: bool
    """Whether the secured recording is returned too."""

    def __call__(self, work: RecordingWork) -> ReleasedRecording | LeftOut:
        """Return what was written, or why the recording is withheld.

        Parameters
        ----------
        work : RecordingWork
            The recording.
        """
        try:
            return self._write(work)
        except InputError as error:
            return without_path(error, work.utterance)

    def _write(self, work: RecordingWork) -> ReleasedRecording:
        utterance = work.utterance
        secured = secure(
            utterance,
            work.recording.targets,
            self.settings,
            secret=self.secret,
            method=self.method,
            lang=work.lang,
            stretches=work.recording.stretches,
        )
        secured = replace_fields(secured, decisions=work.recording.decided.decisions)
        rate = secured.masked.rate
        sliced = self.settings.seconds is not None
        speaker = UNKNOWN_SPEAKER if sliced else self._name("speaker", utterance.speaker)
        rows, seconds = [], []
        for number, piece in enumerate(pieces(secured, self.settings)):
            name = self._name("piece", utterance.speaker, utterance.id, str(number))
            path = self.folder / "audio" / f"{name}.flac"
            save_audio(path, piece.audio, rate)
            seconds.append(len(piece.audio) / rate)
            rows.append(Utterance(name, path, speaker, language=work.lang, transcript=piece.text))
        return ReleasedRecording(
            tuple(rows),
            tuple(seconds),
            sum(word is None for word in secured.masked.words),
            len(secured.masked.spans),
            secured.doubtful_words,
            tuple(spelled_in_release(secured)),
            secured if self.observed else None,
        )

    def _name(self, *parts: str) -> str:
        return self.secret.digest("export", *parts).hex()[:16]


def write_recordings(
    corpus: Corpus,
    recordings: Sequence[DecidedRecording],
    langs: Sequence[str],
    work: SecureRecording,
    *,
    engine: Engine = HERE,
    observe: Callable[[Secured], None] | None = None,
    progress: Progress | None = None,
) -> Export:
    """Secure all recordings and write the manifest of those that may be released.

    Parameters
    ----------
    corpus : Corpus
        The recordings.
    recordings : sequence of DecidedRecording
        What is masked in each.
    langs : sequence of str
        The language of each.
    work : SecureRecording
        Secures a recording and writes it.
    engine : Engine, optional
        What secures recordings; default this thread.
    observe : callable, optional
        Called with each secured recording, in the order of the corpus.
    progress : Progress, optional
        Called after each utterance.
    """
    rows: list[Utterance] = []
    withheld: list[LeftOut] = []
    spelled: list[Place] = []
    decided = DecisionCounts()
    seconds, words, spans, doubtful = 0.0, 0, 0, 0
    items = map(RecordingWork, corpus, recordings, langs)
    results = engine.map(work, items, label="securing", group=GROUP, memory=SPEECH_MEMORY)
    for count, (item, released) in enumerate(results, 1):
        if isinstance(released, LeftOut):
            withheld.append(released)
        else:
            decisions = item.recording.decided
            decided += count_decisions(decisions.decisions, decisions.stretches)
            if observe and released.secured is not None:
                observe(released.secured)
            rows += released.rows
            spelled += released.spelled
            for length in released.seconds:
                seconds += length
            words, spans = words + released.words, spans + released.spans
            doubtful += released.doubtful
        if progress:
            progress(count, len(corpus))
    rows.sort(key=lambda row: row.id)
    write_manifest(Corpus(work.folder.name, work.folder, tuple(rows)), work.folder)
    return Export(
        purpose="acoustic",
        utterances=len(corpus),
        files=len(rows),
        seconds=round(seconds, 3),
        masked_words=words,
        masked_spans=spans,
        withheld=tuple(withheld),
        decided=decided,
        doubtful_words=doubtful,
        spelled=tuple(spelled),
    )


# ============================================================================================ text


def write_texts(
    corpus: Corpus,
    folder: Path,
    secret: Secret,
    recordings: Sequence[DecidedRecording],
    replace: Replace,
) -> Export:
    """Write ``texts.jsonl``: the texts of a dialogue in order, the dialogues shuffled.

    Parameters
    ----------
    corpus : Corpus
        Utterances with transcripts.
    folder : Path
        Where to write.
    secret : Secret
        Key of names and order.
    recordings : sequence of DecidedRecording
        What is replaced in each text.
    replace : Replace
        Replaces private words.
    """
    indices_by_dialogue: dict[Name, list[int]] = {}
    for index, utterance in enumerate(corpus):
        indices_by_dialogue.setdefault(dialogue_names(utterance)[0], []).append(index)
    lines, spelled = [], list[Place]()
    for name, indices in indices_by_dialogue.items():
        transcripts = [corpus.utterances[index].transcript for index in indices]
        texts = replace(transcripts, [recordings[index].targets for index in indices])
        spelled += [
            Place(corpus.utterances[index].id, None, None, "letters")
            for index, text in zip(indices, texts, strict=True)
            if letter_runs([word.text for word in spoken_words(text)])
        ]
        new_name = secret.digest("export", "dialogue", name.kind, *name.parts).hex()[:16]
        lines.append(json.dumps({"dialogue": new_name, "texts": list(texts)}, ensure_ascii=False))
    write_text(folder / "texts.jsonl", "".join(f"{line}\n" for line in sorted(lines)))
    words = sum(
        len({i for target in recording.targets for i in range(target.first, target.last + 1)})
        for recording in recordings
    )
    return Export(
        purpose="text",
        utterances=len(corpus),
        files=len(corpus),
        seconds=0.0,
        masked_words=words,
        masked_spans=sum(len(recording.targets) for recording in recordings),
        withheld=(),
        decided=count_decisions(d for r in recordings for d in r.decided.decisions),
        spelled=tuple(spelled),
    )
