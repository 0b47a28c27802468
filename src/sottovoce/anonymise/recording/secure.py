"""Secure a recording: change its voice and mask its private words in sound and text.

The order is fixed: first the voice, then the alignment, then the mask, last the pieces. The
original is aligned with the text, since a changed voice misleads the aligner, and the times are
carried over to the new voice if the method keeps them; otherwise what is released is aligned.

Doubts are masked: a word that does not sound as it is written, speech that is not in the text, and
the words between a private word and the nearest ones that are surely where they were found. A
recording with too many of them is withheld, since its private words might lie outside the mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sottovoce.anonymise.decisions import Decision
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.mask import (
    MaskedRecording,
    MaskSettings,
    Stretch,
    Target,
    mask,
)
from sottovoce.anonymise.recording.masked_transcript import mask_text, span_label
from sottovoce.anonymise.recording.slice import Remainder, cut_with_fade, slice_words
from sottovoce.anonymise.recording.word_times import Alignment
from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.anonymise.voice.method import VoiceAnonymiser, keeps_times
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Utterance

AlignedRecording = Literal["best", "released", "original"]

MAX_DOUBTFUL = 0.2
"""Share of doubtful words, or of doubtful seconds, above which a recording is withheld."""
SMEAR = 0.02
"""Seconds by which masks are wider on both sides if times are carried over to another voice: its
frames spread every sound a little."""
DOUBT = "DOUBT"
"""Label of what is masked because it is not surely what the text says."""


class WithheldError(InputError):
    """A recording is not released; the reason contains none of its words."""

    default_code = "withheld"


@dataclass(frozen=True, slots=True)
class Settings:
    """How recordings are secured."""

    masking: MaskSettings = field(default_factory=MaskSettings)
    typed: bool = False
    """Leave labels such as <PER> in the text in the place of masked words."""
    strict: bool = False
    """Withhold a recording if a single word, wherever it is, is doubtful."""
    seconds: float | None = None
    """Least length of pieces; None does not cut recordings."""
    rest: Remainder = "merge"
    """What becomes of a remainder at the end that is too short for a piece."""
    times: AlignedRecording = "best"
    """Which recording is aligned: the released one, the original, or the original if the voice
    method keeps the times of words and otherwise the released one."""


@dataclass(frozen=True, slots=True)
class Secured:
    """A recording that may be released, with the inputs of the mask for its verification."""

    utterance: Utterance
    lang: str
    voiced: Audio
    """In the new voice, before the mask."""
    alignment: Alignment
    masked: MaskedRecording
    text: str
    """Without the masked words."""
    doubtful_words: int = 0
    """Words that were masked because they are not surely what the text says."""
    decisions: tuple[Decision, ...] = ()
    """What was decided on the transcript, if there was a review."""


def secure(
    utterance: Utterance,
    targets: Sequence[Target],
    settings: Settings,
    *,
    secret: Secret,
    method: VoiceAnonymiser | None = None,
    lang: str = "en",
    stretches: Sequence[Stretch] = (),
) -> Secured:
    """Secure a recording.

    Parameters
    ----------
    utterance : Utterance
        With its transcript.
    targets : sequence of Target
        The words of the transcript to be masked.
    settings : Settings
        How it is masked, and when it is withheld.
    secret : Secret
        Key of the noise that replaces words.
    method : VoiceAnonymiser, optional
        Changes the voice; by default the voice stays.
    lang : str, default "en"
        Language of the utterance.
    stretches : sequence of Stretch, optional
        Further sound to be masked, in seconds of the original recording.

    Raises
    ------
    WithheldError
        If the words cannot be found with confidence.
    UsageError
        ``moved-words`` if times of the original are needed and the method changes them.
    """
    carried = carries_times(method, settings.times, needed=bool(stretches))
    original, rate = load_native(utterance)
    voiced = original
    if method is not None:
        voiced = method.transform(original, rate, speaker=utterance.speaker, utterance=utterance.id)
    if carried and len(original) != len(voiced):
        raise WithheldError("the new voice changed the length of the recording")
    text = utterance.transcript
    alignment = _align(original if carried else voiced, rate, text, lang)
    if doubt := find_doubt(alignment, targets, strict=settings.strict):
        raise doubt
    doubtful_words, doubtful_sound = doubtful_parts(alignment, targets)
    masking = settings.masking
    if carried and method is not None:
        masking = replace(masking, pad=min(masking.pad + SMEAR, 1.0))
    rng = secret.generator("mask", utterance.speaker, utterance.id)
    masked = mask(
        voiced,
        rate,
        alignment,
        [*doubtful_words, *targets],
        masking,
        stretches=[*doubtful_sound, *stretches],
        rng=rng,
    )
    masked_text = mask_text(text, spoken_words(text), masked.spans, typed=settings.typed)
    doubtful = sum(target.last - target.first + 1 for target in doubtful_words)
    return Secured(utterance, lang, voiced, alignment, masked, masked_text, doubtful)


def carries_times(
    method: VoiceAnonymiser | None, times: AlignedRecording, *, needed: bool = False
) -> bool:
    """Tell whether the original is aligned and its times are carried over to the new voice.

    Parameters
    ----------
    method : VoiceAnonymiser, optional
        Changes the voice.
    times : {"best", "released", "original"}
        Which recording is to be aligned.
    needed : bool, default False
        Whether something is given in times of the original.

    Raises
    ------
    UsageError
        ``moved-words`` if times of the original are needed and the method changes them.
    """
    kept = method is None or keeps_times(method)
    if not kept and (needed or times == "original"):
        raise UsageError(
            f"{method.name if method else ''}: the method moves words in time, so that times of "
            "the original do not hold; choose another method, or align what is released",
            code="moved-words",
        )
    return kept and (times != "released" or needed)


def _align(audio: Audio, rate: int, text: str, lang: str) -> Alignment:
    try:
        return align(audio, rate, text, lang=lang)
    except UnalignedError as error:
        raise WithheldError(str(error), code=error.code) from None


def find_doubt(
    alignment: Alignment, targets: Sequence[Target], *, strict: bool = False
) -> WithheldError | None:
    """Return the reason to withhold a recording, or None if there is none.

    Parameters
    ----------
    alignment : Alignment
        The words of the recording.
    targets : sequence of Target
        The words to be masked.
    strict : bool, default False
        Withhold on any doubt instead of masking what is doubtful.

    Returns
    -------
    WithheldError or None
        Its code is ``doubtful-alignment``, ``doubtful-words`` or ``doubtful-sound``.
    """
    if not alignment.second_opinion or (strict and alignment.doubts):
        return WithheldError(alignment.doubts[0], code="doubtful-alignment")
    words = alignment.words
    doubtful = sum(not word.trusted for word in words)
    if doubtful > (0 if strict else MAX_DOUBTFUL * len(words)):
        return WithheldError(
            f"{doubtful} of {len(words)} words are not surely where they were found",
            code="doubtful-words",
        )
    speech = sum(end - start for start, end in alignment.unexplained)
    if speech > MAX_DOUBTFUL * alignment.seconds:
        return WithheldError(
            f"{speech:.1f} of {alignment.seconds:.1f} s are speech that is not in the text",
            code="doubtful-sound",
        )
    return None


def doubtful_parts(
    alignment: Alignment, targets: Sequence[Target]
) -> tuple[list[Target], list[Stretch]]:
    """Return what is to be masked because it is not surely what the text says.

    Parameters
    ----------
    alignment : Alignment
        The words of the recording.
    targets : sequence of Target
        The words to be masked.

    Returns
    -------
    tuple of list of Target and list of Stretch
        Words that do not sound as they are written; doubtful words that join a target, so that the
        mask reaches to words whose times are trusted; the neighbours of a target that is doubtful
        itself; and speech that is not in the text.
    """
    words = alignment.words
    private = {i for target in targets for i in range(target.first, target.last + 1)}
    masked = {index for index, word in enumerate(words) if word.doubt == "sound"}
    for steps in (range(len(words)), range(len(words) - 1, -1, -1)):
        near = False  # whether the word before, in this direction, is private or joins one
        for index in steps:
            near = index in private or (near and not words[index].trusted)
            masked |= {index} if near else set()
    beside = {i + step for i in private if not words[i].trusted for step in (-1, 1)}
    masked |= beside & set(range(len(words)))
    sound = [Stretch(start, end, DOUBT) for start, end in alignment.unexplained]
    return [Target(index, index, DOUBT) for index in sorted(masked - private)], sound


# ========================================================================================= pieces


@dataclass(frozen=True, slots=True)
class Piece:
    """The content of one released file."""

    audio: Audio
    text: str


def pieces(secured: Secured, settings: Settings) -> list[Piece]:
    """Return the complete recording, or those of its pieces that contain a kept word.

    Parameters
    ----------
    secured : Secured
        The recording.
    settings : Settings
        Whether it is cut into pieces, and how long these are.
    """
    masked = secured.masked
    if settings.seconds is None:
        return [Piece(masked.audio, secured.text)]
    blocks = _blocks(masked, settings.typed)
    slices = slice_words(
        [(block.start, block.end) for block in blocks],
        len(masked.audio),
        masked.rate,
        seconds=settings.seconds,
        rest=settings.rest,
    )
    result = []
    for part in slices:
        inside = blocks[part.first : part.stop]
        if any(block.is_word for block in inside):
            text = " ".join(block.text for block in inside if block.text)
            result.append(Piece(cut_with_fade(masked.audio, part, masked.rate), text))
    return result


@dataclass(frozen=True, slots=True, order=True)
class _Block:
    """A kept word or a masked stretch, in seconds of the masked recording."""

    start: float
    end: float
    text: str
    is_word: bool


def _blocks(masked: MaskedRecording, typed: bool) -> list[_Block]:
    words = [
        _Block(word.start, word.end, word.text, True) for word in masked.words if word is not None
    ]
    stretches = [
        _Block(
            span.after[0] / masked.rate,
            span.after[1] / masked.rate,
            span_label(span) if typed else "",
            False,
        )
        for span in masked.spans
    ]
    return sorted([*words, *stretches])
