"""Messages from one worker to its tasks, by quadrature; compiled, without the interpreter's lock.

Messages are log-odds of the second class. An edge that says the second class `u` times and the first `v` times has the
factor `s U + (1 - s) D`, with `s` the probability of the second class that comes in along it, and `U` and `D` the
probabilities of those answers in either class. The edges of a worker are sorted by `(u, v)`, so that `U` and `D` change
seldom. A factor common to `U` and `D` cancels, and keeps powers within range.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.aggregators.label_table import Codes, Floats

# Factors multiplied before a logarithm is taken: no product of this many leaves the range of a double.
_BLOCK = 16
# Powers of ten that a product may use up before its logarithm is taken; repeats of one edge may come on top.
_RANGE = 150.0
# Weights this much below the largest (natural log) add nothing.
_NEGLIGIBLE = 30.0
# Half the width of the first square of nodes around the peak: there are at least 1.1 nodes to a standard deviation.
_HALF_WIDTH = 12
# Nodes around those that count which are looked at again in the next round.
_RIM = 2
_TINY = 1e-300
# Without these, sums and divisions are not vectorised. The same call still gives the same bits.
_FAST = {"reassoc", "contract"}


@njit(nogil=True, cache=True)
def probabilities(incoming: Floats) -> Floats:
    """Probability of the second class from log-odds."""
    odds = np.empty(len(incoming))
    for e in range(len(incoming)):
        odds[e] = 1.0 / (1.0 + math.exp(-incoming[e]))
    return odds


@njit(nogil=True, cache=True)
def _answers(ones: int, zeros: int, right: Floats, wrong: Floats, into: Floats) -> None:
    """Write the probability of the answers: `right^ones wrong^zeros`."""
    for k in range(len(right)):
        if ones == 1 and zeros == 0:
            into[k] = right[k]
        elif ones == 0 and zeros == 1:
            into[k] = wrong[k]
        else:
            into[k] = math.exp(ones * math.log(right[k]) + zeros * math.log(wrong[k]))


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def one_coin_messages(
    incoming: Floats, ones: Codes, zeros: Codes, p: Floats, r: Floats, log_weights: Floats, out: Floats
) -> None:
    """Write the messages of a worker with one coin.

    Parameters
    ----------
    incoming : ndarray of shape (n,)
        Log-odds that come in.
    ones, zeros : ndarray of shape (n,)
        How often each edge says the second and the first class; sorted.
    p, r, log_weights : ndarray of shape (m,)
        Accuracy, one minus it, log quadrature weight.
    out : ndarray of shape (n,)
        Log-odds that go out.
    """
    n, m = len(incoming), len(p)
    odds = probabilities(incoming)
    logs, product = log_weights.copy(), np.ones(m)
    up, down = np.empty(m), np.empty(m)
    pending = 0
    for e in range(n):
        if e == 0 or ones[e] != ones[e - 1] or zeros[e] != zeros[e - 1]:
            _answers(ones[e], zeros[e], p, r, up)
            _answers(ones[e], zeros[e], r, p, down)
        s = odds[e]
        c = 1.0 - s
        for k in range(m):
            product[k] *= s * up[k] + c * down[k]
        pending += ones[e] + zeros[e]
        if pending >= _BLOCK:
            for k in range(m):
                logs[k] += math.log(product[k] + _TINY)
                product[k] = 1.0
            pending = 0
    for k in range(m):
        logs[k] += math.log(product[k] + _TINY)
    largest = logs.max()
    first, last = 0, m
    while logs[first] < largest - _NEGLIGIBLE:
        first += 1
    while logs[last - 1] < largest - _NEGLIGIBLE:
        last -= 1
    p, r, weight = p[first:last], r[first:last], np.exp(logs[first:last] - largest)
    up, down = np.empty(len(p)), np.empty(len(p))
    for e in range(n):
        if e == 0 or ones[e] != ones[e - 1] or zeros[e] != zeros[e - 1]:
            _answers(ones[e], zeros[e], p, r, up)
            _answers(ones[e], zeros[e], r, p, down)
        out[e] = message(odds[e], weight, up, down)


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def message(s: float, weight: Floats, up: Floats, down: Floats) -> float:
    """Log-odds of an edge: the weights without the edge's own factor, with the answers true and with them false."""
    c = 1.0 - s
    true, false = 0.0, 0.0
    for k in range(len(weight)):
        share = weight[k] / (s * up[k] + c * down[k] + _TINY)
        true += share * up[k]
        false += share * down[k]
    return math.log(true + _TINY) - math.log(false + _TINY)


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _square(
    odds: Floats, ones: Codes, zeros: Codes, a: Floats, na: Floats, b: Floats, nb: Floats, logs: Floats
) -> None:
    """Add the log of all factors at each node `(a, b)` to `logs`, shape (m_a, m_b)."""
    width = len(b)
    # no product of this many answers leaves the range of a double: a factor is at least the rarest answer's probability
    rarest = min(a.min(), na.min(), b.min(), nb.min())
    block = max(_BLOCK, int(_RANGE / -math.log10(min(rarest, 0.5))))
    product, down = np.empty(width), np.empty(width)
    at, not_at, up = np.empty(1), np.empty(1), np.empty(1)
    for u in range(len(a)):
        at[0], not_at[0] = a[u], na[u]
        product[:] = 1.0
        pending = 0
        for e in range(len(odds)):
            if e == 0 or ones[e] != ones[e - 1] or zeros[e] != zeros[e - 1]:
                _answers(ones[e], zeros[e], at, not_at, up)
                _answers(ones[e], zeros[e], nb, b, down)
            s = odds[e] * up[0]
            c = 1.0 - odds[e]
            for v in range(width):
                product[v] *= s + c * down[v]
            pending += ones[e] + zeros[e]
            if pending >= block:
                for v in range(width):
                    logs[u, v] += math.log(product[v] + _TINY)
                    product[v] = 1.0
                pending = 0
        for v in range(width):
            logs[u, v] += math.log(product[v] + _TINY)


@njit(nogil=True, cache=True)
def _climb(odds: Floats, ones: Codes, zeros: Codes, p: Floats, r: Floats, log_weights: Floats, peak: Codes) -> None:
    """Move `peak`, a pair of node numbers, from the middle to a node that no neighbour exceeds."""
    m = len(p)
    stride = 1
    while stride * 4 < m:
        stride *= 2
    peak[:] = m // 2
    value = np.empty((1, 1))
    value[0, 0] = log_weights[peak[0]] + log_weights[peak[1]]
    u, v = peak[0], peak[1]
    _square(odds, ones, zeros, p[u : u + 1], r[u : u + 1], p[v : v + 1], r[v : v + 1], value)
    best = value[0, 0]
    while stride > 0:
        moved = False
        for du in range(-1, 2):
            for dv in range(-1, 2):
                u, v = peak[0] + du * stride, peak[1] + dv * stride
                if (du == 0 and dv == 0) or min(u, v) < 0 or max(u, v) >= m:
                    continue
                value[0, 0] = log_weights[u] + log_weights[v]
                _square(odds, ones, zeros, p[u : u + 1], r[u : u + 1], p[v : v + 1], r[v : v + 1], value)
                if value[0, 0] > best:
                    best, peak[0], peak[1] = value[0, 0], u, v
                    moved = True
        if not moved:
            stride //= 2


@njit(nogil=True, cache=True)
def _widen(logs: Floats, box: Codes, m: int) -> bool:
    """Widen `box` on every side on which nodes that count may lie outside; returns whether any was."""
    threshold = logs.max() - _NEGLIGIBLE
    rows, columns = logs.shape
    sides = (logs[0, :].max(), logs[rows - 1, :].max(), logs[:, 0].max(), logs[:, columns - 1].max())
    wider = False
    for side in range(4):
        axis = side // 2
        size = max(4, (rows if axis == 0 else columns) // 4)
        if sides[side] > threshold:
            if side % 2 == 0 and box[2 * axis] > 0:
                box[2 * axis] = max(0, box[2 * axis] - size)
                wider = True
            elif side % 2 == 1 and box[2 * axis + 1] < m:
                box[2 * axis + 1] = min(m, box[2 * axis + 1] + size)
                wider = True
    return wider


@njit(nogil=True, cache=True)
def _tighten(logs: Floats, box: Codes) -> None:
    """Leave out of `box` what does not count, but for a rim."""
    threshold = logs.max() - _NEGLIGIBLE
    begin, corner = box.copy(), np.array([len(logs), 0, logs.shape[1], 0])
    for u in range(logs.shape[0]):
        for v in range(logs.shape[1]):
            if logs[u, v] > threshold:
                corner[0], corner[1] = min(corner[0], u), max(corner[1], u)
                corner[2], corner[3] = min(corner[2], v), max(corner[3], v)
    for axis in range(2):
        first, last = begin[2 * axis], begin[2 * axis + 1]
        box[2 * axis] = max(first, first + corner[2 * axis] - _RIM)
        box[2 * axis + 1] = min(last, first + corner[2 * axis + 1] + 1 + _RIM)


@njit(nogil=True, cache=True)
def two_coin_messages(
    incoming: Floats, ones: Codes, zeros: Codes, p: Floats, r: Floats, log_weights: Floats, box: Codes, out: Floats
) -> None:
    """Write the messages of a worker with a sensitivity and a specificity, both of the same Beta prior.

    Only nodes around the peak are summed: factors of single answers are linear in the two coins, so the log of their
    product is concave and has one peak, and the square of nodes is widened until nothing on its edge counts.

    Parameters
    ----------
    incoming, ones, zeros, p, r, log_weights, out
        As in `one_coin_messages`; the nodes are those of both coins.
    box : ndarray of shape (4,)
        First and last node of either coin that counted in the last round, -1 at first; changed in place.
    """
    m = len(p)
    odds = probabilities(incoming)
    if box[0] < 0:
        box[:] = np.array([0, m, 0, m])
        peak = np.empty(2, dtype=np.int64)
        if m > 3 * _HALF_WIDTH:
            _climb(odds, ones, zeros, p, r, log_weights, peak)
        for axis in range(2 if m > 3 * _HALF_WIDTH else 0):
            box[2 * axis] = max(0, peak[axis] - _HALF_WIDTH)
            box[2 * axis + 1] = min(m, peak[axis] + _HALF_WIDTH + 1)
    while True:
        u, v = slice(box[0], box[1]), slice(box[2], box[3])
        logs = log_weights[u].reshape(-1, 1) + log_weights[v].reshape(1, -1)
        _square(odds, ones, zeros, p[u], r[u], p[v], r[v], logs)
        if not _widen(logs, box, m):
            break
    _sum_square(odds, ones, zeros, p[u], r[u], p[v], r[v], logs, out)
    _tighten(logs, box)


@njit(nogil=True, cache=True)
def _sum_square(
    odds: Floats, ones: Codes, zeros: Codes, a: Floats, na: Floats, b: Floats, nb: Floats, logs: Floats, out: Floats
) -> None:
    """Write the messages from the log of the product at each node."""
    largest, size = logs.max(), 0
    ka, kna, kb, knb = np.empty(logs.size), np.empty(logs.size), np.empty(logs.size), np.empty(logs.size)
    weight = np.empty(logs.size)
    for u in range(len(a)):
        for v in range(len(b)):
            if logs[u, v] > largest - _NEGLIGIBLE:
                ka[size], kna[size], kb[size], knb[size] = a[u], na[u], b[v], nb[v]
                weight[size] = math.exp(logs[u, v] - largest)
                size += 1
    up, down = np.empty(size), np.empty(size)
    for e in range(len(odds)):
        if e == 0 or ones[e] != ones[e - 1] or zeros[e] != zeros[e - 1]:
            _answers(ones[e], zeros[e], ka[:size], kna[:size], up)
            _answers(ones[e], zeros[e], knb[:size], kb[:size], down)
        out[e] = message(odds[e], weight[:size], up, down)


@njit(nogil=True, cache=True)
def max_product_messages(
    begin: int, end: int, pointers: Codes, log_odds: Floats, begin_psi: Codes, log_psi: Floats, out: Floats
) -> None:
    """Write the outgoing max-product messages of the workers `begin:end`, `O(n log n)` for one with `n` labels.

    A message is the best log-weight with the label right minus the best with it wrong.

    Parameters
    ----------
    begin, end
        Range of workers.
    pointers : ndarray of shape (J + 1,)
        Where each worker's labels begin.
    log_odds, out : ndarray of shape (E,)
        Log-odds that each label is right, as they come in and go out.
    begin_psi : ndarray of shape (J,)
        Where the log prior weights of each worker's counts of right labels, 0 to `n`, begin in `log_psi`.
    log_psi : ndarray
        Log prior weights.
    """
    for j in range(begin, end):
        first, n = pointers[j], pointers[j + 1] - pointers[j]
        if n == 0:
            continue
        psi = log_psi[begin_psi[j] : begin_psi[j] + n + 1]
        order = np.argsort(-log_odds[first : first + n], kind="mergesort")
        best = np.zeros(n + 1)  # the best k labels to be right
        for k in range(n):
            best[k + 1] = best[k] + log_odds[first + order[k]]
        # without the label of rank r, k others are the first k while k <= r, and after that the first k + 1 less it
        right_high, wrong_high = np.empty(n), np.empty(n)
        right_high[n - 1], wrong_high[n - 1] = -np.inf, -np.inf
        for r in range(n - 2, -1, -1):
            right_high[r] = max(right_high[r + 1], psi[r + 2] + best[r + 2])
            wrong_high[r] = max(wrong_high[r + 1], psi[r + 1] + best[r + 2])
        right_low, wrong_low = -np.inf, -np.inf
        for r in range(n):
            right_low = max(right_low, psi[r + 1] + best[r])
            wrong_low = max(wrong_low, psi[r] + best[r])
            at = first + order[r]
            right = max(right_low, right_high[r] - log_odds[at])
            out[at] = right - max(wrong_low, wrong_high[r] - log_odds[at])
