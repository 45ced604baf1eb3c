"""Triangles of workers for triangular estimation, compiled, without the interpreter's lock."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from crowdclust_app.inference.aggregators.label_table import Codes, Floats


@njit(nogil=True, cache=True)
def best_pairs(
    begin: int,
    end: int,
    pointers: Codes,
    neighbours: Codes,
    agreement: Floats,
    mark: Floats,
    present: NDArray[np.bool_],
    squared: Floats,
) -> None:
    """For each worker `k` find the pair that overlaps with it and agrees or disagrees most, and estimate from it.

    Of several such pairs the mean counts, so that names decide nothing.

    Parameters
    ----------
    begin, end
        Range of workers.
    pointers, neighbours, agreement
        Compressed rows: for each worker those it overlaps with, and the mean product of their labels, those of the
        largest size first.
    mark, present : ndarray of shape (J,)
        Scratch space; `present` is False throughout.
    squared : ndarray of shape (J,)
        Gets the estimate of the squared reliability of each worker in the range; 0 where there is no triangle.
    """
    for k in range(begin, end):
        first, last = pointers[k], pointers[k + 1]
        for at in range(first, last):
            mark[neighbours[at]] = agreement[at]
            present[neighbours[at]] = True
        best, total, ties = 0.0, 0.0, 0
        for at in range(first, last):
            other = neighbours[at]
            for beyond in range(pointers[other], pointers[other + 1]):
                third = neighbours[beyond]
                size = abs(agreement[beyond])
                if size == 0.0 or size < best:
                    break
                if third <= other or third == k or not present[third]:
                    continue
                if size > best:
                    best, total, ties = size, 0.0, 0
                total += abs(agreement[at] * mark[third]) / size
                ties += 1
        for at in range(first, last):
            present[neighbours[at]] = False
        squared[k] = total / ties if ties else 0.0
