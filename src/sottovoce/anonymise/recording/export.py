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
from dataclasses import asdict
from functools import partial
from pathlib import Path

from sottovoce import __version__
from sottovoce.anonymise.decisions import Decisions
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.languages import transcript_languages
from sottovoce.anonymise.recording.ledger import (
    Ledger,
    dialogues_of,
)
from sottovoce.anonymise.recording.private_words import Finder, Replace, replace_with
from sottovoce.anonymise.recording.release import (
    Export,
    Purpose,
    SecureRecording,
    write_recordings,
    write_texts,
)
from sottovoce.anonymise.recording.review import DecidedRecording, decide_recordings
from sottovoce.anonymise.recording.secure import (
    Secured,
    Settings,
    carries_times,
)
from sottovoce.anonymise.voice.method import VoiceAnonymiser, fit_method
from sottovoce.core.atomic_directory import (
    atomic_directory,
    delete_on_failure,
    refuse_inside,
    remove_leftovers,
)
from sottovoce.core.engine import HERE, Engine
from sottovoce.core.errors import InputError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Progress
from sottovoce.corpus.utterance import Corpus

RECORD = "export.json"
"""File with the settings and the counts of an export."""


def export_corpus(
    corpus: Corpus,
    target: Path,
    *,
    purpose: Purpose,
    secret: Secret,
    settings: Settings,
    finder: Finder | None = None,
    listed: Sequence[str] = (),
    decisions: Decisions | None = None,
    method: VoiceAnonymiser | None = None,
    replace: Replace | None = None,
    lang: str = "en",
    ledger: Ledger | None = None,
    task: str | None = None,
    observe: Callable[[Secured], None] | None = None,
    finish: Callable[[Export], None] | None = None,
    progress: Progress | None = None,
    engine: Engine = HERE,
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
    decisions : Decisions, optional
        What was decided in a review of these recordings.
    method : VoiceAnonymiser, optional
        Changes the voices; by default they stay.
    replace : Replace, optional
        Replaces private words in texts; by default with the strategy ``full``.
    lang : str, default "en"
        Language of utterances for which the corpus has none, ``auto`` or ``multi``.
    ledger : Ledger, optional
        Refuses dialogues that were exported in another form. Without it the export is marked as not
        to be given away.
    task : str, optional
        What the export is used for, as the ledger and the record have it; by default the purpose.
    observe : callable, optional
        Called with each secured recording.
    finish : callable, optional
        Called with the counts when all is written and before the export appears as ``target``. If
        it raises an error, nothing is left of the export.
    progress : Progress, optional
        Called after each utterance.
    engine : Engine, optional
        What secures recordings; default this thread. On a cluster the secret must be in a file.

    Raises
    ------
    AlreadyExportedError
        If the ledger refuses a dialogue.
    InputError
        ``empty`` if there is nothing to mask, ``missing-transcript``, ``exists``, ``nested``,
        ``withheld`` if no recording can be released; ``mismatch`` or ``changed-text`` if the
        decisions are on other transcripts.
    """
    if finder is None and not listed and decisions is None:
        raise InputError(
            "nothing to be masked; give words, or have private ones found", code="empty"
        )
    _check_input(corpus, target)
    remove_leftovers(target.parent)  # of killed runs, even if the ledger refuses this export
    transcripts = [utterance.transcript for utterance in corpus]
    langs = [utterance.language or lang for utterance in corpus]
    recordings = decide_recordings(
        [utterance.id for utterance in corpus],
        transcripts,
        langs,
        finder=finder,
        listed=listed,
        decisions=decisions,
    )
    _check_times(recordings, purpose, method, settings)
    form = _form(settings, listed, recordings, method, secret)
    written = atomic_directory(target, mode=0o700, equal_mtimes=True)
    withheld = target.with_name(f"{target.name}.withheld.csv")
    entered = _entered(ledger, corpus, target, task or purpose, form)
    with delete_on_failure(withheld), entered as export_id, written as folder:
        if purpose == "acoustic":
            if method is not None:
                fit_method(method, corpus, engine)
            result = write_recordings(
                corpus,
                recordings,
                transcript_languages(transcripts, langs),
                SecureRecording(folder, secret, settings, method, observed=observe is not None),
                engine=engine,
                observe=observe,
                progress=progress,
            )
        else:
            method = None
            replace = replace or replace_with(lang, secret)
            result = write_texts(corpus, folder, secret, recordings, replace)
        if not result.files:
            raise InputError(_nothing_released(result), code="withheld")
        inputs: JsonObject = {
            "task": task or purpose,
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
    ledger: Ledger | None, corpus: Corpus, target: Path, task: str, form: str
) -> AbstractContextManager[str]:
    """Enter an export into the ledger; without one its id is empty."""
    if ledger is None:
        return nullcontext("")
    return ledger.entered(dialogues_of(corpus), task, form, partial(_is_complete, target))


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


def _check_input(corpus: Corpus, target: Path) -> None:
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


def _is_complete(target: Path, export_id: str) -> bool:
    """Tell whether an export has been renamed to its target."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return bool(json.loads((target / RECORD).read_text("utf-8"))["export"] == export_id)
    return False


def _check_times(
    recordings: Sequence[DecidedRecording],
    purpose: Purpose,
    method: VoiceAnonymiser | None,
    settings: Settings,
) -> None:
    """Refuse before any work what needs times that are not known."""
    marked = [r.decided.id for r in recordings if r.decided.stretches]
    if purpose == "acoustic":
        carries_times(method, settings.times, needed=bool(marked))
    elif marked:
        raise InputError(
            f"{first_few(marked, len(marked))}: marked in the sound, which does not tell the words "
            "of a text; mark the words too, and remove the stretches from the decisions",
            code="unsupported",
        )


def _form(
    settings: Settings,
    listed: Sequence[str],
    recordings: Sequence[DecidedRecording],
    method: VoiceAnonymiser | None,
    secret: Secret,
) -> str:
    """Digest everything that determines the content of an export."""
    target_fields = [
        [{"first": t.first, "last": t.last, "label": t.label} for t in recording.targets]
        for recording in recordings
    ]
    stretches = [[asdict(stretch) for stretch in r.stretches] for r in recordings if r.stretches]
    inputs = [asdict(settings), sorted(listed), target_fields, *([stretches] if stretches else [])]
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
