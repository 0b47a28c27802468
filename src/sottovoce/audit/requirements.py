"""What a study needs on this machine and in its corpora, checked before anything is done."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from sottovoce.attack.attributes import known_attributes
from sottovoce.attack.text.defences import command_defence
from sottovoce.audit.study import Study
from sottovoce.core.errors import InputError, MissingExtraError, SottovoceError, UsageError
from sottovoce.corpus.reading import numbered_lines
from sottovoce.corpus.utterance import Corpus
from sottovoce.training.encoder import check_extra


def check_machine(study: Study) -> None:
    """Refuse a study that needs a file, a program or a package that is not on this machine.

    This is not part of :meth:`.Study.check`, because an audit can be verified on a machine that
    could not run it.

    Parameters
    ----------
    study : Study
        As it is to be run.

    Raises
    ------
    InputError
        For the text of ``slice.text``: ``not-found``, ``empty``, ``unreadable`` or ``not-utf8``;
        ``missing-extra`` for ``utility.retrained`` without PyTorch or ONNX.
    UsageError
        For the program of ``text.paraphraser``: ``not-found``, ``malformed`` or ``wrong-shape``.
    """
    if study.slice is not None and study.slice.text is not None:
        try:
            numbered_lines(Path(study.slice.text))
        except InputError as error:
            raise InputError(f"slice.text: {error}", code=error.code) from None
    if study.text is not None and study.text.paraphraser is not None:
        _check_paraphraser(study.text.paraphraser)
    if study.utility.retrained:
        try:
            check_extra()
        except MissingExtraError as error:
            raise InputError(f"utility.retrained: {error}", code=error.code) from None


def _check_paraphraser(command: str) -> None:
    place = "text.paraphraser"
    try:
        program = shlex.split(command)[:1]
        command_defence(command)
    except ValueError as error:
        raise UsageError(
            f"{place}: {command}: not a command ({error}); quote it as for a shell",
            code="malformed",
        ) from None
    except SottovoceError as error:
        raise UsageError(f"{place}: {error}", code=error.code) from None
    if shutil.which(program[0]) is None:
        raise UsageError(
            f"{place}: {program[0]}: no such program; name one that is installed, or its file",
            code="not-found",
        )


def check_attributes(study: Study, corpus: Corpus) -> None:
    """Refuse an attribute that the corpus has no labels for, unless it is an unnamed default.

    Parameters
    ----------
    study : Study
        With attributes.
    corpus : Corpus
        The attacked corpus.

    Raises
    ------
    UsageError
        With the code ``missing-column``.
    """
    if "attributes" not in study.model_fields_set:
        return
    known = known_attributes(corpus)
    for number, name in enumerate(study.attributes):
        if name not in known:
            listed = ", ".join(sorted(known)) or "no column with values"
            raise UsageError(
                f"attributes.{number}: {name}: no such column in {corpus.name}, or an empty one; "
                f"it has {listed}",
                code="missing-column",
            )
