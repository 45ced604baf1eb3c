"""Triangles of workers for triangular estimation, compiled, without the interpreter's lock."""

from __future__ import annotations

from numba import njit

from crowdclust_app.inference.binary.table import Codes, Floats


@njit(nogil=True, cache=True)
def best_pairs(
    begin: int, end: int, pointers: Codes, neighbours: Codes, agreement: Floats, mark: Floats, squared: Floats
) -> None:
    """For each worker `k` find the pair that overlaps with it and agrees or disagrees most, and estimate from it.

    Parameters
    ----------
    begin, end
        Range of workers.
    pointers, neighbours, agreement
        Compressed rows: for each worker those it overlaps with, and the mean product of their labels.
    mark : ndarray of shape (J,)
        Scratch space, zeros.
    squared : ndarray of shape (J,)
        Gets the estimate of the squared reliability of each worker in the range; 0 where there is no triangle.
    """
    for k in range(begin, end):
        first, last = pointers[k], pointers[k + 1]
        for at in range(first, last):
            mark[neighbours[at]] = 1.0
        best, left, right = 0.0, -1, -1
        for at in range(first, last):
            other = neighbours[at]
            for beyond in range(pointers[other], pointers[other + 1]):
                third = neighbours[beyond]
                if third > other and third != k and mark[third] > 0.0 and abs(agreement[beyond]) > best:
                    best, left, right = abs(agreement[beyond]), other, third
        product = 1.0
        for at in range(first, last):
            mark[neighbours[at]] = 0.0
            if neighbours[at] == left or neighbours[at] == right:
                product *= agreement[at]
        squared[k] = abs(product) / best if left >= 0 else 0.0
