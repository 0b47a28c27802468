"""Bodies for schemathesis: real files among the nonsense it makes up, so that work is done too.

It runs in an environment of its own; the files are written by ``test_schema.py``.
"""

from __future__ import annotations

import os
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

schemathesis: Any = import_module("schemathesis")
FILES = {path.stem: path.read_bytes() for path in Path(os.environ["SCHEMA_FILES"]).iterdir()}

schemathesis.openapi.media_type(
    "application/octet-stream",
    st.one_of(
        st.sampled_from([FILES[name] for name in ("clip", "flac", "scores", "table", "words")]),
        st.binary(max_size=200),
    ),
)


def map_query(context: Any, query: Any) -> Any:
    """Replace most generated names by existing ones, and limit the amount of work."""
    if not isinstance(query, dict | None):
        return query
    query = query or {}
    drawn = zlib.crc32(repr(query).encode())
    known = {
        "method": ("mcadams", "mcadams", "mcadams", "voicemask", "xvector", "none"),
        "lang": ("en", "de", "fr", "lv"),
        "strategy": ("redact", "typed", "word", "full", "hmac"),
        "linkage": ("cosine", "euclidean", "plda", "whitening"),
        "only": ("eer", "d_ece,cllr_min", "d_sys"),
        "lengths": ("1", "1,3", "3"),
        "populations": ("5", "5,10"),
    }
    for place, (name, values) in enumerate(known.items()):
        here = (drawn >> (2 * place)) % 4
        if name in query and here:
            query[name] = values[drawn % len(values)]
    path = context.operation.path
    if path in ("/v1/measure", "/v1/similarity"):
        resamples = query.setdefault("resamples", 20)
        if isinstance(resamples, int) and 50 < resamples <= 10_000:
            query["resamples"] = 50
    if path == "/v1/reidentify":
        query.setdefault("interval", 0)
    return query


schemathesis.hook(map_query)
