"""Blocks of documents that benchmarks write, between ``<!-- begin NAME -->`` and its end."""

from __future__ import annotations

import re
from pathlib import Path

from sottovoce.core.files import write_text


def write_block(document: Path, name: str, text: str) -> None:
    """Replace a block of a document, which must have it."""
    page = document.read_text(encoding="utf-8")
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"{document}: no block {begin} … {end}")
    write_text(document, pattern.sub(lambda _: f"{begin}\n\n{text.strip()}\n\n{end}", page))
