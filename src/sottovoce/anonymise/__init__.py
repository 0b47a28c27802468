"""Anonymisers of voice, words and recordings."""

from sottovoce.anonymise.keys import Secret

__all__ = ["Secret"]
