"""Small problems of the Gaussian process with experts, and slow ways to the right answer."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import log_ndtr

from crowdclust_app.inference.experts.kernel import Kernel
from crowdclust_app.inference.experts.posterior import DenseEngine
from crowdclust_app.inference.experts.propagation import Propagated, Sites, propagate
from crowdclust_app.inference.experts.sites import (
    LabelLikelihoods,
    WorkerLabels,
    WorkerPosterior,
    label_likelihoods,
    update_sites,
)

EXPERTISE = np.array([0.95, 0.92, 0.90, 0.5, 0.5, 0.5, 0.5, 0.5, 0.15, 0.20])
"""Three experts, five spammers, two adversaries."""


def labels_of(matrix: np.ndarray) -> WorkerLabels:
    """Labels from an array (N, R) of -1, 0 and +1."""
    item, worker = np.nonzero(matrix)
    value = matrix[item, worker]
    ones = (value > 0).astype(float)
    fixed = np.zeros(matrix.shape[1], dtype=bool)
    return WorkerLabels(len(matrix), matrix.shape[1], item, worker, ones, 1.0 - ones, fixed)


def random_problem(
    rng: np.random.Generator, items: int, workers: int, amplitude: tuple[float, float] = (0.5, 3.0)
) -> tuple[np.ndarray, Kernel, np.ndarray, WorkerPosterior]:
    """Features, kernel, labels (-1, 0, +1; at least one an item) and a crowd, all random."""
    X = rng.normal(size=(items, 2))
    kernel = Kernel(rng.uniform(*amplitude), rng.uniform(0.5, 2.0), rng.uniform(0.0, 1.0))
    matrix = rng.choice([-1, 0, 1], size=(items, workers))
    empty = ~matrix.any(axis=1)
    matrix[empty, 0] = rng.choice([-1, 1], size=int(empty.sum()))
    crowd = WorkerPosterior(rng.uniform(0.05, 0.98, workers), rng.uniform(0.6, 0.999), np.zeros(workers))
    return X, kernel, matrix, crowd


def fixed_point(K: np.ndarray, evidence: LabelLikelihoods, noise: float = 1.0, tolerance: float = 1e-10) -> Propagated:
    """Where propagation with every covariance ends."""
    return propagate(DenseEngine(K), evidence, np.full(len(K), noise), None, tolerance, max_iterations=3000)


def orthants(K: np.ndarray) -> dict[tuple[int, ...], float]:
    """Probability of every pattern of signs of two or three values with these covariances (Sheppard's formulas)."""
    scale = np.sqrt(np.diagonal(K))
    r = K / np.outer(scale, scale)
    found = {}
    for signs in itertools.product((-1, 1), repeat=len(K)):
        pairs = itertools.combinations(range(len(K)), 2)
        angle = sum(np.arcsin(signs[a] * signs[b] * r[a, b]) for a, b in pairs)
        found[signs] = 0.25 + angle / (2 * np.pi) if len(K) == 2 else 0.125 + angle / (4 * np.pi)
    return found


def exact(K: np.ndarray, evidence: LabelLikelihoods) -> tuple[float, np.ndarray]:
    """Log evidence and `P(h = +1)` of two or three items, by summing over every pattern of clean classes."""
    weights = {}
    for signs, chance in orthants(K + np.eye(len(K))).items():
        chosen = [evidence.positive[n] if sign > 0 else evidence.negative[n] for n, sign in enumerate(signs)]
        weights[signs] = chance * np.exp(sum(chosen))
    total = sum(weights.values())
    clean = [sum(w for signs, w in weights.items() if signs[n] > 0) / total for n in range(len(K))]
    return float(np.log(total)), np.array(clean)


def by_sampling(
    K: np.ndarray, evidence: LabelLikelihoods, draws: int, seed: int
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence, `P(h = +1)`, mean and variance of every value, from draws of the prior weighted by the labels."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(K)
    f = rng.standard_normal((draws, len(K))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    up = evidence.positive + log_ndtr(f)
    logs = np.logaddexp(up, evidence.negative + log_ndtr(-f))
    total = logs.sum(axis=1)
    weights = np.exp(total - total.max())
    log_z = float(np.log(weights.mean()) + total.max())
    weights /= weights.sum()
    mean = weights @ f
    return log_z, weights @ np.exp(up - logs), mean, weights @ (f - mean) ** 2


def sequential(
    K: np.ndarray, evidence: LabelLikelihoods, tolerance: float = 1e-12
) -> tuple[Sites, np.ndarray, np.ndarray]:
    """Expectation propagation one site after another, with rank-one updates; sites, mean and variance."""
    count = len(K)
    precision, shift, sigma, mean = np.zeros(count), np.zeros(count), K.copy(), np.zeros(count)
    for _ in range(2000):
        change = 0.0
        for i in range(count):
            v = 1.0 / (1.0 / sigma[i, i] - precision[i])
            m = v * (mean[i] / sigma[i, i] - shift[i])
            new = update_sites(np.array([m]), np.array([v]), np.ones(1), evidence.take(np.array([i])))
            step = new.precision[0] - precision[i]
            if 1.0 + step * sigma[i, i] <= 1e-10:
                continue
            change = max(change, abs(step) * sigma[i, i])
            precision[i], shift[i] = new.precision[0], new.shift[0]
            sigma = sigma - step / (1.0 + step * sigma[i, i]) * np.outer(sigma[i], sigma[i])
            mean = sigma @ shift
        if change < tolerance:
            break
    return Sites(precision, shift), mean, np.diagonal(sigma).copy()


def labelled_clusters(
    count: int, keep: float, seed: int, expertise: np.ndarray = EXPERTISE
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items in eight clusters of two classes, their truth (0, 1), and labels (-1, 0, +1) of simulated workers."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, 6)) * 2.0
    cluster = rng.integers(0, 8, count)
    X = centres[cluster] + rng.normal(size=(count, 6)) * 0.6
    truth = cluster % 2
    right = rng.random((count, len(expertise))) < expertise
    said = np.where(right, 2 * truth[:, None] - 1, 1 - 2 * truth[:, None])
    return X, truth, said * (rng.random(said.shape) < keep)


def evidence_for(matrix: np.ndarray, crowd: WorkerPosterior) -> LabelLikelihoods:
    return label_likelihoods(labels_of(matrix), crowd)
