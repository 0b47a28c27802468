from __future__ import annotations

import unicodedata
from typing import Literal

import pytest

from sottovoce.anonymise.text.lexicon import MIN_WORDS, other_language

TEXTS = {
    "en": "please call my sister tomorrow and tell her that the train to the city is late again",
    "de": "bitte ruf morgen meine schwester an und sag ihr dass der zug in die stadt zu spät kommt",
    "es": "por favor llama mañana a mi hermana y dile que el tren a la ciudad llega tarde otra vez",
    "fr": "appelle ma soeur demain et dis lui que le train pour la ville est encore en retard",
    "it": "per favore chiama domani mia sorella e dille che il treno è ancora in ritardo oggi",
    "lv": "lūdzu piezvani rīt manai māsai un pasaki viņai ka vilciens uz pilsētu atkal ir vēlu un",
    "nl": "bel morgen mijn zus en zeg haar dat de trein naar de stad alweer te laat is alsjeblieft",
    "pt": "por favor liga amanhã à minha irmã e diz que o comboio para a cidade está tarde",
}


@pytest.mark.parametrize("spoken", TEXTS)
@pytest.mark.parametrize("chosen", TEXTS)
def test_a_text_in_another_language_is_noticed(spoken: str, chosen: str) -> None:
    texts = [TEXTS[spoken], TEXTS[spoken].capitalize()]
    assert other_language(texts, chosen) == (None if spoken == chosen else spoken)


def test_too_few_words_give_no_language() -> None:
    assert other_language(["das ist deutsch"], "en") is None
    assert other_language([], "en") is None
    assert other_language(["Київ " * 50, "😀 " * 50], "en") is None


FRENCH = (
    "L'homme, l'été dernier, n'avait qu'une idée: partir! J'ai dit: «c'est l'heure», d'accord? "
    "Qu'il vienne, s'il veut; jusqu'à demain, l'affaire attend. Bien sûr, Marie."
)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_words_with_marks_and_apostrophes_are_counted(form: Literal["NFC", "NFD"]) -> None:
    text = unicodedata.normalize(form, FRENCH)
    assert sum(word.isalpha() for word in FRENCH.split()) < MIN_WORDS
    assert other_language([text], "en") == "fr"
    assert other_language([text], "fr") is None


def test_punctuated_text_keeps_its_language() -> None:
    text = "Don't, said John's wife; it's Ann's, isn't it? So, he'd say: we'll see, won't we? "
    assert other_language([text * 3], "en") is None
