"""A corpus format: a file ``recordings.tab`` with lines of path, speaker and transcript."""

from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.corpus import Corpus, Utterance
from sottovoce.corpus.formats import Format
from sottovoce.corpus.reading import CorpusBuilder, numbered_lines

NAME = "recordings.tab"


def is_tab_list(path: Path) -> bool:
    """Whether a folder has such a list."""
    return (path / NAME).is_file()


def read_tab_list(folder: Path) -> Corpus:
    """Read the list; lines that cannot be used are reported together."""
    builder = CorpusBuilder()
    source = folder / NAME
    for number, line in numbered_lines(source):
        builder.add(source, number, lambda line=line: _utterance(folder, line))  # type: ignore[misc]
    return builder.corpus(folder.name, folder, source)


def _utterance(folder: Path, line: str) -> Utterance:
    fields = line.split("\t")
    if len(fields) != 3:
        raise InputError("not three fields; write path, speaker and transcript with tabs between")
    path, speaker, transcript = fields
    return Utterance(Path(path).stem, folder / path, speaker, transcript=transcript)


TAB_LIST = Format(f"{NAME} (the example plug-in)", is_tab_list, read_tab_list)
