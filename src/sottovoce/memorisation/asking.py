"""Asking a model on disk how likely it finds candidates: our LSTM, or a Hugging Face folder.

Needs torch, and for Hugging Face folders transformers (extra ``huggingface``). Nothing is fetched,
no code of the folder is run, and weights are read from safetensors only.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from sottovoce.core.errors import InputError, MissingExtraError
from sottovoce.core.files import atomic_file, check_exists
from sottovoce.core.types import FloatArray, Progress
from sottovoce.measure.readers.perplexities import CanaryPerplexities

BATCH = 64
"""Texts that a Hugging Face model reads at once."""
_COLUMNS = ("canary", "candidate", "text", "inserted")


class AskedModel(Protocol):
    """A model that tells how likely it finds values after a prefix."""

    def bits(self, prefix: str, values: Sequence[str]) -> FloatArray:
        """Return the log-perplexity of each value in bits."""


class _OurModel:
    """A language model of :mod:`sottovoce.memorisation.language_model`."""

    def __init__(self, folder: Path) -> None:
        from sottovoce.memorisation.language_model import LanguageModel

        self._model = LanguageModel.load(folder)

    def bits(self, prefix: str, values: Sequence[str]) -> FloatArray:
        """Score values word by word.

        Parameters
        ----------
        prefix : str
            Text before the value.
        values : sequence of str
            Values, words separated by blanks.
        """
        from sottovoce.memorisation.language_model import candidate_perplexities

        words = [value.split() for value in values]
        return candidate_perplexities(self._model, prefix.split(), words)


class _HuggingFaceModel:
    """A causal language model of transformers."""

    def __init__(self, folder: Path) -> None:
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError:
            raise MissingExtraError("asking a Hugging Face model", "huggingface") from None
        if not list(folder.glob("*.safetensors")):
            raise InputError(
                f"{folder}: no *.safetensors; save the model with safe_serialization",
                code="not-found",
            )
        try:
            self._tokens = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            self._model = AutoModelForCausalLM.from_pretrained(
                str(folder), local_files_only=True, use_safetensors=True, trust_remote_code=False
            ).eval()
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise InputError(
                f"{folder}: not a causal language model of transformers ({type(error).__name__}); "
                "save model and tokenizer into it",
                code="damaged",
            ) from None
        if not self._tokens.is_fast:
            raise InputError(
                f"{folder}: a tokenizer without offsets; save a fast one (tokenizer.json)",
                code="unavailable",
            )

    def bits(self, prefix: str, values: Sequence[str]) -> FloatArray:
        """Score the tokens that reach beyond the prefix.

        Parameters
        ----------
        prefix : str
            Text before the value.
        values : sequence of str
            Values as they stand in the text.
        """
        parts = [
            self._batch(prefix, values[start : start + BATCH])
            for start in range(0, len(values), BATCH)
        ]
        return np.concatenate(parts)

    def _batch(self, prefix: str, values: Sequence[str]) -> FloatArray:
        import torch

        coded = [
            self._tokens(prefix + value, return_offsets_mapping=True, add_special_tokens=False)
            for value in values
        ]
        start = self._tokens.bos_token_id
        front = [] if start is None else [start]
        width = max(len(entry["input_ids"]) for entry in coded) + len(front)
        ids = torch.zeros((len(coded), width), dtype=torch.int64)
        mask = torch.zeros_like(ids)
        scored = torch.zeros_like(ids)
        for row, entry in enumerate(coded):
            numbers = [*front, *entry["input_ids"]]
            ids[row, : len(numbers)] = torch.tensor(numbers)
            mask[row, : len(numbers)] = 1
            for place, (_, end) in enumerate(entry["offset_mapping"], len(front)):
                scored[row, place] = int(end > len(prefix))
        with torch.no_grad():
            logits = self._model(input_ids=ids, attention_mask=mask).logits.float()
        logs = torch.log_softmax(logits[:, :-1], dim=2)
        chosen = logs.gather(2, ids[:, 1:, None])[:, :, 0]
        total = -(chosen * scored[:, 1:]).sum(dim=1) / math.log(2)
        return np.asarray(total.double().numpy(), np.float64)


def open_model(folder: Path) -> AskedModel:
    """Open a model on disk.

    Parameters
    ----------
    folder : Path
        A folder that a study of memorisation kept, or one of ``save_pretrained``.

    Raises
    ------
    InputError
        ``not-found``, ``damaged`` or ``unavailable``.
    MissingExtraError
        If torch or transformers is not installed.
    """
    check_exists(folder)
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtraError("asking a model", "learn") from None
    from sottovoce.memorisation.language_model import MODEL_FILE

    if (folder / MODEL_FILE).is_file():
        return _OurModel(folder)
    if (folder / "config.json").is_file():
        return _HuggingFaceModel(folder)
    raise InputError(
        f"{folder}: neither {MODEL_FILE} nor config.json in it; name the folder of a model",
        code="not-found",
    )


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a canary, and the text before them."""

    canary: str
    prefix: str
    values: tuple[str, ...]
    secret: int


def read_candidates(path: Path) -> list[Candidates]:
    """Read the candidates that ``sottovoce memorisation insert`` wrote.

    Parameters
    ----------
    path : Path
        A table with the columns canary, candidate, text and inserted.

    Raises
    ------
    InputError
        ``missing-column``, ``not-one-secret``, or ``mismatch`` for texts that do not hold their
        candidates in the same place.
    """
    check_exists(path)
    rows: dict[str, list[dict[str, str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = set(_COLUMNS) - set(reader.fieldnames or ())
        if missing:
            raise InputError(
                f"{path}: no column {sorted(missing)[0]}; give the table that was written by "
                "sottovoce memorisation insert",
                code="missing-column",
            )
        for row in reader:
            rows.setdefault(row["canary"], []).append(row)
    return [_candidates(path, canary, entries) for canary, entries in rows.items()]


def _candidates(path: Path, canary: str, rows: Sequence[dict[str, str]]) -> Candidates:
    secrets = [i for i, row in enumerate(rows) if row["inserted"].strip().lower() == "true"]
    if len(secrets) != 1:
        raise InputError(
            f"{path}: canary {canary!r} has {len(secrets)} candidates with inserted=true; exactly "
            "one is the secret",
            code="not-one-secret",
        )
    first = rows[0]
    for place in _places(first["text"], first["candidate"]):
        prefix = first["text"][:place]
        if all(row["text"].startswith(prefix + row["candidate"]) for row in rows):
            values = tuple(row["candidate"] for row in rows)
            return Candidates(canary, prefix, values, secrets[0])
    raise InputError(
        f"{path}: canary {canary!r}: texts do not differ in their candidates alone",
        code="mismatch",
    )


def _places(text: str, part: str) -> Iterator[int]:
    """Places of a part in a text, the last first: a longer prefix tells the model more."""
    place = text.rfind(part)
    while place >= 0:
        yield place
        place = text.rfind(part, 0, place + len(part) - 1) if place else -1


def ask(
    model: AskedModel, candidates: Sequence[Candidates], progress: Progress | None = None
) -> list[CanaryPerplexities]:
    """Score all candidates.

    Parameters
    ----------
    model : AskedModel
        A model of :func:`open_model`, or anybody's.
    candidates : sequence of Candidates
        One per canary.
    progress : callable, optional
        Called after each canary.
    """
    scored = []
    for done, entry in enumerate(candidates, 1):
        bits = model.bits(entry.prefix, entry.values)
        scored.append(CanaryPerplexities(entry.canary, bits, entry.secret))
        if progress:
            progress(done, len(candidates))
    return scored


def write_scored(
    path: Path, candidates: Sequence[Candidates], scored: Sequence[CanaryPerplexities]
) -> None:
    """Write a table that ``sottovoce memorisation exposure`` reads, for its owner only.

    Parameters
    ----------
    path : Path
        A .csv file.
    candidates : sequence of Candidates
        What was scored.
    scored : sequence of CanaryPerplexities
        The scores, in the same order.
    """
    with (
        atomic_file(path, mode=0o600) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["canary", "candidate", "log_perplexity", "inserted"])
        for entry, result in zip(candidates, scored, strict=True):
            for number, value in enumerate(entry.values):
                inserted = str(number == entry.secret).lower()
                writer.writerow([entry.canary, value, repr(float(result.values[number])), inserted])
