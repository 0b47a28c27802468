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
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.core.records import Record
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import save_audio
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

Purpose = Literal["acoustic", "text"]


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


class AcousticRelease:
    """Secures the recordings of a corpus and writes them into a folder.

    Parameters
    ----------
    corpus : Corpus
        The recordings.
    folder : Path
        Where to write.
    secret : Secret
        Key of names and draws.
    settings : Settings
        How recordings are secured.
    method : VoiceAnonymiser, optional
        Changes the voices.
    observe : callable, optional
        Called with each secured recording.
    """

    def __init__(
        self,
        corpus: Corpus,
        folder: Path,
        secret: Secret,
        settings: Settings,
        method: VoiceAnonymiser | None,
        observe: Callable[[Secured], None] | None,
    ) -> None:
        self.corpus, self.folder, self.secret = corpus, folder, secret
        self.settings, self.method, self.observe = settings, method, observe
        self.rows: list[Utterance] = []
        self.withheld: list[LeftOut] = []
        self.spelled: list[Place] = []
        self.decided = DecisionCounts()
        self.seconds, self.words, self.spans, self.doubtful = 0.0, 0, 0, 0

    def write(
        self,
        recordings: Sequence[DecidedRecording],
        langs: Sequence[str],
        progress: Progress | None,
    ) -> Export:
        """Secure all recordings and write the manifest of those that may be released.

        Parameters
        ----------
        recordings : sequence of DecidedRecording
            What is masked in each.
        langs : sequence of str
            The language of each.
        progress : Progress, optional
            Called after each utterance.
        """
        inputs = zip(self.corpus, recordings, langs, strict=True)
        for count, (utterance, recording, lang) in enumerate(inputs, 1):
            try:
                self._write_utterance(utterance, recording, lang)
            except InputError as error:
                self.withheld.append(without_path(error, utterance))
            if progress:
                progress(count, len(self.corpus))
        self.rows.sort(key=lambda row: row.id)
        write_manifest(Corpus(self.folder.name, self.folder, tuple(self.rows)), self.folder)
        return Export(
            purpose="acoustic",
            utterances=len(self.corpus),
            files=len(self.rows),
            seconds=round(self.seconds, 3),
            masked_words=self.words,
            masked_spans=self.spans,
            withheld=tuple(self.withheld),
            decided=self.decided,
            doubtful_words=self.doubtful,
            spelled=tuple(self.spelled),
        )

    def _write_utterance(
        self, utterance: Utterance, recording: DecidedRecording, lang: str
    ) -> None:
        secured = secure(
            utterance,
            recording.targets,
            self.settings,
            secret=self.secret,
            method=self.method,
            lang=lang,
            stretches=recording.stretches,
        )
        decided = recording.decided
        secured = replace_fields(secured, decisions=decided.decisions)
        self.decided += count_decisions(decided.decisions, decided.stretches)
        if self.observe:
            self.observe(secured)
        self.spelled += spelled_in_release(secured)
        rate = secured.masked.rate
        self.words += sum(word is None for word in secured.masked.words)
        self.spans += len(secured.masked.spans)
        self.doubtful += secured.doubtful_words
        sliced = self.settings.seconds is not None
        speaker = UNKNOWN_SPEAKER if sliced else self._name("speaker", utterance.speaker)
        for number, piece in enumerate(pieces(secured, self.settings)):
            name = self._name("piece", utterance.speaker, utterance.id, str(number))
            path = self.folder / "audio" / f"{name}.flac"
            save_audio(path, piece.audio, rate)
            self.seconds += len(piece.audio) / rate
            self.rows.append(Utterance(name, path, speaker, language=lang, transcript=piece.text))

    def _name(self, *parts: str) -> str:
        return self.secret.digest("export", *parts).hex()[:16]


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
