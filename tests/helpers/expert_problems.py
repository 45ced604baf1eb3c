"""Simulated experts with two coins, or a matrix for several classes, and items with features."""

from __future__ import annotations

import numpy as np

SENSITIVITY = np.array([0.9, 0.8, 0.57, 0.6, 0.55])
SPECIFICITY = np.array([0.95, 0.85, 0.62, 0.65, 0.58])


def two_coins(count: int, seed: int, kept: float = 1.0, width: int = 3) -> tuple:
    """Features, truth, and three columns of labels by the paper's radiologists."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(count) < 0.4).astype(int)
    X = rng.normal(size=(count, width))
    X[:, 0] += 2.0 * truth
    right = rng.random((count, 5)) < np.where(truth[:, None] == 1, SENSITIVITY, SPECIFICITY)
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    task, worker = np.nonzero(rng.random((count, 5)) < kept)
    return X, truth, (task, worker, labels[task, worker])


def categories(count: int, size: int, seed: int, ordered: bool = False) -> tuple:
    """Features, labels of four experts and truth for several classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, size, count)
    X = rng.normal(size=(count, size))
    if ordered:
        X[:, 0] += 1.5 * truth
    else:
        X[np.arange(count), truth] += 2.0
    skill = np.array([0.9, 0.8, 0.4, 0.3])
    wrong = np.clip(truth[:, None] + rng.choice([-1, 1], (count, 4)), 0, size - 1) if ordered else None
    other = rng.integers(0, size, (count, 4)) if wrong is None else wrong
    labels = np.where(rng.random((count, 4)) < skill, truth[:, None], other)
    task, worker = np.nonzero(np.ones_like(labels))
    return X, (task, worker, labels[task, worker]), truth
