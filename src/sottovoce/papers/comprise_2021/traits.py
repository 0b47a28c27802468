"""Tables 5 and 6: traits of speakers inferred from what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sottovoce.anonymise.keys import Secret
from sottovoce.attack.text.traits import (
    LabelledText,
    Split,
    anonymised_by,
    infer_text_trait,
    labelled_texts,
)
from sottovoce.core.errors import TooFewError
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import TextTraits
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, PaperTable, paper_table

SENTENCES = {"female": 2648, "male": 8006, "young (at most 21)": 6453, "old": 4201}
"""Table 5: sentences of VERBMOBIL."""
LEAST_WORDS = 5
F1 = {
    ("original", "original"): (70.3, 65.4),
    ("original", "anonymised"): (62.1, 60.6),
    ("anonymised", "original"): (68.5, 61.1),
    ("anonymised", "anonymised"): (66.7, 60.5),
}
"""Table 6: by training and test text, F1 in % of gender and age."""
STRATEGY = "full"
TRAITS = ("gender", "age")
"""In the order of the published values of Table 6."""
YOUNG = 21
"""Years of age that count as young at most."""


def _texts(data: PaperData) -> Corpus:
    """Utterances of the attacked and the training corpus."""
    corpora = [data.attacked, *([data.training] if data.training is not None else [])]
    utterances = tuple(u for corpus in corpora for u in corpus if u.transcript.strip())
    return Corpus(" and ".join(corpus.name for corpus in corpora), corpora[0].root, utterances)


def age_group(years: str) -> str:
    """Return ``young`` or ``old``, empty for what is not a number of years.

    Parameters
    ----------
    years : str
        A cell of the column age.
    """
    if not years.strip().isdecimal():
        return ""
    return "young" if int(years) <= YOUNG else "old"


def _table_5(data: PaperData) -> ItemOutput:
    corpus = _texts(data)
    long_enough = [u for u in corpus if len(u.transcript.split()) >= LEAST_WORDS]
    genders = Counter(u.gender for u in long_enough)
    ages = Counter(age_group(u.extra.get("age", "")) for u in long_enough)
    known = ages["young"] + ages["old"] > 0
    rows: list[tuple[Cell, ...]] = [
        ("female", SENTENCES["female"], genders["f"]),
        ("male", SENTENCES["male"], genders["m"]),
        ("young (at most 21)", SENTENCES["young (at most 21)"], ages["young"] if known else None),
        ("old", SENTENCES["old"], ages["old"] if known else None),
    ]
    return ItemOutput(
        f"transcripts of {corpus.name}",
        tables=[
            paper_table("Sentences of at least five words", ("value", "published", "here"), rows)
        ],
        remarks=[
            "VERBMOBIL is not freely available; its transcripts run as a --corpus with the columns "
            "gender and age (in years). Read speech, as here, says what an author wrote, not what "
            "the speaker would say.",
            *([] if known else [_NO_AGES]),
        ],
    )


_NO_AGES = "No speaker's age is known, so nothing is said about ages."


def _texts_by_trait(corpus: Corpus) -> Iterator[tuple[str, list[LabelledText]]]:
    """Texts with the gender of their speakers, and with the age group where that is known."""
    yield "gender", labelled_texts(corpus, "gender")
    if any(age_group(u.extra.get("age", "")) for u in corpus):
        aged = [replace(t, label=age_group(t.label)) for t in labelled_texts(corpus, "age")]
        yield "age", [text for text in aged if text.label]


def _inferred(
    texts: Sequence[LabelledText], trait: str, data: PaperData
) -> dict[Split, TextTraits]:
    """A trait inferred from original and anonymised text, by how test text was chosen."""
    changed = anonymised_by(texts, STRATEGY, secret=Secret.reproducible(data.seed))
    splits: tuple[Split, ...] = ("speaker", "utterance")
    return {
        split: infer_text_trait(
            changed,
            attribute=trait,
            transformation=STRATEGY,
            pooled=(1, None),
            split=split,
            seed=data.seed,
        )
        for split in splits
    }


def _table_6(data: PaperData) -> ItemOutput:
    corpus = _texts(data)
    results: dict[str, dict[Split, TextTraits]] = {}
    remarks = []
    for trait, texts in _texts_by_trait(corpus):
        try:
            results[trait] = _inferred(texts, trait, data)
        except TooFewError as error:
            if trait == "gender":
                raise
            remarks.append(f"Of age nothing is inferred: {error}.")
    if "age" not in results and not remarks:
        remarks.append(_NO_AGES)
    described = "; ".join(
        f"{trait} of {inferred['speaker'].speakers} speakers with "
        f"{inferred['speaker'].utterances:,} utterances"
        for trait, inferred in results.items()
    )
    return ItemOutput(
        f"transcripts of {corpus.name}: {described}",
        tables=[_f1_table(trait, inferred) for trait, inferred in results.items()],
        compared=[
            row for trait, inferred in results.items() for row in _f1_compared(trait, inferred)
        ],
        remarks=[
            *(
                f"Always giving the most frequent {trait} has a macro-F1 of "
                f"{100 * inferred['speaker'].majority_f1:.1f} %."
                for trait, inferred in results.items()
            ),
            *remarks,
            "The document splits sentences, so that test speakers are known in training: whoever "
            "recognises a person then seems to infer a trait. The split by speaker is the one to "
            "rest on.",
            "No weights of a paraphraser can be had here; a program of one's own is compared by "
            "sottovoce attack (docs/attackers.md).",
        ],
    )


def _f1(result: TextTraits, trained: str, tested: str, pooled: int | None) -> float | None:
    """Macro-F1 in %; None where no speaker has so many utterances."""
    score = result.score(trained, tested, pooled)
    return None if score is None else 100 * score.macro_f1


def _f1_table(trait: str, inferred: Mapping[Split, TextTraits]) -> PaperTable:
    rows: list[tuple[Cell, ...]] = [
        (
            trained,
            tested,
            published[TRAITS.index(trait)],
            _f1(inferred["utterance"], trained, tested, 1),
            _f1(inferred["speaker"], trained, tested, 1),
            _f1(inferred["speaker"], trained, tested, None),
        )
        for (trained, tested), published in F1.items()
    ]
    headings = (
        "trained on",
        "tested on",
        "published",
        "one utterance, split by sentence",
        "one utterance, split by speaker",
        "all of a speaker, split by speaker",
    )
    return paper_table(f"Macro-F1 in % of {trait}", headings, rows, decimals=1)


def _f1_compared(trait: str, inferred: Mapping[Split, TextTraits]) -> Iterator[Compared]:
    for (trained, tested), published in F1.items():
        yield Compared(
            f"F1 in % of {trait}, trained on {trained}, tested on {tested}",
            published[TRAITS.index(trait)],
            _f1(inferred["utterance"], trained, tested, 1),
            "read speech instead of dialogues, a linear classifier instead of a fine-tuned "
            f"network, and the Text Transformer ({STRATEGY}) instead of a paraphraser",
        )


ITEMS = (
    PaperItem(
        "004-table-5", "Sentences by demographic attribute", _table_5, ("transcripts",), whole=True
    ),
    PaperItem("004-table-6", "Traits inferred from text", _table_6, ("transcripts",), whole=True),
)
