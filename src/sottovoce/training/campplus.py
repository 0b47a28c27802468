"""CAM++ (Wang et al. 2023) as a network that can be trained, with weights read from an ONNX file.

The exported file has the batch normalisations that follow a convolution folded into its weights;
those that come before an activation and a convolution are layers of their own, and so they are
here. Their statistics are not changed by training. Only training imports this module, since it
needs torch and onnx; trained weights are written back into the graph of the file, so that a
retrained network is used exactly as the original one.

Wang, Zheng, Chen, Cheng & Chen: CAM++: A Fast and Efficient Network for Speaker Verification Using
Context-Aware Masking. Interspeech 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from sottovoce.core.errors import InputError

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

DIMENSION = 192
"""Values in an embedding."""
BLOCKS = ((12, 1), (24, 2), (16, 2))
"""Layers of each densely connected block, and the distance between the frames of a convolution."""
GROWTH = 32
"""Channels that each layer of a block adds."""
SEGMENT = 100
"""Frames of 20 ms whose mean a mask depends on, besides the mean of all frames."""


class ResidualBlock(nn.Module):  # type: ignore[misc]
    """Two convolutions over frequency and time, added to their input.

    Parameters
    ----------
    channels : int
        Channels of input and output.
    stride : int
        Every how manieth frequency is kept.
    """

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, stride=(stride, 1), padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.shortcut = (
            nn.Conv2d(channels, channels, 1, stride=(stride, 1)) if stride > 1 else nn.Identity()
        )

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block.

        Parameters
        ----------
        x : Tensor, recordings × channels × frequencies × frames
            Its output has as many channels and frames.
        """
        y = self.second(functional.relu(self.first(x)))
        return functional.relu(y + self.shortcut(x))


class Head(nn.Module):  # type: ignore[misc]
    """Convolutions over frequency and time, which reduce 80 filter banks to 10 frequencies."""

    def __init__(self, channels: int = 32) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.blocks = nn.Sequential(
            *(ResidualBlock(channels, stride) for stride in (2, 1, 2, 1)),
        )
        self.last = nn.Conv2d(channels, channels, 3, stride=(2, 1), padding=1)

    def forward(self, banks: Tensor) -> Tensor:
        """Apply the convolutions.

        Parameters
        ----------
        banks : Tensor, recordings × frames × 80
            Filter banks; the output has the shape recordings × 320 × frames.
        """
        x = functional.relu(self.first(banks.transpose(1, 2).unsqueeze(1)))
        return functional.relu(self.last(self.blocks(x))).flatten(1, 2)


class MaskedConvolution(nn.Module):  # type: ignore[misc]
    """A convolution over time whose output is masked by the context (context-aware masking).

    Parameters
    ----------
    inputs, outputs : int
        Channels.
    dilation : int
        Distance between the frames of the convolution.
    """

    def __init__(self, inputs: int, outputs: int, dilation: int) -> None:
        super().__init__()
        self.local = nn.Conv1d(inputs, outputs, 3, dilation=dilation, padding=dilation, bias=False)
        self.squeeze = nn.Conv1d(inputs, inputs // 2, 1)
        self.excite = nn.Conv1d(inputs // 2, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Apply convolution and mask.

        Parameters
        ----------
        x : Tensor, recordings × inputs × frames
            Its output has the shape recordings × outputs × frames.
        """
        context = x.mean(2, keepdim=True) + _segment_means(x)
        mask = torch.sigmoid(self.excite(functional.relu(self.squeeze(context))))
        return self.local(x) * mask


def _segment_means(x: Tensor) -> Tensor:
    """Mean over each segment of 100 frames (the last may be shorter), at each of its frames."""
    means = functional.avg_pool1d(x, SEGMENT, SEGMENT, ceil_mode=True)
    return means.repeat_interleave(SEGMENT, dim=2)[..., : x.shape[2]]


class DenseLayer(nn.Module):  # type: ignore[misc]
    """A layer of a block: its output is appended to the channels of its input.

    Parameters
    ----------
    inputs : int
        Channels of the input.
    dilation : int
        Distance between the frames of the convolution.
    """

    def __init__(self, inputs: int, dilation: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs)
        self.narrow = nn.Conv1d(inputs, 4 * GROWTH, 1)
        self.masked = MaskedConvolution(4 * GROWTH, GROWTH, dilation)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer.

        Parameters
        ----------
        x : Tensor, recordings × inputs × frames
            Its output has 32 channels more.
        """
        narrow = functional.relu(self.narrow(functional.relu(self.norm(x))))
        return torch.cat([x, self.masked(narrow)], dim=1)


class Transition(nn.Module):  # type: ignore[misc]
    """Halves the number of channels after a block.

    Parameters
    ----------
    inputs : int
        Channels of the input.
    bias : bool
        Whether the convolution has a bias: the folded normalisation after the last one.
    """

    def __init__(self, inputs: int, *, bias: bool) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs)
        self.narrow = nn.Conv1d(inputs, inputs // 2, 1, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer.

        Parameters
        ----------
        x : Tensor, recordings × inputs × frames
            Its output has half the channels.
        """
        return self.narrow(functional.relu(self.norm(x)))


class Campplus(nn.Module):  # type: ignore[misc]
    """CAM++: convolutions over frequency and time, three dense blocks, statistics over time."""

    def __init__(self) -> None:
        super().__init__()
        self.head = Head()
        self.first = nn.Conv1d(320, 128, 5, stride=2, padding=2)
        channels, self.stages = 128, nn.ModuleList()
        for number, (layers, dilation) in enumerate(BLOCKS, start=1):
            block = [DenseLayer(channels + GROWTH * i, dilation) for i in range(layers)]
            channels += GROWTH * layers
            last = Transition(channels, bias=number == len(BLOCKS))
            self.stages.append(nn.Sequential(*block, last))
            channels //= 2
        self.project = nn.Conv1d(2 * channels, DIMENSION, 1, bias=False)
        self.norm = nn.BatchNorm1d(DIMENSION, affine=False)

    def forward(self, banks: Tensor) -> Tensor:
        """Embed recordings.

        Parameters
        ----------
        banks : Tensor, recordings × frames × 80
            Filter banks with their mean over time removed; the output has the shape
            recordings × 192.
        """
        x = functional.relu(self.first(self.head(banks)))
        for stage in self.stages:
            x = stage(x)
        x = functional.relu(x)
        statistics = torch.cat([x.mean(2, keepdim=True), x.std(2, keepdim=True)], dim=1)
        return self.norm(self.project(statistics).squeeze(2))


def load_campplus(path: Path) -> Campplus:
    """Make the network with the weights of a file.

    Parameters
    ----------
    path : Path
        CAM++ in ONNX form, such as the default encoder or a retrained one.

    Returns
    -------
    Campplus
        In the mode in which normalisations use the statistics of the file.

    Raises
    ------
    InputError
        ``unsupported`` for a file that holds another network.
    """
    network, graph = Campplus(), onnx.load(path).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    casts = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Cast"}
    with torch.no_grad():
        for weight, name in _named_weights(network, graph, path):
            array = stored.get(casts.get(name, name))
            if array is None or array.shape != tuple(weight.shape):
                raise _other_network(path)
            weight.copy_(torch.from_numpy(array.astype(np.float32)))
    network.eval()
    return network


def dump_campplus(network: Campplus, path: Path) -> bytes:
    """Return a file with the weights of a network in place of those it holds.

    Parameters
    ----------
    network : Campplus
        The trained network.
    path : Path
        CAM++ in ONNX form; it is not changed.

    Returns
    -------
    bytes
        An ONNX file with weights in single precision.
    """
    model = onnx.load(path)
    graph = model.graph
    arrays: dict[str, NDArray[np.float32]] = {
        name: weight.detach().cpu().numpy() for weight, name in _named_weights(network, graph, path)
    }
    casts = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Cast"}
    replaced = {casts.get(name, name) for name in arrays}
    kept = [tensor for tensor in graph.initializer if tensor.name not in replaced]
    nodes = [node for node in graph.node if not arrays.keys() & set(node.output)]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.initializer.extend(numpy_helper.from_array(arrays[name], name) for name in arrays)
    graph.node.extend(nodes)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _named_weights(
    network: Campplus, graph: GraphProto, path: Path
) -> Iterator[tuple[Tensor, str]]:
    """Weights of the network with their names in the graph; both compute in the same order."""
    layers = {"Conv": (nn.Conv1d, nn.Conv2d), "BatchNormalization": (nn.BatchNorm1d,)}
    for kind, classes in layers.items():
        modules = [module for module in network.modules() if isinstance(module, classes)]
        nodes = [node for node in graph.node if node.op_type == kind]
        if len(modules) != len(nodes):
            raise _other_network(path)
        for module, node in zip(modules, nodes, strict=True):
            yield from _layer_weights(module, node, path)


def _layer_weights(module: nn.Module, node: NodeProto, path: Path) -> Iterator[tuple[Tensor, str]]:
    """Weight, bias, mean and variance of a layer, as far as it has them."""
    tensors = [module.weight, module.bias]
    if isinstance(module, nn.BatchNorm1d):
        tensors += [module.running_mean, module.running_var]
    names = list(node.input[1:])
    names += [""] * (len(tensors) - len(names))
    for tensor, name in zip(tensors, names, strict=True):
        if tensor is not None:
            yield tensor, name


def _other_network(path: Path) -> InputError:
    return InputError(
        f"{path}: not the network CAM++; retraining starts from the default encoder or from a "
        "retrained one",
        code="unsupported",
    )
