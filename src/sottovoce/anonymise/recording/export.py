"""Exports: recordings or texts of a corpus made ready to leave, for one purpose.

``acoustic`` is for training acoustic models: secured speech with the text that is left of it.
``text`` is for language models and the like: texts with private words replaced, no sound. Which of
the two a dialogue is used for is decided once (see :mod:`~sottovoce.anonymise.recording.ledger`).

An export is made in a folder of its own that only its owner may enter, and renamed when it is
whole. Names in it follow from the secret, as does their order; what was withheld is listed beside
the export, not in it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sottovoce import __version__
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.ledger import Dialogue, Ledger, Marks, Name, names_of
from sottovoce.anonymise.recording.mask import Target
from sottovoce.anonymise.recording.secure import Secured, Settings, pieces, secure
from sottovoce.anonymise.recording.sensitive import Finder, find_targets
from sottovoce.anonymise.recording.texts import Replace, replaced_texts
from sottovoce.anonymise.voice.method import VoiceAnonymiser
from sottovoce.core.atomic_directory import atomic_directory, refuse_inside, remove_leftovers
from sottovoce.core.errors import InputError, SottovoceError, first_few
from sottovoce.core.files import write_text
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import load_native, save_audio
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

Purpose = Literal["acoustic", "text"]

RECORD = "export.json"
NOBODY = "unknown"
"""The speaker of every slice."""


@dataclass(frozen=True, slots=True)
class Export:
    """What came of an export."""

    purpose: Purpose
    utterances: int
    """Of the corpus."""
    files: int
    """Recordings, slices or texts that were written."""
    seconds: float
    masked_words: int
    masked_spans: int
    withheld: tuple[tuple[str, str], ...]
    """Utterances that were not released, and why."""

    def to_dict(self) -> dict[str, Any]:
        """Counts; withheld utterances by their ids."""
        return {
            **{name: getattr(self, name) for name in self.__slots__ if name != "withheld"},
            "seconds": round(self.seconds, 3),
            "withheld": [{"utterance": one, "why": why} for one, why in self.withheld],
        }


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
    progress: Progress | None = None,
) -> Export:
    """Write an export into the new folder ``target``.

    Without a ``ledger`` the export is marked as not to be given away. ``observe`` sees each secured
    recording.
    """
    _refuse(corpus, target, finder, listed)
    remove_leftovers(
        target.parent
    )  # what a killed run has left goes, also if the ledger refuses this one
    langs = [one.language or lang for one in corpus]
    targets = find_targets([o.transcript for o in corpus], langs, finder=finder, listed=listed)
    form = _form(settings, listed, targets, method, secret)
    made = partial(_is_there, target)
    entered = ledger.entered(_dialogues(corpus), purpose, form, made) if ledger else nullcontext("")
    written = atomic_directory(target, mode=0o700, equal_mtimes=True)
    with entered as export, written as folder:
        if purpose == "acoustic":
            if method is not None:
                method.fit(corpus)
            run = _Sound(corpus, folder, secret, settings, method, observe)
            done = run.work(targets, langs, progress)
            if not done.files:
                raise InputError(_all_withheld(done))
        else:
            done = _texts(corpus, folder, secret, targets, replace or replaced_texts(lang, secret))
        record: dict[str, Any] = {"tool": "sottovoce", "version": __version__, "export": export}
        record |= {"in_house_only": ledger is None, "reproducible_seed": secret.seed}
        record |= {"voice": method.record() if method and purpose == "acoustic" else None}
        record |= {"settings": asdict(settings)}
        record |= done.to_dict() | {"withheld": len(done.withheld)}
        write_text(folder / RECORD, json.dumps(record, indent=2) + "\n")
        _write_withheld(target, done)
    return done


def _refuse(corpus: Corpus, target: Path, finder: Finder | None, listed: Sequence[str]) -> None:
    if finder is None and not listed:
        raise InputError("nothing to be masked; give words, or have private ones found")
    silent = [one.id for one in corpus if not one.transcript.strip()]
    if silent:
        raise InputError(
            f"{len(silent):,} utterances without transcript: {first_few(silent, len(silent))}; "
            "what was said must be known to be masked"
        )
    refuse_inside(target, corpus.root)


def _all_withheld(done: Export) -> str:
    if not done.withheld:
        return "no word is left to be exported; mask fewer words, or take longer pieces"
    count, (_, why) = len(done.withheld), done.withheld[0]
    return f"{count:,} of {done.utterances:,} recordings withheld, nothing exported: {why}"


def _dialogues(corpus: Corpus) -> list[Dialogue]:
    """What the dialogues are known by; sound that cannot be read is not known, its text is."""
    found: dict[Name, list[Marks]] = {}
    wider: dict[Name, set[Name]] = {}
    for one in corpus:
        audio = None
        with suppress(InputError):
            audio = load_native(one)[0]
        name, *within = names_of(one)
        found.setdefault(name, []).append(Marks.of(audio, one.transcript))
        wider.setdefault(name, set()).update(within)
    return [Dialogue(n, frozenset(wider[n]), tuple(marks)) for n, marks in found.items()]


def _is_there(target: Path, export: str) -> bool:
    """Whether an export has got its place."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return bool(json.loads((target / RECORD).read_text("utf-8"))["export"] == export)
    return False


def _form(
    settings: Settings,
    listed: Sequence[str],
    targets: Sequence[Sequence[Target]],
    method: VoiceAnonymiser | None,
    secret: Secret,
) -> str:
    """All that decides what an export looks like, in one digest."""
    what = [asdict(settings), sorted(listed), [[asdict(t) for t in one] for one in targets]]
    made = json.dumps([what, method.record() if method else None], sort_keys=True, default=str)
    return hashlib.sha256(made.encode() + secret.digest("form")).hexdigest()[:32]


def _write_withheld(target: Path, done: Export) -> None:
    """``OUT.withheld.csv``: beside the export, since it has the original names."""
    rows = io.StringIO()
    csv.writer(rows, lineterminator="\n").writerows([("utterance", "why"), *done.withheld])
    path = target.with_name(f"{target.name}.withheld.csv")
    write_text(path, rows.getvalue())
    path.chmod(0o600)


# ======================================================================================== acoustic


class _Sound:
    """Recordings on their way into a folder."""

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
        self.withheld: list[tuple[str, str]] = []
        self.seconds, self.words, self.spans = 0.0, 0, 0

    def work(
        self,
        targets: Sequence[Sequence[Target]],
        langs: Sequence[str],
        progress: Progress | None,
    ) -> Export:
        """Secure all recordings and write the list of those that may be released."""
        each = zip(self.corpus, targets, langs, strict=True)
        for count, (one, private, lang) in enumerate(each, 1):
            try:
                self._one(one, private, lang)
            except SottovoceError as error:
                if not isinstance(error, InputError):
                    raise
                self.withheld.append((one.id, str(error).removeprefix(f"{one.path}: ")))
            if progress:
                progress(count, len(self.corpus))
        self.rows.sort(key=lambda row: row.id)
        write_manifest(Corpus(self.folder.name, self.folder, tuple(self.rows)), self.folder)
        counts = (self.seconds, self.words, self.spans, tuple(self.withheld))
        return Export("acoustic", len(self.corpus), len(self.rows), *counts)

    def _one(self, one: Utterance, private: Sequence[Target], lang: str) -> None:
        secured = secure(
            one, private, self.settings, secret=self.secret, method=self.method, lang=lang
        )
        if self.observe:
            self.observe(secured)
        self.words += sum(word is None for word in secured.masked.words)
        self.spans += len(secured.masked.spans)
        sliced = self.settings.seconds is not None
        speaker = NOBODY if sliced else self._name("speaker", one.speaker)
        for number, piece in enumerate(pieces(secured, self.settings)):
            name = self._name("piece", one.speaker, one.id, str(number))
            path = self.folder / "audio" / f"{name}.flac"
            save_audio(path, piece.audio, secured.masked.rate)
            self.seconds += len(piece.audio) / secured.masked.rate
            self.rows.append(Utterance(name, path, speaker, language=lang, transcript=piece.text))

    def _name(self, *what: str) -> str:
        return self.secret.digest("export", *what).hex()[:16]


# ============================================================================================ text


def _texts(
    corpus: Corpus,
    folder: Path,
    secret: Secret,
    targets: Sequence[Sequence[Target]],
    replace: Replace,
) -> Export:
    """``texts.jsonl``: the texts of a dialogue together and in order, dialogues shuffled."""
    grouped: dict[Name, list[int]] = {}
    for place, one in enumerate(corpus):
        grouped.setdefault(names_of(one)[0], []).append(place)
    lines = []
    for name, places in grouped.items():
        said = [corpus.utterances[place].transcript for place in places]
        texts = replace(said, [targets[place] for place in places])
        known = secret.digest("export", "dialogue", name.kind, *name.parts).hex()[:16]
        lines.append(json.dumps({"dialogue": known, "texts": list(texts)}, ensure_ascii=False))
    write_text(folder / "texts.jsonl", "".join(f"{line}\n" for line in sorted(lines)))
    words = sum(len({w for t in one for w in range(t.first, t.last + 1)}) for one in targets)
    spans = sum(len(one) for one in targets)
    return Export("text", len(corpus), len(corpus), 0.0, words, spans, ())
