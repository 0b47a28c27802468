"""Asking models on disk: a tiny model of transformers, and tables that cannot be used."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.memorisation.asking import Candidates, ask, open_model, read_candidates

HEADER = "canary,candidate,text,inserted\n"


def test_candidates_are_read_with_their_prefix(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text(
        HEADER + "a,an,an ant is an ok,true\na,the,an ant is the ok,false\n"
        "b,x,x y,true\nb,z,z y,false\n"
    )
    first, second = read_candidates(path)
    assert first == Candidates("a", "an ant is ", ("an", "the"), 0)
    assert second.prefix == ""


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("canary,candidate,inserted\na,b,true\n", "missing-column"),
        (HEADER + "a,b,c b,false\n", "not-one-secret"),
        (HEADER + "a,b,c b,true\na,d,e d,false\n", "mismatch"),
    ],
)
def test_tables_that_cannot_be_used(content: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text(content)
    with raises_code(code):
        read_candidates(path)


def test_a_model_of_transformers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[UNK]", "the", "pin", "is", *"0123456789"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(words), n_positions=16, n_embd=8, n_layer=1, n_head=2
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    model.save_pretrained(tmp_path / "m", safe_serialization=True)
    fast.save_pretrained(tmp_path / "m")
    values = ("1 2", "3", "3 4")
    asked = ask(open_model(tmp_path / "m"), [Candidates("pin", "the pin is ", values, 0)])[0]
    expected = []
    for value in values:
        ids = torch.tensor([fast(f"the pin is {value}", add_special_tokens=False)["input_ids"]])
        logs = torch.log_softmax(model(ids).logits[0], dim=1).detach()
        places = range(3, ids.shape[1])
        expected.append(-sum(float(logs[i - 1, ids[0, i]]) for i in places) / math.log(2))
    np.testing.assert_allclose(asked.values, expected, rtol=1e-4)
    for path in (tmp_path / "m").glob("*.safetensors"):
        path.unlink()
    with raises_code("not-found"):
        open_model(tmp_path / "m")


def test_folders_without_a_model(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    with raises_code("not-found"):
        open_model(tmp_path)
    with raises_code("not-found"):
        open_model(tmp_path / "nowhere")
