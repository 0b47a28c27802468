"""Tables 5 and 6: traits of speakers inferred from what they say."""

from __future__ import annotations

from collections import Counter

from sottovoce.anonymise.keys import Secret
from sottovoce.attack.text.traits import anonymised_by, infer_text_trait, labelled_texts
from sottovoce.core.errors import InputError
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import TextTraits
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, paper_table

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


def _texts(data: PaperData) -> Corpus:
    """Utterances of the attacked and the training corpus."""
    corpora = [data.attacked, *([data.training] if data.training is not None else [])]
    utterances = tuple(u for corpus in corpora for u in corpus if u.transcript.strip())
    if not utterances:
        raise InputError(
            f"{data.attacked.name}: no transcripts, which traits from text need; name another "
            "--corpus",
            code="missing-transcript",
        )
    return Corpus(" and ".join(corpus.name for corpus in corpora), corpora[0].root, utterances)


def _table_5(data: PaperData) -> ItemOutput:
    corpus = _texts(data)
    counts = Counter(u.gender for u in corpus if len(u.transcript.split()) >= LEAST_WORDS)
    rows: list[tuple[Cell, ...]] = [
        ("female", SENTENCES["female"], counts["f"]),
        ("male", SENTENCES["male"], counts["m"]),
        ("young (at most 21)", SENTENCES["young (at most 21)"], None),
        ("old", SENTENCES["old"], None),
    ]
    return ItemOutput(
        f"transcripts of {corpus.name}",
        tables=[
            paper_table("Sentences of at least five words", ("value", "published", "here"), rows)
        ],
        remarks=[
            "VERBMOBIL is not freely available; its transcripts run as a --corpus with the columns "
            "gender and age. Read speech, as here, says what an author wrote, not what the speaker "
            "would say."
        ],
    )


def _table_6(data: PaperData) -> ItemOutput:
    corpus = _texts(data)
    texts = labelled_texts(corpus, "gender")
    secret = Secret.reproducible(data.seed)
    changed = anonymised_by(texts, STRATEGY, secret=secret)
    results: dict[str, TextTraits] = {
        split: infer_text_trait(
            changed, transformation=STRATEGY, pooled=(1, None), split=split, seed=data.seed
        )
        for split in ("speaker", "utterance")
    }
    rows: list[tuple[Cell, ...]] = []
    compared = []
    for (trained, tested), published in F1.items():
        cells: list[Cell] = [trained, tested, published[0]]
        for split in ("utterance", "speaker"):
            score = results[split].score(trained, tested, 1)
            cells += [None if score is None else 100 * score.macro_f1]
        everything = results["speaker"].score(trained, tested, None)
        cells.append(None if everything is None else 100 * everything.macro_f1)
        rows.append(tuple(cells))
        score = results["utterance"].score(trained, tested, 1)
        compared.append(
            Compared(
                f"F1 in % of gender, trained on {trained}, tested on {tested}",
                published[0],
                None if score is None else 100 * score.macro_f1,
                "read speech instead of dialogues, a linear classifier instead of a fine-tuned "
                f"network, and the Text Transformer ({STRATEGY}) instead of a paraphraser",
            )
        )
    headings = (
        "trained on",
        "tested on",
        "published",
        "one utterance, split by sentence",
        "one utterance, split by speaker",
        "all of a speaker, split by speaker",
    )
    majority = 100 * results["speaker"].majority_f1
    return ItemOutput(
        f"transcripts of {corpus.name}: {results['speaker'].speakers} speakers, "
        f"{results['speaker'].utterances:,} utterances",
        tables=[paper_table("Macro-F1 in % of gender", headings, rows, decimals=1)],
        compared=compared,
        remarks=[
            f"Always giving the most frequent answer has a macro-F1 of {majority:.1f} %.",
            "The document splits sentences, so that test speakers are known in training: whoever "
            "recognises a person then seems to infer a trait. The split by speaker is the one to "
            "rest on.",
            "No weights of a paraphraser can be had here; a program of one's own is compared by "
            "sottovoce attack (docs/attackers.md).",
        ],
    )


ITEMS = (
    PaperItem("004-table-5", "Sentences by demographic attribute", _table_5, ("transcripts",)),
    PaperItem("004-table-6", "Traits inferred from text", _table_6, ("transcripts",)),
)
