"""Checkpoints of private training: weights, optimiser, seed of the draws and what was spent."""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from sottovoce.core.errors import InputError
from sottovoce.core.files import atomic_file
from sottovoce.core.records import Record, dump_json, from_json
from sottovoce.learn.gradients import Batch


@dataclass(frozen=True, slots=True)
class Progress(Record):
    """How far a run is, and what it has spent: every step spends the same."""

    steps: int
    """Steps whose noise is in the weights."""
    sampling_rate: float
    noise_multiplier: float
    delta: float
    run: str
    """Digest of everything that the lots, the noise and the gradients depend on."""
    seed: str
    """Secret seed of the draws, hexadecimal."""


class RunCheckpoint:
    """The state of a run in a file that only its owner may read.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
        """Write the state to the disk, completely or not at all.

        Parameters
        ----------
        model : nn.Module
            The model with its present weights.
        optimiser : torch.optim.Optimizer
            Its optimiser.
        progress : Progress
            How far the run is.
        """
        buffer = io.BytesIO()
        state = {
            "model": model.state_dict(),
            "optimiser": optimiser.state_dict(),
            "progress": dump_json(progress),
        }
        torch.save(state, buffer)
        with atomic_file(self.path, mode=0o600) as temporary, temporary.open("wb") as file:
            file.write(buffer.getvalue())
            file.flush()
            os.fsync(file.fileno())

    def load(self, model: nn.Module, optimiser: torch.optim.Optimizer, run: str) -> Progress | None:
        """Bring model and optimiser back to the saved state.

        Parameters
        ----------
        model : nn.Module
            A model of the same kind.
        optimiser : torch.optim.Optimizer
            An optimiser of the same kind.
        run : str
            Digest of the run that wants to continue.

        Returns
        -------
        Progress or None
            How far the run was; None if there is no checkpoint.

        Raises
        ------
        InputError
            ``damaged``, or ``other-run`` if data or settings have changed: the noise of the steps
            that are repeated would then hide two different sums, and their difference would
            not be private.
        """
        if not self.path.is_file():
            return None
        try:
            state = torch.load(self.path, weights_only=True, map_location="cpu")
            progress = from_json(Progress, json.loads(state["progress"]))
        except Exception:
            raise InputError(
                f"{self.path}: a damaged checkpoint; what it spent is unknown, so do not train "
                "on these data again as if nothing were spent",
                code="damaged",
            ) from None
        if progress.run != run:
            raise InputError(
                f"{self.path}: a checkpoint of other data or settings; restore them, or train "
                "under another name and add up what both runs spend",
                code="other-run",
            )
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        return progress


def run_digest(
    data: Batch,
    units: Tensor | None,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    settings: Record,
    further: str,
) -> str:
    """Return a digest of everything that lots, noise and gradients depend on.

    Parameters
    ----------
    data : tuple of Tensor
        Training data.
    units : Tensor or None
        The unit of each record.
    model : nn.Module
        The model, by its modules and the shapes of its parameters; weights are in the checkpoint.
    optimiser : torch.optim.Optimizer
        The optimiser, by its kind and settings.
    settings : Record
        Settings of the run.
    further : str
        Whatever else counts, such as the name of the loss and the normalisation.
    """
    digest = hashlib.sha256()
    for part in (*data, *(() if units is None else (units,))):
        digest.update(f"{part.dtype} {tuple(part.shape)}\n".encode())
        digest.update(part.detach().contiguous().cpu().numpy().tobytes())
    groups = [
        {name: value for name, value in group.items() if name != "params"}
        for group in optimiser.state_dict()["param_groups"]
    ]
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    kind = f"{model}{shapes}{type(optimiser).__qualname__}{groups}{further}"
    digest.update(kind.encode())
    digest.update(json.dumps(settings.to_dict(), sort_keys=True).encode())
    return digest.hexdigest()
