"""From corpora to what an attack works with: every part of the speech in every form it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sottovoce.attack.embedding_sets import Material, check_disjoint
from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.audit.steps import Recipe, Speech, Workshop, attackers_secret
from sottovoce.core.errors import InputError, first_few
from sottovoce.corpus.splits import partition_speakers, split_sides
from sottovoce.corpus.utterance import Corpus

Given = Mapping[tuple[Part, Form], Speech]


@dataclass(frozen=True, slots=True)
class Scene:
    """Who is attacked with what: original speech in three parts, and the anonymised trials."""

    enrol: Speech
    trial: Speech
    train: Speech
    anonymised: Speech
    """Released speech: at least the trials; enrolment recordings too, for the informed."""
    recipe: Recipe | None = None
    """The anonymiser under attack, as far as the attacker may use it."""
    similar: Recipe | None = None
    given: Given = field(default_factory=dict)
    """Speech in forms that were made elsewhere."""
    seed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Division:
    """Original speech in three parts, and what is in none of them."""

    enrol: Speech
    trial: Speech
    train: Speech
    left_out: tuple[str, ...]
    """Where each recording in no part is listed, and why it is in none."""


def divide(whole: Speech, train: Speech | None, *, seed: int = 0) -> Division:
    """Enrolment, trial and training speech; without training speech, half of the speakers."""
    attacked, used = whole, frozenset[str]()
    if train is None:
        attacked, train = _apart(whole, seed)
        used = frozenset(one.id for one in train.corpus)
    check_disjoint({"evaluation": attacked.corpus.speakers, "training": train.corpus.speakers})
    sides = split_sides(attacked.corpus, seed=seed)
    ids = [one.id for one in attacked.corpus]
    enrol, trial = (attacked.only({ids[i] for i in side}) for side in (sides.enrol, sides.trial))
    if not len(enrol.corpus) or not len(trial.corpus):
        raise InputError(
            f"{whole.corpus.name}: no speaker has two utterances; one is enrolled and another "
            "tried: add recordings"
        )
    used |= {one.id for one in (*enrol.corpus, *trial.corpus)}
    return Division(enrol, trial, train, tuple(_left_out(whole.corpus, used)))


def _apart(whole: Speech, seed: int) -> tuple[Speech, Speech]:
    """Speakers to attack and others to train on; one utterance alone serves neither."""
    several = [name for name, own in whole.corpus.by_speaker().items() if len(own) > 1]
    if not several:
        return whole, whole.select(speakers=())
    kept, apart = partition_speakers(whole.corpus.select(speakers=several), share=0.5, seed=seed)
    return whole.select(speakers=apart.speakers), whole.select(speakers=kept.speakers)


def _left_out(corpus: Corpus, used: frozenset[str]) -> Iterator[str]:
    recordings = Counter(one.speaker for one in corpus)
    for i, one in enumerate(corpus):
        if one.id not in used:
            why = (
                f"the only usable recording of {one.speaker}, and linking needs two"
                if recordings[one.speaker] == 1
                else f"split {one.split!r} is neither enrolment nor trial"
            )
            yield f"{corpus.where(i)}: {why}"


def released(scene_trial: Speech, anonymised: Speech) -> None:
    """Refuse anonymised speech that lacks trials, or has them under other speakers."""
    have = {one.id: one.speaker for one in anonymised.corpus}
    missing = [one.id for one in scene_trial.corpus if one.id not in have]
    if missing:
        raise InputError(
            f"{anonymised.corpus.name}: {len(missing):,} of {len(scene_trial.corpus):,} trials are "
            f"not in it: {first_few(missing, len(missing))}; anonymise the whole corpus, ids kept"
        )
    wrong = [one.id for one in scene_trial.corpus if have[one.id] != one.speaker]
    if wrong:
        raise InputError(
            f"{anonymised.corpus.name}: other speakers than in the originals for "
            f"{first_few(wrong, len(wrong))}; keep the names, the attack needs to know who spoke"
        )


def prepare(scene: Scene, attackers: Iterable[Attacker], workshop: Workshop) -> Material:
    """Anonymise and embed all that these attackers need."""
    released(scene.trial, scene.anonymised)
    check_disjoint(
        {
            "attacked": scene.trial.corpus.speakers,
            "encoder's training": workshop.encoder.trained_on,
        }
    )
    needed: list[tuple[Part, Form]] = [("trial", "theirs")]
    for attacker in attackers:
        needed += [what for what in attacker.needs if what not in needed]
    # all speech before any embedding: what is missing is said at once
    speech = {what: scene.given.get(what) or _speech(scene, *what, workshop) for what in needed}
    return Material(
        {
            (part, form): workshop.embed(one, f"{part} ({form})")
            for (part, form), one in speech.items()
        }
    )


def _speech(scene: Scene, part: Part, form: Form, workshop: Workshop) -> Speech:
    original: Speech = getattr(scene, part)
    if form == "original":
        return original
    if form == "theirs":
        wanted = {one.id for one in original.corpus}
        chosen = scene.anonymised.only(wanted)
        if len(chosen.corpus) < len(wanted):
            raise InputError(
                f"{scene.anonymised.corpus.name}: not all {part} recordings are in it; the "
                "informed attacker needs them anonymised in the same run"
            )
        return chosen
    recipe = scene.recipe if form == "own" else scene.similar
    if recipe is None:
        option = "--anonymiser" if form == "own" else "--similar"
        raise InputError(
            f"{part} speech in the attacker's {form} anonymisation is needed; name the anonymiser "
            f"with {option}, or the speech itself"
        )
    return workshop.anonymise(original, recipe, attackers_secret(scene.seed), f"{part} ({form})")


def described(corpus: Corpus) -> dict[str, object]:
    """Name and counts of a corpus, for a record."""
    return {
        "name": corpus.name,
        "speakers": len(corpus.speakers),
        "utterances": len(corpus),
    }
