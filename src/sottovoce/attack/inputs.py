"""From corpora to embedding sets: every part of the speech in every form that attackers need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sottovoce.attack.draws import anonymise_draws, join_draws
from sottovoce.attack.embedding_sets import EmbeddingSets
from sottovoce.attack.knowledge import Attacker, Form, Part
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet
from sottovoce.core.errors import InputError, first_few
from sottovoce.corpus.splits import partition_speakers, split_sides
from sottovoce.corpus.trials import TrialList
from sottovoce.corpus.utterance import Corpus
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import Encoder
from sottovoce.speaker.leakage import check_disjoint

_ANONYMISER_OPTIONS: dict[Form, str] = {"attacker": "--anonymiser", "similar": "--similar"}


@dataclass(frozen=True, slots=True)
class AttackInputs:
    """Speech that an attack starts from: originals in three parts, and the released speech."""

    enrol: SpeechSet
    trial: SpeechSet
    train: SpeechSet
    released: SpeechSet
    """Anonymised by the operator: at least the trials; also enrolment recordings, for an attacker
    that enrols with released speech."""
    anonymiser: AnonymiserSpec | None = None
    """The anonymiser under attack, as far as the attacker may use it."""
    similar: AnonymiserSpec | None = None
    """The anonymiser of an attacker that only has a similar one."""
    prepared: Mapping[tuple[Part, Form], SpeechSet] = field(default_factory=dict)
    """Speech in forms that were made elsewhere."""
    trials: TrialList | None = None
    """Pairs that are compared; None for every enrolled speaker with every trial."""
    seed: int = 0
    notes: tuple[str, ...] = ()
    """What a reader of the results has to know."""

    def attackers_anonymiser(self, form: Form) -> AnonymiserSpec | None:
        """Return what makes speech of this form, as far as the attacker has it.

        Parameters
        ----------
        form : {"original", "attacker", "similar", "released"}
            How speech is treated; None for the forms that the attacker does not make.
        """
        return {"attacker": self.anonymiser, "similar": self.similar}.get(form)


@dataclass(frozen=True, slots=True)
class SpeechDivision:
    """Original speech in three parts, and what is in none of them."""

    enrol: SpeechSet
    trial: SpeechSet
    train: SpeechSet
    left_out: tuple[str, ...]
    """Where each recording in no part is listed, and why it is in none."""


def divide_speech(
    speech: SpeechSet,
    train: SpeechSet | None,
    *,
    seed: int = 0,
    trials: TrialList | None = None,
) -> SpeechDivision:
    """Divide originals into enrolment, trial and training speech.

    Parameters
    ----------
    speech : SpeechSet
        The attacked corpus.
    train : SpeechSet or None
        Speech of other speakers; None to train on half of the speakers of ``speech``.
    seed : int, default 0
        Of the divisions.
    trials : TrialList, optional
        A list of pairs, read with the corpus of ``speech``, that decides what is enrolled and what
        is a trial; speakers that it does not name are trained on if ``train`` is None.

    Raises
    ------
    InputError
        ``not-disjoint`` for speakers on both sides, ``too-few`` if no speaker has two utterances or
        nobody is left to train on.
    """
    if trials is not None:
        return _divide_by_list(speech, train, trials)
    attacked, used = speech, set[str]()
    if train is None:
        attacked, train = _reserve_training_speakers(speech, seed)
        used = train.ids
    check_disjoint({"evaluated": attacked.corpus.speakers, "training": train.corpus.speakers})
    sides = split_sides(attacked.corpus, seed=seed)
    ids = [utterance.id for utterance in attacked.corpus]
    enrol, trial = (
        attacked.with_ids({ids[i] for i in side}) for side in (sides.enrol, sides.trial)
    )
    if not len(enrol.corpus) or not len(trial.corpus):
        raise InputError(
            f"{speech.corpus.name}: no speaker has two utterances; one is enrolled and another "
            "is a trial: add recordings",
            code="too-few",
        )
    used |= enrol.ids | trial.ids
    return SpeechDivision(enrol, trial, train, tuple(_left_out(speech.corpus, used)))


def _divide_by_list(
    speech: SpeechSet, train: SpeechSet | None, trials: TrialList
) -> SpeechDivision:
    enrol = speech.with_ids({name for names in trials.enrolment.values() for name in names})
    trial = speech.with_ids(set(trials.trial_ids))
    attacked = {*enrol.corpus.speakers, *trial.corpus.speakers}
    used = enrol.ids | trial.ids
    if train is None:
        train = speech.of_speakers(set(speech.corpus.speakers) - attacked)
        used |= train.ids
        if len(train.corpus.speakers) < 2:
            raise InputError(
                f"{speech.corpus.name}: the list of trials names all speakers but "
                f"{len(train.corpus.speakers)}; give speech of other speakers to train on",
                code="too-few",
            )
    check_disjoint({"evaluated": attacked, "training": train.corpus.speakers})
    left_out = tuple(
        f"{speech.corpus.where(i)}: not in the list of trials"
        for i, utterance in enumerate(speech.corpus)
        if utterance.id not in used
    )
    return SpeechDivision(enrol, trial, train, left_out)


def _reserve_training_speakers(speech: SpeechSet, seed: int) -> tuple[SpeechSet, SpeechSet]:
    """Speakers to attack and others to train on; one with a single utterance is in neither."""
    usable = [
        name for name, utterances in speech.corpus.by_speaker().items() if len(utterances) > 1
    ]
    if not usable:
        return speech, speech.of_speakers(())
    training, attacked = partition_speakers(
        speech.corpus.select(speakers=usable), share=0.5, seed=seed
    )
    return speech.of_speakers(attacked.speakers), speech.of_speakers(training.speakers)


def _left_out(corpus: Corpus, used: set[str]) -> Iterator[str]:
    recordings = Counter(utterance.speaker for utterance in corpus)
    for i, utterance in enumerate(corpus):
        if utterance.id not in used:
            reason = (
                f"the only usable recording of {utterance.speaker}, and linking needs two"
                if recordings[utterance.speaker] == 1
                else f"split {utterance.split!r} is neither enrolment nor trial"
            )
            yield f"{corpus.where(i)}: {reason}"


def check_released(trial: SpeechSet, released: SpeechSet) -> None:
    """Refuse released speech that lacks trials, or has them under other speakers.

    Parameters
    ----------
    trial : SpeechSet
        Trials, original.
    released : SpeechSet
        Anonymised speech with the same ids.

    Raises
    ------
    InputError
        ``not-found`` for trials that are missing, ``mismatch`` for other speakers.
    """
    speaker_of = {utterance.id: utterance.speaker for utterance in released.corpus}
    missing = [utterance.id for utterance in trial.corpus if utterance.id not in speaker_of]
    if missing:
        raise InputError(
            f"{released.corpus.name}: {len(missing):,} of {len(trial.corpus):,} trials are not in "
            f"it: {first_few(missing, len(missing))}; anonymise all recordings and keep their ids",
            code="not-found",
        )
    renamed = [
        utterance.id for utterance in trial.corpus if speaker_of[utterance.id] != utterance.speaker
    ]
    if renamed:
        raise InputError(
            f"{released.corpus.name}: other speakers than in the originals for "
            f"{first_few(renamed, len(renamed))}; keep the names, the attack needs the true "
            "speakers",
            code="mismatch",
        )


def prepare_embeddings(
    inputs: AttackInputs, attackers: Iterable[Attacker], cache: SpeechCache, *, draws: int = 1
) -> EmbeddingSets:
    """Anonymise and embed everything that these attackers need.

    Parameters
    ----------
    inputs : AttackInputs
        Originals and released speech.
    attackers : iterable of Attacker
        Their needs are prepared.
    cache : SpeechCache
        Makes what is not there yet.
    draws : int, default 1
        How many times an attacker anonymises its enrolment and training speech.

    Raises
    ------
    InputError
        ``missing-speech`` for a form that can neither be found nor made, and those of
        :func:`check_released` and :func:`check_disjoint`.
    """
    check_released(inputs.trial, inputs.released)
    check_encoder(cache.encoder, inputs)
    needs: list[tuple[Part, Form]] = [("trial", "released")]
    for attacker in attackers:
        needs += [key for key in attacker.needs if key not in needs]
    # all speech before any embedding, so that missing speech is reported at once
    speech = {key: prepare_speech(inputs, *key, cache, draws=draws) for key in needs}
    return EmbeddingSets(
        {key: embed_draws(speech[key], cache, label=f"{key[0]} ({key[1]})") for key in needs},
        trials=inputs.trials,
    )


def check_encoder(encoder: Encoder, inputs: AttackInputs) -> None:
    """Refuse an encoder that was trained on speakers under attack.

    Parameters
    ----------
    encoder : Encoder
        Its ``trained_on`` is checked.
    inputs : AttackInputs
        The speakers of its trials are attacked.

    Raises
    ------
    InputError
        With the code ``not-disjoint``.
    """
    check_disjoint(
        {"evaluated": inputs.trial.corpus.speakers, "encoder's training": encoder.trained_on}
    )


def embed_draws(
    speech: Sequence[SpeechSet], cache: SpeechCache, *, label: str, encoder: Encoder | None = None
) -> Embeddings:
    """Embed the same recordings under several draws.

    Parameters
    ----------
    speech : sequence of SpeechSet
        One per draw.
    cache : SpeechCache
        Makes what is not there yet.
    label : str
        What is embedded, for the progress.
    encoder : Encoder, optional
        Makes the vectors; default the encoder of the cache.
    """
    return join_draws([cache.embed(drawn, label, encoder=encoder) for drawn in speech])


def prepare_speech(
    inputs: AttackInputs, part: Part, form: Form, cache: SpeechCache, *, draws: int = 1
) -> tuple[SpeechSet, ...]:
    """Return a part of the speech in one form, anonymised where that is needed.

    Parameters
    ----------
    inputs : AttackInputs
        Originals and released speech; a set in ``prepared`` is taken as it is.
    part : {"enrol", "trial", "train"}
        Which speech.
    form : {"original", "attacker", "similar", "released"}
        How it is treated.
    cache : SpeechCache
        Makes what is not there yet.
    draws : int, default 1
        How many times the attacker anonymises it; one where the form needs no draws.

    Raises
    ------
    InputError
        With the code ``missing-speech``.
    """
    if (part, form) in inputs.prepared:
        return (inputs.prepared[part, form],)
    original = {"enrol": inputs.enrol, "trial": inputs.trial, "train": inputs.train}[part]
    if form == "original":
        return (original,)
    if form == "released":
        return (_released_speech(inputs, part, original),)
    spec = inputs.attackers_anonymiser(form)
    if spec is None:
        raise InputError(
            f"{part} speech anonymised by the attacker (form {form}) is needed; name the "
            f"anonymiser with {_ANONYMISER_OPTIONS[form]}, or give the speech itself",
            code="missing-speech",
        )
    label = f"{part} ({form})"
    return anonymise_draws(original, spec, draws, cache, seed=inputs.seed, label=label)


def _released_speech(inputs: AttackInputs, part: Part, original: SpeechSet) -> SpeechSet:
    chosen = inputs.released.with_ids(original.ids)
    if len(chosen.corpus) < len(original.corpus):
        raise InputError(
            f"{inputs.released.corpus.name}: not all {part} recordings are in it; this attacker "
            "needs them anonymised in the same run as the trials",
            code="missing-speech",
        )
    return chosen
