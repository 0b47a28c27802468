"""Secrets repeat draws, differ from each other, are private on disk and never printed."""

from __future__ import annotations

import hashlib
import hmac
import stat
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.anonymise import Secret
from sottovoce.core.errors import InputError, UsageError

names = st.lists(st.text(max_size=5), max_size=4).map(tuple)


def test_the_digest_is_hmac_sha256_of_names_with_their_lengths() -> None:
    key = bytes(range(32))
    message = (2).to_bytes(8, "big") + "é".encode() + (1).to_bytes(8, "big") + b"x"
    expected = hmac.new(key, message, hashlib.sha256).digest()  # RFC 2104, on the plain encoding
    assert Secret(key).digest("é", "x") == expected


@given(names, names)
def test_different_names_give_different_digests(
    first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    secret = Secret.reproducible(1)
    assert (secret.digest(*first) == secret.digest(*second)) == (first == second)


def test_the_same_secret_repeats_and_another_differs() -> None:
    secret, other = Secret.generate(), Secret.generate()
    draw = secret.generator("ann", "u1").random(4).tolist()
    assert draw == secret.generator("ann", "u1").random(4).tolist()
    assert draw != other.generator("ann", "u1").random(4).tolist()
    assert draw != secret.generator("ann").random(4).tolist()
    assert Secret.reproducible(3).digest("a") == Secret.reproducible(3).digest("a")
    assert Secret.reproducible(3).digest("a") != Secret.reproducible(4).digest("a")


def test_saved_privately_loaded_and_destroyed(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "out.secret"
    secret = Secret.generate()
    secret.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Secret.load(path).digest("a") == secret.digest("a")
    with raises_code("exists", InputError):
        Secret.generate().save(path)
    assert Secret.load(path).digest("a") == secret.digest("a")
    Secret.destroy(path)
    assert not path.exists()


def test_only_secrets_are_loaded_or_destroyed(tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("years of work")
    with raises_code("not-a-secret", InputError):
        Secret.destroy(thesis)
    assert thesis.read_text() == "years of work"
    thesis.write_bytes(b"\xff\x00")
    with raises_code("not-a-secret", InputError):
        Secret.load(thesis)
    with raises_code("unreadable", InputError):
        Secret.load(tmp_path / "absent")


def test_repr_hides_the_key_and_bad_arguments_are_refused(tmp_path: Path) -> None:
    secret = Secret(b"k" * 32)
    assert repr(secret) == str(secret) == "Secret(hidden)" and secret.seed is None
    assert Secret.reproducible(5).seed == 5
    with raises_code("unsupported", UsageError):
        Secret.reproducible(5).save(tmp_path / "x")
    with raises_code("out-of-range", UsageError) as caught:
        Secret.reproducible(-1)
    assert "-1" in str(caught.value)
    with raises_code("out-of-range", UsageError) as caught:
        Secret(b"abc")
    assert "3 bytes" in str(caught.value)


@pytest.mark.parametrize("digest", [bytes(range(1, 33)), bytes(5) + bytes(range(1, 28)), bytes(32)])
def test_draws_are_those_of_the_digest_as_one_number(
    digest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Secret.reproducible(1)
    monkeypatch.setattr(Secret, "digest", lambda self, *names: digest)
    expected = np.random.default_rng(int.from_bytes(digest, "big")).random(5)
    assert secret.generator("ann").random(5).tolist() == expected.tolist()
