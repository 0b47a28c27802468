"""Voice anonymisers: one module a method."""

from sottovoce.anonymise.voice.mcadams import McAdams
from sottovoce.anonymise.voice.method import METHODS, MethodCard, VoiceAnonymiser, make_method

__all__ = ["METHODS", "McAdams", "MethodCard", "VoiceAnonymiser", "make_method"]
