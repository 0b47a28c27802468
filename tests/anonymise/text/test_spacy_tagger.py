"""A real spaCy pipeline, written to disk and loaded again; spaCy is no dependency of ours."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from error_codes import raises_code
from text_files import anonymise_file

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.detect import Detector
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
        pipeline = spacy.blank("en")
        ner = pipeline.add_pipe("ner")
        ner.add_label("PRODUCT")
        text = "we sold a zorbulator today"
        sentence = example.from_dict(pipeline.make_doc(text), {"entities": [(10, 20, "PRODUCT")]})
        spacy.util.fix_random_seed(0)
        optimizer = pipeline.initialize(lambda: [sentence])
        for _ in range(20):
            pipeline.update([sentence] * 4, sgd=optimizer)
        ruler = pipeline.add_pipe("entity_ruler", before="ner")
        ruler.add_patterns(
            [
                {"label": "WARD", "pattern": [{"LOWER": "ward"}, {"LOWER": "seven"}]},
                {"label": "ORG", "pattern": "qzxv"},
            ]
        )
        folder: Path = tmp_path_factory.mktemp("spacy") / "pipeline"
        pipeline.to_disk(folder)
    return folder


def test_a_pipeline_is_used_in_addition_to_our_taggers(pipeline: Path, tmp_path: Path) -> None:
    findings = Detector("en", tagger=f"spacy:{pipeline}").find([TEXT])[0]
    rules = {TEXT[f.start : f.end]: (f.kind, f.rule) for f in findings}
    assert rules["qzxv"] == ("ORG", "tagger spacy")
    assert rules["ward seven"] == ("ID", "tagger spacy"), "an unknown label is private"
    assert rules["ann lee"] == ("PER", "tagger written")
    (tmp_path / "in.txt").write_text(TEXT)
    anonymiser = TextAnonymiser("en", strategy="typed", tagger=f"spacy:{pipeline}")
    done, summary = anonymise_file(anonymiser, tmp_path / "in.txt", kind="commands")
    assert "[ORG]" in done and "[ID]" in done and "qzxv" not in done
    again = TextAnonymiser("en", strategy="typed", tagger=f"spacy:{pipeline}")
    assert again.transform(done).text == done
    assert summary.guarantee is not None, "what our taggers find stays found, so δ holds"
    assert any(model.startswith("own spacy: en_pipeline") for model in summary.models)


def test_the_network_is_run_and_entities_have_word_indexes(pipeline: Path) -> None:
    tagger = SpacyTagger(str(pipeline), "en")
    assert tagger.info.kinds == {"MISC", "ID", "ORG"}
    tagged = tagger.tag([["we", "sold", "a", "zorbulator", "today"], [], ["qzxv"]], None)
    assert [[(e.start, e.end, e.kind) for e in entities] for entities in tagged] == [
        [(3, 4, "MISC")],
        [],
        [(0, 1, "ORG")],
    ]


def test_pipelines_that_cannot_be_used(pipeline: Path, tmp_path: Path) -> None:
    with raises_code("wrong-language", UsageError):
        SpacyTagger(str(pipeline), "de")
    with raises_code("unloadable", InputError):
        SpacyTagger(str(tmp_path / "none"), "en")
    spacy: Any = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with raises_code("no-entities", InputError):
        SpacyTagger(str(tmp_path / "blank"), "en")


def test_without_spacy_the_message_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    with raises_code("missing-package", UsageError) as caught:
        _ = Detector("en", tagger="spacy:en_core_web_sm").custom_tagger
    assert "pip install spacy" in str(caught.value)


def test_labels_of_well_known_pipelines() -> None:
    labels = ["PERSON", "PER", "GPE", "FAC", "ORG", "DATE", "TIME", "MISC", "NORP", "CARDINAL"]
    kinds = ["PER", "PER", "LOC", "LOC", "ORG", "DATE", "TIME", "MISC", "MISC", "MISC"]
    assert [kind_of(label) for label in labels] == kinds
