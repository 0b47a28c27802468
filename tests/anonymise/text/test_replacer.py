from __future__ import annotations

import re

import numpy as np
import pytest

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.crf import Weights, mean_weights
from sottovoce.anonymise.text.lexicon import LANGUAGES, lexicon
from sottovoce.anonymise.text.masked_text import Finding
from sottovoce.anonymise.text.replacer import CorpusTables, CorpusValues, Replacer
from sottovoce.anonymise.text.strategies import country_of, match_genitive
from sottovoce.anonymise.text.surrogates import (
    MIN_TABLE_SIZE,
    Table,
    base_tables,
    exemplar,
    surrogate_table,
)
from sottovoce.training.tagger_augmentation import NameInventor, NameSwap, cased_view

SECRET = Secret.reproducible(4)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_table_is_large_enough_to_hide_in(lang: str) -> None:
    for kind in ("PER", "LOC", "ORG", "DATE", "TIME", "PHONE", "NUM", "ID"):
        for part in ("B", "I", "FULL"):
            for spelt in (True, False):
                values = surrogate_table(lang, kind, part, spelt)
                least = 20 if kind in ("DATE", "TIME", "PHONE", "NUM", "ID") else MIN_TABLE_SIZE
                assert values.size >= min(least, 10 if kind == "PHONE" else least), (kind, part)
        assert exemplar(lang, kind)


def test_draws_are_uniform() -> None:
    values = Table((("a", "b"), ("c", "d", "e")))
    rng = np.random.default_rng(0)
    drawn = [values.draw(rng) for _ in range(6000)]
    assert values.size == len(set(drawn)) == 6
    for value in set(drawn):
        assert drawn.count(value) == pytest.approx(1000, abs=120)


def test_one_value_of_ten_stays_at_a_probability_of_nine_tenths() -> None:
    replacer = Replacer("en", "typed", SECRET, "document", 0.9, {})
    stay = [replacer(f"name{i}", "PER", "d", "u") is None for i in range(2000)]
    assert sum(stay) == pytest.approx(200, abs=60)
    assert stay == [replacer(f"name{i}", "PER", "d", "u") is None for i in range(2000)]


def test_endings() -> None:
    many = tuple(f"x{i}am" for i in range(60))
    values = Table(((*many, "rīga"),))
    assert values.ending_like("am").size == 60
    assert values.ending_like("ga").size == 61


def test_generalising() -> None:
    say = Replacer("en", "generalise", SECRET)
    assert say("rome", "LOC", "", "") == "italy"
    assert say("Italy", "LOC", "", "") == "[LOC]"
    assert say("third of May", "DATE", "", "") == "May"
    assert say("friday", "DATE", "", "") == "that day"
    assert country_of("berlin", "lv") == "Vācija"


def test_german_genitives() -> None:
    words = lexicon("de")
    name = next(n for n in sorted(words.names) if n.endswith("a") and n + "s" not in words.names)
    assert match_genitive("Peter", f"{name}s", words) == "Peters"
    assert match_genitive("Peter", name, words) == "Peter"


def test_a_policy_sets_the_strategy_of_a_type() -> None:
    say = Replacer("en", "redact", SECRET, policy={"PER": "typed"})
    assert (say("ann", "PER", "", ""), say("rome", "LOC", "", "")) == ("[PER]", "█████")
    assert say.table_sizes(("PER", "LOC")) == {}


def corpus_tables(texts: list[str], findings: list[list[Finding]]) -> CorpusTables:
    values = CorpusValues()
    for text, text_findings in zip(texts, findings, strict=True):
        values.add(text, text_findings)
    return values.tables()


def test_values_of_a_corpus_are_used_only_if_several_share_them() -> None:
    names = [f"name{i:02d}" for i in range(50)]
    texts = [" ".join([*names, "town", *(["rare"] if i < 4 else [])]) for i in range(5)]
    findings = [
        [
            Finding(match.start(), match.end(), "LOC" if match[0] == "town" else "PER", 1.0, "")
            for match in re.finditer(r"\w+", text)
        ]
        for text in texts
    ]
    tables = corpus_tables(texts, findings)
    assert list(tables) == [("PER", "FULL"), ("PER", "B")]
    assert tables["PER", "B"] == Table((tuple(names),)), "four texts have 'rare', five the others"
    fewer = corpus_tables(texts, [text_findings[1:] for text_findings in findings])
    assert fewer == {}, "49 values are too few to hide in"


def test_invented_names_are_in_no_list() -> None:
    names = ["anna", "hanna", "susanna", "johanna"]
    rng = np.random.default_rng(1)
    invented = {NameInventor(names).draw(rng, set(names)) for _ in range(20)}
    assert invented and not invented & set(names)


def test_swapping_names_keeps_all_other_words() -> None:
    tables = base_tables("en")
    lists = (tables["given_f"], tables["family"], tables["place"])
    swap = NameSwap(lexicon("en"), *lists, np.random.default_rng(2))
    old = Sentence(
        ("Call", "Ann", "Lee's", "now", "in", "Rome"),
        ("O", "B-PER", "I-PER", "O", "O", "B-LOC"),
    )
    for _ in range(20):
        new = swap(old)
        assert [k for _, _, k in new.spans] == ["PER", "LOC"]
        assert new.words[0] == "Call" and "now" in new.words and "in" in new.words
        person = new.words[new.spans[0][0] : new.spans[0][1]]
        assert person[0][0].isupper() and person[-1].endswith("'s")
    assert cased_view(Sentence(("call", "ann"), ("O", "B-PER"))).words == ("Call", "Ann", ".")


def test_organisations_are_swapped_for_others_if_there_are_any() -> None:
    tables = base_tables("en")
    lists = (tables["given_f"], tables["family"], tables["place"])
    old = Sentence(("Ask", "Acme", "Bank", "now"), ("O", "B-ORG", "I-ORG", "O"))
    assert NameSwap(lexicon("en"), *lists, np.random.default_rng(2))(old) == old
    others = [("Zeus", "Ltd"), ("Hera",)]
    swap = NameSwap(lexicon("en"), *lists, np.random.default_rng(2), others)
    copies = [swap(old) for _ in range(40)]
    drawn = [copy.words[copy.spans[0][0] : copy.spans[0][1]] for copy in copies]
    assert set(others) < set(drawn), "some are drawn from the list, some are invented"
    assert all(copy.words[0] == "Ask" and copy.words[-1] == "now" for copy in copies)


def test_the_mean_of_weights() -> None:
    def weights(names: str, value: float) -> Weights:
        rows = {name: i for i, name in enumerate(names)}
        state = np.full((len(names), 2), value, np.float32)
        return Weights(("B-X", "O"), rows, state, np.full((2, 2), value, np.float32))

    both = mean_weights(weights("ab", 2), weights("bc", 4))
    assert [both.state[both.rows[n], 0] for n in "abc"] == [1, 3, 2]
    assert both.transition[0, 0] == 3
