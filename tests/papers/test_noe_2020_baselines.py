"""Document 002, Table 2, Figures 2 and 3: what becomes of drawn embeddings of two baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.papers import noe_2020
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput
from sottovoce.speaker import Cosine
from sottovoce.speaker.embeddings import Embeddings

EACH = 4
Run = Callable[[str, "DrawnStudy"], ItemOutput]
SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class DrawnStudy:
    """Speakers ``f0``, ``f1`` …, whose voices are all one for baselines that are in ``lost``."""

    genders: str
    """A letter a speaker; a dash for an unknown gender."""
    lost: tuple[str, ...] = ()
    described: str = "drawn speech"

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Speaker and gender of each recording."""
        speakers = [(f"{g}{i}", g.strip("-")) for i, g in enumerate(self.genders)]
        return [label for label in speakers for _ in range(EACH)]

    @property
    def division(self) -> SimpleNamespace:
        utterances = tuple(
            Utterance(str(row), Path("x.wav"), speaker, gender=gender)
            for row, (speaker, gender) in enumerate(self.labels)
        )
        trial = Corpus("drawn", Path(), utterances)
        return SimpleNamespace(
            trial=SimpleNamespace(corpus=trial),
            train=SimpleNamespace(corpus=SimpleNamespace(speakers=["a", "b", "c"])),
        )

    def sets(self, spec: AnonymiserSpec, attackers: object) -> dict[tuple[str, str], Embeddings]:
        speakers, genders = zip(*self.labels, strict=True)
        known = genders if any(genders) else None
        rng = np.random.default_rng(0)
        voices = np.repeat(rng.normal(0, 1, (len(self.genders), 16)), EACH, axis=0)
        before = voices + rng.normal(0, 0.2, voices.shape)
        after = np.ones_like(voices) if spec.method in self.lost else before
        return {
            ("trial", form): Embeddings.of(vectors, speakers, gender=known)
            for form, vectors in (("original", before), ("released", after))
        }

    def trained(self, sets: object, attacker: object) -> SimpleNamespace:
        return SimpleNamespace(linkage=Cosine())


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def run_item(name: str, study: DrawnStudy) -> ItemOutput:
        monkeypatch.setattr(noe_2020, "open_study", lambda data: study)
        return ITEMS[name].run(PaperData(tmp_path))

    return run_item


def texts(output: ItemOutput) -> list[str]:
    root = ElementTree.fromstring(output.drawings["figure-3"].svg)
    return [str(element.text) for element in root.iter(f"{SVG}text")]


def test_table_2_sets_each_gender_beside_its_set(run: Run) -> None:
    output = run("002-table-2", DrawnStudy("fffmmmm"))
    rows = {row[0]: row for row in output.tables[0].rows}
    assert rows["f, primary"][1::2] == (99.54, -9.19, 3)
    assert rows["m, secondary"][1::2] == (41.23, -1.19, 4)
    published = {entry.quantity: entry.published for entry in output.compared}
    assert published["DeID in %, ldtf, secondary"] == 55.41
    assert published["G_VD in dB, ldtm, primary"] == -8.66
    ours = {entry.quantity: entry.ours for entry in output.compared}
    assert ours["DeID in %, ldtf, secondary"] == 0  # nothing was done to these vectors
    assert not any("VCTK folder" in remark for remark in output.remarks)


def test_a_gender_without_speakers_is_left_out(run: Run) -> None:
    for study in (DrawnStudy("mmm"), DrawnStudy("fmmm--")):
        output = run("002-table-2", study)
        assert {str(row[0])[0] for row in output.tables[0].rows} == {"m"}
        assert not any("ldtf" in entry.quantity for entry in output.compared)
        assert sum("ldtf is left out" in remark for remark in output.remarks) == 1
        assert all(row[-1] == 3 for row in output.tables[0].rows)


def test_speech_without_genders_stands_beside_no_set(run: Run) -> None:
    with raises_code("too-few"):
        run("002-figure-3", DrawnStudy("----"))


def test_lost_distinctiveness_is_no_point_at_0_db(run: Run) -> None:
    output = run("002-figure-3", DrawnStudy("fffmmm", lost=("xvector",)))
    (before,) = {row[2] for row in output.tables[0].rows if "secondary" in str(row[0])}
    assert before == 0
    assert {row[2] for row in output.tables[0].rows if "primary" in str(row[0])} == {None}
    assert sum("D_diag(PP) is 0" in remark for remark in output.remarks) == 2
    assert texts(output).count("f here") == 1  # of the secondary baseline
    assert "primary, here" not in texts(output) and "secondary, here" in texts(output)
    assert output.compared[1].ours is None


def test_matrices_that_look_otherwise_have_a_reason(run: Run) -> None:
    primary, secondary = run("002-figure-2", DrawnStudy("fffmmm")).compared
    assert "trained on 3 speakers" in primary.why and secondary.why == ""
    lost, _ = run("002-figure-2", DrawnStudy("fffmmm", lost=("xvector",))).compared
    assert lost.why == ""


def test_ranges_have_a_reason(run: Run) -> None:
    output = run("002-figure-3", DrawnStudy("fffmmm"))
    assert all("trained on 3 speakers" in entry.why for entry in output.compared)
    assert [entry.ours for entry in output.compared] == ["0.0 to 0.0", "0.0 to 0.0"]
