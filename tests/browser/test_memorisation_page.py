"""The report of a study of memorisation in a real browser: silent, accessible, at two widths."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from test_report_page import MODULES, SCRIPT, browser

from sottovoce.findings import (
    ClassExposure,
    ControlFinding,
    DiscriminativeExposure,
    EstimatorCheck,
    InsertedWord,
    LanguageModelFinding,
    MemorisationFindings,
    ModelCheck,
    PrivacyFinding,
    TaggerCheck,
    TaggerStudy,
    TextDescription,
)
from sottovoce.measure.exposure import exact_exposure, group_exposures, summarise_exposures
from sottovoce.report.exposure import exposure_page
from sottovoce.report.memorisation import render_memorisation

EXPOSURES = {
    f"pin-{count}x-{number}": exact_exposure(range(100), max(0, 60 - 10 * count - number))
    for count in (0, 1, 4)
    for number in (1, 2)
}


def _model(label: str, privacy: PrivacyFinding | None) -> LanguageModelFinding:
    groups = group_exposures(EXPOSURES)
    first = EXPOSURES["pin-1x-1"]
    control = ControlFinding("pin", summarise_exposures(list(EXPOSURES.values())), True)
    return LanguageModelFinding(
        label=label,
        embedding="random",
        parameters=1000,
        checks=(ModelCheck(1, 90, 95, groups), ModelCheck(2, 60, 80, groups)),
        estimators=(EstimatorCheck("pin-1x-1", 1, first, first, None),),
        controls=(control,),
        privacy=privacy,
    )


def _check(repetitions: int, epoch: int) -> TaggerCheck:
    words = ClassExposure("PER", "Jordan", repetitions / 64, 6.0, 3, 64, 0.5, 0.1)
    return TaggerCheck(
        "crf", repetitions, epoch, 0.7, 0.9, DiscriminativeExposure(words.exposure_bits, (words,))
    )


def _findings() -> MemorisationFindings:
    privacy = PrivacyFinding(10.0, 8.8, 1e-5, 0.8, "differential privacy", (), "sentence")
    return MemorisationFindings(
        name="made up",
        synthetic=True,
        study={"name": "made up"},
        seed=0,
        text=TextDescription("builtin", 100, 700, 300, 10, 6, 10),
        language_models=(_model("without privacy", None), _model("private, ε = 10", privacy)),
        taggers=TaggerStudy(
            100,
            "There are many people who like {}",
            (InsertedWord("Jordan", "PER", {"PER": 3, "LOC": 4}),),
            tuple(_check(count, 60) for count in (0, 64, 256)),
            tuple(_check(16, epoch) for epoch in (1, 5, 10)),
        ),
        versions={"sottovoce": "0"},
    )


def test_nothing_is_wrong_in_any_view(tmp_path: Path) -> None:
    chromium = browser()
    pages = {
        "study": render_memorisation(_findings()),
        "exposure": exposure_page(EXPOSURES, group_exposures(EXPOSURES)),
    }
    for name, content in pages.items():
        page = tmp_path / f"{name}.html"
        page.write_text(content, encoding="utf-8")
        done = subprocess.run(
            ["node", str(SCRIPT), chromium, str(page)],
            env={**os.environ, "NODE_PATH": str(MODULES)},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        for view in json.loads(done.stdout)["views"]:
            for defect in ("requests", "console", "violations", "overflow", "scripts"):
                assert not view[defect], (name, view["view"], defect, view[defect])
