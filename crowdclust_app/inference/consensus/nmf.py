"""Consensus by nonnegative matrix factorisation (Li, Ding and Jordan 2007), as published and on seen pairs only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from crowdclust_app.inference.consensus.coassociation import CoAssociation, Floats, Ints, ProgressListener
from crowdclust_app.inference.consensus.nmf_kernels import predicted_times

_TINY = 1e-12

Begin = Callable[[np.random.Generator], tuple[Floats, Floats]]
Iterate = Callable[[Floats, Floats], tuple[Floats, Floats, float]]


@dataclass(frozen=True, slots=True)
class Factors:
    """`W ~ Q S Q'`.

    Parameters
    ----------
    members : ndarray of shape (n, K)
        `Q`, nonnegative.
    core : ndarray of shape (K, K)
        `S`, nonnegative and symmetric.
    losses
        Squared error at each iteration.
    converged
        Whether it had come to rest before the iterations ran out.
    """

    members: Floats
    core: Floats
    losses: tuple[float, ...]
    converged: bool

    @property
    def labels(self) -> Ints:
        """Most fitting cluster of each item, from 0: the largest entry of `Q` where `S` has a unit diagonal."""
        scale = np.sqrt(np.maximum(np.diag(self.core), 0.0))
        return np.asarray(np.argmax(self.members * scale, axis=1), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class NmfSettings:
    """Iterations at most, relative change of the loss that ends them, random starts."""

    max_iterations: int = 300
    tolerance: float = 1e-5
    n_starts: int = 10
    seed: int = 0


def consensus_matrix(evidence: CoAssociation) -> csr_array[Any]:
    """`W` of the published method: how often a pair is together; unseen pairs are 0, an item is 1 with itself."""
    n = evidence.n_items
    diagonal = csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
    return csr_array(evidence.rates() + diagonal)


def factorise(evidence: CoAssociation, clusters: int, settings: NmfSettings, watcher: ProgressListener) -> Factors:
    """Minimise `||W - Q S Q'||^2` over `Q, S >= 0` with `Q'Q = I` (their eqs. 11 and 12).

        Q <- Q o sqrt( (W Q S) / (Q Q' W Q S) )        S <- S o sqrt( (Q' W Q) / (Q'Q S Q'Q) )

    Returns
    -------
    Factors
        Of the random start that ended with the smallest loss.
    """
    W = consensus_matrix(evidence)
    squares = float((W.data**2).sum())

    def iterate(Q: Floats, S: Floats) -> tuple[Floats, Floats, float]:
        WQS = W @ (Q @ S)
        Q = Q * np.sqrt(WQS / np.maximum(Q @ (Q.T @ WQS), _TINY))
        gram, seen = Q.T @ Q, Q.T @ (W @ Q)
        S = S * np.sqrt(seen / np.maximum(gram @ S @ gram, _TINY))
        S = (S + S.T) / 2.0
        return Q, S, squares - 2.0 * float((S * seen).sum()) + float((S @ gram * (gram @ S)).sum())

    def begin(random: np.random.Generator) -> tuple[Floats, Floats]:
        Q = random.random((evidence.n_items, clusters)) + 0.2
        return Q / np.linalg.norm(Q, axis=0), np.diag(random.random(clusters) + 0.5) + 0.1

    return _best_start(begin, iterate, settings, watcher)


def factorise_seen(evidence: CoAssociation, clusters: int, settings: NmfSettings, watcher: ProgressListener) -> Factors:
    """Minimise the squared error of every pair label, so that an unseen pair says nothing.

    With `c` and `w` the times a pair was seen and its share together: `sum_{a<b} c_ab (w_ab - [Q S Q']_ab)^2` over
    `Q, S >= 0`. The loss never rises from one step to the next:

        Q <- Q o ( (c o w) Q S / (c o QSQ') Q S )^(1/4)      S <- S o ( Q'(c o w)Q / Q'(c o QSQ')Q )^(1/2)

    Returns
    -------
    Factors
        Of the random start that ended with the smallest loss.
    """
    seen, labels = evidence.seen(), evidence.together()
    pattern = (seen.indptr.astype(np.int64), seen.indices.astype(np.int64), seen.data)
    squares = float(labels.multiply(evidence.rates()).sum())

    def expected(Q: Floats, S: Floats, X: Floats) -> tuple[Floats, float]:
        out = np.empty_like(X)
        return out, predicted_times(*pattern, np.ascontiguousarray(Q @ S), Q, np.ascontiguousarray(X), out)

    def iterate(Q: Floats, S: Floats) -> tuple[Floats, Floats, float]:
        QS = Q @ S
        Q = Q * ((labels @ QS) / np.maximum(expected(Q, S, QS)[0], _TINY)) ** 0.25
        found = Q.T @ (labels @ Q)
        of_model, size = expected(Q, S, Q)
        # the loss where Q is new and S is not
        loss = squares - 2.0 * float((S * found).sum()) + size
        S = S * np.sqrt(found / np.maximum(Q.T @ of_model, _TINY))
        return Q, (S + S.T) / 2.0, loss / 2.0

    def begin(random: np.random.Generator) -> tuple[Floats, Floats]:
        Q = random.random((evidence.n_items, clusters)) + 0.2
        return Q / np.sqrt(clusters), np.eye(clusters) + 0.1

    return _best_start(begin, iterate, settings, watcher)


def _best_start(begin: Begin, iterate: Iterate, settings: NmfSettings, watcher: ProgressListener) -> Factors:
    """Iterate from every random start; the smallest loss wins."""
    best: Factors | None = None
    for start in range(settings.n_starts):
        Q, S = begin(np.random.default_rng([settings.seed, start]))
        losses: list[float] = []
        converged = False
        for iteration in range(settings.max_iterations):
            done = start * settings.max_iterations + iteration
            watcher.at(done, settings.n_starts * settings.max_iterations, f"factorising, start {start + 1}")
            Q, S, loss = iterate(Q, S)
            converged = bool(losses) and abs(losses[-1] - loss) <= settings.tolerance * max(abs(losses[-1]), _TINY)
            losses.append(loss)
            if converged:
                break
        if best is None or losses[-1] < best.losses[-1]:
            best = Factors(Q, S, tuple(losses), converged)
    assert best is not None
    return best
