"""Words of Art. 9 GDPR are found in eight languages, if asked for, and ordinary ones are not."""

from __future__ import annotations

import pytest

from sottovoce.anonymise.text import Detector, TextAnonymiser
from sottovoce.anonymise.text.entities import PRIVATE_TYPES, SENSITIVE
from sottovoce.anonymise.text.special_categories import CATEGORIES, find_special_categories

SENTENCES = {
    "en": """she was diagnosed with leukaemia
he is a practising catholic
she belongs to an ethnic minority
my father is a communist
i am a trade union member
he told me that he is gay
they took my fingerprints""",
    "de": """bei ihr wurde eine Leukämie festgestellt
er ist ein gläubiger Katholik
meine Hautfarbe spielt keine Rolle
mein Vater ist Kommunist
ich bin Gewerkschaftsmitglied
er sagte dass er schwul ist
man nahm meine Fingerabdrücke""",
    "es": """le diagnosticaron leucemia
es un católico practicante
pertenece a una minoría étnica
mi padre es comunista
soy sindicalista desde hace años
me dijo que es homosexual
tomaron mis huellas dactilares""",
    "fr": """on lui a diagnostiqué une leucémie
c'est un catholique pratiquant
elle appartient à une minorité ethnique
mon père est communiste
je suis syndiqué depuis des années
il m'a dit qu'il est homosexuel
on a pris mes empreintes digitales""",
    "it": """le hanno diagnosticato una leucemia
è un cattolico praticante
appartiene a una minoranza etnica
mio padre è comunista
sono iscritto al sindacato
mi ha detto che è omosessuale
hanno preso le mie impronte digitali""",
    "lv": """viņai atklāja leikēmiju
viņš ir katolis
viņa pieder etniskai minoritātei
mans tēvs ir komunists
esmu arodbiedrības biedrs
viņš teica ka ir homoseksuāls
man noņēma pirkstu nospiedumus""",
    "nl": """bij haar is leukemie vastgesteld
hij is een praktiserend katholiek
ze hoort bij een etnische minderheid
mijn vader is communist
ik ben vakbondslid
hij zei dat hij homo is
ze namen mijn vingerafdrukken""",
    "pt": """foi-lhe diagnosticada leucemia
é um católico praticante
pertence a uma minoria étnica
o meu pai é comunista
sou sindicalizado há anos
disse-me que é homossexual
tiraram as minhas impressões digitais""",
}
CASES = [
    (lang, category, text)
    for lang, lines in SENTENCES.items()
    for category, text in zip(CATEGORIES, lines.splitlines(), strict=True)
]


@pytest.mark.parametrize(("lang", "category", "text"), CASES)
def test_each_category_is_found_in_each_language(lang: str, category: str, text: str) -> None:
    (entity,) = find_special_categories(text.split(), lang)
    assert entity.rule == f"pattern {category}" and entity.kind == SENSITIVE


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "the European Union fell into a depression and the party was great"),
        ("de", "die Europäische Union und die Partei der Gäste waren ein starker Eindruck"),
        ("es", "la unión hace la fuerza y la fiesta fue un éxito"),
        ("fr", "l'union fait la force et la partie était belle"),
        ("it", "l'unione fa la forza e la partita era bella"),
        ("pt", "a união faz a força e a festa foi boa"),
    ],
)
def test_words_that_usually_mean_something_else_are_not_found(lang: str, text: str) -> None:
    assert find_special_categories(text.split(), lang) == []


def test_they_are_private_only_if_asked_for_and_become_their_type() -> None:
    text = "Ann is diabetic"
    assert [f.kind for f in Detector("en").find([text])[0]] == ["PER"]
    types = (*PRIVATE_TYPES, SENSITIVE)
    for strategy in ("full", "word", "named", "typed"):
        result = TextAnonymiser("en", strategy=strategy, types=types).transform(text)
        assert result.text.endswith(" is [SENSITIVE]"), strategy
    assert [span.rule for span in result.spans][1] == "pattern health"
