"""A secret is never sent to another process: only where it can be found."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from error_codes import raises_code

from sottovoce.anonymise.keys import ENVIRONMENT, Secret
from sottovoce.core.errors import InputError, UsageError


def test_a_secret_in_no_file_stays_where_it_is() -> None:
    for secret in (Secret.generate(), Secret.generate().derive("attacker")):
        with raises_code("secret-not-in-a-file", UsageError):
            pickle.dumps(secret)


def test_the_name_of_the_file_is_sent_instead_of_the_secret(tmp_path: Path) -> None:
    secret = Secret.generate()
    secret.save(tmp_path / "s.secret")
    for original in (secret, Secret.load(tmp_path / "s.secret"), secret.derive("a", "b")):
        sent = pickle.dumps(original)
        assert secret._key not in sent and secret._key.hex().encode() not in sent
        assert pickle.loads(sent).digest("x") == original.digest("x")


def test_a_public_seed_is_sent() -> None:
    secret = Secret.reproducible(7)
    restored = pickle.loads(pickle.dumps(secret))
    assert restored.seed == 7 and restored.digest("x") == secret.digest("x")
    derived = pickle.loads(pickle.dumps(secret.derive("operator")))
    assert derived.seed is None and derived.digest("x") == Secret(secret.digest("operator")).digest(
        "x"
    )


def test_another_secret_of_that_name_is_refused(tmp_path: Path) -> None:
    Secret.generate().save(tmp_path / "s.secret")
    sent = pickle.dumps(Secret.load(tmp_path / "s.secret"))
    (tmp_path / "s.secret").unlink()
    with raises_code("secret-unavailable", InputError):
        pickle.loads(sent)
    Secret.generate().save(tmp_path / "s.secret")
    with raises_code("secret-unavailable", InputError):
        pickle.loads(sent)


def test_workers_may_have_it_in_their_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Secret.generate()
    secret.save(tmp_path / "s.secret")
    sent = pickle.dumps(secret.derive("attacker"))
    (tmp_path / "s.secret").unlink()
    monkeypatch.setenv(ENVIRONMENT, secret._key.hex())
    assert pickle.loads(sent).digest("x") == secret.derive("attacker").digest("x")


def test_copies_are_the_secret_itself() -> None:
    secret = Secret.generate()
    assert copy.copy(secret) is secret and copy.deepcopy(secret) is secret
