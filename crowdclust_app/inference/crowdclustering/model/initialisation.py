"""Spectral initialisation from the co-grouping operator, and random positions (docs/model.md, section 7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData

# Pairs that a worker's share counts for against a response's own, and the campaign's against a worker's.
SHRINKAGE = 10.0
# Below this many items the operator is made a matrix: simpler, and Lanczos needs n > D.
DENSE_BELOW = 200
# Directions without structure start this small, but not at 0, where they would stay.
SMALLEST_SCALE = 0.05


def start_positions(labels: PairLabelData, dimensions: int, start: int, seed: int) -> Floats:
    """Positions of one start: number 0 is spectral, the others random.

    Returns
    -------
    ndarray of shape (n, D)
    """
    random = np.random.default_rng([seed, start])
    if start > 0:
        return random.normal(size=(labels.n_items, dimensions))
    return spectral_positions(labels, dimensions, random)


def same_shares(labels: PairLabelData) -> Floats:
    """Share of same-group pairs in each response, shrunk towards its worker's and the campaign's; shape (R,)."""
    response = np.repeat(np.arange(labels.n_responses), labels.sizes)
    groups = labels.groups - labels.groups.min()
    _, number, counts = np.unique(response * (int(groups.max()) + 1) + groups, return_index=True, return_counts=True)
    same = np.bincount(response[number], counts * (counts - 1) / 2, minlength=labels.n_responses)
    pairs = labels.sizes * (labels.sizes - 1) / 2
    overall = same.sum() / pairs.sum()
    worker_same = np.bincount(labels.workers, same, minlength=labels.n_workers)
    worker_pairs = np.bincount(labels.workers, pairs, minlength=labels.n_workers)
    of_worker = (worker_same + SHRINKAGE * overall) / (worker_pairs + SHRINKAGE)
    return np.asarray((same + SHRINKAGE * of_worker[labels.workers]) / (pairs + SHRINKAGE))


def spectral_positions(labels: PairLabelData, dimensions: int, random: np.random.Generator) -> Floats:
    """Leading eigenvectors of what is grouped together beyond what each response would by chance; shape (n, D)."""
    n = labels.n_items
    sizes = labels.sizes
    response = np.repeat(np.arange(labels.n_responses), sizes)
    _, group = np.unique(response * (int(labels.groups.max()) + 1) + labels.groups, return_inverse=True)
    ones = np.ones(len(labels.items))
    in_group = csr_array((ones, (labels.items, group)), shape=(n, int(group.max()) + 1))
    in_response = csr_array((ones, (labels.items, response)), shape=(n, labels.n_responses))
    share = same_shares(labels)
    diagonal = np.bincount(labels.items, 1.0 - share[response], minlength=n)
    degree = np.bincount(labels.items, (sizes - 1.0)[response], minlength=n)
    scale = 1.0 / np.sqrt(np.maximum(degree, 1.0))

    def apply(x: Floats) -> Floats:
        y = scale[:, None] * x.reshape(n, -1)
        together = in_group @ (in_group.T @ y)
        expected = in_response @ (share[:, None] * (in_response.T @ y))
        return np.asarray(scale[:, None] * (together - expected - diagonal[:, None] * y))

    if n <= max(DENSE_BELOW, 4 * dimensions):
        values, vectors = np.linalg.eigh(apply(np.eye(n)))
        values, vectors = values[-dimensions:], vectors[:, -dimensions:]
    else:
        values, vectors = leading_vectors(apply, n, dimensions, random)
    count = len(values)
    positions = SMALLEST_SCALE * random.normal(size=(n, dimensions))
    if count == 0:
        return positions
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    vectors = vectors * np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(count)])
    largest = max(float(values[0]), np.finfo(np.float64).tiny)
    stretch = np.maximum(np.sqrt(np.clip(values / largest, 0.0, None)), SMALLEST_SCALE)
    positions[:, :count] = np.sqrt(n) * vectors * stretch
    return positions


def leading_vectors(
    apply: Callable[[Floats], Floats], n: int, count: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """The largest eigenvalues of a symmetric operator on `n` items, and their vectors; (c,) and (n, c), `c <= count`.

    There are fewer than asked for where some do not settle, and none where the operator is 0: where everything is put
    together, nothing is beyond chance.
    """
    operator = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, k=count, which="LA", v0=random.normal(size=n))
    except ArpackNoConvergence as unsettled:
        values, vectors = unsettled.eigenvalues, unsettled.eigenvectors
    except ArpackError:
        values, vectors = np.zeros(0), np.zeros((n, 0))
    return values, vectors
