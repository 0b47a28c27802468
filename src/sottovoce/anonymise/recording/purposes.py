"""Random assignment of dialogues to one purpose each (COMPRISE deliverable D2.3, sections 2 and 3).

Each dialogue contributes to the training data of one model only: its secured speech to an acoustic
model, or its transformed text to a language model, to understanding or to dialogue management.
Which one is drawn once a dialogue, from the secret and the dialogue's name; the ledger remembers
it, and a dialogue that it knows keeps its purpose.
"""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.ledger import Ledger, Name, dialogue_names, dialogues_of
from sottovoce.anonymise.recording.release import Purpose
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean
from sottovoce.corpus.utterance import Corpus

TASKS: dict[str, Purpose] = {
    "acoustic": "acoustic",
    "language-model": "text",
    "understanding": "text",
    "dialogue-management": "text",
}
"""What a dialogue can be used for, and what is exported for it."""


def check_tasks(names: Sequence[str]) -> tuple[str, ...]:
    """Refuse purposes that nobody knows, or too few to draw from.

    Parameters
    ----------
    names : sequence of str
        Names in :data:`TASKS`, each once.

    Raises
    ------
    UsageError
        ``unknown-name``, or ``out-of-range`` for fewer than two.
    """
    for name in names:
        if name not in TASKS:
            raise UsageError(did_you_mean("purpose", name, list(TASKS)), code="unknown-name")
    chosen = tuple(dict.fromkeys(names))
    if len(chosen) < 2:
        raise UsageError(
            f"purposes {', '.join(chosen)}: a draw needs at least two", code="out-of-range"
        )
    return chosen


def draw_task(name: Name, tasks: Sequence[str], secret: Secret) -> str:
    """Draw what a dialogue is used for; the same secret and name give the same purpose.

    Parameters
    ----------
    name : Name
        Of the dialogue.
    tasks : sequence of str
        What to draw from, all with the same probability.
    secret : Secret
        The key of the draw.
    """
    rng = secret.generator("purpose", name.normalised().hex())
    return tasks[int(rng.integers(len(tasks)))]


def assign_tasks(
    corpus: Corpus, tasks: Sequence[str], secret: Secret, ledger: Ledger | None
) -> dict[str, Corpus]:
    """Divide a corpus into one part for each purpose, dialogue by dialogue.

    Parameters
    ----------
    corpus : Corpus
        Utterances of dialogues.
    tasks : sequence of str
        Purposes to draw from.
    secret : Secret
        The key of the draws.
    ledger : Ledger or None
        Dialogues that it knows keep the purpose they had, whatever the secret.

    Returns
    -------
    dict of str to Corpus
        In the order of ``tasks``, without purposes that no dialogue has.
    """
    dialogues = dialogues_of(corpus)
    known = {} if ledger is None else ledger.purposes(dialogues)
    task_of = {
        dialogue.name: known.get(dialogue.name) or draw_task(dialogue.name, tasks, secret)
        for dialogue in dialogues
    }
    chosen = list(dict.fromkeys([*tasks, *task_of.values()]))
    parts = {
        task: corpus.select(lambda u, wanted=task: task_of[dialogue_names(u)[0]] == wanted)  # type: ignore[misc]
        for task in chosen
    }
    return {task: part for task, part in parts.items() if len(part)}
