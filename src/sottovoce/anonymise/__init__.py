"""Anonymisers of voice, words and recordings."""
