"""Voice anonymisers: one module a method."""

from sottovoce.anonymise.voice.dar import Dar
from sottovoce.anonymise.voice.mcadams import McAdams
from sottovoce.anonymise.voice.method import METHODS, MethodCard, VoiceAnonymiser, make_method
from sottovoce.anonymise.voice.voicemask import VoiceMask
from sottovoce.anonymise.voice.vtln import Vtln
from sottovoce.anonymise.voice.xvector import XVector

__all__ = [
    "METHODS",
    "Dar",
    "McAdams",
    "MethodCard",
    "VoiceAnonymiser",
    "VoiceMask",
    "Vtln",
    "XVector",
    "make_method",
]
