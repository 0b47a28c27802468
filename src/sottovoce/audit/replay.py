"""Attacks of an audit a second time, from the embeddings it stored."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from sottovoce.attack import ATTACKERS, Manner, Material, ScoreTable, attack
from sottovoce.attack.folder import RECORD
from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.audit.comparing import AGAIN, compare, compare_tables, read_table
from sottovoce.audit.config import Study
from sottovoce.audit.measuring import measured, originals_of, row_of, stored_files
from sottovoce.audit.steps import Recipe
from sottovoce.core.errors import InputError
from sottovoce.core.files import read_json
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.readers import read_embeddings


@dataclass(frozen=True, slots=True)
class Step:
    """One attack of a study."""

    recipe: Recipe
    attacker: Attacker
    linkage: str

    def to_dict(self) -> dict[str, Any]:
        """What names the row of its figures."""
        return {
            "anonymiser": self.recipe.label,
            "method": self.recipe.method,
            "settings": dict(self.recipe.settings),
            "attacker": self.attacker.name,
            "linkage": self.linkage,
        }


def steps_of(study: Study) -> list[Step]:
    """All attacks of a study, in the order of their rows."""
    attackers = [ATTACKERS[name] for name in study.attackers]
    return [Step(*one) for one in product(study.recipes, attackers, study.linkage)]


@dataclass(frozen=True, slots=True)
class Repetition:
    """The attacks of a study and where each left its files."""

    folder: Path
    study: Study
    steps: Sequence[Step]
    places: Sequence[Path]
    """The folder of each attack, relative to that of the audit."""
    differences: list[str] = field(default_factory=list)
    """What the attacks left that is not what they leave now."""
    _read: dict[bytes, Embeddings] = field(default_factory=dict, repr=False)

    def record(self, number: int) -> dict[str, Any]:
        """What one attack records; that it differs from what is stored is noted."""
        step, place = self.steps[number], self.places[number]
        manner = Manner(step.linkage, seed=self.study.seed)
        found = attack(self.material(number), step.attacker, manner)
        stored = read_json(self.folder / place / RECORD, AGAIN)
        self.differences.extend(compare(stored, found.to_dict(), str(place / RECORD)))
        for name, table in (("scores", found.table), ("originals", found.originals)):
            self._compare_scores(place / f"{name}.parquet", table)
        return found.to_dict()

    def row(self, number: int, record: dict[str, Any]) -> dict[str, Any]:
        """The row of one attack, without what needs labels of the corpus."""
        step, place = self.steps[number], self.places[number]
        found = measured(self.folder / place, self.study, record, originals=False)
        return row_of(step.recipe, step.attacker, step.linkage, place, record, found)

    def originals(self, record: dict[str, Any]) -> dict[str, Any]:
        """The same of original speech, which the first attack stands for."""
        place = self.places[0]
        found = measured(self.folder / place, self.study, record, originals=True)
        return originals_of(found, place, record)

    def material(self, number: int) -> Material:
        """The embeddings of an attack; enrolments of others on the same speech besides."""
        own: dict[tuple[Part, Form], Embeddings] = {}
        for name, what in stored_files(self.steps[number].attacker).items():
            path = self.places[number] / f"{name}.npz"
            found = self._embeddings(path)
            if own.setdefault(what, found) is not found:
                self.differences.append(f"{path}: not the same as the attack's {what[1]} {what[0]}")
        for step, place in zip(self.steps, self.places, strict=True):
            if step.recipe == self.steps[number].recipe:
                what = ("enrol", step.attacker.enrolment)
                if what not in own:
                    own[what] = self._embeddings(place / "enrol.npz")
        return Material(own)

    def _compare_scores(self, path: Path, table: ScoreTable) -> None:
        stored = read_table(self.folder / path)
        with tempfile.TemporaryDirectory() as made:
            table.write(Path(made) / path.name)
            again = read_table(Path(made) / path.name)
        self.differences.extend(compare_tables(stored, again, str(path)))

    def _embeddings(self, path: Path) -> Embeddings:
        """Read once, however many copies there are: what is trained on them is kept by identity."""
        path = self.folder / path
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").digest()
        except OSError as error:
            why = error.strerror
            raise InputError(f"{path}: cannot be read ({why}); run the audit again") from None
        if digest not in self._read:
            self._read[digest] = read_embeddings(path)
        return self._read[digest]
