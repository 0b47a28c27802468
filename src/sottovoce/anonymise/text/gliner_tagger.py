"""A GLiNER model that a user has, as a tagger: Zaratiana et al., *GLiNER*, NAACL 2024.

It scores every run of words against labels in plain words. Its scores lie between 0 and 1, but are
not calibrated, and differ between models. So it is asked beside the taggers of the package, never
instead of them, and τ moves it only in part (:func:`threshold`).

Everything comes from one folder: no network, no pickle, no code of the model's maker.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import Path, PurePath
from typing import Any

from sottovoce.anonymise.text.entities import Entity, united
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.files import read_json

GLINER = "gliner:"
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
"""What a model is asked for, and the type it becomes. Numbers as such (NUM) are left to the taggers
of the package; MISC is not private."""
DEFAULT = 0.5
"""The threshold that GLiNER is published with."""
LOWEST = 0.3
"""What an entity scores at least; NVIDIA's Anonymizer, which is built on GLiNER, uses it too."""
BATCH = 8
"""Windows that go through a model together; GLiNER's own default."""
_CONFIG, _WEIGHTS, _TOKENIZER = "gliner_config.json", "model.safetensors", "tokenizer_config.json"
_SAVE = (
    "python -c \"from gliner import GLiNER; GLiNER.from_pretrained('NAME')"
    ".save_pretrained('FOLDER', safe_serialization=True)\""
)
_AGAIN = f"save the model again: {_SAVE}"
_UNUSED = ("labels_decoder", "relations_layer", "precomputed_prompts_mode")


def threshold(tau: float | None) -> float:
    """The score from which a run of words is an entity.

    A word in a run that scores s has P(O) ≤ 1 − s, if scores are probabilities; so it is private,
    P(O) < τ, if s > 1 − τ. They are not calibrated, and 0.05, which the usual τ of 0.95 would give,
    is a tenth of what GLiNER is published with: below 0.3 they are not trusted, so from τ = 0.7
    upwards τ moves nothing. Without τ, what is more probable than not: the default of GLiNER.

    >>> [threshold(tau) for tau in (None, 0.25, 0.95)]
    [0.5, 0.75, 0.3]
    """
    return DEFAULT if tau is None else max(LOWEST, 1 - tau)


def windows(costs: Sequence[int], most: int, room: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Runs of pieces that a model takes whole, in order, each begun again before the last ended.

    A run has ``most`` pieces and costs ``room`` at most, unless it is a single piece. Neighbours
    share ``overlap`` pieces, but no more than half of a run.

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
    """The entities of a GLiNER model in a folder."""

    beside = True
    rule = "tagger gliner"
    kinds = frozenset(LABELS.values())

    def __init__(self, name: str) -> None:
        folder = Path(name)
        config = _checked(folder)
        self._model = _load(folder)
        self._splitter: Any = self._model.data_processor.words_splitter
        self._tokenizer: Any = self._model.data_processor.transformer_tokenizer
        self._most, self._overlap = config["max_len"], 2 * config["max_width"]
        self._room = self._set_room(folder)
        with (folder / _WEIGHTS).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
        title = f"{PurePath(str(config.get('model_name', '?'))).name} {digest}"
        self.card = {"register": "gliner", "data": [title], "licence": "?"}

    def _set_room(self, folder: Path) -> int:
        """Pieces of words that fit beside the labels; a tokenizer cuts off the others silently."""
        config, encoder = self._model.config, self._model.config.encoder_config
        ends = getattr(encoder, "max_position_embeddings", None)
        limit = int(self._tokenizer.model_max_length)
        if isinstance(ends, int) and ends > 0:
            limit = min(limit, ends - 2)  # RoBERTa and its kin count positions from 2
        self._tokenizer.model_max_length = limit
        prompt = [part for label in LABELS for part in (config.ent_token, label)]
        asked = self._tokenizer([*prompt, config.sep_token], is_split_into_words=True)
        room = limit - len(asked["input_ids"])
        if room < 1:
            raise InputError(f"{GLINER}{folder}: takes {limit} pieces; the labels alone fill that")
        return room

    def find(self, sentences: Sequence[Sequence[str]], tau: float | None) -> list[list[Entity]]:
        """Entities of every sentence that score above the threshold of τ.

        With τ, nested ones count as well: a word is private if any run it is in is. Its score is
        that of the surest one; an entity has the mean of its words, as with our taggers.
        """
        texts = [" ".join(words).replace(HIDDEN, HIDDEN[0]) for words in sentences]
        cuts = sorted(self._cuts(texts), key=lambda cut: cut[2] - cut[1])
        told = self._model.inference(
            [texts[i][start:end] for i, start, end in cuts],
            list(LABELS),
            flat_ner=tau is None,
            threshold=threshold(tau),
            batch_size=BATCH,
        )
        found: list[list[Entity]] = [[] for _ in sentences]
        places = [_places(words) for words in sentences]
        for (i, start, _), entities in zip(cuts, told, strict=True):
            for one in entities:
                first = bisect_right(places[i], start + one["start"]) - 1
                last = bisect_right(places[i], start + one["end"] - 1)
                kind = LABELS[one["label"]]
                found[i].append(Entity(first, last, kind, float(one["score"]), self.rule))
        return [_scored(united(own), own) for own in found]

    def _cuts(self, texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """Windows over all texts: which one, and the characters from and to."""
        pieces = [list(self._splitter(text)) for text in texts]
        some = [i for i, own in enumerate(pieces) if own]
        if not some:
            return
        split = self._tokenizer(
            [[piece for piece, _, _ in pieces[i]] for i in some],
            is_split_into_words=True,
            add_special_tokens=False,
            verbose=False,
        )
        for row, i in enumerate(some):
            costs = [0] * len(pieces[i])
            for word in split.word_ids(row):
                costs[word] += 1
            for start, end in windows(costs, self._most, self._room, self._overlap):
                yield i, pieces[i][start][1], pieces[i][end - 1][2]


def _scored(entities: Sequence[Entity], runs: Sequence[Entity]) -> list[Entity]:
    """Entities with the mean score of their words, each as sure as the surest run it is in."""
    sure: dict[int, float] = {}
    for one in runs:
        for i in range(one.start, one.end):
            sure[i] = max(one.score, sure.get(i, 0.0))
    return [
        one._replace(score=sum(sure[i] for i in range(one.start, one.end)) / one.length)
        for one in entities
    ]


def _places(words: Sequence[str]) -> list[int]:
    """Where each word begins in the text that they make."""
    lengths = (len(word.replace(HIDDEN, HIDDEN[0])) + 1 for word in words)
    return list(accumulate(lengths, initial=0))[: len(words)]


def _checked(folder: Path) -> dict[str, Any]:
    """The settings of a model, after a look at what its folder has; before anything is loaded."""
    name = f"{GLINER}{folder}"
    if not folder.is_dir():
        raise InputError(f"{name}: no such folder; none is downloaded here, save one: {_SAVE}")
    if not (folder / _CONFIG).is_file():
        raise InputError(f"{name}: no {_CONFIG}, so no GLiNER model; save one: {_SAVE}")
    if not (folder / _WEIGHTS).is_file():
        pickled = (folder / "pytorch_model.bin").exists()
        why = "pytorch_model.bin is a pickle, which is not read" if pickled else "no weights"
        raise InputError(f"{name}: {why}; make {_WEIGHTS}, NAME being this folder: {_SAVE}")
    config = read_json(folder / _CONFIG, _AGAIN)
    asked = [""] if config.get("labels_encoder") is None else ["", "labels_tokenizer"]
    whole = all((folder / part / _TOKENIZER).is_file() for part in asked)
    parts = ["encoder_config", "labels_encoder_config"][: len(asked)]
    if not whole or not all(isinstance(config.get(part), dict) for part in parts):
        raise InputError(f"{name}: its tokenizer or encoder is elsewhere; save it whole: {_SAVE}")
    for path in [*folder.glob("*config.json"), *folder.glob("*/*config.json")]:
        if _brings_code(read_json(path, _AGAIN)):
            raise InputError(f"{name}: {path.name} asks for code of its maker; it is not run here")
    splitter = config.get("words_splitter_type", "whitespace")
    if splitter != "whitespace":
        raise InputError(f"{name}: splits words by {splitter!r}; only 'whitespace' is known here")
    if str(config.get("model_type")) == "gliner_streaming_span" or any(map(config.get, _UNUSED)):
        raise InputError(f"{name}: does more than find entities; name a plain GLiNER model")
    sizes = {"max_len": 384, "max_width": 12} | config
    if not all(type(sizes[size]) is int and sizes[size] > 0 for size in ("max_len", "max_width")):
        raise InputError(f"{name}: max_len and max_width of {_CONFIG}; use whole numbers above 0")
    return sizes


def _brings_code(value: Any) -> bool:
    """Whether settings name Python code or a compiled kernel to be loaded."""
    if isinstance(value, list):
        return any(map(_brings_code, value))
    if not isinstance(value, dict):
        return False
    kernel = (v for k, v in value.items() if k.endswith("attn_implementation"))
    return (
        "auto_map" in value or any("/" in str(v) for v in kernel) or _brings_code([*value.values()])
    )


def _load(folder: Path) -> Any:
    """The model in a folder, ready to be asked, with all of its weights."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when the libraries below are imported
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        gliner, safetensors = import_module("gliner"), import_module("safetensors")
    except ImportError:
        raise UsageError(f"{GLINER}{folder}: GLiNER is not there; pip install gliner") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they speak to who trains models
            model: Any = gliner.GLiNER.from_pretrained(str(folder), local_files_only=True)
        with safetensors.safe_open(folder / _WEIGHTS, framework="pt") as file:
            there = {*file.keys(), *(file.metadata() or {})}
    except Exception as error:  # of four libraries, each with kinds of its own
        told = str(error).partition("\n")[0][:120]
        raise InputError(f"{GLINER}{folder}: no model that GLiNER can load ({told})") from None
    lacking = [name for name, _ in model.model.named_parameters() if name not in there]
    if lacking:  # GLiNER would go on with random numbers
        raise InputError(f"{GLINER}{folder}: {_WEIGHTS} lacks {len(lacking)} parts; save it again")
    return model
