"""Running a study of memorisation: every training once, its result kept, one folder at the end."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import polars as pl

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import atomic_file, fingerprint
from sottovoce.core.locks import locked
from sottovoce.core.records import Record, write_json
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.core.types import StageProgress
from sottovoce.corpus.reading import numbered_lines
from sottovoce.findings import (
    LanguageModelFinding,
    MemorisationFindings,
    TaggerCheck,
    TextDescription,
)
from sottovoce.memorisation.canaries import with_vocabulary
from sottovoce.memorisation.demo_text import demo_sentences
from sottovoce.memorisation.study import BUILTIN, MemorisationStudy
from sottovoce.memorisation.tagger_study import study_taggers

FINDINGS, TABLE, REPORT = "memorisation.json", "memorisation.parquet", "report.html"
DEMO_SENTENCES = 1200
HELD_OUT = 10
"""Every so manieth sentence is test text where the study names none."""
_LIBRARIES = ("sottovoce", "numpy", "scipy", "torch", "dp-accounting", "python-crfsuite")


@dataclass(frozen=True, slots=True)
class _Model(Record):
    finding: LanguageModelFinding


_MODEL = Step("language-models", records_of(_Model))


def run_memorisation(
    study: MemorisationStudy, folder: Path, *, progress: StageProgress | None = None
) -> MemorisationFindings:
    """Insert canaries, train, measure, and write JSON and Parquet.

    Parameters
    ----------
    study : MemorisationStudy
        What to do.
    folder : Path
        Where everything is written; trainings that an interrupted run finished are not repeated.
    progress : StageProgress, optional
        Called with the name of a stage and how far it is.

    Raises
    ------
    InputError
        ``exists`` for a folder with other content, ``locked`` while another run writes into it,
        and whatever is wrong with the text.
    """
    show = progress or (lambda stage, done, total: None)
    _check_folder(folder)
    with locked(folder):
        steps = StepCache(folder / "work")
        text: TextDescription | None = None
        models: tuple[LanguageModelFinding, ...] = ()
        if study.language_model is not None:
            text, models = _language_models(study, folder, steps, show)
        taggers = None
        if study.taggers is not None:
            taggers = study_taggers(study.taggers, steps, show, seed=study.seed)
        findings = MemorisationFindings(
            name=study.name,
            synthetic=study.language_model is not None and study.text == BUILTIN,
            study=study.public_settings(),
            seed=study.seed,
            text=text,
            language_models=models,
            taggers=taggers,
            versions=_versions(),
        )
        write_json(folder / FINDINGS, findings)
        _write_table(folder / TABLE, findings)
    return findings


def _check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than a study of memorisation."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; name another", code="exists")
    names = {path.name for path in folder.iterdir()}
    if names and not names & {"work", FINDINGS}:
        raise InputError(f"{folder}: exists and is not empty; name a new folder", code="exists")


def _language_models(
    study: MemorisationStudy, folder: Path, steps: StepCache, progress: StageProgress
) -> tuple[TextDescription, tuple[LanguageModelFinding, ...]]:
    from sottovoce.memorisation.model_study import insert_canaries, sentences_of, study_model

    settings = study.language_model
    if settings is None:
        raise ValueError("a study without language models")
    train_lines, test_lines = _texts(study)
    specs = with_vocabulary(study.canaries, lambda: train_lines)
    secret = Secret(Secret.reproducible(study.seed).digest("memorisation"))
    name = BUILTIN if study.text in (None, BUILTIN) else Path(str(study.text)).name
    text = insert_canaries(
        name,
        sentences_of(train_lines),
        sentences_of(test_lines),
        specs,
        secret,
        vocabulary=settings.vocabulary,
    )
    plans = [(privacy, vectors) for vectors in settings.vectors for privacy in settings.privacy]
    findings = []
    for done, (privacy, vectors) in enumerate(plans):
        progress("training language models", done, len(plans))
        sizes = settings.model_dump(exclude={"privacy", "vectors"})
        inputs = [
            train_lines,
            test_lines,
            [spec.model_dump() for spec in specs],
            sizes,
            None if privacy is None else privacy.model_dump(),
            None if vectors is None else fingerprint(Path(vectors)),
            study.seed,
        ]
        keep = folder / "models" / steps.key(inputs)
        train = partial(study_model, text, settings, privacy, vectors, seed=study.seed, keep=keep)
        findings.append(steps.get(_MODEL, inputs, partial(_trained, train)).finding)
    progress("training language models", len(plans), len(plans))
    return text.description, tuple(findings)


def _trained(train: Callable[[], LanguageModelFinding]) -> _Model:
    return _Model(train())


def _texts(study: MemorisationStudy) -> tuple[list[str], list[str]]:
    """Training and test sentences."""
    if study.text in (None, BUILTIN):
        lines = demo_sentences(study.sentences or DEMO_SENTENCES, seed=study.seed)
    else:
        lines = [line for _, line in numbered_lines(Path(str(study.text)))][: study.sentences]
    if study.test is not None:
        test = [line for _, line in numbered_lines(Path(study.test))]
        train = lines
    else:
        test = lines[::HELD_OUT]
        train = [line for number, line in enumerate(lines) if number % HELD_OUT]
    if not train or not test:
        raise TooFewError(f"{len(lines)} sentences; a study needs at least 2: give more text")
    return train, test


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


Row = dict[str, str | int | float | None]


def _write_table(path: Path, findings: MemorisationFindings) -> None:
    """One row for each canary after each epoch, and for each class of each tagger."""
    rows: list[Row] = []
    for model in findings.language_models:
        for check in model.checks:
            for group in check.groups:
                rows += [
                    {
                        "kind": "language model",
                        "model": model.label,
                        "epoch": check.epoch,
                        "secret": entry.canary,
                        "group": group.spec,
                        "repetitions": entry.repetitions,
                        "bits": entry.exposure.exposure_bits,
                        "maximum_bits": entry.exposure.maximum_bits,
                        "p_value": entry.exposure.p_value,
                        "quality": check.test_perplexity,
                    }
                    for entry in group.canaries
                ]
    if findings.taggers is not None:
        rows += _tagger_rows("tagger", findings.taggers.checks)
        rows += _tagger_rows("overfitting tagger", findings.taggers.overfitting)
    with atomic_file(path) as temporary:
        pl.DataFrame(rows).write_parquet(temporary)


def _tagger_rows(kind: str, checks: Sequence[TaggerCheck]) -> list[Row]:
    return [
        {
            "kind": kind,
            "model": check.tagger,
            "epoch": check.epoch,
            "secret": entry.word,
            "group": entry.label,
            "repetitions": check.repetitions,
            "bits": entry.exposure_bits,
            "maximum_bits": entry.maximum_bits,
            "p_value": entry.p_value,
            "quality": check.f1,
        }
        for check in checks
        for entry in check.exposure.classes
    ]
