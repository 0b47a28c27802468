from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.private_words import detect_private, find_targets
from sottovoce.anonymise.text import STRATEGIES, TextAnonymiser, find_private
from sottovoce.anonymise.text.tokens import tokenise
from sottovoce.core.unicode_offsets import normalise_unicode

TEXT = "J'ai parlé avec Jérôme Gérard hier."
WORDS = ("Jérôme", "Gérard", "Évreux", "hier", "parlé", "l'été", "à", "naïve", "Müller", "ā", ",")
MIXED = st.lists(
    st.tuples(st.sampled_from(WORDS) | st.text(max_size=4), st.sampled_from(["NFC", "NFD"])),
    max_size=8,
).map(lambda parts: " ".join(unicodedata.normalize(form, word) for word, form in parts))  # type: ignore[arg-type]
SECRET = Secret.reproducible(3)


def make(strategy: str = "typed", lang: str = "fr", **more: object) -> TextAnonymiser:
    return TextAnonymiser(lang, strategy=strategy, secret=SECRET, **more)  # type: ignore[arg-type]


def apart(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def test_a_name_in_decomposed_letters_is_found() -> None:
    assert make().transform(apart(TEXT)).text == apart("J'ai parlé avec [PER] [DATE].")


@pytest.mark.parametrize("sign", ["\u00ad", "\u200b", "\u2060", "\u200e"])
def test_invisible_characters_hide_no_name(sign: str) -> None:
    text = f"J'ai parlé avec Jé{sign}rôme Gé{sign}rard{sign} hier, co{sign}mme ça."
    assert make().transform(text).text == f"J'ai parlé avec [PER] [DATE], co{sign}mme ça."


@settings(max_examples=60)
@given(MIXED, st.sampled_from(["typed", "full", "hmac"]))
def test_the_normal_form_changes_neither_findings_nor_other_text(text: str, strategy: str) -> None:
    done, whole = make(strategy).transform(text), make(strategy).transform(normalise_unicode(text))
    assert [s.replacement for s in done.spans] == [s.replacement for s in whole.spans]
    for span, other in zip(done.spans, whole.spans, strict=True):
        assert (
            normalise_unicode(text[span.start : span.end])
            == normalise_unicode(text)[other.start : other.end]
        )
    old = pairwise([0, *(at for s in done.spans for at in (s.start, s.end)), len(text)])
    new = pairwise(
        [0, *(at for s in done.spans for at in (s.new_start, s.new_end)), len(done.text)]
    )
    kept = [text[slice(*place)].encode() for place in old][::2]
    assert kept == [done.text[slice(*place)].encode() for place in new][::2]


@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_a_name_in_both_forms_gets_one_replacement(strategy: str) -> None:
    text = f"{TEXT} {apart(TEXT)}"
    spans = [span for span in make(strategy).transform(text).spans if span.kind == "PER"]
    assert len(spans) == 2 and len({span.replacement for span in spans}) == 1


@pytest.mark.parametrize("form", [str, apart])
@pytest.mark.parametrize("listed", [str, apart])
def test_lists_in_either_form(form: type[str], listed: type[str]) -> None:
    text = form("l'œuvre à zoé-léa quémard")
    deny = make(deny={listed("Léa Quémard"): "PER"}, types=["PER"], tau=0.01)
    assert deny.transform(text).text == form("l'œuvre à [PER]")
    allow = make(allow=[listed("Jérôme Gérard")], types=["PER"])
    assert allow.transform(form(TEXT)).text == form(TEXT)


def test_private_words_by_index_and_in_recordings() -> None:
    words = TEXT.rstrip(".").split()
    private = find_private(list(map(apart, words)), "fr")
    assert private == find_private(words, "fr") and private
    assert find_targets([apart(TEXT)], ["fr"], finder=detect_private) == find_targets(
        [TEXT], ["fr"], finder=detect_private
    )
    assert find_targets([apart("chez lefèvre")], ["fr"], listed=["Lefèvre"])


def test_letters_without_composed_form_stay_in_their_word() -> None:
    assert [token.text for token in tokenise("q\u0303ann, e-m\u0303ail")] == [
        "q\u0303ann",
        ",",
        "e-m\u0303ail",
    ]
    assert make(deny={"m\u0303ann": "ID"}).transform("va m\u0303ann").text == "va [ID]"


def test_the_service_finds_them_too() -> None:
    jobs = pytest.importorskip("sottovoce.serve.jobs", exc_type=ImportError)
    messages = pytest.importorskip("sottovoce.serve.messages", exc_type=ImportError)
    job = messages.TextJob(lang="fr", strategy="typed", plain=True)
    reply = jobs.answer(job, [apart(TEXT).encode()])
    assert reply.body.decode() == apart("J'ai parlé avec [PER] [DATE].")
