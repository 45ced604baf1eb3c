"""Curves of true against false positives, and the area below them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.roc import auc, ellipse, roc


def test_the_area_is_how_often_a_positive_comes_first() -> None:
    rng = np.random.default_rng(0)
    score, truth = np.round(rng.normal(size=60), 1), rng.integers(0, 2, 60)
    pairs = [(p > n) + 0.5 * (p == n) for p in score[truth == 1] for n in score[truth == 0]]
    assert auc(score, truth) == pytest.approx(np.mean(pairs))
    assert auc(truth.astype(float), truth) == 1.0
    assert auc(-truth.astype(float), truth) == 0.0
    assert auc(np.zeros(60), truth) == 0.5
    assert auc(score, np.ones(60, np.int64)) == 0.5


def test_the_curve_goes_from_corner_to_corner_and_has_that_area() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 50)
    score = rng.integers(0, 8, 50) + truth
    false, true = roc(score.astype(float), truth)
    assert (false[0], true[0], false[-1], true[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= 0).all()
    assert np.trapezoid(true, false) == pytest.approx(auc(score.astype(float), truth))
    many = rng.normal(size=5000)
    assert len(roc(many, rng.integers(0, 2, 5000))[0]) <= 101


def test_an_ellipse_is_closed_and_has_its_half_axes() -> None:
    x, y = ellipse((0.2, 0.9), (0.05, 0.02))
    assert (max(x), min(x)) == pytest.approx((0.25, 0.15))
    assert (max(y), min(y)) == pytest.approx((0.92, 0.88), abs=1e-4)
    assert (x[0], y[0]) == pytest.approx((x[-1], y[-1]))
