"""Who runs a flight or a train: *Lufthansa* in *the Lufthansa flight from Paris*."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from sottovoce.anonymise.text.entities import Entity
from sottovoce.anonymise.text.lexicon import lexicon, strip_clitics

_RIDES = {
    "en": "flight flights train trains bus coach ferry tram plane",
    "de": "flug flüge zug züge bus fähre flugzeug maschine",
    "es": "vuelo vuelos tren trenes autobús avión ferry",
    "fr": "vol vols train trains bus car avion ferry",
    "it": "volo voli treno treni autobus aereo traghetto",
    "lv": "reiss reisu reisa vilciens vilcienu autobuss autobusu lidmašīna",
    "nl": "vlucht vluchten trein treinen bus vliegtuig veerboot",
    "pt": "voo voos comboio trem autocarro ônibus avião",
}
"""Nouns that the name of a carrier or a place stands beside."""


@cache
def _rides(lang: str) -> frozenset[str]:
    return frozenset(_RIDES[lang].split())


def without_rides(entities: Iterable[Entity], low: Sequence[str], lang: str) -> list[Entity]:
    """Cut *flight* or *train* off names; the rest is an organisation unless it is a listed place.

    Parameters
    ----------
    entities : iterable of Entity
        Entities of one text.
    low : sequence of str
        The words of the text in lower case.
    lang : str
        Language code.

    Returns
    -------
    list of Entity
        The entities; a name that is nothing but such a noun stays as it is.
    """
    rides = _rides(lang)
    if rides.isdisjoint(low):
        return list(entities)
    return [_without_ride(e, low, lang, rides) if e.kind in _NAMES else e for e in entities]


_NAMES = ("LOC", "ORG", "PER")


def _without_ride(entity: Entity, low: Sequence[str], lang: str, rides: frozenset[str]) -> Entity:
    start, end = entity.start, entity.end
    while end > start and low[end - 1] in rides:
        end -= 1
    while start < end and low[start] in rides:
        start += 1
    if start == end or end - start == entity.length:
        return entity
    place = tuple(strip_clitics(word) for word in low[start:end])
    is_carrier = entity.kind == "LOC" and place not in lexicon(lang).places
    return entity._replace(start=start, end=end, kind="ORG" if is_carrier else entity.kind)
