"""Voice anonymisers: one module per method, made by name with :func:`make_method`."""

from sottovoce.anonymise.voice.card import MethodCard, Setting, Settings, method_record
from sottovoce.anonymise.voice.dar import Dar
from sottovoce.anonymise.voice.mcadams import McAdams
from sottovoce.anonymise.voice.method import (
    METHODS,
    VoiceAnonymiser,
    fit_recording,
    make_method,
    transform_recording,
)
from sottovoce.anonymise.voice.voicemask import VoiceMask
from sottovoce.anonymise.voice.vtln import Vtln
from sottovoce.anonymise.voice.xvector import XVector

__all__ = [
    "METHODS",
    "Dar",
    "McAdams",
    "MethodCard",
    "Setting",
    "Settings",
    "VoiceAnonymiser",
    "VoiceMask",
    "Vtln",
    "XVector",
    "fit_recording",
    "make_method",
    "method_record",
    "transform_recording",
]
