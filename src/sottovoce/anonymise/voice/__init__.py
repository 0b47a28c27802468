"""Voice anonymisers: one module a method."""

from sottovoce.anonymise.voice.method import METHODS, MethodCard, VoiceAnonymiser, make_method

__all__ = ["METHODS", "MethodCard", "VoiceAnonymiser", "make_method"]
