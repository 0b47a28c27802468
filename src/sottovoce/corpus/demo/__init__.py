"""The built-in corpus of synthetic speakers."""
