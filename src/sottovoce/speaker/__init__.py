"""Speaker embeddings and the linkage functions that compare them."""

from sottovoce.speaker.backends import Backend, Cosine, Euclidean, steadied
from sottovoce.speaker.embeddings import Embeddings, speaker_means
from sottovoce.speaker.plda import Plda

__all__ = ["Backend", "Cosine", "Embeddings", "Euclidean", "Plda", "speaker_means", "steadied"]
