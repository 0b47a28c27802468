"""Export the recordings or the texts of a corpus for one purpose.

``acoustic`` is for training acoustic models: secured speech, and its text without the private
words. ``text`` is for language models and the like: texts with the private words replaced, no
sound. A dialogue can be exported for one of the two only (see
:mod:`~sottovoce.anonymise.recording.ledger`).

The names of the files, and so their order, depend on the secret. The utterances that are withheld
are listed beside the export, not in it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from sottovoce import __version__
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.ledger import (
    Dialogue,
    Fingerprints,
    Ledger,
    Name,
    dialogue_names,
)
from sottovoce.anonymise.recording.mask import Target
from sottovoce.anonymise.recording.missed_words import Place, spelled_in_release
from sottovoce.anonymise.recording.private_words import (
    Finder,
    Replace,
    find_targets,
    replace_with,
)
from sottovoce.anonymise.recording.secure import (
    Secured,
    Settings,
    carries_times,
    pieces,
    secure,
)
from sottovoce.anonymise.recording.slice import UNKNOWN_SPEAKER, LeftOut, without_path
from sottovoce.anonymise.recording.words import letter_runs, spoken_words
from sottovoce.anonymise.voice.method import VoiceAnonymiser
from sottovoce.core.atomic_directory import (
    atomic_directory,
    delete_on_failure,
    refuse_inside,
    remove_leftovers,
)
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.records import JsonObject, Record
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import load_native, save_audio
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

Purpose = Literal["acoustic", "text"]

RECORD = "export.json"
"""File with the settings and the counts of an export."""


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
    doubtful_words: int = 0
    """Masked words that are not private for all we know, but not surely what the text says."""
    spelled: tuple[Place, ...] = ()
    """Letters in a row in the released texts: somebody may have spelled a private word."""


def export_corpus(
    corpus: Corpus,
    target: Path,
    *,
    purpose: Purpose,
    secret: Secret,
    settings: Settings,
    finder: Finder | None = None,
    listed: Sequence[str] = (),
    method: VoiceAnonymiser | None = None,
    replace: Replace | None = None,
    lang: str = "en",
    ledger: Ledger | None = None,
    observe: Callable[[Secured], None] | None = None,
    finish: Callable[[Export], None] | None = None,
    progress: Progress | None = None,
) -> Export:
    """Write an export into a new folder.

    Parameters
    ----------
    corpus : Corpus
        Every utterance has a transcript.
    target : Path
        The new folder.
    purpose : {"acoustic", "text"}
        What is exported: secured speech, or texts.
    secret : Secret
        Key of names, order and draws.
    settings : Settings
        How recordings are secured.
    finder : Finder, optional
        Finds private words.
    listed : sequence of str, optional
        Words and phrases to be masked wherever they occur.
    method : VoiceAnonymiser, optional
        Changes the voices; by default they stay.
    replace : Replace, optional
        Replaces private words in texts; by default with the strategy ``full``.
    lang : str, default "en"
        Language of utterances for which the corpus has none.
    ledger : Ledger, optional
        Refuses dialogues that were exported in another form. Without it the export is marked as not
        to be given away.
    observe : callable, optional
        Called with each secured recording.
    finish : callable, optional
        Called with the counts when all is written and before the export appears as ``target``. If
        it raises an error, nothing is left of the export.
    progress : Progress, optional
        Called after each utterance.

    Raises
    ------
    AlreadyExportedError
        If the ledger refuses a dialogue.
    InputError
        ``empty`` if there is nothing to mask, ``missing-transcript``, ``exists``, ``nested``, or
        ``withheld`` if no recording can be released.
    """
    _check_input(corpus, target, finder, listed)
    remove_leftovers(target.parent)  # of killed runs, even if the ledger refuses this export
    langs = [utterance.language or lang for utterance in corpus]
    transcripts = [utterance.transcript for utterance in corpus]
    if purpose == "acoustic":
        carries_times(method, settings.times)  # refuse what cannot be done before any work
    targets = find_targets(transcripts, langs, finder=finder, listed=listed)
    form = _form(settings, listed, targets, method, secret)
    written = atomic_directory(target, mode=0o700, equal_mtimes=True)
    withheld = target.with_name(f"{target.name}.withheld.csv")
    entered = _entered(ledger, corpus, target, purpose, form)
    with delete_on_failure(withheld), entered as export_id, written as folder:
        if purpose == "acoustic":
            if method is not None:
                method.fit(corpus)
            run = _AcousticExport(corpus, folder, secret, settings, method, observe)
            result = run.write(targets, langs, progress)
        else:
            method = None
            replace = replace or replace_with(lang, secret)
            result = _write_texts(corpus, folder, secret, targets, replace)
        if not result.files:
            raise InputError(_nothing_released(result), code="withheld")
        inputs: JsonObject = {
            "in_house_only": ledger is None,
            "reproducible_seed": secret.seed,
            "voice": method.record() if method else None,
            "settings": asdict(settings),
        }
        _write_record(folder / RECORD, export_id, inputs, result)
        if finish:
            finish(result)
        _write_withheld(withheld, result)
    return result


def _entered(
    ledger: Ledger | None, corpus: Corpus, target: Path, purpose: Purpose, form: str
) -> AbstractContextManager[str]:
    """Enter an export into the ledger; without one its id is empty."""
    if ledger is None:
        return nullcontext("")
    return ledger.entered(_dialogues(corpus), purpose, form, partial(_is_complete, target))


def _write_record(path: Path, export_id: str, inputs: JsonObject, result: Export) -> None:
    record = {
        "tool": "sottovoce",
        "version": __version__,
        "export": export_id,
        **inputs,
        **result.to_dict(),
        "withheld": len(result.withheld),
        "spelled": len(result.spelled),
    }
    write_text(path, json.dumps(record, indent=2) + "\n")


def _check_input(
    corpus: Corpus, target: Path, finder: Finder | None, listed: Sequence[str]
) -> None:
    if finder is None and not listed:
        raise InputError(
            "nothing to be masked; give words, or have private ones found", code="empty"
        )
    silent = [utterance.id for utterance in corpus if not utterance.transcript.strip()]
    if silent:
        raise InputError(
            f"{len(silent):,} utterances without transcript: {first_few(silent, len(silent))}; "
            "what was said must be known to be masked",
            code="missing-transcript",
        )
    refuse_inside(target, corpus.root)


def _nothing_released(result: Export) -> str:
    if not result.withheld:
        return "no word is left to be exported; mask fewer words, or take longer pieces"
    return (
        f"{len(result.withheld):,} of {result.utterances:,} recordings withheld, nothing exported: "
        f"{result.withheld[0].why}"
    )


def _dialogues(corpus: Corpus) -> list[Dialogue]:
    """Return how the ledger recognises each dialogue; unreadable audio has no fingerprint."""
    recordings: dict[Name, list[Fingerprints]] = {}
    wider_names: dict[Name, set[Name]] = {}
    for utterance in corpus:
        audio = None
        with suppress(InputError):
            audio = load_native(utterance)[0]
        name, *wider = dialogue_names(utterance)
        recordings.setdefault(name, []).append(Fingerprints.of(audio, utterance.transcript))
        wider_names.setdefault(name, set()).update(wider)
    return [
        Dialogue(name, frozenset(wider_names[name]), tuple(fingerprints))
        for name, fingerprints in recordings.items()
    ]


def _is_complete(target: Path, export_id: str) -> bool:
    """Tell whether an export has been renamed to its target."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return bool(json.loads((target / RECORD).read_text("utf-8"))["export"] == export_id)
    return False


def _form(
    settings: Settings,
    listed: Sequence[str],
    targets: Sequence[Sequence[Target]],
    method: VoiceAnonymiser | None,
    secret: Secret,
) -> str:
    """Digest everything that determines the content of an export."""
    target_fields = [[asdict(target) for target in private] for private in targets]
    inputs = [asdict(settings), sorted(listed), target_fields]
    voice = method.record() if method else None
    content = json.dumps([inputs, voice], sort_keys=True, default=str)
    return hashlib.sha256(content.encode() + secret.digest("form")).hexdigest()[:32]


def _write_withheld(path: Path, result: Export) -> None:
    """Write the list of what was withheld beside the export, since it contains original ids."""
    rows = [(entry.utterance, entry.why) for entry in result.withheld]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("utterance", "why"), *rows])
    write_text(path, text.getvalue())
    path.chmod(0o600)


# ======================================================================================== acoustic


class _AcousticExport:
    """Secures the recordings of a corpus and writes them into a folder."""

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
        self.seconds, self.words, self.spans, self.doubtful = 0.0, 0, 0, 0

    def write(
        self,
        targets: Sequence[Sequence[Target]],
        langs: Sequence[str],
        progress: Progress | None,
    ) -> Export:
        """Secure all recordings and write the manifest of those that may be released."""
        inputs = zip(self.corpus, targets, langs, strict=True)
        for count, (utterance, private, lang) in enumerate(inputs, 1):
            try:
                self._write_utterance(utterance, private, lang)
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
            doubtful_words=self.doubtful,
            spelled=tuple(self.spelled),
        )

    def _write_utterance(self, utterance: Utterance, private: Sequence[Target], lang: str) -> None:
        secured = secure(
            utterance, private, self.settings, secret=self.secret, method=self.method, lang=lang
        )
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


def _write_texts(
    corpus: Corpus,
    folder: Path,
    secret: Secret,
    targets: Sequence[Sequence[Target]],
    replace: Replace,
) -> Export:
    """Write ``texts.jsonl``: the texts of a dialogue in order, the dialogues shuffled."""
    indices_by_dialogue: dict[Name, list[int]] = {}
    for index, utterance in enumerate(corpus):
        indices_by_dialogue.setdefault(dialogue_names(utterance)[0], []).append(index)
    lines, spelled = [], list[Place]()
    for name, indices in indices_by_dialogue.items():
        transcripts = [corpus.utterances[index].transcript for index in indices]
        texts = replace(transcripts, [targets[index] for index in indices])
        spelled += [
            Place(corpus.utterances[index].id, None, None, "letters")
            for index, text in zip(indices, texts, strict=True)
            if letter_runs([word.text for word in spoken_words(text)])
        ]
        new_name = secret.digest("export", "dialogue", name.kind, *name.parts).hex()[:16]
        lines.append(json.dumps({"dialogue": new_name, "texts": list(texts)}, ensure_ascii=False))
    write_text(folder / "texts.jsonl", "".join(f"{line}\n" for line in sorted(lines)))
    words = sum(
        len({index for target in private for index in range(target.first, target.last + 1)})
        for private in targets
    )
    spans = sum(len(private) for private in targets)
    return Export("text", len(corpus), len(corpus), 0.0, words, spans, (), 0, tuple(spelled))
