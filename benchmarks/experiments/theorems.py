"""The error bounds of manino2019's Theorems 1 and 2, for both variants of SBIC."""

from __future__ import annotations

import math
from typing import Literal

from crowdclust_app.sampling.expected_error import sorted_factor, sorted_gain

Variant = Literal["fast", "sorted"]
Policy = Literal["uniform", "uncertainty"]


def exponent(policy: Policy, variant: Variant, labels_per_worker: int, alpha: float, beta: float) -> float:
    """Give `c` of the bound `exp(-c R)`: how much one more label a task takes off the logarithm of the error.

    `-log F(L, alpha, beta)` of Theorem 1 under uniform sampling (equations 9 to 12), `G(L, alpha, beta)` of Theorem 2
    under uncertainty sampling (equations 13 to 15). Fast SBIC has seen 0 to `L - 1` labels of a worker when the next
    one comes, Sorted SBIC all others.

    Parameters
    ----------
    policy, variant
        Which bound.
    labels_per_worker
        `L`.
    alpha, beta
        Beta distribution of the workers' accuracies.
    """
    if labels_per_worker < 1 or not (alpha > 0 and beta > 0):
        raise ValueError("labels per worker have to be at least 1, alpha and beta above 0")
    term = sorted_factor if policy == "uniform" else sorted_gain
    seen = range(1, labels_per_worker + 1) if variant == "fast" else (labels_per_worker,)
    mean = math.fsum(term(labels, alpha, beta) for labels in seen) / len(seen)
    return -math.log(mean) if policy == "uniform" else mean


def bound(
    policy: Policy, variant: Variant, labels_per_task: float, labels_per_worker: int, alpha: float, beta: float
) -> float:
    """Give `exp(-c R)`, the bound on the probability of a wrong verdict but for its factor `exp(o(1))`.

    Parameters
    ----------
    policy, variant, labels_per_worker, alpha, beta
        As in `exponent`.
    labels_per_task
        `R`.
    """
    return math.exp(-labels_per_task * exponent(policy, variant, labels_per_worker, alpha, beta))
