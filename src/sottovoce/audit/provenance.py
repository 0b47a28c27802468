"""What made an audit: versions, the study, seeds, and its inputs by SHA-256."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from typing import Any

from sottovoce.audit.config import Study
from sottovoce.corpus.formats import open_corpus
from sottovoce.corpus.utterance import Corpus

LIBRARIES = ("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr", "pyworld-prebuilt")


def provenance(study: Study, findings: dict[str, Any]) -> dict[str, Any]:
    """All of it; the digest of a corpus is over every one of its files."""
    inputs = {"corpus": digest(open_corpus(study.corpus))}
    if study.train is not None:
        inputs["train"] = digest(open_corpus(study.train))
    return {
        "tool": "sottovoce",
        "version": version("sottovoce"),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "study": findings["study"],
        "seed": study.seed,
        "draws": "repeatable by the seed: do not release the speech in this folder as protected",
        "encoder": findings["encoder"],
        "inputs": inputs,
    }


def digest(corpus: Corpus) -> dict[str, Any]:
    """SHA-256 over ids, speakers and the content of all recordings, in the order of ids."""
    whole = hashlib.sha256()
    contents: dict[str, bytes] = {}
    for one in sorted(corpus, key=lambda one: one.id):
        path = str(one.path)
        if path not in contents:
            try:
                with one.path.open("rb") as file:
                    contents[path] = hashlib.file_digest(file, "sha256").digest()
            except OSError:
                contents[path] = b"unreadable"
        whole.update(f"{one.id}\0{one.speaker}\0".encode() + contents[path])
    return {"name": corpus.name, "utterances": len(corpus), "sha256": whole.hexdigest()}
