"""Partitions from which a search begins: cuts of trees over the items (docs/methods.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.cluster.vq import vq
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import squareform

from crowdclust_app.inference.consensus.kmeans import kmeans
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.decisions import count_item_pairs
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers

# Pairs that the overall rate counts for in the distance of two items.
PRIOR_PAIRS = 0.5
# Share of the mean number of pairs that is added to an item's own, so that rarely shown items do not stand out.
ADDED_DEGREE = 0.2
EIGENVECTORS = 24
# Times that two items are shown together on average where their own share says something.
OFTEN = 1.0
# Up to so many items all eigenvectors are computed, and up to so many pairs of items are kept in a matrix.
FEW_ITEMS, DENSE_ITEMS = 120, 3000
# Beyond that, trees are over so many cells of neighbouring items.
CELLS, CELL_ROUNDS = 600, 8

PairCounts = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What partitions of every number are cut from.

    Parameters
    ----------
    seen : ndarray of shape (m,)
        Items that occur.
    average : ndarray or None
        Tree of average linkage over them; None where they are too many.
    points : ndarray of shape (m or cells, E)
        Eigenvectors, the leading one last.
    cells : ndarray of shape (m,), or None
        Which row of `points` each seen item has; None where each has its own.
    n_items
        Items `n`, seen or not.
    counts
        How often each two seen items were shown, and put, together; None where they are too many.
    """

    seen: Ints
    average: Floats | None
    points: Floats
    cells: Ints | None
    n_items: int
    counts: PairCounts | None

    def number_together(self) -> int:
        """Clusters in which most pairs are together more often than not; 1 where pairs are too many or too rare."""
        if self.average is None or self.counts is None or self.counts[0].mean() < OFTEN:
            return 1
        return int(fcluster(self.average, 0.5, "distance").max())

    def cuts(self, K: int) -> list[Ints]:
        """Partitions into at most `K` clusters: average linkage, and Ward's on as many eigenvectors less one."""
        found = [] if self.average is None else [self._spread(fcluster(self.average, K, "maxclust") - 1)]
        ward = fcluster(linkage(self._leading(K), "ward"), K, "maxclust") - 1
        return [*found, self._spread(ward if self.cells is None else ward[self.cells])]

    def random_cut(self, K: int, seed: int, nth: int) -> Ints:
        """A partition into at most `K` clusters by k-means on the eigenvectors, from a random start."""
        points = self._leading(K)
        label = kmeans(points, min(K, len(points)), 1, int(np.random.default_rng([seed, nth]).integers(2**31)))
        return self._spread(label if self.cells is None else label[self.cells])

    def halves(self, items: Ints) -> NDArray[np.bool_]:
        """Which of these items are on one side of them: by the leading eigenvector of their pairs among themselves."""
        places = np.searchsorted(self.seen, items)
        if self.counts is None:
            points = self.points[places if self.cells is None else self.cells[places]]
            points = points - points.mean(axis=0)
            return np.asarray(points @ np.linalg.svd(points, full_matrices=False)[2][0] > 0.0)
        shown, joined = (matrix[np.ix_(places, places)] for matrix in self.counts)
        operator, _ = _operator(shown, joined)
        return np.asarray(_leading_eigenvector(operator) > 0.0)

    def _leading(self, K: int) -> Floats:
        return self.points[:, -max(2, min(K - 1, EIGENVECTORS)) :]

    def _spread(self, label: Ints) -> Ints:
        partition = np.full(self.n_items, -1, dtype=np.int64)
        partition[self.seen] = label
        return partition


def pair_counts(answers: Answers) -> PairCounts | None:
    """How often each two items were shown, and put, together; None where they are too many for a matrix."""
    return count_item_pairs(*answers.arrays, answers.n_items) if answers.n_items <= DENSE_ITEMS else None


def all_candidates(answers: Answers) -> Candidates:
    """The trees of some answers, their pairs counted."""
    return candidates_of(answers, pair_counts(answers))


def candidates_of(answers: Answers, counts: PairCounts | None) -> Candidates:
    """The trees of some answers, from their pair counts where there are any."""
    seen = np.flatnonzero(answers.shown)
    if counts is None:
        return _sparse_candidates(answers, seen)
    shown, joined = (matrix[np.ix_(seen, seen)] for matrix in counts)
    operator, chance = _operator(shown, joined)
    distance = 1.0 - (joined + PRIOR_PAIRS * chance) / (shown + PRIOR_PAIRS)
    np.fill_diagonal(distance, 0.0)
    n = len(seen)
    many = min(EIGENVECTORS, n - 1)
    if n <= FEW_ITEMS:
        values, vectors = np.linalg.eigh(operator)
        points = _scaled(values[-many:], vectors[:, -many:])
    else:
        points = _leading_eigenvectors(operator, n)
    tree = linkage(squareform(distance, checks=False), "average")
    return Candidates(seen, tree, points, None, answers.n_items, (shown, joined))


def _operator(shown: Floats, joined: Floats) -> tuple[Floats, float]:
    """How much more often items are together than the mean, scaled by how often they were shown; and that mean."""
    chance = float(joined.sum() / max(shown.sum(), 1.0))
    scale = _scale(shown.sum(axis=1))
    return (joined - chance * shown) * scale[:, None] * scale, chance


def _leading_eigenvector(operator: Floats) -> Floats:
    n = len(operator)
    if n <= FEW_ITEMS:
        return np.asarray(eigh(operator, subset_by_index=(n - 1, n - 1))[1][:, 0])
    return np.asarray(eigsh(operator, k=1, which="LA", v0=np.ones(n), tol=1e-2)[1][:, 0])


def _scale(degree: Floats) -> Floats:
    return np.asarray(1.0 / np.sqrt(np.maximum(degree + ADDED_DEGREE * degree.mean(), 1e-9)))


def _scaled(values: Floats, vectors: Floats) -> Floats:
    """Eigenvectors, each as long as the root of its value."""
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _leading_eigenvectors(operator: Floats | LinearOperator, n: int) -> Floats:
    return _scaled(*eigsh(operator, k=min(EIGENVECTORS, n - 1), which="LA", v0=np.ones(n), tol=1e-2))


def _sparse_candidates(answers: Answers, seen: Ints) -> Candidates:
    """The same without a matrix of pairs, over cells of neighbouring items in place of items."""
    number = np.full(answers.n_items, -1)
    number[seen] = np.arange(len(seen))
    rows, response, sizes = number[answers.items], answers.response_of, answers.sizes
    named = np.unique(response * answers.most + answers.groups, return_inverse=True)[1]
    one = np.ones(len(rows))
    shown = csr_array((one, (rows, response)), shape=(len(seen), answers.size))
    joined = csr_array((one, (rows, named)), shape=(len(seen), int(named.max()) + 1))
    group = np.bincount(named)
    chance = float((group * (group - 1.0)).sum() / max((sizes * (sizes - 1.0)).sum(), 1.0))
    times = np.bincount(rows, minlength=len(seen))
    scale = _scale(shown @ (sizes - 1.0))

    def apply(x: Floats) -> Floats:
        y = scale * x.ravel()
        # the diagonal, where an item meets itself, is taken out
        return np.asarray(
            scale * (joined @ (joined.T @ y) - chance * (shown @ (shown.T @ y)) - (1.0 - chance) * times * y)
        )

    points = _leading_eigenvectors(LinearOperator((len(seen),) * 2, matvec=apply, dtype=np.float64), len(seen))
    centres = points[np.random.default_rng(0).choice(len(seen), min(CELLS, len(seen) // 4), replace=False)]
    for _ in range(CELL_ROUNDS):
        cells = np.unique(vq(points, centres)[0], return_inverse=True)[1].astype(np.int64)
        sums = np.stack([np.bincount(cells, column) for column in points.T], axis=1)
        centres = sums / np.bincount(cells)[:, None]
    return Candidates(seen, None, centres, cells, answers.n_items, None)
