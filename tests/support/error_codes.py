"""Assertions on the code of an error, so that its wording can be improved freely."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sottovoce.core.errors import SottovoceError


@contextmanager
def raises_code(
    code: str, kind: type[SottovoceError] = SottovoceError
) -> Iterator[pytest.ExceptionInfo[SottovoceError]]:
    """Expect an error of this code; the error can be looked at afterwards."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.code == code, f"{caught.value.code}: {caught.value}"
