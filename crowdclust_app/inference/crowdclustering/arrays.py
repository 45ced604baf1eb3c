"""The arrays that the kernels work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Dims = tuple[int, ...]


class Tiles(NamedTuple):
    """Responses as tiles, sorted by worker.

    Parameters
    ----------
    features : ndarray of shape ((P + D + 1) * ptr[-1],)
        The tiles one after another, each `(P + D + 1, padded size)` in C order.
    ptr : ndarray of shape (R + 1,)
        Where responses start, in padded positions.
    sizes : ndarray of shape (R,)
        Items in each response.
    workers : ndarray of shape (R,)
        Who gave it.
    items : ndarray of shape (ptr[-1],)
        Item at each padded position, -1 for padding.
    item_ptr, item_response, item_column : ndarray
        Response and column of every appearance of item `i`: entries `item_ptr[i]:item_ptr[i + 1]`.
    """

    features: Floats
    ptr: Ints
    sizes: Ints
    workers: Ints
    items: Ints
    item_ptr: Ints
    item_response: Ints
    item_column: Ints


class Judges(NamedTuple):
    """What the sums need of the workers.

    Parameters
    ----------
    weights : ndarray of shape (J, D, D)
        Means of the symmetric `W`.
    moments : ndarray of shape (J, P, P)
        Second moments `R` of `W`.
    bias, bias_variance : ndarray of shape (J,)
        Means `t` and variances `w` of the biases.
    """

    weights: Floats
    moments: Floats
    bias: Floats
    bias_variance: Floats


class Scratch(NamedTuple):
    """Working memory of the kernels.

    Parameters
    ----------
    curvature, pull : ndarray of shape (largest padded size,)
        `kappa lambda` and `kappa l / 2 + 2 kappa lambda t` of one item with its partners.
    coefficients, direction : ndarray of shape (P,) and (D,)
        `R Z_a` and `M m_a` of that item.
    partners, pulled : ndarray of shape (P,) and (D,)
        The partners' `Z` and `m`, summed with these weights.
    total, shift, precision : ndarray of shape (P,), (D,) and (D, D)
        Sums over an item's responses, and its posterior precision.
    vech_zeros, position_zeros
        Zeros, `P` and `D` of them.
    """

    curvature: Floats
    pull: Floats
    coefficients: Floats
    direction: Floats
    partners: Floats
    pulled: Floats
    total: Floats
    shift: Floats
    precision: Floats
    vech_zeros: tuple[float, ...]
    position_zeros: tuple[float, ...]
