"""What made an audit: versions, the study, seeds, and its inputs by SHA-256."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version

from sottovoce.audit.study import Study
from sottovoce.corpus.formats import open_corpus
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import AuditFindings, CorpusDigest, Provenance

LIBRARIES = ("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr", "pyworld-prebuilt")
_DRAWS = "repeatable by the seed: do not release the speech in this folder as protected"


def describe_provenance(study: Study, findings: AuditFindings) -> Provenance:
    """Describe what an audit was made from; reads every file of its corpora.

    Parameters
    ----------
    study : Study
        As it was run, with the folders of its corpora.
    findings : AuditFindings
        What it found.
    """
    inputs = {"corpus": digest_corpus(open_corpus(study.corpus))}
    if study.train is not None:
        inputs["train"] = digest_corpus(open_corpus(study.train))
    return Provenance(
        tool="sottovoce",
        version=version("sottovoce"),
        python=platform.python_version(),
        libraries={name: version(name) for name in LIBRARIES},
        study=findings.study,
        seed=study.seed,
        draws=_DRAWS,
        encoder=findings.encoder,
        inputs=inputs,
    )


def digest_corpus(corpus: Corpus) -> CorpusDigest:
    """Digest ids, speakers and the content of all recordings, in the order of ids.

    Parameters
    ----------
    corpus : Corpus
        A file that several utterances share is read once.
    """
    digest = hashlib.sha256()
    contents: dict[str, bytes] = {}
    for utterance in sorted(corpus, key=lambda utterance: utterance.id):
        path = str(utterance.path)
        if path not in contents:
            try:
                with utterance.path.open("rb") as file:
                    contents[path] = hashlib.file_digest(file, "sha256").digest()
            except OSError:
                contents[path] = b"unreadable"
        digest.update(f"{utterance.id}\0{utterance.speaker}\0".encode() + contents[path])
    return CorpusDigest(corpus.name, len(corpus), digest.hexdigest())
