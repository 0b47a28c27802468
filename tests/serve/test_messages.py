"""Messages between the web process and its workers."""

from __future__ import annotations

import json

import pytest

from sottovoce.serve.messages import (
    AlignJob,
    BatchJob,
    Job,
    MeasureJob,
    RecogniseJob,
    RecordingJob,
    ReidentifyJob,
    ReplyHeader,
    SimilarityJob,
    TextJob,
    VoiceJob,
    WarmUp,
    decode_job,
    decode_reply_header,
    encode_job,
)

JOBS = [
    WarmUp(),
    VoiceJob("mcadams", {"coefficient": "0.8"}, "flac", 2**63, "ann", "ü", 16000),
    BatchJob("vtln", ("a.wav", "b.wav"), {"draw": "speaker"}, same_speaker=True, seed=2, pool="/p"),
    TextJob("de", "typed", 0.5, "none", 0.25, "name", "news", 3, True),
    RecordingJob("none", "en", "beep", True, ("Ann", "Lee"), "news", None),
    AlignJob("fr"),
    RecogniseJob(),
    MeasureJob(("eer", "cllr"), 0.95, None, 0, "html"),
    SimilarityJob("plda", 6, 0.5, None, 1000, 1, "json"),
    ReidentifyJob("cosine", None, None, (1, 3), None, 20, 0.95, 0, "json"),
]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: type(job).__name__)
def test_a_job_arrives_as_it_was_sent(job: Job) -> None:
    header, *files = encode_job(job, [b"first", b"second"])
    assert files == [b"first", b"second"]
    assert decode_job(header) == (job, 2)


def test_every_kind_of_job_is_sent_here() -> None:
    kinds = {kind.__name__ for kind in Job.__subclasses__()}
    assert {type(job).__name__ for job in JOBS} == kinds


def test_an_unknown_parameter_is_not_ignored() -> None:
    header = json.loads(encode_job(AlignJob("en"), [])[0])
    header["parameters"]["speed"] = 2
    with pytest.raises(TypeError):
        decode_job(json.dumps(header).encode())


def test_a_reply_header_arrives_as_it_was_sent() -> None:
    header = ReplyHeader("refused", "text/plain", "too-large")
    assert decode_reply_header(json.dumps(header.to_dict()).encode()) == header
