"""For whom a draw is made: once for a speaker, a session of a speaker, or an utterance.

With a draw for each session a speaker sounds alike within a session, as a dialogue needs, and is
unlinkable by the draw between sessions (Qian et al. 2018, section 2).
"""

from __future__ import annotations

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import InputError
from sottovoce.corpus.utterance import Corpus

SCOPES = ("speaker", "session", "utterance")
"""For whom draws can be made."""


class DrawScope:
    """Names that the draws of a recording are keyed by.

    Parameters
    ----------
    kind : {"speaker", "session", "utterance"}
        For whom a draw is made.
    secret : Secret
        The key of the draws.
    """

    def __init__(self, kind: str, secret: Secret) -> None:
        self.kind, self.secret = kind, secret
        self._sessions: dict[str, str] = {}

    def fit(self, corpus: Corpus) -> None:
        """Learn the sessions of a corpus.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.

        Raises
        ------
        InputError
            If draws are made for each session and the corpus has no sessions (``missing-column``).
        """
        if self.kind != "session":
            return
        self._sessions = {
            utterance.id: utterance.session for utterance in corpus if utterance.session
        }
        if not self._sessions:
            raise InputError(
                f"{corpus.name}: no recording has a session; add the column session, or draw for "
                "each speaker or utterance",
                code="missing-column",
            )

    def names(self, speaker: str, utterance: str) -> tuple[str, ...]:
        """Return the names that key the draws of a recording.

        Parameters
        ----------
        speaker, utterance : str
            Ids. A recording without session gets a draw of its own.
        """
        if self.kind == "speaker":
            return (speaker,)
        session = self._sessions.get(utterance)
        if session is None:
            return (speaker, utterance)
        return (speaker, "session", session)

    def fingerprint(self) -> str | None:
        """Return a keyed digest of the sessions, which changes when they do; None without them."""
        if not self._sessions:
            return None
        pairs = [word for pair in sorted(self._sessions.items()) for word in pair]
        return self.secret.digest("sessions", *pairs).hex()[:16]
