"""Messages from one worker to its tasks, by quadrature; compiled, without the interpreter's lock.

Messages are log-odds of the second class; `odds[e]` is the probability of that class that comes in along edge `e`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.binary.table import Codes, Floats

# Factors multiplied before a logarithm is taken: no product of this many leaves the range of a double.
_BLOCK = 16
# Nodes whose weight is this much below the largest (natural log) add nothing to a double.
_NEGLIGIBLE = 60.0


@njit(nogil=True, cache=True)
def one_coin_messages(
    incoming: Floats, ones: Codes, zeros: Codes, p: Floats, r: Floats, log_weights: Floats, out: Floats
) -> None:
    """Write the messages of a worker with one label an edge or more.

    Parameters
    ----------
    incoming : ndarray of shape (n,)
        Log-odds that come in.
    ones, zeros : ndarray of shape (n,)
        How often each edge says the second and the first class.
    p, r, log_weights : ndarray of shape (m,)
        Accuracy, one minus it, log quadrature weight.
    out : ndarray of shape (n,)
        Log-odds that go out.
    """
    n, m = len(incoming), len(p)
    odds = np.empty(n)
    for e in range(n):
        odds[e] = 1.0 / (1.0 + math.exp(-incoming[e])) if incoming[e] > -700.0 else 0.0
    logs = log_weights.copy()
    product = np.ones(m)
    pending = 0
    for e in range(n):
        if ones[e] + zeros[e] == 1:
            s = odds[e] if ones[e] == 1 else 1.0 - odds[e]
            c = 1.0 - s
            for k in range(m):
                product[k] *= s * p[k] + c * r[k]
            pending += 1
            if pending == _BLOCK:
                for k in range(m):
                    logs[k] += math.log(product[k])
                    product[k] = 1.0
                pending = 0
        else:
            for k in range(m):
                logs[k] += _log_factor(odds[e], ones[e], zeros[e], p[k], r[k])
    if pending:
        for k in range(m):
            logs[k] += math.log(product[k])
    largest = logs.max()
    first = 0
    while logs[first] < largest - _NEGLIGIBLE:
        first += 1
    last = m
    while logs[last - 1] < largest - _NEGLIGIBLE:
        last -= 1
    weight = np.exp(logs[first:last] - largest)
    for e in range(n):
        up, down = 0.0, 0.0
        if ones[e] + zeros[e] == 1:
            s = odds[e] if ones[e] == 1 else 1.0 - odds[e]
            c = 1.0 - s
            for k in range(first, last):
                share = weight[k - first] / (s * p[k] + c * r[k])
                up += share * p[k]
                down += share * r[k]
            out[e] = math.log(up) - math.log(down)
            if zeros[e] == 1:
                out[e] = -out[e]
        else:
            out[e] = _repeated_message(odds[e], ones[e], zeros[e], p[first:last], r[first:last], weight)


@njit(nogil=True, cache=True)
def _log_factor(odds: float, ones: int, zeros: int, p: float, r: float) -> float:
    """Log of an edge's factor when a worker answered more than once."""
    up = ones * math.log(p) + zeros * math.log(r)
    down = zeros * math.log(p) + ones * math.log(r)
    largest = max(up, down)
    return largest + math.log(odds * math.exp(up - largest) + (1.0 - odds) * math.exp(down - largest) + 1e-300)


@njit(nogil=True, cache=True)
def _repeated_message(odds: float, ones: int, zeros: int, p: Floats, r: Floats, weight: Floats) -> float:
    up, down = 0.0, 0.0
    for k in range(len(p)):
        log_factor = _log_factor(odds, ones, zeros, p[k], r[k])
        up += weight[k] * math.exp(ones * math.log(p[k]) + zeros * math.log(r[k]) - log_factor)
        down += weight[k] * math.exp(zeros * math.log(p[k]) + ones * math.log(r[k]) - log_factor)
    return math.log(up + 1e-300) - math.log(down + 1e-300)


@njit(nogil=True, cache=True)
def _log_products(
    odds: Floats, ones: Codes, zeros: Codes, a: Floats, na: Floats, b: Floats, nb: Floats, logs: Floats
) -> None:
    """Add the log of all factors at each node `(a, b)` to `logs`, shape (m_a, m_b)."""
    n, width = len(odds), len(b)
    product = np.empty(width)
    for u in range(len(a)):
        product[:] = 1.0
        pending = 0
        for e in range(n):
            s, c = odds[e], 1.0 - odds[e]
            if ones[e] == 1 and zeros[e] == 0:
                for v in range(width):
                    product[v] *= s * a[u] + c * nb[v]
            elif ones[e] == 0 and zeros[e] == 1:
                for v in range(width):
                    product[v] *= s * na[u] + c * b[v]
            else:
                for v in range(width):
                    logs[u, v] += _log_factor_two(s, ones[e], zeros[e], a[u], na[u], b[v], nb[v])
                continue
            pending += 1
            if pending == _BLOCK:
                for v in range(width):
                    logs[u, v] += math.log(product[v])
                    product[v] = 1.0
                pending = 0
        if pending:
            for v in range(width):
                logs[u, v] += math.log(product[v])


@njit(nogil=True, cache=True)
def _log_factor_two(odds: float, ones: int, zeros: int, a: float, na: float, b: float, nb: float) -> float:
    up = ones * math.log(a) + zeros * math.log(na)
    down = zeros * math.log(b) + ones * math.log(nb)
    largest = max(up, down)
    return largest + math.log(odds * math.exp(up - largest) + (1.0 - odds) * math.exp(down - largest) + 1e-300)


@njit(nogil=True, cache=True)
def two_coin_messages(
    incoming: Floats, ones: Codes, zeros: Codes, p: Floats, r: Floats, log_weights: Floats, out: Floats
) -> None:
    """Write the messages of a worker with a sensitivity and a specificity, both of the same Beta prior.

    Parameters are those of `one_coin_messages`; the nodes are used for both coins. Where there are many nodes, a coarse
    grid finds the part of the square that matters: every factor is linear in the two coins, so the log of the product
    is concave and has one peak.
    """
    n, m = len(incoming), len(p)
    odds = np.empty(n)
    for e in range(n):
        odds[e] = 1.0 / (1.0 + math.exp(-incoming[e])) if incoming[e] > -700.0 else 0.0
    u0, u1, v0, v1 = 0, m, 0, m
    if m > 48:
        stride = m // 16
        coarse = np.arange(0, m, stride)
        pc, rc, wc = p[coarse], r[coarse], log_weights[coarse]
        found = wc.reshape(-1, 1) + wc.reshape(1, -1)
        _log_products(odds, ones, zeros, pc, rc, pc, rc, found)
        u0, u1, v0, v1 = _important(found, stride, m)
    logs = log_weights[u0:u1].reshape(-1, 1) + log_weights[v0:v1].reshape(1, -1)
    a, na, b, nb = p[u0:u1], r[u0:u1], p[v0:v1], r[v0:v1]
    _log_products(odds, ones, zeros, a, na, b, nb, logs)
    largest = logs.max()
    keep = 0
    size = logs.size
    ka, kna, kb, knb, weight = np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for u in range(len(a)):
        for v in range(len(b)):
            if logs[u, v] > largest - _NEGLIGIBLE * 0.75:
                ka[keep], kna[keep], kb[keep], knb[keep] = a[u], na[u], b[v], nb[v]
                weight[keep] = math.exp(logs[u, v] - largest)
                keep += 1
    for e in range(n):
        s, c = odds[e], 1.0 - odds[e]
        up, down = 0.0, 0.0
        if ones[e] == 1 and zeros[e] == 0:
            for k in range(keep):
                share = weight[k] / (s * ka[k] + c * knb[k])
                up += share * ka[k]
                down += share * knb[k]
        elif ones[e] == 0 and zeros[e] == 1:
            for k in range(keep):
                share = weight[k] / (s * kna[k] + c * kb[k])
                up += share * kna[k]
                down += share * kb[k]
        else:
            for k in range(keep):
                log_factor = _log_factor_two(s, ones[e], zeros[e], ka[k], kna[k], kb[k], knb[k])
                up += weight[k] * math.exp(ones[e] * math.log(ka[k]) + zeros[e] * math.log(kna[k]) - log_factor)
                down += weight[k] * math.exp(zeros[e] * math.log(kb[k]) + ones[e] * math.log(knb[k]) - log_factor)
        out[e] = math.log(up + 1e-300) - math.log(down + 1e-300)


@njit(nogil=True, cache=True)
def _important(found: Floats, stride: int, m: int) -> tuple[int, int, int, int]:
    """Find the rectangle of fine nodes around every coarse node that is not negligible, a coarse step wider."""
    largest = found.max()
    size = found.shape[0]
    u0, u1, v0, v1 = size, 0, size, 0
    for u in range(size):
        for v in range(size):
            if found[u, v] > largest - _NEGLIGIBLE:
                u0, u1 = min(u0, u), max(u1, u)
                v0, v1 = min(v0, v), max(v1, v)
    return (
        max(0, (u0 - 1) * stride),
        min(m, (u1 + 2) * stride + 1),
        max(0, (v0 - 1) * stride),
        min(m, (v1 + 2) * stride + 1),
    )
