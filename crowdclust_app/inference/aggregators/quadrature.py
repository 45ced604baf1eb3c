"""Integrals over a coin: Gauss-Jacobi nodes for a Beta prior, exact for the polynomials of belief propagation."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from crowdclust_app.inference.aggregators.label_table import Floats


def nodes_needed(degree: int) -> int:
    """How many nodes integrate a worker's polynomial.

    `ceil((n + 1) / 2)` nodes are exact up to degree `n`. The product of very many labels is a peak of width
    `1 / sqrt(n)`, for which a multiple of `sqrt(n)` nodes leaves next to no error: it falls like the exponential of
    minus twice the squared product of pi and the nodes to a standard deviation, of which there are 1.1 and more.

    Parameters
    ----------
    degree
        Degree of the polynomial: labels of the worker.
    """
    exact = degree // 2 + 1
    return min(exact, 8 + math.ceil(3.5 * math.sqrt(degree)))


class BetaNodes:
    """Nodes and log-weights for Beta(alpha, beta), made once a size and used by every worker of a fit.

    Parameters
    ----------
    alpha, beta
        The prior.
    """

    def __init__(self, alpha: float, beta: float) -> None:
        self._alpha = alpha
        self._beta = beta
        self._made: dict[int, tuple[Floats, Floats, Floats]] = {}

    def of_degree(self, degree: int) -> tuple[Floats, Floats, Floats]:
        """Give `p`, `1 - p` and log-weights that integrate polynomials up to this degree.

        Both ends are exact to rounding: `1 - p` is not computed by subtraction near 1.
        """
        size = nodes_needed(degree)
        # sizes grow in steps of an eighth, so that few sets are made; more nodes are as exact
        step = max(1, 1 << max(0, size.bit_length() - 4))
        size = -(-size // step) * step
        if size not in self._made:
            self._made[size] = self._make(size)
        return self._made[size]

    def _make(self, size: int) -> tuple[Floats, Floats, Floats]:
        # most methods need no SciPy
        from scipy.special import roots_jacobi

        # weight (1 - x)^(beta - 1) (1 + x)^(alpha - 1) on [-1, 1], p = (1 + x) / 2
        with np.errstate(invalid="ignore"):  # of a branch that scipy does not take when alpha + beta is 1
            x, weights = roots_jacobi(size, self._beta - 1.0, self._alpha - 1.0)
        right, wrong = (1.0 + x) / 2.0, (1.0 - x) / 2.0
        positive = weights > 0  # the outermost weights of many nodes underflow
        logs = np.log(weights[positive]) - math.log(float(weights.sum()))
        return np.ascontiguousarray(right[positive]), np.ascontiguousarray(wrong[positive]), logs


def discrete_nodes(prior: Mapping[float, float]) -> tuple[Floats, Floats]:
    """Give accuracies and log-shares of a discrete prior, shares of 0 left out."""
    kept = sorted((float(point), float(share)) for point, share in prior.items() if share > 0)
    points, shares = np.array(kept).T
    return points, np.log(shares)
