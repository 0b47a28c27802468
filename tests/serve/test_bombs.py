"""Small files that would be huge or invalid when opened: a one-line error, little memory."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import soundfile
from error_codes import raises_code
from live_service import Service, clip, running

from sottovoce.core.errors import InputError
from sottovoce.serve import uploads

VOICE = "/v1/anonymise/voice"
ROOM = 500_000
"""kB that a worker may take above what it has when it is idle, less than any of these needs."""


def flac(frames: int, *, says: int | None = None) -> bytes:
    """Silence; ``says`` is written into the 36 bits of the header that tell the length."""
    buffer = io.BytesIO()
    soundfile.write(buffer, np.zeros(frames, np.int16), 16000, format="FLAC", subtype="PCM_16")
    data = bytearray(buffer.getvalue())
    if says is not None:
        field = int.from_bytes(data[18:26], "big")
        data[18:26] = (field >> 36 << 36 | says).to_bytes(8, "big")
    return bytes(data)


def wav(*, channels: int = 1, rate: int = 16000, says: int | None = None) -> bytes:
    data = bytes(range(1, 201)) * channels * 16
    size = len(data) if says is None else says
    form = struct.pack("<IHHIIHH", 16, 1, channels, rate, rate * channels * 2, channels * 2, 16)
    return (
        b"RIFF%sWAVEfmt " % struct.pack("<I", min(36 + size, 2**32 - 1))
        + form
        + b"data"
        + struct.pack("<I", size)
        + data
    )


@cache
def npz(shape: tuple[int, ...], *names: str, filled: bool = True) -> bytes:
    """Arrays of zeros, deflated; or only their headers."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in names:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                head = {"descr": "<f8", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(entry, head)
                size = int(np.prod(shape)) * 8 if filled else 0
                for _ in range(size >> 20):
                    entry.write(bytes(1 << 20))
    return buffer.getvalue()


def parquet(rows: int, **columns: pl.Expr) -> bytes:
    buffer = io.BytesIO()
    lazy = pl.select(pl.int_range(rows, dtype=pl.Int32).alias("row")).lazy()
    lazy.select(**columns).collect().write_parquet(buffer)
    return buffer.getvalue()


def peak(pids: list[int]) -> int:
    """The most memory that any of these processes ever had, in kB."""
    statuses = (Path(f"/proc/{pid}/status").read_text() for pid in pids)
    peaks = [re.search(r"VmHWM:\s+(\d+)", status) for status in statuses]
    return max(int(match[1]) for match in peaks if match)


@pytest.fixture(scope="module")
def alone() -> Iterator[Service]:
    with running(workers=1) as service:
        yield service


Sent = dict[str, Any]
BOMBS: dict[str, tuple[str, Callable[[], Sent], str]] = {
    "flac of 41 minutes": (VOICE, lambda: {"data": flac(40_000_000)}, "too-large"),
    "flac that says 50 days": (VOICE, lambda: {"data": flac(9000, says=2**36 - 1)}, "too-large"),
    "flac that does not say": (VOICE, lambda: {"data": flac(9000, says=0)}, "too-large"),
    "flac that says less": (VOICE, lambda: {"data": flac(40_000_000, says=16000)}, "silent"),
    "wav of 1,000 channels": (VOICE, lambda: {"data": wav(channels=1000)}, "too-large"),
    "wav at 1 Hz": (VOICE, lambda: {"data": wav(rate=1)}, "out-of-range"),
    "wav at 10 MHz": (VOICE, lambda: {"data": wav(rate=10_000_000)}, "out-of-range"),
    "wav that says more": (VOICE, lambda: {"data": wav(says=1 << 30)}, "damaged"),
    "npz of 600 MiB": (
        "/v1/measure",
        lambda: {"data": npz((75 << 20,), "mated")},
        "too-large",
    ),
    "npz that says 8 TiB": (
        "/v1/measure",
        lambda: {"data": npz((1 << 40,), "mated", "nonmated", filled=False)},
        "damaged",
    ),
    "npz of vectors": (
        "/v1/reidentify",
        lambda: {"files": dict.fromkeys(("enrol", "trial"), npz((75 << 20,), "mated"))},
        "too-large",
    ),
    "parquet of scores": (
        "/v1/measure",
        lambda: {"data": parquet(35_000_000, score=pl.col("row") % 7, label=pl.col("row") % 2)},
        "too-large",
    ),
    "parquet of vectors": (
        "/v1/similarity",
        lambda: {
            "files": dict.fromkeys(
                ("original", "anonymised"),
                parquet(35_000_000, speaker=pl.col("row") % 9, vector=pl.col("row") % 2),
            )
        },
        "too-large",
    ),
    "csv of a million columns": (
        "/v1/measure",
        lambda: {"data": b"a," * 1_000_000 + b"score,label\n" + b"1," * 1_000_001 + b"1\n"},
        "too-large",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_one_line(alone: Service, name: str) -> None:
    path, make_request, code = BOMBS[name]
    sent = make_request()
    before = peak(alone.app.state.workers.pids)
    answer = alone.post(path, **sent)
    assert answer.status_code == 400, answer.text
    assert answer.json()["code"] == code
    assert peak(alone.app.state.workers.pids) < before + ROOM


def test_every_number_of_a_vector_is_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = parquet(10, vector=pl.concat_list([pl.col("row")] * 99).list.to_array(99))
    monkeypatch.setattr(uploads, "MAX_CELLS", 990)
    uploads.refuse_oversized(vectors, "the vectors")
    monkeypatch.setattr(uploads, "MAX_CELLS", 989)
    with raises_code("too-large", InputError):
        uploads.refuse_oversized(vectors, "the vectors")


def test_a_worker_has_so_much_memory_and_no_more(alone: Service) -> None:
    """Memory is allocated for arrays that a header announces even if the file lacks them."""
    announced = npz((60 << 20,), "mated", "nonmated", filled=False)
    with running(workers=1, worker_bytes=512 << 20) as small:
        answers = [service.post("/v1/measure", data=announced) for service in (alone, small)]
        assert [answer.status_code for answer in answers] == [400, 400]
        limited = ["Unable to allocate 480" in answer.json()["error"] for answer in answers]
        assert limited == [False, True]
        assert small.post(VOICE, data=clip()).status_code == 200
