"""A real GLiNER model, trained here, saved and loaded; GLiNER is not a dependency of ours."""

from __future__ import annotations

import json
import random
import shutil
import socket
import string
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from text_files import anonymise_file

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.entities import TYPES
from sottovoce.anonymise.text.gliner_tagger import LABELS, GlinerTagger, threshold, windows
from sottovoce.anonymise.text.taggers import make_tagger
from sottovoce.cli.anonymise_text import command
from sottovoce.core.errors import InputError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TEXT = "the protocol called qzxv of ward seven was read by ann lee\n"
NAMES = {"organization": ["qzxv", "vrelk"], "location": ["blent", "drosk"]}
LETTERS = string.ascii_letters + string.digits + "'.,@:/-_█"
PLAIN = "it was noon and we all read the protocol of ward seven by an office far from here to ask"
POSITIONS = 160
"""Pieces of text that the models here take, labels included: a real one takes 512."""


def examples() -> list[dict[str, Any]]:
    """Sentences that name made-up places and firms, between plain words and random letters."""
    rng = random.Random(0)

    def words(most: int) -> list[str]:
        random_words = ("".join(rng.choices(LETTERS, k=n)) for n in (1, 1, 1, 2, 4, 8))
        return rng.sample([*PLAIN.split(), *random_words, "█", "("], rng.randint(0, most))

    sentences: list[dict[str, Any]] = []
    for label, names in [*NAMES.items()] * 8:
        for name in names:
            before, after = words(8), words(8)
            at = len(before)
            tagged = {"tokenized_text": [*before, name, *after], "ner": [[at, at, label]]}
            sentences += [tagged, {"tokenized_text": words(9) or ["it"], "ner": []}]
    sentences[0]["tokenized_text"].append("y" * (POSITIONS // 3))
    return sentences


def backbone(folder: Path) -> dict[str, Any]:
    """A tokenizer of whole words and single letters, saved; and the settings of a tiny BERT.

    It has no layers, so it knows single words only: what it finds does not depend on luck.
    """
    tokenizers: Any = pytest.importorskip("tokenizers")
    transformers: Any = pytest.importorskip("transformers")
    words = {*PLAIN.split(), *(word for label in LABELS for word in label.split())}
    words |= {name for names in NAMES.values() for name in names}
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    pieces = [*special, *LETTERS, *(f"##{letter}" for letter in LETTERS), *sorted(words)]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(
            vocabulary, unk_token="[UNK]", max_input_chars_per_word=POSITIONS * 9
        )
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    named = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(
        folder
    )
    settings = {
        "model_type": "bert",
        "vocab_size": len(vocabulary),
        "hidden_size": 32,
        "num_hidden_layers": 0,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.2,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    transformers.BertConfig(**settings).save_pretrained(folder)
    return settings


def trained(folder: Path, **settings: Any) -> Path:
    """A model that knows the made-up names, in a folder as its users have it."""
    gliner: Any = pytest.importorskip("gliner")
    torch: Any = pytest.importorskip("torch")
    torch.manual_seed(0)
    back = folder / "back"
    encoder = backbone(back)
    if "labels_encoder" in settings:
        settings |= {"labels_encoder": str(back), "labels_encoder_config": dict(encoder)}
    sizes = {"hidden_size": 32, "dropout": 0.0, "max_len": 24, "max_width": 4}
    sizes |= {"embed_ent_token": False, "num_rnn_layers": 0}
    config = gliner.GLiNERConfig(model_name=str(back), encoder_config=encoder, **sizes, **settings)
    model = gliner.GLiNER.from_config(config, backbone_from_pretrained=False)
    collate = model.data_collator_class(config, data_processor=model.data_processor)
    shown = examples()
    batch = collate(shown, entity_types=[list(LABELS)] * len(shown))
    for name, weights in model.named_parameters():
        if "position_embeddings" in name:  # places it was not shown would be foreign to it
            torch.nn.init.zeros_(weights.requires_grad_(False))
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(400):
        loss = model(**batch, alpha=0.75, gamma=2).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if loss.item() < 0.003:
            break
    model.save_pretrained(folder / "model", safe_serialization=True)
    shutil.rmtree(back)
    return folder / "model"


KINDS: dict[str, dict[str, Any]] = {
    "spans": {},
    "tokens": {"span_mode": "token_level"},
    "two encoders": {"labels_encoder": ""},
}


@pytest.fixture(scope="module")
def trained_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Models by their kind, each trained when it is first asked for."""
    known: dict[str, Path] = {}

    def make(kind: str) -> Path:
        if kind not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[kind] = trained(tmp_path_factory.mktemp("gliner"), **KINDS[kind])
        return known[kind]

    return make


@pytest.fixture(scope="module")
def folder(trained_model: Callable[[str], Path]) -> Path:
    return trained_model("spans")


@pytest.fixture(scope="module")
def tagger(folder: Path) -> GlinerTagger:
    return GlinerTagger(str(folder))


def spans(tagger: GlinerTagger, words: list[str], tau: float | None = None) -> list[Any]:
    return [(e.start, e.end, e.kind) for e in tagger.tag([words], tau)[0]]


def test_a_model_is_used_in_addition_to_our_taggers(folder: Path, tmp_path: Path) -> None:
    shipped = {TEXT[f.start : f.end] for f in Detector("en").find([TEXT])[0]}
    assert shipped == {"ann lee"}
    findings = Detector("en", tagger=f"gliner:{folder}").find([TEXT])[0]
    rules = {TEXT[f.start : f.end]: (f.kind, f.rule) for f in findings}
    assert rules["qzxv"] == ("ORG", "tagger gliner")
    assert rules["ann lee"] == ("PER", "tagger written")
    (tmp_path / "in.txt").write_text(TEXT)
    anonymiser = TextAnonymiser("en", strategy="typed", tagger=f"gliner:{folder}")
    done, summary = anonymise_file(anonymiser, tmp_path / "in.txt", kind="commands")
    assert "[ORG]" in done and "qzxv" not in done
    assert anonymiser.transform(done).text == done
    assert summary.guarantee is not None, "what our taggers find stays found, so δ holds"
    assert any(model.startswith("own gliner: back ") for model in summary.models)


def test_the_command_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    args = [tmp_path / "in.txt", tmp_path / "out.txt", "--tagger", f"gliner:{folder}"]
    done = CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)
    assert done.exit_code == 0 and done.stderr == ""
    assert "qzxv" not in (tmp_path / "out.txt").read_text()


def test_no_network_connection_is_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert spans(GlinerTagger(str(folder)), ["from", "blent", "to", "here"]) == [(1, 2, "LOC")]


def test_entities_have_the_indexes_of_their_words(tagger: GlinerTagger) -> None:
    sentences = [
        ["the", "qzxv", "protocol", "was", "read"],
        [],
        ["we", "asked", "l'vrelk's", "for", "it"],
        ["(", "from", "blent", ")", "to", "█████", "██████", "from", "drosk", "."],
        [""],
        ["", "two words", "", "qzxv", "has", "an", "office"],
    ]
    tagged = tagger.tag(sentences, None)
    assert [[(e.start, e.end, e.kind) for e in entities] for entities in tagged] == [
        [(1, 2, "ORG")],
        [],
        [(2, 3, "ORG")],
        [(2, 3, "LOC"), (8, 9, "LOC")],
        [],
        [(3, 4, "ORG")],
    ]
    assert spans(tagger, sentences[0], 0.95) == [(1, 2, "ORG")]
    assert tagger.tag([], 0.5) == [] and tagger.tag([[], []], 0.5) == [[], []]
    assert tagger.tag(sentences, None) == tagged
    model: Any = tagger._model
    assert not model.training


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_of_a_long_sentence_is_read(
    kind: str, trained_model: Callable[[str], Path]
) -> None:
    """By each kind of model: more words than it takes, and words of more pieces than it takes."""
    tagger = GlinerTagger(str(trained_model(kind)))
    plain = PLAIN.split() * 4
    heavy = ["y" * 30, "1.2.3.4.5.6.7.8", "y" * POSITIONS * 2, "and"]
    for filler in (plain, heavy * 4):
        sentences = [[*filler[:i], "qzxv", *filler[i:]] for i in range(len(filler) + 1)]
        for at, entities in enumerate(tagger.tag(sentences, 0.95)):
            assert any(e.start <= at < e.end for e in entities), (len(filler), at)


@pytest.mark.parametrize("kind", KINDS)
def test_every_window_is_read_whole(kind: str, trained_model: Callable[[str], Path]) -> None:
    """What GLiNER itself makes of a window has all of its words and no more than fit."""
    tagger = GlinerTagger(str(trained_model(kind)))
    model: Any = tagger._model
    texts = [" ".join([PLAIN, "y" * n, "a.b.c.d", PLAIN.upper()] * 3) for n in range(1, 40, 3)]
    for i, start, end in tagger._cuts(texts):
        pieces = [word for word, _, _ in model.data_processor.words_splitter(texts[i][start:end])]
        batch = model.collate_batch(model.prepare_base_input([pieces]), list(LABELS))
        assert batch["words_mask"].max() == len(pieces), "as the tokenizer cut them"
        assert batch["input_ids"].shape[1] < POSITIONS
        assert batch["tokens"][0] == pieces, "as GLiNER cut them"


@given(
    st.lists(st.integers(0, 40), max_size=60),
    st.integers(1, 12),
    st.integers(1, 50),
    st.integers(0, 8),
)
def test_windows_leave_nothing_out(costs: list[int], most: int, room: int, overlap: int) -> None:
    cuts = list(windows(costs, most, room, overlap))
    assert {i for start, end in cuts for i in range(start, end)} == set(range(len(costs)))
    for start, end in cuts:
        assert end - start == 1 or (end - start <= most and sum(costs[start:end]) <= room)
    for (start, end), (after, to) in pairwise(cuts):
        assert end - after == min(overlap, (end - start) // 2)
        assert start < after <= end < to or (start < after and end == to)


def test_more_is_found_at_a_higher_tau(tagger: GlinerTagger) -> None:
    assert (threshold(None), threshold(0.4), threshold(0.95)) == (0.5, 0.6, 0.3)
    texts = [example["tokenized_text"] for example in examples()]
    texts += [[*first, *second] for first, second in pairwise(texts)]
    before: list[set[int]] = [set() for _ in texts]
    for tau in (0.01, 0.2, 0.5, 0.6, 0.7, 0.99):
        tagged = tagger.tag(texts, tau)
        assert all(e.score > threshold(tau) for entities in tagged for e in entities)
        now = [{i for e in entities for i in range(e.start, e.end)} for entities in tagged]
        assert all(a <= b for a, b in zip(before, now, strict=True))
        before = now


def test_nested_entities_are_resolved(
    tagger: GlinerTagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word scores what the surest run it is in does, an entity the mean of its words."""
    predictions = [
        {"start": 0, "end": 3, "label": "person", "score": 0.9},
        {"start": 0, "end": 7, "label": "person", "score": 0.6},
        {"start": 4, "end": 11, "label": "location", "score": 0.4},
    ]
    monkeypatch.setattr(
        tagger._model, "inference", lambda texts, *_, **__: [predictions for _ in texts]
    )
    assert [tuple(e) for e in tagger.tag([["ann", "lee", "ray"]], 0.95)[0]] == [
        (0, 2, "PER", 0.75, "tagger gliner"),
        (2, 3, "LOC", 0.4, "tagger gliner"),
    ]


def test_labels_map_to_our_types() -> None:
    assert GlinerTagger.kinds <= set(TYPES) - {"MISC"}


def described(folder: Path, **settings: Any) -> Path:
    """A folder that looks like a model from outside."""
    folder.mkdir()
    config = {"max_len": 9, "max_width": 3, "encoder_config": {}, **settings}
    (folder / "gliner_config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"encoder_config": None}, "incomplete"),
        ({"labels_encoder": "bge"}, "incomplete"),
        ({"encoder_config": {"auto_map": {"AutoModel": "own.Model"}}}, "unsafe-model"),
        ({"encoder_config": {"_attn_implementation": "me/kernel"}}, "unsafe-model"),
        ({"words_splitter_type": "stanza"}, "unsupported"),
        ({"labels_decoder": "gpt"}, "unsupported"),
        ({"relations_layer": "dot"}, "unsupported"),
        ({"model_type": "gliner_streaming_span"}, "unsupported"),
        ({"max_len": 0}, "out-of-range"),
        ({"max_width": None}, "out-of-range"),
    ],
)
def test_unsupported_models_are_refused(
    tmp_path: Path, settings: dict[str, Any], code: str
) -> None:
    with raises_code(code, InputError):
        make_tagger(f"gliner:{described(tmp_path / 'model', **settings)}", "fr")


def test_folders_without_a_model_are_refused(tmp_path: Path) -> None:
    with raises_code("not-found", InputError) as caught:
        make_tagger("gliner:urchade/gliner_multi-v2.1", "fr")
    assert "save_pretrained" in str(caught.value)
    with raises_code("not-found", InputError) as caught:
        GlinerTagger(str(tmp_path))
    assert "gliner_config.json" in str(caught.value)
    folder = described(tmp_path / "model")
    (folder / "tokenizer_config.json").write_text('{"\\u0061uto_map": {}}')
    with raises_code("unsafe-model", InputError) as caught:
        GlinerTagger(str(folder))
    assert "tokenizer_config.json" in str(caught.value)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with raises_code("unsafe-model", InputError) as caught:
        GlinerTagger(str(folder))
    assert "pytorch_model.bin" in str(caught.value) and "safe_serialization" in str(caught.value)
    (folder / "pytorch_model.bin").unlink()
    with raises_code("not-found", InputError):
        GlinerTagger(str(folder))
    (folder / "model.safetensors").write_bytes(b"")
    for text in ("{", "[]", "[" * 100_000):
        (folder / "gliner_config.json").write_text(text)
        with pytest.raises(InputError) as error:
            GlinerTagger(str(folder))
        assert "gliner_config.json" in str(error.value) and "save_pretrained" in str(error.value)


def test_incomplete_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    numpy: Any = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "model" / "model.safetensors"
    shutil.copytree(folder, path.parent)
    held = numpy.load_file(path)
    path.write_bytes(numpy.save({name: held[name] for name in sorted(held)[1:]}))
    with raises_code("incomplete", InputError):
        GlinerTagger(str(path.parent))
    path.write_bytes(b"no weights")
    with raises_code("unloadable", InputError):
        GlinerTagger(str(path.parent))


def test_labels_that_leave_no_room_for_text(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "model")
    path = tmp_path / "model" / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": 20}))
    with raises_code("out-of-range", InputError):
        GlinerTagger(str(tmp_path / "model"))


def test_without_gliner_the_message_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gliner", None)
    with raises_code("missing-package", UsageError) as caught:
        _ = Detector("en", tagger=f"gliner:{described(tmp_path / 'model')}").custom_tagger
    assert "pip install gliner" in str(caught.value)
