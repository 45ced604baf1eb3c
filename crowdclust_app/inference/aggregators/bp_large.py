"""Messages of a worker with very many labels; compiled.

A few hundred weighted points stand for the labels (`bp_points`). Two coins are integrated by the trapezoid rule around
the peak.

The posterior of the two coins, in log-odds, is a smooth peak or ridge, and beyond it nothing counts. Nodes are set
along the first coin, and for each of them along the second around the top that it has there, so that a bent ridge is
followed. The trapezoid rule converges exponentially on what is smooth and dies away: a few hundred nodes do, however
many labels there are, while Gauss-Jacobi nodes over the whole square grow with them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.aggregators.bp_kernels import message, probabilities
from crowdclust_app.inference.aggregators.bp_points import gather, spread
from crowdclust_app.inference.aggregators.label_table import Codes, Floats

# Distance of the nodes in standard deviations of the peak, and the weight below the largest (natural log) from which on
# they are left out.
_STEP = 0.6
_NEGLIGIBLE = 30.0
# How many nodes are looked at together.
_PIECE = 8
# More rows or pieces than these on one side are of a posterior that is nearly flat, which ends there.
_MOST_ROWS, _MOST_PIECES = 150, 30
_NEWTON_STEPS = 60
# A step of Newton's that gains less than this in log-density is close enough to the top for where nodes go.
_AT_TOP = 1e-3
_TINY = 1e-300
# Log-odds of a coin further out are as good as certainty.
_FARTHEST = 36.0
_FAST = {"reassoc", "contract"}
Points = tuple[Floats, Floats, Codes, Codes]
"""Points in the place of labels: probability of the second class, weight, and the answers."""


@njit(nogil=True, cache=True)
def _coin(x: float) -> tuple[float, float]:
    """A coin of these log-odds and one minus it, both exact near 0."""
    if x >= 0:
        power = math.exp(-x)
        return 1.0 / (1.0 + power), power / (1.0 + power)
    power = math.exp(x)
    return power / (1.0 + power), 1.0 / (1.0 + power)


@njit(nogil=True, cache=True)
def _power(ones: int, zeros: int, right: float, wrong: float) -> float:
    if ones == 1 and zeros == 0:
        return right
    if ones == 0 and zeros == 1:
        return wrong
    return math.exp(ones * math.log(right + _TINY) + zeros * math.log(wrong + _TINY))


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _slopes(x: float, y: float, points: Points, alpha: float, beta: float, into: Floats) -> float:
    """Log of the density at log-odds `(x, y)`; its slopes (2) and curvatures (xx, xy, yy) go `into` an array."""
    a, na = _coin(x)
    b, nb = _coin(y)
    both = alpha + beta
    value = alpha * (math.log(a) + math.log(b)) + beta * (math.log(na) + math.log(nb))
    into[0], into[1] = alpha - both * a, alpha - both * b
    into[2], into[3], into[4] = -both * a * na, 0.0, -both * b * nb
    up, down, of_up, of_down, curve_up, curve_down = 1.0, 1.0, 0.0, 0.0, 0.0, 0.0
    odds, weights, ones, zeros = points
    for e in range(len(odds)):
        if e == 0 or ones[e] != ones[e - 1] or zeros[e] != zeros[e - 1]:
            n = ones[e] + zeros[e]
            up, down = _power(ones[e], zeros[e], a, na), _power(ones[e], zeros[e], nb, b)
            of_up, of_down = ones[e] - n * a, zeros[e] - n * b
            curve_up, curve_down = of_up * of_up - n * a * na, of_down * of_down - n * b * nb
        true, false = odds[e] * up, (1.0 - odds[e]) * down
        factor = true + false + _TINY
        true, false = true / factor, false / factor
        value += weights[e] * math.log(factor)
        into[0] += weights[e] * true * of_up
        into[1] += weights[e] * false * of_down
        into[2] += weights[e] * (true * curve_up - (true * of_up) ** 2)
        into[3] -= weights[e] * true * of_up * false * of_down
        into[4] += weights[e] * (false * curve_down - (false * of_down) ** 2)
    return value


@njit(nogil=True, cache=True)
def _climb(points: Points, alpha: float, beta: float, peak: Floats, slopes: Floats) -> None:
    """Move `peak` to the top by damped Newton steps; `slopes` are those there."""
    value = _slopes(peak[0], peak[1], points, alpha, beta, slopes)
    tried = np.empty(5)
    damping = 0.0
    for _ in range(_NEWTON_STEPS):
        xx, xy, yy = damping - slopes[2], -slopes[3], damping - slopes[4]
        determinant = xx * yy - xy * xy
        if xx <= 0 or determinant <= 1e-12 * xx * abs(yy):
            damping = max(4.0 * damping, 1e-3 * (abs(slopes[2]) + abs(slopes[4])))
            continue
        dx = (yy * slopes[0] - xy * slopes[1]) / determinant
        dy = (xx * slopes[1] - xy * slopes[0]) / determinant
        gain = dx * slopes[0] + dy * slopes[1]
        if gain < _AT_TOP:
            return
        dx, dy = max(-4.0, min(4.0, dx)), max(-4.0, min(4.0, dy))
        x, y = max(-_FARTHEST, min(_FARTHEST, peak[0] + dx)), max(-_FARTHEST, min(_FARTHEST, peak[1] + dy))
        there = _slopes(x, y, points, alpha, beta, tried)
        if there > value:
            value, peak[0], peak[1] = there, x, y
            slopes[:] = tried
            damping *= 0.25
        else:
            damping = max(4.0 * damping, 1e-3 * (abs(slopes[2]) + abs(slopes[4])))


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _row(points: Points, a: float, na: float, b: Floats, nb: Floats, logs: Floats) -> None:
    """Add the log of all factors to `logs`, where the first coin is `a` and the second each of `b`."""
    width = len(b)
    odds, weights, ones, zeros = points
    down = np.empty(width)
    up = 1.0
    for e in range(len(odds)):
        if e == 0 or ones[e] != ones[e - 1] or zeros[e] != zeros[e - 1]:
            up = _power(ones[e], zeros[e], a, na)
            for v in range(width):
                down[v] = _power(ones[e], zeros[e], nb[v], b[v])
        s, c = odds[e] * up, 1.0 - odds[e]
        for v in range(width):
            logs[v] += weights[e] * math.log(s + c * down[v] + _TINY)


@njit(nogil=True, cache=True)
def _top_of_row(x: float, y: float, points: Points, alpha: float, beta: float, slopes: Floats) -> tuple[float, float]:
    """The second coin's log-odds at which the density is highest for this first coin, and its standard deviation."""
    value = _slopes(x, y, points, alpha, beta, slopes)
    slope, curve = slopes[1], min(slopes[4], -1e-3)
    reach = 2.0
    for _ in range(_NEWTON_STEPS):
        if slope * slope < -_AT_TOP * curve:
            break
        there = max(-_FARTHEST, min(_FARTHEST, y + max(-reach, min(reach, -slope / curve))))
        higher = _slopes(x, there, points, alpha, beta, slopes)
        if higher > value:
            value, y, slope, curve = higher, there, slopes[1], min(slopes[4], -1e-3)
        elif reach < 1e-3:
            break
        else:
            reach = 0.25 * min(reach, abs(there - y))
    return y, 1.0 / math.sqrt(-curve)


@njit(nogil=True, cache=True)
def _add_piece(
    x: float, y: float, step: float, points: Points, alpha: float, beta: float, nodes: Floats, used: int,
) -> tuple[float, float]:  # fmt: skip
    """Write the nodes `y`, `y + step`... of a row into `nodes`; the log-weights of the last one, and of the highest."""
    a, na = _coin(x)
    b, nb, logs = np.empty(_PIECE), np.empty(_PIECE), np.empty(_PIECE)
    # log of a coin and of one minus it, without rounding either to 0
    of_a = -alpha * math.log1p(math.exp(-x)) - beta * math.log1p(math.exp(x)) + math.log(abs(step))
    for v in range(_PIECE):
        at = y + step * v
        b[v], nb[v] = _coin(at)
        logs[v] = of_a - alpha * math.log1p(math.exp(-at)) - beta * math.log1p(math.exp(at))
    _row(points, a, na, b, nb, logs)
    for v in range(_PIECE):
        nodes[0, used + v], nodes[1, used + v] = a, na
        nodes[2, used + v], nodes[3, used + v] = b[v], nb[v]
        nodes[4, used + v] = logs[v]
    return logs[_PIECE - 1], logs.max()


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def one_coin_messages_of_many(
    incoming: Floats, ones: Codes, zeros: Codes, p: Floats, r: Floats, log_weights: Floats, out: Floats
) -> None:
    """Write the messages of a worker with one coin; the same as `bp_kernels.one_coin_messages`, parameters too."""
    first, places, weights, point_ones, point_zeros = gather(incoming, ones, zeros)
    points = (probabilities(places), weights, point_ones, point_zeros)
    logs = log_weights.copy()
    nodes = np.empty((5, len(p)))
    nodes[0], nodes[1], nodes[2], nodes[3] = p, r, p, r
    odds = points[0]
    for k in range(len(p)):
        up, down = 1.0, 1.0
        for e in range(len(odds)):
            if e == 0 or point_ones[e] != point_ones[e - 1] or point_zeros[e] != point_zeros[e - 1]:
                up = _power(point_ones[e], point_zeros[e], p[k], r[k])
                down = _power(point_ones[e], point_zeros[e], r[k], p[k])
            logs[k] += weights[e] * math.log(odds[e] * up + (1.0 - odds[e]) * down + _TINY)
    nodes[4] = logs
    at_points = np.empty(len(places))
    _sum_nodes(points, nodes, logs.max(), at_points)
    spread(incoming, first, at_points, out)


@njit(nogil=True, cache=True)
def two_coin_messages_of_many(
    incoming: Floats, ones: Codes, zeros: Codes, alpha: float, beta: float, peak: Floats, out: Floats
) -> None:
    """Write the messages of a worker with a sensitivity and a specificity, both of the same Beta prior.

    Parameters
    ----------
    incoming, ones, zeros, out
        As in `bp_kernels.one_coin_messages`.
    alpha, beta
        The prior.
    peak : ndarray of shape (2,)
        Log-odds of the two coins at the peak in the last round, or where to begin; changed in place.
    """
    first, places, weights, point_ones, point_zeros = gather(incoming, ones, zeros)
    points = (probabilities(places), weights, point_ones, point_zeros)
    slopes = np.empty(5)
    _climb(points, alpha, beta, peak, slopes)
    xx, xy, yy = max(-slopes[2], 1e-3), -slopes[3], max(-slopes[4], 1e-3)
    x_step = _STEP * math.sqrt(yy / max(xx * yy - xy * xy, 1e-4 * xx * yy))
    nodes = np.empty((5, 64 * _PIECE))
    used = 0
    highest = -np.inf
    for direction in (1, -1):
        y, before = peak[1], peak[1]
        for row in range(_MOST_ROWS):
            if direction < 0 and row == 0:
                continue
            x = peak[0] + direction * row * x_step
            # the ridge goes on as it went
            y, before = 2.0 * y - before, y
            y, deviation = _top_of_row(x, y, points, alpha, beta, slopes)
            of_row = -np.inf
            for side in (1, -1):
                step = side * _STEP * deviation
                begin = y if side > 0 else y + step
                for piece in range(_MOST_PIECES):
                    if used + _PIECE > nodes.shape[1]:
                        larger = np.empty((5, 2 * nodes.shape[1]))
                        larger[:, :used] = nodes[:, :used]
                        nodes = larger
                    last, most = _add_piece(x, begin + step * piece * _PIECE, step, points, alpha, beta, nodes, used)
                    used += _PIECE
                    of_row, highest = max(of_row, most), max(highest, most)
                    if last < highest - _NEGLIGIBLE:
                        break
            if of_row < highest - _NEGLIGIBLE or abs(x) > 2.0 * _FARTHEST:
                break
    at_points = np.empty(len(places))
    _sum_nodes(points, nodes[:, :used], highest, at_points)
    spread(incoming, first, at_points, out)


@njit(nogil=True, cache=True)
def _sum_nodes(points: Points, nodes: Floats, highest: float, out: Floats) -> None:
    """Write the messages from the coins and log-weights of the nodes."""
    odds, _, ones, zeros = points
    chosen = np.flatnonzero(nodes[4] > highest - _NEGLIGIBLE)
    a, na, b, nb = nodes[0][chosen], nodes[1][chosen], nodes[2][chosen], nodes[3][chosen]
    weight = np.exp(nodes[4][chosen] - highest)
    up, down = np.empty(len(chosen)), np.empty(len(chosen))
    for e in range(len(odds)):
        if e == 0 or ones[e] != ones[e - 1] or zeros[e] != zeros[e - 1]:
            for k in range(len(chosen)):
                up[k] = _power(ones[e], zeros[e], a[k], na[k])
                down[k] = _power(ones[e], zeros[e], nb[k], b[k])
        out[e] = message(odds[e], weight, up, down)
