"""Relative paths in the lists of a corpus: where they start, and which lead out of its folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from sottovoce.core.errors import first_few


def folder_name(folder: Path) -> str:
    """Return the name of a folder, also of ``.``.

    Parameters
    ----------
    folder : Path
        The folder.
    """
    return folder.name or folder.resolve().name or str(folder)


def base_folder(paths: Iterable[str], folder: Path) -> tuple[Path, tuple[str, ...]]:
    """Find the folder that the relative paths of a list start from.

    In Kaldi and Lhotse it is the folder a program is started in; in lists that are distributed with
    their audio it is that of the list. The first relative path decides, by where there is a file.

    Parameters
    ----------
    paths : iterable of str
        Paths in the list.
    folder : Path
        The folder of the list.

    Returns
    -------
    tuple of Path and tuple of str
        The folder, and a note if it is not that of the list.
    """
    first = next((path for path in paths if not os.path.isabs(path)), None)
    if first is None or (folder / first).exists() or not Path(first).exists():
        return folder, ()
    return Path(), (f"paths are relative to the current folder, not to {folder}",)


def path_notes(listed: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Note which paths of a list lead out of its folder.

    Parameters
    ----------
    listed : sequence of (str, str)
        The place of each path in the list, such as ``manifest.csv:2``, and the path.
    """
    absolute = [where for where, path in listed if os.path.isabs(path)]
    outside = [
        where
        for where, path in listed
        if not os.path.isabs(path) and os.path.normpath(path).split(os.sep)[0] == os.pardir
    ]
    notes = []
    if absolute:
        places = first_few(absolute, len(absolute), most=1)
        notes.append(
            f"absolute paths: this corpus cannot be moved to another folder or computer: {places}"
        )
    if outside:
        places = first_few(outside, len(outside), most=1)
        notes.append(f"paths that lead out of the corpus's folder: {places}")
    return tuple(notes)


def portable_path(path: Path, folder: Path) -> str:
    """Return a path for a list: relative if the file is below the folder, else absolute.

    Parameters
    ----------
    path : Path
        The file.
    folder : Path
        The folder of the list.
    """
    absolute, top = os.path.abspath(path), os.path.join(os.path.abspath(folder), "")
    return absolute.removeprefix(top).replace(os.sep, "/") if absolute.startswith(top) else absolute
