"""Document 002: artificial systems, and the published table."""

from __future__ import annotations

from pathlib import Path

from sottovoce.measure import similarity
from sottovoce.papers.data import PaperData
from sottovoce.papers.noe_2020 import ITEMS, PUBLISHED, artificial_systems


def test_artificial_systems_are_what_the_figure_shows() -> None:
    results = {
        name: similarity(before, after, interval=None)
        for name, (before, after) in artificial_systems().items()
    }
    nothing, one_voice, ideal = results["nothing"], results["one voice"], results["ideal"]
    assert nothing.deid == 0 and nothing.gvd_db == 0
    assert one_voice.deid is not None and one_voice.deid > 0.9
    assert one_voice.gvd_db is not None and one_voice.gvd_db < -10
    assert ideal.deid is not None and ideal.deid > 0.9
    assert ideal.gvd_db is not None and abs(ideal.gvd_db) < 0.5


def test_published_ranges_are_those_of_the_text() -> None:
    """Section 5.2: G_VD of the primary baseline between −7.5 and −13 dB; DeID of the secondary one
    between about 44 and 93 % (the table itself has 41.23 for ldtm).
    """
    gains = [primary[1] for primary, _ in PUBLISHED.values()]
    assert min(gains) > -13 and max(gains) < -7.4
    deid = [secondary[0] for _, secondary in PUBLISHED.values()]
    assert min(deid) == 41.23 and max(deid) == 93.26


def test_figure_1_draws_three_matrices(tmp_path: Path) -> None:
    item = next(item for item in ITEMS if item.id == "002-figure-1")
    output = item.run(PaperData(tmp_path))
    assert output.drawings["figure-1"].svg.count("scale(0.333333)") == 3
