"""What each kind of evidence alone links: a table, and the sentences that a reader takes away."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.findings import EvidenceLink
from sottovoce.report.formats import decimals, percent, percent_column
from sottovoce.report.tables import Table, make_table

NOTABLE = 2.0
"""Evidence that links this many times as often as a guess is put into a sentence."""


def evidence_table(links: Sequence[EvidenceLink], attacker: str) -> Table:
    """Arrange what each kind of evidence alone links, the strongest first.

    Parameters
    ----------
    links : sequence of EvidenceLink
        Of one attack.
    attacker : str
        Name of the attacker.
    """
    rows = [
        (
            link.phrase,
            percent_column(link.top_1),
            percent_column(link.eer),
            decimals(2)(link.d_sys),
            percent_column(link.held_out_eer),
            percent_column(link.share),
            link.linkage,
        )
        for link in _strongest_first(links)
    ]
    chance = f" (chance {percent(links[0].chance)})" if links else ""
    headings = (
        "evidence",
        f"first guess right{chance}",
        "EER",
        "D_sys",
        "EER on held-out training speakers",
        "share of the fused score",
        "linked with",
    )
    return make_table(f"What each part alone links ({attacker} attacker)", headings, rows)


def evidence_sentences(links: Sequence[EvidenceLink]) -> list[str]:
    """Say which evidence alone links clearly more often than a guess, and what to be careful of.

    Parameters
    ----------
    links : sequence of EvidenceLink
        Of one attack.

    Returns
    -------
    list of str
        Without a full stop at the end.
    """
    lines = []
    for link in _strongest_first(links):
        if link.top_1 < NOTABLE * link.chance:
            continue
        subject = link.phrase[0].upper() + link.phrase[1:]
        sentence = (
            f"{subject} alone links {percent(link.top_1)} of the recordings to the right person; "
            f"a guess would link {percent(link.chance)}"
        )
        lines.append(f"{sentence}. Careful: {link.caution}" if link.caution else sentence)
    return lines


def _strongest_first(links: Sequence[EvidenceLink]) -> list[EvidenceLink]:
    return sorted(links, key=lambda link: -link.top_1)
