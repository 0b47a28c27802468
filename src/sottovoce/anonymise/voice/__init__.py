"""Voice anonymisers: one module a method."""

from sottovoce.anonymise.voice.mcadams import McAdams
from sottovoce.anonymise.voice.method import METHODS, MethodCard, VoiceAnonymiser, make_method
from sottovoce.anonymise.voice.voicemask import VoiceMask
from sottovoce.anonymise.voice.vtln import Vtln

__all__ = [
    "METHODS",
    "McAdams",
    "MethodCard",
    "VoiceAnonymiser",
    "VoiceMask",
    "Vtln",
    "make_method",
]
