"""A summary guarantees nothing that was not measured, and names the taggers that were used."""

from __future__ import annotations

from pathlib import Path

import pytest
from text_files import anonymise_file

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.crf import TaggerCard
from sottovoce.training.taggers import train_tagger


def models_of(anonymiser: TextAnonymiser, folder: Path) -> list[str]:
    (folder / "a.txt").write_text("call ann at nine pm\n")
    return anonymise_file(anonymiser, folder / "a.txt")[1].models


def test_no_guarantee_for_one_register_since_both_were_measured(tmp_path: Path) -> None:
    assert TextAnonymiser("en").guarantee("commands") is not None
    for register in ("spoken", "written"):
        anonymiser = TextAnonymiser("en", register=register)
        assert anonymiser.guarantee("commands") is None and anonymiser.worst_leak() is None
        (model,) = models_of(anonymiser, tmp_path)
        assert model.startswith(f"en.{register}.npz ")
    assert len(models_of(TextAnonymiser("en"), tmp_path)) == 2


@pytest.mark.parametrize("card", [None, TaggerCard(data=["mine/train.conll"])])
def test_a_trained_tagger_is_named_with_or_without_a_card(
    card: TaggerCard | None, tmp_path: Path
) -> None:
    rows = [Sentence(("call", name, "now"), ("O", "B-PER", "O")) for name in ("ann", "bob")] * 30
    train_tagger(rows, "en", "spoken", card=card).save(tmp_path / "own.npz")
    anonymiser = TextAnonymiser("en", tagger=tmp_path / "own.npz")
    (model,) = models_of(anonymiser, tmp_path)
    assert model == ("own spoken: mine/train.conll" if card else "own spoken")
    assert anonymiser.guarantee("commands") is None and anonymiser.worst_leak() is None
