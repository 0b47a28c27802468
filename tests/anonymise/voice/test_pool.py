"""A pool keeps what it was given, on disk too, and refuses what nobody could hide in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from voice_pools import invented_pool

from sottovoce.anonymise.voice.pool import Heard, Pool, percentiles, plda_affinity
from sottovoce.core.errors import InputError, TooFewError


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    pool = invented_pool()
    pool.save(tmp_path / "pool.npz")
    again = Pool.load(tmp_path / "pool.npz")
    assert again.card == pool.card
    for name in ("speakers", "gender", "vectors", "exemplars"):
        np.testing.assert_array_equal(getattr(again, name), getattr(pool, name))
    np.testing.assert_allclose(again.pitch, pool.pitch, rtol=1e-6)
    for distance in ("plda", "cosine"):
        np.testing.assert_allclose(
            again.affinity(pool.vectors[3], distance), pool.affinity(pool.vectors[3], distance)
        )


def test_a_voice_is_nearest_to_itself() -> None:
    pool = invented_pool()
    for distance in ("plda", "cosine"):
        assert pool.affinity(pool.vectors[7], distance).argmax() == 7


def test_plda_affinity_is_symmetric() -> None:
    pool = invented_pool()
    table = plda_affinity(pool.plda, pool.vectors, pool.vectors)
    np.testing.assert_allclose(table, table.T, atol=2e-3)


def test_gender_is_guessed_right_for_most() -> None:
    pool = invented_pool()
    guessed = [pool.guess_gender(v, p) for v, p in zip(pool.vectors, pool.pitch, strict=True)]
    assert np.mean(np.array(guessed) == pool.gender) > 0.9


def test_percentiles_are_of_voiced_frames() -> None:
    f0 = np.array([0.0, 100.0, 0.0, 200.0, 150.0])
    found = percentiles(f0)
    assert found[0] == 100 and found[50] == 150 and found[-1] == 200
    assert not percentiles(np.zeros(4)).any()


def test_too_few_of_a_gender_are_refused() -> None:
    rng = np.random.default_rng(0)
    f0 = np.full(10, 100.0)
    heard = [Heard(f"s{i}", "m", rng.normal(size=4).astype(np.float32), f0) for i in range(9)]
    with pytest.raises(TooFewError, match="0 women"):
        Pool.of(heard, [], {})


def test_a_speaker_without_gender_is_named() -> None:
    rng = np.random.default_rng(0)
    heard = [Heard("zoe", "", rng.normal(size=4).astype(np.float32), np.full(10, 100.0))]
    with pytest.raises(InputError, match="'zoe' has no gender"):
        Pool.of(heard, [], {})


def test_an_unvoiced_speaker_is_left_out() -> None:
    pool = invented_pool()
    heard = [
        Heard(str(name), str(gender), vector + noise, f0)
        for name, gender, vector, f0 in zip(
            pool.speakers, pool.gender, pool.vectors, pool.pitch, strict=True
        )
        for noise in (np.float32(0), np.float32(0.1))
    ]
    mute = Heard("mute", "f", pool.vectors[0], np.zeros(5))
    assert "mute" not in Pool.of([*heard, mute], [], {}).speakers


def test_a_broken_pool_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.npz"
    invented_pool().save(path)
    arrays = dict(np.load(path))
    arrays["pitch"] = arrays["pitch"][:, :5]
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="'pitch' has shape"):
        Pool.load(path)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError):
        Pool.load(path)
