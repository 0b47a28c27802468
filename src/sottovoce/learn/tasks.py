"""Tasks of private training: sentences, images and vectors from files, with a network for each."""

from __future__ import annotations

import hashlib
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from sottovoce.core.errors import InputError, TooFewError, first_line
from sottovoce.core.types import AnyArray, IntArray
from sottovoce.learn.builtin_sentences import builtin_sentences
from sottovoce.learn.gradients import Batch, Loss, select
from sottovoce.learn.idx_files import FILES, read_idx_folder
from sottovoce.learn.networks import (
    LeNet5,
    Normalisation,
    SentenceClassifier,
    VectorClassifier,
    cut_padding,
)
from sottovoce.learn.study import PrivateStudy
from sottovoce.learn.trainer import Collate

MOST_WORDS = 2000
"""Words of the vocabulary, by how frequent they are; the others are one unknown word."""
LONGEST = 40
"""Words of a sentence that are read."""
HELD_OUT = 0.2
UNKNOWN = 1


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Data and network of a task."""

    data: str
    train: Batch
    test: Batch
    units: IntArray | None
    """The person of each training record; None if single records are protected."""
    classes: int
    build: Callable[[Normalisation], nn.Module]
    loss: Loss
    predict: Callable[[nn.Module, Batch], Tensor]
    collate: Collate | None
    public: Tensor | None

    def digest(self) -> str:
        """Return a digest of all data."""
        digest = hashlib.sha256()
        parts = [*self.train, *self.test]
        parts += [] if self.public is None else [self.public]
        for part in parts:
            digest.update(part.contiguous().numpy().tobytes())
        digest.update(b"" if self.units is None else self.units.tobytes())
        return digest.hexdigest()

    def accuracy(self, model: nn.Module, batch: Batch) -> float:
        """Return the share of records that a model classifies rightly.

        Parameters
        ----------
        model : nn.Module
            A trained model.
        batch : tuple of Tensor
            Records; the last tensor holds their classes.
        """
        model.eval()
        with torch.no_grad():
            guesses = [
                self.predict(model, tuple(part[i : i + 500] for part in batch)).argmax(1)
                for i in range(0, len(batch[-1]), 500)
            ]
        model.train()
        return float((torch.cat(guesses) == batch[-1]).double().mean())

    @property
    def chance(self) -> float:
        """Share of the most frequent class among the test records."""
        return float(torch.bincount(self.test[-1]).max() / len(self.test[-1]))

    def held_out(self) -> tuple[Batch, IntArray | None, Batch]:
        """Split the training data by unit: a part to train on, its units, and a held-out part."""
        owners = np.arange(len(self.train[0])) if self.units is None else self.units
        chosen = np.isin(owners, _held_out_units(owners))
        rest = torch.as_tensor(np.flatnonzero(~chosen))
        units = None if self.units is None else self.units[~chosen]
        return select(self.train, rest), units, select(self.train, np.flatnonzero(chosen))


def open_task(study: PrivateStudy) -> Task:
    """Read the data of a study.

    Parameters
    ----------
    study : PrivateStudy
        Its task and files.

    Raises
    ------
    InputError
        ``unreadable``, ``wrong-shape`` or ``too-few``.
    """
    return {"sentences": _sentences, "images": _images, "vectors": _vectors}[study.task](study)


def _held_out_units(owners: IntArray) -> IntArray:
    """A fifth of the units, chosen by a fixed seed."""
    units = np.unique(owners)
    count = max(1, round(HELD_OUT * len(units)))
    return np.random.default_rng(0).permutation(units)[:count]


# ----------------------------------------------------------------------------------- sentences


def _sentences(study: PrivateStudy) -> Task:
    if study.train is None:
        table, name = builtin_sentences(), "built-in: made-up sentences of made-up speakers"
        study = study.model_copy(update={"unit": "speaker"})
    else:
        table, name = _read_table(study.train), study.train.name
    texts, labels, people = _columns(table, study, name)
    train, test = _split(study, len(texts), people)
    names = sorted(set(labels))
    if study.test is not None:
        test_texts, test_labels, _ = _columns(_read_table(study.test), study, study.test.name)
        unseen = sorted(set(test_labels) - set(names))
        if unseen:
            raise InputError(
                f"{study.test.name}: class {unseen[0]!r} is not in the training data; remove it",
                code="wrong-shape",
            )
    else:
        test_texts = [texts[i] for i in test]
        test_labels = [labels[i] for i in test]
    train_texts, train_labels = [texts[i] for i in train], [labels[i] for i in train]
    vocabulary = _vocabulary(train_texts)

    def batch(texts: Sequence[str], labels: Sequence[str]) -> Batch:
        classes = torch.tensor([names.index(label) for label in labels])
        return (*_tokens(texts, vocabulary), classes)

    return Task(
        data=name,
        train=batch(train_texts, train_labels),
        test=batch(test_texts, test_labels),
        units=None if people is None else people[train],
        classes=len(names),
        build=lambda kind: SentenceClassifier(
            len(vocabulary) + 2,
            len(names),
            "layer" if kind == "layer" else "none",
            dimension=32,
            hidden=32,
        ),
        loss=_sentence_loss,
        predict=lambda model, batch: model(*batch[:2]),
        collate=cut_padding,
        public=None,
    )


def _sentence_loss(model: nn.Module, tokens: Tensor, lengths: Tensor, classes: Tensor) -> Tensor:
    return cross_entropy(model(tokens, lengths), classes)


def _read_table(path: Path) -> pl.DataFrame:
    try:
        if path.suffix.lower() == ".parquet":
            return pl.read_parquet(path)
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        return pl.read_csv(path, separator=separator, infer_schema=False)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or 'no such file'}); check the name",
            code="unreadable",
        ) from None
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: not a table ({first_line(error)}); use .csv, .tsv or .parquet",
            code="wrong-shape",
        ) from None


def _columns(
    table: pl.DataFrame, study: PrivateStudy, name: str
) -> tuple[list[str], list[str], IntArray | None]:
    wanted = [study.text, study.label, *([] if study.unit is None else [study.unit])]
    for column in wanted:
        if column not in table.columns:
            raise InputError(
                f"{name}: no column {column!r}, only {', '.join(table.columns)}; name it in the "
                "study (text, label, unit)",
                code="wrong-shape",
            )
    if table.select(wanted).null_count().sum_horizontal().item() or len(table) == 0:
        raise InputError(f"{name}: empty cells or no rows; remove or fill them", code="empty")
    texts = [str(text) for text in table[study.text]]
    labels = [str(label) for label in table[study.label]]
    return texts, labels, None if study.unit is None else _numbered(table[study.unit].to_numpy())


def _numbered(names: AnyArray) -> IntArray:
    return np.unique(np.asarray(names, str), return_inverse=True)[1].astype(np.int64)


def _split(study: PrivateStudy, count: int, people: IntArray | None) -> tuple[IntArray, IntArray]:
    """Rows to train on and to test with; nobody is in both."""
    rows = np.arange(count)
    if study.test is not None:
        return rows, rows[:0]
    owners = rows if people is None else people
    if len(np.unique(owners)) < 10:
        raise TooFewError(f"{len(np.unique(owners))} units; a study needs 10 or more")
    test = np.isin(owners, _held_out_units(owners))
    return rows[~test], rows[test]


def _vocabulary(texts: Sequence[str]) -> dict[str, int]:
    """Frequent words, numbered from 2. They are part of the model; see the guide."""
    counts = Counter(word for text in texts for word in text.lower().split())
    words = sorted(counts, key=lambda word: (-counts[word], word))[:MOST_WORDS]
    return {word: number for number, word in enumerate(words, start=UNKNOWN + 1)}


def _tokens(texts: Sequence[str], vocabulary: dict[str, int]) -> tuple[Tensor, Tensor]:
    rows = [
        [vocabulary.get(word, UNKNOWN) for word in text.lower().split()[:LONGEST]] or [UNKNOWN]
        for text in texts
    ]
    tokens = torch.zeros(len(rows), max(map(len, rows), default=1), dtype=torch.long)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = torch.tensor(row)
    return tokens, torch.tensor([len(row) for row in rows])


# -------------------------------------------------------------------------- images and vectors


def _images(study: PrivateStudy) -> Task:
    assert study.train is not None  # noqa: S101 - checked by the study
    folder = study.train.is_dir()
    arrays = read_idx_folder(study.train) if folder else _arrays(study.train, tuple(FILES))
    train, test = (
        (_pixels(arrays[f"{part}_images"], study.train), _classes(arrays[f"{part}_labels"]))
        for part in ("train", "test")
    )
    public = None
    if study.public is not None:
        public = _pixels(_arrays(study.public, ("images",))["images"], study.public)
    classes = int(max(train[1].max(), test[1].max())) + 1
    return Task(
        data=study.train.name,
        train=train,
        test=test,
        units=None,
        classes=classes,
        build=lambda kind: _lenet(kind, classes, study.pretrained),
        loss=_loss,
        predict=lambda model, batch: model(batch[0]),
        collate=None,
        public=public,
    )


def _lenet(kind: Normalisation, classes: int, pretrained: Path | None) -> nn.Module:
    network = LeNet5(kind, classes=classes)
    if pretrained is not None:
        try:
            weights = torch.load(pretrained, weights_only=True)["weights"]
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, pickle.UnpicklingError):
            raise InputError(
                f"{pretrained}: no model of a study; name a file of its folder models",
                code="unreadable",
            ) from None
        network.take_convolutions(weights)
    return network


def _vectors(study: PrivateStudy) -> Task:
    assert study.train is not None  # noqa: S101 - checked by the study
    wanted = ("vectors", study.label, *(() if study.unit is None else (study.unit,)))
    arrays = _arrays(study.train, wanted)
    people = None if study.unit is None else _numbered(arrays[study.unit])
    train, test = _split(study, len(arrays["vectors"]), people)
    names, classes = np.unique(arrays[study.label].astype(str), return_inverse=True)
    public = None if study.public is None else _arrays(study.public, ("vectors",))["vectors"]
    everything = _unit_length(arrays["vectors"]), torch.as_tensor(classes)
    if study.test is None:
        tested = select(everything, test)
    else:
        others = _arrays(study.test, ("vectors", study.label))
        places = np.searchsorted(names, others[study.label].astype(str)).clip(0, len(names) - 1)
        if not np.array_equal(names[places], others[study.label].astype(str)):
            raise InputError(
                f"{study.test.name}: a class is not in the training data; remove it",
                code="wrong-shape",
            )
        tested = _unit_length(others["vectors"]), torch.as_tensor(places)
    dimension = int(everything[0].shape[1])
    return Task(
        data=study.train.name,
        train=select(everything, train),
        test=tested,
        units=None if people is None else people[train],
        classes=len(names),
        build=lambda kind: VectorClassifier(dimension, len(names), kind),
        loss=_loss,
        predict=lambda model, batch: model(batch[0]),
        collate=None,
        public=None if public is None else _unit_length(public),
    )


def _loss(model: nn.Module, inputs: Tensor, classes: Tensor) -> Tensor:
    return cross_entropy(model(inputs), classes)


def _arrays(path: Path, names: Sequence[str]) -> dict[str, AnyArray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in names if name not in file]
            if missing:
                raise InputError(
                    f"{path}: no array {missing[0]!r}, only {', '.join(file.files)}; name it in "
                    "the study",
                    code="wrong-shape",
                )
            return {name: file[name] for name in names}
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or 'not NumPy'}); use .npz",
            code="unreadable",
        ) from None
    except ValueError:
        raise InputError(f"{path}: not an .npz file; write it again", code="unreadable") from None


def _pixels(pixels: AnyArray, path: Path) -> Tensor:
    if pixels.ndim != 3 or pixels.shape[1:] != (28, 28):
        raise InputError(
            f"{path}: images have the shape {pixels.shape}; LeNet-5 takes n × 28 × 28",
            code="wrong-shape",
        )
    scale = 255 if pixels.dtype == np.uint8 else 1
    return torch.as_tensor(pixels).float().div(scale).clamp(0, 1).unsqueeze(1)


def _classes(labels: AnyArray) -> Tensor:
    return torch.as_tensor(labels.astype(np.int64))


def _unit_length(vectors: AnyArray) -> Tensor:
    values = torch.as_tensor(np.asarray(vectors, np.float32))
    length = values.norm(dim=1, keepdim=True).clamp(min=1e-12)
    return values / length * values.shape[1] ** 0.5
