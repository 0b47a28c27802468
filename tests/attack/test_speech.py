"""Results that are kept: nothing is done twice, nothing old is taken for new."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from error_codes import raises_code
from small_speech import Bands, small_corpus

from sottovoce.anonymise.keys import Secret
from sottovoce.attack.speech import (
    AnonymiserSpec,
    SpeechCache,
    SpeechSet,
    attackers_secret,
    operators_secret,
)
from sottovoce.core.errors import UsageError
from sottovoce.corpus.utterance import Corpus

FIXED = AnonymiserSpec("mcadams", {"coefficient": 0.8})


class Counting:
    """Progress that counts steps in which something was done."""

    def __init__(self) -> None:
        self.labels: list[str] = []

    def __call__(self, label: str, done: int, total: int) -> None:
        self.labels.append(label)

    def taken(self) -> set[str]:
        found, self.labels = set(self.labels), []
        return found


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return small_corpus(tmp_path / "in", speakers=2, each=2)


def test_nothing_is_redone_and_a_new_cache_goes_on(corpus: Corpus, tmp_path: Path) -> None:
    encoder, seen = Bands(), Counting()
    results = []
    for _ in range(2):
        cache = SpeechCache(tmp_path / "work", encoder, 1, seen)
        speech = SpeechSet.of(corpus)
        changed = cache.anonymise(speech, FIXED, attackers_secret(0), "trial")
        results.append((changed, cache.embed(changed, "trial"), cache.embed(speech, "plain")))
        if len(results) == 1:
            assert seen.taken() == {"anonymising trial", "embedding trial", "embedding plain"}
            assert encoder.embedded == 8
    assert seen.taken() == set() and encoder.embedded == 8
    (one, first, plain), (again, second, _) = results
    assert one.key == again.key and [u.id for u in one.corpus] == [u.id for u in corpus]
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert not np.allclose(first.vectors, plain.vectors)
    assert first.names.tolist() == ["s0", "s1"]
    kept = {path.name for path in (tmp_path / "work").rglob("*") if path.is_file()}
    assert not any(name.endswith(".secret") for name in kept)


def test_what_changes_is_redone(corpus: Corpus, tmp_path: Path) -> None:
    cache = SpeechCache(tmp_path / "work", Bands(), 1)
    drawn, secret = AnonymiserSpec("mcadams"), attackers_secret(0)
    before = SpeechSet.of(corpus)
    made = [
        cache.anonymise(before, drawn, secret, "as it was"),
        cache.anonymise(before, FIXED, secret, "another setting"),
        cache.anonymise(
            before, AnonymiserSpec("mcadams", {"coefficient": 0.7}), secret, "and another"
        ),
        cache.anonymise(before, drawn, attackers_secret(1), "another secret"),
    ]
    path = corpus.utterances[0].path
    audio, rate = soundfile.read(path)
    soundfile.write(path, 0.5 * audio + 0.1 * audio[::-1], rate)
    os.utime(path, ns=(1, 1))
    made.append(cache.anonymise(SpeechSet.of(corpus), drawn, secret, "another recording"))
    assert len({one.key for one in made}) == 5
    assert len(list((tmp_path / "work" / "speech").iterdir())) == 5
    assert len({cache.embed(one, "").vectors.tobytes() for one in made}) == 5


def test_another_encoder_and_another_part_are_embedded_anew(corpus: Corpus, tmp_path: Path) -> None:
    first, second = Bands(), Bands("1" * 64)
    speech = SpeechSet.of(corpus)
    SpeechCache(tmp_path, first, 1).embed(speech, "")
    SpeechCache(tmp_path, second, 1).embed(speech, "")
    assert (first.embedded, second.embedded) == (4, 4)
    part = SpeechCache(tmp_path, first, 1).embed(speech.with_ids({"s0-0", "s1-1"}), "")
    assert part.utterances is not None and sorted(part.utterances) == ["s0-0", "s1-1"]
    assert first.embedded == 6


def test_what_speech_follows_from(corpus: Corpus, tmp_path: Path) -> None:
    speech = SpeechSet.of(corpus)
    assert SpeechSet.of(corpus).key == speech.key
    assert speech.of_speakers(["s0"]).key == speech.with_ids({"s0-0", "s0-1"}).key
    assert speech.with_ids({"s0-0"}).key != speech.with_ids({"s0-1"}).key
    for changed in ({"speaker": "zoe"}, {"gender": "x"}, {"start": 0.1}, {"channel": 0}):
        other = replace(corpus.utterances[0], **changed)
        whole = replace(corpus, utterances=(other, *corpus.utterances[1:]))
        assert SpeechSet.of(whole).key != speech.key
    moved = tmp_path / "moved"
    corpus.root.rename(moved)
    elsewhere = tuple(replace(one, path=moved / one.path.name) for one in corpus)
    assert SpeechSet.of(Corpus("in", moved, elsewhere)).key == speech.key
    assert SpeechSet.of(corpus).key != speech.key  # the files are not there any more


def test_a_step_that_was_killed_is_not_taken_for_done(corpus: Corpus, tmp_path: Path) -> None:
    cache, seen = SpeechCache(tmp_path / "work", Bands(), 1), Counting()
    done = cache.anonymise(SpeechSet.of(corpus), FIXED, attackers_secret(0), "x")
    (done.corpus.root / "anonymisation.json").unlink()
    again = SpeechCache(tmp_path / "work", Bands(), 1, seen)
    again.anonymise(SpeechSet.of(corpus), FIXED, attackers_secret(0), "x")
    assert (done.corpus.root / "anonymisation.json").is_file()


def test_secrets_of_the_two_sides_are_never_the_same() -> None:
    for seed in range(3):
        sides = Secret.reproducible(seed), attackers_secret(seed), operators_secret(seed)
        assert len({one.digest("x") for one in sides}) == 3
        assert attackers_secret(seed).digest("x") == attackers_secret(seed).digest("x")
    assert attackers_secret(0).digest("x") != attackers_secret(1).digest("x")


def test_anonymiser_specs(corpus: Corpus, tmp_path: Path) -> None:
    assert FIXED.label == "mcadams(coefficient=0.8)" and AnonymiserSpec("vtln").label == "vtln"
    assert AnonymiserSpec.from_folder(tmp_path) is None
    cache = SpeechCache(tmp_path / "work", Bands(), 1)
    made = cache.anonymise(SpeechSet.of(corpus), FIXED, attackers_secret(0), "x")
    spec = AnonymiserSpec.from_folder(made.corpus.root)
    assert spec is not None and spec.method == "mcadams"
    spec.check()
    assert spec.settings["coefficient"] == 0.8
    for text in ("{", "[]", json.dumps({"method": "mcadams"})):
        (tmp_path / "anonymisation.json").write_text(text)
        with raises_code("damaged"):
            AnonymiserSpec.from_folder(tmp_path)
    for wrong, known in (
        (AnonymiserSpec("mcadam"), "'mcadams'"),
        (AnonymiserSpec("mcadams", {"coeficient": "1"}), "'coefficient'"),
    ):
        with pytest.raises(UsageError) as caught:
            wrong.check()
        assert known in str(caught.value)
