"""Attacks on what is said: a language model tells which pieces of text belong together."""
