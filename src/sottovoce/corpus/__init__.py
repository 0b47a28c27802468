"""Corpora of recordings: who said what, read from any common format, and the audio itself."""

from sottovoce.corpus.audio import (
    AudioError,
    AudioInfo,
    audio_info,
    load_audio,
    save_audio,
)
from sottovoce.corpus.check import CorpusReport, check_corpus
from sottovoce.corpus.formats import open_corpus
from sottovoce.corpus.kaldi import read_kaldi, write_kaldi
from sottovoce.corpus.lhotse import read_lhotse
from sottovoce.corpus.manifest import read_manifest, write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

__all__ = [
    "AudioError",
    "AudioInfo",
    "Corpus",
    "CorpusReport",
    "Utterance",
    "audio_info",
    "check_corpus",
    "load_audio",
    "open_corpus",
    "read_kaldi",
    "read_lhotse",
    "read_manifest",
    "save_audio",
    "write_kaldi",
    "write_manifest",
]
