"""Membership: losses of training sentences and of others are scores for ``sottovoce measure``.

A model that has memorised its training data gives it a lower loss than other data of the same
kind. Minus the loss is a score; members are mated, non-members non-mated. What makes a sentence
easy for any model says nothing about membership, so the loss of a reference model, which was
trained on other data, is taken off.
"""

from __future__ import annotations

from sottovoce.attack.text.trigrams import TrigramModel, train_trigrams
from sottovoce.measure import Scores, measure_scores
from sottovoce.memorisation.demo_text import demo_sentences


def loss(model: TrigramModel, sentence: list[str]) -> float:
    """Mean of -ln P of the words; any framework's loss of an example will do."""
    numbers = model.numbers(sentence)[None]
    return -float(model.sentence_log_probability(numbers)[0]) / len(sentence)


def main() -> None:
    sentences = [line.split() for line in demo_sentences(1500)]
    members, others, public = sentences[:500], sentences[500:1000], sentences[1000:]
    model, reference = train_trigrams(members), train_trigrams(public)
    for name, with_reference in (("loss alone", False), ("with a reference model", True)):
        mated, nonmated = (
            [(loss(reference, s) if with_reference else 0.0) - loss(model, s) for s in part]
            for part in (members, others)
        )
        scores = Scores(mated, nonmated)
        summary = measure_scores(scores, interval=None, only=("eer", "tpr_at_fpr_0.01"))
        rate, error = summary.measures["tpr_at_fpr_0.01"].value, summary.measures["eer"].value
        print(f"{name}: {rate:.1%} of members told at 1 % false alarms, EER {error:.1%}")


if __name__ == "__main__":
    main()
