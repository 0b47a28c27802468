"""What a run tells of itself: no promise that was not measured, and the taggers that were asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.account import account, guarantee_of
from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.documents import read_batch
from sottovoce.training.taggers import train_tagger


def models_of(anonymiser: TextAnonymiser, folder: Path) -> list[str]:
    (folder / "a.txt").write_text("call ann at nine pm\n")
    batch = read_batch(folder / "a.txt")
    return account(anonymiser, batch, anonymiser.transform_all(batch.texts)).models


def test_no_promise_for_one_register_since_both_were_measured(tmp_path: Path) -> None:
    assert guarantee_of(TextAnonymiser("en")) is not None
    for register in ("spoken", "written"):
        one = TextAnonymiser("en", register=register)
        assert guarantee_of(one) is None and guarantee_of(one, written=True) is None
        (model,) = models_of(one, tmp_path)
        assert model.startswith(f"en.{register}.npz ")
    assert len(models_of(TextAnonymiser("en"), tmp_path)) == 2


@pytest.mark.parametrize("card", [None, {"data": ["mine/train.conll"]}])
def test_a_tagger_of_ones_own_is_told_with_or_without_a_card(
    card: dict[str, list[str]] | None, tmp_path: Path
) -> None:
    rows = [Sentence(("call", name, "now"), ("O", "B-PER", "O")) for name in ("ann", "bob")] * 30
    train_tagger(rows, "en", "spoken", card=card).save(tmp_path / "own.npz")
    anonymiser = TextAnonymiser("en", tagger=tmp_path / "own.npz")
    (told,) = models_of(anonymiser, tmp_path)
    assert told == ("own spoken: mine/train.conll" if card else "own spoken")
    assert guarantee_of(anonymiser) is None
