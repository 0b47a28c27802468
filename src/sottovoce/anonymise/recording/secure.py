"""Secure a recording: change its voice and mask its private words in sound and text.

The order is fixed: first the voice, then the alignment, then the mask, last the pieces. What will
be released is aligned with the text, or the original if only that can be aligned without doubt and
the new voice did not move the words. A recording that cannot be aligned with confidence is
withheld, since its private words might lie outside the mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.mask import (
    MaskedRecording,
    MaskSettings,
    Target,
    mask,
    mask_text,
    span_label,
)
from sottovoce.anonymise.recording.slice import Remainder, cut_with_fade, slice_words
from sottovoce.anonymise.recording.word_times import Alignment
from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.anonymise.voice.method import VoiceAnonymiser
from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Utterance

AlignedRecording = Literal["best", "released", "original"]

MAX_DOUBTFUL = 0.2
"""Share of doubtful words above which a recording is withheld."""
MAX_DRIFT = 0.05
"""Median distance in seconds between the words of the original and of the released recording."""


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
    """Which recording is aligned: the released one, the original (of the same length), or the
    released one and, where that leaves doubts, the original."""


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


def secure(
    utterance: Utterance,
    targets: Sequence[Target],
    settings: Settings,
    *,
    secret: Secret,
    method: VoiceAnonymiser | None = None,
    lang: str = "en",
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

    Raises
    ------
    WithheldError
        If the words cannot be found with confidence.
    """
    original, rate = load_native(utterance)
    voiced = original
    if method is not None:
        voiced = method.transform(original, rate, speaker=utterance.speaker, utterance=utterance.id)
    text = utterance.transcript
    alignment = _align_confidently(original, voiced, rate, text, lang, targets, settings)
    rng = secret.generator("mask", utterance.speaker, utterance.id)
    masked = mask(voiced, rate, alignment, targets, settings.masking, rng=rng)
    masked_text = mask_text(text, spoken_words(text), masked.spans, typed=settings.typed)
    return Secured(utterance, lang, voiced, alignment, masked, masked_text)


def _align_confidently(
    original: Audio,
    voiced: Audio,
    rate: int,
    text: str,
    lang: str,
    targets: Sequence[Target],
    settings: Settings,
) -> Alignment:
    """Align the released recording or, where its times hold for that too, the original."""
    if len(original) != len(voiced) and settings.times == "original":
        raise WithheldError("the new voice changed its length; align what is released")
    try:
        first = align(original if settings.times == "original" else voiced, rate, text, lang=lang)
        doubt = find_doubt(first, targets, strict=settings.strict)
        if doubt is None:
            return first
        if settings.times == "best" and voiced is not original and len(original) == len(voiced):
            second = align(original, rate, text, lang=lang)
            doubt = find_doubt(second, targets, strict=settings.strict) or _drift(first, second)
            if doubt is None:
                return second
    except UnalignedError as error:
        doubt = WithheldError(str(error), code=error.code)
    raise doubt


def _drift(released: Alignment, original: Alignment) -> WithheldError | None:
    """Return an error if the new voice moved the words."""
    pairs = zip(released.words, original.words, strict=True)
    distance = median(max(abs(new.start - old.start), abs(new.end - old.end)) for new, old in pairs)
    if distance <= MAX_DRIFT:
        return None
    return WithheldError(f"the new voice moved words by {distance:.2f} s", code="moved-words")


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
        Withhold if a single word, wherever it is, is doubtful.

    Returns
    -------
    WithheldError or None
        Its code is ``doubtful-alignment``, ``doubtful-sound``, ``doubtful-target`` or
        ``doubtful-words``.
    """
    if alignment.doubts:
        return WithheldError(alignment.doubts[0], code="doubtful-alignment")
    words = alignment.words
    if any(word.doubt == "sound" for word in words):
        return WithheldError("a word does not sound as it is written", code="doubtful-sound")
    near_targets = {
        index for target in targets for index in range(target.first - 1, target.last + 2)
    }
    if any(not word.trusted for index, word in enumerate(words) if index in near_targets):
        return WithheldError(
            "a word to be masked, or one beside it, is not surely where it was found",
            code="doubtful-target",
        )
    doubtful = sum(not word.trusted for word in words)
    if doubtful > (0 if strict else MAX_DOUBTFUL * len(words)):
        return WithheldError(
            f"{doubtful} of {len(words)} words are not surely where they were found",
            code="doubtful-words",
        )
    return None


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
