"""What exposure means, in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.findings import (
    CanaryGroup,
    LanguageModelFinding,
    PrivacyFinding,
    TaggerCheck,
    TaggerStudy,
)
from sottovoce.report.formats import counted

FEW = 5
"""Inserted canaries below which a report says that they are few."""
SURE = 0.01
"""Largest p-value of all canaries of a group together that counts as evidence."""


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """A finding for a reader."""

    kind: str
    """``bad``, ``doubt`` or ``good``."""
    headline: str
    sentences: tuple[str, ...]


def group_p_value(group: CanaryGroup) -> float:
    """Return the probability of such exposures if nothing was memorised.

    Parameters
    ----------
    group : CanaryGroup
        Canaries that were inserted equally often.
    """
    if group.summary is not None:
        return group.summary.p_value
    return group.canaries[0].exposure.p_value


def given_away(group: CanaryGroup) -> int:
    """Return how many canaries of a group are the model's first guess.

    Parameters
    ----------
    group : CanaryGroup
        Canaries that were inserted equally often.
    """
    return sum(entry.exposure.rank == 1 for entry in group.canaries)


def model_reading(model: LanguageModelFinding) -> MemoryReading:
    """Say what a language model gives away.

    Parameters
    ----------
    model : LanguageModelFinding
        The model; it is judged as it is after its last epoch.
    """
    inserted = [group for group in model.last.groups if group.repetitions]
    sentences = [group_sentence(group) for group in inserted]
    told = [group for group in inserted if 2 * given_away(group) > len(group.canaries)]
    remembered = [group for group in inserted if group_p_value(group) <= SURE]
    tried = sum(len(group.canaries) for group in inserted)
    if tried < FEW:
        sentences.append(
            f"{counted(tried, 'canary', 'canaries')} inserted: too few to rest on what was not "
            "found."
        )
    sentences.append(
        f"Perplexity: training text {model.last.train_perplexity:,.0f}, test text "
        f"{model.last.test_perplexity:,.0f}."
    )
    if model.privacy is not None:
        sentences.append(_privacy_sentence(model.privacy))
    if told:
        fewest = min(group.repetitions for group in told)
        headline = f"Gives secrets away after {counted(fewest, 'occurrence')}"
        return MemoryReading("bad", headline, tuple(sentences))
    if remembered:
        return MemoryReading("doubt", "Remembers parts of secrets", tuple(sentences))
    return MemoryReading("good", "No evidence that it remembers a secret", tuple(sentences))


def _privacy_sentence(privacy: PrivacyFinding) -> str:
    if privacy.reasons:
        return f"No guarantee: {'; '.join(privacy.reasons)}."
    return (
        f"Guaranteed for every {privacy.unit}: (ε, δ) = ({privacy.epsilon:.3g}, "
        f"{privacy.delta:.0e}) by RDP, ε = {privacy.pld_epsilon:.3g} by PLD."
    )


def group_sentence(group: CanaryGroup) -> str:
    """Say how far the canaries of a group were memorised.

    Parameters
    ----------
    group : CanaryGroup
        Canaries that were inserted equally often.
    """
    bits, most = group.bits, group.canaries[0].exposure.maximum_bits
    first, count = given_away(group), len(group.canaries)
    times = "once" if group.repetitions == 1 else f"{group.repetitions} times"
    start = f"{group.spec}, inserted {times}: {bits:.2f} of at most {most:.2f} bits"
    if first == count:
        whom = "it is" if count == 1 else f"all {count} are"
        return f"{start}; {whom} the model's first guess among {_space(group)} values."
    if first:
        return f"{start}; {first} of {count} are the model's first guess."
    if group_p_value(group) <= SURE:
        share = group.canaries[0].exposure.space / 2**bits
        return f"{start}; to be guessed among about {share:,.0f} of {_space(group)} values."
    return f"{start}; no more than chance explains (p = {group_p_value(group):.2g})."


def _space(group: CanaryGroup) -> str:
    return f"{group.canaries[0].exposure.space:,}"


def tagger_sentences(study: TaggerStudy) -> list[str]:
    """Say how d-exposure grows with repetitions.

    Parameters
    ----------
    study : TaggerStudy
        All taggers.
    """
    lines = []
    for kind in dict.fromkeys(check.tagger for check in study.checks):
        last = last_checks(study, kind)
        if len(last) > 1:
            first, final = last[0], last[-1]
            lines.append(
                f"{kind}: mean d-exposure {first.exposure.value:.2f} bits with "
                f"{first.repetitions} insertions, {final.exposure.value:.2f} with "
                f"{final.repetitions}; F1 on test text {final.f1:.2f}."
            )
        privacy = last[0].privacy
        if privacy is not None:
            lines.append(
                f"{kind}: {_privacy_sentence(privacy)} A phrase that stands in n sentences has n "
                "times this ε, and the list of known words is not protected."
            )
    return lines


def last_checks(study: TaggerStudy, kind: str) -> list[TaggerCheck]:
    """Return the taggers of one kind after their last epoch, by rising repetitions.

    Parameters
    ----------
    study : TaggerStudy
        All taggers.
    kind : str
        As ``tagger`` of the checks, such as ``crf``.
    """
    last: dict[int, TaggerCheck] = {}
    for check in study.checks:
        if check.tagger == kind:
            last[check.repetitions] = check
    return [last[count] for count in sorted(last)]
