"""Representations of speech: who has which, who judges, and what the strongest attack reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from attack_voices import simulated
from error_codes import raises_code
from small_speech import Bands, small_corpus

from sottovoce.attack import ATTACKERS, AttackSettings, EmbeddingSets, attack
from sottovoce.attack.artifacts import attack_record, read_attack, stored_embeddings, write_attack
from sottovoce.attack.embedding_sets import LinkedSpeech
from sottovoce.attack.embedding_store import EmbeddingStore
from sottovoce.attack.evidence import AvailableEvidence
from sottovoce.attack.inputs import AttackInputs, divide_speech, prepare_embeddings
from sottovoce.attack.representation import (
    REPRESENTATIONS,
    Representation,
    TrainingSpeech,
    Unavailable,
    check_encoder_word,
    encoder_name,
    prepare_candidates,
    unused_techniques,
)
from sottovoce.attack.score import score_all
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, operators_secret
from sottovoce.attack.techniques import Attempt, Candidates, choose, try_all
from sottovoce.attack.training import Judging, LinkageTrainer, TrainedLinkage, _folds
from sottovoce.findings import (
    LinkageTraining,
    RepresentationDescription,
    UnavailableRepresentation,
)
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import Encoder
from sottovoce.speaker.linkage_functions import Cosine

SEMI = ATTACKERS["semi-informed"]


def unmixed(embeddings: Embeddings) -> Embeddings:
    """A representation that the anonymiser hides less in."""
    vectors = embeddings.vectors.copy()
    vectors[:, :8] *= 0.01
    return replace(embeddings, vectors=vectors)


@pytest.fixture(scope="module")
def sets() -> EmbeddingSets:
    return simulated(0, evaluated=10, trained=16)


def candidates(sets: EmbeddingSets, trained_on: tuple[str, ...] = ()) -> Candidates:
    frozen = sets.linked_by(SEMI, 1)
    clear = LinkedSpeech(
        RepresentationDescription("clear", None, trained_on),
        unmixed(frozen.enrol),
        unmixed(frozen.trial),
        unmixed(frozen.train),
    )
    missing = UnavailableRepresentation("retrained", "install PyTorch")
    return Candidates((frozen, clear), (missing,), ("retrained",))


@pytest.fixture(autouse=True)
def _no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the voice, so that no recogniser runs here."""
    nothing = AvailableEvidence((), {})
    monkeypatch.setattr(
        "sottovoce.attack.representation.available_evidence", lambda languages: nothing
    )
    monkeypatch.setattr("sottovoce.attack.evidence.ENCODERS", {})


def test_held_out_speakers_choose_the_representation(sets: EmbeddingSets, tmp_path: Path) -> None:
    tried = candidates(sets)
    settings = AttackSettings("strongest")
    result = attack(sets, SEMI, settings, candidates=tried)
    assert result.linked is tried.speech[1]
    (chosen,) = [technique for technique in result.techniques if technique.chosen]
    assert chosen.representation == "clear" and len(result.techniques) == 8
    judged = [t.min_cllr for t in result.techniques if t.min_cllr is not None]
    assert chosen.min_cllr == min(judged)
    assert set(result.trust.evidence.linkages) >= {"cosine (frozen)", "plda (frozen)"}
    assert "retrained, which was not available: install PyTorch" in result.trust.advice
    roles = stored_embeddings(result, sets)
    assert {"enrol", "frozen-enrol", "frozen-train", "originals-trial"} <= set(roles)
    store = EmbeddingStore(tmp_path / "embeddings")
    write_attack(tmp_path / "semi", result, attack_record(result, sets), sets, store)
    stored = read_attack(tmp_path / "semi")
    assert stored.record.representation == "clear"
    assert stored.enrol.digest() == tried.speech[1].enrol.digest()
    assert stored.record.unavailable == tried.unavailable


def test_attacked_trials_choose_nothing(sets: EmbeddingSets) -> None:
    """Trials in which the other representation would do far better change no choice."""
    tried = candidates(sets)
    first = attack(sets, SEMI, AttackSettings("strongest"), candidates=tried)
    noise = np.random.default_rng(0).normal(size=tried.speech[1].trial.vectors.shape)
    spoilt = replace(tried.speech[1].trial, vectors=noise.astype(np.float32))
    speech = (tried.speech[0], replace(tried.speech[1], trial=spoilt))
    second = attack(
        sets, SEMI, AttackSettings("strongest"), candidates=replace(tried, speech=speech)
    )
    assert second.trained.record == first.trained.record
    assert second.linked.representation.name == "clear"
    assert second.trust.evidence.attack > first.trust.evidence.attack + 0.1
    assert any("(frozen)" in reason for reason in second.trust.reasons)  # and trust says so


def test_speakers_an_encoder_was_trained_on_do_not_judge(sets: EmbeddingSets) -> None:
    train = sets["train", "attacker"]
    seen = tuple(train.names[:12].tolist())
    ((trained_on, judges),) = _folds(train, Judging(excluded=frozenset(seen)))
    assert set(train.names[judges]) == set(train.names) - set(seen)
    assert set(train.names[trained_on]) == set(seen)
    trainer = LinkageTrainer()
    settings = AttackSettings("cosine")
    attempts = try_all(candidates(sets, seen).speech, SEMI, settings, trainer, None)
    alone = trainer.train("cosine", train, Judging(excluded=frozenset(seen)))
    assert choose(attempts, "cosine").trained.name == "cosine"
    assert attempts[0].trained is alone  # the frozen one is judged by the same speakers


def test_whoever_knows_the_draws_is_judged_within_a_draw(
    sets: EmbeddingSets, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Judging] = []
    trainer = LinkageTrainer()
    train = trainer.train

    def spy(name: str, embeddings: Embeddings, judging: Judging | None = None) -> object:
        seen.append(judging or Judging())
        return train(name, embeddings, judging)

    monkeypatch.setattr(trainer, "train", spy)
    for name, across in (("semi-informed", True), ("informed", False)):
        seen.clear()
        linked = sets.linked_by(ATTACKERS[name], 1)
        try_all([linked], ATTACKERS[name], AttackSettings("cosine"), trainer, None)
        assert {judging.across_draws for judging in seen} == {across}


# ================================================================================ from recordings


class Louder(Bands):
    """Another encoder, which saw some of the training speakers."""

    def __init__(self, speakers: frozenset[str]) -> None:
        super().__init__("ff" * 32)
        self.trained_on = speakers


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[TrainingSpeech]:
    """A representation that can be made, one that cannot, and what they were given."""
    requests: list[TrainingSpeech] = []

    def make(training: TrainingSpeech) -> Encoder | Unavailable:
        requests.append(training)
        return Louder(frozenset(training.originals.corpus.speakers))

    for name, representation in (
        ("louder", Representation("a test", make)),
        ("absent", Representation("another", lambda training: Unavailable("there is none"))),
    ):
        monkeypatch.setitem(REPRESENTATIONS, name, representation)
    return requests


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("representation")


def made_inputs(place: Path, cache: SpeechCache) -> AttackInputs:
    corpus = place / "in"
    others = place / "others"
    known = SpeechSet.of(small_corpus(corpus, speakers=3))
    parts = divide_speech(known, SpeechSet.of(small_corpus(others, speakers=8, prefix="t")))
    spec = AnonymiserSpec("mcadams")
    released = cache.anonymise(known, spec, operators_secret(0), "released")
    return AttackInputs(parts.enrol, parts.trial, parts.train, released, spec)


def test_representations_are_made_from_training_speech_alone(
    place: Path, tmp_path: Path, registered: list[TrainingSpeech]
) -> None:
    cache = SpeechCache(tmp_path, Bands(), 1)
    inputs = made_inputs(place, cache)
    settings = AttackSettings("strongest", draws=2)
    sets = prepare_embeddings(inputs, [SEMI], cache, draws=2)
    tried = prepare_candidates(sets, inputs, SEMI, settings, cache)
    names = [linked.representation.name for linked in tried.speech]
    assert names[0] == "frozen" and "louder" in names
    assert UnavailableRepresentation("absent", "there is none") in tried.unavailable
    (request,) = registered
    fit = set(request.originals.corpus.speakers)
    assert len(fit) == 6 and fit < set(inputs.train.corpus.speakers)  # the others judge
    assert len(request.drawn) == 2 and request.anonymiser == inputs.anonymiser
    assert all(set(speech.corpus.speakers) == fit for speech in request.drawn)
    louder = tried.speech[names.index("louder")]
    assert set(louder.representation.trained_on) == fit
    assert louder.draws == 2 and louder.trial.draws is None
    assert louder.enrol.utterances is not None and set(louder.enrol.utterances) == inputs.enrol.ids
    only = prepare_candidates(sets, inputs, SEMI, replace(settings, linkage="best"), cache)
    assert [linked.representation.name for linked in only.speech] == ["frozen"]
    with raises_code("unavailable"):
        absent = replace(settings, linkage="best", encoder="absent")
        prepare_candidates(sets, inputs, SEMI, absent, cache)


@pytest.mark.parametrize(
    ("name", "joint"),
    [("frozen", False), ("frozen+evidence", False), ("frozen+retrained+undone", True)],
)
def test_a_joint_representation_is_known_by_its_name(
    name: str, joint: bool, sets: EmbeddingSets
) -> None:
    """A verification of an audit has the names alone, and must choose as the attack did."""
    linked = sets.linked_by(SEMI, 1)
    named = replace(linked, representation=replace(linked.representation, name=name))
    assert named.joint == joint


@pytest.mark.parametrize(
    ("tried", "method", "unused"),
    [
        (["frozen"], "mcadams", ("retrained", "undone", "evidence", "words")),
        (["frozen"], "dar", ("retrained", "evidence", "words")),  # has no inverse
        (["frozen"], None, ("retrained", "evidence", "words")),  # trains on originals
        (["frozen+evidence"], "mcadams", ("retrained", "undone", "words")),
        (["frozen", "undone", "frozen+undone"], "mcadams", ("retrained", "evidence", "words")),
    ],
)
def test_only_what_an_attacker_could_have_is_worth_trying(
    tried: list[str], method: str | None, unused: tuple[str, ...], sets: EmbeddingSets
) -> None:
    linked = sets.linked_by(SEMI, 1)
    speech = [
        replace(linked, representation=replace(linked.representation, name=name)) for name in tried
    ]
    missing = [
        UnavailableRepresentation("undone", "no inverse"),
        UnavailableRepresentation("words", "install a recogniser"),
    ]
    spec = None if method is None else AnonymiserSpec(method)
    assert unused_techniques(speech, missing, spec) == unused


def test_words_for_encoders(registered: list[TrainingSpeech]) -> None:
    assert encoder_name("louder") == encoder_name("frozen") == "campplus"
    assert encoder_name("my.onnx") == "my.onnx"
    for word in ("louder", "campplus", "my.onnx", "hf:folder"):
        check_encoder_word(word)
    with raises_code("unknown-name"):
        check_encoder_word("campplu")


@pytest.mark.parametrize(("behind", "chosen"), [(0.06, "joint"), (0.07, "single")])
def test_what_joins_all_representations_is_taken_unless_it_is_clearly_worse(
    behind: float, chosen: str, sets: EmbeddingSets
) -> None:
    """One of 16 held-out speakers makes up 6.25 % of the errors."""
    linked = candidates(sets).speech[0]
    judges = len(linked.train.names)
    assert judges == 16

    def attempt(name: str, rate: float) -> Attempt:
        record = LinkageTraining(name, {}, judges, len(linked.train), rate, rate)
        trained = TrainedLinkage(Cosine(None), record, (rate, 0.0))
        table = score_all(linked.enrol, linked.trial, Cosine(None))
        label = "frozen+clear" if name == "joint" else "frozen+evidence"
        named = replace(linked.representation, name=label)
        return Attempt(replace(linked, representation=named), trained, table, 0.0)

    attempts = [attempt("single", 0.1), attempt("other", 0.13), attempt("joint", 0.1 + behind)]
    assert choose(attempts, "strongest").trained.name == chosen
    assert choose(attempts, "single").trained.name == "single"
