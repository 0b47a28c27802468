"""Several recordings in another voice, as one archive with a manifest; all of it in memory."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from sottovoce.anonymise.voice import VoiceAnonymiser
from sottovoce.core.errors import SottovoceError
from sottovoce.core.records import Record, dump_json
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.serve.batch_names import MANIFEST, archive_name
from sottovoce.serve.sound import encode_audio
from sottovoce.serve.uploads import as_path, load_audio

ONE_SPEAKER = "speaker"
"""Id of the speaker of all recordings that belong to the same one."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time of all entries, the earliest that a zip archive can state."""


@dataclass(frozen=True, slots=True)
class BatchEntry(Record):
    """What became of one recording."""

    name: str
    """As the client sent it."""
    file: str | None
    """Its name in the archive; None if it was refused."""
    seconds: float | None
    """Length of the recording."""
    error: str | None = None
    """One line if it was refused."""
    code: str | None = None
    """Error code for programs."""


@dataclass(frozen=True, slots=True)
class BatchManifest(Record):
    """The file ``manifest.json`` of an archive."""

    method: str
    done: int
    refused: int
    files: tuple[BatchEntry, ...]
    """In the order in which they were sent."""


def anonymise_batch(
    method: VoiceAnonymiser, names: Sequence[str], files: Sequence[bytes], *, same_speaker: bool
) -> bytes:
    """Anonymise recordings; those that cannot be are named in the manifest.

    Parameters
    ----------
    method : VoiceAnonymiser
        A method that has not been fitted; it is fitted on all recordings.
    names : sequence of str
        Their file names, which :func:`sottovoce.serve.batch_names.check_names` has checked.
    files : sequence of bytes
        Their content.
    same_speaker : bool
        Whether all recordings are of one speaker; else each is of another one.

    Returns
    -------
    bytes
        A zip archive with the recordings under their names (``.wav`` is added to names that end
        neither in ``.wav`` nor in ``.flac``) and ``manifest.json``.
    """
    output = io.BytesIO()
    with ExitStack() as stack, zipfile.ZipFile(output, "w") as archive:
        recordings = [
            _Recording(name, *_open(stack, name, data))
            for name, data in zip(names, files, strict=True)
        ]
        utterances = {
            recording.name: Utterance(
                recording.name, recording.path, ONE_SPEAKER if same_speaker else recording.name
            )
            for recording in recordings
            if recording.path is not None
        }
        if utterances:
            method.fit(Corpus("batch", Path(), tuple(utterances.values())))
        entries = tuple(
            recording.refusal or _anonymise(method, utterances[recording.name], archive)
            for recording in recordings
        )
        done = sum(entry.error is None for entry in entries)
        manifest = BatchManifest(method.name, done, len(entries) - done, entries)
        archive.writestr(zipfile.ZipInfo(MANIFEST, _EPOCH), dump_json(manifest, indent=2))
    return output.getvalue()


class _Recording(NamedTuple):
    """A recording with a path, or the reason why it was refused."""

    name: str
    path: Path | None
    refusal: BatchEntry | None


def _open(stack: ExitStack, name: str, data: bytes) -> tuple[Path | None, BatchEntry | None]:
    """Give a recording a path for as long as the stack lasts, if it can be read."""
    try:
        with as_path(data, name) as path:
            load_audio(path)
    except SottovoceError as error:
        return None, BatchEntry(name, None, None, str(error), error.code)
    return stack.enter_context(as_path(data, name)), None


def _anonymise(
    method: VoiceAnonymiser, utterance: Utterance, archive: zipfile.ZipFile
) -> BatchEntry:
    """Add a recording in another voice to the archive."""
    file = archive_name(utterance.id)
    try:
        audio, rate = load_audio(utterance.path)
        changed = method.transform(audio, rate, speaker=utterance.speaker, utterance=utterance.id)
        _, content = encode_audio(changed, rate, PurePosixPath(file).suffix[1:].lower())
    except SottovoceError as error:
        line = str(error).replace(str(utterance.path), utterance.id)
        return BatchEntry(utterance.id, None, None, line, error.code)
    archive.writestr(zipfile.ZipInfo(file, _EPOCH), content)
    return BatchEntry(utterance.id, file, len(audio) / rate)
