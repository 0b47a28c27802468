"""Speaker embeddings and the linkage functions that compare them."""

from sottovoce.speaker.averages import speaker_means
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage_functions import Cosine, Euclidean, LinkageFunction, recentred
from sottovoce.speaker.plda import Plda

__all__ = [
    "Cosine",
    "Embeddings",
    "Euclidean",
    "LinkageFunction",
    "Plda",
    "recentred",
    "speaker_means",
]
