"""A GLiNER model of the user, as a tagger: Zaratiana et al., *GLiNER*, NAACL 2024.

It scores every run of words against labels in plain words. Its scores lie between 0 and 1, but are
not calibrated, and differ between models. So it is used in addition to the taggers of the package,
never instead of them, and τ has only a limited effect (:func:`threshold`).

Everything comes from one folder: no network, no pickle, no code of the model's author.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import Path, PurePath
from typing import Protocol, TypedDict

from sottovoce.anonymise.text.crf import TaggerCard
from sottovoce.anonymise.text.entities import Entity, resolve_overlaps
from sottovoce.anonymise.text.taggers import TaggerInfo
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.core.errors import InputError, UsageError, first_line
from sottovoce.core.files import read_json
from sottovoce.core.records import Json, JsonObject

LABELS = {
    "person": "PER",
    "location": "LOC",
    "address": "LOC",
    "organization": "ORG",
    "date": "DATE",
    "time": "TIME",
    "email address": "EMAIL",
    "phone number": "PHONE",
    "url": "URL",
    "username": "ID",
    "identification number": "ID",
    "bank account number": "ID",
    "credit card number": "ID",
}
"""Labels that a model is asked for, with the entity type. Numbers as such (NUM) are left to the
taggers of the package; MISC is not private."""
DEFAULT_THRESHOLD = 0.5
"""The threshold that GLiNER is published with."""
MIN_THRESHOLD = 0.3
"""The lowest threshold; NVIDIA's Anonymizer, which is built on GLiNER, uses it too."""
BATCH = 8
"""Windows that go through a model together; GLiNER's own default."""
_CONFIG, _WEIGHTS, _TOKENIZER = "gliner_config.json", "model.safetensors", "tokenizer_config.json"
_SAVE = (
    "python -c \"from gliner import GLiNER; GLiNER.from_pretrained('NAME')"
    ".save_pretrained('FOLDER', safe_serialization=True)\""
)
_SAVE_AGAIN = f"save the model again: {_SAVE}"
_OTHER_TASKS = ("labels_decoder", "relations_layer", "precomputed_prompts_mode")


class _Prediction(TypedDict):
    start: int
    end: int
    label: str
    score: float


class _Encoded(Protocol):
    """What is used of ``transformers.BatchEncoding``."""

    def __getitem__(self, key: str) -> Sequence[int]: ...

    def word_ids(self, row: int) -> Sequence[int]: ...


class _Tokenizer(Protocol):
    """What is used of a tokenizer of ``transformers``."""

    model_max_length: int

    def __call__(
        self, text: Sequence[str] | Sequence[Sequence[str]], **options: bool
    ) -> _Encoded: ...


class _Config(Protocol):
    encoder_config: object
    ent_token: str
    sep_token: str


class _Processor(Protocol):
    words_splitter: Callable[[str], Iterator[tuple[str, int, int]]]
    transformer_tokenizer: _Tokenizer


class _Network(Protocol):
    def named_parameters(self) -> Iterator[tuple[str, object]]: ...


class _Gliner(Protocol):
    """What is used of ``gliner.GLiNER``."""

    config: _Config
    data_processor: _Processor
    model: _Network

    def inference(
        self,
        texts: Sequence[str],
        labels: Sequence[str],
        *,
        flat_ner: bool,
        threshold: float,
        batch_size: int,
    ) -> list[list[_Prediction]]: ...


def threshold(tau: float | None) -> float:
    """Return the score from which a run of words is an entity.

    If scores were probabilities, a word in a run that scores s would have P(O) ≤ 1 − s, and would
    be private, P(O) < τ, if s > 1 − τ. They are not calibrated, and the 0.05 that the default τ of
    0.95 would give is a tenth of what GLiNER is published with. So the threshold is never below
    0.3, and values of τ above 0.7 have no further effect.

    Parameters
    ----------
    tau : float or None
        τ; None gives GLiNER's own default: what is more probable than not.

    Examples
    --------
    >>> [threshold(tau) for tau in (None, 0.25, 0.95)]
    [0.5, 0.75, 0.3]
    """
    return DEFAULT_THRESHOLD if tau is None else max(MIN_THRESHOLD, 1 - tau)


def windows(costs: Sequence[int], most: int, room: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Cut a text into overlapping windows that a model can take as a whole.

    Parameters
    ----------
    costs : sequence of int
        Tokens of each word.
    most : int
        Words of a window at most.
    room : int
        Tokens of a window at most, unless it is a single word.
    overlap : int
        Words that neighbouring windows share, but no more than half of a window.

    Yields
    ------
    (int, int)
        The first word of a window and the one after its last.

    Examples
    --------
    >>> list(windows([1] * 10, 6, 99, 2))
    [(0, 6), (4, 10)]
    """
    start, count = 0, len(costs)
    while start < count:
        end, left = start + 1, room - costs[start]
        while end < count and end - start < most and costs[end] <= left:
            left -= costs[end]
            end += 1
        yield start, end
        start = count if end == count else end - min(overlap, (end - start) // 2)


class GlinerTagger:
    """The entities of a GLiNER model in a folder.

    Parameters
    ----------
    name : str
        The folder.

    Raises
    ------
    InputError
        If the folder has no model that can be used; ``unsafe-model`` if it contains code or a
        pickle.
    UsageError
        ``missing-package`` if GLiNER is not installed.
    """

    kinds = frozenset(LABELS.values())

    def __init__(self, name: str) -> None:
        folder = Path(name)
        config = _checked_config(folder)
        self._max_words = _positive_integer(folder, config, "max_len", 384)
        self._overlap = 2 * _positive_integer(folder, config, "max_width", 12)
        self._model = _load(folder)
        self._splitter = self._model.data_processor.words_splitter
        self._tokenizer = self._model.data_processor.transformer_tokenizer
        self._room = self._limit_tokens(folder)
        with (folder / _WEIGHTS).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
        title = f"{PurePath(str(config.get('model_name', '?'))).name} {digest}"
        card = TaggerCard(register="gliner", data=[title], licence="?")
        self.info = TaggerInfo(name="gliner", kinds=self.kinds, card=card)

    def _limit_tokens(self, folder: Path) -> int:
        """Return how many tokens fit beside the labels; a tokenizer drops the others silently."""
        config = self._model.config
        positions = getattr(config.encoder_config, "max_position_embeddings", None)
        limit = int(self._tokenizer.model_max_length)
        if isinstance(positions, int) and positions > 0:
            limit = min(limit, positions - 2)  # RoBERTa and similar models count positions from 2
        self._tokenizer.model_max_length = limit
        prompt = [part for label in LABELS for part in (config.ent_token, label)]
        encoded = self._tokenizer([*prompt, config.sep_token], is_split_into_words=True)
        room = limit - len(encoded["input_ids"])
        if room < 1:
            message = f"gliner:{folder}: takes {limit} tokens; the labels alone need more"
            raise InputError(message, code="out-of-range")
        return room

    def tag(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Find the entities of every sentence that score above the threshold of τ.

        Parameters
        ----------
        sentences : sequence of sequence of str
            The words of each sentence.
        tau : float or None
            See :func:`threshold`. With τ, nested entities count as well: a word is private if any
            run it belongs to is.

        Returns
        -------
        list of list of Entity
            One list per sentence. A word scores as its best run, an entity the
            mean of its words.
        """
        texts = [" ".join(words).replace(HIDDEN, HIDDEN[0]) for words in sentences]
        cuts = sorted(self._cuts(texts), key=lambda cut: cut[2] - cut[1])
        predictions = self._model.inference(
            [texts[i][start:end] for i, start, end in cuts],
            list(LABELS),
            flat_ner=tau is None,
            threshold=threshold(tau),
            batch_size=BATCH,
        )
        runs: list[list[Entity]] = [[] for _ in sentences]
        positions = [_word_positions(words) for words in sentences]
        for (i, start, _), window in zip(cuts, predictions, strict=True):
            for run in window:
                first = bisect_right(positions[i], start + run["start"]) - 1
                last = bisect_right(positions[i], start + run["end"] - 1)
                kind, score = LABELS[run["label"]], float(run["score"])
                runs[i].append(Entity(first, last, kind, score, self.info.rule))
        return [_with_mean_scores(resolve_overlaps(nested), nested) for nested in runs]

    def _cuts(self, texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """Yield the windows of all texts: index of the text, first character, character after."""
        words = [list(self._splitter(text)) for text in texts]
        filled = [i for i, text_words in enumerate(words) if text_words]
        if not filled:
            return
        encoded = self._tokenizer(
            [[word for word, _, _ in words[i]] for i in filled],
            is_split_into_words=True,
            add_special_tokens=False,
            verbose=False,
        )
        for row, i in enumerate(filled):
            costs = [0] * len(words[i])
            for word in encoded.word_ids(row):
                costs[word] += 1
            for start, end in windows(costs, self._max_words, self._room, self._overlap):
                yield i, words[i][start][1], words[i][end - 1][2]


def _with_mean_scores(entities: Sequence[Entity], runs: Sequence[Entity]) -> list[Entity]:
    """Give entities the mean score of their words, each scored like the best run it is in."""
    scores: dict[int, float] = {}
    for run in runs:
        for i in range(run.start, run.end):
            scores[i] = max(run.score, scores.get(i, 0.0))
    return [
        entity._replace(score=sum(scores[i] for i in range(*entity[:2])) / entity.length)
        for entity in entities
    ]


def _word_positions(words: Sequence[str]) -> list[int]:
    """Return where each word begins in the text that they form."""
    lengths = (len(word.replace(HIDDEN, HIDDEN[0])) + 1 for word in words)
    return list(accumulate(lengths, initial=0))[: len(words)]


def _checked_config(folder: Path) -> JsonObject:
    """Return the settings of a model after checks of its folder, before anything is loaded."""
    name = f"gliner:{folder}"
    _check_files(folder, name)
    config: JsonObject = read_json(folder / _CONFIG, _SAVE_AGAIN)
    encoders = [""] if config.get("labels_encoder") is None else ["", "labels_tokenizer"]
    complete = all((folder / part / _TOKENIZER).is_file() for part in encoders)
    parts = ["encoder_config", "labels_encoder_config"][: len(encoders)]
    if not complete or not all(isinstance(config.get(part), dict) for part in parts):
        raise InputError(
            f"{name}: its tokenizer or encoder is in another place; save it as a whole: {_SAVE}",
            code="incomplete",
        )
    for path in [*folder.glob("*config.json"), *folder.glob("*/*config.json")]:
        if _requires_code(read_json(path, _SAVE_AGAIN)):
            raise InputError(
                f"{name}: {path.name} requires code of the model's author, which is not run here",
                code="unsafe-model",
            )
    splitter = config.get("words_splitter_type", "whitespace")
    streaming = str(config.get("model_type")) == "gliner_streaming_span"
    if splitter != "whitespace" or streaming or any(map(config.get, _OTHER_TASKS)):
        raise InputError(
            f"{name}: only plain GLiNER models that split words at white space are supported",
            code="unsupported",
        )
    return config


def _check_files(folder: Path, name: str) -> None:
    """Refuse a folder without settings, or without weights that are safe to load."""
    if not folder.is_dir():
        raise InputError(
            f"{name}: no such folder; nothing is downloaded here, so save a model first: {_SAVE}",
            code="not-found",
        )
    if not (folder / _CONFIG).is_file():
        message = f"{name}: no {_CONFIG}, so this is not a GLiNER model; save one: {_SAVE}"
        raise InputError(message, code="not-found")
    if not (folder / _WEIGHTS).is_file():
        pickled = (folder / "pytorch_model.bin").exists()
        reason = "pytorch_model.bin is a pickle, which is not read" if pickled else "no weights"
        raise InputError(
            f"{name}: {reason}; write {_WEIGHTS}, NAME being this folder: {_SAVE}",
            code="unsafe-model" if pickled else "not-found",
        )


def _positive_integer(folder: Path, config: JsonObject, key: str, default: int) -> int:
    value = config.get(key, default)
    if type(value) is not int or value < 1:
        message = f"gliner:{folder}: {key} of {_CONFIG} must be a whole number above 0"
        raise InputError(message, code="out-of-range")
    return value


def _requires_code(value: Json) -> bool:
    """Tell whether settings name Python code or a compiled kernel to be loaded."""
    if isinstance(value, list):
        return any(map(_requires_code, value))
    if not isinstance(value, dict):
        return False
    kernels = (v for k, v in value.items() if k.endswith("attn_implementation"))
    return (
        "auto_map" in value
        or any("/" in str(v) for v in kernels)
        or any(map(_requires_code, value.values()))
    )


def _load(folder: Path) -> _Gliner:
    """Load the model in a folder, and check that all of its weights are there."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when the libraries below are imported
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        gliner, safetensors = import_module("gliner"), import_module("safetensors")
    except ImportError:
        raise UsageError(
            f"gliner:{folder}: GLiNER is not installed; pip install gliner", code="missing-package"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are meant for those who train models
            model: _Gliner = gliner.GLiNER.from_pretrained(str(folder), local_files_only=True)
        with safetensors.safe_open(folder / _WEIGHTS, framework="pt") as file:
            stored = {*file.keys(), *(file.metadata() or {})}
    except Exception as error:  # four libraries, each with its own exceptions
        raise InputError(
            f"gliner:{folder}: not a model that GLiNER can load ({first_line(error)})",
            code="unloadable",
        ) from None
    missing = [name for name, _ in model.model.named_parameters() if name not in stored]
    if missing:  # GLiNER would continue with random numbers
        raise InputError(
            f"gliner:{folder}: {_WEIGHTS} lacks {len(missing)} parameters; save it again",
            code="incomplete",
        )
    return model
