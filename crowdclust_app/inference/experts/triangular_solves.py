"""Cholesky factors and what is solved with them, so that other threads get on meanwhile."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtrsm, dtrsv

from crowdclust_app.inference.aggregators.label_table import Floats

# scipy's triangular solver keeps the interpreter locked; in slices of so many operations the window stays alive.
_OPERATIONS = 6e7
# Columns of an inverse that are found at once.
_COLUMNS = 96
# Matrices up to this size are factored as they are.
_LEAST_HALVED = 160


class NotPositiveDefiniteError(ArithmeticError):
    """These sites and this prior have no proper Gaussian."""


def cholesky(matrix: Floats) -> Floats:
    """Factor a symmetric matrix; lower triangle, in C order.

    Raises
    ------
    NotPositiveDefiniteError
        When it is not positive definite.
    """
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise NotPositiveDefiniteError from None


def solve_lower(lower: Floats, right: Floats) -> Floats:
    """Solve `L X = B`.

    Parameters
    ----------
    lower : ndarray of shape (m, m)
        `L`, in C order.
    right : ndarray of shape (m, k)
        `B`; overwritten when it is in Fortran order.
    """
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
    return np.asarray(dtrsv(lower.T, right)) if len(right) else right


def inverse_of(lower: Floats) -> Floats:
    """`L^-1`; lower triangle, shape (m, m)."""
    size = len(lower)
    found = np.zeros((size, size), order="F")
    for begin in range(0, size, _COLUMNS):
        end = min(begin + _COLUMNS, size)
        # above these columns there is nothing
        part = np.zeros((size - begin, end - begin), order="F")
        part[np.diag_indices(end - begin)] = 1.0
        found[begin:, begin:end] = solve_lower(np.ascontiguousarray(lower[begin:, begin:]), part)
    return found


def factor_and_inverse(matrix: Floats) -> tuple[Floats, Floats]:
    """Factor a symmetric matrix and invert the factor, by halves: nearly all of it are products, which are quick.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Positive definite.

    Returns
    -------
    lower, inverse : ndarray of shape (m, m)
        `L` and `L^-1`, lower triangles in C order.

    Raises
    ------
    NotPositiveDefiniteError
        When it is not positive definite.
    """
    size = len(matrix)
    if size <= _LEAST_HALVED:
        lower = cholesky(matrix)
        return lower, inverse_of(lower)
    half = size // 2
    lower, inverse = np.zeros((size, size)), np.zeros((size, size))
    lower[:half, :half], first = factor_and_inverse(matrix[:half, :half])
    corner = matrix[half:, :half] @ first.T
    lower[half:, half:], second = factor_and_inverse(matrix[half:, half:] - corner @ corner.T)
    lower[half:, :half] = corner
    inverse[:half, :half], inverse[half:, half:] = first, second
    inverse[half:, :half] = -(second @ (corner @ first))
    return lower, inverse


def column_squares(matrix: Floats) -> Floats:
    """Sum the squares of each column; shape (k,)."""
    return np.asarray(np.einsum("ij,ij->j", matrix, matrix))
