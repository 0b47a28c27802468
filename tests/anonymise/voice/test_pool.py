"""A pool survives saving and loading, and refuses too few speakers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from voice_pools import CARD, simulated_pool

from sottovoce.anonymise.voice.pool import (
    Pool,
    f0_percentiles,
    plda_affinity,
)
from sottovoce.anonymise.voice.pool_samples import OUTLIER, VoiceSample, pool_of_samples
from sottovoce.core.errors import InputError, TooFewError


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    pool = simulated_pool()
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


def test_a_voice_far_from_all_others_is_left_out() -> None:
    rng = np.random.default_rng(3)
    samples = [
        VoiceSample(f"s{i}", "fm"[i % 2], rng.normal(size=8).astype(np.float32), np.full(9, 150.0))
        for i in range(20)
        for _ in range(2)
    ]
    far = VoiceSample("far", "f", np.full(8, 40.0, np.float32), np.full(9, 150.0))
    pool = pool_of_samples([*samples, far], [], CARD)
    assert len(pool) == 20 and "far" not in pool.speakers


def test_the_shipped_pool_has_no_voice_far_from_all_others() -> None:
    pool = Pool.load()
    distances = np.linalg.norm(pool.vectors - np.median(pool.vectors, axis=0), axis=1)
    assert len(pool) == 222 and distances.max() < OUTLIER * np.median(distances)


def test_a_voice_is_nearest_to_itself() -> None:
    pool = simulated_pool()
    for distance in ("plda", "cosine"):
        assert pool.affinity(pool.vectors[7], distance).argmax() == 7


def test_plda_affinity_is_symmetric() -> None:
    pool = simulated_pool()
    table = plda_affinity(pool.plda, pool.vectors, pool.vectors)
    np.testing.assert_allclose(table, table.T, atol=2e-3)


def test_gender_is_guessed_right_for_most() -> None:
    pool = simulated_pool()
    guessed = [pool.guess_gender(v, p) for v, p in zip(pool.vectors, pool.pitch, strict=True)]
    assert np.mean(np.array(guessed) == pool.gender) > 0.9


def test_percentiles_are_of_voiced_frames() -> None:
    f0 = np.array([0.0, 100.0, 0.0, 200.0, 150.0])
    percentiles = f0_percentiles(f0)
    assert percentiles[0] == 100 and percentiles[50] == 150 and percentiles[-1] == 200
    assert not f0_percentiles(np.zeros(4)).any()


def test_too_few_of_a_gender_are_refused() -> None:
    rng = np.random.default_rng(0)
    f0 = np.full(10, 100.0)
    samples = [
        VoiceSample(f"s{i}", "m", rng.normal(size=4).astype(np.float32), f0) for i in range(9)
    ]
    with raises_code("too-few", TooFewError) as caught:
        pool_of_samples(samples, [], CARD)
    assert "0 women" in str(caught.value)


def test_a_speaker_without_gender_is_named() -> None:
    rng = np.random.default_rng(0)
    samples = [VoiceSample("zoe", "", rng.normal(size=4).astype(np.float32), np.full(10, 100.0))]
    with raises_code("missing-column", InputError) as caught:
        pool_of_samples(samples, [], CARD)
    assert "'zoe'" in str(caught.value)


def test_an_unvoiced_speaker_is_left_out() -> None:
    pool = simulated_pool()
    samples = [
        VoiceSample(str(name), str(gender), vector + noise, f0)
        for name, gender, vector, f0 in zip(
            pool.speakers, pool.gender, pool.vectors, pool.pitch, strict=True
        )
        for noise in (np.float32(0), np.float32(0.1))
    ]
    mute = VoiceSample("mute", "f", pool.vectors[0], np.zeros(5))
    assert "mute" not in pool_of_samples([*samples, mute], [], CARD).speakers


def test_a_broken_pool_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.npz"
    simulated_pool().save(path)
    arrays = dict(np.load(path))
    arrays["pitch"] = arrays["pitch"][:, :5]
    np.savez(path, **arrays)
    with raises_code("wrong-shape", InputError) as caught:
        Pool.load(path)
    assert "'pitch'" in str(caught.value)
    arrays = dict(np.load(path), pitch=simulated_pool().pitch, card=np.array("no JSON"))
    np.savez(path, **arrays)
    with raises_code("not-json", InputError):
        Pool.load(path)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError):
        Pool.load(path)
