"""Dates, times and numbers of a language: their words, and values made from them.

Values are made by a small grammar rather than listed, from a fixed public range, so their number
is known and nothing of the corpus enters them.
"""

from __future__ import annotations

from functools import cache, lru_cache

from sottovoce.core.number_words import TENS, UNITS

WEEKDAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "lv": "pirmdiena otrdiena trešdiena ceturtdiena piektdiena sestdiena svētdiena",
    "nl": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "pt": "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
    "dicembre",
    "lv": "janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris "
    "novembris decembris",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
}
_MORE = {
    "en": "oh double triple hundred thousand",
    "de": "ein eine zwo hundert tausend",
    "es": "un una veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve cien ciento mil",
    "fr": "une septante huitante nonante cent cents mille",
    "it": "un una ventuno ventidue ventitré ventiquattro venticinque ventisei ventisette ventotto "
    "ventinove cento mille mila",
    "lv": "viena divas četras piecas sešas septiņas astoņas deviņas simts simti tūkstotis",
    "nl": "één honderd duizend",
    "pt": "uma duas meia dezesseis dezessete dezenove cem cento mil",
}
DAYTIMES = {
    "en": "in the morning|in the afternoon|in the evening|at night",
    "de": "morgens|nachmittags|abends|nachts",
    "es": "de la mañana|de la tarde|de la noche",
    "fr": "du matin|de l'après-midi|du soir",
    "it": "di mattina|di pomeriggio|di sera|di notte",
    "lv": "no rīta|pēcpusdienā|vakarā|naktī",
    "nl": "'s ochtends|'s middags|'s avonds|'s nachts",
    "pt": "da manhã|da tarde|da noite",
}
THAT_DAY = {
    "en": ("that day", "that time", "a number"),
    "de": ("an jenem Tag", "zu jener Zeit", "eine Nummer"),
    "es": ("aquel día", "aquella hora", "un número"),
    "fr": ("ce jour-là", "cette heure-là", "un numéro"),
    "it": ("quel giorno", "quell'ora", "un numero"),
    "lv": ("tajā dienā", "tajā laikā", "numurs"),
    "nl": ("die dag", "dat tijdstip", "een nummer"),
    "pt": ("aquele dia", "aquela hora", "um número"),
}
"""What dates, times and numbers are generalised to."""


@cache
def number_words(lang: str) -> frozenset[str]:
    """Words that numbers are spelt with, one at a time."""
    return frozenset((*UNITS[lang], *TENS[lang], *_MORE[lang].split()))


@lru_cache(maxsize=1 << 16)
def is_number_word(word: str, lang: str) -> bool:
    """Whether a word spells a number, compounds included.

    >>> is_number_word("einundzwanzig", "de"), is_number_word("twenty-one", "en")
    (True, True)
    >>> is_number_word("someone", "en")
    False
    """
    low = word.lower()
    known = number_words(lang)
    if low in known:
        return True
    if "-" in low:
        return all(part in known or part in _JOINTS for part in low.split("-"))
    if lang == "it":
        return low in small_numbers("it", True)
    return lang in ("de", "nl") and _compound(low, lang)


_JOINTS = frozenset({"et", "und", "en", "e", "y"})


def _compound(low: str, lang: str) -> bool:
    joints = ("und",) if lang == "de" else ("en", "ën")
    for tens in TENS[lang]:
        for joint in joints:
            if low.endswith(joint + tens):
                return low.removesuffix(joint + tens) in number_words(lang)
    return False


@cache
def dates(lang: str, spelt: bool) -> list[str]:
    """Days: weekdays, and days of the year in words or figures."""
    months = MONTHS[lang].split()
    if not spelt:
        return [
            f"{day:02d}.{month:02d}.{year}"
            for year in range(1990, 2030)
            for month in range(1, 13)
            for day in range(1, 29)
        ]
    numbers = small_numbers(lang, True)
    link = {"es": " de ", "pt": " de "}.get(lang, " ")
    days = [f"{numbers[day]}{link}{month}" for month in months for day in range(1, 29)]
    return WEEKDAYS[lang].split() + days


@cache
def times(lang: str, spelt: bool) -> list[str]:
    """Times of the day, in words or figures."""
    if not spelt:
        return [f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in range(60)]
    numbers = small_numbers(lang, True)
    hour = {"de": " Uhr", "nl": " uur", "fr": " heures"}.get(lang, "")
    daytimes = DAYTIMES[lang].split("|")
    return [f"{numbers[h]}{hour} {part}" for h in range(2, 13) for part in daytimes] + [
        f"{numbers[h]}{hour} {numbers[m]}" for h in range(2, 13) for m in (*range(5, 20), 30)
    ]


@cache
def small_numbers(lang: str, spelt: bool) -> list[str]:
    """Numbers from 0 to 99, or from 1,000 to 9,999 in figures."""
    if not spelt:
        return [str(n) for n in range(1000, 10_000)]
    units, tens = list(UNITS[lang]), list(TENS[lang])
    return units + [_spelt(t, u, lang, tens, units) for t in range(len(tens)) for u in range(10)]


def _spelt(t: int, u: int, lang: str, tens: list[str], units: list[str]) -> str:
    if not u:
        return tens[t]
    if lang == "fr" and tens[t].endswith("-dix"):
        return f"{tens[t].removesuffix('-dix')}-{units[10 + u]}"
    if lang == "de":
        return f"{'ein' if u == 1 else units[u]}und{tens[t]}"
    if lang == "nl":
        return f"{units[u]}{'ën' if units[u].endswith('e') else 'en'}{tens[t]}"
    if lang == "it":
        stem = tens[t][:-1] if u in (1, 8) else tens[t]
        return stem + ("tré" if u == 3 else units[u])
    if lang == "es" and t == 0:
        accented = {2: "dós", 3: "trés", 6: "séis"}
        return "veinti" + accented.get(u, units[u])
    joint = {"es": " y ", "pt": " e ", "fr": "-", "en": "-"}.get(lang, " ")
    return f"{tens[t]}{joint}{units[u]}"


@cache
def phone_numbers(lang: str, spelt: bool) -> list[str]:
    """Numbers that are nobody's: seven digits after 555."""
    if not spelt:
        return [f"555 {n:07d}" for n in range(0, 10_000_000, 997)]
    digits = UNITS[lang][:10]
    return [" ".join(digits[int(d)] for d in f"{n:07d}") for n in range(0, 10_000_000, 997)]
