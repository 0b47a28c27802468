"""Speech of an attack: anonymisers by name, sets of recordings, and steps that are done once.

Anonymised speech and embeddings lie under names made from everything they depend on, and are
complete or not there: a run that was killed at any moment continues without repeating a finished
step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice import METHODS, make_method
from sottovoce.anonymise.voice.corpus import anonymise_corpus
from sottovoce.anonymise.voice.output_folder import RECORD
from sottovoce.attack.embedding_store import EmbeddingStore
from sottovoce.core.engine import Engine, LocalEngine
from sottovoce.core.errors import InputError
from sottovoce.core.files import read_json
from sottovoce.core.step_cache import Step, StepCache, cache_key, records_of
from sottovoce.core.types import Progress, StageProgress
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.findings import Setting
from sottovoce.speaker.concatenation import ConcatenatedEncoder, join_blocks
from sottovoce.speaker.corpus_embedding import embed_corpus
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import Encoder


@dataclass(frozen=True, slots=True)
class AnonymiserSpec:
    """An anonymiser by name, with its settings."""

    method: str
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name and settings for a person, such as ``mcadams(coefficient=0.8)``."""
        inside = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.method}({inside})" if inside else self.method

    def check(self) -> None:
        """Refuse a name or settings that no anonymiser has, before any work is done."""
        METHODS[self.method].card.checked(**self.settings)

    def per_utterance(self) -> AnonymiserSpec:
        """Return the same anonymiser, but with a draw for each utterance where it has the choice.

        A setting that is a number instead of a word, such as a fixed coefficient, is kept.
        """
        choice = METHODS[self.method].card.per_utterance
        if choice is None:
            return self
        name, word = choice
        value = METHODS[self.method].card.checked(**self.settings)[name]
        if not isinstance(value, str) or value == word:
            return self
        return AnonymiserSpec(self.method, {**self.settings, name: word})

    @classmethod
    def from_folder(cls, folder: Path) -> AnonymiserSpec | None:
        """Read what ``sottovoce anonymise voice`` recorded in a folder.

        Parameters
        ----------
        folder : Path
            Anonymised speech.

        Returns
        -------
        AnonymiserSpec or None
            None if there is no record.

        Raises
        ------
        InputError
            With the code ``damaged`` for a record that cannot be read.
        """
        path = folder / RECORD
        if not path.is_file():
            return None
        try:
            record = read_json(path, "name the anonymiser instead")
            return cls(str(record["method"]), dict(record["settings"]))
        except (InputError, KeyError, TypeError, ValueError):
            raise InputError(
                f"{path}: not a record of sottovoce; name the anonymiser instead", code="damaged"
            ) from None


@dataclass(frozen=True, slots=True)
class SpeechSet:
    """A corpus, and a key of everything its recordings depend on."""

    corpus: Corpus
    key: str

    @classmethod
    def of(cls, corpus: Corpus) -> SpeechSet:
        """Make a set of recordings as they are now.

        Parameters
        ----------
        corpus : Corpus
            Size and time of change of each file become part of the key.
        """
        return cls(
            corpus, cache_key(*(_file_state(utterance, corpus.root) for utterance in corpus))
        )

    def of_speakers(self, speakers: Iterable[str]) -> SpeechSet:
        """Select the utterances of some speakers.

        Parameters
        ----------
        speakers : iterable of str
            Their names.
        """
        names = set(speakers)
        return self._select(lambda utterance: utterance.speaker in names)

    def with_ids(self, ids: set[str]) -> SpeechSet:
        """Select the utterances with these ids.

        Parameters
        ----------
        ids : set of str
            Ids; those that are not there are ignored.
        """
        return self._select(lambda utterance: utterance.id in ids)

    @property
    def ids(self) -> set[str]:
        """Ids of the utterances."""
        return {utterance.id for utterance in self.corpus}

    def _select(self, predicate: Callable[[Utterance], bool]) -> SpeechSet:
        chosen = self.corpus.select(predicate)
        if len(chosen) == len(self.corpus):
            return self
        return SpeechSet(chosen, cache_key(self.key, [utterance.id for utterance in chosen]))


FileState = tuple[str | float | int | tuple[int, ...] | None, ...]
"""An utterance, and size and time of change of its file."""


def _file_state(utterance: Utterance, root: Path) -> FileState:
    path = utterance.path
    try:
        status = path.stat()
        stamp: tuple[int, ...] = (status.st_size, status.st_mtime_ns)
    except OSError:
        stamp = ()
    name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    return (
        utterance.id,
        utterance.speaker,
        utterance.gender,
        name,
        stamp,
        utterance.start,
        utterance.end,
        utterance.channel,
    )


_EMBEDDED = Step("embedded", records_of(str))
"""Digest of the embeddings of a set of speech."""


class SpeechCache:
    """Anonymised speech and embeddings in one folder, each made once.

    A worker that it is sent to makes what is missing itself.

    Parameters
    ----------
    folder : Path
        Speech lies in ``speech/``, embeddings in ``embeddings/`` under the digest of their content,
        and which speech has which embeddings in ``work/``.
    encoder : Encoder
        Makes the embeddings.
    jobs : int, default 2
        How many recordings are processed at a time.
    progress : StageProgress, optional
        Called while something is made.
    engine : Engine, optional
        What processes recordings instead of threads of this process.
    """

    def __init__(
        self,
        folder: Path,
        encoder: Encoder,
        jobs: int = 2,
        progress: StageProgress | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.folder = folder
        self.encoder = encoder
        self.engine: Engine = engine or LocalEngine(jobs)
        self.progress = progress
        self.steps = StepCache(folder / "work")
        self.store = EmbeddingStore(folder / "embeddings")

    def __reduce__(self) -> tuple[object, ...]:
        return SpeechCache, (self.folder, self.encoder, 1)

    def anonymise(
        self, speech: SpeechSet, spec: AnonymiserSpec, secret: Secret, label: str
    ) -> SpeechSet:
        """Return the speech in other voices, drawn with ``secret``.

        Parameters
        ----------
        speech : SpeechSet
            Recordings to anonymise.
        spec : AnonymiserSpec
            How.
        secret : Secret
            Behind all draws; only a digest of it becomes part of a name.
        label : str
            What is anonymised, for the progress.
        """
        draws = secret.digest("workshop").hex()[:16]
        key = self.steps.key(speech.key, spec.method, dict(spec.settings), draws)
        target = self.folder / "speech" / f"{spec.method}-{key}"
        if not (target / RECORD).is_file():
            anonymise_corpus(
                speech.corpus,
                make_method(spec.method, secret, **spec.settings),
                target,
                secret=secret,
                engine=self.engine,
                progress=self._stage(f"anonymising {label}"),
            )
        return SpeechSet(read_manifest(target), key)

    def embed(self, speech: SpeechSet, label: str, *, encoder: Encoder | None = None) -> Embeddings:
        """Return one vector per recording.

        Parameters
        ----------
        speech : SpeechSet
            Recordings.
        label : str
            What is embedded, for the progress.
        encoder : Encoder, optional
            Makes the vectors; default the encoder of the cache.
        """
        encoder = encoder or self.encoder
        if isinstance(encoder, ConcatenatedEncoder):  # each part is embedded once, for all uses
            parts = [self.embed(speech, label, encoder=part) for part in encoder.parts]
            return join_blocks(encoder.blocks, parts)
        inputs = [speech.key, encoder.card.sha256]

        def compute() -> str:
            target = self.store.folder / f"{self.steps.key(inputs)}.npz"
            if not target.is_file():
                embed_corpus(
                    speech.corpus,
                    encoder,
                    target,
                    engine=self.engine,
                    progress=self._stage(f"embedding {label}"),
                )
            return self.store.adopt(target)

        digest = self.steps.get(_EMBEDDED, inputs, compute)
        with suppress(InputError):
            return self.store[digest]
        # the stored file is gone or damaged: everything that refers to it is computed again
        self.store.path(digest).unlink(missing_ok=True)
        self.steps.path(_EMBEDDED.name, self.steps.key(inputs), ".json").unlink(missing_ok=True)
        return self.store[self.steps.get(_EMBEDDED, inputs, compute)]

    def _stage(self, label: str) -> Progress | None:
        show = self.progress
        return None if show is None else lambda done, total: show(label, done, total)


def attackers_secret(seed: int, draw: int = 1) -> Secret:
    """Return the secret of the attacker's draws: never an operator's, even with the same seed.

    Parameters
    ----------
    seed : int
        Of the study or command, 0 or more.
    draw : int, default 1
        An attacker that anonymises its speech several times has a secret for each time.
    """
    names = ("attacker",) if draw == 1 else ("attacker", str(draw))
    return Secret.reproducible(seed).derive(*names)


def operators_secret(seed: int) -> Secret:
    """Return the secret of whoever anonymises in a study; the seed repeats its draws.

    Parameters
    ----------
    seed : int
        Of the study, 0 or more.
    """
    return Secret.reproducible(seed).derive("operator")
