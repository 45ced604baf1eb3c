"""Gaussian posteriors from sites of either sign, by Cholesky factors: of every covariance or of a factor of low rank.

`Sigma = (K^-1 + diag tau)^-1`, `mu = Sigma nu`. Precisions `tau` may be negative where labels contradict the features;
the posterior is proper all the same as long as the factorisations exist, and `Improper` is raised where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.binary.table import Floats

# scipy's triangular solver keeps the interpreter locked; in slices of so many operations the window stays alive.
_OPERATIONS = 1.5e8


class Improper(ArithmeticError):  # noqa: N818 - an answer of the algebra, on which the step is shortened
    """These sites and this prior have no proper Gaussian."""


class Posterior(Protocol):
    """A Gaussian posterior of the function's values at the sites: marginals, and `logdet(I + K diag tau)`."""

    mean: Floats
    variance: Floats
    log_determinant: float

    def predict(self, cross: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of new values; shape (k,) each."""
        ...


class Engine(Protocol):
    """A prior at fixed sites, from which posteriors are made."""

    def posterior(self, precision: Floats, shift: Floats) -> Posterior:
        """Combine the prior with sites `tau`, `nu`; shape (n,) each."""
        ...


def cholesky(matrix: Floats) -> Floats:
    """Factor a symmetric matrix; lower triangle, in C order.

    Raises
    ------
    Improper
        When it is not positive definite.
    """
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise Improper from None


def solve_lower(lower: Floats, right: Floats) -> Floats:
    """Solve `L X = B`.

    Parameters
    ----------
    lower : ndarray of shape (m, m)
        `L`, in C order.
    right : ndarray of shape (m, k)
        `B`; overwritten when it is in Fortran order.
    """
    from scipy.linalg.blas import dtrsm

    right = np.asfortranarray(right)
    rows, columns = right.shape
    if not rows or not columns:
        return right
    step = max(16, int(_OPERATIONS / (rows * rows)))
    for begin in range(0, columns, step):
        part = right[:, begin : begin + step]
        done = dtrsm(1.0, lower.T, part, lower=0, trans_a=1, overwrite_b=1)
        if not np.shares_memory(done, part):
            part[:] = done
    return right


def solve_upper(lower: Floats, right: Floats) -> Floats:
    """Solve `L' x = b`; shapes (m, m), (m,)."""
    from scipy.linalg.blas import dtrsv

    return np.asarray(dtrsv(lower.T, right)) if len(right) else right


def column_squares(matrix: Floats) -> Floats:
    """Sum the squares of each column; shape (k,)."""
    return np.asarray(np.einsum("ij,ij->j", matrix, matrix))


@dataclass(slots=True)
class DensePosterior:
    """Posterior of `n` values with all covariances.

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
    covariances: Floats
    precision: Floats
    shift: Floats
    above: NDArray[np.int64]
    below: NDArray[np.int64]
    lower: Floats
    V: Floats
    lower_below: Floats
    U: Floats

    @property
    def weights(self) -> Floats:
        """`b = nu - tau mu`, which is `K^-1 mu` without a solve; shape (n,)."""
        return self.shift - self.precision * self.mean

    def covariance(self) -> Floats:
        """`Sigma` in full; shape (n, n)."""
        sigma = self.covariances - self.V.T @ self.V
        if len(self.below):
            sigma += self.U.T @ self.U
        return sigma

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
        mean = self.weights @ cross
        roots = np.sqrt(self.precision[self.above])
        V = solve_lower(self.lower, (cross[self.above].T * roots).T)
        left = variance - column_squares(V)
        if len(self.below):
            part = cross[self.below] - self.V[:, self.below].T @ V
            roots = np.sqrt(-self.precision[self.below])
            left += column_squares(solve_lower(self.lower_below, roots[:, None] * part))
        return mean, np.maximum(left, 0.0)


class DenseEngine:
    """The prior with every covariance; its posterior costs `4/3 n^3` and never inverts `K`, which may be singular.

    Parameters
    ----------
    covariances : ndarray of shape (n, n)
        `K`.
    """

    def __init__(self, covariances: Floats) -> None:
        self.covariances = covariances
        self._diagonal = np.diagonal(covariances).copy()

    def posterior(self, precision: Floats, shift: Floats) -> DensePosterior:
        """Combine with sites (section 3 of the derivation).

        Raises
        ------
        Improper
            When there is no proper Gaussian.
        """
        K = self.covariances
        above, below = np.flatnonzero(precision > 0), np.flatnonzero(precision < 0)
        everywhere = len(above) == len(precision)
        roots = np.sqrt(precision[above])
        scaled = (K if everywhere else K[:, above]) * roots  # (n, p), in C order: its transpose is in Fortran order
        B = (scaled if everywhere else scaled[above]) * roots[:, None]
        B[np.diag_indices_from(B)] += 1.0
        lower = cholesky(B)
        V = solve_lower(lower, scaled.T)
        variance = self._diagonal - column_squares(V)
        mean = K @ shift - V.T @ (V @ shift)
        log_determinant = 2.0 * float(np.log(np.diagonal(lower)).sum())
        lower_below, U = np.empty((0, 0)), np.empty((0, len(precision)))
        if len(below):
            against = np.sqrt(-precision[below])
            cross = (K[:, below] - V.T @ V[:, below]) * against
            A = -cross[below] * against[:, None]
            A[np.diag_indices_from(A)] += 1.0
            lower_below = cholesky(A)
            U = solve_lower(lower_below, cross.T)
            variance = variance + column_squares(U)
            mean = mean + U.T @ (U @ shift)
            log_determinant += 2.0 * float(np.log(np.diagonal(lower_below)).sum())
        if not (variance > 0).all():
            raise Improper
        return DensePosterior(
            mean, variance, log_determinant, K, precision, shift, above, below, lower, V, lower_below, U
        )


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
        Improper
            When there is no proper Gaussian.
        """
        F = self.factor
        M = F.T @ (F * precision[:, None])
        M[np.diag_indices_from(M)] += 1.0
        lower = cholesky(M)
        W = solve_lower(lower, np.array(F, order="C").T)
        variance = column_squares(W)
        if not (variance > 0).all():
            raise Improper
        inner = W @ shift
        weights = solve_upper(lower, inner)
        log_determinant = 2.0 * float(np.log(np.diagonal(lower)).sum())
        return FactorPosterior(inner @ W, variance, log_determinant, lower, weights)
