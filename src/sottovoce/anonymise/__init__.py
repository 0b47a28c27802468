"""Anonymisers of voices, texts and whole recordings."""

from sottovoce.anonymise.keys import Secret

__all__ = ["Secret"]
