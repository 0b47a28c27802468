"""Where the relative paths of a list lead, and what to say of those that lead elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from sottovoce.core.errors import first_few


def folder_name(folder: Path) -> str:
    """The name of a folder, also of ``.``."""
    return folder.name or folder.resolve().name or str(folder)


def base_of(paths: Iterable[str], folder: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder that relative paths start from, with a note if it is not that of the list.

    Kaldi and Lhotse mean the folder a program is started in. Lists that travel with their audio
    mean their own. The first relative path tells which, by where there is a file.
    """
    first = next((path for path in paths if not os.path.isabs(path)), None)
    if first is None or (folder / first).exists() or not Path(first).exists():
        return folder, ()
    return Path(), (f"paths are relative to the current folder, not to {folder}",)


def path_notes(listed: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Say which paths of a list lead out of its folder; ``listed`` holds (place, path)."""
    absolute = [where for where, path in listed if os.path.isabs(path)]
    outside = [
        where
        for where, path in listed
        if not os.path.isabs(path) and os.path.normpath(path).split(os.sep)[0] == os.pardir
    ]
    notes = []
    if absolute:
        named = first_few(absolute, len(absolute), most=1)
        notes.append(f"absolute paths, which move with nobody: {named}")
    if outside:
        named = first_few(outside, len(outside), most=1)
        notes.append(f"paths that lead out of the corpus's folder: {named}")
    return tuple(notes)


def portable(path: Path, folder: Path) -> str:
    """A path for a list in ``folder``: relative if the file is below it, else absolute."""
    whole, top = os.path.abspath(path), os.path.join(os.path.abspath(folder), "")
    return whole.removeprefix(top).replace(os.sep, "/") if whole.startswith(top) else whole
