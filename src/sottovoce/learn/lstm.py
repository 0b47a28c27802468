"""An LSTM written with matrix products, so that per-sample gradients of it are fast.

The LSTM of torch is one opaque operation without a rule for batches of gradients: under ``vmap``
it runs sample by sample. This one has the same parameters, names and outputs.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

DIRECTIONS = ("", "_reverse")


class Lstm(nn.Module):  # type: ignore[misc]
    """One layer of long short-term memory, in one or both directions.

    Its parameters are named as those of ``torch.nn.LSTM(inputs, hidden, batch_first=True)``, so
    that state dictionaries can be exchanged.

    Parameters
    ----------
    inputs : int
        Values of a token's vector.
    hidden : int
        Values of the state of one direction.
    bidirectional : bool, default False
        Whether sequences are also read from their end; the outputs are then twice as wide.
    """

    def __init__(self, inputs: int, hidden: int, *, bidirectional: bool = False) -> None:
        super().__init__()
        self.hidden = hidden
        self.directions = DIRECTIONS if bidirectional else DIRECTIONS[:1]
        bound = 1 / math.sqrt(hidden)
        for direction in self.directions:
            for name, shape in (
                ("weight_ih", (4 * hidden, inputs)),
                ("weight_hh", (4 * hidden, hidden)),
                ("bias_ih", (4 * hidden,)),
                ("bias_hh", (4 * hidden,)),
            ):
                values = torch.empty(shape).uniform_(-bound, bound)
                self.register_parameter(f"{name}_l0{direction}", nn.Parameter(values))

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Read sequences.

        Parameters
        ----------
        x : Tensor, sequences × tokens × inputs
            Sequences, padded at their ends.
        lengths : Tensor of int, sequences, optional
            Tokens of each sequence without the padding; by default there is none. The outputs
            at the padding are zero, and no other output depends on it.

        Returns
        -------
        Tensor, sequences × tokens × (hidden or 2 · hidden)
            The state after each token.
        """
        places = torch.arange(x.shape[1], device=x.device)
        if lengths is None:
            inside = torch.ones(x.shape[:2], device=x.device, dtype=x.dtype)
        else:
            inside = (places < lengths.unsqueeze(-1)).to(x.dtype)
        outputs = [self._read(x, inside.unsqueeze(-1), end) for end in self.directions]
        return torch.cat(outputs, dim=-1)

    def _read(self, x: Tensor, inside: Tensor, direction: str) -> Tensor:
        recurrent = getattr(self, f"weight_hh_l0{direction}").t()
        bias = getattr(self, f"bias_ih_l0{direction}") + getattr(self, f"bias_hh_l0{direction}")
        projected = x @ getattr(self, f"weight_ih_l0{direction}").t() + bias
        state = torch.zeros_like(projected[:, 0, : self.hidden])
        memory = torch.zeros_like(state)
        order = range(x.shape[1])
        outputs = []
        for place in reversed(order) if direction else order:
            gates = projected[:, place] + state @ recurrent
            take, keep, candidate, give = gates.chunk(4, dim=-1)
            memory = torch.sigmoid(keep) * memory + torch.sigmoid(take) * torch.tanh(candidate)
            # at the padding the state stays zero before a sequence that is read from its end
            memory = memory * inside[:, place]
            state = torch.sigmoid(give) * torch.tanh(memory) * inside[:, place]
            outputs.append(state)
        return torch.stack(outputs[::-1] if direction else outputs, dim=1)
