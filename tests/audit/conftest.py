"""One corpus and one audit of it for all tests of audits."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_corpus import make_corpus, study

from sottovoce.audit.run import run_audit


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "voices")


@pytest.fixture(scope="session")
def audit(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit") / "out"
    run_audit(study(corpus), folder)
    return folder
