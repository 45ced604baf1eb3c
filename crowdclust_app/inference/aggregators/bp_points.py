"""A few weighted points in the place of very many incoming messages; compiled, without the interpreter's lock.

Whatever belief propagation sums over a worker's labels, and whatever it sends back, is a smooth function of the
log-odds that come in: analytic as long as their imaginary part stays below pi. On a cell of the log-odds that is
narrow beside pi, a polynomial through Chebyshev points is therefore exact to about 1e-13. So a sum over the labels of a
cell is one over its points, with weights that depend on the labels alone (the transpose of interpolation), and the
messages are found at the points and interpolated. Sums then cost the same however many labels there are.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.aggregators.label_table import Codes, Floats

# Points to a cell, and its width in log-odds: the error falls like 3.4 ** -points.
_POINTS = 24
_WIDTH = 4.0
# Log-odds further out are as good as certainty, to a double.
_FARTHEST = 36.0
_CELLS = int(2 * _FARTHEST / _WIDTH)


@njit(nogil=True, cache=True)
def _place(x: float) -> tuple[int, float]:
    """The cell of log-odds, and where they are in it, from -1 to 1."""
    at = (max(-_FARTHEST, min(_FARTHEST, x)) + _FARTHEST) / _WIDTH
    cell = min(_CELLS - 1, int(at))
    return cell, 2.0 * (at - cell) - 1.0


@njit(nogil=True, cache=True)
def _polynomials() -> Floats:
    """Chebyshev polynomials `k` at the points `j`, times what makes them their own inverse; shape (k, j)."""
    table = np.empty((_POINTS, _POINTS))
    for k in range(_POINTS):
        for j in range(_POINTS):
            table[k, j] = math.cos(math.pi * k * (j + 0.5) / _POINTS) * (1.0 if k == 0 else 2.0) / _POINTS
    return table


@njit(nogil=True, cache=True)
def gather(incoming: Floats, ones: Codes, zeros: Codes) -> tuple[Codes, Floats, Floats, Codes, Codes]:
    """Weighted points that stand for a worker's labels.

    Parameters
    ----------
    incoming, ones, zeros : ndarray of shape (n,)
        As in `bp_kernels.one_coin_messages`, sorted by `(ones, zeros)`.

    Returns
    -------
    first : ndarray of shape (n,)
        The first point of each label's cell; or, negative, `-1 - point` of a label that stands for itself because
        there are few in its cell.
    odds, weights : ndarray of shape (P,)
        The points' log-odds, and how many labels each stands for: not a whole number, and it may be negative.
    point_ones, point_zeros : ndarray of shape (P,)
        Their answers, sorted as the labels are.
    """
    n = len(incoming)
    first = np.empty(n, dtype=np.int64)
    odds, weights = np.empty(n), np.empty(n)
    point_ones, point_zeros = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    table = _polynomials()
    used, begin = 0, 0
    while begin < n:
        end = begin + 1
        while end < n and ones[end] == ones[begin] and zeros[end] == zeros[begin]:
            end += 1
        counts = np.zeros(_CELLS, dtype=np.int64)
        for e in range(begin, end):
            counts[_place(incoming[e])[0]] += 1
        of_cell = np.full(_CELLS, -1, dtype=np.int64)
        from_here = used
        for cell in range(_CELLS):
            if counts[cell] > _POINTS:
                of_cell[cell] = used
                used += _POINTS
        moments = np.zeros((_CELLS, _POINTS))
        for e in range(begin, end):
            cell, x = _place(incoming[e])
            if of_cell[cell] < 0:
                odds[used], weights[used] = incoming[e], 1.0
                first[e] = -1 - used
                used += 1
                continue
            first[e] = of_cell[cell]
            before, now = 1.0, x
            row = moments[cell]
            for k in range(_POINTS):
                row[k] += before
                before, now = now, 2.0 * x * now - before
        for cell in range(_CELLS):
            if of_cell[cell] >= 0:
                points = slice(of_cell[cell], of_cell[cell] + _POINTS)
                for j in range(_POINTS):
                    x = math.cos(math.pi * (j + 0.5) / _POINTS)
                    odds[of_cell[cell] + j] = (cell + 0.5 * (x + 1.0)) * _WIDTH - _FARTHEST
                weights[points] = (moments[cell].reshape(-1, 1) * table).sum(axis=0)
        point_ones[from_here:used], point_zeros[from_here:used] = ones[begin], zeros[begin]
        begin = end
    return first, odds[:used], weights[:used], point_ones[:used], point_zeros[:used]


@njit(nogil=True, cache=True)
def spread(incoming: Floats, first: Codes, at_points: Floats, out: Floats) -> None:
    """Write what each label gets from what was found `at_points`, shape (P,); `first` is from `gather`."""
    table = _polynomials()
    coefficients = np.zeros((len(at_points), _POINTS))
    known = np.zeros(len(at_points), dtype=np.bool_)
    for e in range(len(incoming)):
        point = first[e]
        if point < 0:
            out[e] = at_points[-1 - point]
            continue
        row = coefficients[point]
        if not known[point]:
            known[point] = True
            for k in range(_POINTS):
                row[k] = (table[k] * at_points[point : point + _POINTS]).sum()
        _, x = _place(incoming[e])
        before, now, total = 1.0, x, 0.0
        for k in range(_POINTS):
            total += row[k] * before
            before, now = now, 2.0 * x * now - before
        out[e] = total
