"""Uploads read as audio, text, scores or embeddings, without a file on a disk.

The library's readers take paths. On Linux an upload gets a path to anonymous memory, which
disappears with its process; elsewhere it is a temporary file that is removed after use. The format
is recognised by the content, never by a name.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import audio_info, load_native
from sottovoce.measure.readers import READERS, read_scores
from sottovoce.measure.scores import ScoreSource

if TYPE_CHECKING:
    from sottovoce.speaker import Embeddings

MAX_FRAMES = 30_000_000
"""Frames of a recording: ten minutes at 48 kHz."""
MAX_CHANNELS = 32
MAX_TEXT = 1 << 20
"""Bytes of a text."""
MAX_UNPACKED = 1 << 29
"""Bytes of all arrays of a .npz file together."""
MAX_CELLS = 1 << 26
"""Cells of a .parquet table: as many bytes as above, in numbers of 8 bytes."""
MAX_COLUMNS = 1000
"""Columns of a .csv table."""


@contextmanager
def as_path(data: bytes, name: str) -> Iterator[Path]:
    """Give an upload a path for as long as the context lasts.

    Parameters
    ----------
    data : bytes
        The upload.
    name : str
        What error messages call it instead of the path, such as ``the audio``.

    Raises
    ------
    InputError
        If the upload is empty (``empty``), and in place of every error of the library that is
        raised within the context, with the same code.
    """
    if not data:
        raise InputError(f"{name}: empty (0 bytes); send its content as the body", code="empty")
    with _file(data) as path:
        try:
            yield path
        except SottovoceError as error:
            raise InputError(str(error).replace(str(path), name), code=error.code) from None


@contextmanager
def _file(data: bytes) -> Iterator[Path]:
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("upload"), "wb") as file:
            file.write(data)
            file.flush()
            yield Path(f"/proc/self/fd/{file.fileno()}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "upload")
            path.write_bytes(data)
            yield path


# =============================================================================== audio and text


def load_audio(path: Path) -> tuple[Audio, int]:
    """Samples and rate of an uploaded recording.

    Parameters
    ----------
    path : Path
        From :func:`as_path`.

    Raises
    ------
    InputError
        If the file is not audio, or longer or with more channels than allowed (``too-large``).
    """
    info = audio_info(path)
    if info.frames > MAX_FRAMES or info.channels > MAX_CHANNELS:
        raise InputError(
            f"{path}: {info.frames:,} frames in {info.channels} channels; at most "
            f"{MAX_FRAMES:,} in {MAX_CHANNELS} are allowed: cut it",
            code="too-large",
        )
    return load_native(path)


def read_text(data: bytes) -> str:
    """Decode an uploaded text.

    Parameters
    ----------
    data : bytes
        UTF-8, at most ``MAX_TEXT`` bytes; may be empty.
    """
    if len(data) > MAX_TEXT:
        raise InputError(
            f"the text: {len(data):,} bytes; at most {MAX_TEXT:,} are allowed: cut it",
            code="too-large",
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError("the text: not UTF-8; save it as UTF-8", code="not-utf8") from None


# ======================================================================= scores and embeddings


@contextmanager
def open_scores(files: Sequence[bytes]) -> Iterator[ScoreSource]:
    """Scores of an upload, readable while the context lasts.

    Parameters
    ----------
    files : sequence of bytes
        One table or .npz file; or Kaldi's scores, trials and optionally utt2spk.
    """
    if len(files) > 1:
        with ExitStack() as stack:
            names = ("the scores", "the trials", "utt2spk")
            uploads = zip(files, names, strict=False)
            paths = [stack.enter_context(as_path(data, name)) for data, name in uploads]
            utt2spk = paths[2] if len(paths) > 2 else None
            yield read_scores(paths[0], trials=paths[1], utt2spk=utt2spk)
    else:
        refuse_oversized(files[0], "the scores")
        suffix = table_suffix(files[0])
        data = tabs_to_commas(files[0]) if suffix == ".csv" else files[0]
        with as_path(data, "the scores") as path:
            yield READERS[suffix](path)


def read_embeddings(data: bytes, name: str) -> Embeddings:
    """Embeddings of an upload.

    Parameters
    ----------
    data : bytes
        A .npz or .parquet file.
    name : str
        What error messages call it.
    """
    from sottovoce.speaker.readers import READERS as EMBEDDING_READERS

    suffix = table_suffix(data)
    if suffix not in EMBEDDING_READERS:
        raise InputError(
            f"{name}: neither .npz nor .parquet; save it as one of them", code="unsupported"
        )
    refuse_oversized(data, name)
    with as_path(data, name) as path:
        return replace(EMBEDDING_READERS[suffix](path), origin=name)


def table_suffix(data: bytes) -> str:
    """File name suffix that fits the content of a file of scores or embeddings.

    Parameters
    ----------
    data : bytes
        The file.

    >>> table_suffix(b"PAR1...."), table_suffix(b"score,label")
    ('.parquet', '.csv')
    """
    if data.startswith(b"PK\x03\x04"):
        return ".npz"
    return ".parquet" if data.startswith(b"PAR1") else ".csv"


def refuse_oversized(data: bytes, name: str) -> None:
    """Refuse a table that is small as a file and would be huge in memory.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        What the error message calls it.

    Raises
    ------
    InputError
        With the code ``too-large``.
    """
    measure_size = {".npz": _unpacked_bytes, ".parquet": _cells, ".csv": _columns}
    size, limit, unit = measure_size[table_suffix(data)](data)
    if size > limit:
        raise InputError(
            f"{name}: {size:,} {unit}; at most {limit:,} are allowed: send less", code="too-large"
        )


def _unpacked_bytes(data: bytes) -> tuple[int, int, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # zipfile never reads more of an entry than the size that is declared here
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        size = 0  # the reader says what is wrong
    return size, MAX_UNPACKED, "bytes when unpacked"


def _cells(data: bytes) -> tuple[int, int, str]:
    import polars as pl

    try:
        table = pl.scan_parquet(io.BytesIO(data))
        rows = table.select(pl.len()).collect().item()
        types = table.collect_schema().dtypes()
    except (pl.exceptions.PolarsError, OSError):
        return 0, MAX_CELLS, "cells"  # the reader says what is wrong
    row_cells = sum(dtype.size if isinstance(dtype, pl.Array) else 1 for dtype in types)
    return rows * row_cells, MAX_CELLS, "cells"


def _columns(data: bytes) -> tuple[int, int, str]:
    first_line = data.partition(b"\n")[0]
    columns = 1 + max(first_line.count(b","), first_line.count(b"\t"))
    return columns, MAX_COLUMNS, "columns"


def tabs_to_commas(data: bytes) -> bytes:
    r"""Rewrite a tab-separated table with commas; any other file is returned as it is.

    The readers distinguish the two by the suffix of the file name, which an upload lacks.

    Parameters
    ----------
    data : bytes
        The file.

    >>> tabs_to_commas(b"score\tlabel\n1,5\t0\n")
    b'score,label\n"1,5",0\n'
    """
    if b"\t" not in data.partition(b"\n")[0]:
        return data
    output = io.StringIO()
    try:
        rows = csv.reader(io.StringIO(data.decode(), newline=""), delimiter="\t")
        csv.writer(output, lineterminator="\n").writerows(rows)
    except (UnicodeDecodeError, csv.Error):
        return data
    return output.getvalue().encode()
