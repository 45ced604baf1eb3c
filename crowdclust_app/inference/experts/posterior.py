"""Gaussian posteriors from sites of either sign, by Cholesky factors: of every covariance or of a factor of low rank.

`Sigma = (K^-1 + diag tau)^-1`, `mu = Sigma nu`. Precisions `tau` may be negative where labels contradict the features;
the posterior is proper all the same as long as the factorisations exist, and `NotPositiveDefiniteError` is raised
where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.aggregators.label_table import Floats
from crowdclust_app.inference.experts.triangular_solves import (
    NotPositiveDefiniteError,
    cholesky,
    column_squares,
    factor_and_inverse,
    inverse_of,
    solve_lower,
    solve_upper,
)

# Precisions below this share of the prior's say too little to find a variance from what they leave.
_SMALL = 1e-3


class GaussianPosterior(Protocol):
    """A Gaussian posterior of the function's values at the sites: marginals, and `logdet(I + K diag tau)`."""

    mean: Floats
    variance: Floats
    log_determinant: float

    def predict(self, cross: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of new values; shape (k,) each."""
        ...


class Engine(Protocol):
    """A prior at fixed sites, from which posteriors are made."""

    def posterior(self, precision: Floats, shift: Floats) -> GaussianPosterior:
        """Combine the prior with sites `tau`, `nu`; shape (n,) each."""
        ...


@dataclass(slots=True)
class DensePosterior:
    """Posterior of `n` values with all covariances.

    With `S` the roots of the precisions' sizes and `D` their signs, `Sigma = K - K S M^-1 S K` where
    `M = D + S K S`; `M` is kept by blocks of positive and negative precisions.

    Parameters
    ----------
    mean, variance : ndarray of shape (n,)
        Marginals.
    log_determinant
        Of `I + K diag tau`.
    weights : ndarray of shape (n,)
        `b = K^-1 mu`, without a solve.
    blocks
        What is needed of `M`.
    """

    mean: Floats
    variance: Floats
    log_determinant: float
    weights: Floats
    blocks: Blocks

    def inner_inverse(self) -> Floats:
        """`R = (K + diag(tau)^-1)^-1 = diag tau - diag tau Sigma diag tau`; shape (n, n)."""
        return self.blocks.scaled_inverse(len(self.mean))

    def predict(self, cross: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Predict new values.

        Parameters
        ----------
        cross : ndarray of shape (n, k)
            Prior covariances with the values at the sites.
        variance : ndarray of shape (k,)
            Prior variances.

        Returns
        -------
        mean, variance : ndarray of shape (k,)
        """
        return self.weights @ cross, np.maximum(variance + self.blocks.variance_change(cross), 0.0)


@dataclass(slots=True)
class Blocks:
    """The blocks of `M = D + S K S`.

    Parameters
    ----------
    positive, negative : ndarray
        Sites of positive and of negative precision.
    roots_positive, roots_negative : ndarray
        Their `S`.
    lower : ndarray of shape (p, p)
        `L` of `B = I + S_p K_pp S_p = L L'`.
    inverse : ndarray of shape (p, p)
        `L^-1`.
    V : ndarray of shape (p, q)
        `L^-1 S_p K_pn`.
    lower_negative : ndarray of shape (q, q)
        Factor of `A = I - S_n (K_nn - V'V) S_n`.
    H : ndarray of shape (q, p)
        `LA^-1 S_n V' L^-1`.
    """

    positive: NDArray[np.int64]
    negative: NDArray[np.int64]
    roots_positive: Floats
    roots_negative: Floats
    lower: Floats
    inverse: Floats
    V: Floats
    lower_negative: Floats
    H: Floats

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """`M^-1 g` for a vector `g` of shape (n,); its entries at positive and at negative precisions."""
        of_p, of_n = right[self.positive], right[self.negative]
        of_negative = np.empty(0)
        of_positive = self.inverse.T @ (self.inverse @ of_p)
        if len(self.negative):
            inner = np.asarray(solve_lower(self.lower_negative, of_n[:, None]))[:, 0] - self.H @ of_p
            of_negative = -solve_upper(self.lower_negative, inner)
            of_positive = of_positive + self.H.T @ inner
        return of_positive, of_negative

    def diagonal(self) -> tuple[Floats, Floats]:
        """The diagonal of `M^-1`, at positive and at negative precisions."""
        of_positive = column_squares(self.inverse)
        if not len(self.negative):
            return of_positive, np.empty(0)
        return of_positive - column_squares(self.H), -column_squares(inverse_of(self.lower_negative))

    def variance_change(self, cross: Floats) -> Floats:
        """`Sigma - K` on the diagonal for values with these covariances (n, k) with the sites; shape (k,)."""
        V = solve_lower(self.lower, (cross[self.positive].T * self.roots_positive).T)
        change = -column_squares(V)
        if len(self.negative):
            part = (cross[self.negative] - self.V.T @ V) * self.roots_negative[:, None]
            change += column_squares(solve_lower(self.lower_negative, part))
        return change

    def scaled_inverse(self, count: int) -> Floats:
        """`S M^-1 S`; 0 in rows and columns of sites without effect; shape (n, n)."""
        p = len(self.positive)
        whole = np.zeros((p + len(self.negative),) * 2)
        whole[:p, :p] = self.inverse.T @ self.inverse
        if len(self.negative):
            whole[:p, :p] -= self.H.T @ self.H
            of_negative = inverse_of(self.lower_negative)
            whole[p:, p:] = -(of_negative.T @ of_negative)
            whole[p:, :p] = of_negative.T @ self.H
            whole[:p, p:] = whole[p:, :p].T
        roots = np.concatenate([self.roots_positive, self.roots_negative])
        whole *= roots
        whole *= roots[:, None]
        order = np.concatenate([self.positive, self.negative])
        found = np.zeros((count, count))
        found[np.ix_(order, order)] = whole
        return found


class DenseEngine:
    """The prior with every covariance; its posterior costs `2/3 n^3` and never inverts `K`, which may be singular.

    Parameters
    ----------
    covariances : ndarray of shape (n, n)
        `K`.
    """

    def __init__(self, covariances: Floats) -> None:
        self.covariances = covariances
        self._diagonal = np.diagonal(covariances).copy()

    def posterior(self, precision: Floats, shift: Floats) -> DensePosterior:
        """Combine with sites (docs/experts.md, section 3, with the variances from the diagonal of `M^-1`).

        Raises
        ------
        NotPositiveDefiniteError
            When there is no proper Gaussian.
        """
        K = self.covariances
        blocks, log_determinant = self._factor(precision)
        positive, negative = blocks.positive, blocks.negative
        known = K @ shift
        scaled = np.sqrt(np.abs(precision)) * known
        weights = shift.copy()
        of_positive, of_negative = blocks.solve(scaled)
        weights[positive] -= blocks.roots_positive * of_positive
        weights[negative] -= blocks.roots_negative * of_negative
        variance = self._variance(precision, blocks)
        if not (variance > 0).all():
            raise NotPositiveDefiniteError
        return DensePosterior(K @ weights, variance, log_determinant, weights, blocks)

    def _factor(self, precision: Floats) -> tuple[Blocks, float]:
        K = self.covariances
        positive, negative = np.flatnonzero(precision > 0), np.flatnonzero(precision < 0)
        roots, negative_roots = np.sqrt(precision[positive]), np.sqrt(-precision[negative])
        B = (K if len(positive) == len(precision) else K[np.ix_(positive, positive)]) * roots
        B *= roots[:, None]
        B[np.diag_indices_from(B)] += 1.0
        lower, inverse = factor_and_inverse(B)
        log_determinant = 2.0 * float(np.log(np.diagonal(lower)).sum())
        V, lower_negative, H = np.empty((len(positive), 0)), np.empty((0, 0)), np.empty((0, len(positive)))
        if len(negative):
            V = inverse @ (K[np.ix_(positive, negative)] * roots[:, None])
            A = (K[np.ix_(negative, negative)] - V.T @ V) * -negative_roots
            A *= negative_roots[:, None]
            A[np.diag_indices_from(A)] += 1.0
            lower_negative = cholesky(A)
            log_determinant += 2.0 * float(np.log(np.diagonal(lower_negative)).sum())
            H = solve_lower(lower_negative, ((inverse.T @ V) * negative_roots).T)
        return Blocks(positive, negative, roots, negative_roots, lower, inverse, V, lower_negative, H), log_determinant

    def _variance(self, precision: Floats, blocks: Blocks) -> Floats:
        """`(D - diag M^-1) / |tau|`, or directly where `tau` is so small that nothing would be left of the digits."""
        variance = np.empty(len(precision))
        of_positive, of_negative = blocks.diagonal()
        variance[blocks.positive] = (1.0 - of_positive) / precision[blocks.positive]
        variance[blocks.negative] = (1.0 + of_negative) / precision[blocks.negative]
        small = np.flatnonzero(np.abs(precision) * self._diagonal < _SMALL)
        if len(small):
            variance[small] = self._diagonal[small] + blocks.variance_change(self.covariances[:, small])
        return variance


@dataclass(slots=True)
class FactorPosterior:
    """Posterior under a prior `K = F F'` of rank `m`.

    Parameters
    ----------
    mean, variance : ndarray of shape (n,)
        Marginals.
    log_determinant
        Of `I + K diag tau`.
    """

    mean: Floats
    variance: Floats
    log_determinant: float
    lower: Floats
    weights: Floats

    def predict(self, factor: Floats, left_over: Floats) -> tuple[Floats, Floats]:
        """Predict new values.

        Parameters
        ----------
        factor : ndarray of shape (m, k)
            `l* = Lzz^-1 k_z*`.
        left_over : ndarray of shape (k,)
            Prior variance that the factor does not have.

        Returns
        -------
        mean, variance : ndarray of shape (k,)
        """
        mean = self.weights @ factor
        spread = column_squares(solve_lower(self.lower, np.array(factor, order="F")))
        return mean, spread + left_over


class FactorEngine:
    """The prior `K = F F'`; its posterior costs `2 n m^2`.

    Parameters
    ----------
    factor : ndarray of shape (n, m)
        `F`.
    """

    def __init__(self, factor: Floats) -> None:
        self.factor = factor

    def posterior(self, precision: Floats, shift: Floats) -> FactorPosterior:
        """Combine with sites of either sign.

        Raises
        ------
        NotPositiveDefiniteError
            When there is no proper Gaussian.
        """
        F = self.factor
        M = F.T @ (F * precision[:, None])
        M[np.diag_indices_from(M)] += 1.0
        lower = cholesky(M)
        # a product by the inverse rather than a solve: it leaves the interpreter to others
        inverse = inverse_of(lower)
        variance = column_squares(inverse @ F.T)
        if not (variance > 0).all():
            raise NotPositiveDefiniteError
        weights = inverse.T @ (inverse @ (shift @ F))
        log_determinant = 2.0 * float(np.log(np.diagonal(lower)).sum())
        return FactorPosterior(F @ weights, variance, log_determinant, lower, weights)
