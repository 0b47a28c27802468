"""Speaker embeddings and the linkage functions that compare them."""

from sottovoce.speaker.backends import Backend, Cosine, Euclidean
from sottovoce.speaker.embeddings import Embeddings, speaker_means

__all__ = ["Backend", "Cosine", "Embeddings", "Euclidean", "speaker_means"]
