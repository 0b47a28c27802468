"""Checkpoints of a training run: networks, optimisers and progress in one file."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from sottovoce.core.errors import InputError
from sottovoce.core.files import write_bytes
from sottovoce.core.records import Record, dump_json, from_json
from sottovoce.corpus.utterance import Corpus, Utterance

R = TypeVar("R", bound=Record)


class Stateful(Protocol):
    """A network, loss or optimiser of torch."""

    def state_dict(self) -> dict[str, object]:
        """Return everything it holds by name."""

    def load_state_dict(self, state: dict[str, object], /) -> object:
        """Take over what :meth:`state_dict` returned.

        Parameters
        ----------
        state : dict
            What was saved.
        """


class Checkpoint(Generic[R]):
    """The state of an unfinished training run, in a file beside its target.

    Parameters
    ----------
    target : Path
        What the run will write.
    kind : type of Record
        How far a run is, besides its networks and optimisers.
    settings : Record
        Settings of the run; a checkpoint of other settings has another name and is not read.
    corpora : sequence of Corpus
        Speech of the run; likewise, by the size and the time of change of each file.
    """

    def __init__(
        self, target: Path, kind: type[R], settings: Record, corpora: Sequence[Corpus]
    ) -> None:
        files = [[_file_state(utterance) for utterance in corpus] for corpus in corpora]
        digest = hashlib.sha256(json.dumps([settings.to_dict(), files]).encode()).hexdigest()
        self.path = target.with_name(f".{target.name}.{digest[:12]}.unfinished")
        self._kind = kind

    def save(self, parts: Mapping[str, Stateful], progress: R) -> None:
        """Write the state.

        Parameters
        ----------
        parts : mapping of str to Stateful
            Networks, losses and optimisers by name.
        progress : Record
            How far the run is.
        """
        import torch

        states = {name: part.state_dict() for name, part in parts.items()}
        buffer = io.BytesIO()
        torch.save({"parts": states, "progress": dump_json(progress)}, buffer)
        write_bytes(self.path, buffer.getvalue())

    def load(self, parts: Mapping[str, Stateful]) -> R | None:
        """Bring everything back to the saved state.

        Parameters
        ----------
        parts : mapping of str to Stateful
            As they were given to :meth:`save`.

        Returns
        -------
        Record or None
            How far the run was; None if there is no checkpoint.

        Raises
        ------
        InputError
            With the code ``damaged``.
        """
        import torch

        if not self.path.is_file():
            return None
        try:
            state = torch.load(self.path, weights_only=True, map_location="cpu")
            for name, part in parts.items():
                part.load_state_dict(state["parts"][name])
            return from_json(self._kind, json.loads(state["progress"]))
        except Exception:
            raise InputError(
                f"{self.path}: a damaged checkpoint; delete it to start again", code="damaged"
            ) from None

    def remove(self) -> None:
        """Delete the file, since the run is complete."""
        self.path.unlink(missing_ok=True)


def _file_state(utterance: Utterance) -> tuple[str, str, int, int]:
    status = utterance.path.stat()
    return utterance.id, utterance.speaker, status.st_size, status.st_mtime_ns
