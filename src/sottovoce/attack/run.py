"""Attacks of several attackers on the same speech, with a folder for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sottovoce.anonymise.voice import METHODS
from sottovoce.anonymise.voice.card import SettingValue
from sottovoce.attack.artifacts import (
    attack_record,
    originals_record,
    write_attack,
    write_originals,
)
from sottovoce.attack.attributes import infer_attributes
from sottovoce.attack.inputs import AttackInputs, prepare_embeddings
from sottovoce.attack.knowledge import Attacker
from sottovoce.attack.linking import attack, attack_originals
from sottovoce.attack.representation import describe_encoder, prepare_candidates
from sottovoce.attack.slice_curves import attack_slice_curve, originals_slice_curve, slice_sets
from sottovoce.attack.slicing import Slicing
from sottovoce.attack.speech import SpeechCache
from sottovoce.attack.training import LinkageTrainer
from sottovoce.attack.trial_pairs import write_trials
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import (
    AttackRecord,
    AttackReport,
    AttackSettings,
    AttributeInference,
    MethodDescription,
    NotMeasured,
    Setting,
    SettingDescription,
    SpeechDescription,
)
from sottovoce.speaker.encoders import Encoder

ORIGINALS = "originals"
"""Name of the folder of the attack on originals."""


def run_attacks(
    inputs: AttackInputs,
    attackers: Sequence[Attacker],
    settings: AttackSettings,
    cache: SpeechCache,
    *,
    attributes: Sequence[str] = ("gender",),
    slicing: Slicing | None = None,
) -> list[AttackReport]:
    """Attack released speech as several attackers, and write a folder for each.

    Parameters
    ----------
    inputs : AttackInputs
        Originals and released speech.
    attackers : sequence of Attacker
        Each gets a folder of its name beside that of the originals.
    settings : AttackSettings
        How all of them link.
    cache : SpeechCache
        Its folder gets the folders of the attacks.
    attributes : sequence of str, default ("gender",)
        Attributes to infer from the trials.
    slicing : Slicing, optional
        Attack slices of the trials too.
    """
    sets = prepare_embeddings(inputs, attackers, cache, draws=settings.draws)
    folder, trainer = cache.folder, LinkageTrainer()
    if inputs.trials is not None:
        write_trials(folder, inputs.trials)
    baseline = attack_originals(sets, settings, trainer)
    record = originals_record(baseline, settings, sets)
    write_originals(folder / ORIGINALS, baseline, record, sets, cache.store)
    inferred = infer_attributes(
        sets["trial", "released"], inputs.trial.corpus, attributes, seed=inputs.seed
    )
    sliced, original_slices = [], None
    if slicing is not None:
        sliced = slice_sets(inputs, sets, slicing, cache, draws=settings.draws)
        original_slices = originals_slice_curve(sliced, slicing, settings, trainer=trainer)
    reports = []
    for done, attacker in enumerate(attackers):
        if cache.progress:
            cache.progress("attacking", done, len(attackers))
        candidates = prepare_candidates(sets, inputs, attacker, settings, cache)
        result = attack(
            sets,
            attacker,
            settings,
            trainer=trainer,
            baseline=baseline,
            candidates=candidates,
        )
        report = _report(attack_record(result, sets), inputs, inferred, cache.encoder)
        if slicing is not None:
            curve = attack_slice_curve(sliced, attacker, slicing, settings, trainer=trainer)
            report = replace(report, slices=curve, original_slices=original_slices)
        write_attack(folder / attacker.name, result, report, sets, cache.store)
        reports.append(report)
    return reports


def _report(
    record: AttackRecord,
    inputs: AttackInputs,
    attributes: dict[str, AttributeInference | NotMeasured],
    encoder: Encoder,
) -> AttackReport:
    fields = {name: getattr(record, name) for name in AttackRecord.__dataclass_fields__}
    return AttackReport(
        **fields,
        corpora={
            "enrolment": _describe_corpus(inputs.enrol.corpus),
            "trials": _describe_corpus(inputs.trial.corpus),
            "training": _describe_corpus(inputs.train.corpus),
        },
        anonymiser=None if inputs.anonymiser is None else inputs.anonymiser.label,
        encoder=describe_encoder(encoder),
        disjoint=True,
        attributes=attributes,
        notes=inputs.notes,
    )


def _describe_corpus(corpus: Corpus) -> SpeechDescription:
    return SpeechDescription(corpus.name, len(corpus.speakers), len(corpus))


def describe_method(method: str) -> MethodDescription:
    """Describe a voice anonymiser for results.

    Parameters
    ----------
    method : str
        A name in ``METHODS``.
    """
    card = METHODS[method].card
    return MethodDescription(
        name=card.name,
        summary=card.summary,
        keeps=card.keeps,
        leaks=card.leaks,
        reversible=card.reversible,
        reference=card.reference,
        settings={
            setting.name: SettingDescription(
                _plain_setting(setting.default), setting.range, setting.help
            )
            for setting in card.settings
        },
    )


def _plain_setting(value: SettingValue) -> Setting:
    """The value of a setting for results; of a path only the file name."""
    return value.name if isinstance(value, Path) else value
