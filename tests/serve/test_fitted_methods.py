"""Voice methods that must be fitted before they transform, as the protocol allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import pytest
from live_service import clip, samples

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice import METHODS, MethodCard
from sottovoce.corpus.utterance import Corpus
from sottovoce.serve.jobs import answer
from sottovoce.serve.messages import VoiceJob


class NeedsFit:
    """Inverts the samples of speakers it was fitted on; refuses all others."""

    name = "needs-fit"
    card = MethodCard(
        name="needs-fit",
        summary="Inverts the signal of fitted speakers.",
        settings=(),
        keeps=("duration",),
        leaks="Everything.",
        reversible="yes",
        reference="none",
    )

    def __init__(self, secret: Secret) -> None:
        self.speakers: set[str] = set()

    def fit(self, corpus: Corpus) -> Self:
        self.speakers = set(corpus.speakers)
        for utterance in corpus:
            assert utterance.path.is_file()
        return self

    def transform(self, audio: Any, rate: int, *, speaker: str, utterance: str) -> Any:
        if speaker not in self.speakers:
            raise RuntimeError("transform() was called before fit()")
        return -np.asarray(audio)

    def record(self) -> dict[str, Any]:
        return {"method": self.name}


@pytest.fixture
def registered() -> Iterator[None]:
    METHODS.add(NeedsFit.name, NeedsFit)
    yield
    del METHODS._added[NeedsFit.name]


@pytest.mark.usefixtures("registered")
def test_a_method_is_fitted_on_the_uploaded_recording() -> None:
    reply = answer(VoiceJob("needs-fit", seed=1, speaker="ann"), [clip()])
    assert (reply.header.status, reply.header.media_type) == ("done", "audio/wav"), reply.body
    inverted, rate = samples(reply.body)
    original, original_rate = samples(clip())
    assert rate == original_rate
    np.testing.assert_allclose(inverted, -original, atol=1.01 / 32768)
