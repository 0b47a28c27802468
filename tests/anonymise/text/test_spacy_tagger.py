"""A real spaCy pipeline, written to disk and loaded again; spaCy is no dependency of ours."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.account import account
from sottovoce.anonymise.text.detect import Detector
from sottovoce.anonymise.text.documents import read_batch
from sottovoce.anonymise.text.spacy_tagger import SpacyTagger, kind_of
from sottovoce.core.errors import InputError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TEXT = "the protocol called qzxv of ward seven was read by ann lee\n"


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rules for two labels, and a network trained on sentences about one product."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spacy: Any = pytest.importorskip("spacy")
        example: Any = pytest.importorskip("spacy.training").Example
        made = spacy.blank("en")
        ner = made.add_pipe("ner")
        ner.add_label("PRODUCT")
        text = "we sold a zorbulator today"
        one = example.from_dict(made.make_doc(text), {"entities": [(10, 20, "PRODUCT")]})
        spacy.util.fix_random_seed(0)
        optimizer = made.initialize(lambda: [one])
        for _ in range(20):
            made.update([one] * 4, sgd=optimizer)
        ruler = made.add_pipe("entity_ruler", before="ner")
        ruler.add_patterns(
            [
                {"label": "WARD", "pattern": [{"LOWER": "ward"}, {"LOWER": "seven"}]},
                {"label": "ORG", "pattern": "qzxv"},
            ]
        )
        folder: Path = tmp_path_factory.mktemp("spacy") / "pipeline"
        made.to_disk(folder)
    return folder


def test_a_pipeline_is_asked_beside_our_taggers(pipeline: Path, tmp_path: Path) -> None:
    found = Detector("en", tagger=f"spacy:{pipeline}").find([TEXT])[0]
    told = {TEXT[one.start : one.end]: (one.kind, one.rule) for one in found}
    assert told["qzxv"] == ("ORG", "tagger spacy")
    assert told["ward seven"] == ("ID", "tagger spacy"), "a label nobody knows is private"
    assert told["ann lee"] == ("PER", "tagger written")
    (tmp_path / "in.txt").write_text(TEXT)
    anonymiser = TextAnonymiser("en", strategy="typed", tagger=f"spacy:{pipeline}")
    batch = read_batch(tmp_path / "in.txt")
    done = anonymiser.transform_all(batch.texts)
    assert "[ORG]" in done[0].text and "[ID]" in done[0].text and "qzxv" not in done[0].text
    again = TextAnonymiser("en", strategy="typed", tagger=f"spacy:{pipeline}")
    assert again.transform(done[0].text).text == done[0].text
    told_all = account(anonymiser, batch, done)
    assert told_all.guarantee is not None, "what our taggers find stays found, so δ holds"
    assert any(one.startswith("own spacy: en_pipeline") for one in told_all.models)


def test_its_network_is_run_and_its_words_keep_their_places(pipeline: Path) -> None:
    tagger = SpacyTagger(str(pipeline), "en")
    assert tagger.kinds == {"MISC", "ID", "ORG"}
    found = tagger.find([["we", "sold", "a", "zorbulator", "today"], [], ["qzxv"]], None)
    assert [[(e.start, e.end, e.kind) for e in one] for one in found] == [
        [(3, 4, "MISC")],
        [],
        [(0, 1, "ORG")],
    ]


def test_pipelines_that_cannot_be_used(pipeline: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="for 'en'; --lang is 'de'"):
        SpacyTagger(str(pipeline), "de")
    with pytest.raises(InputError, match="no pipeline that spaCy can load"):
        SpacyTagger(str(tmp_path / "none"), "en")
    spacy: Any = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="finds no entities"):
        SpacyTagger(str(tmp_path / "blank"), "en")


def test_without_spacy_there_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    with pytest.raises(UsageError, match="pip install spacy"):
        _ = Detector("en", tagger="spacy:en_core_web_sm").own


def test_labels_of_well_known_pipelines() -> None:
    labels = ["PERSON", "PER", "GPE", "FAC", "ORG", "DATE", "TIME", "MISC", "NORP", "CARDINAL"]
    kinds = ["PER", "PER", "LOC", "LOC", "ORG", "DATE", "TIME", "MISC", "MISC", "MISC"]
    assert [kind_of(label) for label in labels] == kinds
