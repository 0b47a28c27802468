"""The part of ``sottovoce attack`` that infers attributes from transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sottovoce.attack.text.traits import LabelledText
    from sottovoce.findings import TextTraits

TRAITS = "traits.json"
ANONYMISED = "transcripts of --anonymised"


def attack_texts(
    original: Path,
    anonymised: Path,
    attributes: Sequence[str],
    strategies: Sequence[str],
    paraphraser: str | None,
    *,
    lang: str,
    out: Path,
    seed: int,
) -> tuple[TextTraits, ...]:
    """Infer attributes from transcripts, before and after what protects them.

    Parameters
    ----------
    original, anonymised : Path
        Corpora with transcripts.
    attributes : sequence of str
        Columns to infer.
    strategies : sequence of str
        Strategies of the text anonymiser to compare.
    paraphraser : str or None
        A program to compare.
    lang : str
        Language of transcripts for which the corpus has none.
    out : Path
        Folder that gets :data:`TRAITS`.
    seed : int
        Of the division of speakers.
    """
    from sottovoce.attack.text.defences import command_defence
    from sottovoce.attack.text.traits import (
        anonymised_by,
        defended,
        infer_text_trait,
        labelled_texts,
    )
    from sottovoce.core.records import write_json
    from sottovoce.corpus import open_corpus

    paraphrase = None if paraphraser is None else command_defence(paraphraser)
    corpus, released = open_corpus(original), open_corpus(anonymised)
    results = []
    for attribute in attributes:
        texts = labelled_texts(corpus, attribute)
        compared: list[tuple[str | None, Sequence[LabelledText]]] = [
            (name, anonymised_by(texts, name, lang=lang)) for name in strategies
        ]
        if paraphrase is not None:
            compared.append(("paraphraser", defended(texts, paraphrase)))
        own = {utterance.id: utterance.transcript for utterance in corpus}
        if any(u.transcript and u.transcript != own.get(u.id) for u in released):
            compared.append((ANONYMISED, labelled_texts(corpus, attribute, anonymised=released)))
        for name, pairs in compared or [(None, texts)]:
            results.append(
                infer_text_trait(pairs, attribute=attribute, transformation=name, seed=seed)
            )
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / TRAITS, {"text_traits": results})
    return tuple(results)


def print_text_traits(traits: Sequence[TextTraits], out: Path) -> None:
    """Print the tables.

    Parameters
    ----------
    traits : sequence of TextTraits
        The results.
    out : Path
        The folder that has them.
    """
    from sottovoce.report.terminal import Terminal
    from sottovoce.report.text_traits import traits_remarks, traits_table

    terminal = Terminal()
    for entry in traits:
        terminal.table(traits_table(entry))
        terminal.line()
        terminal.bullets(traits_remarks(entry))
    click.echo(f"All numbers: {out / TRAITS}")
