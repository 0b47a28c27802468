"""Running a study: every step once, its result kept, and one folder of evidence at the end."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce import __version__
from sottovoce.anonymise.voice import METHODS
from sottovoce.attack import ATTACKERS, Manner, Material
from sottovoce.attack.knowledge import Attacker
from sottovoce.audit.config import Study
from sottovoce.audit.limits import Limit
from sottovoce.audit.measuring import (
    attack_once,
    groups_of,
    measured,
    originals_of,
    row_of,
    similarity_of,
)
from sottovoce.audit.provenance import provenance
from sottovoce.audit.scene import Scene, divide, prepare
from sottovoce.audit.steps import Recipe, Speech, Workshop, key_of, operators_secret
from sottovoce.audit.tidy import tidy
from sottovoce.audit.utility import RATED, installed, quality, sample, sound_kept, words_kept
from sottovoce.audit.vetting import Vetted, open_outside, vet
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_bytes, write_text
from sottovoce.core.locks import locked
from sottovoce.core.types import Progress, StageProgress
from sottovoce.corpus.formats import BUILTIN
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.speaker.encoders import make_encoder

NOT_TESTED = (
    "Attackers with better encoders, more training data or more time than this study's.",
    "What the words themselves give away; only the voice was attacked.",
    "Traits other than those listed, such as health, accent or mood.",
    "Recordings of another kind than this corpus: other rooms, devices, languages or people.",
)


@dataclass(frozen=True, slots=True)
class Audit:
    """What came of a study."""

    folder: Path
    findings: dict[str, Any]

    @property
    def exceeded(self) -> list[dict[str, Any]]:
        """Limits that do not hold."""
        return [one for one in self.findings["limits"] if one["exceeded"]]


def run_audit(
    study: Study,
    folder: Path,
    *,
    jobs: int = 2,
    audio: bool = True,
    progress: StageProgress | None = None,
) -> Audit:
    """Corpus → anonymise → attack → measure → report, into ``folder``."""
    _refuse_strangers(folder)
    with locked(folder):
        run = _Run(study.checked(), folder, jobs, progress or (lambda name, done, total: None))
        findings = run.findings()
        _write(findings, folder, study, audio)
    return Audit(folder, findings)


class _Run:
    """One study in one folder."""

    def __init__(self, study: Study, folder: Path, jobs: int, progress: StageProgress) -> None:
        self.study, self.folder, self.jobs, self.progress = study, folder, jobs, progress
        corpus = open_outside(study.corpus, folder)
        train = None if study.train is None else open_outside(study.train, folder)
        self.workshop = Workshop(folder, make_encoder(study.encoder), jobs, progress)
        self.whole = self._vetted(corpus)
        self.others = None if train is None else self._vetted(train)
        others = None if self.others is None else self.others.speech
        parts = divide(self.whole.speech, others, seed=study.seed)
        self.enrol, self.trial, self.train = parts.enrol, parts.trial, parts.train
        self.left_out = (*self.whole.excluded, *parts.left_out)

    def findings(self) -> dict[str, Any]:
        """Everything that was found, as ``measures.json`` holds it."""
        rows: list[dict[str, Any]] = []
        anonymisers: list[dict[str, Any]] = []
        originals: dict[str, Any] = {}
        for recipe in self.study.recipes:
            scene = self._scene(recipe)
            attackers = [ATTACKERS[name] for name in self.study.attackers]
            material = prepare(scene, attackers, self.workshop)
            anonymisers.append(self._anonymiser(recipe, scene, material))
            for attacker in attackers:
                for linkage in self.study.linkage:
                    row, originals_row = self._row(recipe, attacker, linkage, material)
                    rows.append(row)
                    originals = originals or originals_row
        limits = [Limit.of(*one) for one in self.study.limits.items()]
        return {
            "name": self.study.name,
            "synthetic": self.study.corpus == BUILTIN,
            "study": self.study.model_dump(mode="json") | {"corpus": Path(self.study.corpus).name},
            "corpus": self._described(),
            "training": self._training(),
            "encoder": self.workshop.encoder.card.to_dict(),
            "confidence": self.study.interval,
            "originals": {**originals, "utility": self._original_utility()},
            "rows": rows,
            "anonymisers": anonymisers,
            "limits": [found for limit in limits for found in limit.check(rows)],
            "not_tested": list(NOT_TESTED),
        }

    # ------------------------------------------------------------------------------- steps

    def _kept(self, kind: str, key: str, make: Callable[[], Any]) -> Any:
        """A result from its file, or made and written there."""
        path = self.folder / "work" / kind / f"{key}.json"
        if not path.is_file():
            write_text(path, json.dumps(make(), ensure_ascii=False, allow_nan=False))
        return json.loads(path.read_text(encoding="utf-8"))

    def _vetted(self, corpus: Corpus) -> Vetted:
        key = key_of(__version__, Speech.of(corpus).key)

        def look() -> dict[str, Any]:
            found = vet(corpus, jobs=self.jobs, progress=self.progress)
            kept = [one.id for one in found.speech.corpus]
            return {"kept": kept, "seconds": found.seconds, "excluded": list(found.excluded)}

        found = self._kept("vetted", key, look)
        kept = set(found["kept"])
        chosen = corpus.select(lambda one: one.id in kept)
        return Vetted(Speech.of(chosen), found["seconds"], tuple(found["excluded"]))

    def _scene(self, recipe: Recipe) -> Scene:
        ids = {one.id for one in (*self.enrol.corpus, *self.trial.corpus)}
        attacked = self.whole.speech.only(ids)
        secret = operators_secret(self.study.seed)
        anonymised = self.workshop.anonymise(attacked, recipe, secret, recipe.label)
        similar = self.study.similar
        return Scene(
            self.enrol,
            self.trial,
            self.train,
            anonymised,
            recipe,
            None if similar is None else next(similar.recipes()),
            seed=self.study.seed,
        )

    def _row(
        self, recipe: Recipe, attacker: Attacker, linkage: str, material: Material
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        manner = Manner(linkage, seed=self.study.seed)
        self.progress(f"attacking {recipe.label} ({attacker.name})", 0, 1)
        key = key_of(__version__, self._what(recipe, attacker), manner.to_dict())
        folder = Path("attacks") / f"{recipe.method}-{attacker.name}-{linkage}-{key}"
        record = attack_once(material, attacker, manner, self.folder / folder)
        asked = (self.study.lengths, self.study.populations, self.study.interval)
        found = self._kept(
            "measures",
            key_of(key, *asked),
            lambda: measured(self.folder / folder, self.study, record, originals=False),
        )
        row = row_of(recipe, attacker, linkage, folder, record, found)
        row["groups"] = groups_of(row["reidentification"], self.trial.corpus)
        row["attributes"] = self._attributes(recipe, material)
        return row, self._originals(key, folder, asked, record)

    def _originals(
        self, key: str, folder: Path, asked: tuple[Any, ...], record: dict[str, Any]
    ) -> dict[str, Any]:
        found = self._kept(
            "measures",
            key_of("originals", key, *asked),
            lambda: measured(self.folder / folder, self.study, record, originals=True),
        )
        return originals_of(found, folder, record)

    def _attributes(self, recipe: Recipe, material: Material) -> dict[str, Any]:
        from sottovoce.audit.attributes import attributes_of

        names = self.study.attributes
        return dict(
            self._kept(
                "attributes",
                key_of(__version__, self._what(recipe), names),
                lambda: attributes_of(
                    material["trial", "theirs"], self.trial.corpus, names, seed=self.study.seed
                ),
            )
        )

    def _anonymiser(self, recipe: Recipe, scene: Scene, material: Material) -> dict[str, Any]:
        after = {one.id: one for one in scene.anonymised.corpus}
        asked = self.study.utility
        chosen = sample(self.trial.corpus, asked.utterances, self.study.seed)
        pairs = [(one, after[one.id]) for one in chosen]
        key = key_of(__version__, self._what(recipe), self._asked())
        return {
            "anonymiser": recipe.label,
            "method": recipe.method,
            "settings": dict(recipe.settings),
            "card": METHODS[recipe.method].card.to_dict(),
            "speech": str(scene.anonymised.corpus.root.relative_to(self.folder)),
            "similarity": self._kept(
                "similarity", key, lambda: similarity_of(material, self.study.interval)
            ),
            "utility": self._kept("utility", key, lambda: self._utility(pairs, recipe.label)),
            "examples": list(self._examples(pairs)),
        }

    def _utility(self, pairs: list[tuple[Utterance, Utterance]], label: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.study.utility.f0:
            found |= sound_kept(
                pairs,
                jobs=self.jobs,
                confidence=self.study.interval,
                progress=self._show(f"comparing {label}"),
            )
        return found | self._alone([after for _, after in pairs], label)

    def _alone(self, utterances: list[Utterance], label: str) -> dict[str, Any]:
        """What can be told of recordings without others to compare them with."""
        asked = self.study.utility
        found: dict[str, Any] = {}
        if asked.wer:
            found["wer"] = words_kept(
                utterances,
                jobs=self.jobs,
                confidence=self.study.interval,
                progress=self._show(f"recognising {label}"),
            )
        if asked.quality:
            found["quality"] = quality(
                utterances[:: -(-len(utterances) // RATED)],
                jobs=self.jobs,
                confidence=self.study.interval,
                progress=self._show(f"rating {label}"),
            )
        return found

    def _original_utility(self) -> dict[str, Any]:
        asked = self.study.utility
        chosen = sample(self.trial.corpus, asked.utterances, self.study.seed)
        key = key_of(__version__, self.trial.key, self._asked())
        return dict(self._kept("originals", key, lambda: self._alone(chosen, "originals")))

    # ------------------------------------------------------------------------------- words

    def _what(self, recipe: Recipe, attacker: Attacker | None = None) -> list[Any]:
        """All that an attack's embeddings follow from."""
        speech = [self.enrol.key, self.trial.key, self.train.key]
        similar = self.study.similar
        return [
            *speech,
            recipe.method,
            dict(recipe.settings),
            self.workshop.encoder.card.sha256,
            self.study.seed,
            None if attacker is None else attacker.name,
            None if similar is None else similar.model_dump(),
        ]

    def _asked(self) -> list[Any]:
        """All that utility follows from, besides the speech."""
        return [self.study.utility.model_dump(), self.study.interval, self.study.seed, installed()]

    def _show(self, label: str) -> Progress:
        return lambda done, total: self.progress(label, done, total)

    def _examples(self, pairs: list[tuple[Utterance, Utterance]]) -> Iterator[dict[str, Any]]:
        step = max(1, len(pairs) // max(1, self.study.examples))
        for before, after in pairs[::step][: self.study.examples]:
            yield {
                "utterance": before.id,
                "speaker": before.speaker,
                "original": str(before.path),
                "anonymised": str(after.path.relative_to(self.folder)),
            }

    def _described(self) -> dict[str, Any]:
        corpus = self.whole.speech.corpus
        genders: dict[str, int] = {}
        for own in corpus.by_speaker().values():
            gender = next((one.gender for one in own if one.gender), "")
            genders[gender] = genders.get(gender, 0) + 1
        return {
            "name": corpus.name,
            "speakers": len(corpus.speakers),
            "attacked_speakers": len(self.trial.corpus.speakers),
            "utterances": len(corpus),
            "hours": round(self.whole.seconds / 3600, 4),
            "genders": genders,
            "enrol": len(self.enrol.corpus),
            "trial": len(self.trial.corpus),
            "excluded": list(self.left_out),
        }

    def _training(self) -> dict[str, Any]:
        corpus = self.train.corpus
        excluded = [] if self.others is None else list(self.others.excluded)
        own = self.others is None
        return {
            "name": corpus.name,
            "speakers": len(corpus.speakers),
            "utterances": len(corpus),
            "part_of_corpus": own,
            "excluded": excluded,
        }


# =================================================================================== the folder


def _refuse_strangers(folder: Path) -> None:
    """Refuse a folder with something in it that no audit left."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: a file; name a folder for the audit")
    present = {path.name for path in folder.iterdir()} - {".sottovoce.lock"}
    if present and not present & {"work", "measures.json"}:
        raise InputError(f"{folder}: there is something else in it; name a new folder")


def _write(findings: dict[str, Any], folder: Path, study: Study, audio: bool) -> None:
    """All files of the audit; the report last."""
    from sottovoce.audit.typed_findings import typed_findings
    from sottovoce.report.audit import render

    write_json(folder / "measures.json", findings)
    table = io.BytesIO()
    tidy(findings).write_parquet(table)
    write_bytes(folder / "measures.parquet", table.getvalue())
    write_json(folder / "provenance.json", provenance(study, findings))
    write_text(
        folder / "report.html", render(typed_findings(findings, folder), folder, audio=audio)
    )


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write JSON for people and programs alike."""
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
