"""What the measures are compared with: the plain way, one LLR a score, numpy and scipy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

Scores = NDArray[Any]


def naive(mated: Scores, nonmated: Scores) -> dict[str, float]:
    """Stable argsort of all scores, isotonic regression of all labels, a log ratio a score.

    Mated scores come first, so the stable sort puts them first in a tie and PAV pools the tie.
    """
    labels = np.concatenate((np.ones(len(mated)), np.zeros(len(nonmated))))
    order = np.argsort(np.concatenate((mated, nonmated)), kind="stable")
    labels = labels[order]
    m, n = len(mated), len(nonmated)
    posterior = isotonic_regression(labels).x
    with np.errstate(divide="ignore"):
        llr = np.log(posterior) - np.log1p(-posterior) - np.log(m / n)
    is_mated = labels == 1
    a, b = llr[is_mated], llr[~is_mated]
    miss, alarm = np.cumsum(is_mated) / m, 1 - np.cumsum(~is_mated) / n
    at = int(np.argmin(np.abs(miss - alarm)))
    tpr = 1 - np.interp(-np.array([0.01, 0.001, 0.0001]), -alarm, miss)
    return {
        "eer": float((miss[at] + alarm[at]) / 2),
        "rocch_eer": _hull_eer(llr, is_mated, m, n),
        "min_cllr": _cllr(a, b),
        "d_ece": float((_z(a) + _z(-b)) / np.log(2)),
        "tpr_at_fpr_0.01": float(tpr[0]),
        "tpr_at_fpr_0.001": float(tpr[1]),
        "tpr_at_fpr_0.0001": float(tpr[2]),
    }


def naive_everything(mated: Scores, nonmated: Scores) -> dict[str, float]:
    """The same with the raw Cllr, the worst case (PAV again, with dummy scores) and D_sys."""
    found = naive(mated, nonmated)
    low, high = min(mated.min(), nonmated.min()), max(mated.max(), nonmated.max())
    ends = np.array([low - 1, high + 1])
    with_dummies = np.concatenate((ends, mated, ends, nonmated))
    labels = np.concatenate((np.ones(len(mated) + 2), np.zeros(len(nonmated) + 2)))
    order = np.argsort(with_dummies, kind="stable")
    posterior = isotonic_regression(labels[order]).x[2:-2]
    llr = np.log(posterior) - np.log1p(-posterior) - np.log(len(mated) / len(nonmated))
    bins = min(len(mated) // 10, 100)
    p = np.histogram(mated, bins, (low, high))[0] / len(mated)
    q = np.histogram(nonmated, bins, (low, high))[0] / len(nonmated)
    local = np.maximum(0, np.divide(p - q, p + q, out=np.zeros(bins), where=p + q > 0))
    return found | {
        "cllr": _cllr(mated, nonmated),
        "worst_case_log10_lr": float(np.abs(llr).max() / np.log(10)),
        "linkability": float(p @ local),
    }


def _cllr(mated: Scores, nonmated: Scores) -> float:
    cost = np.logaddexp(0, -mated).mean() + np.logaddexp(0, nonmated).mean()
    return float(cost / (2 * np.log(2)))


def _z(llr: Scores) -> float:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        d = np.expm1(llr)
        z = 0.25 + (llr / d - 1) / (2 * d)
    z[np.abs(llr) < 1e-6] = 0.0
    z[np.isinf(llr)] = 0.25
    return float(z.mean())


def _hull_eer(llr: Scores, is_mated: NDArray[np.bool_], m: int, n: int) -> float:
    ends = np.append(np.flatnonzero(llr[1:] > llr[:-1]), len(llr) - 1)
    miss = np.concatenate(([0.0], np.cumsum(is_mated)[ends] / m))
    passed = np.concatenate(([0.0], np.cumsum(~is_mated)[ends] / n))
    return float(np.interp(1.0, miss + passed, miss))
