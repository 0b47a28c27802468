"""Recordings as a whole: where each word is, the private ones masked, the rest cut into slices."""
