"""Messages between the web process and its workers.

A job is sent as one JSON header and the uploaded files as bytes; the reply is a JSON header and
the body of the answer. Nothing is pickled. Both ends are this program, so that the types of
parameters are not checked again. Each kind of job is a frozen dataclass of its
parameters; :mod:`sottovoce.serve.jobs` holds the function that carries it out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sottovoce.core.records import Record

PageFormat = Literal["json", "html"]
AudioFormat = Literal["wav", "flac"]
Status = Literal["done", "refused", "fault"]


@dataclass(frozen=True, slots=True)
class Job(Record):
    """Parameters of one kind of job, as the web process checked them."""

    @property
    def parts(self) -> int:
        """Each part may take as long as the time limit of a request."""
        return 1


@dataclass(frozen=True, slots=True)
class WarmUp(Job):
    """Does nothing; the reply shows that the worker has started."""


@dataclass(frozen=True, slots=True)
class VoiceJob(Job):
    """Change the voice of one recording."""

    method: str
    """Name of a registered voice method."""
    settings: dict[str, str] = field(default_factory=dict)
    """Settings of the method as the client wrote them."""
    format: AudioFormat = "wav"
    """Format of the answer."""
    seed: int | None = None
    """Public seed of the draws; None for a new secret."""
    speaker: str = ""
    """Name that the draws of this speaker depend on."""
    utterance: str = ""
    """Name that the draws of this recording depend on."""
    rate: int | None = None
    """Sample rate in Hz that a file must have, and that of raw samples; None for any file."""
    pool: str | None = None
    """Path of a pool of voices that the service was started with."""


@dataclass(frozen=True, slots=True)
class BatchJob(Job):
    """Change the voices of several recordings."""

    method: str
    names: tuple[str, ...]
    """File name of each recording."""
    settings: dict[str, str] = field(default_factory=dict)
    same_speaker: bool = False
    """Whether all recordings are of one speaker."""
    seed: int | None = None
    pool: str | None = None

    @property
    def parts(self) -> int:
        """Number of recordings."""
        return len(self.names)


@dataclass(frozen=True, slots=True)
class TextJob(Job):
    """Replace the private words of one text."""

    lang: str = "en"
    strategy: str = "full"
    tau: float = 0.95
    """A word is private if its probability of not being private is below this."""
    scope: str = "document"
    """Where the same value gets the same replacement."""
    p: float = 1.0
    """Probability that a private value is replaced."""
    tagger: str | None = None
    """Name of a registered tagger; None for those of the package."""
    kind: str | None = None
    """Kind of text, if the client knows that it is one of those measured."""
    seed: int | None = None
    plain: bool = False
    """Answer with the text alone instead of JSON."""
    types: str | None = None
    """Private types, separated by commas; None for the default ones."""


@dataclass(frozen=True, slots=True)
class RecordingJob(Job):
    """Change the voice of a recording and mask its private words in sound and text."""

    method: str
    """Name of a registered voice method; ``none`` keeps the voice."""
    lang: str
    mask: Literal["silence", "noise", "beep", "cut"]
    """What is heard in place of a masked word."""
    typed: bool
    """Whether the text says what was masked, such as ``<PER>``."""
    words: tuple[str, ...] = ()
    """Further words to mask."""
    kind: str | None = None
    """Kind of text, if the client knows that it is one of those measured."""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class AlignJob(Job):
    """Find the start and end of every word."""

    lang: str


@dataclass(frozen=True, slots=True)
class RecogniseJob(Job):
    """Transcribe a recording."""

    recogniser: str | None = None
    """Name of a registered recogniser; None for the library's default."""


@dataclass(frozen=True, slots=True)
class MeasureJob(Job):
    """Compute score measures."""

    only: tuple[str, ...] | None
    """Names of measures; None for all."""
    interval: float | None
    """Confidence of the intervals; None for none."""
    replicates: int | None
    """Resamples behind the intervals; None for the library's default."""
    seed: int
    format: PageFormat


@dataclass(frozen=True, slots=True)
class SimilarityJob(Job):
    """Compare voices before and after anonymisation."""

    linkage: str
    """Name of a registered linkage function."""
    lda: int | None
    """Dimensions that PLDA keeps; None for all."""
    shrinkage: float | None
    """Of the variation within speakers; None for the default of the linkage function."""
    interval: float | None
    replicates: int
    seed: int
    format: PageFormat


@dataclass(frozen=True, slots=True)
class ReidentifyJob(Job):
    """Measure how likely speakers are re-identified."""

    linkage: str
    lda: int | None
    shrinkage: float | None
    lengths: tuple[int, ...]
    """Utterances per conversation."""
    populations: tuple[int, ...] | None
    """Population sizes; None for the library's default."""
    top: int
    """k of top-k."""
    interval: float | None
    seed: int
    format: PageFormat


_KINDS: dict[str, Callable[..., Job]] = {
    kind.__name__: kind
    for kind in (
        WarmUp,
        VoiceJob,
        BatchJob,
        TextJob,
        RecordingJob,
        AlignJob,
        RecogniseJob,
        MeasureJob,
        SimilarityJob,
        ReidentifyJob,
    )
}


@dataclass(frozen=True, slots=True)
class ReplyHeader(Record):
    """First part of a worker's reply; the body follows as the second message."""

    status: Status
    media_type: str
    """Of the body; unused unless the job is done."""
    code: str = ""
    """Error code of a refusal."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer to one job: a document, or for a refusal or fault one line of text."""

    header: ReplyHeader
    body: bytes


def encode_job(job: Job, files: Sequence[bytes]) -> list[bytes]:
    """Messages that carry a job to a worker.

    Parameters
    ----------
    job : Job
        The parameters.
    files : sequence of bytes
        The uploads, in the order that the job expects.
    """
    header = {"kind": type(job).__name__, "files": len(files), "parameters": job.to_dict()}
    return [json.dumps(header).encode(), *files]


def decode_job(message: bytes) -> tuple[Job, int]:
    """Read the first message of a job.

    Parameters
    ----------
    message : bytes
        What :func:`encode_job` returned first.

    Returns
    -------
    tuple of Job and int
        The parameters, and how many files follow.
    """
    header = json.loads(message)
    parameters = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in header["parameters"].items()
    }
    return _KINDS[header["kind"]](**parameters), int(header["files"])


def decode_reply_header(message: bytes) -> ReplyHeader:
    """Read the first message of a reply.

    Parameters
    ----------
    message : bytes
        The JSON of a :class:`ReplyHeader`.
    """
    return ReplyHeader(**json.loads(message))
