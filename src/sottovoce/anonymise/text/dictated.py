"""Names that are announced, names with particles and initials, and names of houses.

*The patient is Abdul bin Rashid al Farsi*, *J. R. R. Tolkien*, *Madame de la Tour*, *our house is
called Rose Cottage*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from sottovoce.anonymise.text.calendar import is_number_word
from sottovoce.anonymise.text.cues import cues, follows_phrase, shared_words
from sottovoce.anonymise.text.entities import PATTERN_RULE, Entity
from sottovoce.anonymise.text.lexicon import lexicon, strip_clitics

NAME_RULE, HOUSE_RULE, USER_RULE = (
    f"{PATTERN_RULE}{name}" for name in ("announced name", "house name", "announced user")
)
OFFICE_SCORE = 0.7
MAX_NAME_WORDS, MAX_HOUSE_WORDS, MAX_USER_WORDS = 8, 4, 6
"""Words of the longest name that is announced, of a house's name without its noun, and of the name
of a user or a password."""
FUNCTION_WORD_ZIPF = 13
"""Twice the Zipf frequency from which a word does not even follow a title and a particle."""
VERY_COMMON_ZIPF = 11
"""Twice the Zipf frequency from which a word is not taken for a name, even if it is one too."""
PARTICLES = shared_words("particles")
"""Words inside names: *van der Berg*, *de la Fuente*."""
_FIRST_PARTICLES = shared_words("first_particles")
"""Particles that a name may begin with."""
_TITLES = {
    "en": "mr mrs ms miss mister doctor dr professor sir madam captain prof mx lord lady",
    "de": "herr herrn frau doktor dr professor fräulein prof ing",
    "es": "señor señora señorita sr sra don doña doctor doctora srta dra profesor profesora",
    "fr": "monsieur madame mademoiselle mme docteur maître mlle dr professeur mgr",
    "it": "signor signore signora signorina sig dottor dottore dottoressa "
    "dott prof professor professore professoressa avvocato ingegner sig.ra dott.ssa",
    "lv": "kungs kundze kungam kundzei kungu kundzi kunga kundzes dr prof profesors profesore",
    "nl": "meneer mevrouw dhr mevr dokter heer mw dr drs prof professor",
    "pt": "senhor senhora sr sra dona doutor doutora dr dra prof professor professora",
}
"""Words beside which a name stands: before it, in Latvian after it."""
_OFFICES = {
    "es": "presidente presidenta ministro ministra senador senadora diputado diputada general "
    "coronel capitán comandante comisario comisaria alcalde alcaldesa subsecretario padre sor "
    "monseñor cardenal obispo juez jueza fiscal colega embajador canciller compañero compañera",
    "it": "onorevole onorevoli on presidente ministro ministra senatore senatrice deputato "
    "deputata generale colonnello capitano comandante commissario commissaria sindaco "
    "sottosegretario sottosegretari abate padre don suor monsignor monsignore cardinale vescovo "
    "giudice procuratore collega ambasciatore cancelliere compagno compagna",
}
"""Offices before a name, in the languages whose taggers were trained on translated text."""
_COPULAS = shared_words("copulas")
_PREPOSITIONS = shared_words("prepositions")
_INDEFINITE = shared_words("indefinite")


def find_dictated(low: Sequence[str], lang: str) -> list[Entity]:
    """Find names that the words before them announce.

    Parameters
    ----------
    low : sequence of str
        The words of a text in lower case.
    lang : str
        Language code.

    Examples
    --------
    >>> words = "the patient is abdul bin rashid al farsi".split()
    >>> [entity[:3] for entity in find_dictated(words, "en")]
    [(3, 8, 'PER')]
    >>> words = "our house is called rose cottage on the high street".split()
    >>> [entity[:3] for entity in find_dictated(words, "en")]
    [(4, 6, 'LOC')]
    """
    return [
        *_titled_names(low, lang),
        *_names_of_officials(low, lang),
        *_announced_names(low, lang),
        *_user_names(low, lang),
        *_house_names(low, lang),
    ]


# ======================================================================================= persons


@cache
def titles_of(lang: str) -> frozenset[str]:
    """Return the titles of a language: *mister*, *Frau*, *Mme*.

    Parameters
    ----------
    lang : str
        Language code.
    """
    return frozenset(_TITLES[lang].split())


def _titled_names(low: Sequence[str], lang: str) -> Iterator[Entity]:
    """Yield the name beside a title, unless it is a common word."""
    titles = titles_of(lang)
    if titles.isdisjoint(low):
        return
    is_common = lexicon(lang).is_common
    for i, word in enumerate(low):
        if word in titles:
            step = -1 if lang == "lv" else 1
            j = i + step
            if step > 0 and j < len(low) and low[j] == ".":
                j += 1
            may_be_name = 0 <= j < len(low) and low[j].isalpha() and low[j] not in titles
            end = _particle_name_end(low, j, lang) if step > 0 else 0
            if end:
                yield Entity(j, end, "PER", 0.9, f"{PATTERN_RULE}title")
            elif may_be_name and not is_common(low[j]):
                yield Entity(j, j + 1, "PER", 0.9, f"{PATTERN_RULE}title")


@cache
def offices_of(lang: str) -> frozenset[str]:
    """Return the offices of a language that stand before a name: *ministro*, *onorevole*.

    Parameters
    ----------
    lang : str
        Language code.
    """
    return frozenset(_OFFICES.get(lang, "").split())


def _names_of_officials(low: Sequence[str], lang: str) -> Iterator[Entity]:
    """Yield the name after an office: *dell'onorevole Segni*, *el ministro de Palacio*."""
    offices = offices_of(lang)
    if not offices:
        return
    for i, word in enumerate(low[:-1], 1):
        if strip_clitics(word) not in offices:
            continue
        start = i + 1 if low[i] == "." and i + 1 < len(low) else i
        if low[start] in offices or low[start] in titles_of(lang):
            continue
        last = start
        while last < len(low) - 1 and low[last] in PARTICLES:
            last += 1
        if may_be_name(low[last], lang):
            yield Entity(start, last + 1, "PER", OFFICE_SCORE, f"{PATTERN_RULE}title")


def _particle_name_end(low: Sequence[str], start: int, lang: str) -> int:
    """Return where a name like *de la Tour* ends; 0 if it does not begin with a particle."""
    end = start
    while end < len(low) and low[end] in PARTICLES:
        end += 1
    named = start < end < len(low) and is_plain_word(low[end], lang)
    return end + 1 if named else 0


def _announced_names(low: Sequence[str], lang: str) -> Iterator[Entity]:
    known = cues(lang)
    last_words = known.named_ends
    if last_words.isdisjoint(low):
        return
    for i in range(1, len(low)):
        if low[i - 1] in last_words and follows_phrase(low, i, known.named):
            end = _name_end(low, i, lang)
            if end > i:
                yield Entity(i, end, "PER", 0.9, NAME_RULE)


def _name_end(low: Sequence[str], start: int, lang: str) -> int:
    """Return where the name that starts at a word ends; ``start`` if it is no name."""
    end = i = start
    particles = False
    while i < min(start + MAX_NAME_WORDS, len(low)):
        word = low[i]
        if word in PARTICLES and (i > start or _begins_name(low, i, lang)):
            particles = True
        elif _is_initial(low, i) or (word == "." and end == i and len(low[i - 1]) == 1):
            end = i + 1 if end > start or not _is_word_letter(word, lang) else end
        elif may_be_name(word, lang) or (particles and is_plain_word(word, lang)):
            end, particles = i + 1, False
        else:
            break
        i += 1
    return end


def _begins_name(low: Sequence[str], i: int, lang: str) -> bool:
    """Tell whether a particle begins a name: *de la Tour*."""
    if low[i] not in _FIRST_PARTICLES:
        return False
    while i < len(low) and low[i] in PARTICLES:
        i += 1
    return i < len(low) and may_be_name(low[i], lang)


def _is_initial(low: Sequence[str], i: int) -> bool:
    return len(low[i]) == 1 and low[i].isalpha()


def _is_word_letter(word: str, lang: str) -> bool:
    return lexicon(lang).frequency.get(word, 0) > VERY_COMMON_ZIPF


@lru_cache(maxsize=1 << 16)
def may_be_name(word: str, lang: str) -> bool:
    """Tell whether a word may be a name where one is expected: it is rare, or a listed name.

    Parameters
    ----------
    word : str
        The word in lower case.
    lang : str
        Language code.
    """
    if len(word) < 2 or not word.replace("-", "").replace("'", "").replace("’", "").isalpha():
        return False
    known, core = lexicon(lang), strip_clitics(word)
    if not known.is_common(core):
        return True
    return known.frequency.get(core, 0) < VERY_COMMON_ZIPF and bool(known.name_kind(core))


def is_plain_word(word: str, lang: str) -> bool:
    """Tell whether a word may follow a particle in a name: *de la Fuente*.

    Parameters
    ----------
    word : str
        The word in lower case.
    lang : str
        Language code.
    """
    frequency = lexicon(lang).frequency.get(word, 0)
    return len(word) > 2 and word.isalpha() and frequency < FUNCTION_WORD_ZIPF


def extend_names(entities: Iterable[Entity], low: Sequence[str], lang: str) -> list[Entity]:
    """Extend names of persons by initials before, and particles with a further name behind them.

    Parameters
    ----------
    entities : iterable of Entity
        Disjoint entities in order.
    low : sequence of str
        The words of the text in lower case.
    lang : str
        Language code.

    Returns
    -------
    list of Entity
        The entities; names of persons may cover more words.

    Examples
    --------
    >>> words = "jan van der berg".split()
    >>> [entity[:2] for entity in extend_names([Entity(0, 1, "PER", 1.0, "a")], words, "nl")]
    [(0, 4)]
    """
    return [
        entity._replace(
            start=_initials_start(low, entity.start), end=_extended_end(low, entity, lang)
        )
        if entity.kind == "PER"
        else entity
        for entity in entities
    ]


def without_titles(entities: Iterable[Entity], low: Sequence[str], lang: str) -> list[Entity]:
    """Cut titles off the names of persons: *Frau* of *Frau Merkel*, *kungs* of *Ozola kungs*.

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
        The entities; a name that is nothing but a title stays as it is.
    """
    return [
        _without_title(entity, low, titles_of(lang) | offices_of(lang))
        if entity.kind == "PER"
        else entity
        for entity in entities
    ]


def _without_title(entity: Entity, low: Sequence[str], titles: frozenset[str]) -> Entity:
    start, end = entity.start, entity.end
    while start < end and (low[start] in titles or (low[start] == "." and start > entity.start)):
        start += 1
    while end > start and low[end - 1] in titles:
        end -= 1
    return entity._replace(start=start, end=end) if start < end else entity


def _extended_end(low: Sequence[str], entity: Entity, lang: str) -> int:
    end = entity.end
    while end < len(low) and low[end] in PARTICLES:
        i = end
        while i < len(low) and low[i] in PARTICLES:
            i += 1
        single = i == end + 1
        if i == len(low) or low[i] in cues(lang).stop or (single and len(low[end]) == 1):
            break
        if not (may_be_name if single else is_plain_word)(low[i], lang):
            break
        end = i + 1
    return end


def _initials_start(low: Sequence[str], start: int) -> int:
    """Return where the initials before a name start: *J. R. R. Tolkien*."""
    i = start
    while i > 0:
        dot = i > 1 and low[i - 1] == "."
        letter = low[i - 2] if dot else low[i - 1]
        if len(letter) != 1 or not letter.isalpha() or (letter in "aeiouyàèéáó" and not dot):
            break
        i -= 2 if dot else 1
    return i


def _user_names(low: Sequence[str], lang: str) -> Iterator[Entity]:
    """Yield what follows *my user name is* or *the password is*, up to a very common word."""
    known = cues(lang)
    if known.user.isdisjoint(low):
        return
    for i, word in enumerate(low):
        announced = strip_clitics(word) in known.user or (
            word == "name" and low[i - 1 : i] == ["user"]
        )
        if announced and i + 2 < len(low) and low[i + 1] in _COPULAS:
            end = start = i + 2
            while end < min(start + MAX_USER_WORDS, len(low)) and _in_user_name(low[end], lang):
                end += 1
            if end > start:
                yield Entity(start, end, "ID", 0.9, USER_RULE)


def _in_user_name(word: str, lang: str) -> bool:
    frequency = lexicon(lang).frequency.get(word, 0)
    return word[:1].isalnum() and (frequency < FUNCTION_WORD_ZIPF - 1 or is_number_word(word, lang))


# ======================================================================================== houses


def _house_names(low: Sequence[str], lang: str) -> Iterator[Entity]:
    known = cues(lang)
    if known.house_nouns.isdisjoint(low):
        return
    for i, word in enumerate(low):
        if word not in known.house_nouns:
            continue
        start, end = _named_house(low, i, lang) or _lived_in(low, i, lang)
        if start < end:
            yield Entity(start, end, "LOC", 0.9, HOUSE_RULE)


def _named_house(low: Sequence[str], noun: int, lang: str) -> tuple[int, int] | None:
    """Return the name in *our house is called …*."""
    known = cues(lang)
    for start in range(noun + 2, min(noun + 6, len(low))):
        if follows_phrase(low, start, known.house_named):
            end = _house_end(low, start, lang)
            return (start, end) if end > start else None
    return None


def _house_end(low: Sequence[str], start: int, lang: str) -> int:
    stop = cues(lang).stop
    end = start
    while end < min(start + MAX_HOUSE_WORDS, len(low)):
        word = low[end]
        if not word[:1].isalpha() or (word in stop and end > start):
            break
        end += 1
    return end


def _lived_in(low: Sequence[str], noun: int, lang: str) -> tuple[int, int]:
    """Return the name in *I live at Primrose Cottage*, *wir wohnen in der Villa Sonnenblick*."""
    known = cues(lang)
    if known.live.isdisjoint(low[max(noun - 6, 0) : noun]):
        return 0, 0
    if lang == "en":
        return _english_house(low, noun)
    end = _house_end(low, noun + 1, lang) if low[noun + 1 : noun + 2] else noun
    first = low[noun + 1] if end > noun + 1 else ""
    if (
        not first
        or first in known.stop
        or (low[noun] in known.plain and not may_be_name(first, lang))
    ):
        return 0, 0
    return noun, end


def _english_house(low: Sequence[str], noun: int) -> tuple[int, int]:
    """Return the name that ends in a noun: *at the old mill*, but not *in a small house*."""
    start = noun
    while start > 0 and noun - start < MAX_HOUSE_WORDS and low[start - 1][:1].isalpha():
        if low[start - 1] in _PREPOSITIONS or low[start - 1] in _INDEFINITE:
            break
        start -= 1
    named = start < noun and start > 0 and low[start - 1] not in _INDEFINITE
    return (start, noun + 1) if named else (0, 0)
