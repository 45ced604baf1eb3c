"""Elementary symmetric polynomials: the other exact form of a worker's messages (liu2012 theorem 3.1).

Slower than quadrature for a Beta prior, and the check on it. Works for any prior through its moments
`psi(c, n) = E[q^c (1 - q)^(n - c)]`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.aggregators.label_table import Floats
from crowdclust_app.inference.aggregators.quadrature import discrete_nodes

# Below this many factors, multiplying out one after another is quicker than halving.
_SMALL = 64


def count_distribution(log_odds: Floats) -> Floats:
    """Distribution of how many of independent labels are right, by divide and conquer.

    The terms are the elementary symmetric polynomials of the odds, each divided by their sum. Every sum is of positive
    terms, so the smallest keep their digits; a Fourier transform loses those below `1e-16` of the largest, which a
    prior that favours extreme counts then brings back magnified.

    Parameters
    ----------
    log_odds : ndarray of shape (n,)
        That each label is right.

    Returns
    -------
    ndarray of shape (n + 1,)
        Probability of each count, none below 0.
    """
    if len(log_odds) <= _SMALL:
        result = np.ones(1)
        for right, wrong in zip(_sigmoid(log_odds), _sigmoid(-log_odds), strict=True):
            result = np.convolve(result, [wrong, right])
        return result
    half = len(log_odds) // 2
    left, right_part = count_distribution(log_odds[:half]), count_distribution(log_odds[half:])
    return np.convolve(left, right_part)


def messages(log_odds: Floats, log_psi: Callable[[NDArray[np.int64], int], Floats]) -> Floats:
    """Give each label's outgoing log-odds of being right, from the incoming ones of the others.

    Parameters
    ----------
    log_odds : ndarray of shape (n,)
        Incoming log-odds that each of a worker's labels is right.
    log_psi
        Log of `psi(c, n)` for an array of counts `c` and `n` labels.
    """
    n = len(log_odds)
    table = log_psi(np.arange(n + 1), n)
    scaled = np.exp(table - table.max())
    result = np.empty(n)
    for left_out in range(n):
        counts = count_distribution(np.delete(log_odds, left_out))
        result[left_out] = np.log(counts @ scaled[1:]) - np.log(counts @ scaled[:-1])
    return result


def beta_moments(alpha: float, beta: float) -> Callable[[NDArray[np.int64], int], Floats]:
    """Give `log psi` of a Beta prior."""
    from scipy.special import betaln

    return lambda counts, n: np.asarray(betaln(alpha + counts, beta + n - counts))


def discrete_moments(prior: dict[float, float]) -> Callable[[NDArray[np.int64], int], Floats]:
    """Give `log psi` of a discrete prior (minus infinity where no accuracy allows a count)."""
    points, log_shares = discrete_nodes(prior)

    def log_psi(counts: NDArray[np.int64], n: int) -> Floats:
        moments = [
            np.exp(share) * np.power(point, counts) * np.power(1.0 - point, n - counts)
            for point, share in zip(points, log_shares, strict=True)
        ]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.sum(moments, axis=0)))

    return log_psi


def _sigmoid(log_odds: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0.0, -log_odds)))
