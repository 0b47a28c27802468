"""What a run leaves when it fails: nothing of its own, and all that was there before."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.anonymise.recording.folder import gone_on_failure


def run(path: Path, failure: type[BaseException] | None = None) -> None:
    """Draw a secret if there is none, and maybe fail."""
    with gone_on_failure(path):
        if not path.exists():
            path.write_text("drawn now")
        if failure is not None:
            raise failure


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_file_of_a_run_that_fails_goes_and_an_older_one_stays(
    failure: type[BaseException], tmp_path: Path
) -> None:
    new, older = tmp_path / "new.secret", tmp_path / "older.secret"
    older.write_text("drawn long ago")
    for path in (new, older):
        with pytest.raises(failure):
            run(path, failure)
    assert not new.exists() and older.read_text() == "drawn long ago"
    run(new)
    assert new.read_text() == "drawn now"
