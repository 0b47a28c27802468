"""What anonymised utterances and their files are called."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sottovoce.anonymise.keys import Secret
from sottovoce.corpus.utterance import Corpus, Utterance

AUDIO = "audio"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def pseudonymous(corpus: Corpus, secret: Secret) -> dict[Utterance, Utterance]:
    """Each utterance with keyed ids instead of its own, its speaker's and its session's.

    Ids of utterances begin with that of their speaker, as Kaldi wants it. Columns of the corpus's
    own are left out, since nobody knows what they tell. Transcripts stay.
    """
    return {one: _renamed(one, secret) for one in corpus}


def _renamed(one: Utterance, secret: Secret) -> Utterance:
    speaker = f"s{_short(secret, 'speaker', one.speaker)}"
    session = f"t{_short(secret, 'session', one.speaker, one.session)}" if one.session else ""
    name = f"{speaker}-u{_short(secret, 'utterance', one.id)}"
    return replace(one, id=name, speaker=speaker, session=session, extra={})


def _short(secret: Secret, *names: str) -> str:
    return secret.digest("rename", *names).hex()[:16]


def file_names(
    outcome: Mapping[Utterance, Utterance], root: Path, *, mirrored: bool
) -> dict[Utterance, str]:
    """A path in the new folder for each utterance, ``/`` between its parts.

    Mirrored, files that are one utterance each keep the place they had below ``root``; others are
    called after speaker and utterance. WAV stays WAV, all else becomes FLAC.
    """
    named = {one: _by_id(two) for one, two in outcome.items()}
    if not mirrored:
        return named
    places = {one: _by_place(one, root) for one in outcome}
    counts = Counter(place.lower() for place in places.values())
    if all(place and counts[place.lower()] == 1 for place in places.values()):
        return places
    return named


def _by_id(one: Utterance) -> str:
    return f"{AUDIO}/{_safe(one.speaker)}/{_safe(one.id)}.flac"


def _by_place(one: Utterance, root: Path) -> str:
    """Where the file lies below the root; nothing if it lies elsewhere or is cut into parts."""
    if one.start is not None or one.end is not None or one.channel is not None:
        return ""
    place = Path(os.path.relpath(os.path.abspath(one.path), os.path.abspath(root)))
    if os.pardir in place.parts or place.is_absolute():
        return ""
    kept = place.suffix.lower() == ".wav"
    return (place if kept else place.with_suffix(".flac")).as_posix()


def _safe(name: str) -> str:
    """A name that is good for files everywhere; told apart by a hash where signs were lost."""
    plain = _UNSAFE.sub("_", name).strip(".")[:80]
    if plain == name:
        return name
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
